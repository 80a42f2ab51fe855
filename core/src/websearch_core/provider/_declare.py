"""Declare a provider: a frozen value that inherits nothing, whose fields are options
and say where they come from.

`Key` and `BaseUrl` are open to a settings file that was merely found, as `ProjectFile`
says. They are checked together: a key is never sent where such a file says.
"""

from __future__ import annotations
import dataclasses as dc
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import (
    Annotated,
    Any,
    TypeVar,
    cast,
    dataclass_transform,
    get_args,
    get_type_hints,
)
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    ConfigDict,
    PlainValidator,
    SecretStr,
    ValidationError,
)
from pydantic.dataclasses import dataclass
from pydantic_core import ErrorDetails

from .._text.urls import complete_url
from ..errors import ConfigurationError, MissingKey
from ..keys._environ import read_variable
from ..keys._keys import ApiKey, KeyFromEnvironment
from ..models import describe_problems
from ._ports import Limits

# Options of the client, not of a provider, and where to set them, as errors suggest.
HTTP_HINTS: Mapping[str, str] = dict.fromkeys(
    ("contact", "mailto"), 'WebSearch(http=Http(contact="https://bot.example/about"))'
)
T = TypeVar("T")


def _once(function: Callable[[type[Any]], T]) -> Callable[[type[Any]], T]:
    """Call *function* once for each class, which never changes."""
    return cast("Callable[[type[Any]], T]", functools.cache(function))


class Env:
    """The environment variables that a field may come from; the first one that is set
    wins.
    """

    def __init__(self, *names: str) -> None:
        self.names = names


@dc.dataclass(frozen=True)
class ProjectFile:
    """Lets a project's settings file set a field; fields without this annotation are
    closed to it.

    The author of the folder that a program runs in wrote that file, and it was merely
    found there. So annotate only a
    field whose every value is harmless: none can send anything elsewhere, open the
    guard, name a file or a module, or cost more.

    Args:
        at_most: The highest value that such a file may set, unless a trusted source
            sets its own limit.
        replaces: The field that this one replaces: if a trusted source sets that field,
            the file may not set this one.
        narrows: True for a filter: what such a file sets is combined with the value of
            a trusted source, and does not replace it.
    """

    at_most: float | None = None
    replaces: str | None = None
    narrows: bool = False


def find_project_note(notes: Iterable[Any]) -> ProjectFile | None:
    """Return what *notes* say about project settings files; None if such a file may not
    set the field.
    """
    return next((note for note in notes if isinstance(note, ProjectFile)), None)


def check_base_url(value: str) -> str:
    """Return the absolute URL of a server without a slash at its end, or say what was
    probably meant.
    """
    value = value.strip()
    if _is_base_url(value):
        return value.rstrip("/")
    guess = complete_url(value) if "?" not in value else ""
    hint = f"; did you mean {guess}?" if guess else ""
    raise ValueError(
        f"must be an absolute http(s) URL, without white space, credentials, query or "
        f"fragment{hint}"
    )


def _is_base_url(value: str) -> bool:
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return False
    if parts.username or re.search(r"\s", value):
        return False
    return not parts.query and not parts.fragment


def check_key_header(value: str) -> str:
    """Return the name of a header for a key, if it says that it is one."""
    if not re.fullmatch(
        r"authorization|[a-z0-9-]*(key|token|secret)[a-z0-9-]*",
        value,
        re.ASCII | re.IGNORECASE,
    ):
        raise ValueError(
            "must be Authorization, or have key, token or secret in its name: others "
            "are not kept out of logs"
        )
    return value


def key_text(key: SecretStr | str | Callable[[], str]) -> str:
    """Return the text of a field that is a `Key`, to put it into a request.

    A key that is in a keyring, or that a function returns, is asked for now.
    """
    secret = key if isinstance(key, SecretStr) else ApiKey.of(key)
    return secret.get_secret_value()


class Destination:
    """Annotates a field that says where keys and queries are sent."""


# What a constructor takes; as an attribute, each is an `ApiKey`.
Key = Annotated[
    SecretStr | str | Callable[[], str], PlainValidator(ApiKey.of), ProjectFile()
]
KeyHeader = Annotated[str, AfterValidator(check_key_header)]
BaseUrl = Annotated[str, AfterValidator(check_base_url), ProjectFile(), Destination()]
REQUIRED: Any = object()
"""The default of a required field with an `Env`: for type checkers it may be left out,
since the environment may have it.
"""


