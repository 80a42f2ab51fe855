"""A visit of one page: the requests that reading it takes, and the cookies that its
sites set meanwhile.

Many sites answer the first request with a cookie and a redirect, and wait for that
cookie. It goes back to them during this visit, as from a private window, and is
forgotten with it.
"""

from __future__ import annotations
import re
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import replace
from email.message import Message
from http.cookiejar import CookieJar
from types import SimpleNamespace
from typing import Any, TypeVar, cast

from .._text.markup import ends_html
from .._text.media_types import HTML
from .._text.urls import find_origin, serialize
from ..errors import (
    BadResponse,
    DisallowedByRobots,
    ServiceError,
    UnsafeURL,
    UnsupportedContent,
    WebSearchError,
)
from ..flow import Call, Flow, Request, Response
from ..flow._intercept import Auxiliary, intercept
from ..models import Page
from ._reading import with_text

T = TypeVar("T")

MAX_REQUESTS = 30
_MAX_FRAMES = 6
_LEADS_ON = re.compile(rb"http-equiv\s*+=\s*+(?:[\"']\s*+)?refresh|<frameset\b")
_MAX_LEAD_SIZE = 100_000  # bytes of the HTML of a page that only leads elsewhere
_MAX_LENGTH = 4096  # characters of a cookie, and twice as many of those in a request


class Visit:
    """What happens while *reader* reads a page."""

    def __init__(self, reader: str) -> None:
        self._reader = reader
        self._requests = 0
        self._jar: CookieJar | None = None

    def run(self, flow: Flow[T]) -> Flow[T]:
        """Run *flow*, which reads the page."""
        return (yield from intercept(flow, self._perform))

    def _perform(self, effect: Request | Call) -> Flow[Any]:
        if isinstance(effect, Auxiliary) or not isinstance(effect, Request):
            return (yield effect)
        self._requests += 1
        if self._requests > MAX_REQUESTS:
            raise BadResponse(
                f"{self._reader} read failed: the page takes more than {MAX_REQUESTS} "
                "requests",
                provider=self._reader,
            )
        request = effect
        if self._jar is not None:
            request = _add_cookies(self._jar, request)
        response: Response = yield request
        if "set-cookie" in response.headers:
            self._keep_cookies(request.url, response)
        return response

    def _keep_cookies(self, url: str, response: Response) -> None:
        message = Message()
        for cookie in response.headers["set-cookie"].split("\n"):
            if len(cookie) <= _MAX_LENGTH:
                message["Set-Cookie"] = cookie
        if self._jar is None:
            self._jar = CookieJar()
        answer = SimpleNamespace(info=lambda: message)
        self._jar.extract_cookies(cast("Any", answer), _as_urllib(url))


def _add_cookies(jar: CookieJar, request: Request) -> Request:
    bearer = _as_urllib(request.url)
    jar.add_cookie_header(bearer)
    cookies = bearer.get_header("Cookie")
    if not cookies or len(cookies) > 2 * _MAX_LENGTH:
        return request
    return replace(request, headers={**request.headers, "Cookie": cookies})


def _as_urllib(url: str) -> urllib.request.Request:
    """Return a request that the jar understands; nothing is sent with it."""
    return urllib.request.Request(url)  # noqa: S310 - see above


def lacks_its_end(response: Response, size: int) -> bool:
    """Return whether less than a page of *size* bytes arrived, and no more came."""
    if not response.truncated or len(response.content) >= size:
        return False
    return not ends_html(response.content)


def ask_again(request: Request, response: Response) -> Flow[Response]:
    """Return the answer to *request* if more arrives this time; else *response*."""
    try:
        again: Response = yield request
    except ServiceError:
        return response
    is_whole = again.status == response.status and not again.truncated
    if is_whole or len(again.content) > len(response.content):
        return again
    return response


def may_send_on(response: Response) -> bool:
    """Return whether the response may be a page that only leads elsewhere; quick, and
    rarely wrong.
    """
    if response.status >= 300 or response.media_type not in {"", *HTML}:
        return False
    if len(response.content) > _MAX_LEAD_SIZE:
        return False
    if "refresh" in response.headers:
        return True
    source = response.content.replace(b"\x00", b"").lower()
    return _LEADS_ON.search(source) is not None


def read_frames(
    page: Page, urls: Sequence[str], read: Callable[[str], Flow[Page]]
) -> Flow[Page]:
    """Return *page*, which consists of the frames at *urls*, with their texts.

    As in a browser, those of another site are left out. One that cannot be read is a
    note; if none can, the error of the first is raised.
    """
    texts: list[str] = []
    links = [*urls]
    notes: list[str] = []
    problems: list[WebSearchError] = []
    here = [url for url in urls if find_origin(url) == find_origin(page.final_url)]
    for url in here[:_MAX_FRAMES]:
        try:
            frame = yield from read(url)
        except (ServiceError, UnsafeURL, DisallowedByRobots) as error:
            problems.append(error)
            notes.append(f"a frame could not be read: {error.code}")
            continue
        texts.append(frame.content.strip("\n"))
        links += frame.links
        notes += frame.notes
    if problems and not texts:
        raise problems[0]
    if not texts:
        raise UnsupportedContent("the page has only frames of other sites")
    left_out = len(urls) - len(here[:_MAX_FRAMES])
    if left_out:
        notes.append(f"frames left out: {left_out}, of other sites or too many")
    return with_text(
        page,
        "\n\n".join(texts),
        links=tuple(dict.fromkeys(links)),
        notes=tuple(dict.fromkeys(notes)),
    )


def find_secure(target: str, url: str) -> str | None:
    """Return the https URL of *target*, on the same host as *url*; None if that is
    *url*, or there is none.
    """
    origin = find_origin(target)
    here = find_origin(url)
    if origin is None or here is None:
        return None
    if (origin[1], origin[2], here[2]) != (here[1], 80, 443):
        return None
    secure = "https" + serialize(target).removeprefix("http")
    return None if serialize(url) == secure else secure
