"""Rows for `bench.forgetting`: sessions of ten turns, and for each turn a memory with words, names and relations."""

from datetime import timedelta
from uuid import uuid4

import numpy as np
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from memory.models import Conversation, Entity, Episode, EpisodeOrigin, Relation, Turn, TurnStatus, Unit, UnitKind
from memory.retrieval.storing import counted, store

OLD = timedelta(days=400)
TURNS = 10
NAMES = 20
WORDS = "项目进度计划会议报告数据分析客户需求测试上线预算合同系统设计开发部署文档周报培训采购财务"


def add_people(*, people: int, each: int) -> None:
    """So many people with so many turns and memories, all of them old."""
    users = User.objects.bulk_create(User(username=uuid4().hex, password="!") for _ in range(people))  # noqa: S106
    for first in range(0, people, 50):
        _remember(users[first : first + 50], each)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def one_owner(*, memories: int) -> User:
    """A person with so many memories, each with its vector."""
    user = User.objects.create(username=uuid4().hex)
    _remember([user], memories, vectors=True)
    return user


def _remember(users: list[User], each: int, *, vectors: bool = False) -> None:
    at = timezone.now() - OLD
    kind = {"flow_id": 1, "flow_name": "bench", "flow_version": 1, "last_seq": 2 * TURNS}
    sessions = Conversation.objects.bulk_create(
        Conversation(user=user, created_at=at, last_active_at=at, **kind)
        for user in users
        for _ in range(each // TURNS)
    )
    turns = Turn.objects.bulk_create(
        Turn(
            conversation=session,
            user_id=session.user_id,
            flow_id=1,
            seq=2 * number + 1,
            input=_text(number),
            output=_text(number + 5),
            status=TurnStatus.COMPLETE,
            started_at=at,
        )
        for session in sessions
        for number in range(TURNS)
    )
    _units([_of_turn(turn) for turn in turns], vectors=vectors)
    episodes = Episode.objects.bulk_create(_episode(turn, place) for place, turn in enumerate(turns))
    _units([_of_episode(episode) for episode in episodes], vectors=vectors)
    through = Episode.turns.through
    through.objects.bulk_create(
        through(episode=episode, turn=turn) for episode, turn in zip(episodes, turns, strict=True)
    )
    _name(users, episodes)


def _text(number: int) -> str:
    """About a dozen words."""
    return "".join(WORDS[(number * 7 + place * 3) % (len(WORDS) - 2) :][:2] for place in range(12))


def _episode(turn: Turn, place: int) -> Episode:
    return Episode(
        user_id=turn.user_id,
        conversation_id=turn.conversation_id,
        flow_id=1,
        from_seq=turn.seq,
        to_seq=turn.seq + 1,
        title="进度",
        summary=_text(place),
        origin=EpisodeOrigin.EXTRACTED,
        fingerprint=uuid4().hex,
        occurred_from=turn.started_at,
        occurred_to=turn.started_at,
        created_at=turn.started_at,
        updated_at=turn.started_at,
    )


def _of_turn(turn: Turn) -> Unit:
    return _unit(kind=UnitKind.TURN, turn=turn, user_id=turn.user_id, source=turn, text=turn.input)


def _of_episode(episode: Episode) -> Unit:
    return _unit(kind=UnitKind.EPISODE, episode=episode, user_id=episode.user_id, source=episode, text=episode.summary)


def _unit(*, source: Turn | Episode, **fields: object) -> Unit:
    at = source.started_at if isinstance(source, Turn) else source.occurred_to
    return Unit(conversation_id=source.conversation_id, flow_id=1, occurred_at=at, **fields)


class Embedder:
    """As far as storing a vector asks for one."""

    model, dimension = "bench", 512


def _units(made: list[Unit], *, vectors: bool) -> None:
    given = np.random.default_rng(5).standard_normal((len(made), Embedder.dimension)) if vectors else None
    store([counted(unit) for unit in made], vectors=given, embedder=Embedder() if vectors else None)


def _name(users: list[User], episodes: list[Episode]) -> None:
    """Names for each person, and two of them with a relation in each memory."""
    entities = Entity.objects.bulk_create(
        Entity(user=user, key=f"名{number}", name=f"名{number}") for user in users for number in range(NAMES)
    )
    relations = Relation.objects.bulk_create(
        Relation(user_id=source.user_id, source=source, relation="负责", target=target, valid_from=timezone.now())
        for source, target in zip(entities[::2], entities[1::2], strict=True)
    )
    first = {user.pk: NAMES * place for place, user in enumerate(users)}
    named, related = Entity.episodes.through, Relation.episodes.through
    pairs = [(episode, first[episode.user_id] + 2 * (place % (NAMES // 2))) for place, episode in enumerate(episodes)]
    named.objects.bulk_create(
        named(episode=episode, entity=entities[place + side]) for episode, place in pairs for side in (0, 1)
    )
    related.objects.bulk_create(related(episode=episode, relation=relations[place // 2]) for episode, place in pairs)
