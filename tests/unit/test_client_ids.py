"""Event ids sort by time and are never given twice."""

import os
import re
import threading

from sidestream.ids import new_id

FORM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def test_ids_are_uuids_of_version_7() -> None:
    assert all(FORM.fullmatch(new_id()) for _ in range(100))


def test_ids_carry_their_time() -> None:
    later = 4_000_000_000.123
    assert int(new_id(lambda: later).replace("-", "")[:12], 16) == 4_000_000_000_123


def test_ids_sort_as_they_were_made_also_when_the_clock_stands_or_steps_back() -> None:
    times = iter([5e9] * 5_000 + [4.9e9] * 5_000)
    ids = [new_id(lambda: next(times)) for _ in range(10_000)]
    assert ids == sorted(ids) and len(set(ids)) == 10_000


def test_threads_never_get_the_same_id() -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.extend(new_id() for _ in range(2_000))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 8_000


def test_a_forked_child_gets_others() -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, new_id().encode())
        os._exit(0)
    mine = new_id()
    os.waitpid(child, 0)
    assert os.read(reader, 100).decode() != mine
