"""The query's embedding for the space that searches use: while memories are embedded anew, that of the model before."""

from collections.abc import Callable, Mapping

from llm.ports import Embedder
from memory.types import Degraded
from recall.database import ReadDatabase
from recall.query_embedding import QueryEmbedder, QueryVector
from store import spaces
from store.errors import StoreError
from store.spaces import Space


class SpaceEmbedder:
    """Embeds queries for one event loop, with whichever model embedded what is searched."""

    def __init__(
        self,
        current: QueryEmbedder,
        database: ReadDatabase,
        earlier: Callable[[str, int], Embedder | None],
    ) -> None:
        """
        Args:
            current: of the model that is configured.
            database: says whose space searches use.
            earlier: makes the embedder of another model by its name and dimensions; None where nothing serves it.
        """
        self._current = current
        self._database = database
        self._build = earlier
        self._earlier: dict[tuple[str, int], tuple[Embedder, QueryEmbedder] | None] = {}

    @property
    def requests(self) -> Mapping[str, int]:
        """How many queries each model itself was asked to embed."""
        others = [found[1] for found in self._earlier.values() if found is not None]
        return {embedder.model: embedder.requests for embedder in (self._current, *others)}

    async def embed(self, query: str) -> QueryVector:
        """As `QueryEmbedder.embed`; a reason, too, where the searched space's model is not served any more."""
        chosen = await self._chosen()
        return chosen if isinstance(chosen, QueryVector) else await chosen.embed(query)

    async def known(self, query: str) -> QueryVector:
        """As `QueryEmbedder.known`."""
        chosen = await self._chosen()
        return QueryVector(None) if isinstance(chosen, QueryVector) else await chosen.known(query)

    async def aclose(self) -> None:
        """Ends what is in flight, and closes the models that were made here."""
        await self._current.aclose()
        for found in self._earlier.values():
            if found is not None:
                await found[1].aclose()
                await found[0].aclose()

    async def _chosen(self) -> QueryEmbedder | QueryVector:
        try:
            space = await self._database.read(spaces.active_space)
        except StoreError:
            space = None
        if space is None or (space.model, space.dimensions) == (self._current.model, self._current.dimensions):
            return self._current
        return self._of(space) or QueryVector(
            None,
            Degraded(
                "query_embedding",
                f"memories are still embedded by {space.model}, which nothing that is configured serves; "
                f"until {self._current.model} has embedded them anew, search goes by words alone",
            ),
        )

    def _of(self, space: Space) -> QueryEmbedder | None:
        key = (space.model, space.dimensions)
        if key not in self._earlier:
            made = self._build(*key)
            self._earlier[key] = None if made is None else (made, self._current.of(made))
        found = self._earlier[key]
        return None if found is None else found[1]
