"""Declare a provider: a frozen value that inherits nothing, whose fields are options
and say where they come from.

`Key` and `BaseUrl` are open to a settings file that was merely found, as `FoundFile`
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

from ..errors import ConfigurationError, MissingKey
from ..keys._environ import read_variable
from ..keys._keys import ApiKey, KeyFromEnvironment
from ..models import describe_problems

# What is said once for all providers, and how: an error suggests it.
OF_HTTP: Mapping[str, str] = dict.fromkeys(
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
class FoundFile:
    """Lets a settings file that was merely found set a field; fields without this
    annotation are closed to it.

    The author of the folder that a program runs in wrote that file. So annotate only a
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


def find_found_file(notes: Iterable[Any]) -> FoundFile | None:
    """Return what *notes* say about found settings files; None if such a file may not
    set the field.
    """
    return next((note for note in notes if isinstance(note, FoundFile)), None)


def check_base_url(value: str) -> str:
    """Return the absolute URL of a server without a slash at its end, or say what was
    probably meant.
    """
    parts = urlsplit(value := value.strip())
    is_whole = (
        parts.scheme in {"http", "https"}
        and parts.hostname
        and not re.search(r"\s", value)
    )
    if not is_whole or parts.username or parts.query or parts.fragment:
        hint = (
            f"; did you mean {meant}?"
            if "?" not in value and (meant := complete_url(value))
            else ""
        )
        raise ValueError(
            f"must be an absolute http(s) URL, without white space, credentials, query "
            f"or fragment{hint}"
        )
    return value.rstrip("/")


def complete_url(value: str) -> str:
    """Return *value* with the scheme that it lacks, as in ``localhost:8888``; empty if
    it is not only that.
    """
    if not re.fullmatch(
        r"(localhost|[\w-]+(\.[\w-]+)+|[\w-]+(?=:\d))(:\d+)?([/?][^\s@]*)?", value
    ):
        return ""
    is_name = re.match(r"[\w-]+\.[\w.-]*[A-Za-z]([/?]|$)", value)
    return f"{'https' if is_name else 'http'}://{value}"


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
    SecretStr | str | Callable[[], str], PlainValidator(ApiKey.of), FoundFile()
]
KeyHeader = Annotated[str, AfterValidator(check_key_header)]
BaseUrl = Annotated[str, AfterValidator(check_base_url), FoundFile(), Destination()]
REQUIRED: Any = object()
"""The default of a required field with an `Env`: for type checkers it may be left out,
since the environment may have it.
"""


@dataclass_transform(frozen_default=True, kw_only_default=True)
def provider(cls: type[T]) -> type[T]:
    """Make *cls* a frozen, keyword-only dataclass whose values are validated.

    Its constructor raises `ConfigurationError` for invalid values, and `MissingKey`,
    which names the variable to set, for a missing one.
    """
    for name, value in [*vars(cls).items()]:
        if value is REQUIRED:
            delattr(cls, name)
    config = ConfigDict(
        extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=True
    )
    made = dataclass(frozen=True, kw_only=True, config=config)(cls)
    checked = made.__init__

    @functools.wraps(checked)
    def init(self: Any, **values: Any) -> None:
        added = _add_environment(made, values)
        try:
            checked(self, **values)
        except ValidationError as error:
            # pydantic's own message may show the value
            raise _configuration_error(made, error, added) from None
        for name, names in _key_variables(made):
            key = getattr(self, name)
            # a plain SecretStr would be pickled with its value
            if isinstance(key, SecretStr):
                object.__setattr__(
                    self, name, ApiKey.hiding(key).owned(self.name, name, names)
                )

    made.__init__ = init  # type: ignore[method-assign]
    return cast("type[T]", made)


@_once
def environment(cls: type[Any]) -> Mapping[str, tuple[str, ...]]:
    """Return the environment variables of each provider field that has any.

    These are the ones that its `Env` lists. A `BaseUrl` also gets one made of the
    provider's and the field's name, such as ``TAVILY_BASE_URL``, so that every service
    can be reached through a gateway.
    """
    if not hasattr(cls, "__dataclass_fields__"):
        return MappingProxyType(_environment_of_plain(cls))
    found = {}
    for name, notes in field_notes(cls).items():
        names = [
            variable
            for note in notes
            if isinstance(note, Env)
            for variable in note.names
        ]
        if any(isinstance(note, Destination) for note in notes):
            names.append(re.sub("[^A-Z0-9]", "_", f"{cls.name}_{name}".upper()))
        if names:
            found[name] = tuple(dict.fromkeys(names))
    return MappingProxyType(found)


def _add_environment(cls: type[Any], options: dict[str, Any]) -> dict[str, str]:
    """Add to *options* what the environment has of the fields that they lack, as for a
    provider that is chosen by its name: a key and the URL that it is sent to belong
    together.

    Return the variables, by field.
    """
    fields = field_notes(cls)
    added: dict[str, str] = {}
    for name, variables in environment(cls).items():
        secret = is_secret(fields[name])
        if name in options or (secret and options.get("keyless")):
            continue
        variable = next(filter(read_variable, variables), None)
        if variable is None:
            continue
        value = read_variable(variable)
        options[name] = KeyFromEnvironment(value) if secret else value
        added[name] = variable
    return added


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
    declared = [
        name
        for name, notes in fields.items()
        if any(isinstance(n, Destination) for n in notes)
    ]
    urls = {name: getattr(provider, name, None) for name in declared or ["base_url"]}
    return {name: url for name, url in urls.items() if isinstance(url, str)}


def _server(url: Any) -> tuple[str, str] | None:
    """Return scheme, host and port; None for a provider without a vendor, whose
    ``base_url`` has no default.
    """
    parts = urlsplit(url) if isinstance(url, str) else None
    return (parts.scheme, parts.netloc.lower()) if parts else None


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
    notes = {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}
    found = {
        name: [note.names for note in some if isinstance(note, Env)]
        for name, some in notes.items()
    }
    return {name: sum(names, ()) for name, names in found.items() if names}


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
        text = str(error)
        for option, value in options.items():
            if "key" in option and isinstance(value, str) and value:
                text = text.replace(value, "[key]")
        raise ConfigurationError(f"{name}: {type(error).__name__}: {text}") from None


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
    return {
        one.name
        for one in parameters
        if one.default is inspect.Parameter.empty and one.kind in kinds
    }


def _configuration_error(
    cls: Any, error: ValidationError, variables: Mapping[str, str]
) -> ConfigurationError:
    problems = error.errors()
    for problem in problems:
        own = problem.get("ctx", {}).get("error")
        if isinstance(own, ConfigurationError):
            return own
    if all(
        problem["type"].startswith("missing") or "is empty" in problem["msg"]
        for problem in problems
    ):
        return missing_field_error(cls, str(problems[0]["loc"][0]))
    names = [str(problem["loc"][0]) for problem in problems if problem["loc"]]
    sources = [variables[name] for name in names if name in variables]
    where = f" (set by {', '.join(sources)})" if sources else ""
    return ConfigurationError(
        f"{cls.name}: {describe_problems(error, field_notes(cls), OF_HTTP)}{where}"
    )


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
