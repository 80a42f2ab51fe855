"""Keep what each conversation has seen: number its pages, and limit which URLs a model
may open.

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

from .._text.urls import canonicalize, find_alike, find_page, identify, strip_anchor
from ..errors import ConfigurationError, InvalidOption, UnsafeURL
from ..models import Page, SearchResponse, SearchResult
from ._memory import Conversations

if TYPE_CHECKING:
    from ..citations import Source

__all__ = ["Ledger", "Provenance"]

Provenance = Literal["any", "seen", "seen+links"]

_MAX_URLS = 10_000  # in one conversation
_MAX_LINKS = 200  # of one page
_PUNCTUATION = tuple(".,;:!?*")
_BRACKETS = {")": "(", "]": "["}
_NOTHING = (
    "; this process knows of no page that was found or named in this conversation"
)
_ELSEWHERE = (
    "; this conversation began in another process, which may know of more that the "
    "user named"
)
_NUMBER = re.compile(r"\[?(\d{1,6})\]?", re.ASCII)
_IN_TEXT = re.compile(r"https?://[^\s<>\"'`\\^{|}]+", re.IGNORECASE)
_MAX_PAGES = 1_000  # in one conversation; the one seen longest ago is forgotten first
# between two numbers that are adopted: of a long conversation, the first messages may
# be gone
_MAX_GAP = 10_000
_MAX_TITLE_LENGTH = 200  # characters
_MAX_URL_LENGTH = 8_192  # characters; of one that is adopted


class _Seen(NamedTuple):
    url: str  # as it was found
    page: str  # what `find_page` returns for it
    links: bool  # whether its links may be opened, too


class Ledger:
    """Keeps the URLs that have been seen, decides which may be opened, and numbers
    their pages.

    - ``any``: every URL that the guard lets through. - ``seen``: URLs that a search of
    this conversation returned or a redirect led to, or that the caller or the user
    named. - ``seen+links``: also links on those pages, within the same host. A page
    that redirects to another host adds no links. A page can then offer a choice of
    links, and a model that is talked into following some leaks a little with each:
    prefer ``seen``.

    Args:
        mode: One of the three.
        named: URLs that may be opened in every conversation.
    """

    def __init__(self, mode: Provenance = "any", named: Iterable[str] = ()) -> None:
        if mode not in get_args(Provenance):
            raise ConfigurationError(
                f"provenance: {mode!r} is not one of {', '.join(get_args(Provenance))}"
            )
        self.mode = mode
        self._named = {_make_key(url): _see(url, links=True) for url in named}
        self._seen: Conversations[dict[str, _Seen]] = Conversations()
        self._numbers: Conversations[_Numbers] = Conversations()
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

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
        urls = [_strip_punctuation(url) for url in _IN_TEXT.findall(text)]
        self._add(urls, conversation, links=True)
        return urls

    def allow_results(
        self, response: SearchResponse, conversation: Hashable = None
    ) -> None:
        """Allow the results of a search."""
        self._add([result.url for result in response.results], conversation, links=True)

    def allow_links(self, page: Page, conversation: Hashable = None) -> None:
        """In mode ``seen+links``, allow the links of a page, unless the page was itself
        allowed as such a link.
        """
        if self.mode != "seen+links":
            return
        key = _make_key(page.url)
        with self._lock:
            found = self._named.get(key) or (self._seen.get(conversation) or {}).get(
                key
            )
        if found is None or not found.links:
            return
        host = _find_host(page.url)
        if host is None or _find_host(page.final_url or page.url) != host:
            # a search vouched for the requested host, not for the one where a redirect
            # ends
            return
        links = [link for link in page.links if _find_host(link) == host]
        self._add(links[:_MAX_LINKS], conversation, links=False)

    def check(
        self,
        url: str,
        conversation: Hashable = None,
        known: Iterable[Mapping[str, Any]] = (),
        why: str = "",
    ) -> str:
        """Check that *url* may be opened, without using the network.

        A page is known by any spelling of its URL, or by its number. One that differs
        in the scheme, ``www.``, a slash at the end or parameters for tracking is that
        of a known page if there is only one such page, or one such number.

        Args:
            url: The URL that a model wants to open; or the number of a page in this
                conversation, ``3`` or ``[3]``.
            conversation: The conversation that it belongs to.
            known: The sources that the conversation has numbers for already, as for
                `number_results`. They may be opened, too.
            why: Why something that was found may be unknown here, for the message of
                `UnsafeURL`.

        Returns:
            The URL to open: as it was found, if the page is known, so that nothing
                leaks by how it is spelled. Where
            every URL may be opened, ``https:`` is never replaced by the ``http:`` that
                was found.

        Raises:
            InvalidOption: No page of the conversation has this number.
            UnsafeURL: It must not; the message explains why to the model.
        """
        named = _NUMBER.fullmatch(url.strip())
        with self._lock:
            numbers = self._numbers_of(conversation, known)
            if named:
                return numbers.url_of(int(named[1]))
            if self.mode == "any":
                numbered = numbers.find_url(url)
                return (
                    url
                    if numbered is None
                    or (_is_secure(url) and not _is_secure(numbered))
                    else numbered
                )
        _make_key(url)  # says what is wrong with the URL itself
        with self._lock:
            seen = self._seen.get(conversation) or {}
            found = find_alike({**self._named, **seen}, url)
        numbered = numbers.find_url(url) if len(found) > 1 else None
        if numbered is not None and numbered in {page.url for page in found}:
            return numbered  # two spellings of one page, with one number
        if len(found) != 1:
            elsewhere = _ELSEWHERE if numbers.is_restored else "" if seen else _NOTHING
            raise UnsafeURL(
                "only pages that a search returned or the user named can be opened, by "
                "exactly that URL; "
                f"search for the page first{elsewhere}{why and f' ({why})'}"
            )
        return found[0].url

    def number_results(
        self,
        response: SearchResponse,
        conversation: Hashable = None,
        known: Iterable[Mapping[str, Any]] = (),
        numbers: Iterable[int] = (),
    ) -> SearchResponse:
        """Give the results of a search the numbers of their pages in a conversation, as
        their ``citation_id``.

        Args:
            response: The response.
            conversation: The conversation that it belongs to.
            known: The sources that the conversation has numbers for already, as stored
                by the program: the ``sources`` of earlier artifacts, or what `sources`
                returned. Their numbers win.
            numbers: Numbers that the messages of the conversation show, whatever page
                they stand for, as `websearch_core.tools.find_numbers` finds them. No
                page gets one of them now.
        """
        with self._lock:
            own = self._numbers_of(conversation, known)
            own.skip(numbers)
            return own.number_results(response)

    def number_page(
        self,
        page: Page,
        conversation: Hashable = None,
        known: Iterable[Mapping[str, Any]] = (),
        numbers: Iterable[int] = (),
    ) -> Page:
        """Give a page its number in a conversation, with the arguments of
        `number_results`; it can be opened again.
        """
        with self._lock:
            own = self._numbers_of(conversation, known)
            own.skip(numbers)
            numbered = own.number_page(page)
            self._see_numbered([page.final_url or page.url], conversation)
            return numbered

    def sources(
        self, conversation: Hashable = None, known: Iterable[Mapping[str, Any]] = ()
    ) -> list[Source]:
        """Return the sources of a conversation by their numbers: at most 1,000, those
        that were seen last.
        """
        with self._lock:
            return self._numbers_of(conversation, known).sources()

    def _numbers_of(
        self, conversation: Hashable, known: Iterable[Mapping[str, Any]]
    ) -> _Numbers:
        before = self._numbers.get(conversation)
        numbers = before or _Numbers()
        self._numbers.keep(conversation, numbers)
        adopted = numbers.restore(known)
        numbers.is_restored = numbers.is_restored or (before is None and bool(adopted))
        self._see_numbered(adopted, conversation)
        return numbers

    def _see_numbered(self, urls: Iterable[str], conversation: Hashable) -> None:
        """Allow pages that have a number; one that is known under another address keeps
        that one.
        """
        if urls and self.mode != "any":
            known = {
                page.page for page in (self._seen.get(conversation) or {}).values()
            }
            added = {}
            for key, page in _make_seen(urls, links=False).items():
                if page.page not in known:
                    known.add(page.page)
                    added[key] = page
            self._see_all(added, conversation)

    def _add(self, urls: Iterable[str], conversation: Hashable, *, links: bool) -> None:
        if self.mode == "any":
            return
        # Before the lock: a long text of one tenant must not make the others wait.
        if added := _make_seen(urls, links=links):
            with self._lock:
                self._see_all(added, conversation)

    def _see_all(self, added: Mapping[str, _Seen], conversation: Hashable) -> None:
        seen = self._seen.get(conversation) or {}
        self._seen.keep(conversation, seen)
        for key, page in added.items():
            before = seen.pop(key, page)
            seen[key] = before._replace(links=before.links or page.links)
        while len(seen) > _MAX_URLS:
            del seen[next(iter(seen))]


def _see(url: str, *, links: bool) -> _Seen:
    return _Seen(strip_anchor(url), find_page(url), links)


def _strip_punctuation(url: str) -> str:
    """Strip the punctuation of the sentence around a URL; keep a closing bracket that
    the URL itself opened.
    """
    unopened = {
        closing: url.count(closing) - url.count(opening)
        for closing, opening in _BRACKETS.items()
    }
    # count once and cut once: text from outside may contain a URL that is all brackets
    end = len(url)
    for last in reversed(url):
        if unopened.get(last, 0) > 0:
            unopened[last] -= 1
        elif last not in _PUNCTUATION:
            break
        end -= 1
    return url[:end]


def _find_host(url: str) -> str | None:
    try:
        return urlsplit(canonicalize(url)).hostname
    except UnsafeURL:
        return None


def _is_secure(url: str) -> bool:
    return url[:6].lower() == "https:"


def _make_seen(urls: Iterable[str], *, links: bool) -> dict[str, _Seen]:
    made: dict[str, _Seen] = {}
    for url in dict.fromkeys(urls):
        with suppress(UnsafeURL):
            made.setdefault(_make_key(url), _see(url, links=links))
    return made


def _make_key(url: str) -> str:
    """Return what `identify` does, or raise what is wrong with the URL."""
    # from a local index, which returns only what it contains
    if url.startswith("file:"):
        return url
    return strip_anchor(canonicalize(url))


class _Numbered(NamedTuple):
    number: int
    url: str  # as it was found
    page: str  # what `find_page` returns for it


class _Numbers:
    """The numbers of one conversation. Not safe for threads on its own: `Ledger` has
    the lock.

    A page keeps its number in every later search and when it is opened. A number is
    never given to another page, even after its own was forgotten. The state is small
    and plain, so that a framework can keep it with the conversation.
    """

    def __init__(self) -> None:
        # by what `identify` returns; a page that redirects has two
        self._numbers: dict[str, _Numbered] = {}
        self._sources: dict[int, Source] = {}
        self._last = 0
        # whether the conversation began in another process
        self.is_restored: bool = False

    def restore(self, known: Iterable[Mapping[str, Any]]) -> list[str]:
        """Adopt the numbers that the conversation has already, such as those in its
        stored messages; return their URLs.

        They win: if one was given to another page here, that page gets a new number
        when it is next seen. One that is far above all others did not come from here,
        and is left out.
        """
        urls: list[str] = []
        adopted: dict[int, list[Source]] = {}
        for entry in known:
            if (source := _as_source(entry)) and not self._has(source):
                adopted.setdefault(source["id"], []).append(source)
        for number, sources in sorted(adopted.items()):
            if number > self._last + _MAX_GAP:
                break
            keys = {identify(source["url"]) for source in sources}
            given = [
                numbered.number for key in keys if (numbered := self._numbers.get(key))
            ]
            if number in self._sources and number not in given:
                self._forget(number)
            for source in sources:
                self._keep(source)
                urls.append(source["url"])
        return urls

    def skip(self, numbers: Iterable[int]) -> None:
        """Begin above *numbers*, which messages show: what they stand for may be
        unknown here.

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
        listed = Counter(
            find_page(url)
            for url in {identify(one.url): one.url for one in response.results}.values()
        )
        numbered = tuple(
            self._number_result(one, alone=listed[find_page(one.url)] == 1)
            for one in response.results
        )
        return (
            response
            if numbered == response.results
            else response.model_copy(update={"results": numbered})
        )

    def number_page(self, page: Page) -> Page:
        """Return *page* with its number; a redirect within a host keeps the number of
        the page that was requested.

        A redirect to another host does not: what a search showed of one site would be
        cited as a page of the other.
        """
        url = page.final_url or page.url
        is_here = _find_site(page.url) == _find_site(url)
        known = self._find(url) or (self._find(page.url) if is_here else None)
        number = known.number if known else self._last + 1  # `_keep` counts
        if is_here:
            self._numbers.setdefault(
                identify(page.url), _Numbered(number, page.url, find_page(page.url))
            )
        self._keep({"id": number, "title": page.title, "url": url, "read": True})
        return page.model_copy(update={"citation_id": number})

    def sources(self) -> list[Source]:
        """Return the sources, by number; of a page that redirects, only the URL where
        its text is.
        """
        return [source.copy() for _, source in sorted(self._sources.items())]

    def find_url(self, url: str) -> str | None:
        """Return the URL under which the page at *url* was found; None if it has no
        number.
        """
        known = self._find(url)
        return known.url.partition("#")[0] if known else None

    def url_of(self, number: int) -> str:
        """Return the URL of the page with this number; raise `InvalidOption` if there
        is none.
        """
        if number in self._sources:
            return self._sources[number]["url"]
        if not self._last:
            where = " yet: search first, or give a URL"
        elif number > self._last:
            where = f": they go from 1 to {self._last}"
        else:
            where = " that is known here: give its URL, or search again"
        raise InvalidOption(
            f"url: no page of this conversation has the number {number}{where}"
        )

    def _find(self, url: str) -> _Numbered | None:
        alike = find_alike(self._numbers, url)
        return alike[0] if len({one.number for one in alike}) == 1 else None

    def _number_result(self, result: SearchResult, *, alone: bool) -> SearchResult:
        known = (
            self._find(result.url) if alone else self._numbers.get(identify(result.url))
        )
        number = known.number if known else self._last + 1
        self._keep(
            {
                "id": number,
                "title": result.title,
                "url": result.url,
                "read": result.content is not None,
            }
        )
        return (
            result
            if result.citation_id == number
            else result.model_copy(update={"citation_id": number})
        )

    def _has(self, source: Source) -> bool:
        ours = self._sources.get(source["id"])
        return (
            ours is not None
            and ours["url"] == source["url"]
            and ours["read"] >= source["read"]
        )

    def _keep(self, source: Source) -> None:
        number, url, key = source["id"], source["url"], identify(source["url"])
        # what is added again is at the end: seen last
        before = self._sources.pop(number, None)
        replaced = self._numbers.pop(key, None)
        self._numbers[key] = _Numbered(
            number, replaced.url if replaced else url, find_page(url)
        )
        if (
            replaced
            and replaced.number != number
            and all(replaced.number != one.number for one in self._numbers.values())
        ):
            self._sources.pop(replaced.number, None)
        self._sources[number] = {
            "id": number,
            "title": source["title"][:_MAX_TITLE_LENGTH]
            or (before["title"] if before else ""),
            "url": before["url"]
            if before and before["read"] and not source["read"]
            else source["url"],
            "read": source["read"] or bool(before and before["read"]),
        }
        self._last = max(self._last, number)
        while len(self._sources) > _MAX_PAGES:
            self._forget(next(iter(self._sources)))
        while len(self._numbers) > 2 * _MAX_PAGES:
            del self._numbers[next(iter(self._numbers))]

    def _forget(self, number: int) -> None:
        del self._sources[number]
        self._numbers = {
            key: given for key, given in self._numbers.items() if given.number != number
        }


def _find_site(url: str) -> str:
    """Return the host of *url*, without ``www.``."""
    return (urlsplit(identify(url)).hostname or "").removeprefix("www.")


def _as_source(entry: object) -> Source | None:
    """Return *entry* if it has the shape of a source: stored messages may hold
    anything.
    """
    if not isinstance(entry, Mapping):
        return None
    number, url, title, read = (
        entry.get(name) for name in ("id", "url", "title", "read")
    )
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        return None
    if (
        not (isinstance(url, str) and isinstance(title, str) and isinstance(read, bool))
        or len(url) > _MAX_URL_LENGTH
    ):
        return None
    return {"id": number, "title": title, "url": url, "read": read}
