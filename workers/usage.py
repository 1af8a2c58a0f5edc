"""Writes down what the models cost: requests, failures and tokens, by model, as counters that outlive the process."""

from collections import Counter
from threading import Lock

from config.logging import get_logger
from llm.usage import Count, UsageMeter
from store import counters
from store.db import Database
from store.errors import StoreError

log = get_logger("usage")


class UsageLedger:
    """Keeps a meter's counts until they are written; what a killed process had not written is not counted."""

    def __init__(self, meter: UsageMeter) -> None:
        self._lock = Lock()
        self._heard: Counter[tuple[str, str, str]] = Counter()
        meter.subscribe(self._hear)

    def write(self, db: Database) -> None:
        """Adds what was heard to the counters. Where SQLite refuses, the next call tries again."""
        with self._lock:
            heard, self._heard = self._heard, Counter()
        if not heard:
            return
        try:
            with db.atomic():
                for (operation, what, model), count in heard.items():
                    counters.bump(db, f"{operation}_{what}:{model}", count)
        except StoreError as error:
            log.warning("usage_not_written", reason=str(error))
            with self._lock:
                self._heard += heard

    def _hear(self, count: Count) -> None:
        said = {
            "requests": count.requests,
            "failures": count.failures,
            "tokens_in": count.input_tokens,
            "tokens_out": count.output_tokens,
        }
        with self._lock:
            for what, by in said.items():
                if by:
                    self._heard[count.operation, what, count.model] += by
