"""What requests to one provider share within a process: its rate limit and its circuit."""

from dataclasses import dataclass
from threading import Lock

from llm.circuit import CircuitBreaker, CircuitState
from llm.rate import TokenBucket


@dataclass(frozen=True, slots=True)
class Provider:
    """The shared state of one base URL."""

    url: str
    bucket: TokenBucket
    breaker: CircuitBreaker


class Providers:
    """The providers of a process, by base URL. Chat and embeddings at one base URL share one entry."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: dict[str, Provider] = {}

    def get(self, url: str, *, per_minute: int, failures: int, reset: float) -> Provider:
        """The provider at `url`; made with these limits when first asked for, else as it stands."""
        with self._lock:
            if url not in self._known:
                self._known[url] = Provider(url, TokenBucket(per_minute), CircuitBreaker(failures, reset))
            return self._known[url]

    def circuit(self, url: str) -> CircuitState:
        """How the circuit of `url` stands; closed if nothing was sent there yet."""
        with self._lock:
            provider = self._known.get(url)
        return provider.breaker.state if provider else CircuitState.CLOSED


PROVIDERS = Providers()
"""The providers of this process, used where none are passed in."""
