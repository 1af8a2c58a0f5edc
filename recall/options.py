"""What the read side needs to know, as plain values."""

from dataclasses import dataclass, field
from pathlib import Path

from config.settings import Settings
from memory.budget import Shares
from memory.compaction.thresholds import CompactionRules
from memory.ranking import CANDIDATES
from memory.weights import WeightPolicy
from recall.policy import weight_policy


@dataclass(frozen=True, slots=True)
class RecallOptions:
    """Durations are seconds; see docs/configuration.md for the settings of the same names.

    Attributes:
        database: the SQLite file; it need not exist yet.
        tail_timeout: how long a read waits for Redis.
        vector_cache_bytes: memory for large scopes' vectors, of this process.
        candidates: how many each search arm finds before they are ranked.
    """

    database: Path
    redis_prefix: str = "sidestream:"
    chat_window: int = 32_768
    shares: Shares = field(default_factory=Shares)
    window_messages: int = 40
    summaries_kept: int = 10
    recall_limit: int = 10
    first_round_empty: bool = False
    min_query_length: int = 2
    long_term_trigger: tuple[str, ...] = ()
    message_cut: int = 2_000
    compaction: CompactionRules = field(default_factory=CompactionRules)
    tail_max: int = 1_000
    tail_timeout: float = 0.5
    query_embed_timeout: float = 0.5
    query_cache_size: int = 4_096
    query_cache_ttl: float = 86_400.0
    vector_cache_bytes: int = 256_000_000
    candidates: int = CANDIDATES
    fact_limit: int = 10
    weights: WeightPolicy = field(default_factory=WeightPolicy)

    @classmethod
    def from_settings(cls, settings: Settings) -> "RecallOptions":
        """The options that the settings ask for."""
        return cls(
            database=settings.database,
            redis_prefix=settings.redis_prefix,
            chat_window=settings.chat_window,
            shares=Shares(
                context=settings.context_share,
                window=settings.window_share,
                summaries=settings.summary_share,
                facts=settings.fact_share,
            ),
            window_messages=settings.window_messages,
            summaries_kept=settings.summaries_kept,
            recall_limit=settings.recall_limit,
            fact_limit=settings.fact_limit,
            weights=weight_policy(settings),
            first_round_empty=settings.first_round_empty,
            min_query_length=settings.min_query_length,
            long_term_trigger=tuple(settings.long_term_trigger),
            message_cut=settings.message_cut,
            compaction=CompactionRules(
                window_tokens=settings.chat_window,
                window_messages=settings.window_messages,
                reuse_share=settings.reuse_share,
                compact_share=settings.compact_share,
                keep=settings.compact_keep,
            ),
            tail_max=settings.tail_max,
            query_embed_timeout=settings.query_embed_timeout,
            query_cache_size=settings.query_cache_size,
            query_cache_ttl=settings.query_cache_ttl,
            vector_cache_bytes=settings.vector_cache_mb * 1_000_000,
        )
