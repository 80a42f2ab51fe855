"""Merge what several sources set: the arguments, the environment and files; read the
environment, and check each.
"""

from __future__ import annotations
import functools
import json
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from pydantic import BaseModel, SecretStr, ValidationError

from .._registry import provider_class
from .._text.lists import split_list, split_texts
from .._text.problems import describe_problem
from .._text.suggestion import find_close, suggest_name
from ..errors import ConfigurationError
from ..keys._environ import ENV_FILE, describe_variable, read_env_file, read_variable
from ..keys._keys import is_in_keyring
from ..layers import Layer, layer_class
from ..models import describe_problems
from ..models._domains import Domains, parse_domain
from ..provider._declare import FoundFile, field_notes, find_found_file, is_secret
from ._build import check_entries, limit_of, too_high
from ._names import Form, find_aliases, find_line, has_variable, name_variable
from ._shapes import OTHER_NAMES, SWITCH, Path, flatten
from ._sources import NAMED, Option, Source, Table, make_refusal
from ._values import CONCERNS, HOMES, IN_ENVIRONMENT, PARTS

Options: TypeAlias = dict[Path, Option]  # of one source, or of all

_BUDGET = ("layers", "budget", "limit")
_PREFIX = name_variable(("",))
# Variables that are read elsewhere.
_OTHER_VARIABLES = (
    NAMED,
    ENV_FILE,
    *(f"{_PREFIX}{name}" for name in ("BROWSER_PATH", "INDEX", "MCP_TOKENS")),
)
_log = logging.getLogger(__name__)


def read_environment(fields: Mapping[str, Any]) -> Options:
    """Return what the environment sets of *fields* and their parts; raise
    `ConfigurationError` for what is wrong.
    """
    given: Options = {}
    whole = [(name,) for name in fields if has_variable(name)]
    paths = [
        *whole,
        *((name, part) for name, parts in IN_ENVIRONMENT.items() for part in parts),
    ]
    variables = {name_variable(path): path for path in paths}
    for name in sorted(
        {*os.environ, *read_env_file()} - {*variables, *_OTHER_VARIABLES}
    ):
        if name.startswith(_PREFIX):
            _warn_of_variable(name, tuple(variables), tuple(fields))
    for variable, path in variables.items():
        if not (value := read_variable(variable)):
            continue
        source = Source("environment", describe_variable(variable))
        is_json = path[0] in {"providers", "layers"} or value.lstrip().startswith("{")
        try:
            entry = json.loads(value) if is_json else value
        except (ValueError, RecursionError):
            raise ConfigurationError(f"{source}: not JSON") from None
        given |= flatten(
            Table(source, {path[0]: {path[1]: entry} if path[1:] else entry}), fields
        )
    return given


def check_options(given: Options, fields: Mapping[str, Any]) -> None:
    """Raise `ConfigurationError` for unknown names, and for what a found file may not
    set.
    """
    for path, option in given.items():
        source = option.source
        if path[0] == "providers" and path[2:] == (SWITCH,):
            if not isinstance(option.value, bool):
                raise ConfigurationError(f"{source.at()}: must be true or false")
        elif path[0] == "providers":
            check_entries(provider_class(path[1]), dict.fromkeys(path[2:], option))
        else:
            if problem := _describe_unknown(path, fields, given):
                raise ConfigurationError(f"{source.at()}: {problem}")
            if not source.trusted and not _is_open(path, fields):
                raise _make_refusal(path, source, "may not be set here")


def _describe_unknown(path: Path, fields: Mapping[str, Any], given: Options) -> str:
    """Return what to write instead of an unknown setting, or part of one; empty if it
    is known. Layers check theirs.
    """
    name, known = (
        (path[1], PARTS[path[0]])
        if path[1:] and path[0] in PARTS
        else (path[0], fields)
    )
    if name in known:
        return ""
    form: Form = "setting" if given[path].source.kind == "argument" else "file"
    asked = given.get(("provider",))
    # domains may be both
    others = fields if known is fields else fields.keys() - known.keys()
    if line := find_line(name, others, form, asked=asked and asked.value):
        return f"write {line}"
    return (
        f"not an "
        f"option{suggest_name(name, known, {**find_aliases(known), **{one: one for one in OTHER_NAMES}})}"
    )


def _is_open(path: Path, fields: Mapping[str, Any]) -> bool:
    """Return whether a found file may set *path*. Layers of other packages may do
    anything.
    """
    if path[0] == "layers" and not path[2:]:  # an empty table adds the layer, too
        return any(map(find_found_file, field_notes(layer_class(path[1])).values()))
    return find_found_file(_find_notes(path, fields)) is not None


