"""The promises of a provider, which hold for built-in ones and for those of other
packages.
"""

from __future__ import annotations
import asyncio
import copy
import itertools
import json
import pickle
import re
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from pydantic import BaseModel

from .. import errors
from .._text.urls import is_web_url
from ..client._enforce import enforce_page, enforce_query
from ..errors import WebSearchError
from ..flow import Flow, Request, Response, arun, run
from ..flow._redaction import redact_response
from ..models import Page, SearchQuery, SearchResponse
from ..provider import PageReader, SearchProvider
from ..provider._declare import check_limits, destinations, is_vendor
from ._play import SECRET, play, reply

_MAX_REQUESTS = 25  # of one call: more, and it would go on forever
_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1e400, 10**400, "", "x", "\x00\ud800\u202e",
    "javascript:alert(1)", "http://[", "https://a.example@b",
    "//host", [], [None], [[]], ["x"], {}, {"": None}, {"url": 3, "title": []},
)  # fmt: skip
MISSING = object()
_MAX_PATHS = 400
_CUTS = 64  # places at which a text that is not JSON is cut


@dataclass(frozen=True)
class Check:
    """One promise of a provider; calling it checks it, with an AssertionError if it is
    broken.
    """

    says: str
    check: Callable[[], None]

    def __str__(self) -> str:
        return self.says

    def __call__(self) -> None:
        self.check()


_OPTIONS: Mapping[str, Any] = {
    "allowed_domains": ["a.example"], "blocked_domains": ["b.example"],
    "time_range": "week", "after": "2026-01-01",
    "before": "2026-06-30", "country": "GB", "language": "de", "safe_search": "strict",
    "topic": "news", "images": True,
    "page": 2,
}  # fmt: skip
_PAGE_URL = "https://page.example/a?b=c"
_Kinds: TypeAlias = tuple[type[errors.ServiceError], ...]
_Meanings: TypeAlias = Mapping[int, _Kinds]
_STATUSES: _Meanings = {
    302: (errors.ServiceError,),
    400: (errors.BadRequest,),
    401: (errors.AuthenticationError,),
    402: (errors.QuotaExhausted,),
    403: (errors.AuthenticationError, errors.Blocked),
    404: (errors.BadResponse, errors.PageNotFound),
    422: (errors.BadRequest,),
    429: (errors.RateLimited,),
    **dict.fromkeys((500, 502, 503, 504), (errors.Unavailable,)),
}
_PAGE_STATUSES: _Meanings = {  # of a page that we open ourselves
    **_STATUSES,
    **dict.fromkeys((401, 402), (errors.AccessDenied,)),
    403: (errors.AccessDenied, errors.Blocked),
    404: (errors.PageNotFound,),
}
_GARBAGE = [
    b"",
    b"<html><p>Log in",
    b"[]",
    b"null",
    b'"x"',
    b'{"results": [{"ti',
    b"[" * 100_000,
]


def search_checks(
    provider: SearchProvider,
    *,
    some: Response,
    none: Response,
    failures: Sequence[Response] = (),
    markup: bool = True,
) -> list[Check]:
    """Return the promises of a search provider that uses HTTP.

    Args:
        provider: The provider, made with the key `SECRET` if it takes one.
        some: A response of its service with at least one result.
        none: A response of its service without results.
        failures: Responses in which its service reports a failure: a key that is wrong,
            an account that is empty. Each is also tried under a status of success, and
            has to be an error there, not an empty answer.
        markup: Whether the service may send HTML in titles and snippets. False for
            plain text, in which ``<code>`` is a word.
    """
    search = partial(_search, provider)
    start = partial(_start_search, provider)
    checks = [
        Check("finds results", lambda: _check_results(provider, search(some))),
        Check("finds nothing without failing", lambda: _check_empty(search(none))),
        Check("calls only its own service", lambda: _check_address(provider, start())),
        Check("never shows its key", lambda: _check_key_is_hidden(provider, start())),
        *_make_echo_checks(provider, start, search, some),
        Check("sends extra parameters verbatim", partial(_check_extra, provider)),
        *_make_status_checks(provider, search, _STATUSES),
    ]
    for body in _GARBAGE:
        check = partial(_check_garbage, search, body)
        checks.append(Check(f"refuses {body[:20]!r}", check))
    for option in _OPTIONS:
        check = partial(_check_option, provider, option)
        checks.append(Check(f"never drops {option} silently", check))
    if markup:
        check = partial(_check_markup, search, some)
        checks.append(Check("returns text without markup", check))
    check = partial(_check_limits, search, some)
    checks.append(Check("keeps limit and filters", check))
    for failure in failures:
        says = f"takes no answer of a failure for results: {failure.content[:40]!r}"
        checks.append(Check(says, partial(_check_failure, search, failure)))

    query = SearchQuery.of("kelp", limit=1)
    return checks + _make_robust_checks(
        provider,
        lambda: provider.search(query),
        some,
        check=partial(_check_each, provider),
    )


