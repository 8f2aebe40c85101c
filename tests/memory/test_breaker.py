"""The circuit breaker: a dead store is left alone, tried by one caller at a time, and used again when it answers."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from memory import breaker as module
from memory.breaker import Breaker


class Clock:
    """Time that moves when a test says so."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def broken() -> Breaker:
    """A breaker behind which a store has just failed often enough."""
    breaker = Breaker(threshold=2, hold=10.0)
    breaker.failed()
    breaker.failed()
    return breaker


def test_it_lets_everybody_through_while_calls_succeed(clock: Clock) -> None:
    breaker = Breaker()
    breaker.succeeded()
    assert breaker.allows()
    assert not breaker.is_open


def test_one_failure_alone_changes_nothing(clock: Clock) -> None:
    breaker = Breaker(threshold=2)
    breaker.failed()
    assert breaker.allows()
    breaker.succeeded()
    breaker.failed()
    assert breaker.allows()


def test_failures_in_a_row_keep_everybody_out(clock: Clock) -> None:
    breaker = broken()
    assert breaker.is_open
    assert not breaker.allows()
    clock.now += 9.9
    assert not breaker.allows()


def test_after_the_hold_one_caller_tries_and_the_others_go_on_waiting(clock: Clock) -> None:
    breaker = broken()
    clock.now += 10
    assert [breaker.allows() for _ in range(5)] == [True, False, False, False, False]


def test_only_one_of_many_threads_tries(clock: Clock) -> None:
    breaker, together = broken(), threading.Barrier(16)
    clock.now += 10

    def ask(_: int) -> bool:
        together.wait()
        return breaker.allows()

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(ask, range(16))) == 1


def test_a_trial_that_succeeds_lets_everybody_through_again(clock: Clock) -> None:
    breaker = broken()
    clock.now += 10
    assert breaker.allows()
    breaker.succeeded()
    assert not breaker.is_open
    assert all(breaker.allows() for _ in range(5))


def test_a_trial_that_fails_begins_the_hold_anew(clock: Clock) -> None:
    breaker = broken()
    clock.now += 10
    assert breaker.allows()
    clock.now += 1
    breaker.failed()
    clock.now += 9.9
    assert not breaker.allows()
    clock.now += 0.1
    assert breaker.allows()


def test_a_trial_that_never_reports_back_is_followed_by_another(clock: Clock) -> None:
    breaker = broken()
    clock.now += 10
    assert breaker.allows()
    clock.now += 10
    assert breaker.allows()
