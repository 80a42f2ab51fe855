"""What HTTP services share: requests for JSON, checks of a query, errors that a
response means, and lenient access to decoded JSON.
"""

from __future__ import annotations
import math
import re
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, TypeVar

from .. import errors
from .._runtime.scope import current_call
from .._text.invisible import strip_invisible
from .._text.rates import RateLimit, parse_wait
from .._text.urls import describe_url
from ..flow import Request, Response
from ..flow._redaction import without_keys
from ..keys._keys import ApiKey
from ..models import SearchQuery
from ._declare import HTTP_HINTS, environment, is_vendor, key_text
from ._languages import find_country, find_language
from ._ports import Limits, Provider

T = TypeVar("T")
Meanings = Mapping[int, type[errors.ServiceError]]
Kinds = Mapping[str, type[errors.ServiceError]]

_MEANINGS: Meanings = {
    400: errors.BadRequest,
    401: errors.AuthenticationError,
    402: errors.QuotaExhausted,
    403: errors.AuthenticationError,
    408: errors.TimedOut,
    413: errors.BadRequest,
    414: errors.BadRequest,
    422: errors.BadRequest,
    429: errors.RateLimited,
}
# media types that an error may name: others could be anything that a server wrote
_NAMED_TYPES = frozenset({"application/xml", "text/html", "text/plain", "text/xml"})
_NUMBER = re.compile(r"\s*-?[0-9]{1,18}(\.[0-9]{1,18})?\s*")
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_MAX_DETAIL_LENGTH = 200
_MAX_UNITS = 20
_MAX_UNIT_LENGTH = 40  # characters
_DAY = 86_400.0
_MESSAGES = tuple(
    "message msg detail error_message error_description error errors title reason "
    "info".split()
)
_NO_RESULTS = {*_MESSAGES, "details", "warnings"}  # lists of these are not results
_FAILED = {"error", "fail", "failed", "failure"}
_SUCCEEDED = {"", "none", "null", "ok", "success"}
_MAX_DEPTH = 4
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
_MAX_REFUSAL = 500  # characters of a message that are looked at
# what messages say about a query that a model can write in another way
_REFUSALS = tuple(
    (re.compile(pattern, re.IGNORECASE), words)
    for pattern, words in (
        (
            r"\b(?:only|solely|just)\b.{0,40}\bsite:",
            (
                "the query has nothing but site: operators; add words, "
                "or name the sites in allowed_domains"
            ),
        ),
        (
            (
                r"\btoo (?:long|many (?:words|characters))\b"
                r"|\b(?:exceed|at most|maximum|longer).{0,40}\b(?:length|characters)\b"
            ),
            "the query is too long; use fewer words",
        ),
        (
            (
                r"\bquery\b.{0,40}\b(?:empty|blank|missing|required)\b"
                r"|\b(?:empty|blank|missing)\b.{0,20}\bquery\b"
            ),
            "the query has no words to look for",
        ),
        (
            (
                r"\b(?:invalid|malformed|unsupported)\b.{0,40}\bdomains?\b"
                r"|\bdomains?\b.{0,40}\b(?:invalid|malformed|not (?:valid|supported))\b"
            ),
            "one of the domains is refused; leave it out",
        ),
        (
            r"\b(?:invalid|unsupported)\b.{0,40}\b(?:date|freshness|recency|time)",
            "the period is refused; leave time_range out",
        ),
    )
)


def post_json(
    provider: Any,
    endpoint: str,
    payload: Mapping[str, Any],
    query: SearchQuery | None = None,
    *,
    join: str | None = None,
    headers: Mapping[str, str] = MappingProxyType({}),
    target: str | tuple[str, ...] | None = None,
) -> Request:
    """Make a request that sends *payload* as JSON, with the key of *provider*.

    The key travels in the header that the provider names as ``key_header``: by default
    in ``Authorization``, as a bearer token (RFC 6750). If it names a ``key_parameter``,
    the key is that parameter of the URL. A provider that is ``keyless`` sends none.

    Args:
        provider: The provider; its ``base_url`` says where its service is.
        endpoint: Path below the ``base_url``.
        payload: The body; what is None is left out.
        query: The query of a search, whose ``extra`` is added: see `with_extra`.
        join: As for `with_extra`.
        headers: More headers.
        target: The URL of a page that the service should open, or several. The guard
            checks them. Unless the server is the vendor's own, it also resolves their
            hosts: the server may be inside this network.
    """
    body = with_extra(payload, query, join=join)
    return _make_request(provider, endpoint, headers, target, method="POST", json=body)


