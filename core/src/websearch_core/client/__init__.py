"""`WebSearch`: search the web and read pages with any provider, blocking or async."""

from __future__ import annotations
import secrets
import sys
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    Callable,
    Generator,
    Iterable,
    Mapping,
)
from contextlib import aclosing, closing, suppress
from functools import cached_property, partial
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, Never, Self, TypeVar, Unpack

from .. import events
from .._runtime.deadline import time_limit
from .._runtime.forks import notice_fork
from .._runtime.scope import Caller, current_call, run_apart, scope
from .._runtime.threads import in_thread
from .._text.quantity import is_number
from .._text.urls import describe_url
from ..errors import ConfigurationError, InvalidOption, WebSearchError
from ..events._hooks import Listener, make_listeners
from ..events._log import log_event
from ..flow import Flow, Request, Response, arun, run
from ..models import Page, SearchOptions, SearchQuery, SearchResponse, Unsupported
from ..settings._sources import remember_files
from ._arguments import (
    METHODS,
    PASSAGE_LENGTH,
    check_arguments,
    check_queries,
    check_urls,
    make_query,
)
from ._signature import Choice, CommonArguments, WebSearchOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import SecretStr

    from .._net.sender import Sender
    from ..events._hooks import Hook
    from ..layers import Layer
    from ..provider._ports import PageReader, Provider, SearchProvider
    from ..reading import ReadOptions
    from ..settings import Http, Settings, Timeout
    from ..settings._values import Combine, Keep, Obey, Pace, Repeat, Spend
    from ._calls import Calls
    from ._selection import Selection

    class _HowToRead(ReadOptions, total=False):
        concurrency: int
        give_up_after: int | None

    class _HowToSearch(SearchOptions, total=False):
        concurrency: int
        read_top: int
        passage_length: int
        unsupported: Unsupported | None


__all__ = ["Choice", "CommonArguments", "WebSearch", "WebSearchOptions", "preload"]

_T = TypeVar("_T")
_NOT_A_FLOW = "flow: must be a generator, not text; to search, write web.search(query)"


class _Origin(NamedTuple):
    """What a `WebSearch` is made from: its arguments, and the settings and providers
    that they name.
    """

    selection: Selection
    searchers: list[Provider]
    readers: tuple[list[Provider], bool]
    layers: Sequence[Layer] | None
    concerns: tuple[str, ...]  # the arguments that win over layers of a provider
    http: Http
    on_event: Hook | Sequence[Hook] | None


