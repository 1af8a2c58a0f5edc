"""Real workers with something missing or failing: nothing is lost, it shows, and it heals by itself."""

import json
from pathlib import Path

from tests.crash.workload import check, publish, with_models, workload
from tests.fake_openai import FakeOpenAI, Reply, Status
from tests.stack import Stack


def trouble(stack: Stack) -> str:
    """What the one consumer says keeps it idle, or nothing."""
    return "".join(json.loads(sign)["trouble"] or "" for sign in stack.redis.hvals(stack.keys.alive("consumer")))


def test_any_pool_but_solo_is_refused_for_ingest(tmp_path: Path) -> None:
    with Stack(tmp_path) as stack:
        worker = stack.start("wrong", stack.worker("ingest,embed", "--pool", "prefork"))
        assert worker.wait() != 0
        assert "needs --pool solo" in worker.log()


def test_a_database_that_cannot_be_opened_holds_nothing_back_for_good(tmp_path: Path) -> None:
    work = workload(sessions=2, turns=3)
    with Stack(tmp_path, embed_min_chars=10_000) as stack:
        blocked = stack.settings.database
        blocked.mkdir(parents=True)
        publish(stack, work.events)
        ingest = stack.start_ingest()
        stack.wait(lambda: trouble(stack), "the consumer says what is wrong")
        assert trouble(stack).startswith("sqlite: ")
        assert stack.redis.xlen(stack.keys.events) == len(work.events)
        blocked.rmdir()
        stack.start_tasks(beat=True)
        stack.wait_quiet()
        check(stack, work)
        stack.wait(lambda: not trouble(stack), "the trouble is over")
        assert ingest.stop() == 0


def test_what_was_not_embedded_is_when_an_embedder_appears(tmp_path: Path) -> None:
    work = workload(sessions=1, turns=3)
    with Stack(tmp_path) as stack:
        publish(stack, work.events)
        stack.start_ingest()
        without = stack.start_tasks("without", beat=True)
        stack.wait_quiet()
        stack.wait(lambda: "work_waits" in without.log(), "the worker says that it has no embedder")
        assert without.log().count("work_waits") < 40
        without.kill()
        with FakeOpenAI(dimensions=16) as models:
            stack.change(**with_models(models))
            stack.start_tasks("with", beat=True)
            stack.wait_quiet()
            check(stack, work)


def test_failures_of_a_model_that_pass_are_waited_out(tmp_path: Path) -> None:
    work = workload(sessions=1, turns=3)
    with (
        FakeOpenAI(dimensions=16) as models,
        Stack(tmp_path, llm_retries=0, job_backoff=0.3, circuit_failures=50, **with_models(models)) as stack,
    ):
        models.script(*(Status(500) for _ in range(6)))
        models.script(Status(429, retry_after="1"), Status(500), path="embeddings")
        publish(stack, work.events)
        stack.start_ingest()
        stack.start_tasks(beat=True)
        stack.wait_quiet()
        check(stack, work)
        failed = (
            "SELECT sum(value) FROM counters WHERE name IN ('chat_failures:fake-chat', 'embed_failures:fake-embedding')"
        )
        stack.wait(lambda: stack.rows(failed) == [(8,)], "each failure is counted")
        tokens = (
            "SELECT count(*) FROM counters WHERE name IN ('chat_tokens_in:fake-chat', 'embed_tokens_in:fake-embedding')"
        )
        stack.wait(lambda: stack.rows(tokens) == [(2,)], "so are the tokens")


def test_an_answer_that_is_no_summary_is_dead_after_one_repair(tmp_path: Path) -> None:
    work = workload(sessions=1, turns=1)
    with FakeOpenAI(dimensions=16) as models, Stack(tmp_path, **with_models(models)) as stack:
        models.script(Reply("certainly! here it is"), Reply("{broken"))
        publish(stack, work.events)
        stack.start_ingest()
        stack.start_tasks(beat=True)
        stack.wait_quiet()
        assert stack.rows("SELECT source, status FROM dead_letters") == [("job", "dead")]
        assert stack.rows("SELECT state FROM jobs WHERE kind = 'summarise'") == [("dead",)]
        assert stack.rows("SELECT count(*) FROM short_term_memories") == [(0,)]


def test_a_worker_told_to_stop_finishes_its_batch_and_gives_the_lease_back(tmp_path: Path) -> None:
    work = workload(sessions=3, turns=60)
    with Stack(tmp_path, ingest_batch=10, ingest_lease=30.0) as stack:
        publish(stack, work.events)
        first = stack.start_ingest("first")
        stack.wait(stack.stored(10), "the first batch is stored")
        assert first.stop() == 0
        assert stack.rows("SELECT count(*) FROM leases WHERE expires_at > unixepoch()") == [(0,)]
        stack.start_ingest("second")
        stack.start_tasks(beat=True)
        stack.wait_quiet()
        check(stack, work)


def test_every_role_shows_that_it_lives(tmp_path: Path) -> None:
    roles = ("ingest", "embed", "summarise", "extract", "compact", "maintain", "beat", "consumer")
    with Stack(tmp_path) as stack:
        stack.start_ingest()
        stack.start_tasks(beat=True)
        keys = [stack.keys.alive(role) for role in roles]
        stack.wait(lambda: stack.redis.exists(*keys) == len(keys), "every role shows a heartbeat")


def test_beat_drains_the_stream_where_no_consumer_lives(tmp_path: Path) -> None:
    work = workload(sessions=1, turns=2)
    with Stack(tmp_path, drain_every=0.5) as stack:
        publish(stack, work.events)
        tasks = stack.start_tasks(beat=True)
        stack.wait_quiet()
        check(stack, work)
        assert "stream_drained_by_beat" in tasks.log()