@dataclass_transform(frozen_default=True, kw_only_default=True)
def provider(cls: type[T]) -> type[T]:
    """Make *cls* a frozen, keyword-only dataclass whose values are validated.

    Its constructor raises `ConfigurationError` for invalid values, and `MissingKey`,
    which names the variable to set, for a missing one.

    Raises:
        ConfigurationError: Its ``limits`` have a name that is none of `Limits`.
    """
    check_limits(cls)
    for name, value in [*vars(cls).items()]:
        if value is REQUIRED:
            delattr(cls, name)
    config = ConfigDict(
        extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=True
    )
    declared = dataclass(frozen=True, kw_only=True, config=config)(cls)
    validate = declared.__init__

    @functools.wraps(validate)
    def init(self: Any, **values: Any) -> None:
        additions = _add_environment(declared, values)
        try:
            validate(self, **values)
        except ValidationError as error:
            # pydantic's own message may show the value
            raise _configuration_error(declared, error, additions) from None
        for name, variables in _key_variables(declared):
            key = getattr(self, name)
            # a plain SecretStr would be pickled with its value
            if isinstance(key, SecretStr):
                own_key = ApiKey.hide(key).with_owner(self.name, name, variables)
                object.__setattr__(self, name, own_key)

    declared.__init__ = init  # type: ignore[method-assign]
    return cast("type[T]", declared)


def check_limits(provider: Any) -> None:
    """Check the names in the ``limits`` of a provider, or of its class: others would do
    nothing.

    Raises:
        ConfigurationError: One is not a name of `Limits`; it says which are.
    """
    limits = getattr(provider, "limits", None)
    if not isinstance(limits, Mapping):
        return
    names = sorted(Limits.__annotations__)
    unknown = sorted(set(limits) - set(names))
    if unknown:
        raise ConfigurationError(
            f"{provider.name}: limits: there is no {', '.join(unknown)}; there are "
            f"{', '.join(names)}"
        )


@_once
def environment(cls: type[Any]) -> Mapping[str, tuple[str, ...]]:
    """Return the environment variables of each provider field that has any.

    These are the ones that its `Env` lists. A `BaseUrl` also gets one made of the
    provider's and the field's name, such as ``TAVILY_BASE_URL``, so that every service
    can be reached through a gateway.
    """
    if not hasattr(cls, "__dataclass_fields__"):
        return MappingProxyType(_environment_of_plain(cls))
    variables = {}
    for field, notes in field_notes(cls).items():
        names = _list_variables(notes)
        if any(isinstance(note, Destination) for note in notes):
            names.append(re.sub("[^A-Z0-9]", "_", f"{cls.name}_{field}".upper()))
        if names:
            variables[field] = tuple(dict.fromkeys(names))
    return MappingProxyType(variables)


def _list_variables(notes: Iterable[Any]) -> list[str]:
    names: list[str] = []
    for note in notes:
        if isinstance(note, Env):
            names += note.names
    return names


def _add_environment(cls: type[Any], options: dict[str, Any]) -> dict[str, str]:
    """Add to *options* what the environment has of the fields that they lack, as for a
    provider that is chosen by its name: a key and the URL that it is sent to belong
    together.

    Return the variables, by field.
    """
    fields = field_notes(cls)
    additions: dict[str, str] = {}
    for name, variables in environment(cls).items():
        is_key = is_secret(fields[name])
        is_keyless = is_key and options.get("keyless")
        variable = next(filter(read_variable, variables), None)
        if name in options or is_keyless:
            continue
        if variable is None:
            continue
        value = read_variable(variable)
        options[name] = KeyFromEnvironment(value) if is_key else value
        additions[name] = variable
    return additions


def is_vendor(provider: Any) -> bool:
    """Return whether *provider* talks to its vendor's own server: the default of
    ``base_url``.

    A reader checks this before it sends the URL of a page. Any other server may run
    inside a private network, so the guard has to check the page's address too:
    ``Request(target=url, judge_target=not is_vendor(self))``.
    """
    (default,) = (
        field.default for field in dc.fields(provider) if field.name == "base_url"
    )
    return _server(provider.base_url) == _server(default)


def destinations(provider: Any) -> dict[str, str]:
    """Return the URLs that *provider* sends its key to, by field: those declared as
    `BaseUrl`, or its ``base_url``.
    """
    try:
        fields = field_notes(type(provider))
    except (NameError, TypeError):
        # a plain dataclass, whose annotations may be importable only by type checkers
        fields = {}
    declared = []
    for field, notes in fields.items():
        if any(isinstance(note, Destination) for note in notes):
            declared.append(field)
    names = declared or ["base_url"]
    urls = {name: getattr(provider, name, None) for name in names}
    return {name: url for name, url in urls.items() if isinstance(url, str)}


