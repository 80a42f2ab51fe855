"""
For tests of providers: be the server.

A provider is a generator, so a test needs no network and no patching::

    outcome = play(provider.search(query), reply({"results": []}))
    assert outcome.requests[0].params["q"] == "kelp"
    assert outcome.result.results == ()

`play` hands the flow each of the *answers* when it asks for something: a `Response` for a `Request`, an exception to
be raised there, anything for a `Call` or a `Gather`. A key that a `Request` holds is taken out of its `Response`, as
in real life. Pauses take no time; they are recorded.

`search_promises` and `read_promises` are what every provider promises, for those who write one::

    @pytest.mark.parametrize("promise", search_promises(Kagi(api_key=SECRET), some=..., none=...), ids=str)
    def test_kagi_keeps(promise):
        promise()
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel

from . import errors
from ._redaction import redact_response
from .flow import Call, Effect, Flow, Request, Response, Sleep
from .models import Page, SearchQuery, SearchResponse
from .provider import PageReader, SearchProvider

__all__ = [
    "SECRET",
    "Outcome",
    "Promise",
    "play",
    "read_promises",
    "reply",
    "search_promises",
]

_T = TypeVar("_T")

SECRET = "SECRET-of-a-test"  # noqa: S105 - the key that providers under test are given, and must never show


@dataclass(frozen=True)
class Outcome(Generic[_T]):
    """What a flow returned, and all that it asked for on the way."""

    result: _T
    effects: tuple[Effect, ...] = field(default=())

    @property
    def requests(self) -> list[Request]:
        """The requests, in order."""
        return [effect for effect in self.effects if isinstance(effect, Request)]

    @property
    def pauses(self) -> list[float]:
        """The pauses, in seconds, in order."""
        return [effect.seconds for effect in self.effects if isinstance(effect, Sleep)]


def play(flow: Flow[_T], *answers: object) -> Outcome[_T]:
    """
    Drive *flow* to its end with prepared *answers*. A `Call` without one prepared is really done.

    Raises:
        AssertionError: The flow asked for more than was prepared, or ended before all was used.

    """
    waiting = list(answers)
    effects: list[Effect] = []
    try:
        effect = next(flow)
        while True:
            effects.append(effect)
            if isinstance(effect, Sleep):
                effect = next(flow)
                continue
            if isinstance(effect, Call) and not waiting:
                answer = effect()
            else:
                assert waiting, f"the flow asked for one thing more: {effect!r}"
                answer = waiting.pop(0)
            if isinstance(effect, Request) and isinstance(answer, Response):
                answer = redact_response(answer, effect)
            effect = flow.throw(answer) if isinstance(answer, BaseException) else flow.send(answer)
    except StopIteration as stop:
        assert not waiting, f"the flow ended with {len(waiting)} of the answers unused"
        return Outcome(stop.value, tuple(effects))
    finally:
        flow.close()


def reply(body: object = b"", status: int = 200, **headers: str) -> Response:
    """Make a `Response`: *body* as it is if it is text or bytes, else as JSON. ``retry_after`` names Retry-After."""
    if isinstance(body, str):
        body = body.encode()
    kind = "text/html" if isinstance(body, bytes) else "application/json"
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    names = {name.replace("_", "-").lower(): value for name, value in headers.items()}
    return Response(status=status, headers={"content-type": kind, **names}, content=content)


@dataclass(frozen=True)
class Promise:
    """One thing that a provider promises; calling it checks it, with an AssertionError if it is broken."""

    says: str
    check: Callable[[], None]

    def __str__(self) -> str:
        return self.says

    def __call__(self) -> None:
        """Check it."""
        self.check()


_OPTIONS: Mapping[str, Any] = {
    "allowed_domains": ["a.example"],
    "blocked_domains": ["b.example"],
    "time_range": "week",
    "after": "2026-01-01",
    "before": "2026-06-30",
    "country": "GB",
    "language": "en",
    "safe_search": "strict",
    "topic": "news",
    "page": 2,
}
_STATUSES: Mapping[int, tuple[type[errors.ServiceError], ...]] = {
    302: (errors.ServiceError,),
    400: (errors.BadRequest,),
    401: (errors.AuthenticationError,),
    402: (errors.QuotaExhausted,),
    403: (errors.AuthenticationError, errors.Blocked),
    404: (errors.BadResponse, errors.PageNotFound),
    422: (errors.BadRequest,),
    429: (errors.RateLimited,),
    500: (errors.Unavailable,),
    502: (errors.Unavailable,),
    503: (errors.Unavailable,),
    504: (errors.Unavailable,),
}
_GARBAGE = [b"", b"<html><p>Log in", b"[]", b"null", b'"x"', b'{"results": 3}', b'{"results": [{"ti', b"[" * 100_000]


def search_promises(provider: SearchProvider, *, some: Response, none: Response) -> list[Promise]:
    """
    Return what a search provider over HTTP promises.

    Args:
        provider: Made with the key `SECRET`, if it takes one.
        some: An answer of its service with at least one result.
        none: An answer of its service without any.

    """
    search = partial(_search, provider)
    return [
        Promise("finds what is there", lambda: _finds(provider, search(some))),
        Promise("finds nothing without failing", lambda: _same((), search(none).results)),
        Promise("asks its own service alone", lambda: _asks_its_own(provider, _first(provider))),
        Promise("never shows its key", lambda: _keeps_its_key(provider, _first(provider))),
        *_no_echo(provider, lambda: _first(provider), search, some),
        Promise("sends extra parameters verbatim", lambda: _sends_extra(provider)),
        *(Promise(f"tells what {status} means", partial(_means, search, status)) for status in _STATUSES),
        *(Promise(f"refuses {body[:20]!r}", partial(_refuses, search, body)) for body in _GARBAGE),
        *(Promise(f"drops no {option} in silence", partial(_no_silence, provider, option)) for option in _OPTIONS),
    ]


def read_promises(reader: PageReader, *, some: Response) -> list[Promise]:
    """
    Return what a page reader over HTTP promises.

    Args:
        reader: Made with the key `SECRET`, if it takes one.
        some: An answer that holds a page.

    """
    url = "https://page.example/a?b=c"

    def read(response: Response) -> Page:
        page: Page = play(reader.read(url), response).result
        return page

    def first() -> Request:
        effect = next(reader.read(url))
        assert isinstance(effect, Request)
        return effect

    def reads() -> None:
        page = read(some)
        assert page.content
        assert (page.url, page.provider) == (url, reader.name)
        assert not page.truncated

    def is_guarded() -> None:
        request = first()
        assert request.guarded or request.target == url, "neither guarded nor a target for the guard to look at"

    def is_judged() -> None:
        made: Any = reader  # a dataclass, as `provider` makes them
        request = next(replace(made, base_url="https://inside.example").read(url))
        assert isinstance(request, Request)
        assert request.judge_target, "a server of one's own may stand inside: see `is_vendor`"
        assert not first().judge_target, "what the vendor's own server can reach is not ours to judge"

    statuses = [status for status in _STATUSES if status != 302]
    return [
        Promise("reads what is there", reads),
        Promise("lets the guard see the URL", is_guarded),
        *(
            [Promise("has pages judged before another server reads them", is_judged)]
            if hasattr(reader, "base_url")
            else []
        ),
        Promise("never shows its key", lambda: _keeps_its_key(reader, first())),
        *_no_echo(reader, first, read, some),
        *(Promise(f"tells what {status} means", partial(_means, read, status)) for status in statuses),
    ]


def _first(provider: Any, **options: Any) -> Request:
    effect = next(provider.search(SearchQuery.of("kelp", **options)))
    assert isinstance(effect, Request), "a search begins with a request"
    return effect


def _search(provider: Any, response: Response) -> SearchResponse:
    found: SearchResponse = play(provider.search(SearchQuery.of("kelp", limit=1)), response).result
    return found


def _same(expected: Any, found: Any) -> None:
    assert expected == found, f"{found!r} instead of {expected!r}"


def _finds(provider: Any, response: SearchResponse) -> None:
    assert response.results, "no result"
    assert response.provider == provider.name
    for result in response.results:
        assert urlsplit(result.url).scheme in {"http", "https"}, f"not an absolute URL: {result.url!r}"
        assert result.title, "a result without title"
        assert result.provider == provider.name
        assert result.raw, "what the service said is not kept"


def _asks_its_own(provider: Any, request: Request) -> None:
    assert request.url.startswith(provider.base_url), f"asks {request.url}, not {provider.base_url}"
    assert not request.guarded, "the guard is for pages"


def _keeps_its_key(provider: Any, request: Request) -> None:
    for shown in (repr(provider), str(provider), repr(request), request.url, str(request.params), str(request.json)):
        assert SECRET not in shown, "the key shows"


def _no_echo(
    provider: Any, first: Callable[[], Request], ask: Callable[[Response], Any], some: Response
) -> list[Promise]:
    """Return the promise that a key is redacted where the service repeats it; none for a provider without a key."""

    def check(repeated: str) -> None:
        assert SECRET in str(first().headers), "the key does not travel in a header"
        try:
            told = ask(_repeating(some, repeated))
        except errors.ServiceError as error:  # a service's own words may steer its provider, and are changed here
            told = error
        said = [repr(told), str(told)]
        if isinstance(told, BaseModel):
            said += [told.model_dump_json(), *(repr(result.raw) for result in getattr(told, "results", ()))]
        shown = [text for text in said if repeated in text]
        assert not shown, f"an echoed key shows: its header has to be named for a key, token or secret: {shown}"

    if getattr(provider, "api_key", None) is None:
        return []
    spellings = {"": SECRET, " in base64": b64encode(SECRET.encode()).decode().rstrip("=")}
    return [Promise(f"redacts an echoed key{how}", partial(check, spelling)) for how, spelling in spellings.items()]


def _repeating(some: Response, key: str) -> Response:
    """Put *key* at the end of every text of an answer."""

    def with_key(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: with_key(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [with_key(inner) for inner in value]
        return f"{value}{key}" if isinstance(value, str) else value

    try:
        content = json.dumps(with_key(some.json())).encode()
    except ValueError:
        content = re.sub(rb"(?<=>)([^<>]*\w)(?=<)", rb"\1" + key.encode(), some.content)
    return replace(some, content=content, headers={**some.headers, "x-echo": key})


def _sends_extra(provider: Any) -> None:
    request = _first(provider, extra={"x_of_its_own": "y"})
    sent = {**request.params, **(request.form or {}), **(request.json or {})}
    assert sent.get("x_of_its_own") == "y", "the extra parameter is missing"


def _means(ask: Callable[[Response], Any], status: int) -> None:
    echo = {"error": f"no {SECRET}", "detail": {"error": f"no {SECRET} {'x' * 5000}"}}
    answer = replace(reply(echo, status), headers={"content-type": "application/json", "retry-after": "7"})
    try:
        ask(answer)
    except errors.ServiceError as error:
        assert isinstance(error, _STATUSES[status]), f"{status} is {type(error).__name__}"
        assert error.status == status
        assert error.temporary is (status == 429 or status >= 500), f"{status}: temporary is {error.temporary}"
        assert status != 429 or error.retry_after == 7, "Retry-After is lost"
        assert SECRET not in f"{error}{error!r}{error.detail}", "the key shows"
        assert "xxx" not in str(error), "the service's words are in the message: they belong in detail"
        assert len(str(error)) + len(error.detail or "") < 500, "the service's words are not bounded"
    else:
        raise AssertionError(f"{status} passes for success")


def _refuses(ask: Callable[[Response], Any], body: bytes) -> None:
    try:
        ask(reply(body))
    except errors.BadResponse:
        return
    raise AssertionError("garbage passes for an answer")


def _no_silence(provider: Any, option: str) -> None:
    supported: frozenset[str] = getattr(provider, "options", frozenset())
    company = {"language": "en"} if option == "country" and "language" in supported else {}
    try:
        asked = _first(provider, **{option: _OPTIONS[option]}, **company)
    except errors.UnsupportedOption as error:
        assert option in error.options, "the error does not name the option"
        assert option not in supported, "an option it says it supports"
        return
    assert option in supported, "an option it does not say it supports"
    # A page may be reached only through the ones before it; then it is no part of the first request.
    assert option == "page" or asked != _first(provider, **company), "the option makes no difference"
