"""What HTTP says about a page: for how long it holds, and how to ask whether it has
changed (RFC 9110 and 9111).

The cache is a private one in the sense of RFC 9111, since its entries belong to one
tenant: ``private`` pages are kept, and ``s-maxage`` and ``proxy-revalidate`` do not
count. What a site says only shortens the times of the `Cache`.

Only a flow that fetches pages itself is watched, by its guarded requests. It need not
know about validators: a request that it makes gets them, and if the answer is 304, the
flow is closed, since the page in the cache holds.
"""

from __future__ import annotations
import re
import time
from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, StringConstraints

from ..._text.rates import parse_http_date
from ...flow import Flow, Request, Response
from ...flow._intercept import Auxiliary, intercept

T = TypeVar("T")

_SUCCESSES = {200, 203}
# what other answers say is about a failure
_KEPT = {*_SUCCESSES, 301, 302, 303, 307, 308, 404, 410}
UNCHANGED = 304
# headers of requests without a secret
_HARMLESS = {"accept", "accept-encoding", "accept-language", "user-agent"}
_DIRECTIVE = re.compile(
    r"""([!#$%&'*+.^`|~\w-]+)(?:[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|[^\s,;]*))?"""
)
_ETAG = r"^(?:W/)?\"[\x21\x23-\x7e]{0,500}\"$"
_DATE = r"^[A-Za-z0-9,:+ -]{1,60}$"


class Validators(BaseModel):
    """What to ask a site with, whether a page has changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str  # the one that answered with the page, after redirects
    etag: Annotated[str, StringConstraints(pattern=_ETAG)] | None = None
    last_modified: Annotated[str, StringConstraints(pattern=_DATE)] | None = None
    # the headers of the request on which the answer depended, with their values
    vary: dict[str, str] = {}

    @classmethod
    def of(cls, request: Request, response: Response) -> Validators | None:
        """Return those of *response*, if it has any."""
        vary = find_vary(response.headers)
        etag = _match(_ETAG, response.headers.get("etag", ""))
        modified = _match(_DATE, response.headers.get("last-modified", ""))
        if vary is None or not vary <= _HARMLESS:
            return None
        if not etag and not modified:
            return None
        return cls(
            url=request.url,
            etag=etag,
            last_modified=modified,
            vary=_select(request, vary),
        )

    def add_to(self, request: Request) -> Request | None:
        """Return *request* with them, or None if it asks for something else, or has
        validators already.
        """
        if "If-None-Match" in request.headers or "If-Modified-Since" in request.headers:
            return None
        if request.url != self.url or _select(request, self.vary) != self.vary:
            return None
        asking = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        headers = {
            **request.headers,
            **{name: value for name, value in asking.items() if value},
        }
        return replace(request, headers=headers)


class Lifetime(NamedTuple):
    """How long a response may be given, as its site says; ``inf`` if it does not
    say.
    """

    fresh: float = inf  # seconds from now in which it may be given without asking
    stale: float = inf  # seconds after that in which it may be given if the site fails
    is_storable: bool = True

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> Lifetime:
        """Return what the headers of a response say, with names in lower case."""
        directives = _parse_directives(headers.get("cache-control", ""))
        fresh = inf
        if "max-age" in directives:
            fresh = _as_seconds(directives["max-age"]) - _find_age(headers)
        elif "expires" in headers:
            now = parse_http_date(headers.get("date", "")) or time.time()
            end = parse_http_date(headers["expires"]) or 0.0
            fresh = end - now - _find_age(headers)
        is_never_fresh = directives.get("no-cache") == ""
        if is_never_fresh or find_vary(headers) is None:
            fresh = 0.0
        stale = inf
        if is_never_fresh or "must-revalidate" in directives:
            stale = 0.0
        elif "stale-if-error" in directives:
            stale = _as_seconds(directives["stale-if-error"])
        return cls(max(fresh, 0.0), stale, "no-store" not in directives)

    def __or__(self, other: object) -> Lifetime:
        """Return the shorter of two: a page that came over redirects depends on
        each.
        """
        assert isinstance(other, Lifetime)
        both = self.is_storable and other.is_storable
        return Lifetime(
            min(self.fresh, other.fresh), min(self.stale, other.stale), both
        )


class NotModified(BaseException):
    """The site says that the page in the cache holds. Not an `Exception`, so that no
    flow takes it for a failure.
    """


class Watch:
    """Watches how a page is fetched; *validators* are those of the page in the cache,
    if there is one.
    """

    def __init__(self, validators: Validators | None = None) -> None:
        self._earlier = validators
        self._seen: list[tuple[Request, Response]] = []

    @property
    def lifetime(self) -> Lifetime:
        """How long the page may be given."""
        lifetime = Lifetime()
        for request, response in self._seen:
            if response.status in {*_KEPT, UNCHANGED}:
                lifetime |= Lifetime.of(response.headers)
            # the end is missing, and may be there the next time
            if response.truncated and len(response.content) < request.max_bytes:
                lifetime |= Lifetime(is_storable=False)
        return lifetime

    @property
    def validators(self) -> Validators | None:
        """How to ask whether the page has changed; None if it was made of several
        responses, or of none.
        """
        made_of = [pair for pair in self._seen if pair[1].status in _SUCCESSES]
        if len(made_of) != 1:
            return None
        return Validators.of(*made_of[0])

    def watch(self, flow: Flow[T]) -> Flow[T]:
        """Run *flow*, and raise `NotModified` if the page has not changed."""
        return (yield from intercept(flow, self._fetch))

    def _fetch(self, request: Any) -> Flow[Any]:
        if not _fetches_page(request):
            return (yield request)
        conditional = self._earlier.add_to(request) if self._earlier else None
        response: Response = yield conditional or request
        self._seen.append((request, response))
        if conditional and response.status == UNCHANGED:
            raise NotModified
        return response


def find_vary(headers: Mapping[str, str]) -> set[str] | None:
    """Return the names in ``Vary``, in lower case; None for ``*``, with which no other
    request gets this response.
    """
    names = {name.strip().lower() for name in headers.get("vary", "").split(",")} - {""}
    return None if "*" in names else names


def _fetches_page(effect: object) -> bool:
    """Return whether *effect* is a request of the reader for a page: not of a layer, to
    a service or by a browser.
    """
    if isinstance(effect, Auxiliary) or not isinstance(effect, Request):
        return False
    if not effect.guarded or effect.method != "GET":
        return False
    has_body = effect.json is not None or effect.form is not None
    return effect.transport is None and not has_body


def _select(request: Request, names: set[str] | Mapping[str, str]) -> dict[str, str]:
    values = {name.lower(): value for name, value in request.headers.items()}
    return {name: values.get(name, "") for name in sorted(names)}


def _match(pattern: str, value: str) -> str | None:
    return value if re.fullmatch(pattern, value) else None


def _parse_directives(text: str) -> dict[str, str]:
    """Return the directives with their values; of one that occurs twice, the first, as
    RFC 9111 recommends.
    """
    directives: dict[str, str] = {}
    for name, value in _DIRECTIVE.findall(text):
        directives.setdefault(name.lower(), value.strip('"'))
    return directives


def _as_seconds(text: str | None) -> float:
    """Return delta-seconds; 0 for anything else, since what is invalid is to be taken
    as stale.
    """
    if text is None or not re.fullmatch("[0-9]+", text):
        return 0.0
    return float(text[:10])


def _find_age(headers: Mapping[str, str]) -> float:
    """Return the first of a list in ``Age``, as RFC 9111, 5.1 says."""
    return _as_seconds(headers.get("age", "").partition(",")[0].strip())
