"""A fact's weight, 0 to 1: raised by use, lowered by disuse and age, and what follows from it.

The stored weight is that of the moment `weighed_at`; from then on it halves every half-life, so that nothing has to
be written for a fact to fade. What a person pinned or weighed is held: neither use nor age moves it.
"""

import math
from dataclasses import dataclass

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class WeightPolicy:
    """How weights move.

    Attributes:
        gain: share of what is missing to 1 that one use adds.
        loss: share of itself that a fact of middling importance loses when it was given to an answer that did not use
            it.
        half_life: days in which the weight of a fact of middling importance halves.
        archive_under: a weight below this is archived.
        core_from: a weight from this on makes a fact core.
        core_limit: most core facts of one user.
        stored_limit: most active facts of one user.
    """

    gain: float = 0.15
    loss: float = 0.02
    half_life: float = 180.0
    archive_under: float = 0.2
    core_from: float = 0.8
    core_limit: int = 50
    stored_limit: int = 2_000


@dataclass(frozen=True, slots=True)
class Standing:
    """What decides how long a fact lives. `weight` is that of `weighed_at` (unix seconds), and is `held` where a person
    set it; `importance` is 0 to 1."""

    weight: float
    weighed_at: float
    importance: float = 0.5
    pinned: bool = False
    held: bool = False


def present_weight(standing: Standing, now: float, policy: WeightPolicy) -> float:
    """The weight at `now`. A clock that was set back makes nothing heavier."""
    if standing.held or standing.pinned:
        return standing.weight
    age = max(0.0, now - standing.weighed_at)
    return float(standing.weight * 2.0 ** (-age / _half_life(standing, policy)))


def after_use(standing: Standing, used: bool, now: float, policy: WeightPolicy) -> float:
    """The weight once an answer was given the fact, and used it or not."""
    weight = present_weight(standing, now, policy)
    if standing.pinned or standing.held:
        return weight
    if used:
        return weight + policy.gain * (1.0 - weight)
    # A fact that matters much, such as an allergy, is given to answers because they might need it, not because they do.
    return weight * (1.0 - min(1.0, policy.loss * 2.0 * (1.0 - _share(standing.importance))))


def is_core(standing: Standing, now: float, policy: WeightPolicy) -> bool:
    """Heavy enough to be given to every answer, as far as the limit of core facts allows; pinned ones always are."""
    return standing.pinned or present_weight(standing, now, policy) >= policy.core_from


def archive_at(standing: Standing, policy: WeightPolicy) -> float | None:
    """When the weight falls below what is kept, if the fact is never used again (unix seconds); None: never."""
    if standing.pinned or policy.archive_under <= 0.0:
        return None
    if standing.weight < policy.archive_under:
        return standing.weighed_at
    if standing.held:
        return None
    return standing.weighed_at + _half_life(standing, policy) * math.log2(standing.weight / policy.archive_under)


def _half_life(standing: Standing, policy: WeightPolicy) -> float:
    """Seconds: half of the policy's for what matters least, one and a half times it for what matters most."""
    return policy.half_life * _DAY * (0.5 + _share(standing.importance))


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0)
