"""`WebSearch`: search the web and read pages with any provider, blocking or async."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from .._runtime.forks import notice_fork
from .._runtime.scope import Caller, current_call, run_apart, scope
from .._text.urls import describe_url
from ..errors import ConfigurationError, WebSearchError
from ..events import Exchange, Hook, emit
from ..events._hooks import Listener, check_hook
from ..events._log import EventLog, Logger
from ..flow import Flow, Request, Response, arun, run
from ..models import Page, SearchOptions, SearchQuery, SearchResponse, Unsupported
from ..settings._sources import remember_files
from ..tokens import TokenCounter, estimate_tokens
from ._arguments import check_arguments, check_connection, make_query, named
from ._signature import Choice, CommonArguments, WebSearchArguments

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from pydantic import SecretStr

    from .._net.clients import Library
    from .._text.choices import Responses
    from ..layers import Layer, RateLimiter
    from ..provider._ports import AsyncHTTPClient, HTTPClient, PageReader, SearchProvider
    from ..reading import Links, ReadOptions
    from ..settings import Settings
    from ._calls import Calls

__all__ = ["Choice", "CommonArguments", "WebSearch", "WebSearchArguments", "preload"]

_T = TypeVar("_T")


class WebSearch:
    """
    Searches the web and reads pages.

    ::

        web = WebSearch()                                     # the first provider with a key in the environment
        web.search("rotate a key", limit=5).results[0].url
        web.read("https://docs.python.org/3/").content
        await web.asearch("rotate a key")

    It opens connections on first use and pools them: one pool for all threads, and one for each event loop. It can be
    shared, copied and pickled. Close it with a ``with`` block, or leave that to the garbage collector. A pickle has no
    keys: a key from the environment is read again after unpickling, and a key passed as an argument is missing then,
    with a clear error, unless the pickle was made inside `websearch_core.keys.pickle_keys`.

    Args:
        provider: The provider to search with: a name, a provider object, or several, called in order until one
            answers. By default: ``WEB_SEARCH_PROVIDER``, else the first that has a key, else DuckDuckGo.
        fuse: True asks several providers at once and merges their results; the same as ``layers=[Fuse()]``.
        reader: The provider to read pages with, in the same forms. By default, the object given as *provider* if it
            can read as well (a name does not count), else ``WEB_SEARCH_READER``, else the built-in reader ``direct``.
            ``"auto"`` is whatever reads pages on this machine: the local index if it was searched, ``direct``, and, for
            a page that needs scripts or blocks us, ``browser`` if a browser is installed.
        api_key: The key of the one provider named: text, a function that returns it and is called for each request, or
            ``"keyring:service/name"``.
        base_url: The URL of the one provider named.
        provider_options: The options of each provider by its name: ``{"tavily": {"search_depth": "advanced"}}``.
        allow: Networks (``"10.1.0.0/16"``) and origins (``"https://wiki.corp:8443"``) that pages may be read from
            although they are not public. They are the only holes in the guard.
        timeout: Seconds for a whole call, including retries, redirects and slow bodies: sets both of the next two.
        search_timeout: Seconds for a search; 15 by default.
        read_timeout: Seconds for reading a page, and for a search that reads pages too; 30 by default.
        connect_timeout: Seconds to wait for one connection.
        attempts: How often to send a request whose failures may be temporary; the same as
            ``layers=[Retry(attempts=...)]``.
        layers: Layers around the providers, such as ``[Retry(attempts=5)]``, besides the defaults
            ``Relax``, ``Retry``, ``SingleFlight`` and ``Throttle``. A layer's rank decides its position, not
            the order of the list. A layer of the same rank as a default replaces it; None removes the defaults.
        cache: Store answers and pages and reuse them: True, or for how many seconds, or where (a path, or a URL of
            Redis), as `websearch_core.layers.Cache` explains. By default, nothing is stored. False switches off what
            the settings switch on.
        robots: True reads only pages that the ``robots.txt`` of their site allows; the same as ``layers=[Robots()]``.
        throttle: A URL of Redis in which programs share the limits of services and hosts; the same as
            ``layers=[Throttle(shared=...)]``.
        rate_limiter: What each request waits for: the ``BaseRateLimiter`` of LangChain or of LlamaIndex, or any object
            with a method ``acquire()``; the same as ``layers=[Throttle(rate_limiter=...)]``. The wait is part of the
            time of a call. Several objects may share it.
        http_client: Your own ``httpx.Client`` for services. Pages never go through it.
        http_async_client: The same for async calls; it belongs to one event loop.
        verify: An ``ssl.SSLContext`` with the certificates to trust.
        http_library: ``httpx`` or ``httpx2``.
        max_tokens: The maximum number of tokens of a page that `read` returns, unless a call overrides it, and of a
            text that a tool shows to a model; instead of the default of 15,000 characters.
        token_counter: Counts the tokens of a text; by default `websearch_core.tokens.estimate_tokens`.
        links: What to do with the links in pages, for every reader and type of page: ``keep`` them with their targets,
            keep only their ``text``, or ``drop`` them with their text.
        comments: ``drop`` or ``keep`` what readers wrote about a page, for ``direct`` and ``browser``. By default, an
            article drops it, and other pages keep what belongs to them.
        reviews: The same for reviews. By default, what belongs to the page is kept.
        settings: `Settings` to use, instead of those of the environment and the files. The other arguments win.
        logger: Where to log; by default ``logging.getLogger("websearch_core")``.
        on_event: Called with each `websearch_core.events.Event` of a call: a start, a request, a wait, an end.
        allowed_domains: The only domains, with their subdomains, that searches may return and pages may be read from,
            even after redirects and with any reader. A call can narrow this, never widen it.
        blocked_domains: Domains, with their subdomains, that are closed in the same way. A call can add to them.
        max_snippet_chars: Maximum characters of each snippet; by default, only texts cut it, to 1,000.
        budget: Limits for what calls may use: ``"1 USD/day"``, ``"500 credits/month"``, ``"20 calls"``, or several; the
            same as ``layers=[Budget(limit=...)]``, which explains them.
        max_length: Maximum characters of one part of a page, unless a call overrides it; 15,000 by default.

    Raises:
        UnknownProvider: A name is unknown; the message lists the known ones.
        MissingKey: A provider was requested by name, and its key is missing.
        ConfigurationError: Anything else in the configuration is wrong.

    """

    @named
    def __init__(
        self,
        provider: Choice | None = None,
        *,
        fuse: bool | None = None,
        reader: Choice | None = None,
        api_key: str | SecretStr | Callable[[], str] | None = None,
        base_url: str | None = None,
        provider_options: Mapping[str, Mapping[str, object]] | None = None,
        allow: Sequence[str] | None = None,
        timeout: float | None = None,
        search_timeout: float | None = None,
        read_timeout: float | None = None,
        connect_timeout: float | None = None,
        attempts: int | None = None,
        layers: Sequence[Layer] | None = (),
        cache: bool | float | str | None = None,
        robots: bool | None = None,
        throttle: str | None = None,
        rate_limiter: RateLimiter | None = None,
        http_client: HTTPClient | None = None,
        http_async_client: AsyncHTTPClient | None = None,
        verify: ssl.SSLContext | None = None,
        http_library: Library | None = None,
        max_tokens: int | None = None,
        token_counter: TokenCounter | None = None,
        links: Links | None = None,
        comments: Responses | None = None,
        reviews: Responses | None = None,
        settings: Settings | None = None,
        logger: Logger | None = None,
        on_event: Hook | None = None,
        allowed_domains: Sequence[str] | None = None,
        blocked_domains: Sequence[str] | None = None,
        max_snippet_chars: int | None = None,
        budget: str | Sequence[str] | None = None,
        max_length: int | None = None,
    ) -> None:
        # Import slow modules only now: a program may import this one and search much later, or never.
        from .._net.guard import Guard
        from .._net.sender import Sender
        from ..settings import Settings
        from ._selection import Selection, make_stack, read_chain, search_chain

        if settings is not None and not isinstance(settings, Settings):
            raise ConfigurationError("settings: must be Settings, such as Settings.from_mapping({...})")
        settings = (settings.override if settings else Settings.load)(
            fuse=fuse,
            allow=allow,
            timeout=timeout,
            search_timeout=search_timeout,
            read_timeout=read_timeout,
            connect_timeout=connect_timeout,
            attempts=attempts,
            cache=cache,
            robots=robots,
            throttle=throttle,
            http_library=http_library,
            max_tokens=max_tokens,
            links=links,
            comments=comments,
            reviews=reviews,
            allowed_domains=allowed_domains,
            blocked_domains=blocked_domains,
            max_snippet_chars=max_snippet_chars,
            budget=budget,
            max_length=max_length,
        )
        check_connection(verify, http_client, http_async_client)
        selection = Selection(settings, provider_options or {})
        one = {"api_key": api_key, "base_url": base_url}
        searchers, automatic = selection.searchers(provider, **{k: v for k, v in one.items() if v is not None})
        readers, implied = selection.readers(reader, searchers)
        stack = make_stack(
            settings,
            layers,
            attempts,
            fuse=fuse,
            cache=cache,
            robots=robots,
            throttle=throttle,
            rate_limiter=rate_limiter,
            budget=budget is not None,
        )
        self.settings: Settings = settings
        if token_counter is not None and not callable(token_counter):
            raise ConfigurationError("token_counter: must be a function from a text to its number of tokens")
        self.token_counter: TokenCounter = token_counter or estimate_tokens
        self._listeners = (Listener(EventLog(logger)), *([Listener(check_hook(on_event))] if on_event else []))
        self.provider: SearchProvider = search_chain(searchers, stack, automatic=automatic)
        self.reader: PageReader = read_chain(readers, stack, automatic=implied)
        opaque = verify is not None, http_client is not None, http_async_client is not None
        self._caller = Caller(
            object(),  # not an id, which a later one could have while a thread still works for this one
            repr((sorted(settings.allow), settings.domains, opaque)),
            secrets.token_hex(16) if any(opaque) else "",
        )
        self._sender = Sender(
            Guard.allowing(settings.allow, domains=settings.domains),
            connect_timeout=settings.connect_timeout,
            client=http_client,
            async_client=http_async_client,
            verify=verify,
            library=settings.http_library,
        )

    @classmethod
    def resolve(cls, web: WebSearch | None, arguments: CommonArguments) -> WebSearch:
        """
        Return *web*, or a `WebSearch` made from *arguments*. For tools that accept either.

        Raises:
            ConfigurationError: Both are given, or the arguments are wrong.

        """
        if web is None:
            return cls(**arguments)
        check_arguments(arguments)
        if not isinstance(web, WebSearch):
            raise ConfigurationError(f"web: must be a WebSearch, not {type(web).__name__}")
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
            query: The words to look for, or a `SearchQuery`.
            read_top: How many of the first results to read, concurrently, within the time of the whole call. Their
                ``content`` then holds the passages that answer the query. If a page cannot be read, its ``content``
                stays empty, and a note says why.
            passage_length: Maximum characters of each ``content``. Longer text that the service itself returned is cut
                to the passages that answer the query; the page of such a result is not read again.
            unsupported: What to do about options that the provider does not support: ``raise``, or ignore them and
                ``note`` it in the response. By default, the query or the layers decide: ``raise``, unless configured
                otherwise.
            options: The fields of `SearchQuery`: ``limit``, ``allowed_domains``, ``time_range`` and so on.

        Raises:
            InvalidOption: The query is invalid, or its ``allowed_domains`` are all outside the policy.
            UnsupportedOption: The provider does not support an option.
            ServiceError: The service failed; `websearch_core.errors` has a subclass for each way.

        """
        return self.run(self._calls.search(make_query(query, options, unsupported), read_top, passage_length))

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
        """Do the same as `search` on the running event loop."""
        return await self.arun(self._calls.search(make_query(query, options, unsupported), read_top, passage_length))

    def read(self, url: str, /, **part: Unpack[ReadOptions]) -> Page:
        """
        Read a page, or a part of it.

        ::

            page = web.read(url)                                # the beginning, and
            web.read(url, offset=page.next_offset)              # what follows
            web.read(url, query="how do I rotate a key?")       # the passages that answer
            web.read(url, find="grace period")                  # the places around a phrase

        Args:
            url: Absolute http(s) URL. Its fragment is not passed to the reader, just as a browser does not send it.
            part: Which part to return: ``max_length``, ``max_tokens``, ``offset``, and ``query`` or ``find``;
                and what belongs to it: ``comments`` and ``reviews``; as
                `websearch_core.reading.ReadOptions` explains. Without a limit, the settings apply: 15,000 characters
                by default.

        Raises:
            InvalidOption: The part is invalid.
            UnsafeURL: The URL must not be opened from here; `DomainNotAllowed` if the domain policy says so.
            PageNotFound: The page does not exist.
            ServiceError: The page or the reading service failed in another way.

        """
        return self.run(self._calls.read(url, part))

    async def aread(self, url: str, /, **part: Unpack[ReadOptions]) -> Page:
        """Do the same as `read` on the running event loop."""
        return await self.arun(self._calls.read(url, part))

    def read_many(
        self, urls: Iterable[str], /, *, timeout: float | None = None, **part: Unpack[ReadOptions]
    ) -> list[Page | WebSearchError]:
        """
        Read pages concurrently, eight at a time, each within the timeout for reading a page.

        Where the reader fetches pages itself, hosts take turns, and each of several has at most four of these places.

        Args:
            urls: Absolute http(s) URLs; one that is listed twice is read once.
            timeout: Seconds for all pages together; by default ``read_timeout`` for every eight pages, rounded up. A
                page that is not read by then is replaced by `TimedOut`.
            part: Which part of each page to return, as for `read`.

        Returns:
            For each URL, in order, the page or its error.

        Raises:
            InvalidOption: The part is invalid, or *urls* is one URL instead of a list.

        """
        return self.run(self._calls.read_many(urls, part, timeout))

    async def aread_many(
        self, urls: Iterable[str], /, *, timeout: float | None = None, **part: Unpack[ReadOptions]
    ) -> list[Page | WebSearchError]:
        """Do the same as `read_many` on the running event loop."""
        return await self.arun(self._calls.read_many(urls, part, timeout))

    def run(self, flow: Flow[_T]) -> _T:
        """Run your own flow, such as `websearch_core.index.crawl`, with these connections and this guard."""
        notice_fork()
        return run_apart(partial(run, flow, self._send), **self._describe_call())

    async def arun(self, flow: Flow[_T]) -> _T:
        """Do the same as `run` on the running event loop."""
        notice_fork()
        with scope(**self._describe_call()):
            try:
                return await arun(flow, self._asend)
            except WebSearchError:
                await self._sender.take_turn()  # many calls that are refused at once must not occupy the event loop
                raise

    def close(self) -> None:
        """Close the connections of blocking calls. Using this object again opens new ones."""
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

    @property
    def _calls(self) -> Calls:
        from ._calls import Calls  # with all that a call needs: a program may import this module and search later

        return Calls(self.settings, self.provider, self.reader, self.token_counter)

    def _describe_call(self) -> dict[str, Any]:
        """Return who makes each call, and who listens: once, also where a hook or a provider makes a call."""
        outer = current_call().listeners
        return {"caller": self._caller, "listeners": (*outer, *(one for one in self._listeners if one not in outer))}

    def _send(self, request: Request) -> Response:
        began = time.monotonic()
        try:
            response = self._sender.send(request)
        except BaseException as error:
            _announce(request, began, error=error)
            raise
        _announce(request, began, response)
        return response

    async def _asend(self, request: Request) -> Response:
        began = time.monotonic()
        try:
            response = await self._sender.asend(request)
        except BaseException as error:
            _announce(request, began, error=error)
            raise
        _announce(request, began, response)
        return response


def _announce(
    request: Request, began: float, response: Response | None = None, error: BaseException | None = None
) -> None:
    if isinstance(error, WebSearchError):
        error.locate(url=describe_url(request.url))
    emit(
        Exchange(
            method=request.method,
            url=request.url.partition("?")[0],
            seconds=time.monotonic() - began,
            status=response.status if response else None,
            size=len(response.content) if response else 0,
            error=error,
        )
    )


def preload() -> None:
    """
    Import now what making a `WebSearch` would import, and look for plug-ins.

    The packages for LangChain and LlamaIndex call it when they are imported, so that their classes can be made inside a
    running event loop without blocking it. Call it when your program starts if it makes a `WebSearch` there itself.
    Whatever the first search or page needs is imported later, in a thread.
    """
    from .. import settings  # noqa: F401
    from .._net import sender  # noqa: F401
    from .._registry import known
    from . import _calls, _selection  # noqa: F401

    with suppress(ConfigurationError):  # of a plug-in: raised again by whoever names one
        known()


remember_files()
