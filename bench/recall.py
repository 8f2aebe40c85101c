"""How well what was said is found again: each leg, both fused, and the product's search, beside plain baselines.

    python -m config.local_servers exec -- python -m bench.recall [--data FILE ...] [--in-memory]

Without `--data` it asks `bench/data/office.jsonl`. A document is a unit; where documents have sessions, the one before
in its session is its context. `plain BM25` and `plain cosine` see no context (`bench.recall_methods`). `fused` is
`memory.retrieval.fusion` over both legs in memory; `product` is the same question to the product's own tables, which
needs servers; `--in-memory` leaves it out. Behind each mean stand the bounds of 95 of 100 resamples of the questions.
The last lines compare with the better baseline, question by question. Questions without an answer are counted apart.
"""

import argparse
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import django

OFFICE = Path(__file__).parent / "data" / "office.jsonl"
BASELINES = ("plain BM25", "plain cosine")
RECALL_AT_10 = 1

Figures = dict[str, list[tuple[float, ...]]]
"""By the name of a way, its measures for each question."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, nargs="+", default=[OFFICE])
    parser.add_argument("--in-memory", action="store_true", help="without servers, and without the product's tables")
    asked = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    django.setup()
    if not asked.in_memory:
        _migrate()
    differences: dict[str, list[float]] = defaultdict(list)
    for path in asked.data:
        figures, quiet = _figures(path, stored=not asked.in_memory)
        _report(path.stem, figures, quiet)
        for way, values in _against_baselines(figures).items():
            differences[way] += values
    if len(asked.data) > 1:
        print("\nall sets")
        _report_differences(differences)


def _migrate() -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def _figures(path: Path, *, stored: bool) -> tuple[Figures, dict[str, list[bool]]]:
    """The measures of each way, and of the questions without an answer whether nothing was found."""
    from bench.recall_figures import measured
    from bench.recall_sets import load

    figures: Figures = defaultdict(list)
    quiet: dict[str, list[bool]] = defaultdict(list)
    for owner in load(path):
        ids = [document.id for document in owner.documents]
        for question, rankings in _rankings(owner, stored=stored):
            for way, places in rankings.items():
                if question.gold:
                    figures[way].append(measured([ids[place] for place in places], question.gold))
                else:
                    quiet[way].append(not places)
    return figures, quiet


def _rankings(owner: Any, *, stored: bool) -> Iterator[tuple[Any, dict[str, list[int]]]]:
    """Each question with the places that each way finds, best first."""
    from bench.recall_methods import InMemory
    from bench.recall_product import Stored
    from llm.embedders import resolve_embedder

    embedder = resolve_embedder()
    assert embedder is not None, "The bench compares with vectors: install the local embedder or name an endpoint."
    ways = InMemory(owner, embedder)
    with Stored(owner) if stored else nullcontext() as product:
        for question in owner.questions:
            rankings = ways.rankings(question.text)
            if product is not None:
                rankings["product"] = product.found(question.text)
            yield question, rankings


def _against_baselines(figures: Figures) -> dict[str, list[float]]:
    """For each way that fuses, question by question, recall@10 less that of the baseline with the better mean."""
    columns = {way: [measures[RECALL_AT_10] for measures in rows] for way, rows in figures.items()}
    better = max(BASELINES, key=lambda way: sum(columns[way]))
    fusing = [way for way in columns if way in ("fused", "product")]
    return {way: [a - b for a, b in zip(columns[way], columns[better], strict=True)] for way in fusing}


def _report(name: str, figures: Figures, quiet: dict[str, list[bool]]) -> None:
    from bench.recall_figures import MEASURES, interval

    print(f"\n{name}: {len(next(iter(figures.values())))} questions")
    print(f"{'':14}" + "".join(f"{measure:>20}" for measure in MEASURES))
    for way, rows in figures.items():
        cells = (interval(column) for column in zip(*rows, strict=True))
        print(f"{way:14}" + "".join(f"{f'{mean:.1f} ({low:.1f}-{high:.1f})':>20}" for mean, low, high in cells))
    _report_differences(_against_baselines(figures))
    for way in ("fused", "product"):
        if quiet.get(way):
            print(f"{way}: nothing found for {sum(quiet[way])} of {len(quiet[way])} questions without an answer")


def _report_differences(differences: dict[str, list[float]]) -> None:
    from bench.recall_figures import interval

    for way, values in differences.items():
        mean, low, high = interval(values)
        print(f"{way} less the better baseline, recall@10: {mean:+.1f} ({low:+.1f} to {high:+.1f})")


if __name__ == "__main__":
    main()
