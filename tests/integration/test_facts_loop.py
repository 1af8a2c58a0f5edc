"""A fact's whole life in real processes: kept by a tool, recalled, used, pinned, explained, read again, forgotten."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sidestream import Client, MemoryUsed, Message, Publisher, SessionEnded
from sidestream.tool_handlers import MemoryTools, ToolScope
from tests.integration.api_process import start_api
from tests.integration.commands import sidestream
from tests.stack import Stack

WHOSE = ("--user", "ann")


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    with Stack(tmp_path) as found:
        found.start_ingest()
        found.start_tasks(beat=True)
        yield found


def facts(stack: Stack, *arguments: str) -> list[dict[str, Any]]:
    """What `sidestream facts list --json` shows."""
    shown = sidestream(stack, "facts", "list", *WHOSE, "--json", *arguments)
    return [json.loads(line) for line in shown.stdout.splitlines()]


def test_a_fact_lives_from_the_tool_that_kept_it_to_its_end(stack: Stack) -> None:
    _, url = start_api(stack)
    with Publisher(stack.server.url, spool_dir=None) as publisher, Client(url) as client:
        tools = MemoryTools(publisher, client, ToolScope("s1", "ann", agent_id="helper"))
        kept = json.loads(tools.call("memory_store", {"content": "Ann is allergic to peanuts.", "key": "allergy"}))
        client.wait_for(kept["event_id"], 30)
        stack.wait(lambda: client.facts(user_id="ann").total == 1, "the fact is there")
        (found,) = json.loads(tools.call("memory_recall", {"query": "peanuts", "kinds": ["fact"]}))["results"]
        assert (found["content"], found["key"]) == ("Ann is allergic to peanuts.", "allergy")
        memory_id = found["memory_id"]
        why = client.explain_fact(memory_id, user_id="ann")
        assert why.origin.startswith("kept on purpose by agent:helper in session s1")
        before = client.fact(memory_id, user_id="ann").weight
        publisher.publish_many(
            [
                Message(id="q", session_id="s1", user_id="ann", role="user", content="Can I eat this bar?"),
                Message(id="a", session_id="s1", role="assistant", content="No: you are allergic to peanuts."),
                MemoryUsed(session_id="s1", parent_id="a", memory_ids=[memory_id]),
            ]
        )
        stack.wait(lambda: client.fact(memory_id, user_id="ann").access_count == 1, "its use is counted")
        assert client.fact(memory_id, user_id="ann").weight > before
        client.adjust_fact(memory_id, user_id="ann", pinned=True, actor="eve", reason="it matters")
        stack.wait(lambda: client.fact(memory_id, user_id="ann").pinned, "it is pinned")
        assert client.explain_fact(memory_id, user_id="ann").ends.at is None
        tools.call("memory_forget", {"key": "allergy", "reason": "a mistake"})
        stack.wait(lambda: client.fact(memory_id, user_id="ann").status == "archived", "it is forgotten")
        changes = client.fact_history(memory_id, user_id="ann").changes
        assert [(c.change, c.actor, c.reason) for c in changes][-2:] == [
            ("pinned", "eve", "it matters"),
            ("archived", "agent:helper", "a mistake"),
        ]
        client.forget_fact(memory_id, user_id="ann", hard=True)
        stack.wait(lambda: client.facts(user_id="ann", status=["archived"]).total == 0, "it is destroyed")


def test_sessions_are_read_again_and_a_pinned_fact_stays(stack: Stack) -> None:
    with Publisher(stack.server.url, spool_dir=None) as publisher:
        publisher.publish_many(
            [
                Message(
                    id="q", session_id="s1", user_id="ann", role="user", content="I live in Oslo. I have two cats."
                ),
                Message(id="a", session_id="s1", role="assistant", content="I see."),
                SessionEnded(session_id="s1"),
            ]
        )
    stack.wait(lambda: len(facts(stack)) >= 2, "both facts are extracted")
    first = {fact["content"]: fact["memory_id"] for fact in facts(stack)}
    pinned = next(iter(first))
    assert sidestream(stack, "facts", "pin", first[pinned], *WHOSE).returncode == 0
    begun = sidestream(stack, "reextract", "start", *WHOSE, "--session", "s1", "--wait")
    assert begun.returncode == 0, begun.stderr
    assert f"{len(first) - 1} are the same" in begun.stdout
    done = sidestream(stack, "reextract", "switch", "1", "--wait")
    assert "generation 1: active" in done.stdout, done.stderr
    second = {fact["content"]: fact["memory_id"] for fact in facts(stack)}
    assert second.keys() == first.keys()
    assert [c for c in first if first[c] == second[c]] == [pinned]
    gone = [fact["status_reason"] for fact in facts(stack, "--status", "archived")]
    assert gone == ["generation 1 takes its place: asked for"] * (len(first) - 1)
