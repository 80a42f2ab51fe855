"""
Tools for writing a provider.

A provider is a frozen value; nothing is inherited. Its fields are its options, and say where each may come from::

    @provider
    class Brave:
        name = "brave"
        options = frozenset({"time_range", ...})

        api_key: Annotated[Key, Env("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")]
        base_url: BaseUrl = "https://api.search.brave.com/res/v1"

A settings file that was merely found, in a folder that anybody may have written, sets only fields with the note
`FoundFile`. `Key` and `BaseUrl` have it; they are judged together, so that no key goes where such a file says.

Any other class that meets the ports of `websearch_core.provider` is a provider too, and `from_function` makes one of
functions, blocking or async.
"""

from __future__ import annotations

import dataclasses as dc
import functools
import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, TypeVar, cast, dataclass_transform, get_args, get_type_hints
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, PlainValidator, SecretStr, ValidationError
from pydantic.dataclasses import dataclass

from .._keys import ApiKey
from ..errors import ConfigurationError, MissingKey
from ..models import describe_problems

T = TypeVar("T")


class Env:
    """Names the environment variables that a field may come from; the first one that is set wins."""

    def __init__(self, *names: str) -> None:
        self.names = names


@dc.dataclass(frozen=True)
class FoundFile:
    """
    Lets a settings file that was merely found set a field; without this note it may not.

    Whoever wrote the folder that a program runs in wrote such a file. So give the note only to a field whose every
    value is harmless: one that cannot send anything elsewhere, open the guard, name a file or a module, or cost more.

    Args:
        at_most: The highest value that such a file may set, unless a trusted source sets a limit of its own.
        replaces: The field that this one takes the place of: if a trusted source sets that, the file may not set this.

    """

    at_most: float | None = None
    replaces: str | None = None


def _base_url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise ValueError("not an absolute http(s) URL without credentials, query or fragment")
    return value.rstrip("/")


class Destination:
    """Marks a field that says where keys and queries are sent."""


Key = Annotated[SecretStr, PlainValidator(ApiKey.of), FoundFile()]
BaseUrl = Annotated[str, AfterValidator(_base_url), FoundFile(), Destination()]


@dataclass_transform(frozen_default=True, kw_only_default=True)
def provider(cls: type[T]) -> type[T]:
    """
    Make *cls* a frozen, keyword-only dataclass whose values are checked.

    Constructing one with something wrong raises `ConfigurationError`, or `MissingKey` that names the variable to set.
    """
    config = ConfigDict(extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=True)
    made = dataclass(frozen=True, kw_only=True, config=config)(cls)
    checked = made.__init__

    @functools.wraps(checked)
    def init(self: Any, **values: Any) -> None:
        try:
            checked(self, **values)
        except ValidationError as error:
            raise _misconfigured(made, error) from None  # pydantic's own text may show the value
        for name, names in _key_variables(made):
            key = getattr(self, name)
            if isinstance(key, SecretStr):  # a plain SecretStr would be in every pickle
                object.__setattr__(self, name, ApiKey.hiding(key).owned(self.name, name, names))

    made.__init__ = init  # type: ignore[method-assign]
    return cast("type[T]", made)


def environment(cls: type[Any]) -> dict[str, tuple[str, ...]]:
    """
    Return the environment variables of each field of a provider that has any.

    Those are the ones that its `Env` names, and for each `BaseUrl` the provider's name with the field's, such as
    ``TAVILY_BASE_URL``, so that every service can be reached through a gateway.
    """
    if not hasattr(cls, "__dataclass_fields__"):
        return _environment_of_plain(cls)
    found = {}
    for name, notes in field_notes(cls).items():
        names = [variable for note in notes if isinstance(note, Env) for variable in note.names]
        if any(isinstance(note, Destination) for note in notes):
            names.append(re.sub("[^A-Z0-9]", "_", f"{cls.name}_{name}".upper()))
        if names:
            found[name] = tuple(dict.fromkeys(names))
    return found


