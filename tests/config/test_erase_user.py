"""L15: what is kept about a person is erased everywhere, and it can be shown."""

import json
import logging
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from axes.models import AccessAttempt, AccessLog
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from knox.models import AuthToken

from config.erasing import OWN
from config.local_redis import LocalRedis
from flows.models import Favourite, Flow
from llm.types import Usage
from memory import consolidation, window
from memory.cascade import is_followed, keys_to
from memory.consolidation import consolidate_due_sessions
from memory.indexing import index_due_sessions
from memory.manager import MemoryManager
from memory.models import Conversation, DeadLetter, Entity, Episode, Erasure, JobKind, MemoryOwner, TokenUse, Turn, Unit
from memory.spending import spent
from memory.summaries import fold_due_summaries
from memory.titles import title_due_sessions
from profiles.models import UserProfile, WorkTask
from tests.doubles import Answer, ModelServer
from tests.factories import TurnFactory, make_flow
from tests.flows.web_process import Site
from tests.memory.hot_copy import memory_keys, redis
from tests.memory.memories import remembered
from tests.memory.traces import dump, in_redis, in_tables
from tests.people import Person, add_person
from tests.waiting import eventually

CANARY, TOKEN, NAME = "金丝雀QX-7731", "qx7731", "金丝雀"
WORDS = (CANARY, TOKEN, "QX-7731")


def erase_user(name: str, *options: str) -> str:
    """What the command says."""
    out = StringIO()
    call_command("erase_user", name, "--yes", *options, stdout=out)
    return out.getvalue()


@pytest.fixture
def own_redis(tmp_path: Path, settings: Any) -> Iterator[LocalRedis]:
    """Everything in Redis is on a server of its own, so that its files can be looked into."""
    (tmp_path / "records").mkdir()
    server = LocalRedis(tmp_path / "redis", records=tmp_path / "records")
    server.start()
    settings.CACHES = {name: cache | {"LOCATION": server.url} for name, cache in settings.CACHES.items()}
    settings.REDIS_URL = settings.MEMORY_REDIS_URL = server.url
    yield server
    server.stop()
    window.breaker.succeeded()


@pytest.fixture
def site(transactional_db: None, tmp_path: Path, model: ModelServer, own_redis: LocalRedis) -> Iterator[Site]:
    site = Site(tmp_path, model)
    site.redis_url = own_redis.url
    yield site
    site.stop()


def scripted(body: dict[str, Any]) -> Answer:
    """An account of a conversation where one is asked for, and else a sentence; the words of each person in both."""
    said = json.dumps(body, ensure_ascii=False)
    word = CANARY if CANARY in said or NAME in said else "海鸥KK-1200"
    if "JSON" not in body["messages"][0]["content"]:
        return Answer(f"{word} 由李娜负责，已记下。")
    entities = [{"name": word, "type": "project"}, {"name": "李娜", "type": "person"}]
    relations = [{"source": "李娜", "relation": "负责", "target": word}]
    summary = f"{word} 由李娜负责，五月三日上线。"
    told = {"title": f"{word} 上线", "summary": summary, "keywords": [word], "importance": 4}
    return Answer(json.dumps(told | {"entities": entities, "relations": relations}, ensure_ascii=False))


def live_through_everything(person: Person, flow: Flow, other: Flow, word: str) -> None:
    """Says, asks to remember, shares, rates; then the jobs title, index, fold and consolidate; then it is recalled."""
    session = person.says(flow, f"{word} 由李娜负责，五月三日上线。")["session_id"]
    for number in range(3):
        person.says(flow, f"{word} 第{number}次例会", session_id=session)
    told = person.says(flow, f"记住：{word} 的口令是海盐", session_id=session)
    eventually(lambda: Episode.objects.of(person.user).exists())
    person.api.post(f"/api/turns/{told['turn_id']}/feedback", json={"rating": "down", "reason": f"{word} 不对"})
    person.api.put(f"/api/flows/{flow.pk}/favourite")
    MemoryManager().share_session(person.user, Conversation.objects.get(pk=session).pk)
    Conversation.objects.filter(user=person.user).update(last_active_at=timezone.now() - timedelta(minutes=9))
    for job in (lambda: title_due_sessions(limit=9), lambda: fold_due_summaries(limit=9)):
        assert job()
    assert index_due_sessions()
    assert consolidate_due_sessions()
    conversation = Conversation.objects.get(pk=session)
    assert word in conversation.summary
    assert word in conversation.title
    assert Episode.objects.of(person.user).filter(origin="extracted", summary__contains=word).exists()
    assert eventually(lambda: recalled(person, other, word))  # a busy machine may be late once
    DeadLetter.objects.create(user=person.user, conversation=conversation, from_seq=1, to_seq=2, error="unusable")


