"""`WebSearch`: search the web and read pages, blocking or async, with whatever provider there is."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypedDict, TypeVar, Unpack

from ._bugs import contain_bugs
from ._deadline import time_limit
from ._text.suggestion import suggest_name
from ._urls import canonicalize, is_web_url
from .errors import ConfigurationError, InvalidOption, WebSearchError
from .flow import Call, Flow, Gather, arun, run
from .models import Page, SearchOptions, SearchQuery, SearchResponse, Unsupported
from .tokens import TokenCounter, estimate_tokens

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from pydantic import SecretStr

    from ._net.sender import Library
    from .layers import Layer
    from .provider._ports import AsyncHTTPClient, HTTPClient, PageReader, SearchProvider
    from .reading import Excerpt, Links, ReadOptions
    from .settings import Settings

__all__ = ["Choice", "WebSearch", "WebSearchArguments"]

Choice: TypeAlias = "str | SearchProvider | PageReader | Sequence[str | SearchProvider | PageReader]"
_T = TypeVar("_T")
_SIDE_BY_SIDE = 8  # pages that `WebSearch.read_many` reads at a time


class WebSearchArguments(TypedDict, total=False):
    """The arguments of `WebSearch`, for what makes one."""

    provider: Choice | None
    reader: Choice | None
    api_key: str | SecretStr | Callable[[], str] | None
    base_url: str | None
    provider_options: Mapping[str, Mapping[str, object]] | None
    allow: Sequence[str] | None
    timeout: float | None
    connect_timeout: float | None
    attempts: int | None
    layers: Sequence[Layer] | None
    http_client: HTTPClient | None
    http_async_client: AsyncHTTPClient | None
    verify: ssl.SSLContext | None
    http_library: Library | None
    max_tokens: int | None
    token_counter: TokenCounter | None
    links: Links | None


class WebSearch:
    """
    Searches the web and reads pages.

    ::

        web = WebSearch()                                     # whatever the environment has a key for
        web.search("rotate a key", limit=5).results[0].url
        web.read("https://docs.python.org/3/").content
        await web.asearch("rotate a key")

    It opens connections when first used and pools them, for threads together and for each event loop apart. It can
    be shared, copied, pickled, and closed by a ``with`` block, or left to the garbage collector. A pickle holds no
    key: one from the environment is read again there, one that was passed is missing there with a clear error, unless
    the pickle is made inside `websearch_core.keys.pickle_keys`.

    Args:
        provider: Who searches: a name, a provider of your own, or several, asked in order until one answers. Left
            out, it is chosen: ``WEB_SEARCH_PROVIDER``, else the first that has a key, else DuckDuckGo.
        reader: Who reads pages, likewise; left out, our own reader, ``direct``.
        api_key: The key of the one provider named: text, a function that returns it and is called for each request, or
            ``"keyring:service/name"``.
        base_url: Where the one provider named is to be reached.
        provider_options: The options of each provider by its name: ``{"tavily": {"search_depth": "advanced"}}``.
        allow: Networks (``"10.1.0.0/16"``) and origins (``"https://wiki.corp:8443"``) that pages may be read from
            although they are not public. They are the only holes in the guard.
        timeout: Seconds for a whole call, in all: retries, redirects and slow bodies included.
        connect_timeout: Seconds to wait for one connection.
        attempts: How often a request is sent when its failures may pass; the same as ``layers=[Retry(attempts=...)]``.
        layers: What stands around the providers, besides the defaults, `websearch_core.layers.Retry` and
            `websearch_core.layers.Relax`: ``[Retry(attempts=5)]``. The rank of a layer decides where it stands, not
            its place in the list. One of the same rank as a default replaces it; None removes the defaults.
        http_client: An ``httpx.Client`` of your own for services. Pages never go through it.
        http_async_client: The same for async calls; it belongs to one event loop.
        verify: An ``ssl.SSLContext`` that says which certificates to trust.
        http_library: ``httpx`` or ``httpx2``.
        max_tokens: Tokens of a page that `read` returns at most, unless a call says otherwise, and of a text that a
            tool shows a model; in the place of the 15,000 characters that are the limit else.
        token_counter: How many tokens a text is; left out, `websearch_core.tokens.estimate_tokens` says.
        links: What becomes of the links in pages, whoever reads them and whatever their type: ``keep`` them with their
            targets, keep their ``text`` alone, or ``drop`` them altogether.

    Raises:
        UnknownProvider: A name is not known; the message lists those that are.
        MissingKey: A provider was asked for by name and its key is nowhere.
        ConfigurationError: Anything else in the set-up is wrong.

    """

    def __init__(
        self,
        provider: Choice | None = None,
        *,
        reader: Choice | None = None,
        api_key: str | SecretStr | Callable[[], str] | None = None,
        base_url: str | None = None,
        provider_options: Mapping[str, Mapping[str, object]] | None = None,
        allow: Sequence[str] | None = None,
        timeout: float | None = None,
        connect_timeout: float | None = None,
        attempts: int | None = None,
        layers: Sequence[Layer] | None = (),
        http_client: HTTPClient | None = None,
        http_async_client: AsyncHTTPClient | None = None,
        verify: ssl.SSLContext | None = None,
        http_library: Library | None = None,
        max_tokens: int | None = None,
        token_counter: TokenCounter | None = None,
        links: Links | None = None,
    ) -> None:
        # What takes long to import waits until it is needed: a program may import this and search much later, or never.
        from ._net.guard import Guard
        from ._net.sender import Sender
        from ._selection import Selection, layers_of, read_chain, search_chain
        from .settings import Settings

        settings = Settings.load(
            allow=allow,
            timeout=timeout,
            connect_timeout=connect_timeout,
            attempts=attempts,
            http_library=http_library,
            max_tokens=max_tokens,
            links=links,
        )
        selection = Selection(settings, provider_options or {})
        one = {"api_key": api_key, "base_url": base_url}
        searchers, automatic = selection.searchers(provider, **{k: v for k, v in one.items() if v is not None})
        readers, implied = selection.readers(reader, searchers)
        stack = layers_of(settings, layers, attempts)
        self.settings: Settings = settings
        if token_counter is not None and not callable(token_counter):
            raise ConfigurationError("token_counter: must be a function from a text to its number of tokens")
        self.token_counter: TokenCounter = token_counter or estimate_tokens
        self.provider: SearchProvider = search_chain(searchers, stack, automatic=automatic)
        self.reader: PageReader = read_chain(readers, stack, automatic=implied)
        self._sender = Sender(
            Guard.allowing(settings.allow),
            connect_timeout=settings.connect_timeout,
            client=http_client,
            async_client=http_async_client,
            verify=verify,
            library=settings.http_library,
        )

    @classmethod
    def resolve(cls, web: WebSearch | None, arguments: WebSearchArguments) -> WebSearch:
        """
        Return *web*, or a `WebSearch` made of *arguments*. For tools that accept either.

        Raises:
            ConfigurationError: Both were given, or the arguments are wrong.

        """
        if unknown := sorted(set(arguments) - set(WebSearchArguments.__annotations__)):
            hint = suggest_name(unknown[0], WebSearchArguments.__annotations__)
            raise ConfigurationError(f"unknown arguments: {', '.join(unknown)}{hint}")
        if web is None:
            return cls(**arguments)
        if arguments:
            raise ConfigurationError(f"give web=WebSearch(...) or its arguments, not both: {', '.join(arguments)}")
        return web

    def search(
        self,
        query: str | SearchQuery,
        /,
        *,
        read_top: int = 0,
        passage_length: int = 1_500,
        unsupported: Unsupported | None = None,
        **options: Unpack[SearchOptions],
    ) -> SearchResponse:
        """
        Search the web.

        Args:
            query: The words to look for, or a whole `SearchQuery`.
            read_top: How many of the first results to read, side by side, within the time of the whole call: their
                ``content`` is then what the page says to the query. A page that cannot be read has none, and a note
                says why.
            passage_length: Characters of the ``content`` of each, at most.
            unsupported: What to do about options that the provider does not support: ``raise``, or ignore them and
                ``note`` it in the response. Left out, what the query or the layers say, which is ``raise`` unless
                set up otherwise.
            options: The fields of `SearchQuery`: ``limit``, ``allowed_domains``, ``time_range`` and so on.

        Raises:
            InvalidOption: The query makes no sense.
            UnsupportedOption: The provider cannot express an option.
            ServiceError: The service failed, in one of the ways that `websearch_core.errors` draws.

        """
        return self.run(self._search(_query(query, options, unsupported), read_top, passage_length))

    async def asearch(
        self,
        query: str | SearchQuery,
        /,
        *,
        read_top: int = 0,
        passage_length: int = 1_500,
        unsupported: Unsupported | None = None,
        **options: Unpack[SearchOptions],
    ) -> SearchResponse:
        """Do as `search` does, on the running event loop."""
        return await self.arun(self._search(_query(query, options, unsupported), read_top, passage_length))

    def read(self, url: str, /, **part: Unpack[ReadOptions]) -> Page:
        """
        Read a page, or a part of it.

        ::

            page = web.read(url)                                # the beginning, and
            web.read(url, offset=page.next_offset)              # what follows
            web.read(url, query="how do I rotate a key?")       # the passages that answer
            web.read(url, find="grace period")                  # the places around a phrase

        Args:
            url: Absolute http(s) URL. Its fragment stays here: no reader is given it, as no browser sends it.
            part: Which part of it: ``max_length``, ``max_tokens``, ``offset``, and ``query`` or ``find``, as
                `websearch_core.reading.ReadOptions` explains. Without a limit, those of the settings hold: 15,000
                characters unless set otherwise.

        Raises:
            InvalidOption: There can be no such part.
            UnsafeURL: The URL may not be opened from here.
            PageNotFound: There is no such page.
            ServiceError: The page or the reading service failed in another way.

        """
        return self.run(self._read(url, self._part(part)))

    async def aread(self, url: str, /, **part: Unpack[ReadOptions]) -> Page:
        """Do as `read` does, on the running event loop."""
        return await self.arun(self._read(url, self._part(part)))

    def read_many(
        self, urls: Iterable[str], /, *, timeout: float | None = None, **part: Unpack[ReadOptions]
    ) -> list[Page | WebSearchError]:
        """
        Read pages side by side, eight at a time, each within the timeout of one call.

        Args:
            urls: Absolute http(s) URLs.
            timeout: Seconds for all of them together; left out, the timeout of one call for every eight pages begun.
                A page that is not read by then has `TimedOut` in its place.
            part: Which part of each, as for `read`.

        Returns:
            For each URL, in order, the page or what went wrong with it.

        Raises:
            InvalidOption: There can be no such part.

        """
        return self.run(self._read_many(urls, self._part(part), timeout))

    async def aread_many(
        self, urls: Iterable[str], /, *, timeout: float | None = None, **part: Unpack[ReadOptions]
    ) -> list[Page | WebSearchError]:
        """Do as `read_many` does, on the running event loop."""
        return await self.arun(self._read_many(urls, self._part(part), timeout))

    def run(self, flow: Flow[_T]) -> _T:
        """Do what a flow of your own asks for, such as `websearch_core.index.crawl`, with the connections of this."""
        return run(flow, self._sender.send)

    async def arun(self, flow: Flow[_T]) -> _T:
        """Do as `run` does, on the running event loop."""
        return await arun(flow, self._sender.asend)

    def close(self) -> None:
        """Close the connections of blocking calls. Using the object again opens new ones."""
        self._sender.close()

    async def aclose(self) -> None:
        """Close the connections of blocking calls and those of the running event loop."""
        await self._sender.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"WebSearch({self.provider.name!r}, reader={self.reader.name!r})"

    def _search(self, query: SearchQuery, read_top: int, passage_length: int) -> Flow[SearchResponse]:
        if read_top < 0:
            raise InvalidOption(f"read_top: must be at least 0, not {read_top}")
        from ._enforce import attach_content, enforce_query

        started = time.monotonic()
        reads = self._part({"query": query.text, "max_length": passage_length}) if read_top else None
        with time_limit(self.settings.timeout):
            response = enforce_query((yield from self.provider.search(query)), query)
            if reads and response.results:
                urls = [result.url for result in response.results[:read_top]]
                response = attach_content(response, (yield from self._read_many(urls, reads)))
        return response.model_copy(update={"elapsed": time.monotonic() - started})

    def _read(self, url: str, part: Excerpt) -> Flow[Page]:
        return contain_bugs(lambda: self._read_part(url, part), self.reader.name)

    def _read_part(self, url: str, part: Excerpt) -> Flow[Page]:
        asked = _without_fragment(url)
        with time_limit(self.settings.timeout):
            page = yield from self.reader.read(asked)
            if page.url == asked != url:
                page = page.model_copy(update={"url": url})
            if part.is_cheap(page):
                return self._part_of(page, part)
            return (yield Call(self._part_of, page, part))  # type: ignore[no-any-return]

    def _part_of(self, page: Page, part: Excerpt) -> Page:
        from ._enforce import enforce_page, without_links

        page, links = enforce_page(page), self.settings.links
        return part.of(page if links == "keep" else without_links(page, links))

    def _read_many(
        self, urls: Iterable[str], part: Excerpt, timeout: float | None = None
    ) -> Flow[list[Page | WebSearchError]]:
        pages = [self._read(url, part) for url in urls]
        with time_limit(timeout if timeout is not None else self.settings.timeout * ceil(len(pages) / _SIDE_BY_SIDE)):
            return (yield Gather(pages, limit=_SIDE_BY_SIDE))  # type: ignore[no-any-return]

    def _part(self, options: ReadOptions) -> Excerpt:
        """The limits of a call take the place of those of the settings, and tokens that of characters."""
        from .reading import Excerpt

        part: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        if not {"max_length", "max_tokens"} & set(part):
            settings = self.settings
            part |= {"max_tokens": settings.max_tokens} if settings.max_tokens else {"max_length": settings.max_length}
        return Excerpt(count=self.token_counter, **part)


def _query(query: str | SearchQuery, options: SearchOptions, unsupported: Unsupported | None) -> SearchQuery:
    if not isinstance(query, SearchQuery):
        return SearchQuery.of(query, **options, unsupported=unsupported)
    if options:
        raise InvalidOption("give a SearchQuery or options, not both")
    if unsupported is None:
        return query
    fields: dict[str, Any] = {**dict(query), "unsupported": unsupported}
    return SearchQuery.of(**fields)


def _without_fragment(url: str) -> str:
    """
    Return what of *url* a reader is given: a service that reads pages could hand the fragment to their scripts.

    Raises:
        UnsafeURL: The fragment holds what no URL may hold.

    """
    target, mark, _ = url.partition("#")
    if mark and is_web_url(target):
        canonicalize(url)  # what is cut off is judged too, since `Page.url` still shows it
    return target
