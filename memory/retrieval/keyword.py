"""The leg that matches words: BM25 over one owner's postings, in one statement, with that owner's own counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db import connection

from memory.retrieval import bm25
from memory.retrieval.scope import Scope

# Every condition is answered by the primary key of the postings and the index `unit_of_owner`. Units that are not in
# the tables yet come along as postings in the arguments, so that both kinds are counted and ranked as one. The sum is
# that of `bm25`, in double precision: with numeric, as plain literals have it, it took ten times as long. What is the
# same for all hits of a token is worked out once for it.
BEST = """
WITH counted AS (
    SELECT count(*) + %(unstored)s AS units, COALESCE(sum(length), 0) + %(unstored_length)s AS length
    FROM memory_unit WHERE {units}
),
owner AS (SELECT units, GREATEST(length::float8 / GREATEST(units, 1), 1) AS average FROM counted),
hit AS MATERIALIZED (
    SELECT unit_id, token, tf, length FROM memory_posting WHERE token = ANY(%(tokens)s::text[]) AND {owned}
    UNION ALL
    SELECT * FROM unnest(%(ids)s::bigint[], %(words)s::text[], %(tfs)s::int[], %(lengths)s::int[])
),
told AS MATERIALIZED (
    SELECT token, holding, %(steep)s::float8 / average AS steep,
        %(most)s::float8 * ln((1 + (units + %(others)s - holding + 0.5) / (holding + 0.5))::float8) AS weight
    FROM (SELECT token, count(*) AS holding FROM hit GROUP BY token) held CROSS JOIN owner
),
best AS (
    SELECT unit_id, sum(weight * tf / (tf + %(flat)s::float8 + steep * length)) AS score
    FROM hit JOIN told USING (token) GROUP BY unit_id ORDER BY score DESC, unit_id DESC LIMIT %(limit)s
)
SELECT 'unit', unit_id, NULL, score FROM best
UNION ALL SELECT 'token', holding, token, NULL FROM told
UNION ALL SELECT 'units', units, NULL, NULL FROM owner
"""


@dataclass(frozen=True, slots=True)
class Unstored:
    """A unit that is not in the tables yet; its `id` is below zero."""

    id: int
    counts: Mapping[str, int]

    @property
    def length(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Matches:
    """The best units with their scores, how many units hold each token, and how many units were looked at."""

    scores: dict[int, float] = field(default_factory=dict)
    frequencies: dict[str, int] = field(default_factory=dict)
    units: int = 0


def best(scope: Scope, tokens: Mapping[str, int], *, unstored: Sequence[Unstored] = (), limit: int) -> Matches:
    """The `limit` units in scope that match most of the tokens, best first, stored and unstored alike."""
    postings = [
        (unit.id, token, unit.counts[token], unit.length) for unit in unstored for token in tokens.keys() & unit.counts
    ]
    ids, words, tfs, lengths = ([posting[part] for posting in postings] for part in range(4))
    values = scope.values | {
        "tokens": list(tokens),
        "unstored": len(unstored),
        "unstored_length": sum(unit.length for unit in unstored),
        "ids": ids,
        "words": words,
        "tfs": tfs,
        "lengths": lengths,
        "others": bm25.OTHERS,
        "most": bm25.K1 + 1,
        "flat": bm25.K1 * (1 - bm25.B),
        "steep": bm25.K1 * bm25.B,
        "limit": limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(BEST.format(units=scope.units, owned=scope.owned), values)
        rows = cursor.fetchall()
    return Matches(
        scores={number: score for kind, number, _, score in rows if kind == "unit"},
        frequencies={token: number for kind, number, token, _ in rows if kind == "token"},
        units=next(number for kind, number, _, _ in rows if kind == "units"),
    )
