"""Build a provider from options of several sources, and let none of them abuse another.

A key is combined with a `BaseUrl` only if the source of the URL is trusted, or is also
the source of the key. A project settings file may set only fields annotated with
`ProjectFile`.
"""

from __future__ import annotations
import logging
from collections.abc import Hashable, Iterable, Mapping
from functools import cache
from typing import Any, cast, get_type_hints
from urllib.parse import urlsplit

from pydantic import ConfigDict, Secret, SecretStr, TypeAdapter, ValidationError

from .._text.problems import describe_problem
from .._text.suggestion import suggest_name
from .._text.urls import canonicalize, is_this_machine
from ..errors import ConfigurationError, UnsafeURL
from ..keys._environ import describe_variable, read_variable
from ..keys._keys import KeyFromEnvironment, is_in_keyring
from ..provider._declare import (
    HTTP_HINTS,
    Destination,
    construct,
    environment,
    field_notes,
    find_project_note,
    is_secret,
)
from ._sources import ARGUMENT, DEFAULT, Option, Source, make_refusal

_KEY = "api_key"
_log = logging.getLogger(__name__)
_THIS_MACHINE = "127.0.0.0/8", "::1/128"


def collect_options(
    cls: type[Any], settings: Mapping[str, Option], explicit: Mapping[str, Any]
) -> dict[str, Option]:
    """Return the options of the provider *cls*: *explicit* ones, else the
    environment's, else those of the files.
    """
    options = {**settings, **_read_environment(cls)}
    for name, option in settings.items():
        if option.source == ARGUMENT:
            options[name] = option
    for name, value in explicit.items():
        if value is not None:
            options[name] = Option(value, ARGUMENT)
    return options


def build(cls: type[Any], options: Mapping[str, Option], name: str) -> Any:
    """Construct the provider *cls*, which is registered under *name*; errors name the
    variable or the file.
    """
    fields = field_notes(cls)
    check_entries(cls, options)
    options = dict(options)
    takes_key = not fields or _KEY in fields
    if _KEY in options and not takes_key:
        place = options.pop(_KEY).source.at(_KEY)
        _log.warning("%s: ignored, since %s needs no key", place, name)
    values = {
        field: _convert(option, fields.get(field)) for field, option in options.items()
    }
    provider = construct(cls, name, values)
    _check_values(provider, options)
    return provider


def check_entries(cls: type[Any], options: Mapping[str, Option]) -> None:
    """Raise an error for options that are wrong, or that a project file may not set, in
    use or not.

    A class without declared fields gets none from a project file, since its options may
    do anything.
    """
    fields = field_notes(cls)
    for name, option in options.items():
        # an argument of a call has no place
        has_place = bool(option.source.written) or option.source != ARGUMENT
        if fields and has_place:
            _check_option(cls, name, option)
        if not option.source.trusted:
            _check_untrusted(cls, name, option, fields)


def _check_untrusted(
    cls: type[Any], name: str, option: Option, fields: Mapping[str, tuple[Any, ...]]
) -> None:
    """Refuse what a project file may not set."""
    notes = fields.get(name, ())
    is_ours = name in fields or not fields
    if is_ours and not find_project_note(notes):
        raise _make_refusal(cls, name, option.source, "may not be set here")
    if is_secret(notes) and is_in_keyring(option.value):
        raise _make_refusal(cls, name, option.source, "may not name a keyring here")


def _check_option(cls: type[Any], name: str, option: Option) -> None:
    where = option.source.at(option.source.key or name)
    fields = field_notes(cls)
    # a key that is not needed is ignored, with a warning
    if name not in fields and name != _KEY:
        raise ConfigurationError(
            f"{where}: not an option{suggest_name(name, fields, HTTP_HINTS)}"
        )
    # whose text may not be looked at here
    if name not in fields or is_secret(fields[name]):
        return
    try:
        _make_validator(cast("Hashable", cls), name).validate_python(option.value)
    except ValidationError as error:
        raise ConfigurationError(
            f"{where}: {describe_problem(error.errors(include_input=False)[0])}"
        ) from None


