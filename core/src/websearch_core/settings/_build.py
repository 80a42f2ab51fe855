"""Build a provider from options of several sources, and let none of them abuse another.

A key is combined with a `BaseUrl` only if the source of the URL is trusted, or is also
the source of the key. A found settings file may set only fields annotated with
`FoundFile`.
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
    OF_HTTP,
    Destination,
    construct,
    environment,
    field_notes,
    find_found_file,
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
    return {
        **settings,
        **_read_environment(cls),
        **{
            name: option
            for name, option in settings.items()
            if option.source == ARGUMENT
        },
        **{
            name: Option(value, ARGUMENT)
            for name, value in explicit.items()
            if value is not None
        },
    }


def build(cls: type[Any], options: Mapping[str, Option], name: str) -> Any:
    """Construct the provider *cls*, which is registered under *name*; errors name the
    variable or the file.
    """
    fields = field_notes(cls)
    check_entries(cls, options)
    if fields and _KEY not in fields and _KEY in options:
        _log.warning(
            "%s: ignored, since %s needs no key", options[_KEY].source.at(_KEY), name
        )
        options = {option: one for option, one in options.items() if option != _KEY}
    given = {
        field: _convert(option, fields.get(field)) for field, option in options.items()
    }
    made = construct(cls, name, given)
    _check_values(made, options)
    return made


def check_entries(cls: type[Any], options: Mapping[str, Option]) -> None:
    """Raise an error for options that are wrong, or that a found file may not set, in
    use or not.

    A class without declared fields gets none from a found file, since its options may
    do anything.
    """
    fields = field_notes(cls)
    for name, option in options.items():
        # an argument of a call has no place
        if fields and (option.source.written or option.source != ARGUMENT):
            _check_option(cls, name, option)
        if option.source.trusted:
            continue
        if not find_found_file(fields.get(name, ())) and (name in fields or not fields):
            raise _make_refusal(cls, name, option.source, "may not be set here")
        if name in fields and is_secret(fields[name]) and is_in_keyring(option.value):
            raise _make_refusal(cls, name, option.source, "may not name a keyring here")


def _check_option(cls: type[Any], name: str, option: Option) -> None:
    where, fields = option.source.at(option.source.key or name), field_notes(cls)
    # a key that is not needed is ignored, with a warning
    if name not in fields and name != _KEY:
        raise ConfigurationError(
            f"{where}: not an option{suggest_name(name, fields, OF_HTTP)}"
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
    """Return *options* of the provider *cls* with all keys concealed. An undeclared
    option may be a key.
    """
    fields = field_notes(cls)
    return {
        name: value
        if name in fields and not is_secret(fields[name])
        else _conceal(value)
        for name, value in options.items()
    }


def _conceal(value: Any) -> Any:
    if isinstance(value, SecretStr | Secret) or callable(value):
        return value
    return SecretStr(value) if isinstance(value, str) else Secret(value)


def _convert(option: Option, notes: tuple[Any, ...] | None) -> Any:
    """Return the value in the form that the class accepts."""
    value = option.value
    if notes is None and isinstance(value, SecretStr | Secret):
        return value.get_secret_value()
    if (
        notes
        and is_secret(notes)
        and option.source.kind == "environment"
        and isinstance(value, str)
    ):
        return KeyFromEnvironment(value)
    return value


def _read_environment(cls: type[Any]) -> dict[str, Option]:
    found = {}
    for option, names in environment(cls).items():
        for name in names:
            if value := read_variable(name):
                found[option] = Option(
                    value, Source("environment", describe_variable(name))
                )
                break
    return found


def _check_values(made: Any, options: Mapping[str, Option]) -> None:
    """Check the resulting values, not how the options spell them."""
    cls = type(made)
    fields = field_notes(cls)
    keys = [
        options[name].source if name in options else DEFAULT
        for name, notes in fields.items()
        if is_secret(notes) and getattr(made, name) is not None
    ]
    for name, option in options.items():
        if option.source.trusted or name not in fields:
            continue
        value, notes = getattr(made, name), fields[name]
        if any(isinstance(note, Destination) for note in notes):
            if problem := _find_problem(value, option.source, keys):
                raise _make_refusal(cls, name, option.source, problem)
        elif too_high(value, notes, option.limit):
            raise _make_refusal(
                cls,
                name,
                option.source,
                f"may not be more than {limit_of(notes, option.limit)} here",
            )


def too_high(value: Any, notes: Iterable[Any], trusted: Any) -> bool:
    """Return whether *value* is more than a found file may set."""
    limit = limit_of(notes, trusted)
    if limit is None or value is None:
        return False
    return not isinstance(value, int | float) or not value <= limit


def limit_of(notes: Iterable[Any], trusted: Any) -> float | None:
    """Return the trusted value of a limit, else the maximum that its notes allow a
    found file to set.
    """
    note = find_found_file(notes)
    limit = note.at_most if note else None
    return trusted if limit is not None and isinstance(trusted, int | float) else limit


def _find_problem(url: Any, source: Source, keys: Iterable[Source]) -> str | None:
    """Return what is wrong with a destination in a found file, or None."""
    # imported here, because few found files name a destination
    from .._net.guard import Guard

    if any(key != source for key in keys):
        return "may not be set here for a key that comes from elsewhere"
    try:
        parts = urlsplit(canonicalize(url))
        here = is_this_machine(parts.hostname or "")
        if parts.scheme != "https" and not here:
            return "may not be plain http here, except on this machine"
        Guard.allowing(_THIS_MACHINE if here else ()).check(url)
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
