"""What HTTP services share: JSON, which options a service supports, the meaning of a
status, how long to wait.
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
from .._text.invisible import strip_invisible
from .._text.rates import parse_wait
from .._text.urls import describe_url
from ..flow import Request, Response
from ..flow._redaction import without_keys
from ..keys._keys import ApiKey
from ..models import SearchQuery
from ._declare import OF_HTTP, environment, is_vendor, key_text
from ._languages import find_country, find_language
from ._ports import Limits, Provider

T = TypeVar("T")
Meanings = Mapping[int, type[errors.ServiceError]]
Kinds = Mapping[str, type[errors.ServiceError]]

_MEANINGS: Meanings = {
    **dict.fromkeys((400, 413, 414, 422), errors.BadRequest),
    **dict.fromkeys((401, 403), errors.AuthenticationError),
    402: errors.QuotaExhausted,
    408: errors.TimedOut,
    429: errors.RateLimited,
}
# an error may name them
_NAMED_TYPES = frozenset({"application/xml", "text/html", "text/plain", "text/xml"})
_NUMBER = r"\s*-?[0-9]{1,18}(\.[0-9]{1,18})?\s*"
_MAX_DETAIL_LENGTH = 200
_MAX_UNITS = 20
_DAY = 86_400.0
_MESSAGES = tuple(
    "message msg detail error_message error_description error errors title reason "
    "info".split()
)
_BESIDE = {*_MESSAGES, "details", "warnings"}  # lists of these are not results
_FAILED = {"error", "fail", "failed", "failure"}
_MOST_NESTED = 4
_PHRASES = {status.value: status.phrase for status in HTTPStatus}


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
        target: The URL of a page that the service should open, or several; the guard
            checks them, and their names too unless the server is the vendor's own.
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
    in_headers, in_url = place_key(provider)
    return Request(
        url=f"{provider.base_url}/{endpoint}",
        headers={**headers, **in_headers},
        secret_params=in_url,
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
    if parameter := getattr(provider, "key_parameter", None):
        return {}, {parameter: value}
    header: str = getattr(provider, "key_header", "Authorization")
    return {
        header: f"Bearer {value}" if header.lower() == "authorization" else value
    }, {}


def check_options(query: SearchQuery, provider: Provider) -> None:
    """Check that *provider* supports every option of *query*, and its ``limits``.
    Without ``options`` it supports none.

    A provider that supports ``topic`` lists in ``topics`` which ones, besides
    ``general``; without it, only ``news``. If it lists ``countries`` or ``languages``
    (see `codes`), the query's must be among them.

    Raises:
        UnsupportedOption: It does not. An option is never dropped silently.
    """
    name = provider.name
    supported: AbstractSet[str] = getattr(provider, "options", frozenset())
    if unknown := sorted(query.requested() - supported):
        raise errors.UnsupportedOption(
            f"{name} does not support {', '.join(unknown)}",
            options=unknown,
            provider=name,
        )
    topics: AbstractSet[str] = getattr(provider, "topics", frozenset({"news"}))
    if query.topic not in {"general", *topics}:
        raise errors.UnsupportedOption(
            f"{name} cannot search for {query.topic}", options=["topic"], provider=name
        )
    if hasattr(provider, "countries"):
        find_country(query, provider)
    if hasattr(provider, "languages"):
        find_language(query, provider)
    limits: Mapping[str, Any] = getattr(provider, "limits", {})
    for option in ("allowed_domains", "blocked_domains"):
        if len(getattr(query, option)) > (most := limits.get(option, math.inf)):
            message = f"{name} takes at most {most} {option.replace('_', ' ')}"
            raise errors.UnsupportedOption(message, options=[option], provider=name)
    check_length(query.text, provider)


def check_length(text: str, provider: Provider) -> None:
    """Check that the ``limits`` of *provider* allow a query as long as *text*: cutting
    it could change its meaning.
    """
    limits: Limits = getattr(provider, "limits", Limits())
    for most, length, unit in (
        (limits.get("query_length"), len(text), "characters"),
        (limits.get("query_words"), len(text.split()), "words"),
    ):
        if most is not None and length > most:
            message = (
                f"{provider.name} takes queries of at most {most} {unit}, and this one "
                f"has {length}"
            )
            raise errors.UnsupportedOption(message, provider=provider.name)


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
    """Return the JSON object in *response*, or raise the error that its status means.

    Args:
        response: The response.
        provider: The provider; its keys are kept out of the error.
        verb: What was requested: ``search`` or ``read``.
        meanings: Statuses to which this service gives its own meaning.
        detail: Finds the service's own error message in the JSON body of a failure, if
            `find_message` finds another one there.
        kind: Finds the class of the error in that body, where it is more accurate than
            the status; else None. Or the phrases that tell the class in the service's
            message, for `find_kind`.
        code: The path of keys that leads to the service's code of the error, in which
            the phrases are looked for instead: ``error.code``.
        nothing: Phrases of messages that say that a search found nothing, which is not
            an error.

    Raises:
        TooLarge: The body was cut at the size limit.
        BadResponse: It is not a JSON object, or, of a search, an error instead of
            results.
        ServiceError: The status is not a success.
    """

    def error(body: Any, message: str | None, hint: str = "") -> errors.ServiceError:
        words = (detail(body) if body and detail else None) or message
        named = find_value(body, code) if code else message
        found = (
            find_kind(named, kind)
            if isinstance(kind, Mapping)
            else kind(body)
            if body
            else None
        )
        return error_for(
            response,
            provider,
            verb=verb,
            meanings=meanings,
            detail=words,
            hint=hint,
            kind=found,
        )

    if not 200 <= response.status < 300:
        body = as_json(response)
        is_words = not body and response.media_type == "text/plain"
        raise error(
            body,
            response.content[:1000].decode("utf-8", "replace")
            if is_words
            else find_message(body),
        )
    if response.truncated:
        raise errors.TooLarge(
            f"{provider.name} {verb} failed: the answer is too large",
            provider=provider.name,
        )
    try:
        body = response.json()
    except (ValueError, RecursionError) as cause:
        named = (
            response.media_type
            if response.media_type in _NAMED_TYPES
            else "something else"
        )
        what = (
            "broken JSON" if "json" in response.media_type else f"not JSON but {named}"
        )
        message = f"{provider.name} {verb} failed: the answer is {what}"
        raise errors.BadResponse(
            message, provider=provider.name, status=response.status
        ) from cause
    if not isinstance(body, dict):
        raise unexpected_format(provider.name, verb)
    words = find_failure(body) if verb == "search" else None
    if words is not None and not any(phrase in words.lower() for phrase in nothing):
        raise error(body, words, "an error instead of results")
    return body


def as_json(response: Response) -> Any:
    """Return the decoded body of *response*, whatever its status; None if it is not
    JSON.
    """
    try:
        return response.json()
    except (ValueError, RecursionError):
        return None


def find_message(body: Any, depth: int = _MOST_NESTED) -> str | None:
    """Return the service's own message in the JSON body of a failure, wherever that is;
    None if it has none.

    There is no one form: ``{"message": ...}``, ``{"error": ...}``, ``{"error":
    {"message": ...}}``, RFC 9457's ``{"title": ..., "detail": ...}``, and lists of
    problems, of which the first is taken.
    """
    if isinstance(body, str):
        return body.strip() or None
    inner: Iterable[Any] = ()
    if isinstance(body, dict):
        inner = (body.get(name) for name in _MESSAGES)
    elif isinstance(body, list):
        inner = body
    return (
        next((words for one in inner if (words := find_message(one, depth - 1))), None)
        if depth
        else None
    )


def find_failure(body: Mapping[str, Any]) -> str | None:
    """Return what the body of a success says about a failure; empty if only that it is
    one, None if it is none.

    That is an error beside no results; or a message, if there is not even an empty
    list.
    """
    codes = [
        as_number(body.get(name)) or 0
        for name in ("status", "statusCode", "code", "error_code")
    ]
    is_error = (
        any(
            body.get(name)
            for name in ("error", "errors", "error_message", "error_code")
        )
        or any(400 <= code < 600 for code in codes)
        or str(body.get("status")).lower() in _FAILED
        or body.get("success") is False
    )
    if not is_error and any(
        isinstance(value, dict | list)
        for name, value in body.items()
        if name not in _MESSAGES
    ):
        return None
    if any(
        map(
            _has_results,
            (
                body,
                *(
                    value
                    for name, value in body.items()
                    if name not in {"error", "errors"}
                ),
            ),
        )
    ):
        return None
    return find_message(body) or ("" if is_error else None)


def _has_results(part: Any) -> bool:
    """Return whether a part of an answer has a list of objects with a URL or several
    texts, as results are.
    """
    lists = (items for name, items in as_object(part).items() if name not in _BESIDE)
    items = (item for items in lists for item in as_objects(items))
    return any(
        "url" in item or sum(isinstance(one, str) for one in item.values()) > 1
        for item in items
    )


def find_kind(words: Any, kinds: Kinds) -> type[errors.ServiceError] | None:
    """Return the class of the first of the phrases in *kinds*, in lower case, that
    *words* have in them.
    """
    text = str(words).lower()
    return next((kind for phrase, kind in kinds.items() if phrase in text), None)


def unexpected_format(provider: str, verb: str = "search") -> errors.BadResponse:
    """Make the error for a response that does not match the service's documentation."""
    return errors.BadResponse(
        f"{provider} {verb} failed: the answer has changed its format",
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
        hint: Our own explanation, added to the message.
        kind: The class of the error, if the caller knows it better than the status
            does.
    """
    status = response.status
    is_used_up = status == 429 and any(
        one.is_exhausted and (one.window or 0) >= _DAY for one in response.rate_limits
    )
    kind = (
        kind
        or (meanings or {}).get(status)
        or (errors.QuotaExhausted if is_used_up else None)
    )  # retrying does not help
    if (
        kind is None
        and status == 403
        and (getattr(provider, "keyless", False) or not _keys(provider))
    ):
        # it refuses us, not our key
        kind, hint = errors.Blocked, hint or _find_remedy(provider)
    kind = (
        kind
        or _MEANINGS.get(status)
        or (errors.Unavailable if status >= 500 else errors.BadResponse)
    )
    message = (
        f"{provider.name} {verb} failed: {status} {_PHRASES.get(status, '')}".rstrip()
    )
    message += f": {hint}" if hint else ""
    words = redact(detail, provider) if isinstance(detail, str) else None
    error = kind(
        message,
        provider=provider.name,
        status=status,
        retry_after=retry_after(response),
        detail=words,
    )
    error.locate(url=describe_url(response.url) if response.url else None)
    if isinstance(error, errors.AuthenticationError):
        key = getattr(provider, "api_key", None)
        error.key_source = key.origin if isinstance(key, ApiKey) else None
    return error


def _find_remedy(provider: Provider) -> str:
    """Return what helps where a service refuses callers without a key."""
    names = environment(type(provider)).get("api_key", ())
    key = f", or give it a key: {' or '.join(names)}" if names else ""
    return (
        f"it refuses programs that do not say who runs them: {OF_HTTP['contact']}{key}"
    )


def redact(text: str, provider: object) -> str:
    """Make one short line of a service's message, without the keys of *provider*:
    services like to echo them.
    """
    line = re.sub(
        r"[\s\x00-\x1f\x7f-\x9f]+", " ", without_keys(text, _keys(provider))
    ).strip()
    return line if len(line) <= _MAX_DETAIL_LENGTH else f"{line[:_MAX_DETAIL_LENGTH]}…"


def retry_after(response: Response) -> float | None:
    """Return how many seconds the service wants us to wait; None if it does not say.

    From ``Retry-After``; else, for 429, from the reset of the rate limit that is used
    up.
    """
    wait = parse_wait(response.headers.get("retry-after", ""))
    if wait is not None or response.status != 429:
        return wait
    limits = response.rate_limits
    if used_up := [
        one.reset for one in limits if one.is_exhausted and one.reset is not None
    ]:
        return max(used_up)
    return next((one.reset for one in limits if one.reset is not None), None)


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
    """Return the *parameters* that have a value, with the ``extra`` of *query*.

    What that sets in an object, or adds to a list, leaves the rest as it is, such as
    the query's own filters.

    Args:
        parameters: The parameters of the service.
        query: The query; None has no ``extra``.
        join: What joins the items of lists to a text, for a service that takes filters
            so: ``type:book,from:2026``.
    """
    merged: dict[str, Any] = drop_none(parameters)
    if query and query.extra:
        merged = _merge(merged, drop_none(query.extra))
    if join is None:
        return merged
    return {
        name: join.join(map(str, value)) if isinstance(value, list) else value
        for name, value in merged.items()
    }


def drop_none(parameters: Mapping[str, T | None]) -> dict[str, T]:
    """Return the *parameters* that have a value: those that are None are not sent."""
    return {name: value for name, value in parameters.items() if value is not None}


def _merge(ours: Any, extra: Any) -> Any:
    if isinstance(ours, Mapping) and isinstance(extra, Mapping):
        return {
            **ours,
            **{name: _merge(ours.get(name), value) for name, value in extra.items()},
        }
    if isinstance(ours, list):
        return [
            *ours,
            *(
                one
                for one in (extra if isinstance(extra, list) else [extra])
                if one not in ours
            ),
        ]
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
    return (
        [item for item in value if isinstance(item, dict)]
        if isinstance(value, list)
        else []
    )


def find_value(value: Any, path: str) -> Any:
    """Return what is at a *path* of keys in *value*, such as ``error.code``; None if
    nothing is there.
    """
    return follow(path.split("."), value)


def follow(keys: Iterable[str], value: Any) -> Any:
    """Return what is at a path in *value*, one key after the other."""
    for key in keys:
        value = as_object(value).get(key)
    return value


def as_text(value: Any) -> str | None:
    """Return *value*, without invisible characters, if it is a non-empty string; else
    None.
    """
    return (strip_invisible(value)[0] or None) if isinstance(value, str) else None


def as_texts(value: Any) -> list[str]:
    """Return the non-empty strings in *value* if it is a list, else an empty list; as
    `as_text` does.
    """
    return (
        [text for item in value if (text := as_text(item))]
        if isinstance(value, list)
        else []
    )


def as_number(value: Any) -> float | None:
    """Return *value* as a finite number, which JSON can hold, if it is one or the text
    of one; else None.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = (
            float(value)
            if not isinstance(value, str) or re.fullmatch(_NUMBER, value)
            else math.nan
        )
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def parse_usage(record: Any, **units: str) -> dict[str, float]:
    """Return what a service says a call consumed, by unit: ``{"credits": 2.0}``. What
    is not a number is left out.

    Args:
        record: An object of numbers by unit, or a list of objects with ``name`` and
            ``count``.
        units: Which keys of an object to take, each under our unit:
            ``credits="creditsUsed"``. By default all.
    """
    if isinstance(record, list):
        pairs = [
            (as_text(item.get("name")) or "", item.get("count"))
            for item in as_objects(record)
        ]
    elif units:
        pairs = [(unit, as_object(record).get(key)) for unit, key in units.items()]
    else:
        pairs = list(as_object(record).items())
    numbers = {
        unit[:40]: as_number(value) for unit, value in pairs[:_MAX_UNITS] if unit
    }
    return {
        unit: number
        for unit, number in numbers.items()
        if number is not None and number >= 0
    }


def _keys(provider: object) -> list[str]:
    """Return the keys of *provider*, longest first: one may be part of another."""
    declared = (getattr(cls, "__slots__", ()) for cls in type(provider).__mro__)
    slots = (
        name
        for names in declared
        for name in ([names] if isinstance(names, str) else names)
    )
    values = {
        name: getattr(provider, name, None)
        for name in ("api_key", *getattr(provider, "__dict__", ()), *slots)
    }
    keys: set[str] = set()
    for value in values.values():
        if isinstance(value, ApiKey):
            keys.update(value.returned())
        elif (reveal := getattr(value, "get_secret_value", None)) is not None:
            keys.add(reveal())
    if isinstance(plain := values["api_key"], str):  # SecretStr is optional
        keys.add(plain)
    return sorted(filter(None, keys), key=len, reverse=True)