def get_json(
    provider: Any,
    endpoint: str,
    params: Mapping[str, Any],
    query: SearchQuery | None = None,
    *,
    join: str | None = None,
    headers: Mapping[str, str] = MappingProxyType({}),
    target: str | None = None,
) -> Request:
    """Make a request for JSON with *params* in the URL, which are treated as
    `post_json` treats its payload.
    """
    return _make_request(
        provider, endpoint, headers, target, params=with_extra(params, query, join=join)
    )


def _make_request(
    provider: Any,
    endpoint: str,
    headers: Mapping[str, str],
    target: str | tuple[str, ...] | None,
    **content: Any,
) -> Request:
    if isinstance(target, tuple) and len(target) == 1:
        (target,) = target
    key_headers, key_params = place_key(provider)
    return Request(
        url=f"{provider.base_url}/{endpoint}",
        headers={**headers, **key_headers},
        secret_params=key_params,
        target=target,
        judge_target=target is not None and not is_vendor(provider),
        **content,
    )


def place_key(provider: Any) -> tuple[dict[str, str], dict[str, str]]:
    """Return the headers and the parameters of the URL that carry the key of
    *provider*, as `post_json` says.
    """
    key = getattr(provider, "api_key", None)
    if key is None or getattr(provider, "keyless", False):
        return {}, {}
    value = key_text(key)
    parameter = getattr(provider, "key_parameter", None)
    if parameter:
        return {}, {parameter: value}
    header: str = getattr(provider, "key_header", "Authorization")
    if header.lower() == "authorization":
        value = f"Bearer {value}"
    return {header: value}, {}


def check_options(query: SearchQuery, provider: Provider) -> None:
    """Check that *provider* supports every option of *query*, and that the query is
    within its ``limits``.

    A provider without ``options`` supports none. One that supports ``topic`` lists its
    ``topics`` besides ``general``; without that list, it has only ``news``. One that
    knows a ``time_range`` of an hour has ``searches_hours = True``. If it lists
    ``countries`` or ``languages`` (see `codes`), the query's must be among them.

    Raises:
        UnsupportedOption: An option, or its value, is not supported. None is ever
            dropped silently.
    """
    supported: AbstractSet[str] = getattr(provider, "options", frozenset())
    unsupported = sorted(query.requested() - supported)
    if unsupported:
        why = f"does not support {', '.join(unsupported)}"
        raise errors.UnsupportedOption.by(provider, why, *unsupported)
    topics: AbstractSet[str] = getattr(provider, "topics", frozenset({"news"}))
    if query.topic not in {"general", *topics}:
        why = f"cannot search for {query.topic}"
        raise errors.UnsupportedOption.by(provider, why, "topic")
    if query.time_range == "hour" and not getattr(provider, "searches_hours", False):
        why = "cannot search the last hour alone; write time_range='day'"
        raise errors.UnsupportedOption.by(provider, why, "time_range")
    if hasattr(provider, "countries"):
        find_country(query, provider)
    if hasattr(provider, "languages"):
        find_language(query, provider)
    _check_domains(query, provider)
    check_length(query.text, provider)


def _check_domains(query: SearchQuery, provider: Provider) -> None:
    limits: Mapping[str, Any] = getattr(provider, "limits", {})
    for option in ("allowed_domains", "blocked_domains"):
        limit = limits.get(option, math.inf)
        if len(getattr(query, option)) > limit:
            why = f"takes at most {limit} {option.replace('_', ' ')}"
            raise errors.UnsupportedOption.by(provider, why, option)


def check_length(text: str, provider: Provider) -> None:
    """Check that the ``limits`` of *provider* allow a query as long as *text*: cutting
    it could change its meaning.

    Raises:
        UnsupportedOption: It is too long.
    """
    limits: Limits = getattr(provider, "limits", Limits())
    _check_count(provider, len(text), limits.get("query_length"), "characters")
    _check_count(provider, len(text.split()), limits.get("query_words"), "words")


def _check_count(provider: Provider, count: int, limit: int | None, unit: str) -> None:
    if limit is not None and count > limit:
        why = f"takes queries of at most {limit} {unit}, and this one has {count}"
        raise errors.UnsupportedOption.by(provider, why)


