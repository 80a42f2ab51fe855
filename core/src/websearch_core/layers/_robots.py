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
from ..provider._ports import PageReader, Provider, needs_network
from ._layer import (
    Layer,
    ProviderWrapper,
    Rank,
    check_numbers,
    leaves,
    parts,
    rank_of,
    reader,
)

_TOKEN = re.compile(r"[A-Za-z_-]+")  # RFC 9309, 2.2.1
_USER_AGENT = "websearch-core"
_DAY = 86_400.0  # seconds; RFC 9309, 2.4: no longer than 24 hours
_MAX_DELAY = 30.0  # seconds
_MAX_BYTES = 500 * 1024  # of one file; RFC 9309, 2.5
_MAX_REDIRECTS = 5  # RFC 9309, 2.3.1.2
# seconds; also for a site that asks for its file to be fetched for each page
_MIN_AGE = 60.0
_TIMEOUT = 10.0  # seconds
_PROMPT = 16 * 1024  # characters that are parsed within a millisecond or so
# characters of all files that are kept; parsed, they take up to 40 times as many bytes
_MAX_KEPT = 2**20
# Only these are rules, as the parser spells them. Other lines end a group for it,
# against RFC 9309, 2.2.4.
_RULE = re.compile(
    r"\s*(user[ -]?agent|allow|diss?all?ow|diasllow|disallaw|crawl[ -]delay)\b",
    re.IGNORECASE,
)
_SITEMAP = re.compile(
    r"^[ \t]*sitemap[ \t]*:[ \t]*([^\s#]+)", re.IGNORECASE | re.MULTILINE
)
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?([0-9]{1,9})", re.IGNORECASE)


class Rules:
    """What a robots.txt says to a user agent, whose product token is like
    ``websearch-core``. An empty one allows everything; the rules for ``*`` apply if
    there are none for the token.
    """

    def __init__(self, text: str = "", user_agent: str = _USER_AGENT) -> None:
        from protego import Protego

        self.size = len(text)
        self._user_agent = user_agent
        self.sitemaps = tuple(_SITEMAP.findall(text))
        lines = text.lstrip("\ufeff").splitlines()
        self._rules = Protego.parse("\n".join(filter(_RULE.match, lines)))

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
    """The robots.txt of sites, each fetched once for all who need it at the same time,
    and kept for a time.

    That is the site's ``max-age``, between a minute and *max_age*, or longer while a
    new one cannot be fetched.
    """

    def __init__(self, user_agent: str = _USER_AGENT, max_age: float = _DAY) -> None:
        self._user_agent = user_agent
        self._max_age = max_age
        self._flights = Flights()
        self._lock = threading.Lock()
        # with when each expires
        self._kept: OrderedDict[_Site, tuple[Rules, float]] = OrderedDict()
        self._size = 0

    def read(self, reader: PageReader, url: str) -> Flow[Page]:
        """Read a page with *reader*, if robots.txt allows it and every page that it
        redirects to.

        A redirect of the flow is checked before it is followed; where a service or a
        browser ended, afterwards.
        """
        yield from self.check(url)
        page = yield from intercept(reader.read(url), self._perform)
        return (yield from self.check_end(url, page))

    def check_end(self, url: str, page: Page | errors.WebSearchError) -> Flow[Page]:
        """Return *page*, which *url* led a reader to, if it may be read, too; raise it
        if it is an error.
        """
        if isinstance(page, errors.WebSearchError):
            raise page
        if page.final_url and page.final_url != url:
            yield from self.check(page.final_url)
        return page

    def check(self, url: str, headers: Mapping[str, str] | None = None) -> Flow[float]:
        """Return the seconds that the site of *url* asks for between two requests. The
        reader refuses other URLs.

        The ``User-Agent`` in *headers*, those of the request for the page, asks for the
        robots.txt, too. Raise `DisallowedByRobots` if it does not allow to read the
        page, and a `ServiceError` if it cannot be fetched.
        """
        if not is_web_url(url):
            return 0.0
        rules = yield from self.find(url, headers)
        is_prompt = rules.size <= _PROMPT
        allowed: bool = (
            rules.allows(url) if is_prompt else (yield AuxiliaryCall(rules.allows, url))
        )
        if not allowed:
            raise errors.DisallowedByRobots(
                "the site's robots.txt asks programs not to read this page"
            )
        return rules.crawl_delay

    def find(self, url: str, headers: Mapping[str, str] | None = None) -> Flow[Rules]:
        """Return the rules for the site of *url*, an http(s) URL."""
        origin = find_origin(url)
        assert origin is not None
        site = current_call().caller, origin
        with self._lock:
            rules, expires = self._kept.get(site, (None, 0.0))
        if rules is not None and time.monotonic() < expires:
            return rules
        named = {
            name: value
            for name, value in (headers or {}).items()
            if name.lower() == "user-agent"
        }
        try:
            shared: SharedAnswer = yield Share(
                self._flights, site, lambda: self._fetch(site, url, named)
            )
        except errors.ServiceError:
            if rules is None:
                raise
            return rules
        return shared.value  # type: ignore[no-any-return]

    def find_sitemaps(self, url: str) -> tuple[str, ...]:
        """Return the sitemaps that the robots.txt of the site of *url* names, if that
        is kept.
        """
        site = find_origin(url)
        with self._lock:
            return next(
                (
                    rules.sitemaps
                    for (_, of), (rules, _) in self._kept.items()
                    if of == site
                ),
                (),
            )

    def _perform(self, effect: Request | Call) -> Flow[Any]:
        if isinstance(effect, Auxiliary) or not isinstance(effect, Request):
            return (yield effect)
        if not effect.guarded:  # it goes to a service
            return (yield effect)
        delay = yield from hold(effect, self.check(effect.url, effect.headers))
        return (yield replace(effect, crawl_delay=delay))

    def _fetch(self, site: _Site, url: str, headers: Mapping[str, str]) -> Flow[Rules]:
        there = urljoin(url, "/robots.txt")
        with time_limit(_TIMEOUT):
            for hop in range(_MAX_REDIRECTS + 1):
                response = yield from _ask(there, headers, hop)
                location = response.headers.get("location", "")
                if not 300 <= response.status < 400 or not location:
                    return (yield from self._keep(site, response))
                with suppress(ValueError):
                    location = urljoin(there, location)
                if not is_web_url(location):
                    raise errors.BadResponse(
                        "the site's robots.txt redirects to an invalid URL"
                    )
                there = location
        # more redirects count as no file
        return (yield from self._keep(site, Response(status=404)))

    def _keep(self, site: _Site, response: Response) -> Flow[Rules]:
        if response.status >= 500:
            raise errors.Unavailable(
                f"the site answers {response.status} for its robots.txt, so the page "
                f"is not read",
                status=response.status,
            )
        text = ""
        if 200 <= response.status < 300:
            text = response.content.decode("utf-8", "replace")
        if response.truncated:  # the line that the limit cut would mean something else
            text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
        age = self._max_age
        max_age = _MAX_AGE.search(response.headers.get("cache-control", ""))
        if max_age:
            age = min(max(float(max_age[1]), _MIN_AGE), self._max_age)
        parse = partial(Rules, text, self._user_agent)
        rules: Rules
        if len(text) <= _PROMPT:
            rules = parse()
        else:
            rules = yield AuxiliaryCall(parse)
        with self._lock:
            self._drop(site)
            self._kept[site] = rules, time.monotonic() + age
            self._size += 1000 + rules.size
            while self._size > _MAX_KEPT and len(self._kept) > 1:
                self._drop(next(iter(self._kept)))
        return rules

    def _drop(self, site: _Site) -> None:
        entry = self._kept.pop(site, None)
        if entry is not None:
            rules, _ = entry
            self._size -= 1000 + rules.size


