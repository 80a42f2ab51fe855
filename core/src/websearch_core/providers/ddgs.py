"""DDGS: the results of several search engines that have no API, gathered by the library
``ddgs``.

Needs ``pip install "websearch-core[ddgs]"``, which reads the pages that DuckDuckGo,
Brave, Yahoo, Startpage, Mojeek and others have for people. Its HTTP client ignores the
settings of ``WebSearch``, so set ``proxy`` and ``ca_file`` here. The engines refuse
programs without notice, so an empty answer has a note. A query with options uses only
the engines that support all of them. For more than a few searches, use a service made
for programs.
"""

from __future__ import annotations
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, SecretStr

from websearch_core import errors
from websearch_core import provider as kit
from websearch_core.flow import Call
from websearch_core.models import Image

_MISSING = "ddgs needs the package ddgs: pip install 'websearch-core[ddgs]'"
# The engines of the library that know an option, by the kind of search.
_KNOW: Mapping[str, Mapping[str, frozenset[str]]] = MappingProxyType({
    "text": {
        "time_range": frozenset({"duckduckgo", "brave", "yahoo", "startpage"}),
        "safe_search": frozenset({"brave", "startpage"}),
        "region": frozenset(
            {"duckduckgo", "brave", "startpage", "mojeek", "wikipedia"}
        ),
        "domains": frozenset({"duckduckgo", "brave", "yahoo", "startpage", "mojeek"}),
    },
    "images": {
        "time_range": frozenset({"duckduckgo"}),
        "safe_search": frozenset({"duckduckgo"}),
        "region": frozenset({"duckduckgo"}),
        "domains": frozenset({"duckduckgo"}),
    },
    "news": {
        "time_range": frozenset({"duckduckgo", "yahoo"}),
        "safe_search": frozenset({"duckduckgo"}),
        "region": frozenset({"bing", "duckduckgo"}),
        "domains": frozenset({"bing", "duckduckgo", "yahoo"}),
    },
})  # fmt: skip
_ALL = {"auto", "all"}  # the library chooses
_SAFE_SEARCH = {"off": "off", "moderate": "moderate", "strict": "on"}
_MAX_PAGES = 5


def _hide(proxy: SecretStr | str | None) -> SecretStr | None:
    """Return *proxy*, which may hold a password, as a secret."""
    return SecretStr(proxy) if isinstance(proxy, str) else proxy


