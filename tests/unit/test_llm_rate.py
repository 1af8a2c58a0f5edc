"""The token bucket and the registry that shares it."""

import pytest

from llm.circuit import CircuitState, Ticket
from llm.providers import Providers
from llm.rate import TokenBucket
from tests.unit.llm_support import FakeTime


def test_a_burst_goes_at_once_and_the_rest_in_step() -> None:
    time = FakeTime()
    bucket = TokenBucket(60, burst=3, clock=time.clock)
    assert [bucket.reserve(100) for _ in range(5)] == pytest.approx([0, 0, 0, 1, 2])


def test_it_fills_up_to_the_burst_and_no_further() -> None:
    time = FakeTime()
    bucket = TokenBucket(60, burst=2, clock=time.clock)
    time.now += 3_600
    assert [bucket.reserve(100) for _ in range(3)] == pytest.approx([0, 0, 1])


def test_who_will_not_wait_takes_no_place() -> None:
    time = FakeTime()
    bucket = TokenBucket(60, burst=1, clock=time.clock)
    assert bucket.reserve(0) == 0
    assert bucket.reserve(0.5) == pytest.approx(1)
    assert bucket.reserve(5) == pytest.approx(1)


def test_a_place_given_back_is_free_again() -> None:
    bucket = TokenBucket(60, burst=1, clock=FakeTime().clock)
    assert bucket.reserve(0) == 0
    bucket.refund()
    assert bucket.reserve(0) == 0


def test_a_pause_holds_for_all() -> None:
    time = FakeTime()
    bucket = TokenBucket(600, clock=time.clock)
    bucket.pause(7)
    bucket.pause(3)
    assert bucket.reserve(100) == pytest.approx(7)
    time.now += 7
    assert bucket.reserve(100) == 0


def test_a_slow_rate_still_lets_one_go_at_once() -> None:
    bucket = TokenBucket(1, clock=FakeTime().clock)
    assert bucket.reserve(0) == 0
    assert bucket.reserve(0) == pytest.approx(60)


def test_one_base_url_is_one_provider() -> None:
    providers = Providers()
    first = providers.get("http://a/v1", per_minute=60, failures=1, reset=5)
    assert providers.get("http://a/v1", per_minute=1, failures=9, reset=9) is first
    assert providers.get("http://b/v1", per_minute=60, failures=1, reset=5) is not first
    admitted = first.breaker.admit()
    assert isinstance(admitted, Ticket)
    first.breaker.failed(admitted)
    assert providers.circuit("http://a/v1") is CircuitState.OPEN
    assert providers.circuit("http://never-asked/v1") is CircuitState.CLOSED