def read_checks(
    reader: PageReader, *, some: Response, later: Sequence[Response] = ()
) -> list[Check]:
    """Return the promises of a page reader that uses HTTP.

    Args:
        reader: The reader, made with the key `SECRET` if it takes one.
        some: A response that contains a page.
        later: The responses after *some*, for a reader that needs several.
    """
    start = partial(_start_read, reader)

    def read(response: Response) -> Page:
        more = later if response is some else ()
        page: Page = play(reader.read(_PAGE_URL), response, *more).result
        return page

    meanings = _PAGE_STATUSES if start().guarded else _STATUSES
    # A redirect is for our own client to follow.
    statuses = {status: meanings[status] for status in meanings if status != 302}
    checks = [
        Check("reads a page", lambda: _check_whole_page(reader, read(some))),
        Check("lets the guard see the URL", lambda: _check_guard(start())),
    ]
    if hasattr(reader, "base_url"):
        says = "has pages judged before another server reads them"
        checks.append(Check(says, partial(_check_judging, reader)))
    return [
        *checks,
        Check("never shows its key", lambda: _check_key_is_hidden(reader, start())),
        *_make_echo_checks(reader, start, read, some),
        *_make_status_checks(reader, read, statuses),
        *_make_robust_checks(
            reader,
            lambda: reader.read(_PAGE_URL),
            some,
            check=partial(_check_page, reader),
        ),
    ]


def _start_read(reader: PageReader) -> Request:
    effect = next(reader.read(_PAGE_URL))
    assert isinstance(effect, Request)
    return effect


def _check_page(reader: PageReader, page: Page) -> None:
    assert (page.url, page.provider) == (_PAGE_URL, reader.name)
    assert is_web_url(enforce_page(page).final_url)
    assert page.content.strip(), "a page without text is a success"


def _check_whole_page(reader: PageReader, page: Page) -> None:
    _check_page(reader, page)
    assert not page.truncated


def _check_guard(request: Request) -> None:
    assert request.guarded or request.target == _PAGE_URL, (
        "neither guarded nor a target for the guard to check"
    )


def _check_judging(reader: Any) -> None:  # a dataclass, as `provider` makes them
    request = _start_read(replace(reader, base_url="https://inside.example"))
    assert request.judge_target, (
        "your own server may be inside this network: see `is_vendor`"
    )
    if is_vendor(reader):
        assert not _start_read(reader).judge_target, (
            "the vendor's own server is outside: do not judge its targets"
        )


def _start_search(provider: Any, **options: Any) -> Request:
    effect = next(provider.search(SearchQuery.of("kelp", **options)))
    assert isinstance(effect, Request), "a search begins with a request"
    return effect


def _search(provider: Any, response: Response) -> SearchResponse:
    query = SearchQuery.of("kelp", limit=1)
    answer: SearchResponse = play(provider.search(query), response).result
    return answer


def _check_empty(response: SearchResponse) -> None:
    assert response.results == (), f"{response.results!r} instead of no results"


def _check_results(provider: Any, response: SearchResponse) -> None:
    assert response.results, "no result"
    _check_each(provider, response)
    assert response.raw, "`raw` is empty: keep the service's own answer"
    assert all(result.raw for result in response.results), (
        "`raw` is empty: keep the service's own record"
    )


