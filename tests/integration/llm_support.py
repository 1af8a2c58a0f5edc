"""Models that talk to the fake server, with short waits."""

from dataclasses import dataclass, field
from typing import Any

from config.settings import load
from llm.factory import build_chat, build_embedder
from llm.openai_chat import OpenAIChat
from llm.openai_embed import OpenAIEmbedder
from llm.providers import Providers
from llm.usage import Count, UsageMeter
from tests.fake_openai import FakeOpenAI

HELLO = [{"role": "user", "content": "hello there"}]


@dataclass
class Kit:
    """Builds models for one fake server; each kit has providers and a meter of its own."""

    server: FakeOpenAI
    providers: Providers = field(default_factory=Providers)
    meter: UsageMeter = field(default_factory=UsageMeter)

    def chat(self, **settings: Any) -> OpenAIChat:
        defaults: dict[str, Any] = {
            "chat_base_url": self.server.url,
            "chat_model": "m",
            "chat_api_key": self.server.key,
            "llm_timeout": 10,
        }
        chat = build_chat(load(**(defaults | settings)), meter=self.meter, providers=self.providers)
        assert isinstance(chat, OpenAIChat)
        return chat

    def embedder(self, **settings: Any) -> OpenAIEmbedder:
        defaults: dict[str, Any] = {
            "embed_base_url": self.server.url,
            "embed_model": "e",
            "embed_dimensions": self.server.dimensions,
            "llm_timeout": 10,
        }
        embedder = build_embedder(load(**(defaults | settings)), meter=self.meter, providers=self.providers)
        assert isinstance(embedder, OpenAIEmbedder)
        return embedder

    def count(self) -> Count:
        """The totals of the one model that was used."""
        (total,) = self.meter.totals()
        return total
