"""Read only what the robots.txt of a site allows (RFC 9309), parsed by protego.

A file that does not exist (4xx) allows everything; one that cannot be fetched (5xx, no
connection) allows nothing.
"""

from __future__ import annotations
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self, TypeAlias
from urllib.parse import urljoin

from .. import errors
from .._runtime.bugs import contain_bugs
from .._runtime.deadline import time_limit
from .._runtime.scope import Caller, current_call
from .._text.urls import Origin, canonicalize, find_origin, is_web_url
from ..flow import Call, Flow, Gather, Request, Response, Share, SharedAnswer
from ..flow._flights import Flights
from ..flow._intercept import (
    Auxiliary,
    AuxiliaryCall,
    AuxiliaryRequest,
    hold,
    intercept,
)
from ..models import Page
from ..provider._ports import Provider, needs_network
from ._layer import (
    Layer,
    ProviderWrapper,
    Rank,
    ask_provider,
    check_numbers,
    leaves,
    parts,
    rank_of,
)

_TOKEN = re.compile(r"[A-Za-z_-]+")  # RFC 9309, 2.2.1
_USER_AGENT = "websearch-core"
_DAY = 86_400.0  # seconds; RFC 9309, 2.4: no longer than 24 hours
_MAX_DELAY = 30.0  # seconds
_MAX_BYTES = 500 * 1024  # of one file; RFC 9309, 2.5
_MAX_REDIRECTS = 5  # RFC 9309, 2.3.1.2
_MIN_AGE = 60.0  # seconds; even if the site says max-age=0
_TIMEOUT = 10.0  # seconds
# characters that take a millisecond or so: a longer file is handled in a thread
_MAX_INLINE = 16 * 1024
# characters of all files in memory; parsed, they take up to 40 times as many bytes
_MAX_MEMORY = 2**20
_OVERHEAD = 1000  # characters that a file counts for besides its text
# The parser would end a group at any other line, against RFC 9309, 2.2.4, so it gets
# only rules. The misspellings are those that it accepts.
_RULE = re.compile(
    r"\s*(user[ -]?agent|allow|diss?all?ow|diasllow|disallaw|crawl[ -]delay)\b",
    re.IGNORECASE,
)
# the product token ends at the first sign that it cannot have
_AGENT = re.compile(r"(\s*user[ -]?agent\s*:\s*)(\*|[A-Za-z_-]*)", re.IGNORECASE)
_NOBODY = "another-product"
_SITEMAP = re.compile(
    r"^[ \t]*sitemap[ \t]*:[ \t]*([^\s#]+)", re.IGNORECASE | re.MULTILINE
)
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?([0-9]{1,9})", re.IGNORECASE)


class Rules:
    """What a robots.txt says to the product token *user_agent*, such as
    ``websearch-core``; if it has no group for that, what it says to ``*``.

    An empty file allows everything.
    """

    def __init__(self, text: str = "", user_agent: str = _USER_AGENT) -> None:
        from protego import Protego

        self.size = len(text)
        self._user_agent = user_agent
        self.sitemaps = tuple(_SITEMAP.findall(text))
        lines = text.lstrip("\ufeff").splitlines()
        rules = [self._name_group(line) for line in lines if _RULE.match(line)]
        self._rules = Protego.parse("\n".join(rules))

    def _name_group(self, line: str) -> str:
        """Return a rule; one that begins a group for another product names nobody.

        The parser would take any beginning of our name for it, and none with a version.
        """
        agent = _AGENT.match(line)
        if agent is None or agent[2] == "*":
            return line
        is_ours = agent[2].lower() == self._user_agent.lower()
        name = self._user_agent if is_ours else _NOBODY
        return f"{agent[1]}{name}"

    @property
    def crawl_delay(self) -> float:
        """Seconds that the site asks for between two requests, at most 30."""
        return min(
            max(self._rules.crawl_delay(self._user_agent) or 0.0, 0.0), _MAX_DELAY
        )

    def allows(self, url: str) -> bool:
        return bool(self._rules.can_fetch(canonicalize(url), self._user_agent))


# a caller with another policy, or other certificates, may get another file
_Site: TypeAlias = tuple[Caller, Origin]


