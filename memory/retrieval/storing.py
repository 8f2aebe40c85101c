"""Writing units with their postings and vectors: a constant number of statements for any number of units."""

from collections.abc import Mapping, Sequence

from django.db import connection

from llm.embedders import Embedder
from memory.models import Posting, Unit
from memory.retrieval import vector
from memory.retrieval.drafts import searched
from memory.retrieval.tokens import VERSION, tokens_of_unit
from memory.retrieval.vector import Vector

MOST_TIMES = 32_767
"""Of one token in one unit that are counted."""
POST = """
INSERT INTO memory_posting (user_id, unit_id, token, tf, length)
SELECT * FROM unnest(%s::int[], %s::bigint[], %s::text[], %s::smallint[], %s::int[])
"""


Counts = Mapping[str, int]
Counted = tuple[Unit, Counts]


def counted(unit: Unit) -> Counted:
    """The unit with its length, and its tokens by today's rules."""
    counts = tokens_of_unit(unit.text, context=unit.context)
    unit.length, unit.tokens_version = sum(counts.values()), VERSION
    return unit, counts


def words_of(unit: Unit) -> str:
    """What the tokens and the vector of a unit are made of."""
    return searched(unit.text, context=unit.context)


def store(made: Sequence[Counted], *, vectors: Sequence[Vector] | None, embedder: Embedder | None) -> None:
    """Stores new units. Without vectors, though there is an embedder, they are due for theirs later.

    Call it in a transaction that has made sure that what the units are made from is still there.
    """
    units = [unit for unit, _ in made]
    for unit in units:
        unit.vector_due = vectors is None and embedder is not None
    Unit.objects.bulk_create(units)
    _post(made)
    if vectors is not None and embedder is not None:
        vector.store(dict(zip((unit.pk for unit in units), vectors, strict=True)), embedder=embedder)


def post_again(made: Sequence[Counted]) -> None:
    """Gives stored units other postings in place of those that they have. Lock the units before."""
    units = [unit for unit, _ in made]
    Posting.objects.filter(unit__in=[unit.pk for unit in units]).delete()
    Unit.objects.bulk_update(units, ["length", "tokens_version"])
    _post(made)


def _post(made: Sequence[Counted]) -> None:
    rows = [
        (unit.user_id, unit.pk, token, min(times, MOST_TIMES), unit.length)
        for unit, counts in made
        for token, times in counts.items()
    ]
    with connection.cursor() as cursor:
        cursor.execute(POST, [[row[part] for row in rows] for part in range(5)])
