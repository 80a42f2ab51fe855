"""
Which URLs a model may have opened at all.

A page can talk a model into opening ``https://evil.example/?q=`` followed by whatever the model knows. The guard cannot
help: that address is public. What helps is to open only URLs that came from elsewhere: from a search, whose index
knows nothing of the conversation, or from the user. A `Ledger` keeps them, whole, for each conversation apart.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from .errors import ConfigurationError, UnsafeURL
from .guard import canonical
from .models import Page, SearchResponse

Provenance = Literal["any", "seen", "seen+links"]

_MOST_URLS = 10_000  # in one conversation
_MOST_CONVERSATIONS = 1_000
_MOST_LINKS = 200  # of one page
_PUNCTUATION = tuple(".,;:!?*")
_BRACKETS = {")": "(", "]": "["}
_IN_TEXT = re.compile(r"https?://[^\s<>\"'`\\^{|}]+", re.IGNORECASE)


class Ledger:
    """
    Keeps which URLs have been seen, and says which may be opened.

    - ``any``: every URL that the guard lets through.
    - ``seen``: those that a search of this conversation returned, or that the caller or the user named.
    - ``seen+links``: also the links, within the same host, of pages that were opened from those. A page can then offer
      a choice of links, and a model talked into following them leaks a little with each: prefer ``seen``.

    Args:
        mode: One of the three.
        named: URLs that may be opened in every conversation.

    """

    def __init__(self, mode: Provenance = "any", named: Iterable[str] = ()) -> None:
        if mode not in get_args(Provenance):
            raise ConfigurationError(f"provenance: {mode!r} is none of {', '.join(get_args(Provenance))}")
        self.mode = mode
        self._named = {_key(url) for url in named}
        self._seen: dict[str | None, dict[str, bool]] = {}
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def name(self, text: str, conversation: str | None = None) -> None:
        """Let the URLs in *text*, such as a message of the user, be opened."""
        self._add(map(_without_punctuation, _IN_TEXT.findall(text)), conversation, links=True)

    def found(self, response: SearchResponse, conversation: str | None = None) -> None:
        """Let the results of a search be opened."""
        self._add([result.url for result in response.results], conversation, links=True)

    def opened(self, page: Page, conversation: str | None = None) -> None:
        """Let the links of a page be opened that was itself no such link, if the mode says so."""
        if self.mode != "seen+links" or not self._may_lead_on(page.url, conversation):
            return
        host = _host(page.final_url or page.url)
        links = [link for link in page.links if host and _host(link) == host]
        self._add(links[:_MOST_LINKS], conversation, links=False)

    def check(self, url: str, conversation: str | None = None) -> None:
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

    def _may_lead_on(self, url: str, conversation: str | None) -> bool:
        key = _key(url)
        with self._lock:
            return key in self._named or self._seen.get(conversation, {}).get(key, False)

    def _add(self, urls: Iterable[str], conversation: str | None, *, links: bool) -> None:
        if self.mode == "any":
            return
        with self._lock:
            seen = self._seen.pop(conversation, {})
            self._seen[conversation] = seen  # the last one used is the last one forgotten
            for url in urls:
                try:
                    key = _key(url)
                except UnsafeURL:
                    continue
                seen[key] = seen.pop(key, False) or links
            _forget(seen, _MOST_URLS)
            _forget(self._seen, _MOST_CONVERSATIONS)


def _forget(crowd: dict[Any, Any], most: int) -> None:
    while len(crowd) > most:
        del crowd[next(iter(crowd))]


def _host(url: str) -> str | None:
    """The host of *url*; None where there is none to read, as in ``http://[``, which a service may call a link."""
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _without_punctuation(url: str) -> str:
    """Take off what belongs to the sentence around a URL; a bracket that the URL itself opened stays."""
    while url[-1:] in _PUNCTUATION or (url[-1:] in _BRACKETS and url.count(url[-1]) > url.count(_BRACKETS[url[-1]])):
        url = url[:-1]
    return url


def _key(url: str) -> str:
    """The whole URL in its one canonical form; the fragment never leaves the machine."""
    if url.startswith("file:"):  # of an index of one's own, which opens nothing but what it holds
        return url
    return canonical(url).partition("#")[0]
