"""The small decisions of the workers: hints, retries, faults, the watchdog, the broker's address."""

import threading
from pathlib import Path

import fakeredis
import pytest

from llm.errors import BadRequest, RateLimited, Unauthorised
from store.errors import StoreFull
from store.jobs import Job
from workers.bootstep import check_pool
from workers.config import broker_url
from workers.errors import InjectedFault, WrongPool
from workers.faults import fire, parse_fault
from workers.outbox import Outbox
from workers.retry import RetryRules, retry_at
from workers.watchdog import Watchdog, WatchRules, Worker

RULES = RetryRules(max_attempts=3, first=2.0, most=100.0, patience=1_000.0)


def job(attempts: int = 1) -> Job:
    return Job(1, "embed", "message:1", "default", attempts=attempts, created_at=0.0)


def test_embedding_waits_for_company_or_its_time() -> None:
    outbox = Outbox({"embed": (5, 2.0)})
    outbox.owe("embed", 2, 0.0)
    assert (outbox.due(0.0), outbox.wait(0.0, 10.0)) == ([], 2.0)
    outbox.owe("embed", 3, 0.5)
    assert outbox.due(0.5) == ["embed"]
    outbox.owe("embed", 1, 1.0)
    assert (outbox.due(2.9), outbox.due(3.0)) == ([], ["embed"])


def test_hints_of_one_kind_keep_a_distance() -> None:
    outbox = Outbox({})
    outbox.owe("summarise", 1, 0.0)
    assert outbox.due(0.0) == ["summarise"]
    outbox.owe("summarise", 1, 0.01)
    assert outbox.due(0.01) == []
    assert outbox.due(0.11) == ["summarise"]


def test_hints_go_on_when_the_clock_is_set_back() -> None:
    outbox = Outbox({"embed": (5, 2.0)})
    outbox.owe("summarise", 1, 5_000.0)
    assert outbox.due(5_000.0) == ["summarise"]
    outbox.owe("summarise", 1, 5_000.0)
    outbox.owe("embed", 1, 5_000.0)
    assert (outbox.due(1_000.0), outbox.due(1_000.2), outbox.due(1_002.0)) == ([], ["summarise"], ["embed"])


def test_an_outage_kills_no_job_before_its_patience_is_over() -> None:
    failed = RULES.classify(RateLimited("slow down", retry_after=50.0)).outcome(job(attempts=9))
    assert retry_at(failed, 100.0, RULES) == pytest.approx(175.0, abs=25.1)
    assert retry_at(failed, 1_001.0, RULES) is None


def test_a_database_out_of_order_is_waited_out() -> None:
    failure = RULES.classify(StoreFull("disk full"))
    assert failure.shared and retry_at(failure.outcome(job(attempts=9)), 100.0, RULES) is not None


def test_wrong_settings_are_waited_out_and_wrong_requests_are_dead() -> None:
    assert RULES.classify(Unauthorised("no key")).shared
    lasting = RULES.classify(BadRequest("too long"))
    assert not lasting.shared and retry_at(lasting.outcome(job()), 0.0, RULES) is None


def test_a_surprise_is_tried_again_until_the_attempts_are_spent() -> None:
    failure = RULES.classify(KeyError("oops"))
    assert retry_at(failure.outcome(job(1)), 0.0, RULES) is not None
    assert retry_at(failure.outcome(job(3)), 0.0, RULES) is None


def test_a_fault_fires_once(tmp_path: Path) -> None:
    fault = parse_fault(f"consumer.after_read:{tmp_path / 'a:b'}:raise")
    with pytest.raises(InjectedFault):
        fire(fault)
    fire(fault)
    assert fault.marker.read_text().startswith("consumer.after_read")
    with pytest.raises(ValueError, match="is not <point>"):
        parse_fault("nowhere:/tmp/x")


def test_broker_urls() -> None:
    assert broker_url("unix:///data/redis.sock") == "redis+socket:///data/redis.sock"
    assert broker_url("unix:///data/redis.sock?db=2") == "redis+socket:///data/redis.sock?virtual_host=2"
    assert broker_url("redis://:secret@host:6379/1") == "redis://:secret@host:6379/1"


def test_any_pool_but_solo_is_refused() -> None:
    with pytest.raises(WrongPool, match="--pool solo"):
        check_pool(dict)


def test_the_watchdog_wakes_a_silent_worker_and_no_other() -> None:
    client = fakeredis.FakeRedis()
    now, woken, busy = [0.0], [], [False]
    worker = Worker(
        ping=lambda: None,
        vouch=lambda: None,
        leave=lambda: None,
        busy=lambda: busy[0],
        wake=lambda: woken.append(now[0]),
    )
    rules = WatchRules(every=1.0, patience=5.0, longest_task=60.0)
    dog = Watchdog(client, ["own", "queue"], rules, worker, stop=threading.Event(), monotonic=lambda: now[0])

    def look(at: float) -> bool:
        now[0] = at
        return dog.look()

    assert not look(100.0)
    client.lpush("queue", "task")
    assert not look(104.0)
    busy[0] = True
    assert not look(106.0)
    busy[0] = False
    dog.taken()
    assert not look(110.9)
    assert look(111.0) and woken == [111.0]
    assert not look(112.0)


def test_the_watchdog_vouches_for_a_busy_worker_as_long_as_a_task_may_take() -> None:
    client = fakeredis.FakeRedis()
    now, vouched, pings = [0.0], [], []
    worker = Worker(
        ping=lambda: pings.append(client.lpush("own", "ping")),
        vouch=lambda: vouched.append(now[0]),
        leave=lambda: None,
        busy=lambda: True,
        wake=lambda: None,
    )
    rules = WatchRules(every=10.0, patience=20.0, longest_task=60.0)
    dog = Watchdog(client, ["own"], rules, worker, stop=threading.Event(), monotonic=lambda: now[0])
    for now[0] in (30.0, 59.0, 61.0, 90.0):
        dog.look()
    assert vouched == [30.0, 59.0]
    assert len(pings) == 1, "one that waits is enough"
    assert client.ttl("own") > 0
    dog.taken()
    dog.look()
    assert vouched == [30.0, 59.0, 90.0]