def _find_notes(path: Path, fields: Mapping[str, Any]) -> Sequence[Any]:
    """Return what says who may set *path*."""
    match path:
        case _, _, option if option == SWITCH:
            return [FoundFile(at_most=True)]
        case "layers", kind, option:
            # making it says that it is unknown
            return field_notes(layer_class(kind)).get(option, [FoundFile()])
        case group, part:
            return PARTS[group][part]
        case _:
            notes: Sequence[Any] = fields[path[0]].metadata
            return notes


def merge(sources: list[Options]) -> Options:
    """Return the first value of each setting; one of a found file with the first
    trusted value as its limit.
    """
    chosen: Options = {}
    for given in sources:
        for path, option in given.items():
            first = chosen.setdefault(path, option)
            if (
                isinstance(option.value, Layer)
                and first.value == CONCERNS.get(path[0])
                and not options_of(first.value, chosen)
            ):
                # what is only switched on is the layer that a lower source describes
                chosen[path] = option
            if (
                option.source.trusted
                and not first.source.trusted
                and first.limit is None
            ):
                chosen[path] = replace(first, limit=option.value)
    return chosen


def nest(given: Options) -> dict[str, Any]:
    """Return the values of *given* by name, as `Settings` validates them."""
    values: dict[str, Any] = {}
    for path, option in given.items():
        if path[0] in CONCERNS or (
            path[0] == "layers" and path[1:2] and path[1] in HOMES
        ):
            continue
        if len(path) == 1:
            values[path[0]] = option.value
        elif path[0] in PARTS:
            values.setdefault(path[0], {})[path[1]] = option.value
        else:
            table = values.setdefault(path[0], {}).setdefault(path[1], {})
            if path[2:] and path[2:] != (SWITCH,):
                table[path[2]] = option.value
    return values | {
        name: made for name in CONCERNS if (made := find_layer(name, given)) is not None
    }


def find_layer(name: str, given: Options) -> Any:
    """Return the layer that the setting *name* is, False if it is switched off, or None
    if nothing is said.
    """
    if (switch := given.get((name,))) is None or switch.value is False:
        return None if switch is None else False
    if not isinstance(switch.value, str):
        check_home(switch.value, name)
        return switch.value
    return build_layer(switch.value, options_of(switch.value, given), switch.source)


def options_of(kind: str, given: Options, table: str = "layers") -> dict[str, Option]:
    """Return the options that *given* sets for the layer *kind*, or for one of another
    *table*.
    """
    return {
        path[2]: option
        for path, option in given.items()
        if path[:2] == (table, kind) and path[2:]
    }


def build_layer(kind: str, options: Mapping[str, Option], source: Source) -> Any:
    """Make the layer that is called *kind* in settings files; an error says where the
    wrong option is.
    """
    cls: Any = layer_class(kind)
    known = list(field_notes(cls))
    for option, one in options.items():
        where = one.source.at(one.source.key or f"layers.{kind}.{option}")
        if known and option not in known:
            raise ConfigurationError(
                f"{where}: not an option{suggest_name(option, known)}"
            )
    sources = [one.source for one in options.values()] or [source]
    where = sources[0].at(*dict.fromkeys(one.key for one in sources))
    try:
        return cls(**{option: one.value for option, one in options.items()})
    except (TypeError, ValueError, ConfigurationError) as error:
        problem = (
            describe_problems(error) if isinstance(error, ValidationError) else error
        )
        raise ConfigurationError(f"{where}: {problem}") from None


def check_home(layer: Any, name: str = "layers") -> None:
    """Raise `ConfigurationError` if *layer* belongs to another setting than *name*; the
    message says to which.
    """
    kinds = {layer_class(kind): home.partition(".")[0] for kind, home in HOMES.items()}
    home = next(
        (home for cls, home in kinds.items() if isinstance(layer, cls)), "layers"
    )
    if home != name and (
        name == "layers"
        or home != "layers"
        or layer.rank != layer_class(CONCERNS[name]).rank
    ):
        kind = type(layer).__name__
        write = f"layers=[{kind}(...)]" if home == "layers" else f"{home}={kind}(...)"
        raise ConfigurationError(f"{name}: {kind} does not belong here: write {write}")


def describe_invalid(error: ValidationError, chosen: Options) -> ConfigurationError:
    """Make the error for invalid values, which says where each is."""
    said: dict[str, None] = {}
    for problem in error.errors(
        include_url=False, include_context=False, include_input=False
    ):
        path = tuple(map(str, problem["loc"]))
        known = next((path[:n] for n in (2, 1) if path[:n] in chosen), ())
        source = chosen[known].source if known else Source("argument", written=path[:1])
        said[
            f"{source.at('.'.join([source.key, *path[len(known) or 1 :]]))}: "
            f"{describe_problem(problem)}"
        ] = None
    return ConfigurationError("; ".join(said))


