"""The settings about facts as the rules of memory.weights take them."""

import math

from config.settings import Settings
from memory.weights import WeightPolicy


def weight_policy(settings: Settings) -> WeightPolicy:
    """How weights move; without consolidation they do not, and nothing fades into the archive."""
    if not settings.consolidation:
        return WeightPolicy(
            gain=0.0,
            loss=0.0,
            half_life=math.inf,
            archive_under=0.0,
            core_from=settings.fact_core_from,
            core_limit=settings.fact_core_limit,
            stored_limit=settings.fact_stored_limit,
        )
    return WeightPolicy(
        gain=settings.fact_use_gain,
        loss=settings.fact_disuse_loss,
        half_life=settings.fact_half_life_days,
        archive_under=settings.fact_archive_under,
        core_from=settings.fact_core_from,
        core_limit=settings.fact_core_limit,
        stored_limit=settings.fact_stored_limit,
    )