def decode(
    response: Response,
    provider: Provider,
    *,
    verb: str = "search",
    meanings: Meanings | None = None,
    detail: Callable[[Any], Any] | None = None,
    kind: Callable[[Any], type[errors.ServiceError] | None] | Kinds = MappingProxyType(
        {}
    ),
    code: str = "",
    nothing: Iterable[str] = (),
) -> dict[str, Any]:
    """Return the JSON object in *response*, or raise the error that it means.

    A response whose status is a success is also an error if its body has an error
    instead of results, or the code of a failure at the path *code*.

    Args:
        response: The response.
        provider: The provider; its keys are kept out of the error.
        verb: What was requested: ``search`` or ``read``.
        meanings: Statuses to which this service gives its own meaning.
        detail: A function that returns the service's own message from the JSON body of
            a failure, for services where `find_message` returns the wrong one.
        kind: How to find a class of error that is more accurate than the status: a
            function that returns it for the JSON body, or None; or phrases of the
            service's messages and their classes, for `find_kind`.
        code: The path of keys to the service's code of the error, such as
            ``error.code``. The phrases of *kind* are then compared with the code, not
            with the message. A code that has one of them is always a failure; any other
            code of a failure (a text but ``ok``, a number from 400) is one only in the
            response to a search, and only without results.
        nothing: Phrases of messages that say that a search has no results, which is not
            an error.

    Raises:
        TooLarge: The body was cut at the size limit.
        BadResponse: The body is not a JSON object, or has an error instead of results.
        ServiceError: The status or the code is that of a failure.
    """

    def make_error(
        body: Any, message: str | None, hint: str = ""
    ) -> errors.ServiceError:
        words = None
        if body and detail:
            words = detail(body)
        return error_for(
            response,
            provider,
            verb=verb,
            meanings=meanings,
            detail=words or message,
            hint=hint,
            kind=_classify(body, message, kind, code),
        )

    if not 200 <= response.status < 300:
        body = as_json(response)
        raise make_error(body, _find_words(response, body))
    body = _decode_object(response, provider, verb)
    message = None
    if _has_failure_code(body, kind, code, verb):
        message = find_message(body) or ""
    elif verb == "search":
        message = find_failure(body)
    if message is None or any(phrase in message.lower() for phrase in nothing):
        return body
    what = "results" if verb == "search" else "the page"
    raise make_error(body, message, f"an error instead of {what}")


def _classify(
    body: Any,
    message: str | None,
    kind: Callable[[Any], type[errors.ServiceError] | None] | Kinds,
    code: str,
) -> type[errors.ServiceError] | None:
    """Return the class of the error in the body of a failure; see `decode`."""
    if isinstance(kind, Mapping):
        words = find_value(body, code) if code else message
        return find_kind(words, kind)
    return kind(body) if body else None


def _find_words(response: Response, body: Any) -> str | None:
    """Return the service's message in a failure, from JSON or plain text."""
    if not body and response.media_type == "text/plain":
        return response.content[:1000].decode("utf-8", "replace")
    return find_message(body)


def _decode_object(response: Response, provider: Provider, verb: str) -> dict[str, Any]:
    if response.truncated:
        raise errors.TooLarge(
            f"{provider.name} {verb} failed: the response is too large",
            provider=provider.name,
        )
    try:
        body = response.json()
    except (ValueError, RecursionError) as error:
        raise errors.BadResponse(
            f"{provider.name} {verb} failed: the response is {_describe(response)}",
            provider=provider.name,
            status=response.status,
        ) from error
    if not isinstance(body, dict):
        raise unexpected_format(provider.name, verb)
    return body


def _describe(response: Response) -> str:
    """Say what a response is that cannot be decoded."""
    if "json" in response.media_type:
        return "broken JSON"
    if response.media_type in _NAMED_TYPES:
        return f"not JSON but {response.media_type}"
    return "not JSON"


def _has_failure_code(
    body: dict[str, Any],
    kind: Callable[[Any], type[errors.ServiceError] | None] | Kinds,
    code: str,
    verb: str,
) -> bool:
    """Return whether a body that came with a success has the code of a failure; see
    `decode`.
    """
    value = find_value(body, code) if code else None
    if not _is_failure_code(value):
        return False
    if isinstance(kind, Mapping) and find_kind(value, kind) is not None:
        return True
    return verb == "search" and not _has_any_results(body)


def _is_failure_code(value: Any) -> bool:
    """Return whether a code says failure: a number from 400, or a text that does not
    say success.
    """
    number = as_number(value)
    if number is not None:
        return number >= 400
    return isinstance(value, str) and value.strip().lower() not in _SUCCEEDED


