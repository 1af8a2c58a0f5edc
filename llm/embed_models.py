"""What is known of embedding models by name: dimensions, prefixes, whether vectors can be shortened."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EmbedModel:
    """Facts about one embedding model.

    Attributes:
        dimensions: length of its vectors.
        shortens: the endpoint takes a `dimensions` field and answers with shorter vectors.
        query, passage: put before a text of that kind, as the model was trained.
        tokens: most tokens of one text.
    """

    dimensions: int
    shortens: bool = False
    query: str = ""
    passage: str = ""
    tokens: int = 8_000


_BGE_EN = "Represent this sentence for searching relevant passages: "
_BGE_ZH = "为这个句子生成表示以用于检索相关文章："
_QWEN = "Instruct: Given a question, retrieve passages that answer it\nQuery: "

_MODELS = {
    "bge-m3": EmbedModel(1_024),
    "bge-large-zh-v1.5": EmbedModel(1_024, query=_BGE_ZH, tokens=500),
    "bge-large-en-v1.5": EmbedModel(1_024, query=_BGE_EN, tokens=500),
    "qwen3-embedding-8b": EmbedModel(4_096, shortens=True, query=_QWEN),
    "qwen3-embedding-4b": EmbedModel(2_560, shortens=True, query=_QWEN),
    "qwen3-embedding-0.6b": EmbedModel(1_024, shortens=True, query=_QWEN),
    "text-embedding-3-small": EmbedModel(1_536, shortens=True),
    "text-embedding-3-large": EmbedModel(3_072, shortens=True),
    "text-embedding-ada-002": EmbedModel(1_536),
    "multilingual-e5-small": EmbedModel(384, query="query: ", passage="passage: ", tokens=500),
    "multilingual-e5-base": EmbedModel(768, query="query: ", passage="passage: ", tokens=500),
    "multilingual-e5-large": EmbedModel(1_024, query="query: ", passage="passage: ", tokens=500),
    "nomic-embed-text": EmbedModel(768, query="search_query: ", passage="search_document: ", tokens=2_000),
    "mxbai-embed-large": EmbedModel(1_024, query=_BGE_EN, tokens=500),
    "all-minilm": EmbedModel(384, tokens=250),
}


def known(model: str) -> EmbedModel | None:
    """Facts about `model`, found by its last part without a tag: `Pro/BAAI/bge-m3`, `bge-m3:latest`."""
    name = model.rpartition("/")[2].lower()
    return _MODELS.get(name.replace(":", "-")) or _MODELS.get(name.partition(":")[0])
