"""The leg that matches meanings: cosines of all of one owner's vectors, exactly, by one model."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import connection

from llm.embedders import Embedder
from memory.errors import DimensionRefused
from memory.models import VectorModel
from memory.retrieval.scope import Scope

INDEXED_DIMENSION = 1200
"""Up to here an owner's vectors are read from an index that holds them side by side (migration 0005)."""

# Vectors are of unit length, so that the cosine is the inner product, of which pgvector gives the negative. The model
# comes along, so that a vector of another length is told from one that nothing is near to.
NEAREST = """
WITH model AS (SELECT id, dimension FROM memory_vectormodel WHERE name = %(name)s),
owned AS NOT MATERIALIZED (
    SELECT unit_id, embedding FROM memory_unitvector
    WHERE {owned} AND model_id = (SELECT id FROM model WHERE dimension = %(dimension)s){indexed}
)
(SELECT unit_id, -(embedding <#> %(asked)s::halfvec) AS cosine FROM owned ORDER BY cosine DESC LIMIT %(limit)s)
UNION SELECT unit_id, -(embedding <#> %(asked)s::halfvec) FROM owned WHERE unit_id = ANY(%(also)s::bigint[])
UNION ALL SELECT NULL, dimension FROM model
"""
STORE = """
INSERT INTO memory_unitvector (unit_id, user_id, model_id, embedding)
SELECT unit.id, unit.user_id, %(model)s, given.embedding::halfvec
FROM unnest(%(ids)s::bigint[], %(embeddings)s::text[]) AS given (id, embedding)
JOIN memory_unit unit ON unit.id = given.id
ON CONFLICT (user_id, unit_id, model_id) DO UPDATE SET embedding = excluded.embedding
"""

Vector = npt.NDArray[np.float32]


def nearest(
    scope: Scope, asked: Vector, *, embedder: Embedder, limit: int, also: Collection[int] = ()
) -> dict[int, float]:
    """The cosines of the `limit` nearest units in scope, and of those of `also` that have a vector.

    Only vectors that `embedder` made are looked at. Raises DimensionRefused when `asked` is none of its kind.
    """
    indexed = f" AND vector_dims(embedding) <= {INDEXED_DIMENSION}" if len(asked) <= INDEXED_DIMENSION else ""
    values = scope.values | {
        "name": embedder.model,
        "dimension": len(asked),
        "asked": as_text(asked),
        "limit": limit,
        "also": list(also),
    }
    with connection.cursor() as cursor:
        cursor.execute(NEAREST.format(owned=scope.owned, indexed=indexed), values)
        found = dict(cursor.fetchall())
    kept = found.pop(None, None)
    if kept not in (None, len(asked)):
        raise DimensionRefused(embedder.model, kept=int(kept), given=len(asked))
    return found


def store(vectors: Mapping[int, Vector], *, embedder: Embedder) -> None:
    """Gives units their vectors by this embedder's model; those that have gone meanwhile are left out.

    Call it in the transaction that made or locked the units. Raises DimensionRefused, and then nothing was stored.
    """
    if not vectors:
        return
    first = next(iter(vectors.values()))
    model, _ = VectorModel.objects.get_or_create(name=embedder.model, defaults={"dimension": len(first)})
    for vector in vectors.values():
        _check(model, len(vector))
    values: dict[str, Any] = {
        "model": model.pk,
        "ids": list(vectors),
        "embeddings": [as_text(vector) for vector in vectors.values()],
    }
    with connection.cursor() as cursor:
        cursor.execute(STORE, values)


def as_text(vector: Sequence[float] | Vector) -> str:
    """How pgvector reads a vector, at the precision that a half float keeps."""
    values = vector.tolist() if isinstance(vector, np.ndarray) else vector  # NumPy's own numbers are slow to write
    return f"[{','.join(f'{value:.4g}' for value in values)}]"


def _check(model: VectorModel, dimension: int) -> None:
    if dimension != model.dimension:
        raise DimensionRefused(model.name, kept=model.dimension, given=dimension)