class WebSearch:
    """Searches the web and reads pages.

    ::

        web = WebSearch()  # the first provider with a key in the environment
        web.search("rotate a key", limit=5).results[0].url
        web.read("https://docs.python.org/3/").content
        await web.asearch("rotate a key")

    It opens connections on first use and pools them: one pool for all threads, and one
    for each event loop. It can be shared, copied and pickled. Close it with a ``with``
    block, or leave that to the garbage collector. A copy or pickle holds the
    arguments, and makes the parts again. A pickle has no keys: a key from the
    environment is read again after unpickling, and a key passed as an argument is
    missing then, with a clear error, unless the pickle was made inside
    `websearch_core.keys.pickle_keys`.

    The arguments that say how a call is made take a short form, or a value that says
    more: ``retry=5``, or ``retry=Retry(5, wait_initial=1.0)``. A short form changes
    what it names, and the settings say the rest. A value replaces all that the settings
    say about it. False leaves out what the settings switch on.

    Args:
        provider: The provider to search with: a name, a provider such as
            ``Tavily(search_depth="advanced")``, or several, called in order until one
            answers. By default: ``WEB_SEARCH_PROVIDER``, else the first that has a key,
            else DuckDuckGo.
        reader: The provider to read pages with, in the same forms. By default, the
            object given as *provider* if it can read as well (a name does not count),
            else ``WEB_SEARCH_READER``, else the built-in reader ``direct``; then `read`
            renders a page that needs its scripts, if a browser is installed. ``"auto"``
            is whatever reads pages on this machine, for every call: the local index if
            it was searched, ``direct``, and, for a page that needs scripts or blocks
            us, ``browser`` if a browser is installed.
        api_key: The key of the one provider named: text, a function that returns it and
            is called for each request, or ``"keyring:service/name"``.
        base_url: The URL of the one provider named.
        internal: Networks (``"10.1.0.0/16"``) and origins
            (``"https://wiki.corp:8443"``) that pages may be read from although they are
            not public. They are the only holes in the guard.
        allowed_domains: The only domains, with their subdomains, that searches may
            return and pages may be read from, even after redirects and with any reader.
            A call can narrow this, never widen it.
        blocked_domains: Domains, with their subdomains, that are closed in the same
            way. A call can add to them.
        timeout: Seconds for a whole call, including retries, redirects and slow bodies;
            or a `Timeout`, which tells searches, pages and connecting apart. By default
            15 for a search, 30 for a page.
        combine: What several providers do: ``"first"`` (the default) asks one after the
            other until one answers, ``"until_results"`` until one finds something,
            ``"fuse"`` all at once and merges their results; or
            `websearch_core.layers.Fallback` or `Fuse`.
        retry: How often to send a request whose failures may be temporary, 3 times by
            default; or `Retry`.
        cache: Store answers and pages and reuse them: True, or for how many seconds, or
            where (a path, or a URL of Redis), or `websearch_core.layers.Cache`. By
            default, nothing is stored.
        budget: Limits for what calls may use: ``"1 USD/day"``, ``"500 credits/month"``,
            ``"20 calls"``, or several; or `websearch_core.layers.Budget`.
        throttle: How fast to send, instead of what each service documents: requests per
            second, a URL of Redis in which programs share their limits, an object that
            each request waits for (the ``BaseRateLimiter`` of LangChain or of
            LlamaIndex, or any with a method ``acquire()``), or
            `websearch_core.layers.Throttle`. The wait is part of the time of a call.
        robots: True reads only pages that the ``robots.txt`` of their site allows; or
            `websearch_core.layers.Robots`.
        layers: Your own layers around the providers. A layer's rank decides its
            position, not the order of the list. A layer of the same rank as a default
            (``Relax``, ``SingleFlight``) replaces it. None removes all layers.
        search_options: Options of every search, unless a call sets them: ``{"limit": 3,
            "max_snippet_chars": 300}``.
        read_options: Options of every page, unless a call sets them: ``{"max_length":
            8_000, "links": "text"}``. By default, a part of a page has at most 15,000
            characters.
        http: How requests are sent: an `Http` with your own clients, certificates or
            library.
        on_event: Called with each `websearch_core.events.Event` of a call: a start, a
            request, a wait, an end. A function, or a list of them.
        settings: `Settings` to use, instead of those of the environment and the files.
            The other arguments win.

    Raises:
        UnknownProvider: A name is unknown; the message lists the known ones.
        MissingKey: A provider was requested by name, and its key is missing.
        UnsupportedOption: The provider does not support one of *search_options*.
        ConfigurationError: Anything else in the configuration is wrong.
    """

    def __init__(
        self,
        provider: Choice | None = None,
        *,
        reader: Choice | None = None,
        api_key: str | SecretStr | Callable[[], str] | None = None,
        base_url: str | None = None,
        internal: Sequence[str] | None = None,
        allowed_domains: Sequence[str] | None = None,
        blocked_domains: Sequence[str] | None = None,
        timeout: float | Timeout | None = None,
        combine: Combine = None,
        retry: Repeat = None,
        cache: Keep = None,
        budget: Spend = None,
        throttle: Pace = None,
        robots: Obey = None,
        layers: Sequence[Layer] | None = (),
        search_options: SearchOptions | None = None,
        read_options: ReadOptions | None = None,
        http: Http | None = None,
        on_event: Hook | Sequence[Hook] | None = None,
        settings: Settings | None = None,
        **_unknown: Never,  # for a message with the line to write
    ) -> None:
        # Import slow modules only now: a program may import this one and search much
        # later, or never.
        from ..settings import Http
        from ._selection import Selection

        if _unknown:
            check_arguments({**_unknown, "provider": provider})
        http = http or Http()
        if not isinstance(http, Http):
            raise ConfigurationError(
                "http: must be Http(...), such as Http(verify=context)"
            )
        options = {
            "internal": internal,
            "allowed_domains": allowed_domains,
            "blocked_domains": blocked_domains,
            "timeout": timeout,
            "combine": combine,
            "retry": retry,
            "cache": cache,
            "budget": budget,
            "throttle": throttle,
            "robots": robots,
            "search_options": search_options,
            "read_options": read_options,
            "http": http.for_settings or None,
        }
        # None says nothing, so it does not override what the settings say
        own = {name: value for name, value in options.items() if value is not None}
        settings = _load_settings(settings, own)
        selection = Selection(settings)
        provider_options: dict[str, Any] = {}
        if api_key is not None:
            provider_options["api_key"] = api_key
        if base_url is not None:
            provider_options["base_url"] = base_url
        searchers = selection.searchers(provider, **provider_options)
        readers = selection.readers(reader, searchers)
        self.__setstate__(
            _Origin(selection, searchers, readers, layers, tuple(own), http, on_event)
        )
        self.check_options(settings.search_options)
        if settings.http.model_fields_set - {"library"}:
            _ = self._sender  # what is wrong with them shows now

    def __setstate__(self, origin: _Origin) -> None:
        """Make the parts, also those of a copy, or where a pickle is loaded."""
        from ._selection import make_stack, read_chain, search_chain

        settings = origin.selection.settings
        stack = make_stack(settings, origin.layers, origin.concerns)
        self._origin = origin
        self.settings: Settings = settings
        self._listeners = [Listener(log_event), *make_listeners(origin.on_event)]
        self.provider: SearchProvider = search_chain(origin.searchers, stack)
        self.reader: PageReader = read_chain(*origin.readers, stack)
        self._page_reader = origin.selection.page_reader(self.reader, stack)
        self._caller = _make_caller(settings, origin.http)
        # whose connections to services are used, too
        self._services_of: WebSearch | None = None

    def __getstate__(self) -> _Origin:
        http = self._origin.http
        if http.client is not None or http.async_client is not None:
            raise TypeError(
                "a WebSearch with an HTTP client of the caller's own cannot be copied "
                "or pickled"
            )
        return self._origin

    @cached_property
    def _sender(self) -> Sender:
        """What sends the requests. It is made for the first one, since a program may
        make tools and call none.
        """
        from .._net.certificates import parse_certificates
        from .._net.clients import parse_contact, user_agent
        from .._net.credentials import OriginCredentials
        from .._net.guard import Guard
        from .._net.proxy import Proxies
        from .._net.sender import Sender

        http = self.settings.http
        own = self._origin.http
        guard = Guard.allowing(self.settings.internal, domains=self.settings.domains)
        sender = Sender(
            guard,
            connect_timeout=self.settings.timeout.connect,
            client=own.client,
            async_client=own.async_client,
            verify=own.verify,
            library=http.library,
            credentials=OriginCredentials(http.credentials, guard),
            proxies=Proxies.of(http.proxy, http.resolve),
            contact=parse_contact(http.contact) if http.contact is not None else "",
            certificates=parse_certificates(http.certificates),
        )
        user_agent()  # looks up our version in a file: now, not on an event loop
        if self._services_of is not None:
            other = self._services_of
            sender.share_services(other._sender)  # noqa: SLF001 - of this class
        # another thread may have made one meanwhile
        first: Sender = self.__dict__.setdefault("_sender", sender)
        return first

    def check_options(self, options: SearchOptions | Mapping[str, Any]) -> None:
        """Raise `UnsupportedOption` if the provider lacks one of *options*, unless they
        say that a note is enough.
        """
        from ._selection import check_search_options

        check_search_options(options, self.provider)

    def search(
        self,
        query: str | SearchQuery,
        *,
        read_top: int = 0,
        passage_length: int = PASSAGE_LENGTH,
        unsupported: Unsupported | None = None,
        **options: Unpack[SearchOptions],
    ) -> SearchResponse:
        """Search the web.

        Args:
            query: The words to look for, or a `SearchQuery`.
            read_top: How many of the first results to read, concurrently, within the
                time of the whole call. Their ``content`` then holds the passages that
                answer the query. If a page cannot be read, its ``content`` stays empty,
                and a note says why.
            passage_length: Maximum characters of each ``content``. Longer text that the
                service itself returned is cut to the passages that answer the query;
                the page of such a result is not read again.
            unsupported: What to do about options that the provider does not support:
                ``raise``, or ignore them and ``note`` it in the response. By default,
                the query or the layers decide: ``raise``, unless configured otherwise.
            options: The fields of `SearchQuery`: ``limit``, ``allowed_domains``,
                ``time_range`` and so on. Those that are not set have the values of the
                argument ``search_options``.

        Raises:
            InvalidOption: The query is invalid, or its ``allowed_domains`` are all
                outside the policy.
            UnsupportedOption: The provider does not support an option.
            ServiceError: The service failed; `websearch_core.errors` has a subclass for
                each way.
        """
        defaults = self.settings.search_options
        search_query = make_query(query, options, unsupported, defaults)
        return self.run(self._calls.search(search_query, read_top, passage_length))

    async def asearch(
        self,
        query: str | SearchQuery,
        *,
        read_top: int = 0,
        passage_length: int = PASSAGE_LENGTH,
        unsupported: Unsupported | None = None,
        **options: Unpack[SearchOptions],
    ) -> SearchResponse:
        """Do the same as `search` on the running event loop."""
        await self._load()
        defaults = self.settings.search_options
        search_query = make_query(query, options, unsupported, defaults)
        return await self.arun(
            self._calls.search(search_query, read_top, passage_length)
        )

    def search_many(
        self,
        queries: Iterable[str | SearchQuery],
        *,
        timeout: float | None = None,
        **how: Unpack[_HowToSearch],
    ) -> list[SearchResponse | WebSearchError]:
        """Return what `iter_search` yields, as a list in the order of *queries*.

        The time of each begins when its request is sent: what a limit of the service
        makes it wait is time of the list.

        Args:
            queries: The words to look for, or `SearchQuery` objects; what is listed
                twice is sent once.
            timeout: Seconds for all together; by default, only each has a timeout. What
                is not answered by then is `TimedOut`, or `RateLimited` if it was not
                sent.
            how: The other arguments of `iter_search`.

        Raises:
            InvalidOption: An option is invalid, or *queries* is one query instead of a
                list.
        """
        answers = self.iter_search(queries, in_order=True, **how)
        with _limit(timeout), closing(answers):
            return [answer for _, answer in answers]

    async def asearch_many(
        self,
        queries: Iterable[str | SearchQuery],
        *,
        timeout: float | None = None,
        **how: Unpack[_HowToSearch],
    ) -> list[SearchResponse | WebSearchError]:
        """Do the same as `search_many` on the running event loop."""
        await self._load()
        answers = self.aiter_search(queries, in_order=True, **how)
        with _limit(timeout):
            async with aclosing(answers):
                return [answer async for _, answer in answers]

    def iter_search(
        self,
        queries: Iterable[str | SearchQuery],
        *,
        concurrency: int = 32,
        in_order: bool = False,
        read_top: int = 0,
        passage_length: int = PASSAGE_LENGTH,
        unsupported: Unsupported | None = None,
        **options: Unpack[SearchOptions],
    ) -> Generator[tuple[str | SearchQuery, SearchResponse | WebSearchError]]:
        """Search for any number of queries, and yield each with its response or error,
        as `iter_read` does for pages.

        Args:
            queries: The words to look for, or `SearchQuery` objects: any iterable.
            concurrency: Maximum number of searches at a time; the limits of the service
                hold as well.
            in_order: Yield the responses in the order of *queries*.
            read_top: How many of the first results of each to read, as in `search`.
            passage_length: Maximum characters of each ``content``, as in `search`.
            unsupported: What to do about options that the provider does not support, as
                in `search`.
            options: The fields of `SearchQuery`, for each query that is text.

        Raises:
            InvalidOption: An option is invalid, or *queries* is one query instead of a
                list.
        """
        from ._stream import iterate

        items = check_queries(queries)
        how = options, unsupported, read_top, passage_length, concurrency, in_order
        return iterate(self, items, lambda: self._calls.stream_searches(*how))

    def aiter_search(
        self,
        queries: Iterable[str | SearchQuery] | AsyncIterable[str | SearchQuery],
        *,
        concurrency: int = 32,
        in_order: bool = False,
        read_top: int = 0,
        passage_length: int = PASSAGE_LENGTH,
        unsupported: Unsupported | None = None,
        **options: Unpack[SearchOptions],
    ) -> AsyncGenerator[tuple[str | SearchQuery, SearchResponse | WebSearchError]]:
        """Do the same as `iter_search` on the running event loop; *queries* may be an
        async iterable.
        """
        from ._stream import aiterate

        items = check_queries(queries, AsyncIterable)
        how = options, unsupported, read_top, passage_length, concurrency, in_order
        return aiterate(self, items, lambda: self._calls.stream_searches(*how))

    def read(self, url: str, **part: Unpack[ReadOptions]) -> Page:
        """Read a page, or a part of it.

        ::

            page = web.read(url)                           # the beginning, and
            web.read(url, offset=page.next_offset)         # what follows
            web.read(url, query="how do I rotate a key?")  # the passages that answer
            web.read(url, find="grace period")             # the places around a phrase

        Args:
            url: Absolute http(s) URL. Its fragment is not passed to the reader, just as
                a browser does not send it, unless it is a route (``#/inbox``) and the
                reader is the ``browser``.
            part: Which part to return: ``max_length``, ``max_tokens``, ``offset``, and
                ``query`` or ``find``; and what belongs to it: ``links``, ``comments``
                and ``reviews``; as `websearch_core.reading.ReadOptions` explains. The
                rest is as the argument ``read_options`` says: 15,000 characters by
                default.

        Raises:
            InvalidOption: The part is invalid.
            UnsafeURL: The URL must not be opened from here; `DomainNotAllowed` if the
                domain policy says so.
            PageNotFound: The page does not exist.
            ServiceError: The page or the reading service failed in another way.
        """
        return self.run(self._calls.read(url, part))

    async def aread(self, url: str, **part: Unpack[ReadOptions]) -> Page:
        """Do the same as `read` on the running event loop."""
        await self._load()
        return await self.arun(self._calls.read(url, part))

    def read_many(
        self,
        urls: Iterable[str],
        *,
        timeout: float | None = None,
        **how: Unpack[_HowToRead],
    ) -> list[Page | WebSearchError]:
        """Return what `iter_read` yields, as a list in the order of *urls*.

        The time of each page begins when it is requested: what it waits for its turn is
        time of the list.

        Args:
            urls: Absolute http(s) URLs; one that is listed twice is read once.
            timeout: Seconds for all pages together; by default, only each has a
                timeout. A page that is not read by then is replaced by `TimedOut`.
            how: The other arguments of `iter_read`: ``concurrency``, ``give_up_after``,
                and the part of each page.

        Raises:
            InvalidOption: The part is invalid, or *urls* is one URL instead of a list.
        """
        pages = self.iter_read(urls, in_order=True, **how)
        with _limit(timeout), closing(pages):
            return [page for _, page in pages]

    async def aread_many(
        self,
        urls: Iterable[str],
        *,
        timeout: float | None = None,
        **how: Unpack[_HowToRead],
    ) -> list[Page | WebSearchError]:
        """Do the same as `read_many` on the running event loop."""
        await self._load()
        pages = self.aiter_read(urls, in_order=True, **how)
        with _limit(timeout):
            async with aclosing(pages):
                return [page async for _, page in pages]

    def iter_read(
        self,
        urls: Iterable[str],
        *,
        concurrency: int = 32,
        in_order: bool = False,
        give_up_after: int | None = 3,
        **part: Unpack[ReadOptions],
    ) -> Generator[tuple[str, Page | WebSearchError]]:
        """Read any number of pages, and yield each URL with its page or error as soon
        as it is there.

        ::

            for url, page in web.iter_read(line.strip() for line in open("urls.txt")):
                if isinstance(page, Page):
                    store(url, page.content)

        Memory stays flat: the next URL is asked for when it is needed, and at most 64
        times *concurrency* wait while few hosts have taken all turns. Where pages are
        fetched from here, hosts take turns, each with four slots, or as many as
        `Throttle` says. URLs with one canonical form are read once if they come soon
        after each other. Closing the iterator, or Ctrl-C, ends what is under way.

        Args:
            urls: Absolute http(s) URLs: any iterable. It is asked in the thread that
                iterates.
            concurrency: Maximum number of pages at a time.
            in_order: Yield the pages in the order of *urls*: one that takes long holds
                up those after it.
            give_up_after: How many pages of a host in a row may time out, find no
                connection or be refused (429, 503). Its other pages are then
                `Unavailable`, and not requested. Before its first answer, a host has
                one slot, and after a failure, its turn comes last. None never gives up.
            part: Which part of each page to return, as for `read`.

        Raises:
            InvalidOption: The part is invalid, or *urls* is one URL instead of a list.
        """
        from ._stream import iterate

        how = part, concurrency, in_order, give_up_after
        return iterate(self, check_urls(urls), lambda: self._calls.stream_reads(*how))

    def aiter_read(
        self,
        urls: Iterable[str] | AsyncIterable[str],
        *,
        concurrency: int = 32,
        in_order: bool = False,
        give_up_after: int | None = 3,
        **part: Unpack[ReadOptions],
    ) -> AsyncGenerator[tuple[str, Page | WebSearchError]]:
        """Do the same as `iter_read` on the running event loop; *urls* may be an async
        iterable.
        """
        from ._stream import aiterate

        how = part, concurrency, in_order, give_up_after
        items = check_urls(urls, AsyncIterable)
        return aiterate(self, items, lambda: self._calls.stream_reads(*how))

    def crawl(
        self, site: str | Iterable[str], **options: Any
    ) -> Generator[tuple[str, Page | WebSearchError]]:
        """Read the pages of a site, and yield each URL with its page or error, as
        `iter_read` does.

        It begins with the start, ``llms.txt``, and the sitemaps that robots.txt names,
        or else ``/sitemap.xml``, and follows links breadth first, as far as robots.txt
        allows. A reader whose service maps sites is asked instead.

        Args:
            site: Where to begin: one absolute http(s) URL, or several. Where it
                redirects to is the site.
            options: ``limit``: maximum number of pages of each site (200). ``depth``:
                maximum number of links from the start (10); what a sitemap lists is one
                away. ``scope``: what is below the ``path`` of the start (the default),
                its ``host``, or its ``domain`` with subdomains. ``include``,
                ``exclude``: patterns of paths with their queries, such as ``/guide/*``
                and ``*/print``, of pages to read alone, and to leave out; the start is
                read in any case. ``sitemaps=False``: begin with the start alone.
                ``concurrency`` and the part of each page are as for `iter_read`.

        Raises:
            InvalidOption: An option is wrong.
        """
        from ._crawl import Crawl

        return Crawl(self, site, options).rows()

    def acrawl(
        self, site: str | Iterable[str], **options: Any
    ) -> AsyncGenerator[tuple[str, Page | WebSearchError]]:
        """Do the same as `crawl` on the running event loop."""
        from ._crawl import Crawl

        return Crawl(self, site, options).arows()

    def map(self, site: str | Iterable[str], **options: Any) -> list[str]:
        """Return the URLs that the start links to, or sitemaps and ``llms.txt`` list.

        Arguments and errors are those of `crawl`, but the ``limit`` is 5,000 URLs, and
        the ``depth`` 1; with a larger one, the pages on the way are read. If nothing
        can be read, the error is raised.
        """
        from ._crawl import Crawl

        crawl = Crawl(self, site, options, only_urls=True)
        return crawl.list_urls(crawl.rows())

    async def amap(self, site: str | Iterable[str], **options: Any) -> list[str]:
        """Do the same as `map` on the running event loop."""
        from ._crawl import Crawl

        crawl = Crawl(self, site, options, only_urls=True)
        return crawl.list_urls([row async for row in crawl.arows()])

    def run(self, flow: Flow[_T]) -> _T:
        """Run your own flow with these connections and this guard."""
        notice_fork()
        if isinstance(flow, str):
            raise InvalidOption(_NOT_A_FLOW)
        return run_apart(partial(run, flow, self._send), **self._describe_call())

    async def arun(self, flow: Flow[_T]) -> _T:
        """Do the same as `run` on the running event loop."""
        notice_fork()
        if isinstance(flow, str):
            raise InvalidOption(_NOT_A_FLOW)
        await self._load()
        with scope(**self._describe_call()):
            try:
                return await arun(flow, self._asend)
            except WebSearchError:
                # many calls that are refused at once must not occupy the event loop
                await self._sender.take_turn()
                raise

    def close(self) -> None:
        """Close the connections of blocking calls. Using this object again opens new
        ones.
        """
        self._sender.close()

    async def aclose(self) -> None:
        """Close the connections of blocking calls and those of the running event
        loop.
        """
        await self._sender.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    # hidden from type checkers: with it, they would accept any name
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in METHODS:
                raise AttributeError(
                    f"{type(self).__name__!r} has no attribute {name!r}: write "
                    f"{METHODS[name]}"
                )
            # raises again what a property raised
            return object.__getattribute__(self, name)

    def __repr__(self) -> str:
        return f"WebSearch({self.provider.name!r}, reader={self.reader.name!r})"

    async def _load(self) -> None:
        """Import in a thread what only calls need: an event loop reads no files."""
        if "_sender" not in self.__dict__:
            await in_thread(lambda: (self._calls, self._sender))

    @cached_property
    def _calls(self) -> Calls:
        # with all that a call needs: a program may make tools and call none
        from ._calls import Calls

        return Calls(self.settings, self.provider, self.reader, self._page_reader)

    def _describe_call(self) -> dict[str, Any]:
        """Return who makes each call, and who listens: once, also where a hook or a
        provider makes a call.
        """
        outer = current_call().listeners
        caller = self._caller
        # with other credentials, other pages are read
        if self.settings.http.credentials:
            credentials = self._sender.credentials.identify()
            caller = caller._replace(policy=f"{caller.policy} {credentials}")
        own = [listener for listener in self._listeners if listener not in outer]
        return {"caller": caller, "listeners": (*outer, *own)}

    def _send(self, request: Request) -> Response:
        began = time.monotonic()
        response = None
        try:
            response = self._sender.send(request)
            return response
        finally:
            _announce(request, began, response)

    async def _asend(self, request: Request) -> Response:
        began = time.monotonic()
        response = None
        try:
            response = await self._sender.asend(request)
            return response
        finally:
            _announce(request, began, response)