class RobotsFiles:
    """The robots.txt files of sites, in memory. Callers that need the same one at the
    same time share one request.

    A file is fresh for the site's ``max-age``, but at least a minute and at most
    *max_age*. A stale one still counts while no new one can be fetched.
    """

    def __init__(self, user_agent: str = _USER_AGENT, max_age: float = _DAY) -> None:
        self._user_agent = user_agent
        self._max_age = max_age
        self._flights = Flights()
        self._lock = threading.Lock()
        # the rules, and when they expire; the oldest first
        self._entries: OrderedDict[_Site, tuple[Rules, float]] = OrderedDict()
        self._size = 0  # of all of them, against _MAX_MEMORY

    def read(self, reader: Provider, url: str) -> Flow[Page]:
        """Read a page with *reader*, if robots.txt allows it and every page that it
        redirects to.

        A redirect that the flow itself follows is checked before. If a service or a
        browser follows redirects, only the last URL is known, and checked afterwards.
        """
        yield from self.check(url)
        page = yield from intercept(ask_provider(reader, "read", url), self._perform)
        return (yield from self.check_end(url, page))

    def check_end(self, url: str, page: Page | errors.WebSearchError) -> Flow[Page]:
        """Return *page* if robots.txt also allows the URL that *url* led to; raise
        *page* if it is an error.
        """
        if isinstance(page, errors.WebSearchError):
            raise page
        if page.final_url and page.final_url != url:
            yield from self.check(page.final_url)
        return page

    def check(self, url: str, headers: Mapping[str, str] | None = None) -> Flow[float]:
        """Check that robots.txt allows *url*; return its crawl delay in seconds.

        The robots.txt is fetched with the ``User-Agent`` of *headers*, which are those
        of the request for the page. Raise `DisallowedByRobots` if it forbids the page,
        and a `ServiceError` if it cannot be fetched.
        """
        if not is_web_url(url):
            return 0.0  # the reader refuses it
        rules = yield from self.find_rules(url, headers)
        is_allowed: bool
        if rules.size <= _MAX_INLINE:
            is_allowed = rules.allows(url)
        else:
            is_allowed = yield AuxiliaryCall(rules.allows, url)
        if not is_allowed:
            raise errors.DisallowedByRobots(
                "the site's robots.txt asks programs not to read this page"
            )
        return rules.crawl_delay

    def find_rules(
        self, url: str, headers: Mapping[str, str] | None = None
    ) -> Flow[Rules]:
        """Return the rules for the site of *url*, an http(s) URL."""
        origin = find_origin(url)
        assert origin is not None
        site = current_call().caller, origin
        with self._lock:
            rules, expires = self._entries.get(site, (None, 0.0))
        if rules is not None and time.monotonic() < expires:
            return rules
        agent = {
            name: value
            for name, value in (headers or {}).items()
            if name.lower() == "user-agent"
        }
        try:
            shared: SharedAnswer = yield Share(
                self._flights, site, lambda: self._fetch(site, url, agent)
            )
        except errors.ServiceError:
            if rules is None:
                raise
            return rules  # stale
        return shared.value  # type: ignore[no-any-return]

    def find_sitemaps(self, url: str) -> tuple[str, ...]:
        """Return the sitemaps that the robots.txt of the site of *url* names, for
        whichever caller it was fetched; nothing is fetched for it.
        """
        origin = find_origin(url)
        with self._lock:
            for site, entry in self._entries.items():
                if site[1] == origin:
                    return entry[0].sitemaps
        return ()

    def _perform(self, effect: Request | Call) -> Flow[Any]:
        """Check a request that goes to a site before it is sent."""
        if isinstance(effect, Auxiliary) or not isinstance(effect, Request):
            return (yield effect)
        if not effect.guarded:  # it goes to a service
            return (yield effect)
        delay = yield from hold(effect, self.check(effect.url, effect.headers))
        return (yield replace(effect, crawl_delay=delay))

    def _fetch(self, site: _Site, url: str, headers: Mapping[str, str]) -> Flow[Rules]:
        address = urljoin(url, "/robots.txt")
        with time_limit(_TIMEOUT):
            for hop in range(_MAX_REDIRECTS + 1):
                response = yield from _ask(address, headers, is_redirect=hop > 0)
                location = response.headers.get("location", "")
                if not 300 <= response.status < 400 or not location:
                    return (yield from self._parse(site, response))
                with suppress(ValueError):  # then it is refused as it is
                    location = urljoin(address, location)
                if not is_web_url(location):
                    raise errors.BadResponse(
                        "the site's robots.txt redirects to an invalid URL"
                    )
                address = location
        # more redirects count as no file
        return (yield from self._parse(site, Response(status=404)))

    def _parse(self, site: _Site, response: Response) -> Flow[Rules]:
        """Parse what *site* answered, and store it."""
        if response.status >= 500:
            raise errors.Unavailable(
                f"the site answers {response.status} for its robots.txt, so the page "
                f"is not read",
                status=response.status,
            )
        text = ""
        if 200 <= response.status < 300:
            text = response.content.decode("utf-8", "replace")
        if response.truncated:  # a rule that was cut would mean something else
            text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
        age = self._max_age
        max_age = _MAX_AGE.search(response.headers.get("cache-control", ""))
        if max_age:
            age = min(max(float(max_age[1]), _MIN_AGE), self._max_age)
        parse = partial(Rules, text, self._user_agent)
        rules: Rules
        if len(text) <= _MAX_INLINE:
            rules = parse()
        else:
            rules = yield AuxiliaryCall(parse)
        with self._lock:
            self._drop(site)
            self._entries[site] = rules, time.monotonic() + age
            self._size += _OVERHEAD + rules.size
            while self._size > _MAX_MEMORY and len(self._entries) > 1:
                self._drop(next(iter(self._entries)))
        return rules

    def _drop(self, site: _Site) -> None:
        entry = self._entries.pop(site, None)
        if entry is not None:
            rules, _ = entry
            self._size -= _OVERHEAD + rules.size