def as_json(response: Response) -> Any:
    """Return the decoded body of *response*, whatever its status; None if it is not
    JSON.
    """
    try:
        return response.json()
    except (ValueError, RecursionError):
        return None


def find_message(body: Any, depth: int = _MAX_DEPTH) -> str | None:
    """Return the service's own message from the JSON body of a failure; None if it has
    none.

    Services have different forms: ``{"message": ...}``, ``{"error": ...}``,
    ``{"error": {"message": ...}}``, RFC 9457's ``{"title": ..., "detail": ...}``, and
    lists of problems, of which the first counts.
    """
    if isinstance(body, str):
        return body.strip() or None
    if depth == 0:
        return None
    parts: list[Any] = []
    if isinstance(body, dict):
        parts = [body.get(name) for name in _MESSAGES]
    elif isinstance(body, list):
        parts = body
    for part in parts:
        message = find_message(part, depth - 1)
        if message:
            return message
    return None


def find_failure(body: Mapping[str, Any]) -> str | None:
    """Return the message of a failure in a body that came with a success; an empty text
    if the failure has no message, None if there is no failure.

    A body without results is a failure if it says so, or if it has a message and
    nothing else, not even an empty list.
    """
    is_error = _says_error(body)
    parts = [value for name, value in body.items() if name not in _MESSAGES]
    if not is_error and any(isinstance(part, dict | list) for part in parts):
        return None
    if _has_any_results(body):
        return None
    message = find_message(body)
    if message is None and is_error:
        return ""
    return message


def _says_error(body: Mapping[str, Any]) -> bool:
    names = ("error", "errors", "error_message", "error_code")
    if any(body.get(name) for name in names):
        return True
    if body.get("success") is False or body.get("ok") is False:
        return True
    if str(body.get("status")).lower() in _FAILED:
        return True
    numbers = [
        as_number(body.get(name))
        for name in ("status", "statusCode", "code", "error_code")
    ]
    return any(400 <= (number or 0) < 600 for number in numbers)


def _has_any_results(body: Mapping[str, Any]) -> bool:
    """Return whether a body has results, at most one level down."""
    parts = [value for name, value in body.items() if name not in {"error", "errors"}]
    return any(map(_has_results, [body, *parts]))


def _has_results(part: Any) -> bool:
    """Return whether a part of a body has a list of objects that look like results:
    with a URL, or with several texts.
    """
    for name, value in as_object(part).items():
        items = [] if name in _NO_RESULTS else as_objects(value)
        if any(map(_is_result, items)):
            return True
    return False


def _is_result(item: dict[str, Any]) -> bool:
    if "url" in item:
        return True
    return sum(isinstance(value, str) for value in item.values()) > 1


def find_kind(words: Any, kinds: Kinds) -> type[errors.ServiceError] | None:
    """Return the class of the first phrase of *kinds* that *words* contain; None if
    they contain none. The phrases are in lower case.
    """
    text = str(words).lower()
    for phrase, kind in kinds.items():
        if phrase in text:
            return kind
    return None


def unexpected_format(provider: str, verb: str = "search") -> errors.BadResponse:
    """Make the error for a response that does not match the service's documentation."""
    return errors.BadResponse(
        f"{provider} {verb} failed: the response has an unexpected format",
        provider=provider,
    )


def error_for(
    response: Response,
    provider: Provider,
    *,
    verb: str = "search",
    meanings: Meanings | None = None,
    detail: Any = None,
    hint: str = "",
    kind: type[errors.ServiceError] | None = None,
) -> errors.ServiceError:
    """Make the error that *response* means.

    Args:
        response: The response.
        provider: The provider; its keys are kept out of the error.
        verb: What was requested: ``search`` or ``read``.
        meanings: Statuses to which this service gives its own meaning.
        detail: The service's own message, for `ServiceError.detail`; ignored if it is
            not a string.
        hint: Our own explanation, added to the message; by default, what the service's
            message says about the query if we know that.
        kind: The class of the error, if the caller knows it better than the status
            does.
    """
    status = response.status
    kind = kind or (meanings or {}).get(status)
    if kind is None and _refuses_us(response, provider):
        kind = errors.Blocked
        hint = hint or _find_remedy(provider)
    make = kind or _find_meaning(response)
    if issubclass(make, errors.BadRequest) and verb == "search":
        hint = hint or _explain_refusal(detail)
    message = f"{provider.name} {verb} failed: {status} {_PHRASES.get(status, '')}"
    message = message.rstrip()
    if hint:
        message += f": {hint}"
    error = make(
        message,
        provider=provider.name,
        status=status,
        retry_after=retry_after(response),
        detail=redact(detail, provider) if isinstance(detail, str) else None,
    )
    error.locate(url=describe_url(response.url) if response.url else None)
    key = getattr(provider, "api_key", None)
    if isinstance(key, ApiKey):
        error.key_mark = key.mark()
        if isinstance(error, errors.AuthenticationError):
            error.key_source = key.origin
    return error


