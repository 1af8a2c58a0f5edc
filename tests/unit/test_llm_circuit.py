"""The circuit breaker, by a clock of its own."""

import pytest

from llm.circuit import CircuitBreaker, CircuitState, Ticket
from tests.unit.llm_support import FakeTime


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def breaker(time: FakeTime) -> CircuitBreaker:
    return CircuitBreaker(3, 30.0, clock=time.clock)


def ticket(breaker: CircuitBreaker) -> Ticket:
    admitted = breaker.admit()
    assert isinstance(admitted, Ticket)
    return admitted


def state(breaker: CircuitBreaker) -> CircuitState:
    return breaker.state


def open_it(breaker: CircuitBreaker) -> None:
    for _ in range(3):
        breaker.failed(ticket(breaker))
    assert state(breaker) is CircuitState.OPEN


def test_opens_after_failures_in_a_row(breaker: CircuitBreaker) -> None:
    breaker.failed(ticket(breaker))
    breaker.failed(ticket(breaker))
    assert state(breaker) is CircuitState.CLOSED
    breaker.failed(ticket(breaker))
    assert state(breaker) is CircuitState.OPEN


def test_a_success_between_starts_the_count_anew(breaker: CircuitBreaker) -> None:
    for _ in range(2):
        breaker.failed(ticket(breaker))
    breaker.succeeded(ticket(breaker))
    for _ in range(2):
        breaker.failed(ticket(breaker))
    assert state(breaker) is CircuitState.CLOSED


def test_open_says_how_long_it_refuses(breaker: CircuitBreaker, time: FakeTime) -> None:
    open_it(breaker)
    time.now += 10
    assert breaker.admit() == pytest.approx(20.0)


def test_half_open_lets_one_probe_through(breaker: CircuitBreaker, time: FakeTime) -> None:
    open_it(breaker)
    time.now += 30
    assert state(breaker) is CircuitState.HALF_OPEN
    assert ticket(breaker).probe
    assert not isinstance(breaker.admit(), Ticket)


def test_a_probe_that_succeeds_closes(breaker: CircuitBreaker, time: FakeTime) -> None:
    open_it(breaker)
    time.now += 30
    breaker.succeeded(ticket(breaker))
    assert state(breaker) is CircuitState.CLOSED
    assert not ticket(breaker).probe


def test_a_probe_that_fails_opens_for_the_whole_time_again(breaker: CircuitBreaker, time: FakeTime) -> None:
    open_it(breaker)
    time.now += 30
    breaker.failed(ticket(breaker))
    assert breaker.admit() == pytest.approx(30.0)


def test_a_probe_that_is_withdrawn_makes_room_for_another(breaker: CircuitBreaker, time: FakeTime) -> None:
    open_it(breaker)
    time.now += 30
    breaker.withdrawn(ticket(breaker))
    assert ticket(breaker).probe


def test_requests_from_before_the_change_do_not_count(breaker: CircuitBreaker, time: FakeTime) -> None:
    late_success, late_failure = ticket(breaker), ticket(breaker)
    open_it(breaker)
    breaker.succeeded(late_success)
    assert state(breaker) is CircuitState.OPEN
    time.now += 30
    breaker.succeeded(ticket(breaker))
    breaker.failed(late_failure)
    breaker.failed(ticket(breaker))
    breaker.failed(ticket(breaker))
    assert state(breaker) is CircuitState.CLOSED


def test_withdrawing_an_ordinary_request_changes_nothing(breaker: CircuitBreaker) -> None:
    breaker.withdrawn(ticket(breaker))
    assert state(breaker) is CircuitState.CLOSED