def _ask(url: str, headers: Mapping[str, str], *, is_redirect: bool) -> Flow[Response]:
    """Send one request. Its errors are about the robots.txt: the page may be fine."""
    try:
        response: Response = yield AuxiliaryRequest(
            url=url, headers=headers, max_bytes=_MAX_BYTES, guarded=True
        )
    except errors.UnsafeURL as error:
        if not is_redirect:  # the page, on the same host, must not be opened either
            raise
        raise errors.BadResponse(
            "the site's robots.txt redirects to a URL that must not be opened"
        ) from error
    except (errors.Unavailable, errors.TimedOut) as error:
        failure = type(error)(
            "the site's robots.txt cannot be fetched, so the page is not read: "
            f"{error.args[0]}"
        )
        failure.temporary = error.temporary
        raise failure from error
    return response


@dataclass(frozen=True)
class Robots(Layer):
    """Read only pages that the ``robots.txt`` of their site allows; others raise
    `DisallowedByRobots`.

    It follows RFC 9309 (https://www.rfc-editor.org/rfc/rfc9309). Each redirect of a
    page is checked before it is followed; where a service or a browser follows
    redirects itself, the last URL is checked afterwards. A file that does not exist
    (4xx) allows everything. One that cannot be fetched allows nothing: reading raises
    `Unavailable` or `TimedOut`. The files are fetched like pages, from public addresses
    only, and each is cached for all pages of its site. `Throttle` obeys a
    ``Crawl-delay`` of up to 30 seconds.

    Args:
        user_agent: The product token whose rules apply; if a file has none for it,
            those for ``*`` do. Set it to yours if you change the ``user_agent`` of
            `websearch_core.providers.Direct`.
        max_age: Maximum seconds for which a file is cached; a shorter ``max-age`` of
            the site wins.

    Raises:
        ConfigurationError: A value is invalid.
    """

    rank: ClassVar[int] = Rank.ROBOTS

    user_agent: str = _USER_AGENT
    max_age: float = _DAY

    def __post_init__(self) -> None:
        check_numbers(self, "max_age", minimum=0)
        if not isinstance(self.user_agent, str) or not _TOKEN.fullmatch(
            self.user_agent
        ):
            raise errors.ConfigurationError(
                "Robots: user_agent: must be a product token: letters, - and _, such "
                "as AcmeBot"
            )

    @classmethod
    def of(cls, short: Any, /) -> Self:
        """Return the layer that *short* stands for: True, or the ``user_agent``."""
        return cls() if short is True else super().of(short)

    def start(self) -> Callable[[Provider], Provider]:
        """Return a function that puts this layer around a reader; all readers share
        the files.
        """
        return partial(RobotsProvider, self, RobotsFiles(self.user_agent, self.max_age))


class RobotsProvider(ProviderWrapper[Robots]):
    def __init__(self, layer: Robots, files: RobotsFiles, inner: Provider) -> None:
        super().__init__(layer, inner)
        self.files = files
        if any(rank_of(part) == Rank.THROTTLE for part in parts(inner)):
            raise errors.ConfigurationError(
                "Robots: a Throttle inside Robots does not see the Crawl-delay: write "
                "Throttle()(Robots()(reader))"
            )

    def read(self, url: str, /) -> Flow[Page]:
        if not any(map(needs_network, leaves(self.inner))):
            return (yield from super().read(url))
        return (yield from self.files.read(self.inner, url))

    def read_many(
        self, urls: Sequence[str], /
    ) -> Flow[list[Page | errors.WebSearchError]]:
        checks = [
            contain_bugs(partial(self.files.check, url), self.name) for url in urls
        ]
        outcomes: list[float | errors.WebSearchError] = yield Gather(checks)
        answers: dict[str, Page | errors.WebSearchError] = {}
        for url, outcome in zip(urls, outcomes, strict=True):
            if isinstance(outcome, errors.WebSearchError):
                answers[url] = outcome
        allowed = [url for url in urls if url not in answers]
        if not allowed:
            return [answers[url] for url in urls]
        pages = yield from super().read_many(allowed)
        pairs = zip(allowed, pages, strict=True)
        ends = yield Gather([self.files.check_end(url, page) for url, page in pairs])
        answers |= zip(allowed, ends, strict=True)
        return [answers[url] for url in urls]
