"""`manage.py reembed`: everything searched, by today's embedding model and today's rules for words, at once."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from llm.embedders import resolve_embedder
from memory import reindexing
from memory.errors import DimensionRefused

WHILE = 7 * 24 * 3600.0


class Command(BaseCommand):
    """Runs beside a serving installation. Interrupt it whenever you like: the next run goes on from there."""

    help = (
        "Makes the vectors that the embedding model of this environment lacks, and counts tokens anew where the rules "
        "have changed. Vectors of other models stay and go on answering, until --drop-others."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--drop-others",
            action="store_true",
            help="in the end delete the vectors of every other model; only when no process uses one any more",
        )

    def handle(self, *args: Any, drop_others: bool, **options: Any) -> None:
        embedder = resolve_embedder()
        without, former = reindexing.left()
        if embedder is None:
            self.stdout.write("There is no embedding model: words alone are searched.")
        else:
            self.stdout.write(f"{embedder.model}: {without} units without a vector")
        reindexing.retokenise(seconds=WHILE, progress=lambda done: self._progress("tokens", done, former))
        try:
            reindexing.embed_missing(seconds=WHILE, progress=lambda done: self._progress("vectors", done, without))
        except DimensionRefused as error:
            raise CommandError(error.detail) from error
        without, former = reindexing.left()
        if without or former:
            raise CommandError(f"Left: {without} vectors, {former} units with former tokens. Run it again.")
        if drop_others:
            self.stdout.write(f"{reindexing.drop_other_models()} vectors of other models deleted")
        self.stdout.write(self.style.SUCCESS("Everything is up to date."))

    def _progress(self, what: str, done: int, total: int) -> None:
        self.stdout.write(f"{what}: {min(done, total)} of {total}")