def _check_each(provider: Any, response: SearchResponse) -> None:
    assert response.provider == provider.name
    # the types of everything are right, also in copies
    response.model_validate(response.model_dump())
    response.model_dump_json()
    for result in response.results:
        assert is_web_url(result.url), f"not a safe absolute URL: {result.url!r}"
        assert result.title, "a result without a title"
        assert result.provider == provider.name
    for image in response.images:
        assert is_web_url(image.url), f"not a safe absolute URL: {image.url!r}"


def _change_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return decoded JSON with another text in the place of each."""
    if isinstance(value, dict):
        return {name: _change_texts(inner, change) for name, inner in value.items()}
    if isinstance(value, list):
        return [_change_texts(inner, change) for inner in value]
    return change(value) if isinstance(value, str) else value


def _check_markup(search: Callable[[Response], SearchResponse], some: Response) -> None:
    def add_markup(text: str) -> str:
        if " " not in text:
            return text
        return f"<b>{text}</b> &amp; <span class='x'>more</span>"

    try:
        content = json.dumps(_change_texts(some.json(), add_markup)).encode()
    except ValueError:
        return  # HTML or XML: its markup is the format itself
    for result in search(replace(some, content=content)).results:
        assert not re.search(r"<b>|</?span|&amp;", result.title + result.snippet), (
            f"markup is left in {result!r}"
        )


def _check_limits(search: Callable[[Response], SearchResponse], some: Response) -> None:
    """Check what `WebSearch` makes of the results, whatever the service returns."""
    response = search(some)
    first = enforce_query(response, SearchQuery.of("kelp", limit=1))
    assert len(first.results) == 1, "the limit is not kept"
    url = response.results[0].url
    query = SearchQuery.of("kelp", blocked_domains=[urlsplit(url).hostname or ""])
    others = enforce_query(response, query).results
    assert url not in [result.url for result in others], "a filter is not kept"


def _make_robust_checks(
    provider: Any,
    start: Callable[[], Flow[Any]],
    some: Response,
    *,
    check: Callable[[Any], None],
) -> list[Check]:
    return [
        Check(
            "survives garbage anywhere in an answer",
            lambda: check_garbage(start, some, check),
        ),
        Check(
            "answers blocking and async calls alike", lambda: check_modes(start, some)
        ),
        Check("can be pickled without its key", lambda: check_copies(provider)),
        Check(
            "links the documentation of its API", lambda: check_documentation(provider)
        ),
        Check("names its limits as `Limits` does", lambda: _check_names(provider)),
    ]


def _check_address(provider: Any, request: Request) -> None:
    own = tuple(destinations(provider).values())
    assert request.url.startswith(own), f"asks {request.url}, not {' or '.join(own)}"
    assert not request.guarded, "the guard is for pages"


def _check_key_is_hidden(provider: Any, request: Request) -> None:
    texts = [repr(provider), str(provider), repr(request), request.url]
    texts += [str(request.params), str(request.json)]
    assert SECRET not in "\n".join(texts), "the key shows"


def _make_echo_checks(
    provider: Any,
    first: Callable[[], Request],
    ask: Callable[[Response], Any],
    some: Response,
) -> list[Check]:
    """Return promises that a key repeated by the service is redacted; none for a
    provider without a key.
    """

    def check(spelling: str) -> None:
        request = first()
        assert SECRET in f"{request.headers}{request.secret_params}", (
            "the key travels in no header or secret parameter"
        )
        try:
            outcome = ask(_echo_key(some, spelling))
        except errors.ServiceError as error:
            # a provider may parse the service's texts, which are changed here
            outcome = error
        texts = [repr(outcome), str(outcome)]
        if isinstance(outcome, BaseModel):
            texts.append(outcome.model_dump_json())
        texts += [repr(result.raw) for result in getattr(outcome, "results", ())]
        leaks = [text for text in texts if spelling in text]
        assert not leaks, (
            "an echoed key shows: the name of its header must contain key, token or "
            f"secret: {leaks}"
        )

    if getattr(provider, "api_key", None) is None:
        return []
    spellings = {
        "": SECRET,
        " in base64": b64encode(SECRET.encode()).decode().rstrip("="),
    }
    return [
        Check(f"redacts an echoed key{how}", partial(check, spelling))
        for how, spelling in spellings.items()
    ]


def _make_status_checks(
    provider: Any, ask: Callable[[Response], Any], meanings: _Meanings
) -> list[Check]:
    return [
        Check(
            f"understands status {status}",
            partial(_check_status, provider, ask, status, kinds),
        )
        for status, kinds in meanings.items()
    ]


def _echo_key(some: Response, key: str) -> Response:
    """Append *key* to every text of a response."""
    try:
        body = _change_texts(some.json(), lambda text: f"{text}{key}")
        content = json.dumps(body).encode()
    except ValueError:
        content = re.sub(rb"(?<=>)([^<>]*\w)(?=<)", rb"\1" + key.encode(), some.content)
    return replace(some, content=content, headers={**some.headers, "x-echo": key})


def _check_extra(provider: Any) -> None:
    request = _start_search(provider, extra={"x_of_its_own": "y"})
    parameters = {**request.params, **(request.form or {}), **(request.json or {})}
    assert parameters.get("x_of_its_own") == "y", "the extra parameter is missing"


def _check_status(
    provider: Any, ask: Callable[[Response], Any], status: int, kinds: _Kinds
) -> None:
    key = "key" if getattr(provider, "api_key", None) is None else SECRET
    echo = {"error": f"no {key}", "detail": {"error": f"no {key} {'x' * 5000}"}}
    answer = reply(echo, status, retry_after="7")
    try:
        ask(answer)
    except errors.ServiceError as error:
        _check_error(error, status, kinds)
    else:
        raise AssertionError(f"{status} is treated as success")


def _check_error(error: errors.ServiceError, status: int, kinds: _Kinds) -> None:
    assert isinstance(error, kinds), f"{status} is {type(error).__name__}"
    assert error.status == status
    assert error.temporary is (status == 429 or status >= 500), (
        f"{status}: temporary is {error.temporary}"
    )
    assert status != 429 or error.retry_after == 7, "Retry-After is lost"
    assert SECRET not in f"{error}{error!r}{error.detail}", "the key shows"
    assert "xxx" not in str(error), (
        "the service's words are in the message: they belong in detail"
    )
    assert len(str(error)) + len(error.detail or "") < 500, (
        "the service's words are not bounded"
    )


def _check_failure(
    search: Callable[[Response], SearchResponse], failure: Response
) -> None:
    for status in dict.fromkeys((failure.status, 200)):
        try:
            search(replace(failure, status=status))
        except errors.ServiceError:
            continue
        raise AssertionError(
            f"under status {status}, this is taken for an answer without results: give "
            f"`decode` the path of the service's code, as in code='error.code'"
        )


def _check_names(provider: Any) -> None:
    try:
        check_limits(provider)
    except errors.ConfigurationError as error:
        raise AssertionError(str(error)) from error


def _check_garbage(ask: Callable[[Response], Any], body: bytes) -> None:
    try:
        ask(reply(body))
    except errors.BadResponse:
        return
    raise AssertionError("garbage is treated as an answer")


def _check_option(provider: Any, option: str) -> None:
    supported: frozenset[str] = getattr(provider, "options", frozenset())
    others: dict[str, Any] = {}
    if option == "country" and "language" in supported:
        others["language"] = "en"
    value = _OPTIONS[option]
    if option == "topic":
        value = min(getattr(provider, "topics", {value}))
    try:
        request = _start_search(provider, **{option: value}, **others)
    except errors.UnsupportedOption as error:
        assert option in error.options, "the error does not name the option"
        assert option not in supported, "the option is declared as supported"
        return
    assert option in supported, "the option is not declared as supported"
    # A page may be reachable only through the previous ones, and images may take
    # another request: then they are not in the first one. A service that has nothing
    # but papers or code needs no parameter for them.
    if option in ("page", "images") or value in ("academic", "code"):
        return
    assert request != _start_search(provider, **others), (
        "the option makes no difference"
    )


def drive(flow: Flow[Any], response: Response) -> Any:
    """Run *flow* with *response* as the answer to each of its requests."""
    return run(flow, _answer(response))


def check_garbage(
    start: Callable[[], Flow[Any]], some: Response, check: Callable[[Any], None]
) -> None:
    """Check that only a valid answer or one of our errors comes out, whatever is wrong
    with the response.
    """
    for wrong, response in corrupt(some):
        try:
            outcome = drive(start(), response)
        except WebSearchError:
            continue
        except Exception as bug:
            raise AssertionError(
                f"if {wrong}, it fails with {type(bug).__name__}: {bug}"
            ) from bug
        try:
            check(outcome)
        except AssertionError as broken:
            raise AssertionError(f"if {wrong}: {broken}") from broken


def check_modes(start: Callable[[], Flow[Any]], some: Response) -> None:
    """Check that blocking and async calls give the same."""
    answer = _answer(some)

    async def send(request: Request) -> Response:
        return answer(request)

    def end(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except WebSearchError as error:
            # the one response is not the answer to every request
            return repr(error)

    blocking = end(lambda: run(start(), _answer(some)))
    assert blocking == end(lambda: asyncio.run(arun(start(), send))), (
        "a blocking call and an async one differ"
    )


def check_copies(provider: Any) -> None:
    """Check that a provider can be pickled, and that its key is not part of the
    pickle.
    """
    pickled = pickle.dumps(provider)
    assert SECRET.encode() not in pickled, (
        "the key is in the pickle: declare it as a `Key`"
    )
    loaded = pickle.loads(pickled)  # noqa: S301 - made two lines above
    assert loaded.name == provider.name
    assert copy.deepcopy(provider).name == provider.name


def check_documentation(provider: Any) -> None:
    """Check that a provider links the documentation of its service, if it has one."""
    if not hasattr(provider, "base_url"):
        return
    cls = type(provider)
    texts = (sys.modules[cls.__module__].__doc__, cls.__doc__)
    is_linked = any(re.search(r"https?://\S+", text or "") for text in texts)
    about = getattr(provider, "about", None)
    assert is_linked or (about and about.api_urls), (
        "neither `about` nor a docstring links the API's documentation"
    )


def _answer(response: Response) -> Callable[[Request], Response]:
    numbers = itertools.count(1)

    def send(request: Request) -> Response:
        assert next(numbers) < _MAX_REQUESTS, (
            f"more than {_MAX_REQUESTS} requests for one call"
        )
        return redact_response(response, request)

    return send


def corrupt(response: Response) -> Iterator[tuple[str, Response]]:
    """Yield copies of *response*, each with one value that is missing or wrong, and in
    front of it what is wrong.

    A body that is not JSON is cut at many places, and has each of its parts left out.
    """
    try:
        body = response.json()
    except ValueError:
        yield from _cut(response)
        return
    for path in list(_find_paths(body))[:_MAX_PATHS]:
        where = "/".join(map(str, path)) or "the whole body"
        yield (
            f"{where} is missing",
            replace(response, content=_dump(with_value(body, path, MISSING))),
        )
        for value in _VALUES:
            yield (
                f"{where} is {str(value)[:20]!r}",
                replace(response, content=_dump(with_value(body, path, value))),
            )


def _cut(response: Response) -> Iterator[tuple[str, Response]]:
    body = response.content
    step = max(len(body) // _CUTS, 1)
    for at in range(0, len(body), step):
        yield f"it is cut after {at} bytes", replace(response, content=body[:at])
        yield (
            f"bytes {at} to {at + step} are missing",
            replace(response, content=body[:at] + body[at + step :]),
        )
        yield (
            f"byte {at} is wrong",
            replace(response, content=body[:at] + b"\xff" + body[at + 1 :]),
        )


def _find_paths(
    value: Any, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[str | int, ...]]:
    yield path
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _find_paths(inner, (*path, name))
    elif isinstance(value, list):
        for n, inner in enumerate(value[:2]):  # the others are like them
            yield from _find_paths(inner, (*path, n))


def with_value(body: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """Return a copy of *body* with *value* at *path*, or without what is there if it is
    `MISSING`.
    """
    if not path:
        return {} if value is MISSING else value
    changed = copy.deepcopy(body)
    place = changed
    for part in path[:-1]:
        place = place[part]
    if value is MISSING:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return changed


def _dump(body: Any) -> bytes:
    return json.dumps(body).encode()
