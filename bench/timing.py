"""Timing of one operation after the other: what it took by the clock and of the processor."""

import time
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from bench.ingest_load import percentiles
from bench.table import Cell

T = TypeVar("T")
COLUMNS = ("p50 ms", "p95", "p99", "CPU p50 ms")
WARM = 5
"""So many operations warm caches and do not count."""


def timed(items: Iterable[T], work: Callable[[T], object]) -> list[Cell]:
    """p50, p95 and p99 in milliseconds by the clock, and p50 of this thread's processor time."""
    clock: list[float] = []
    cpu: list[float] = []
    for item in items:
        start, spent = time.perf_counter(), time.thread_time()
        work(item)
        cpu.append(time.thread_time() - spent)
        clock.append(time.perf_counter() - start)
    return row(clock, cpu)


async def timed_async(items: Iterable[T], work: Callable[[T], Awaitable[object]]) -> list[Cell]:
    """The same for coroutines, awaited one after the other."""
    clock: list[float] = []
    cpu: list[float] = []
    for item in items:
        start, spent = time.perf_counter(), time.thread_time()
        await work(item)
        cpu.append(time.thread_time() - spent)
        clock.append(time.perf_counter() - start)
    return row(clock, cpu)


def row(clock: list[float], cpu: list[float]) -> list[Cell]:
    """The cells for `COLUMNS`."""
    return [*(1_000 * value for value in percentiles(clock[WARM:])), 1_000 * percentiles(cpu[WARM:])[0]]
