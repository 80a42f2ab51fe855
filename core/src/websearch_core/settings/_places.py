"""
The settings of several places: read those of the environment, check what each place sets, and merge them.

A place is what one source sets: the arguments, the environment, or a file.
"""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from pydantic import BaseModel, SecretStr, ValidationError

from .._registry import provider_class
from .._text.choices import OTHER_NAMES as OPTION_NAMES
from .._text.lists import split_list
from .._text.problems import describe_problem
from .._text.suggestion import suggest_name
from ..errors import ConfigurationError
from ..keys._environ import describe_variable, read_variable
from ..keys._keys import is_in_keyring
from ..layers import Layer, layer_class
from ..layers._amounts import split_texts
from ..models import describe_problems
from ..models._domains import Domains, parse_domain
from ..provider._declare import FoundFile, field_notes, is_secret
from ._build import check_entries, limit_of, too_high
from ._shapes import SWITCH, Path, flatten
from ._sources import Option, Source, Table, make_refusal
from ._values import (
    CONCERNS,
    FORMER_VARIABLES,
    HOMES,
    IN_ENVIRONMENT,
    PARTS,
    Http,
    describe_former,
    name_variable,
)

Place: TypeAlias = dict[Path, Option]

_BUDGET = ("layers", "budget", "limit")
_log = logging.getLogger(__name__)


def read_environment(fields: Mapping[str, Any]) -> Place:
    """
    Return what the environment sets: each of the *fields* and of their parts by `name_variable`.

    Raises:
        ConfigurationError: A variable that should hold JSON does not, or its name has changed.

    """
    for former, now in FORMER_VARIABLES.items():
        if read_variable(name := name_variable((former,))):
            raise ConfigurationError(f"environment {describe_variable(name)}: write {now}")
    place: Place = {}
    for name in fields:
        for part in ("", *IN_ENVIRONMENT.get(name, ())):
            path = (name, part) if part else (name,)
            if (name in IN_ENVIRONMENT and not part and name != "timeout") or not (
                value := read_variable(name_variable(path))
            ):
                continue
            source = Source("environment", describe_variable(name_variable(path)))
            entry: Any = value
            try:
                if name in {"providers", "layers"} or (name in CONCERNS and value.lstrip().startswith("{")):
                    entry = json.loads(value)
            except (ValueError, RecursionError):
                raise ConfigurationError(f"{source}: not JSON") from None
            place |= flatten(Table(source, {name: {part: entry} if part else entry}), fields)
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
        elif path[0] in PARTS and path[1:]:
            _check_part(path, option.source)
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
            if (
                isinstance(option.value, Layer)
                and first.value == CONCERNS.get(path[0])
                and not _has_options(chosen, first.value)
            ):
                chosen[path] = option  # what is only switched on is the layer that a lower place describes
            if option.source.trusted and not first.source.trusted and first.limit is None:
                chosen[path] = replace(first, limit=option.value)
    return chosen


def nest(place: Place) -> dict[str, Any]:
    """Return the values of *place* by name, as `Settings` validates them."""
    values: dict[str, Any] = {}
    for path, option in place.items():
        if path[0] in CONCERNS or (path[0] == "layers" and path[1:2] and path[1] in HOMES):
            continue
        if len(path) == 1:
            values[path[0]] = option.value
        elif path[0] in PARTS:
            values.setdefault(path[0], {})[path[1]] = option.value
        else:
            table = values.setdefault(path[0], {}).setdefault(path[1], {})
            if path[2:] and path[2:] != (SWITCH,):
                table[path[2]] = option.value
    return values | {name: made for name in CONCERNS if (made := find_layer(name, place)) is not None}


def find_layer(name: str, place: Place) -> Any:
    """
    Return the layer that the setting *name* is: the layer, False if it is switched off, or None if nothing is said.

    Raises:
        ConfigurationError: An option of it is wrong, or it belongs to another setting.

    """
    if (switch := place.get((name,))) is None or switch.value is False:
        return None if switch is None else False
    if not isinstance(switch.value, str):
        check_home(switch.value, name)
        return switch.value
    return build_layer(switch.value, options_of(switch.value, place), switch.source)