@kit.provider
class Ddgs:
    """Searches with the library ddgs.

    Args:
        backend: The engines to use, such as ``duckduckgo,brave``; ``auto`` leaves the
            choice to the library.
        proxy: A proxy: ``http://...`` or ``socks5h://...``.
        ca_file: A PEM file of certificates to trust instead of the usual ones.
        timeout: Seconds to wait for an engine.
    """

    name = "ddgs"
    label = "DDGS"
    options: ClassVar[frozenset[str]] = frozenset({
        "allowed_domains", "blocked_domains", "time_range", "country", "language",
        "safe_search", "topic", "images",
        "page",
    })  # fmt: skip
    emulated: ClassVar[frozenset[str]] = frozenset(
        {"limit", "allowed_domains", "blocked_domains"}
    )
    limits: ClassVar[kit.Limits] = kit.Limits(requests_per_second=1)
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=("https://github.com/deedy5/ddgs",),
        free_allowance="keyless; the engines refuse programs that search often",
        price="free",
        prices=kit.FREE,
        as_of="2026-11",
        compared="the library ddgs 9.16.1, 2026-11-23",
        terms="The engines behind it do not offer their pages to programs.",
    )

    backend: str = "auto"
    proxy: Annotated[
        SecretStr | str | None, AfterValidator(_hide), kit.Env("DDGS_PROXY")
    ] = None
    ca_file: (
        Annotated[Path, AfterValidator(lambda path: path.expanduser().absolute())]
        | None
    ) = None
    timeout: Annotated[int, Field(ge=1)] = 10

    def problem(self) -> str | None:
        """Return why it cannot be used yet: the library is missing."""
        return None if find_spec("ddgs") else _MISSING

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search, page by page until the limit is reached."""
        kit.check_options(query, self)
        kind = "news" if query.topic == "news" else "text"
        fields = {
            "region": _choose_region(query),
            "safesearch": _SAFE_SEARCH.get(query.safe_search or ""),
            "timelimit": query.time_range and query.time_range[0],
            "backend": self._choose_engines(query, kind, self.backend),
        }
        options = kit.with_extra(fields, query)
        images: tuple[Image, ...] = ()
        if query.images:
            images = yield from self._search_images(query, options)
        skip = (query.page - 1) * query.limit

        def fetch(number: int) -> kit.Flow[tuple[kit.SearchResponse, int | None]]:
            more = {"page": number, "max_results": skip + query.limit}
            items = yield from self._ask(kind, query, options | more)
            page = self._parse(query, kind, items, images)
            following = number + 1 if page.results else None
            return page, following

        response = yield from kit.follow_pages(
            query, self, fetch, 1, max_pages=_MAX_PAGES, skip=skip
        )
        if response.results:
            return response
        note = "ddgs cannot tell nothing found from engines that refuse to answer"
        return response.with_notes(note, partial=True)

    def _search_images(
        self, query: kit.SearchQuery, options: dict[str, Any]
    ) -> kit.Flow[tuple[Image, ...]]:
        engines = self._choose_engines(query, "images", "auto")
        more = {"backend": engines, "max_results": query.limit}
        items = yield from self._ask("images", query, options | more)
        images = kit.parse_images(
            items, url="image", description="title", page_url="url"
        )
        return images[: query.limit]

    def _parse(
        self,
        query: kit.SearchQuery,
        kind: str,
        items: list[dict[str, Any]],
        images: tuple[Image, ...],
    ) -> kit.SearchResponse:
        fields: dict[str, Any] = {"url": "href"}
        if kind == "news":
            fields = {"url": "url", "author": "source"}
        return kit.parse_search(
            self,
            query,
            items,
            items,
            **fields,
            snippet="body",
            published="date",
            images=images,
        )

    def _choose_engines(self, query: kit.SearchQuery, kind: str, backend: str) -> str:
        """Return the engines for *query*: those of *backend* that know all of its
        options.
        """
        needs = {
            "time_range": query.time_range,
            "safe_search": query.safe_search,
            "region": query.country or query.language,
            "domains": query.allowed_domains or query.blocked_domains,
        }
        able = [_KNOW[kind][name] for name, value in needs.items() if value]
        if not able:
            return backend
        engines = frozenset.intersection(*able)
        names = _split(backend)
        if names.isdisjoint(_ALL):
            engines &= names
        if not engines:
            raise errors.UnsupportedOption.by(
                self,
                "has no engine that knows all of these options",
                *sorted(query.requested() & self.options),
            )
        return ",".join(sorted(engines))

    def _ask(
        self, kind: str, query: kit.SearchQuery, options: dict[str, Any]
    ) -> kit.Flow[list[dict[str, Any]]]:
        words = kit.with_sites(query)
        items: list[dict[str, Any]] = yield Call(self._search, kind, words, options)
        return items

    def _search(
        self, kind: str, words: str, options: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """Call the library, off the event loop. It raises an exception for nothing
        found, too.

        Our errors do not keep those of the library: its messages may contain the
        password of the proxy.
        """
        try:
            from ddgs import (  # pyright: ignore[reportMissingImports] - not installed
                DDGS,  # pyright: ignore[reportAttributeAccessIssue]
            )
            from ddgs.engines import ENGINES  # pyright: ignore[reportMissingImports]
            from ddgs.exceptions import (  # pyright: ignore[reportMissingImports]
                DDGSException,
                RatelimitException,
                TimeoutException,
            )
            from primp import BuilderError  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            raise errors.ConfigurationError(_MISSING) from error
        _check_engines(str(options.get("backend", "auto")), ENGINES.get(kind, {}))
        proxy = kit.key_text(self.proxy) if self.proxy else None
        verify = str(self.ca_file) if self.ca_file else True
        try:
            library = DDGS(proxy=proxy, timeout=self.timeout, verify=verify)
            items: list[dict[str, Any]] = getattr(library, kind)(words, **options)
        except TimeoutException as error:
            raise self._error(errors.TimedOut, error) from None
        except RatelimitException as error:
            raise self._error(errors.RateLimited, error) from None
        except DDGSException as error:
            if str(error) == "No results found.":
                return []
            raise self._error(errors.Unavailable, error) from None
        except BuilderError:
            raise errors.ConfigurationError(
                "ddgs: proxy or ca_file cannot be used"
            ) from None
        except Exception as error:  # noqa: BLE001 - the engines parse pages that change
            raise self._error(errors.Unavailable, type(error).__name__) from None
        return items

    def _error(
        self, kind: type[errors.ServiceError], words: object
    ) -> errors.ServiceError:
        message = f"ddgs search failed: {kind.code.replace('_', ' ')}"
        error = kind(message, provider=self.name, detail=kit.redact(str(words), self))
        # engines that refuse should not be asked again at once
        error.temporary = kind is errors.TimedOut
        return error


def _split(backend: str) -> set[str]:
    return {name.strip() for name in backend.split(",")}


def _check_engines(backend: str, engines: Iterable[str]) -> None:
    """Refuse engines that the library does not have: it would use all others
    instead.
    """
    unknown = sorted(_split(backend) - _ALL - set(engines))
    if unknown:
        raise errors.ConfigurationError(
            f"ddgs has no engine {', '.join(unknown)} for this; it has "
            f"{', '.join(sorted(engines))}"
        )


def _choose_region(query: kit.SearchQuery) -> str | None:
    """Return the region as the library writes it: ``uk-en``; it has no language or
    country alone.
    """
    if query.country is None and query.language is None:
        return None
    if query.country is None or query.language is None:
        option = "country" if query.country else "language"
        raise errors.UnsupportedOption.by(
            Ddgs, "needs country and language together", option
        )
    country = "uk" if query.country == "GB" else query.country.lower()
    language, *_ = query.language.split("-")
    return f"{country}-{language.lower()}"
