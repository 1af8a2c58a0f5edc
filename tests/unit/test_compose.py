"""docker-compose.yml, Dockerfile and Procfile hold together, told without Docker."""

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from cli.main import main
from config.settings import Settings
from workers.kinds import QUEUES

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = sorted(set(SERVICES) - {"redis"})
PROCFILE = dict(
    line.split(": ", 1) for line in (ROOT / "Procfile").read_text().splitlines() if line and not line.startswith("#")
)


def test_the_compose_file_is_valid() -> None:
    schema = json.loads((ROOT / "tests/data/compose.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(COMPOSE)


def test_every_queue_and_role_has_its_service_and_its_line() -> None:
    assert set(OURS) == {*QUEUES, "beat", "api"}
    assert set(PROCFILE) == {*QUEUES, "beat", "api", "all"}


@pytest.mark.parametrize("queue", QUEUES)
def test_a_queue_is_consumed_alone_and_the_same_way_in_both_files(queue: str) -> None:
    command = SERVICES[queue]["command"]
    assert command == shlex.split(PROCFILE[queue])
    assert command[command.index("--queues") + 1] == queue
    assert ("--pool" in command) == (queue == "ingest")


def test_beat_and_api_run_the_same_way_in_both_files() -> None:
    for name in ("beat", "api"):
        assert SERVICES[name]["command"] == shlex.split(PROCFILE[name])


def sidestream_calls() -> list[list[str]]:
    """Every `sidestream ...` that one of the files runs."""
    calls = [shlex.split(line) for line in PROCFILE.values()]
    for service in SERVICES.values():
        calls += [service["command"], service["healthcheck"]["test"][1:]]
    last = re.findall(r"^CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    calls.append(json.loads(last[-1]))
    return [call for call in calls if call[0] == "sidestream"]


@pytest.mark.parametrize("name", [*QUEUES, "beat"])
def test_a_worker_is_healthy_by_its_own_sign_and_not_by_a_replica_s(name: str) -> None:
    own = [name, "consumer"] if name == "ingest" else [name]
    options = [option for role in own for option in ("--worker", role)]
    assert SERVICES[name]["healthcheck"]["test"] == ["CMD", "sidestream", "status", "--here", *options]


@pytest.mark.parametrize("call", sidestream_calls(), ids=" ".join)
def test_the_commands_parse(call: list[str]) -> None:
    context = main.make_context("sidestream", call[1:])
    name, command, rest = main.resolve_command(context, call[1:])
    assert command is not None
    command.make_context(name, rest, parent=context)


def test_everything_of_ours_shares_one_volume_and_waits_for_redis() -> None:
    for name in OURS:
        service = SERVICES[name]
        assert service["volumes"] == ["data:/data"]
        assert service["environment"]["SIDESTREAM_DATA_DIR"] == "/data"
        assert service["depends_on"] == {"redis": {"condition": "service_healthy"}}
    used = {volume.split(":")[0] for service in SERVICES.values() for volume in service["volumes"]}
    assert used == set(COMPOSE["volumes"])


def test_a_service_can_be_scaled() -> None:
    """Neither a fixed name nor a host port stands in the way of a second container."""
    assert [name for name in OURS if SERVICES[name].get("ports")] == ["api"]
    assert not any("container_name" in service for service in SERVICES.values())


def test_redis_keeps_what_it_has_accepted() -> None:
    command = " ".join(SERVICES["redis"]["command"])
    for option in ("--appendonly yes", "--appendfsync always", "--maxmemory-policy noeviction"):
        assert option in command


def test_redis_is_healthy_only_once_it_has_read_its_file_back() -> None:
    """redis-cli ends with 0 whatever the server answers."""
    kind, command = SERVICES["redis"]["healthcheck"]["test"]
    assert kind == "CMD-SHELL"
    answers = {"PONG": 0, "LOADING Redis is loading the dataset in memory": 1}
    for answer, code in answers.items():
        told = command.replace("redis-cli ping", f"echo {shlex.quote(answer)}")
        assert subprocess.run(["sh", "-c", told], check=False).returncode == code


def test_the_api_asks_for_a_key_and_is_published_on_loopback_only() -> None:
    api = SERVICES["api"]
    assert api["environment"]["SIDESTREAM_API_KEY"].startswith("${SIDESTREAM_API_KEY:?")
    assert all(port.startswith("127.0.0.1:") for port in api["ports"])


def test_the_environment_names_settings_only() -> None:
    settings = {f"SIDESTREAM_{name.upper()}" for name in Settings.model_fields}
    named = set(re.findall(r"SIDESTREAM_[A-Z_]+", (ROOT / "docker-compose.yml").read_text()))
    named |= set(re.findall(r"SIDESTREAM_[A-Z_]+", (ROOT / "Dockerfile").read_text()))
    assert named <= settings


@pytest.mark.parametrize("name", OURS)
def test_every_setting_that_chooses_a_model_reaches_every_process(name: str) -> None:
    chooses = [
        s
        for s in Settings.model_fields
        if re.match(r"(chat|embed|rerank)_(provider|base_url|api_key|model|dim|win)", s)
    ]
    chooses += [s for s in Settings.model_fields if s.endswith("_api_key") and s != "api_key"]
    chooses += ["summary_model", "extract_model"]
    given = SERVICES[name]["environment"]
    assert {f"SIDESTREAM_{s.upper()}" for s in chooses} <= given.keys()


def test_the_image_runs_as_nobody_special_and_copies_what_exists() -> None:
    text = (ROOT / "Dockerfile").read_text()
    users = re.findall(r"^USER (\S+)$", text, re.MULTILINE)
    assert users == ["sidestream"]
    for source in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
        assert all((ROOT / name).exists() for name in source.split())
    [install] = re.findall(r"^RUN /venv/bin/pip install --constraint .+$", text, re.MULTILINE)
    assert re.findall(r"--group (\S+)", install) == ["server", "embedded"]


def test_the_image_gets_every_package_and_nothing_private() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    kept = {line[1:].rstrip("/") for line in lines if line[0] == "!"}
    packages = {p.parent.name for p in ROOT.glob("*/__init__.py")} - {"tests", "bench", "examples", "scripts"}
    assert packages <= kept
    assert kept & {"data", ".git", ".venv", "tests", ".env"} == set()