@cache
def _make_validator(cls: Any, field: str) -> TypeAdapter[Any]:
    return TypeAdapter(
        get_type_hints(cls, include_extras=True)[field],
        config=ConfigDict(arbitrary_types_allowed=True),
    )


def conceal(cls: type[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return *options* of the provider *cls* with all keys concealed."""
    concealed: dict[str, Any] = {}
    for name, value in options.items():
        concealed[name] = value if is_public(cls, name) else _conceal(value)
    return concealed


def is_public(cls: type[Any], option: str) -> bool:
    """Return whether an option is not a key. One that is not declared may be one."""
    fields = field_notes(cls)
    return option in fields and not is_secret(fields[option])


def _conceal(value: Any) -> Any:
    if isinstance(value, SecretStr | Secret) or callable(value):
        return value
    if isinstance(value, str):
        return SecretStr(value)
    return Secret(value)


def _convert(option: Option, notes: tuple[Any, ...] | None) -> Any:
    """Return the value in the form that the class accepts."""
    value = option.value
    if notes is None and isinstance(value, SecretStr | Secret):
        return value.get_secret_value()
    if option.source.kind != "environment" or not isinstance(value, str):
        return value
    if notes and is_secret(notes):
        return KeyFromEnvironment(value)
    return value


def _read_environment(cls: type[Any]) -> dict[str, Option]:
    options: dict[str, Option] = {}
    for option, names in environment(cls).items():
        for name in names:
            value = read_variable(name)
            if value:
                source = Source("environment", describe_variable(name))
                options[option] = Option(value, source)
                break
    return options


def _check_values(provider: Any, options: Mapping[str, Option]) -> None:
    """Check the resulting values, not how the options spell them."""
    cls = type(provider)
    fields = field_notes(cls)
    keys: list[Source] = []
    for name, notes in fields.items():
        if is_secret(notes) and getattr(provider, name) is not None:
            source = options[name].source if name in options else DEFAULT
            keys.append(source)
    for name, option in options.items():
        if option.source.trusted or name not in fields:
            continue
        value = getattr(provider, name)
        notes = fields[name]
        problem: str | None = None
        if any(isinstance(note, Destination) for note in notes):
            problem = _find_problem(value, option.source, keys)
        elif too_high(value, notes, option.limit):
            problem = f"may not be more than {limit_of(notes, option.limit)} here"
        if problem is not None:
            raise _make_refusal(cls, name, option.source, problem)


def too_high(value: Any, notes: Iterable[Any], trusted: Any) -> bool:
    """Return whether *value* is more than a project file may set."""
    limit = limit_of(notes, trusted)
    if limit is None or value is None:
        return False
    return not isinstance(value, int | float) or not value <= limit


def limit_of(notes: Iterable[Any], trusted: Any) -> float | None:
    """Return the trusted value of a limit, else the maximum that its notes allow a
    project file to set.
    """
    note = find_project_note(notes)
    if note is None or note.at_most is None:
        return None
    if isinstance(trusted, int | float):
        return trusted
    return note.at_most


def _find_problem(url: Any, source: Source, keys: Iterable[Source]) -> str | None:
    """Return what is wrong with a destination in a project file, or None."""
    # imported here, because few project files name a destination
    from .._net.guard import Guard

    if any(key != source for key in keys):
        return "may not be set here for a key that comes from elsewhere"
    try:
        parts = urlsplit(canonicalize(url))
        holes: tuple[str, ...] = ()
        if is_this_machine(parts.hostname or ""):
            holes = _THIS_MACHINE
        elif parts.scheme != "https":
            return "may not be plain http here, except on this machine"
        Guard.allowing(holes).check(url)
    except UnsafeURL as error:
        return f"may not be this here ({error})"
    return None


def _make_refusal(cls: Any, name: str, source: Source, why: str) -> ConfigurationError:
    own = getattr(cls, "name", None)
    # a plain class may have a property here
    whose = own if isinstance(own, str) else cls.__name__
    return make_refusal(
        source,
        f"providers.{whose}.{name}",
        why,
        variables=environment(cls).get(name, ()),
    )
