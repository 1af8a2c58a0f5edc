"""Extractors for generations of facts: each with the generation's own model and prompt."""

from collections.abc import Callable
from dataclasses import replace

from config.settings import Settings
from llm.factory import build_extractor
from llm.ports import ChatModel
from store.db import Database
from store.generations import Generation
from workers.extract import ExtractHandler, extract_rules, extractor_prompt


class Readers:
    """Makes the extractors of one drain, one a generation, and closes their models."""

    def __init__(self, db: Database, settings: Settings, *, clock: Callable[[], float]) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock
        self._made: dict[int, ExtractHandler] = {}
        self._models: list[ChatModel] = []

    def __call__(self, generation: Generation) -> ExtractHandler:
        """The generation's extractor, which is told of no fact that stands.

        Raises:
            InvalidSettings: it names a model, and no chat service is configured.
        """
        if generation.id not in self._made:
            self._made[generation.id] = ExtractHandler(
                self._db,
                self._model(generation.model),
                generation.prompt or extractor_prompt(self._settings),
                replace(extract_rules(self._settings), consolidation=True),
                clock=self._clock,
                afresh=True,
            )
        return self._made[generation.id]

    async def aclose(self) -> None:
        """Closes the models that were made."""
        for model in self._models:
            await model.aclose()

    def _model(self, name: str | None) -> ChatModel | None:
        if name is None:
            return None
        model = build_extractor(self._settings.model_copy(update={"extract_model": name}))
        if model is not None:
            self._models.append(model)
        return model