def options_of(kind: str, place: Place) -> dict[str, Option]:
    """Return the options that *place* sets for the layer *kind*."""
    return {path[2]: option for path, option in place.items() if path[:2] == ("layers", kind) and path[2:]}


def build_layer(kind: str, options: Mapping[str, Option], source: Source) -> Any:
    """
    Make the layer that is called *kind* in settings files.

    Raises:
        ConfigurationError: An option is wrong; the message says where it is.

    """
    cls: Any = layer_class(kind)
    known = list(field_notes(cls))
    for option, one in options.items():
        where = f"{one.source.place}: {one.source.key or f'layers.{kind}.{option}'}"
        if option in getattr(cls, "renamed", {}):
            raise ConfigurationError(f"{where}: write {cls.renamed[option]}")
        if known and option not in known:
            raise ConfigurationError(f"{where}: not an option{suggest_name(option, known)}")
    keys = ", ".join(dict.fromkeys(one.source.key for one in options.values())) or source.key
    where = f"{next((one.source.place for one in options.values()), source.place)}: {keys}"
    try:
        return cls(**{option: one.value for option, one in options.items()})
    except ValidationError as error:
        raise ConfigurationError(f"{where}: {describe_problems(error)}") from None
    except (TypeError, ValueError, ConfigurationError) as error:
        raise ConfigurationError(f"{where}: {error}") from None


def check_home(layer: Any, name: str = "layers") -> None:
    """
    Check that *layer* stands in the setting that it belongs to, *name*.

    Raises:
        ConfigurationError: It belongs to another one; the message says which.

    """
    kinds = {layer_class(kind): home.partition(".")[0] for kind, home in HOMES.items()}
    home = next((home for cls, home in kinds.items() if isinstance(layer, cls)), "layers")
    if home != name and (name == "layers" or home != "layers" or layer.rank != layer_class(CONCERNS[name]).rank):
        kind = type(layer).__name__
        write = f"layers=[{kind}(...)]" if home == "layers" else f"{home}={kind}(...)"
        raise ConfigurationError(f"{name}: {kind} does not belong here: write {write}")


def describe_invalid(error: ValidationError, chosen: Place) -> ConfigurationError:
    """Make the error for invalid values, with the place of each."""
    said: dict[str, None] = {}
    for problem in error.errors(include_url=False, include_context=False, include_input=False):
        path = tuple(map(str, problem["loc"]))
        known = next((path[:n] for n in (2, 1) if path[:n] in chosen), ())
        source = chosen[known].source if known else Source("argument", written=path[:1])
        said[f"{source.place}: {'.'.join([source.key, *path[len(known) or 1 :]])}: {describe_problem(problem)}"] = None
    return ConfigurationError("; ".join(said))


def narrow(chosen: Place) -> Place:
    """
    Combine the domains and the budget of a found file with those of a trusted source that they would replace.

    Raises:
        ConfigurationError: The file allows only other domains.

    """
    narrowed = dict(chosen)
    budget = chosen.get(_BUDGET)
    if budget and not budget.source.trusted and budget.limit is not None:
        limits = (*split_texts(budget.limit), *split_texts(budget.value))
        narrowed[_BUDGET] = replace(budget, value=limits, limit=None)
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
    trusted = {path for path, one in chosen.items() if one.source.trusted or one.limit is not None}
    overruled = {path: replace(one, value=one.limit) for path, one in found.items() if one.limit is not None}
    limits = {
        path: type(settings)(**nest({path: one}))
        for path, one in overruled.items()
        if path[0] not in {*CONCERNS, "layers", "providers"}
    }
    for path, option in found.items():
        name = path[0]
        if name in PARTS and path[1:]:
            notes: Sequence[Any] = PARTS[name][path[1]]
            limit = _find_part(limits[path], path) if path in limits else None
            _check_limit(path, option.source, _find_part(settings, path), notes, limit)
            replaced = {note.replaces for note in notes if isinstance(note, FoundFile)}
            if any((name, one) in trusted for one in replaced):
                why = f"may not take the place of {', '.join(map(str, replaced))} here"
                raise make_refusal(option.source, option.source.key, why, variables=(name_variable(path),))
        elif len(path) == 1:
            notes = type(settings).model_fields[name].metadata
            if name == "budget" and option.value is False:
                raise make_refusal(
                    option.source, name, "may not be switched off here", variables=(name_variable(path),)
                )
            value = bool(option.value) if name in CONCERNS else getattr(settings, name)
            limit = getattr(limits[path], name) if path in limits else option.limit and bool(option.limit)
            _check_limit(path, option.source, value, notes, limit)
        elif path[2:] == (SWITCH,):
            _check_limit(path, option.source, option.value, [FoundFile(at_most=True)], option.limit)
        elif name == "layers" and path[2:] and isinstance(option.value, int | float):
            notes = field_notes(layer_class(path[1])).get(path[2], ())
            _check_limit(path, option.source, option.value, notes, option.limit)


