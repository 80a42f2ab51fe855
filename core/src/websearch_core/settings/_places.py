"""
The settings of several places: read those of the environment, check what each place sets, and merge them.

A place is what one source sets: the arguments, the environment, or a file.
"""

from __future__ import annotations

import functools
import json
import logging
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from math import inf
from os import PathLike, fspath
from types import MappingProxyType
from typing import Any, TypeAlias

from pydantic import BaseModel, SecretStr, ValidationError

from .._registry import provider_class
from .._text.lists import split_list
from .._text.problems import describe_problem
from .._text.suggestion import suggest_name
from ..errors import ConfigurationError
from ..keys._environ import describe_variable, read_variable
from ..keys._keys import is_in_keyring
from ..layers import layer_class
from ..models._domains import Domains, parse_domain
from ..provider._declare import FoundFile, field_notes, is_secret
from ._build import check_entries, limit_of, too_high
from ._shapes import SWITCH, Path, flatten
from ._sources import Option, Source, Table, make_refusal

Place: TypeAlias = dict[Path, Option]

_SWITCHES: Mapping[str, bool] = MappingProxyType(
    {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
)
_PLACE = re.compile(r"[/\\.:~]")  # a word without any of these is meant for something else than a file of this name
_log = logging.getLogger(__name__)


def read_environment(fields: Mapping[str, Any]) -> Place:
    """
    Return what the environment sets, by the name of each of the *fields*: ``WEB_SEARCH_TIMEOUT`` for ``timeout``.

    Raises:
        ConfigurationError: A variable that should hold JSON does not.

    """
    place: Place = {}
    for name in fields:
        if not (value := read_variable(_variable(name))):
            continue
        source = Source("environment", describe_variable(_variable(name)))
        try:
            table = Table(source, {name: json.loads(value) if name in {"providers", "layers"} else value})
        except (ValueError, RecursionError):
            raise ConfigurationError(f"{source}: not JSON") from None
        place |= flatten(table, fields)
    return place


def check_place(place: Place, fields: Mapping[str, Any]) -> None:
    """
    Reject unknown names, and what a found file may not set.

    Raises:
        ConfigurationError: There is one; the message says where.

    """
    for path, option in place.items():
        if path[0] == "layers" and path[1:]:
            _check_layer(path, option.source)
        elif path[0] == "providers" and path[2:] == (SWITCH,):
            if not isinstance(option.value, bool):
                raise ConfigurationError(f"{option.source.place}: {option.source.key}: must be true or false")
        elif len(path) == 3:
            check_entries(provider_class(path[1]), {path[2]: option})
        elif len(path) == 1:
            _check_setting(path[0], option.source, fields)


def merge(places: list[Place]) -> Place:
    """Return the first value of each setting; one of a found file with the first trusted value as its limit."""
    chosen: Place = {}
    for place in places:
        for path, option in place.items():
            first = chosen.setdefault(path, option)
            if option.source.trusted and not first.source.trusted and first.limit is None:
                chosen[path] = replace(first, limit=option.value)
    return chosen


def nest(place: Place) -> dict[str, Any]:
    """Return the values of *place* by name, as `Settings` validates them."""
    values: dict[str, Any] = {}
    for path, option in place.items():
        if len(path) == 1:
            values[path[0]] = option.value
        else:
            table = values.setdefault(path[0], {}).setdefault(path[1], {})
            if path[2:] and path[2:] != (SWITCH,):
                table[path[2]] = option.value
    return values


def describe_invalid(error: ValidationError, chosen: Place) -> ConfigurationError:
    """Make the error for invalid values, with the place of each."""
    said: dict[str, None] = {}
    for problem in error.errors(include_url=False, include_context=False, include_input=False):
        name, *inner = map(str, problem["loc"])
        source = chosen[name,].source if (name,) in chosen else Source("argument", written=(name,))
        said[f"{source.place}: {'.'.join([source.key, *inner])}: {describe_problem(problem)}"] = None
    return ConfigurationError("; ".join(said))


def narrow(chosen: Place) -> Place:
    """
    Combine the domains and the budget of a found file with those of a trusted source that they would replace.

    Raises:
        ConfigurationError: The file allows only other domains.

    """
    narrowed = dict(chosen)
    budget = chosen.get(("budget",))
    if budget and not budget.source.trusted and budget.limit is not None:
        narrowed["budget",] = replace(budget, value=(*_as_texts(budget.limit), *_as_texts(budget.value)), limit=None)
    for path in (("allowed_domains",), ("blocked_domains",)):
        option = chosen.get(path)
        if option is None or option.source.trusted or option.limit is None:
            continue
        found, trusted = (_parse_domains(value) for value in (option.value, option.limit))
        if found is None or trusted is None:
            continue  # the validation of the settings says what is wrong
        if path == ("blocked_domains",):
            narrowed[path] = replace(option, value=trusted + found, limit=None)
        elif (both := Domains(allowed=trusted).narrow(found)) is not None:
            narrowed[path] = replace(option, value=both.allowed, limit=None)
        else:
            raise make_refusal(option.source, path[0], "may only narrow those set elsewhere")
    return narrowed


def check_limits(settings: BaseModel, chosen: Place) -> None:
    """
    Reject a limit in a found file that is higher than the file may set.

    Raises:
        ConfigurationError: There is one.

    """
    found = {path: option for path, option in chosen.items() if not option.source.trusted}
    trusted = {path[0] for path, one in chosen.items() if one.source.trusted or one.limit is not None}
    overruled = {path[0]: option.limit for path, option in found.items() if len(path) == 1 and option.limit is not None}
    limits = type(settings)(**overruled) if overruled else None
    for path, option in found.items():
        name = path[0]
        if len(path) == 1:
            notes = type(settings).model_fields[name].metadata
            limit = getattr(limits, name) if name in overruled else None
            _check_limit(path, option.source, getattr(settings, name), notes, limit)
            replaced = {note.replaces for note in notes if isinstance(note, FoundFile)} & trusted
            if replaced:
                why = f"may not take the place of {', '.join(map(str, replaced))} here"
                raise make_refusal(option.source, name, why, variables=(_variable(name),))
        elif path[2:] == (SWITCH,):
            _check_limit(path, option.source, option.value, [FoundFile(at_most=True)], option.limit)
        elif name == "layers" and path[2:] and isinstance(option.value, int | float):
            notes = list(field_notes(layer_class(path[1])).get(path[2], ()))
            _check_limit(path, option.source, option.value, notes, option.limit)


def warn_of_keys(place: Place) -> None:
    """Warn of each key in *place*, a file that other users of this machine can read."""
    for path, option in place.items():
        if path[0] == "providers" and path[2:] and _is_key(path, option.value):
            _warn_once(option.source, ".".join(path))


def parse_switch(value: Any) -> Any:
    """Return what ``cache`` says as a switch, a number of seconds, or a place; text of the environment included."""
    if isinstance(value, PathLike):
        return fspath(value)
    text = value.strip() if isinstance(value, str) else None
    if text and text.lower() in _SWITCHES:
        return _SWITCHES[text.lower()]
    if text and text.lower() in {"none", "null", "disabled"}:
        return False
    with suppress(ValueError):
        value = float(text) if text else value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and _PLACE.search(value):
        return value
    if isinstance(value, float | int) and 0 < value < inf:
        return value
    raise ValueError("must be true, false, seconds above 0, a path such as ./answers.db, or a URL of Redis")


def _as_texts(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _parse_domains(value: Any) -> tuple[str, ...] | None:
    try:
        return tuple(map(parse_domain, split_list(value)))
    except (AttributeError, TypeError, ValueError):
        return None


def _variable(name: str) -> str:
    return f"WEB_SEARCH_{name.upper()}"


def _is_key(path: Path, value: Any) -> bool:
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    declared = field_notes(provider_class(path[1])).get(path[2])
    return bool(text) and not is_in_keyring(text) and (is_secret(declared) if declared else path[2] == "api_key")


@functools.lru_cache(maxsize=64)
def _warn_once(source: Source, key: str) -> None:
    _log.warning("%s: %s: other users of this machine can read this key: chmod 600 %s", source.place, key, source.name)


def _check_setting(name: str, source: Source, fields: Mapping[str, Any]) -> None:
    if name not in fields:
        raise ConfigurationError(f"{source.place}: {source.key}: not an option{suggest_name(name, fields)}")
    if not source.trusted and not any(isinstance(note, FoundFile) for note in fields[name].metadata):
        raise make_refusal(source, name, "may not be set here", variables=(_variable(name),))


def _check_layer(path: Path, source: Source) -> None:
    """Reject layer options that a found file may not set: layers of other packages may do anything."""
    if source.trusted:
        return
    notes = field_notes(layer_class(path[1]))
    allowed = {option for option, some in notes.items() if any(isinstance(note, FoundFile) for note in some)}
    refused = path[2] not in allowed and path[2] in notes if len(path) == 3 else not allowed
    if refused:
        raise make_refusal(source, ".".join(path), "may not be set here")


def _check_limit(path: Path, source: Source, value: Any, notes: list[Any], limit: Any) -> None:
    if not too_high(value, notes, limit):
        return
    most = limit_of(notes, limit)
    why = "may not be switched on here" if isinstance(most, bool) else f"may not be more than {most} here"
    variables = (_variable(path[0]),) if len(path) == 1 else ()
    raise make_refusal(source, ".".join(path), why, variables=variables)
