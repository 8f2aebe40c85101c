"""A turn of another process, as its stream in Redis tells it (S2)."""

import uuid
from collections.abc import Iterable

from django_redis import get_redis_connection

from flows import runner
from flows.events import Event, TurnLog
from flows.models import Flow
from flows.relay import Mirror, delete_streams
from tests.doubles import ModelServer
from tests.people import Person
from tests.waiting import eventually

TURN = uuid.uuid4()


def events(numbers: Iterable[int]) -> list[Event]:
    return [Event(number, number, TURN, "delta", {"text": str(number)}) for number in numbers]


def test_a_mirror_takes_events_in_order_and_each_once() -> None:
    mirror = Mirror(TurnLog(TURN))
    for numbers in ((1, 2), (2, 3), (1, 2, 3), (4,)):
        mirror.take(events(numbers))
        assert mirror.is_open
    assert mirror.log.text == "1234"


def test_behind_a_gap_a_mirror_takes_nothing_and_is_read_no_more() -> None:
    """Else the reader would get the same entries at once again and again, and read without a pause."""
    mirror = Mirror(TurnLog(TURN))
    mirror.take(events((1, 2, 4, 5)))
    assert mirror.log.text == "12"
    assert not mirror.is_open


def test_a_mirror_of_an_ended_turn_is_read_no_more() -> None:
    mirror = Mirror(TurnLog(TURN))
    mirror.take([*events((1,)), Event(2, 2, TURN, "turn.completed", {"output": "1"})])
    assert not mirror.is_open


def test_a_late_event_does_not_bring_an_erased_stream_back(bob: Person, flow: Flow, model: ModelServer) -> None:
    """M10, L15: one that was still waiting to be written when its turn was erased."""
    erased, other = uuid.UUID(bob.says(flow, "你好")["turn_id"]), uuid.uuid4()
    eventually(lambda: stream_of(erased))
    delete_streams([erased])
    host = runner.current()
    for event in (Event(99, 99, erased, "delta", {"text": "晚了"}), Event(1, 1, other, "delta", {"text": "新的"})):
        host.loop.call_soon_threadsafe(host.relay.publish, event)
    eventually(lambda: stream_of(other))
    assert not stream_of(erased)


def stream_of(turn_id: uuid.UUID) -> int:
    return int(get_redis_connection("default").xlen(f"tacit:events:{turn_id}"))
