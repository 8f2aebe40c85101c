"""The directory from a CSV file: read, compared with what is there, and written all or not at all.

Columns: `username` and `display_name` are needed; `department` (`研发中心/后端组` names the way down the tree),
`position`, `manager` (a user name), `aliases` (separated by `;`), `email` and `time_zone` may follow in any order.
A column that is left out changes nothing; an empty cell empties the field.
"""

import csv
import io
import zoneinfo
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils.translation import gettext as _

from llm.text import safe
from profiles.models import Department, UserProfile
from profiles.models.lines import lock_lines

NEEDED = ("username", "display_name")
COLUMNS = (*NEEDED, "department", "position", "manager", "aliases", "email", "time_zone")
LIMITS = {"username": 150, "display_name": 80, "department": 80, "position": 80, "aliases": 40, "email": 254}
"""Characters; of each part where there are several."""
MOST_BYTES = 1024 * 1024
MOST_LINES = 5_000


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a line; line 0 is the file as a whole."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """One person as the file has them; only the columns that it has."""

    line: int
    cells: dict[str, str]

    @property
    def username(self) -> str:
        return self.cells["username"]


@dataclass(slots=True)
class Plan:
    """What an import would do. With `problems` it does nothing."""

    rows: list[Row] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: int = 0
    departments: list[str] = field(default_factory=list)


def decoded(content: bytes) -> str:
    """The text of a file as spreadsheets save it: UTF-8, or GB 18030. Raises ValueError for neither."""
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise ValueError


def plan(text: str) -> Plan:
    """Reads the file and compares it with the directory; writes nothing."""
    made = Plan()
    made.rows = list(_rows(text, made.problems))
    if not made.problems:
        _check(made)
    if not made.problems:
        _compare(made)
    return made


@transaction.atomic
def apply(text: str) -> Plan:
    """Writes what `plan` announces, seen again under the lock of the lines; with problems nothing at all."""
    lock_lines()
    made = plan(text)
    if not made.problems:
        people = {row.username: _write(row) for row in made.rows}
        moved = [row for row in made.rows if "manager" in row.cells]
        _loosen([people[row.username] for row in moved])
        for row in moved:
            _set_manager(people[row.username], row.cells["manager"])
    return made


def _rows(text: str, problems: list[Problem]) -> Iterator[Row]:
    lines = csv.reader(io.StringIO(safe(text).lstrip("\ufeff")), delimiter=_delimiter(text), strict=True)
    try:
        header = [cell.strip().casefold() for cell in next(lines, [])]
        problems.extend(_header_problems(header))
        for cells in lines if not problems else ():
            if lines.line_num > MOST_LINES:
                problems.append(Problem(lines.line_num, _("The file has more than %d lines.") % MOST_LINES))
                return
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                count = {"count": len(cells), "wanted": len(header)}
                problems.append(
                    Problem(lines.line_num, _("%(count)d cells where the first line has %(wanted)d.") % count)
                )
                continue
            yield Row(lines.line_num, {name: " ".join(cell.split()) for name, cell in zip(header, cells, strict=True)})
    except csv.Error:
        problems.append(
            Problem(lines.line_num, _("This line is no CSV: look for a quotation mark that is not closed."))
        )


def _delimiter(text: str) -> str:
    first = text.partition("\n")[0]
    return max(",;\t", key=first.count)


def _header_problems(header: list[str]) -> Iterator[Problem]:
    for name in NEEDED:
        if name not in header:
            yield Problem(1, _("The column %s is missing.") % name)
    for name in sorted(set(header) - set(COLUMNS)):
        yield Problem(1, _("There is no column %s.") % (name or "“”"))
    for name in sorted({name for name in header if header.count(name) > 1}):
        yield Problem(1, _("The column %s is there twice.") % name)


def _check(made: Plan) -> None:
    """Each line by itself, then all of them together with the people that the file does not name."""
    known = {name: pk for name, pk in User.objects.values_list("username", "pk")}
    named = {row.username: row for row in made.rows}
    seen: dict[str, int] = {}
    for row in made.rows:
        made.problems.extend(Problem(row.line, text) for text in _cell_problems(row))
        if row.username in seen:
            made.problems.append(
                Problem(
                    row.line,
                    _("%(name)s is in line %(line)d too.") % {"name": row.username, "line": seen[row.username]},
                )
            )
        seen.setdefault(row.username, row.line)
        manager = row.cells.get("manager", "")
        if manager and manager not in known and manager not in named:
            made.problems.append(
                Problem(row.line, _("The manager %s is neither in the file nor in the directory.") % manager)
            )
    made.problems.extend(_circles(made.rows))


def _cell_problems(row: Row) -> Iterator[str]:
    for name in NEEDED:
        if not row.cells[name]:
            yield _("%s is empty.") % name
    lists = {"department": _path, "aliases": _aliases}
    for name, limit in LIMITS.items():
        cell = row.cells.get(name, "")
        if any(len(part) > limit for part in (lists[name](cell) if name in lists else [cell])):
            yield _("%(column)s is longer than %(limit)d characters.") % {"column": name, "limit": limit}
    if row.cells.get("time_zone") and row.cells["time_zone"] not in zoneinfo.available_timezones():
        yield _("%s is no time zone.") % row.cells["time_zone"]
    for value, check in ((row.username, UnicodeUsernameValidator()), (row.cells.get("email", ""), validate_email)):
        try:
            if value:
                check(value)
        except ValidationError as error:
            yield str(error.messages[0])


def _circles(rows: list[Row]) -> Iterator[Problem]:
    """Lines that would make somebody their own manager, at whatever distance."""
    stored = UserProfile.objects.values_list("user__username", "manager__username")
    managers: dict[str, str] = {person: manager or "" for person, manager in stored}
    managers |= {row.username: row.cells["manager"] for row in rows if "manager" in row.cells}
    for row in rows:
        if "manager" not in row.cells:
            continue
        above, met = managers.get(row.username, ""), {row.username}
        while above and above not in met:
            met.add(above)
            above = managers.get(above, "")
        if above == row.username:
            yield Problem(row.line, _("With this manager, %s would stand below themselves.") % row.username)


def _compare(made: Plan) -> None:
    profiles = UserProfile.objects.select_related("user", "department", "manager")
    stored = {profile.user.get_username(): profile for profile in profiles}
    names = set(Department.objects.values_list("name", flat=True))
    for row in made.rows:
        for part in _path(row.cells.get("department", "")):
            if part not in names:
                names.add(part)
                made.departments.append(part)
        if row.username not in stored:
            made.added.append(row.username)
        elif any(_stored(stored[row.username], column) != _wanted(row, column) for column in row.cells):
            made.changed.append(row.username)
        else:
            made.unchanged += 1


def _stored(profile: UserProfile, column: str) -> Any:
    match column:
        case "username" | "email":
            return getattr(profile.user, column)
        case "department":
            return profile.department_name
        case "manager":
            return profile.manager.get_username() if profile.manager else ""
        case _:
            return getattr(profile, column)


def _wanted(row: Row, column: str) -> Any:
    cell = row.cells[column]
    match column:
        case "department":
            return (_path(cell) or [""])[-1]
        case "aliases":
            return _aliases(cell)
        case "time_zone":
            return cell or "Asia/Shanghai"
        case _:
            return cell


def _path(cell: str) -> list[str]:
    return [part.strip() for part in cell.split("/") if part.strip()]


def _aliases(cell: str) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in cell.replace("；", ";").split(";") if part.strip()))


def _write(row: Row) -> UserProfile:
    """The account and the profile; without a password until somebody sets one."""
    user, is_new = User.objects.get_or_create(username=row.username)
    if is_new:
        user.set_unusable_password()
    if is_new or row.cells.get("email", user.email) != user.email:
        user.email = row.cells.get("email", "")
        user.save()
    profile = UserProfile.objects.filter(pk=user.pk).first() or UserProfile(user=user)
    for column in ("display_name", "position", "aliases", "time_zone"):
        if column in row.cells:
            setattr(profile, column, _wanted(row, column))
    if "department" in row.cells:
        profile.department = _department(_path(row.cells["department"]))
    profile.save()
    return profile


def _department(path: list[str]) -> Department | None:
    """The department at the end of the path; what is missing of it is made, what is there stays where it is."""
    found: Department | None = None
    for name in path:
        below = found
        found = Department.objects.filter(name=name).first() or Department(name=name, parent=below)
        if found.pk is None:
            found.save()
    return found


def _loosen(profiles: list[UserProfile]) -> None:
    """Takes the old lines away first: turning one round would else be a circle on the way."""
    UserProfile.objects.filter(pk__in=[profile.pk for profile in profiles]).update(manager=None)


def _set_manager(profile: UserProfile, username: str) -> None:
    """Once everybody is there."""
    profile.manager = User.objects.get(username=username) if username else None
    profile.save(update_fields=["manager"])