def recalled(person: Person, flow: Flow, word: str) -> list[Any]:
    """What a new conversation is given of it."""
    used = person.says(flow, f"{word} 谁负责？")["memory_used"]
    return [*used["turns"], *used["episodes"]]


def of_one(user: User, rows: dict[str, list[str]]) -> dict[str, list[str]]:
    """The rows of a dump in which the person's sessions, turns or words stand."""
    ids = [
        str(pk)
        for table in (Conversation, Turn, Episode)
        for pk in table.objects.filter(user=user).values_list("pk", flat=True)
    ]
    return {table: [row for row in kept if any(pk in row for pk in ids)] for table, kept in rows.items()}


@pytest.mark.own_servers
def test_a_word_that_went_through_everything_is_nowhere_afterwards(
    site: Site, own_redis: LocalRedis, model: ModelServer, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """L15, 1, 49, 50: no table, key, stream, file of Redis or log; and of others nothing is gone."""
    settings.SUMMARY_TRIGGER_MESSAGES, settings.SUMMARY_KEEP_TURNS = 6, 1
    model.default = scripted
    flow, other, address = make_flow(), make_flow(), site.start().address
    bob, carol = add_person("bob", address), add_person("carol", address)
    with caplog.at_level(logging.DEBUG):
        for person, word in ((carol, "海鸥KK-1200"), (bob, CANARY)):
            live_through_everything(person, flow, other, word)
        assert {
            *("memory_turn.input", "memory_turn.output", "memory_turn.rating_reason", "memory_posting.token"),
            *("memory_conversation.title", "memory_conversation.summary", "memory_unit.text"),
            *("memory_episode.summary", "memory_episode.title", "memory_episode.keywords", "memory_entity.name"),
        } <= in_tables(*WORDS)
        assert {key.split(":")[0] for key in in_redis(*WORDS)} == {"mem", "tacit"}
        assert CANARY.encode() in written(own_redis)
        before, theirs = dump(), of_one(carol.user, dump())
        keys = {key for key in redis().keys("*") if f"{{{carol.user.pk}}}".encode() in key}
        said = erase_user("bob")
    assert in_tables(*WORDS) == set()
    assert in_redis(*WORDS) == set()
    assert CANARY.encode() not in written(own_redis)
    assert not [line for line in (caplog.text, *logs(site.folder)) if any(word in line for word in WORDS)]
    assert "memory_posting" in said
    after = dump()
    assert of_one(carol.user, after) == theirs
    for table, rows in after.items():
        assert table == "memory_memoryowner" or set(rows) <= set(before[table]), table
    assert {key for key in redis().keys("*") if f"{{{carol.user.pk}}}".encode() in key} == keys
    assert eventually(lambda: recalled(carol, other, "海鸥KK-1200"))
    assert not {key for key in memory_keys() if f"{{{bob.user.pk}}}" in key}


def written(server: LocalRedis) -> bytes:
    """What the server's files hold."""
    return b"".join(file.read_bytes() for file in server.folder.rglob("*") if file.is_file() and file.name != "log")


def logs(folder: Path) -> list[str]:
    return [file.read_text(errors="replace") for file in folder.rglob("*log*") if file.is_file()]


@pytest.fixture
def kept(bob: Person, flow: Flow, model: ModelServer) -> Person:
    """Bob with a session, memories, a login by cookie, a favourite and a task."""
    bob.says(flow, "北斗项目由李娜负责。")
    remembered(bob.user, "北斗项目由李娜负责。")
    bob.api.put(f"/api/flows/{flow.pk}/favourite")
    Client().force_login(bob.user)
    TokenUse.objects.create(user=bob.user, day=timezone.now().date(), kind="title", calls=1)
    WorkTask.objects.create(title="写周报", assignee=bob.user)
    AccessAttempt.objects.create(username="bob", ip_address="127.0.0.1", failures_since_start=1)
    AccessLog.objects.create(username="bob", ip_address="127.0.0.1")
    return bob


def test_it_tells_what_went_where_and_the_second_time_nothing(kept: Person) -> None:
    """The report has the shape of the page's "erase everything"."""
    told = {tuple(line.split()[:2]): int(line.split()[2]) for line in erase_user("bob").splitlines()[:-1]}
    assert told[("removed", "turns")] == told[("tables", "memory_turn")] == 1
    assert told[("removed", "episodes")] == told[("tables", "memory_episode")] == 1
    assert told[("tables", "memory_tokenuse")] == told[("tables", "flows_favourite")] == 1
    assert told[("tables", "knox_authtoken")] == told[("tables", "django_session")] == 1
    assert told[("removed", "keys")] >= 3
    assert erase_user("bob") == "Nothing of bob is left but the account.\n"


def test_without_account_the_account_the_profile_and_the_work_stay(kept: Person, flow: Flow) -> None:
    epoch = MemoryOwner.objects.get(user=kept.user).epoch
    erase_user("bob")
    assert User.objects.get(username="bob").is_active
    assert UserProfile.objects.filter(user=kept.user).exists()
    assert WorkTask.objects.get().assignee == kept.user
    assert MemoryOwner.objects.get(user=kept.user).epoch == epoch + 1
    assert kept.api.get("/api/memory/sessions").status_code == 401
    assert not Session.objects.exists()
    assert not redis().keys(f"*throttle*_{kept.user.pk}")


def test_with_account_nothing_is_left_under_number_or_name(kept: Person, root: Client) -> None:
    kind = ContentType.objects.get_for_model(User)
    boss = User.objects.get(username="root")
    LogEntry.objects.log_actions(boss.pk, [kept.user], action_flag=CHANGE, single_object=True)
    assert LogEntry.objects.filter(content_type=kind).exists()
    number = kept.user.pk
    erase_user("bob", "--account")
    assert in_tables("bob", "王小明") == set()
    assert boss.is_active
    assert not redis().keys(f"mem:{{{number}}}:*")
    assert "There is no account called bob any more." in erase_user("bob", "--account")


def test_jobs_that_hold_something_of_an_erased_account_store_nothing_and_go_on(
    kept: Person, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M10: the account goes while the model writes."""
    Conversation.objects.update(last_active_at=timezone.now() - timedelta(minutes=9))
    made = consolidation._made

    def erased_meanwhile(*args: Any) -> Any:
        result = made(*args)
        erase_user("bob", "--account")
        spent(kept.user.pk, JobKind.EPISODE, Usage(1, 1))
        return result

    monkeypatch.setattr(consolidation, "_made", erased_meanwhile)
    assert consolidate_due_sessions() == 1
    tables = (Episode, Unit, Entity, TokenUse, MemoryOwner, Turn)
    assert [table.__name__ for table in tables if table.objects.exists()] == []


def test_a_running_answer_is_stopped(bob: Person, flow: Flow, model: ModelServer, gate: Any) -> None:
    model.enqueue(Answer([f"{CANARY} 半", "句"], hold=gate, hold_after=1))
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input=CANARY)
        socket.until("delta")
        erase_user("bob")
        assert socket.to_end()[-1]["code"] == "erased"
    assert model.closed_early.wait(20)
    gate.set()
    eventually(lambda: in_redis(*WORDS) == set())
    assert in_tables(*WORDS) == set()


@pytest.mark.own_servers
def test_while_redis_is_away_the_account_stays_and_the_command_fails(
    transactional_db: None, own_redis: LocalRedis
) -> None:
    """What is still to be deleted there is noted with the account."""
    bob = User.objects.create_user("bob")
    conversation = TurnFactory(conversation__user=bob, input=CANARY).conversation
    MemoryManager()._rebuilt(conversation, conversation.last_seq, memory=True)
    own_redis.stop()
    with pytest.raises(CommandError, match=r"redis.*still there"):
        erase_user("bob", "--account")
    assert not User.objects.get().is_active
    assert in_tables(CANARY) == set()
    assert Erasure.objects.count() == 1
    own_redis.start()
    window.breaker.succeeded()
    eventually(lambda: "Nothing of bob is left.\n" in erase_user("bob", "--account"))
    assert not memory_keys()
    assert not User.objects.exists()


def test_it_asks_before_and_refuses_with_words(
    kept: Person, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("builtins.input", lambda _: "carol")
    with pytest.raises(CommandError, match="Nothing was erased"):
        call_command("erase_user", "bob")
    monkeypatch.setattr("builtins.input", _nobody)
    with pytest.raises(CommandError, match="--yes"):
        call_command("erase_user", "bob")
    with pytest.raises(CommandError, match="no account called nobody"):
        erase_user("nobody")
    assert Turn.objects.filter(user=kept.user).exists()


def _nobody(_: str) -> str:
    raise EOFError


def test_every_table_of_people_is_erased_with_memory_or_with_the_account() -> None:
    """A table that is added later says here which of the two it is."""
    with_account = {"profiles", "admin", "auth"}
    apps = {key.model._meta.app_label for key in keys_to(User) if is_followed(key)}
    assert apps == {*OWN, *with_account}
    assert Favourite._meta.app_label in OWN
    assert AuthToken._meta.app_label in OWN
