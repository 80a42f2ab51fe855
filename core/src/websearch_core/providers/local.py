"""Local: an index of your own pages and folders, made with ``websearch index``.

The index is one SQLite file (FTS5), made with ``websearch index PATH_OR_URL ...`` or
with ``websearch_core.index``; by default in the user's data folder. Words match their
inflected forms, also in scripts without spaces; pages with all words of a query come
before those with some. Dates and languages are those that the pages state. A new index
is readable for its owner only; one that exists keeps its permissions.
"""

from __future__ import annotations
import os
from dataclasses import field
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import AfterValidator

from websearch_core import provider as kit
from websearch_core.errors import UnsupportedOption
from websearch_core.flow import Call

from ..index import Index


def _make_absolute(path: Path | str) -> Path:
    return Path(path).expanduser().absolute()


def _default_path() -> Path:
    """Return the file in the user's data folder; ``XDG_DATA_HOME`` names one on every
    platform.
    """
    import platformdirs

    folder = os.environ.get("XDG_DATA_HOME")
    if folder:
        return Path(folder, "websearch", "index.db")
    return platformdirs.user_data_path("websearch", appauthor=False) / "index.db"


@kit.provider
class Local:
    """Searches and reads indexed pages.

    Args:
        path: The index file.
    """

    name = "local"
    label = "Local index"
    options: ClassVar[frozenset[str]] = kit.FILTERS | {"language", "page"}
    needs_network = False

    path: Annotated[
        Path | str,
        kit.Env("WEB_SEARCH_INDEX", "WEBSEARCH_INDEX"),
        AfterValidator(_make_absolute),
    ] = field(default_factory=_default_path)

    @property
    def index(self) -> Index:
        """The index, to add pages to."""
        return Index(Path(self.path))

    def problem(self) -> str | None:
        """Return why it cannot be used yet: nothing was indexed."""
        if Path(self.path).is_file():
            return None
        return f"there is no index at {self.path} yet: websearch index PATH_OR_URL"

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search."""
        kit.check_options(query, self)
        if query.extra:
            raise UnsupportedOption.by(self, "has no parameters of its own", "extra")
        response: kit.SearchResponse = yield Call(self._search_index, query)
        return response

    def read(self, url: str, /) -> kit.Flow[kit.Page]:
        """Return the text of *url* as it was indexed."""
        page: kit.Page = yield Call(self.index.page, url)
        return page.model_copy(update={"url": url, "provider": self.name})

    def _search_index(self, query: kit.SearchQuery) -> kit.SearchResponse:
        matches = self.index.search(query)
        results = [
            kit.SearchResult(
                title=hit.page.title or hit.page.final_url or hit.page.url,
                url=hit.page.final_url or hit.page.url,
                snippet=hit.snippet,
                score=hit.score,
                published=hit.page.published,
                provider=self.name,
            )
            for hit in matches.hits
        ]
        return kit.SearchResponse(
            query=query.text,
            results=tuple(results),
            provider=self.name,
            notes=matches.notes,
        )
