"""What is to be done after a commit."""

from collections.abc import Callable, Iterable


def run_all(callbacks: Iterable[Callable[[], object]]) -> None:
    """Runs each in order, also when one raises; then raises the first error."""
    first: Exception | None = None
    for callback in callbacks:
        try:
            callback()
        except Exception as error:  # noqa: BLE001 - all must run; the first error is raised below
            first = first or error
    if first is not None:
        raise first
