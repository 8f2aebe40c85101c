"""The assign_work node: proposes a task that somebody is to be given, and gives it once the speaker has confirmed."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from flows.markdown import literal
from flows.nodes.assign_card import Wish, proposal, retold
from flows.nodes.base import Answered, NodeCall, NodeConfig, NodeType, Output, Proposal, Result, Working, WorkToGive
from flows.references import render
from profiles.assignments import gives_work
from profiles.errors import ClientKeyReused, PersonNotFound

NOTHING = {"task_id": "", "url": "", "title": "", "assignee": "", "due_at": ""}


class AssignWorkConfig(NodeConfig):
    title: str = ""
    """What is to be done; left empty, it is what the person said, without whom and by when."""
    description: str = ""
    assignee: str = "{{start.input}}"
    """What names the one who does it: a sentence, or a bare name."""
    due: str = "{{start.input}}"
    """What says when it is due."""
    words: str = "{{start.input}}"
    """What the person said: whether it gives work at all, and what the title is made from."""


class AssignWork(NodeType):
    """Proposes a card; the speaker alone creates the task, by accepting it, and the permission is checked again.

    Gives `text`, a sentence for the person, and of a task that was created `task_id`, `url`, `title`, `assignee` and
    `due_at`. The way without a name is taken then; "declined" when the person does not want it; "not_given" when
    nobody fits, or the permission has gone; "no_work" when the words give none.
    """

    name = "assign_work"
    fields = ("text", *NOTHING)
    config = AssignWorkConfig

    def branches_of(self, config: Any) -> tuple[str | None, ...]:
        return (None, "declined", "not_given", "no_work")

    async def run(self, call: NodeCall) -> AsyncGenerator[Output, None]:
        if call.answer is not None:
            yield await answered(call.working, call.answer)
            return
        said = _Said(*(render(text, call.values) for text in (call.config.words, call.config.assignee)))
        again = await retold(call.working, said.words)
        if again is not None:
            yield again
            return
        yield await self._proposed(call, said)

    async def _proposed(self, call: NodeCall, said: "_Said") -> Proposal | Result:
        wish = await Wish.read(
            call.working,
            words=said.words,
            assignee=said.assignee,
            title=render(call.config.title, call.values),
            description=render(call.config.description, call.values),
            due=render(call.config.due, call.values),
        )
        named_apart = said.assignee.strip() != said.words.strip()
        wanted = named_apart or gives_work(said.words, names_somebody=bool(wish.people), says_when=wish.due is not None)
        if not wanted:
            return _nothing(_how(), "no_work")
        return proposal(wish) or _nothing(f"{nobody()}\n\n{_how()}", "not_given")


@dataclass(frozen=True, slots=True)
class _Said:
    """What the person said, and the text that names the one who is meant."""

    words: str
    assignee: str


async def answered(working: Working, answer: Answered) -> Result:
    """What becomes of the card that the person answered; the task is given once, however often this runs."""
    if not answer.accepted:
        return _nothing(_("All right, no task was created."), "declined")
    final = dict(answer.card) | dict(answer.fields)
    chosen = final["assignee"]
    new = WorkToGive(
        title=final["title"],
        assignee_id=chosen["user_id"] if isinstance(chosen, dict) else chosen,
        client_key=f"action:{answer.action_id}",
        description=final.get("description") or "",
        due_at=parse_datetime(final["due_at"]) if final.get("due_at") else None,
    )
    try:
        given = await working.give(new)
    except PersonNotFound:
        gone = _("No task was created: you can no longer give work to this person, or their account is switched off.")
        return _nothing(gone, "not_given")
    except ClientKeyReused as error:
        return _nothing(str(error.detail), "not_given")
    sentence = _("%(name)s was given the task “%(title)s”. It stands under [Tasks](%(url)s).")
    text = sentence % {"name": literal(given["assignee"]), "title": literal(new.title), "url": given["url"]}
    return Result({"text": text, "title": new.title} | given | {"due_at": given["due_at"] or ""})


def _nothing(text: str, branch: str) -> Result:
    return Result(NOTHING | {"text": text}, branch=branch)


def nobody() -> str:
    """What is said where nobody fits; whoever is out of reach is as good as not there."""
    return _("Among the people you may give work to, nobody is called that.")


def _how() -> str:
    return _(
        "Say who is to do what by when, for example: “Give Xiaoming a task: hand in the quarterly report by next "
        "Friday”. You see it first; it is created only when you confirm it."
    )