def _server(url: Any) -> tuple[str, str] | None:
    """Return scheme, host and port; None for a provider without a vendor, whose
    ``base_url`` has no default.
    """
    if not isinstance(url, str):
        return None
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()


@_once  # evaluating its hints takes longer than all else that makes a provider
def field_notes(cls: type[Any]) -> Mapping[str, tuple[Any, ...]]:
    """Return the fields of a provider, each with its types and annotations; empty for a
    class without fields.
    """
    if not dc.is_dataclass(cls):
        return MappingProxyType({})
    hints = get_type_hints(cls, include_extras=True)
    notes = {
        field.name: tuple(_parts(hints[field.name]))
        for field in dc.fields(cls)
        if field.init
    }
    return MappingProxyType(notes)


def is_secret(notes: tuple[Any, ...]) -> bool:
    """Return whether a field declared with *notes* holds a key."""
    return any(isinstance(note, type) and issubclass(note, SecretStr) for note in notes)


def _environment_of_plain(cls: type[Any]) -> dict[str, tuple[str, ...]]:
    try:
        hints = get_type_hints(cls, include_extras=True)
    except (NameError, TypeError):
        # its annotations may be importable only by type checkers; or it is not a class
        return {}
    variables = {}
    for field, hint in hints.items():
        names = _list_variables(getattr(hint, "__metadata__", ()))
        if names:
            variables[field] = tuple(names)
    return variables


def construct(cls: type[Any], name: str, options: Mapping[str, Any]) -> Any:
    """Make an instance of any provider class, which is registered under *name*, of its
    *options*.

    A required one that is missing is a `MissingKey`, and an invalid one another
    `ConfigurationError`.
    """
    try:
        return cls(**options)
    except ConfigurationError:
        raise
    except Exception as error:
        # a class without the decorator `provider` may raise anything
        missing = required_names(cls) - set(options)
        if isinstance(error, TypeError) and missing:
            raise missing_field_error(cls, min(missing), name) from error
        text = _hide_keys(str(error), options)
        raise ConfigurationError(f"{name}: {type(error).__name__}: {text}") from None


def _hide_keys(text: str, options: Mapping[str, Any]) -> str:
    """Return *text* without the values of the options that are keys by their names."""
    for option, value in options.items():
        is_text = isinstance(value, str) and value != ""
        if "key" in option and is_text:
            text = text.replace(value, "[key]")
    return text


def missing_field_error(cls: Any, field: str, name: str | None = None) -> MissingKey:
    """Make the error for a missing *field* of provider *cls*: it names variable,
    argument and file entry.
    """
    name = name or cls.name
    names = environment(cls).get(field, ())
    ways = [f"set {' or '.join(names)}"] if names else []
    ways += [
        f"pass {field}=...",
        f'put {field} under [providers.{name}] in websearch.toml, for "{name}" by name',
    ]
    return MissingKey(
        f"{name} has no {field}: {', or '.join(ways)}", variables=names, provider=name
    )


def required_names(cls: type[Any]) -> set[str]:
    """Return the names of the arguments that have no default."""
    kinds = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    parameters = inspect.signature(cls).parameters.values()
    arguments = [parameter for parameter in parameters if parameter.kind in kinds]
    return {
        argument.name for argument in arguments if argument.default is argument.empty
    }


def _configuration_error(
    cls: Any, error: ValidationError, variables: Mapping[str, str]
) -> ConfigurationError:
    problems = error.errors()
    for problem in problems:
        own_error = problem.get("ctx", {}).get("error")
        if isinstance(own_error, ConfigurationError):
            return own_error
    if all(map(_is_missing, problems)):
        return missing_field_error(cls, str(problems[0]["loc"][0]))
    names = [str(problem["loc"][0]) for problem in problems if problem["loc"]]
    sources = [variables[name] for name in names if name in variables]
    where = f" (set by {', '.join(sources)})" if sources else ""
    return ConfigurationError(
        f"{cls.name}: {describe_problems(error, field_notes(cls), HTTP_HINTS)}{where}"
    )


def _is_missing(problem: ErrorDetails) -> bool:
    return problem["type"].startswith("missing") or "is empty" in problem["msg"]


def _parts(hint: Any) -> Iterator[Any]:
    """Yield a type and its parts: ``Annotated[X | None, note]`` has X, None and the
    note.
    """
    yield hint
    yield from getattr(hint, "__metadata__", ())
    for part in get_args(hint):
        if part not in getattr(hint, "__metadata__", ()):
            yield from _parts(part)


@functools.cache
def _key_variables(cls: type[Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    variables = environment(cls)
    return tuple(
        (name, variables.get(name, ()))
        for name, notes in field_notes(cls).items()
        if is_secret(notes)
    )