def _explain_refusal(detail: Any) -> str:
    """Say in our own words what a service's message says about a query.

    The message itself is not shown to a model, since it may quote a page.
    """
    if not isinstance(detail, str):
        return ""
    for pattern, words in _REFUSALS:
        if pattern.search(detail[:_MAX_REFUSAL]):
            return words
    return ""


def _refuses_us(response: Response, provider: Provider) -> bool:
    """Return whether a service refuses us, and not a key, because none was sent."""
    if response.status != 403:
        return False
    return getattr(provider, "keyless", False) or not _keys(provider)


def _find_meaning(response: Response) -> type[errors.ServiceError]:
    """Return what the status of a failure means to most services."""
    status = response.status
    if status == 429 and any(map(_is_long_limit, response.rate_limits)):
        return errors.QuotaExhausted  # retrying does not help
    if status in _MEANINGS:
        return _MEANINGS[status]
    return errors.Unavailable if status >= 500 else errors.BadResponse


def _is_long_limit(limit: RateLimit) -> bool:
    """Return whether a limit of a day or longer is used up."""
    return limit.is_exhausted and (limit.window or 0) >= _DAY


def _find_remedy(provider: Provider) -> str:
    """Say what helps if a service refuses a caller without a key."""
    names = environment(type(provider)).get("api_key", ())
    key = f", or give it a key: {' or '.join(names)}" if names else ""
    contact = HTTP_HINTS["contact"]
    return f"it refuses programs that do not say who runs them: {contact}{key}"


def redact(text: str, provider: object) -> str:
    """Make one short line of a service's message, without the keys of *provider*, which
    some services repeat.
    """
    line = _BLANKS.sub(" ", without_keys(text, _keys(provider))).strip()
    if len(line) <= _MAX_DETAIL_LENGTH:
        return line
    return f"{line[:_MAX_DETAIL_LENGTH]}…"


def retry_after(response: Response) -> float | None:
    """Return how many seconds the service wants us to wait; None if it does not say.

    ``Retry-After`` says it, or, for 429, the reset of the rate limit that is used up.
    """
    wait = parse_wait(response.headers.get("retry-after", ""))
    if wait is not None or response.status != 429:
        return wait
    exhausted: list[float] = []
    others: list[float] = []
    for limit in response.rate_limits:
        if limit.reset is None:
            continue
        if limit.is_exhausted:
            exhausted.append(limit.reset)
        else:
            others.append(limit.reset)
    if exhausted:
        return max(exhausted)
    return next(iter(others), None)


def with_sites(query: SearchQuery) -> str:
    """Add the domain filters to the text of the query, for engines that have only
    ``site:``.
    """
    allowed = " OR ".join(f"site:{domain}" for domain in query.allowed_domains)
    if len(query.allowed_domains) > 1:
        allowed = f"({allowed})"
    blocked = [f"-site:{domain}" for domain in query.blocked_domains]
    return " ".join(filter(None, [query.text, allowed, *blocked]))


def with_extra(
    parameters: Mapping[str, Any], query: SearchQuery | None, *, join: str | None = None
) -> dict[str, Any]:
    """Return the *parameters* that are not None, with the ``extra`` of *query*.

    An ``extra`` adds to an object or a list, so it does not remove the query's own
    filters. It replaces any other value.

    Args:
        parameters: The parameters of the service.
        query: The query; None has no ``extra``.
        join: Makes a text of each list, with this between the items, for a service that
            takes filters like ``type:book,from:2026``.
    """
    merged: dict[str, Any] = drop_none(parameters)
    if query and query.extra:
        merged = _merge(merged, drop_none(query.extra))
    if join is None:
        return merged
    for name, value in merged.items():
        if isinstance(value, list):
            merged[name] = join.join(map(str, value))
    return merged


def drop_none(parameters: Mapping[str, T | None]) -> dict[str, T]:
    """Return the *parameters* that are not None."""
    return {name: value for name, value in parameters.items() if value is not None}


