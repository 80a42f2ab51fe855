"""
Which URLs a model may have opened at all.

A page can talk a model into opening ``https://evil.example/?q=`` followed by whatever the model knows. The guard cannot
help: that address is public. What helps is to open only URLs that came from elsewhere: from a search, whose index
knows nothing of the conversation, or from the user. A `Ledger` keeps them, whole, for each conversation apart.

What names a conversation is up to the caller: any hashable value, such as the id of a thread, or a tuple of tenant and
thread. None stands for the one conversation of a caller that has only one.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Hashable, Iterable, Iterator
from contextlib import suppress
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from ._urls import canonicalize
from .errors import ConfigurationError, UnsafeURL
from .models import Page, SearchResponse

__all__ = [
    "Ledger",
    "Provenance",
]

Provenance = Literal["any", "seen", "seen+links"]

_MAX_URLS = 10_000  # in one conversation
_MAX_CONVERSATIONS = 1_000
_MAX_LINKS = 200  # of one page
_PUNCTUATION = tuple(".,;:!?*")
_BRACKETS = {")": "(", "]": "["}
_IN_TEXT = re.compile(r"https?://[^\s<>\"'`\\^{|}]+", re.IGNORECASE)


class Ledger:
    """
    Keeps which URLs have been seen, and says which may be opened.

    - ``any``: every URL that the guard lets through.
    - ``seen``: those that a search of this conversation returned, or that the caller or the user named.
    - ``seen+links``: also the links, within the same host, of pages that were opened from those. A page that redirects
      to another host adds no links. A page can then offer a choice of links, and a model talked into following them
      leaks a little with each: prefer ``seen``.

    Args:
        mode: One of the three.
        named: URLs that may be opened in every conversation.

    """

    def __init__(self, mode: Provenance = "any", named: Iterable[str] = ()) -> None:
        if mode not in get_args(Provenance):
            raise ConfigurationError(f"provenance: {mode!r} is not one of {', '.join(get_args(Provenance))}")
        self.mode = mode
        self._named = {_key(url) for url in named}
        self._seen: dict[Hashable, dict[str, bool]] = {}
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def allow_text(self, text: str, conversation: Hashable = None) -> None:
        """
        Let the URLs in *text*, such as a message of the user, be opened.

        Args:
            text: Where to look. The time this takes grows in proportion to its length.
            conversation: Whose URLs they are.

        """
        self._add(map(_without_punctuation, _IN_TEXT.findall(text)), conversation, links=True)

    def allow_results(self, response: SearchResponse, conversation: Hashable = None) -> None:
        """Let the results of a search be opened."""
        self._add([result.url for result in response.results], conversation, links=True)

    def allow_links(self, page: Page, conversation: Hashable = None) -> None:
        """Let the links of a page be opened that was itself no such link, if the mode says so."""
        if self.mode != "seen+links" or not self._may_lead_on(page.url, conversation):
            return
        host = _host(page.url)
        if host is None or _host(page.final_url or page.url) != host:
            return  # a search vouched for the host that was asked for, not for the one where a redirect ends
        links = [link for link in page.links if _host(link) == host]
        self._add(links[:_MAX_LINKS], conversation, links=False)

    def check(self, url: str, conversation: Hashable = None) -> None:
        """
        Make sure that *url* may be opened. Asks the network nothing.

        Raises:
            UnsafeURL: It may not; the message tells the model why.

        """
        if self.mode == "any":
            return
        key = _key(url)
        with self._lock:
            known = key in self._named or key in self._seen.get(conversation, ())
        if not known:
            raise UnsafeURL(
                "only pages that a search returned or the user named can be opened, by exactly that URL; "
                "search for the page first"
            )

    def _may_lead_on(self, url: str, conversation: Hashable) -> bool:
        key = _key(url)
        with self._lock:
            return key in self._named or self._seen.get(conversation, {}).get(key, False)

    def _add(self, urls: Iterable[str], conversation: Hashable, *, links: bool) -> None:
        if self.mode == "any":
            return
        keys = list(_keys(urls))  # before the lock: a long text of one tenant must not keep the others waiting
        with self._lock:
            seen = self._seen.pop(conversation, {})
            self._seen[conversation] = seen  # the last one used is the last one forgotten
            for key in keys:
                seen[key] = seen.pop(key, False) or links
            _forget(seen, _MAX_URLS)
            _forget(self._seen, _MAX_CONVERSATIONS)


def _forget(crowd: dict[Any, Any], most: int) -> None:
    while len(crowd) > most:
        del crowd[next(iter(crowd))]


def _without_punctuation(url: str) -> str:
    """Take off what belongs to the sentence around a URL; a bracket that the URL itself opened stays."""
    unopened = {closing: url.count(closing) - url.count(opening) for closing, opening in _BRACKETS.items()}
    end = len(url)  # count once and cut once: text from outside may hold a URL of nothing but brackets
    for last in reversed(url):
        if unopened.get(last, 0) > 0:
            unopened[last] -= 1
        elif last not in _PUNCTUATION:
            break
        end -= 1
    return url[:end]


def _host(url: str) -> str | None:
    try:
        return urlsplit(canonicalize(url)).hostname
    except UnsafeURL:
        return None


def _keys(urls: Iterable[str]) -> Iterator[str]:
    for url in dict.fromkeys(urls):
        with suppress(UnsafeURL):
            yield _key(url)


def _key(url: str) -> str:
    """The whole URL in its one canonical form, without the fragment, which `WebSearch` shows to no reader."""
    if url.startswith("file:"):  # of an index of one's own, which opens nothing but what it holds
        return url
    return canonicalize(url).partition("#")[0]
