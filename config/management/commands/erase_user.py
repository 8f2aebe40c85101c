"""`manage.py erase_user NAME`: everything that is kept about one person, and the report of what went where."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.erasing import erase_name, erase_person
from memory.forgetting import Report


class Command(BaseCommand):
    """Run it again whenever something was away: it finishes, and removes nothing twice."""

    help = (
        "Erases everything that is kept about a person: sessions, memories, favourites, keys and logins, in PostgreSQL "
        "and Redis. With --account also the account, the profile, the tasks and the record of logins. Final."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the login name")
        parser.add_argument("--account", action="store_true", help="the account and the profile too")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, *args: Any, name: str, account: bool, yes: bool, **options: Any) -> None:
        user = User.objects.filter(username=name).first()
        if user is None and not account:
            raise CommandError(f"There is no account called {name}.")
        if not yes:
            _ask(name)
        if user is None:
            self._tell(Report(tables=dict(erase_name(name))))
            self.stdout.write(f"There is no account called {name} any more.")
            return
        report = erase_person(user, account=account)
        self._tell(report)
        if report.pending:
            is_kept = account and User.objects.filter(pk=user.pk).exists()
            kept = " The account is still there, switched off." if is_kept else ""
            raise CommandError(f"Still to be deleted: {', '.join(report.pending)}.{kept} Run it again.")
        self.stdout.write(self.style.SUCCESS(f"Nothing of {name} is left{'' if account else ' but the account'}."))

    def _tell(self, report: Report) -> None:
        """The report as the API gives it, a line for each number that is not 0."""
        for part, counts in report.as_dict().items():
            for what, count in counts.items() if isinstance(counts, dict) else ():
                if count:
                    self.stdout.write(f"{part:<8} {what:<40} {count:>8}")


def _ask(name: str) -> None:
    """Raises CommandError unless whoever runs this types the name once more."""
    try:
        typed = input(f"Everything of {name} will be erased for good. Type the name to go on: ")
    except EOFError as error:
        raise CommandError("There is nobody to ask: give --yes.") from error
    if typed.strip() != name:
        raise CommandError("That is another name. Nothing was erased.")