def _merge(ours: Any, extra: Any) -> Any:
    if isinstance(ours, Mapping) and isinstance(extra, Mapping):
        added = {name: _merge(ours.get(name), value) for name, value in extra.items()}
        return {**ours, **added}
    if isinstance(ours, list):
        items = extra if isinstance(extra, list) else [extra]
        return [*ours, *(item for item in items if item not in ours)]
    return extra


def quote_commands(text: str, signs: str) -> str:
    """Put quotes around the words of *text* that begin with one of *signs*, which are
    commands to some engines.
    """
    return re.sub(rf"(?<!\S)([{re.escape(signs)}][^\s\"]*)", r'"\1"', text)


def as_object(value: Any) -> dict[str, Any]:
    """Return *value* if it is a JSON object, else an empty one: services break their
    own formats.
    """
    return value if isinstance(value, dict) else {}


def as_objects(value: Any) -> list[dict[str, Any]]:
    """Return the JSON objects in *value* if it is a list, else an empty list."""
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, dict)]


def find_value(value: Any, path: str) -> Any:
    """Return what is at a *path* of keys in *value*, such as ``error.code``; None if
    nothing is there.
    """
    return follow(path.split("."), value)


def follow(keys: Iterable[str], value: Any) -> Any:
    """Return what is at the path *keys* in *value*; None if nothing is there."""
    for key in keys:
        value = as_object(value).get(key)
    return value


def as_text(value: Any) -> str | None:
    """Return *value*, without invisible characters, if it is a non-empty string; else
    None.
    """
    if not isinstance(value, str):
        return None
    text, _ = strip_invisible(value)
    return text or None


def as_texts(value: Any) -> list[str]:
    """Return the texts in *value*, each as `as_text` does, if it is a list; else an
    empty list.
    """
    if not isinstance(value, list):
        return []
    return list(filter(None, map(as_text, value)))


def as_number(value: Any) -> float | None:
    """Return *value* as a finite number, which JSON can hold, if it is one or the text
    of one; else None.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def parse_usage(record: Any, **units: str) -> dict[str, float]:
    """Return what a call consumed, as the service says, by unit: ``{"credits": 2.0}``.
    What is not a number is left out.

    Args:
        record: An object of numbers by unit, or a list of objects with ``name`` and
            ``count``.
        units: Our name of a unit, and the key of the object that has it, such as
            ``credits="creditsUsed"``. By default, all keys.
    """
    usage: dict[str, float] = {}
    for unit, value in _find_amounts(record, units)[:_MAX_UNITS]:
        number = as_number(value)
        if unit and number is not None:
            usage[unit[:_MAX_UNIT_LENGTH]] = number
    return {unit: number for unit, number in usage.items() if number >= 0}


def _find_amounts(record: Any, units: Mapping[str, str]) -> list[tuple[str, Any]]:
    """Return pairs of a unit and its value, which should be a number."""
    if isinstance(record, list):
        items = as_objects(record)
        return [(as_text(item.get("name")) or "", item.get("count")) for item in items]
    amounts = as_object(record)
    if units:
        return [(unit, amounts.get(key)) for unit, key in units.items()]
    return list(amounts.items())


def _keys(provider: object) -> list[str]:
    """Return the keys of *provider*, longest first: one may be part of another."""
    keys: set[str] = set()
    for name in ("api_key", *getattr(provider, "__dict__", ()), *_slots(provider)):
        value = getattr(provider, name, None)
        reveal = getattr(value, "get_secret_value", None)
        if isinstance(value, ApiKey):
            keys.update(value.list_texts())
        elif reveal is not None:
            keys.add(reveal())
        elif name == "api_key" and isinstance(value, str):  # SecretStr is optional
            keys.add(value)
    return sorted(filter(None, keys), key=len, reverse=True)


def _slots(provider: object) -> list[str]:
    names: list[str] = []
    for cls in type(provider).__mro__:
        slots = getattr(cls, "__slots__", ())
        if isinstance(slots, str):
            slots = (slots,)
        names += slots
    return names


def find_max_age(own: float | None, unit: float = 1.0) -> int | None:
    """Return how old the copy of a page that a service has may be, in units of so many
    seconds; None leaves it to the service.

    It is what the provider was made with, its *own*, unless the caller wants newer ones
    (`websearch_core.layers.max_age`). A negative one stands for any age.
    """
    limit = current_call().max_age / unit
    if own is not None and 0 <= own <= limit:
        return int(own)
    if math.isfinite(limit):
        return int(limit)
    return None if own is None else int(own)