def _ask(url: str, headers: Mapping[str, str], hop: int) -> Flow[Response]:
    """Send one request, and name the file in what goes wrong: the page may be fine."""
    try:
        response: Response = yield AuxiliaryRequest(
            url=url, headers=headers, max_bytes=_MAX_BYTES, guarded=True
        )
    except errors.UnsafeURL as error:
        if not hop:  # then the page must not be opened either
            raise
        raise errors.BadResponse(
            "the site's robots.txt redirects to a URL that must not be opened"
        ) from error
    except (errors.Unavailable, errors.TimedOut) as error:
        raise type(error)(
            "the site's robots.txt cannot be fetched, so the page is not read"
        ) from error
    return response


@dataclass(frozen=True)
class Robots(Layer):
    """Read only pages that the ``robots.txt`` of their site allows; others are the
    error `DisallowedByRobots`.

    It follows RFC 9309 (https://www.rfc-editor.org/rfc/rfc9309). Each redirect of a
    page is checked before it is followed; where a service or a browser follows
    redirects itself, the last URL is checked afterwards. A file that does not exist
    (4xx) allows everything, one that cannot be fetched allows nothing: `Unavailable` or
    `TimedOut`. The files are fetched like pages, from public addresses only, and each
    is kept for all pages of its site. A ``Crawl-delay``, up to 30 seconds, is kept by
    `Throttle`.

    Args:
        user_agent: The product token that the rules are looked up for, else those for
            ``*`` apply. Set it to yours if you change the ``user_agent`` of
            `websearch_core.providers.Direct`.
        max_age: Maximum seconds for which a file is kept; a shorter ``max-age`` of the
            site wins.

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
        """Return a function that puts this around a reader; all of them have the same
        files.
        """
        return partial(
            _RobotsProvider, self, RobotsFiles(self.user_agent, self.max_age)
        )


class _RobotsProvider(ProviderWrapper[Robots]):
    def __init__(self, layer: Robots, files: RobotsFiles, inner: Provider) -> None:
        super().__init__(layer, inner)
        self.files = files
        if any(rank_of(part) == Rank.THROTTLE for part in parts(inner)):
            raise errors.ConfigurationError(
                "Robots: a Throttle inside sees no Crawl-delay: write "
                "Throttle()(Robots()(reader))"
            )

    def read(self, url: str, /) -> Flow[Page]:
        if not any(map(needs_network, leaves(self.inner))):
            return (yield from super().read(url))
        return (yield from self.files.read(reader(self.inner), url))

    def read_many(
        self, urls: Sequence[str], /
    ) -> Flow[list[Page | errors.WebSearchError]]:
        checks = [
            contain_bugs(partial(self.files.check, url), self.name) for url in urls
        ]
        checked: list[float | errors.WebSearchError] = yield Gather(checks)
        answers: dict[str, Page | errors.WebSearchError] = {}
        for url, refusal in zip(urls, checked, strict=True):
            if isinstance(refusal, errors.WebSearchError):
                answers[url] = refusal
        allowed = [url for url in urls if url not in answers]
        if not allowed:
            return [answers[url] for url in urls]
        pages = yield from super().read_many(allowed)
        read = zip(allowed, pages, strict=True)
        ends = yield Gather([self.files.check_end(url, page) for url, page in read])
        answers |= zip(allowed, ends, strict=True)
        return [answers[url] for url in urls]