def is_vendor(provider: Any) -> bool:
    """
    Tell whether *provider* talks to its vendor's own server: the default of ``base_url``.

    A reader asks before it hands over the URL of a page. Any other server may stand inside the network of whoever set
    it up, so the guard has to judge where the page is: ``Request(target=url, judge_target=not is_vendor(self))``.
    """
    (default,) = (field.default for field in dc.fields(provider) if field.name == "base_url")
    return _server(provider.base_url) == _server(default)


def _server(url: Any) -> tuple[str, str] | None:
    """Return scheme, host and port; None for the missing default of a provider that has no vendor."""
    parts = urlsplit(url) if isinstance(url, str) else None
    return (parts.scheme, parts.netloc.lower()) if parts else None


def field_notes(cls: type[Any]) -> dict[str, tuple[Any, ...]]:
    """Return the fields of a provider, each with its types and the notes on them; none for a class without fields."""
    if not dc.is_dataclass(cls):
        return {}
    hints = get_type_hints(cls, include_extras=True)
    return {field.name: tuple(_parts(hints[field.name])) for field in dc.fields(cls) if field.init}


def is_secret(notes: tuple[Any, ...]) -> bool:
    """Tell whether a field that was `declared` with *notes* holds a key."""
    return any(isinstance(note, type) and issubclass(note, SecretStr) for note in notes)


def _environment_of_plain(cls: type[Any]) -> dict[str, tuple[str, ...]]:
    try:
        hints = get_type_hints(cls, include_extras=True)
    except (NameError, TypeError):  # it may be annotated with what is imported for type checkers only, or be no class
        return {}
    notes = {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}
    found = {name: [note.names for note in some if isinstance(note, Env)] for name, some in notes.items()}
    return {name: sum(names, ()) for name, names in found.items() if names}


def construct(cls: type[Any], name: str, options: Mapping[str, Any]) -> Any:
    """
    Make a provider of any class.

    Args:
        cls: The class.
        name: The name it is registered under.
        options: Its options.

    Raises:
        MissingKey: An option that it needs is not among them.
        ConfigurationError: An option is wrong.

    """
    try:
        return cls(**options)
    except ConfigurationError:
        raise
    except Exception as error:  # a class that does not use `provider`, and may raise anything
        lacking = _required(cls) - set(options)
        if isinstance(error, TypeError) and lacking:
            raise missing_field_error(cls, min(lacking), name) from error
        text = str(error)
        for option, value in options.items():
            if "key" in option and isinstance(value, str) and value:
                text = text.replace(value, "[key]")
        raise ConfigurationError(f"{name}: {type(error).__name__}: {text}") from None


def missing_field_error(cls: Any, field: str, name: str | None = None) -> MissingKey:
    """Make the error for a *field* of provider *cls* that has to be given: what, which variable, which file entry."""
    name = name or cls.name
    names = environment(cls).get(field, ())
    ways = [f"set {' or '.join(names)}"] if names else []
    ways += [f"pass {field}=...", f"put {field} under [providers.{name}] in websearch.toml"]
    return MissingKey(f"{name} has no {field}: {', or '.join(ways)}", variables=names)


def _required(cls: type[Any]) -> set[str]:
    takes = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    parameters = inspect.signature(cls).parameters.values()
    return {one.name for one in parameters if one.default is inspect.Parameter.empty and one.kind in takes}


def _misconfigured(cls: Any, error: ValidationError) -> ConfigurationError:
    problems = error.errors()
    for problem in problems:
        own = problem.get("ctx", {}).get("error")
        if isinstance(own, ConfigurationError):
            return own
    if all(problem["type"].startswith("missing") or "is empty" in problem["msg"] for problem in problems):
        return missing_field_error(cls, str(problems[0]["loc"][0]))
    return ConfigurationError(f"{cls.name}: {describe_problems(error, field_notes(cls))}")


def _parts(hint: Any) -> Iterator[Any]:
    """Go through what a type is made of: ``Annotated[X | None, note]`` is X, None and the note."""
    yield hint
    yield from getattr(hint, "__metadata__", ())
    for part in get_args(hint):
        if part not in getattr(hint, "__metadata__", ()):
            yield from _parts(part)


@functools.cache
def _key_variables(cls: type[Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    variables = environment(cls)
    return tuple((name, variables.get(name, ())) for name, notes in field_notes(cls).items() if is_secret(notes))