def narrow(chosen: Options) -> Options:
    """Combine the domains and the budget of a found file with those of a trusted source
    that they would replace.
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
        found, trusted = (
            _parse_domains(value) for value in (option.value, option.limit)
        )
        if found is None or trusted is None:
            continue  # the validation of the settings says what is wrong
        if path == ("blocked_domains",):
            narrowed[path] = replace(option, value=trusted + found, limit=None)
        elif (both := Domains(allowed=trusted).narrow(found)) is not None:
            narrowed[path] = replace(option, value=both.allowed, limit=None)
        else:
            raise _make_refusal(
                path, option.source, "may only narrow those set elsewhere"
            )
    return narrowed


def check_limits(settings: BaseModel, chosen: Options) -> None:
    """Raise `ConfigurationError` for a limit that is higher than a found file may
    set.
    """
    trusted = {
        path
        for path, one in chosen.items()
        if one.source.trusted or one.limit is not None
    }
    for path, option in chosen.items():
        if option.source.trusted:
            continue
        value, limit = option.value, option.limit
        if path == ("budget",) and value is False:
            raise _make_refusal(path, option.source, "may not be switched off here")
        if path[0] in CONCERNS:
            value, limit = bool(value), limit and bool(limit)
        elif path[0] in {"layers", "providers"}:
            if path[2:] != (SWITCH,) and not (
                path[0] == "layers" and path[2:] and isinstance(value, int | float)
            ):
                continue
        else:
            value = _find_value(settings, path)
            if limit is not None:
                limit = _find_value(
                    type(settings)(**nest({path: replace(option, value=limit)})), path
                )
        notes = _find_notes(path, type(settings).model_fields)
        if too_high(value, notes, limit):
            most = limit_of(notes, limit)
            why = (
                "may not be switched on here"
                if isinstance(most, bool)
                else f"may not be more than {most} here"
            )
            raise _make_refusal(path, option.source, why)
        replaced = (note := find_found_file(notes)) and note.replaces
        if replaced and (path[0], replaced) in trusted:
            raise _make_refusal(
                path, option.source, f"may not take the place of {replaced} here"
            )


def _find_value(settings: BaseModel, path: Path) -> Any:
    value = getattr(settings, path[0])
    for part in path[1:]:
        value = value.get(part) if isinstance(value, Mapping) else getattr(value, part)
    return value


def warn_of_keys(given: Options) -> None:
    """Warn of each key in *given*, a file that other users of this machine can read."""
    for path, option in given.items():
        if path[0] == "providers" and path[2:] and _is_key(path, option.value):
            _warn_once(option.source, ".".join(path))


def _parse_domains(value: Any) -> tuple[str, ...] | None:
    try:
        return tuple(map(parse_domain, split_list(value)))
    except (AttributeError, TypeError, ValueError):
        return None


def _is_key(path: Path, value: Any) -> bool:
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    declared = field_notes(provider_class(path[1])).get(path[2])
    return (
        bool(text)
        and not is_in_keyring(text)
        and (is_secret(declared) if declared else path[2] == "api_key")
    )


@functools.lru_cache(maxsize=64)
def _warn_of_variable(
    name: str, known: tuple[str, ...], fields: tuple[str, ...]
) -> None:
    """Warn once of a variable that is named like a setting: not an error, since it may
    be another program's.
    """
    own = name.removeprefix(_PREFIX)
    line = find_line(own.lower(), fields, "variable")
    close = find_close(own, [one.removeprefix(_PREFIX) for one in known])
    hint = (
        f"write {line}"
        if line
        else f"did you mean {_PREFIX}{close}?"
        if close
        else "it is ignored"
    )
    _log.warning("environment %s: not a setting; %s", describe_variable(name), hint)


@functools.lru_cache(maxsize=64)
def _warn_once(source: Source, key: str) -> None:
    _log.warning(
        "%s: %s: other users of this machine can read this key: chmod 600 %s",
        source.place,
        key,
        source.name,
    )


def _make_refusal(path: Path, source: Source, why: str) -> ConfigurationError:
    group, *parts = path
    in_environment = not parts or parts[0] in IN_ENVIRONMENT.get(group, ())
    return make_refusal(
        source,
        source.key,
        why,
        variables=(name_variable(path),) if in_environment else (),
    )
