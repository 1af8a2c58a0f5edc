"""docs/events.md and docs/asyncapi.yaml say what the event models say."""

import re
import shlex
from typing import Any

import jsonschema
import pytest
import yaml

from scripts import asyncapi
from scripts.event_schemas import EXAMPLES, schema
from sidestream.errors import InvalidEvent
from sidestream.event_base import Event
from sidestream.events import MODELS, parse_entry
from sidestream.keys import Keys
from tests.house import source

WRITE = "run .venv/bin/python scripts/asyncapi.py"
PAGE = source.doc("events.md")
DOCUMENT: dict[str, Any] = yaml.safe_load(source.doc("asyncapi.yaml"))


def test_the_asyncapi_document_is_the_present_one() -> None:
    assert asyncapi.text() == source.doc("asyncapi.yaml"), WRITE


def test_the_field_tables_are_the_present_ones() -> None:
    assert asyncapi.with_tables(PAGE) == PAGE, WRITE
    written = re.findall(r"<!-- fields of (.+?): written by", PAGE)
    assert sorted(written) == sorted([asyncapi.COMMON, *MODELS])


@pytest.mark.parametrize("kind", MODELS)
def test_every_type_has_its_section(kind: str) -> None:
    headings = re.findall(r"^### (.+)$", PAGE, re.MULTILINE)
    assert kind in ", ".join(headings).split(", ")


@pytest.mark.parametrize("kind", MODELS)
def test_every_field_is_described(kind: str) -> None:
    fields = {**Event.model_fields, **MODELS[kind].model_fields}
    assert [name for name, field in fields.items() if name != "type" and not field.description] == []


def test_every_key_is_named() -> None:
    keys = Keys()
    of_names = (keys.tail("", ""), keys.owner("", ""), keys.receipt("", ""))
    for key in (keys.events, *(name.partition("0:")[0] for name in of_names)):
        assert f"`{key}" in PAGE


def references(node: Any) -> list[str]:
    """Every `$ref` in a document."""
    if isinstance(node, dict):
        own = [node["$ref"]] if "$ref" in node else []
        return own + [ref for value in node.values() for ref in references(value)]
    return [ref for value in node for ref in references(value)] if isinstance(node, list) else []


def test_every_reference_leads_somewhere() -> None:
    found = references(DOCUMENT)
    assert len(found) > 3 * len(MODELS)
    for reference in found:
        node = DOCUMENT
        for part in reference.removeprefix("#/").split("/"):
            node = node[part]


def test_every_type_is_in_the_channel_and_the_operation() -> None:
    channel = DOCUMENT["channels"]["events"]
    assert channel["address"] == Keys().events
    named = [DOCUMENT["components"]["messages"][name]["name"] for name in channel["messages"]]
    assert named == list(MODELS)
    assert len(DOCUMENT["operations"]["consumeEvents"]["messages"]) == len(MODELS)


@pytest.mark.parametrize("kind", MODELS)
def test_the_schemas_take_what_the_models_take(kind: str) -> None:
    made = schema(kind)
    jsonschema.Draft7Validator.check_schema(made)
    fields = {"type": kind, **EXAMPLES[kind]}
    jsonschema.validate(fields, made)
    event = parse_entry(fields)
    assert event.to_fields().items() <= fields.items() and parse_entry(event.to_fields()) == event
    jsonschema.validate({**fields, "unknown": "kept"}, made)


@pytest.mark.parametrize("kind", MODELS)
def test_the_schemas_refuse_what_the_models_refuse(kind: str) -> None:
    made = schema(kind)
    fields = {"type": kind, **EXAMPLES[kind]}
    wrong = [{n: v for n, v in fields.items() if n != name} for name in made["required"]]
    wrong += [{**fields, "v": "2"}, {**fields, "session_id": ""}, {**fields, "user_id": "x" * 257}]
    wrong += [{**fields, name: "nonsense"} for name, prop in made["properties"].items() if "enum" in prop]
    for entry in wrong:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(entry, made)
        with pytest.raises(InvalidEvent):
            parse_entry(entry)


def test_the_first_example_is_a_whole_event() -> None:
    line = re.search(r"^redis-cli (.+)$", PAGE, re.MULTILINE)
    assert line is not None
    command, stream, star, *words = shlex.split(line[1])
    assert (command, stream, star) == ("XADD", Keys().events, "*")
    fields = dict(zip(words[::2], words[1::2], strict=True))
    assert parse_entry(fields).to_fields() == fields


@pytest.mark.parametrize(
    "name", ["spool_begun", "spool_drained", "spool_stuck", "spool_adopted", "spool_line_rejected"]
)
def test_the_log_events_of_the_spool_are_named(name: str) -> None:
    assert f"`{name}`" in PAGE
