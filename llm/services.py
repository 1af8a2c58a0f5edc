"""Which service answers, by the settings: SiliconFlow, OpenAI, or whatever listens at a base URL."""

from dataclasses import dataclass
from typing import Literal

import httpx
from pydantic import SecretStr

from config.errors import InvalidSettings
from config.settings import OPENAI_URL, SILICONFLOW_URL, Settings
from llm.http import Endpoint

Use = Literal["chat", "embed", "rerank"]


@dataclass(frozen=True, slots=True)
class Service:
    """A service that is known by name.

    Attributes:
        chat_model, embed_model: used where the settings name none.
        limit_field: the request field that bounds an answer's tokens.
        embed_batch: most texts in one embedding request.
        base64: takes `encoding_format: base64`.
    """

    name: str
    url: str
    chat_model: str | None = None
    embed_model: str | None = None
    limit_field: str = "max_tokens"
    embed_batch: int = 32
    base64: bool = False


SILICONFLOW = Service(
    "siliconflow",
    SILICONFLOW_URL,
    chat_model="Qwen/Qwen3-30B-A3B-Instruct-2507",
    embed_model="Pro/BAAI/bge-m3",
)
OPENAI = Service(
    "openai",
    OPENAI_URL,
    chat_model="gpt-4.1-mini",
    embed_model="text-embedding-3-small",
    limit_field="max_completion_tokens",
    embed_batch=128,
    base64=True,
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The service that the settings mean, and where it is."""

    service: Service
    endpoint: Endpoint


def choose(settings: Settings, use: Use) -> Chosen | None:
    """The service for `use`; None if neither a base URL nor a key is set.

    A key is only ever sent to the service it belongs to: the SiliconFlow and OpenAI keys to their own hosts,
    the `..._API_KEY` of a use to that use's service.

    Raises:
        InvalidSettings: the base URL or a key cannot be one, or a key is set without saying where it belongs.
    """
    base: str | None = getattr(settings, f"{use}_base_url")
    own_key = _key(settings, f"{use}_api_key")
    known = {
        _origin(httpx.URL(SILICONFLOW.url)): (SILICONFLOW, _key(settings, "siliconflow_api_key")),
        _origin(httpx.URL(OPENAI.url)): (OPENAI, _key(settings, "openai_api_key")),
    }
    if base and base.strip():
        url = _checked(base, use)
        service, key = known.get(_origin(url), (Service(url.host, str(url)), None))
        return Chosen(service, Endpoint(service.name, str(url).rstrip("/"), own_key or key))
    for service, key in known.values():
        if key:
            return Chosen(service, Endpoint(service.name, service.url, own_key or key))
    if own_key:
        name = f"SIDESTREAM_{use.upper()}"
        raise InvalidSettings(f"{name}_API_KEY is set, but not where it belongs: set {name}_BASE_URL")
    return None


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    """Where a key may be sent: another port, or the same host unencrypted, is somebody else."""
    return url.scheme, url.host, url.port


def _checked(base: str, use: Use) -> httpx.URL:
    try:
        url = httpx.URL(base.strip())
    except httpx.InvalidURL as error:
        raise InvalidSettings(f"SIDESTREAM_{use.upper()}_BASE_URL is no URL: {error}") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise InvalidSettings(f"SIDESTREAM_{use.upper()}_BASE_URL must be like http://localhost:11434/v1")
    return url


def _key(settings: Settings, name: str) -> str | None:
    value: SecretStr | None = getattr(settings, name)
    key = value.get_secret_value().strip() if value is not None else ""
    # It would fail as a header later, with the key in the message.
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise InvalidSettings(f"SIDESTREAM_{name.upper()} holds a character that no key has")
    return key or None