def _load_settings(settings: Settings | None, options: Mapping[str, Any]) -> Settings:
    """Return the settings with the *options* of a `WebSearch`, which win."""
    from ..settings import Settings

    if settings is None:
        return Settings.load(**options)
    if not isinstance(settings, Settings):
        raise ConfigurationError(
            "settings: must be Settings, such as Settings.from_mapping({...})"
        )
    return settings.override(**options)


def _make_caller(settings: Settings, http: Http) -> Caller:
    # not an id, which a later one could have while a thread still works for this one
    who = object()
    policy = repr((sorted(settings.internal), settings.domains, http.own))
    own = secrets.token_hex(16) if any(http.own) else ""
    return Caller(who, policy, own)


def _announce(request: Request, began: float, response: Response | None) -> None:
    error = sys.exception() if response is None else None
    if isinstance(error, WebSearchError):
        error.locate(url=describe_url(request.url))
    events.emit(
        events.Exchange(
            method=request.method,
            url=request.url.partition("?")[0],
            seconds=time.monotonic() - began,
            status=response.status if response else None,
            size=len(response.content) if response else 0,
            error=error,
        )
    )


def preload() -> None:
    """Import now what making a `WebSearch` would import, and look for plug-ins.

    The packages for LangChain and LlamaIndex call it when they are imported, so that
    their classes can be made inside a running event loop without blocking it. Call it
    when your program starts if it makes a `WebSearch` there itself. Whatever the first
    search or page needs is imported later, in a thread.
    """
    from .. import settings  # noqa: F401
    from .._registry import known
    from . import _selection  # noqa: F401

    with suppress(ConfigurationError):  # of a plug-in: raised again where one is named
        known()


remember_files()


def _limit(seconds: float | None) -> scope:
    """Limit a list to *seconds* for all together; None means no limit."""
    if seconds is None:
        return time_limit(inf)
    if not is_number(seconds) or not seconds > 0:
        raise InvalidOption("timeout: must be a number of seconds above 0")
    return time_limit(seconds)
