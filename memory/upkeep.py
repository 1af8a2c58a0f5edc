"""Which active facts leave recall: expired ones, faded ones, and the lightest where there are too many."""

from collections.abc import Iterable
from dataclasses import dataclass

from memory.weights import Standing, WeightPolicy, present_weight


@dataclass(frozen=True, slots=True)
class Candidate:
    """An active fact, as far as its life is concerned. `expires_at` is unix seconds."""

    id: int
    standing: Standing
    expires_at: float | None = None


@dataclass(frozen=True, slots=True)
class Leaving:
    """A fact that is to be archived, and why, in words for its history."""

    id: int
    reason: str


def leaving(facts: Iterable[Candidate], now: float, policy: WeightPolicy) -> list[Leaving]:
    """Those of one user's active facts that are to be archived, lightest first where there are too many.

    A pinned fact leaves only when it has expired, and counts towards the limit.
    """
    found: list[Leaving] = []
    staying: list[tuple[float, int]] = []
    held = 0
    for fact in facts:
        weight = present_weight(fact.standing, now, policy)
        if fact.expires_at is not None and fact.expires_at <= now:
            found.append(Leaving(fact.id, "expired"))
        elif fact.standing.pinned:
            held += 1
        elif weight < policy.archive_under:
            found.append(Leaving(fact.id, f"its weight fell to {weight:.3f}, under {policy.archive_under:g}"))
        else:
            staying.append((weight, fact.id))
    surplus = held + len(staying) - policy.stored_limit
    if surplus > 0:
        reason = f"the lightest of more than {policy.stored_limit} facts"
        found += [Leaving(fact_id, reason) for _, fact_id in sorted(staying)[:surplus]]
    return found