def _find_part(settings: BaseModel, path: Path) -> Any:
    values = getattr(settings, path[0])
    return values.get(path[1]) if isinstance(values, Mapping) else getattr(values, path[1])


def warn_of_keys(place: Place) -> None:
    """Warn of each key in *place*, a file that other users of this machine can read."""
    for path, option in place.items():
        if path[0] == "providers" and path[2:] and _is_key(path, option.value):
            _warn_once(option.source, ".".join(path))


def _has_options(place: Place, kind: Any) -> bool:
    return any(path[:2] == ("layers", kind) for path in place)


def _parse_domains(value: Any) -> tuple[str, ...] | None:
    try:
        return tuple(map(parse_domain, split_list(value)))
    except (AttributeError, TypeError, ValueError):
        return None


def _is_key(path: Path, value: Any) -> bool:
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    declared = field_notes(provider_class(path[1])).get(path[2])
    return bool(text) and not is_in_keyring(text) and (is_secret(declared) if declared else path[2] == "api_key")


@functools.lru_cache(maxsize=64)
def _warn_once(source: Source, key: str) -> None:
    _log.warning("%s: %s: other users of this machine can read this key: chmod 600 %s", source.place, key, source.name)


def _check_setting(name: str, source: Source, fields: Mapping[str, Any]) -> None:
    if name not in fields:
        now = describe_former(name, in_a_file=source.kind != "argument")
        hint = f"write {now}" if now else f"not an option{suggest_name(name, fields)}"
        raise ConfigurationError(f"{source.place}: {source.key}: {hint}")
    if not source.trusted and not any(isinstance(note, FoundFile) for note in fields[name].metadata):
        raise make_refusal(source, name, "may not be set here", variables=(name_variable((name,)),))


def _check_part(path: Path, source: Source) -> None:
    group, part = path
    known = PARTS[group]
    if part not in known:
        if group == "http" and part in Http.__annotations__:
            raise ConfigurationError(f"{source.place}: {source.key}: only WebSearch(http=Http({part}=...)) takes it")
        raise ConfigurationError(
            f"{source.place}: {source.key}: not an option{suggest_name(part, known, OPTION_NAMES)}"
        )
    if not source.trusted and not any(isinstance(note, FoundFile) for note in known[part]):
        variables = (name_variable(path),) if part in IN_ENVIRONMENT[group] else ()
        raise make_refusal(source, source.key, "may not be set here", variables=variables)


def _check_layer(path: Path, source: Source) -> None:
    """Reject layer options that a found file may not set: layers of other packages may do anything."""
    if source.trusted:
        return
    notes = field_notes(layer_class(path[1]))
    allowed = {option for option, some in notes.items() if any(isinstance(note, FoundFile) for note in some)}
    refused = path[2] not in allowed and path[2] in notes if len(path) == 3 else not allowed
    if refused:
        raise make_refusal(source, source.key, "may not be set here")


def _check_limit(path: Path, source: Source, value: Any, notes: Iterable[Any], limit: Any) -> None:
    if not too_high(value, notes, limit):
        return
    most = limit_of(notes, limit)
    why = "may not be switched on here" if isinstance(most, bool) else f"may not be more than {most} here"
    variables = (name_variable(path),) if len(path) == 1 or path[0] in PARTS else ()
    raise make_refusal(
        source, source.key if path[0] in {*PARTS, "layers"} else ".".join(path), why, variables=variables
    )
