"""Merge what several sources set: the arguments, the environment and files.

Read the environment, and check each source.
"""

from __future__ import annotations
import functools
import json
import logging
import os
from collections.abc import Collection, Mapping, Sequence
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
from ..provider._declare import ProjectFile, field_notes, find_project_note, is_secret
from ._build import check_entries, limit_of, too_high
from ._names import Form, find_aliases, find_line
from ._shapes import OTHER_NAMES, SWITCH, Name, flatten
from ._sources import NAMED, Option, Source, Table, make_refusal
from ._values import CONCERNS, HOMES, PREFIX, SETTINGS, find_setting

Options: TypeAlias = dict[Name, Option]  # of one source, or of all

_BUDGET = Name("budget")
_BUDGET_LIMIT = Name("layers", "budget", "limit")
_PROVIDER = Name("provider")
_ALLOWED = Name("allowed_domains")
_BLOCKED = Name("blocked_domains")

_MISSPELLED_PREFIX = "WEBSEARCH_"
# Variables that are read elsewhere.
_OTHER_VARIABLES = (
    NAMED,
    ENV_FILE,
    f"{PREFIX}BROWSER_PATH",
    f"{PREFIX}INDEX",
    f"{PREFIX}MCP_TOKENS",
)
_log = logging.getLogger(__name__)


def read_environment(fields: Mapping[str, Any]) -> Options:
    """Return what the environment sets of *fields* and their parts.

    Raises:
        ConfigurationError: A variable is wrong.
    """
    variables = _list_variables(fields)
    _warn_of_unknown_variables(variables, fields)
    options: Options = {}
    for variable, name in variables.items():
        text = read_variable(variable)
        if not text:
            continue
        source = Source("environment", describe_variable(variable))
        value = _parse_variable(text, name, source)
        if name.part is not None:
            value = {name.part: value}
        options |= flatten(Table(source, {name.group: value}), fields)
    return options


def _list_variables(fields: Collection[str]) -> dict[str, Name]:
    """Return the variables of all settings and parts of settings that have one."""
    names = [Name(field) for field in fields]
    for group, setting in SETTINGS.items():
        names += [Name(group, part) for part in setting.parts]
    variables = {find_setting(name.group, name.part).variable: name for name in names}
    variables.pop("", None)
    return variables


def _warn_of_unknown_variables(
    variables: Collection[str], fields: Collection[str]
) -> None:
    ours = {*variables, *_OTHER_VARIABLES}
    for variable in sorted({*os.environ, *read_env_file()} - ours):
        if variable.startswith((PREFIX, _MISSPELLED_PREFIX)):
            _warn_of_variable(variable, tuple(variables), tuple(fields))


def _parse_variable(text: str, name: Name, source: Source) -> Any:
    is_json = name.group in {"providers", "layers"} or text.lstrip().startswith("{")
    if not is_json:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ConfigurationError(f"{source}: not JSON") from None


def check_options(options: Options, fields: Mapping[str, Any]) -> None:
    """Raise an error for unknown names, and for what a project file may not set."""
    for name, option in options.items():
        source = option.source
        if name.group == "providers":
            _check_provider_option(name, option)
            continue
        problem = _describe_unknown(name, fields, options)
        if problem:
            raise ConfigurationError(f"{source.at()}: {problem}")
        if not source.trusted and not _is_open(name, fields):
            raise _make_refusal(name, source, "may not be set here")


def _check_provider_option(name: Name, option: Option) -> None:
    if name.option != SWITCH:
        entries = {} if name.option is None else {name.option: option}
        check_entries(provider_class(name.parent), entries)
    elif not isinstance(option.value, bool):
        raise ConfigurationError(f"{option.source.at()}: must be true or false")


def _describe_unknown(name: Name, fields: Mapping[str, Any], options: Options) -> str:
    """Return what to write instead of an unknown setting, or part of one.

    Empty if it is known. Layers check their options themselves.
    """
    names: Collection[str] = fields
    other_settings: Collection[str] = fields
    word = name.group
    parts = find_setting(name.group).parts
    if name.part is not None and parts:
        word = name.part
        names = parts
        # The domains are settings and search options alike.
        other_settings = fields.keys() - names
    if word in names:
        return ""
    is_argument = options[name].source.kind == "argument"
    form: Form = "setting" if is_argument else "file"
    provider = options.get(_PROVIDER)
    providers = None if provider is None else provider.value
    line = find_line(word, other_settings, form, providers=providers)
    if line:
        return f"write {line}"
    aliases = find_aliases(names)
    aliases.update({alias: alias for alias in OTHER_NAMES})
    return f"not an option{suggest_name(word, names, aliases)}"


def _is_open(name: Name, fields: Mapping[str, Any]) -> bool:
    """Return whether a project file may set *name*.

    Layers of other packages may do anything, so their options are not open.
    """
    if name.group == "layers" and name.option is None:
        # An empty table adds the layer, too: it is open if any of its options is.
        notes = field_notes(layer_class(name.parent)).values()
        return any(map(find_project_note, notes))
    return find_project_note(_find_notes(name, fields)) is not None


def _find_notes(name: Name, fields: Mapping[str, Any]) -> Sequence[Any]:
    """Return the notes of a field, which say who may set it."""
    if name.option == SWITCH:
        return [ProjectFile(at_most=True)]
    if name.option is not None:
        notes = field_notes(layer_class(name.parent))
        # An unknown option is refused when the layer is made.
        return notes.get(name.option, [ProjectFile()])
    if name.part is not None:
        return find_setting(name.group, name.part).notes
    metadata: Sequence[Any] = fields[name.group].metadata
    return metadata


def merge(sources: list[Options]) -> Options:
    """Return the first value of each setting.

    One of a project file has the first trusted value as its limit.
    """
    chosen: Options = {}
    for options in sources:
        for name, option in options.items():
            first = chosen.setdefault(name, option)
            if _is_described_by(first, option, name, chosen):
                chosen[name] = option
            is_overruled = option.source.trusted and not first.source.trusted
            if is_overruled and first.limit is None:
                chosen[name] = replace(first, limit=option.value)
    return chosen


def _is_described_by(first: Option, lower: Option, name: Name, chosen: Options) -> bool:
    """Return whether *lower* is the layer that *first* only switches on."""
    if not isinstance(lower.value, Layer):
        return False
    if first.value not in find_setting(name.group).layers[:1]:
        return False
    return not options_of(first.value, chosen)


def nest(options: Options) -> dict[str, Any]:
    """Return the values of *options* by name, as `Settings` validates them."""
    values: dict[str, Any] = {}
    for name, option in options.items():
        setting = find_setting(name.group)
        if setting.layers:
            continue
        if name.group == "layers" and name.part in HOMES:
            continue
        if name.part is None:
            values[name.group] = option.value
            continue
        group = values.setdefault(name.group, {})
        if setting.parts:
            group[name.part] = option.value
            continue
        table = group.setdefault(name.part, {})
        if name.option is not None and name.option != SWITCH:
            table[name.option] = option.value
    for concern in CONCERNS:
        layer = find_layer(concern, options)
        if layer is not None:
            values[concern] = layer
    return values


def find_layer(setting: str, options: Options) -> Any:
    """Return the layer that *setting* is.

    False if it is switched off, or None if nothing is said.
    """
    switch = options.get(Name(setting))
    if switch is None:
        return None
    if switch.value is False:
        return False
    if isinstance(switch.value, str):
        kind = switch.value
        return build_layer(kind, options_of(kind, options), switch.source)
    check_home(switch.value, setting)
    return switch.value


def options_of(part: str, options: Options, group: str = "layers") -> dict[str, Option]:
    """Return the options of the layer *part*, or of one of another *group*."""
    own: dict[str, Option] = {}
    for name, option in options.items():
        is_own = name.group == group and name.part == part
        if is_own and name.option is not None:
            own[name.option] = option
    return own


def build_layer(kind: str, options: Mapping[str, Option], source: Source) -> Any:
    """Make the layer that is called *kind* in settings files.

    An error says where the wrong option is.
    """
    cls: Any = layer_class(kind)
    _check_layer_options(cls, kind, options)
    sources = [option.source for option in options.values()] or [source]
    keys = dict.fromkeys(source.key for source in sources)
    place = sources[0].at(*keys)
    try:
        return cls(**{name: option.value for name, option in options.items()})
    except ValidationError as error:
        raise ConfigurationError(f"{place}: {describe_problems(error)}") from None
    except (TypeError, ValueError, ConfigurationError) as error:
        raise ConfigurationError(f"{place}: {error}") from None


def _check_layer_options(cls: Any, kind: str, options: Mapping[str, Option]) -> None:
    names = list(field_notes(cls))
    for name, option in options.items():
        source = option.source
        place = source.at(source.key or f"layers.{kind}.{name}")
        if names and name not in names:
            hint = suggest_name(name, names)
            raise ConfigurationError(f"{place}: not an option{hint}")


def check_home(layer: Any, setting: str = "layers") -> None:
    """Raise an error if *layer* belongs to another setting than *setting*.

    A layer of another package may replace ours if it has the same rank.
    """
    home = _find_home(layer)
    if home == setting:
        return
    is_foreign = home == "layers"
    if is_foreign and layer.rank == layer_class(SETTINGS[setting].layers[0]).rank:
        return
    kind = type(layer).__name__
    line = f"layers=[{kind}(...)]" if is_foreign else f"{home}={kind}(...)"
    raise ConfigurationError(f"{setting}: {kind} does not belong here: write {line}")


def _find_home(layer: Any) -> str:
    """Return the setting that a layer belongs to: ``layers`` unless it has its own."""
    for kind, home in HOMES.items():
        if isinstance(layer, layer_class(kind)):
            return home
    return "layers"


def describe_invalid(error: ValidationError, chosen: Options) -> ConfigurationError:
    """Make the error for invalid values, which says where each is."""
    problems: dict[str, None] = {}  # in order, each once
    for problem in error.errors(
        include_url=False, include_context=False, include_input=False
    ):
        words = [str(word) for word in problem["loc"]]
        source, inner = _find_source(words, chosen)
        place = source.at(".".join([source.key, *inner]))
        problems[f"{place}: {describe_problem(problem)}"] = None
    return ConfigurationError("; ".join(problems))


def _find_source(words: list[str], chosen: Options) -> tuple[Source, list[str]]:
    """Return the source of the value at *words*, and the words inside that value."""
    for length in (2, 1):
        if len(words) < length:
            continue
        option = chosen.get(Name(*words[:length]))
        if option is not None:
            return option.source, words[length:]
    return Source("argument", written=tuple(words[:1])), words[1:]


def narrow(chosen: Options) -> Options:
    """Combine the domains and the budget of a project file with trusted ones.

    A project file may only narrow what a trusted source says, not replace it.
    """
    narrowed = dict(chosen)
    budget = chosen.get(_BUDGET_LIMIT)
    if budget is not None and _overrules(budget):
        limits = (*split_texts(budget.limit), *split_texts(budget.value))
        narrowed[_BUDGET_LIMIT] = replace(budget, value=limits, limit=None)
    for name in (_ALLOWED, _BLOCKED):
        option = chosen.get(name)
        if option is None or not _overrules(option):
            continue
        own = _parse_domains(option.value)
        trusted = _parse_domains(option.limit)
        if own is None or trusted is None:
            continue  # the validation of the settings says what is wrong
        if name == _BLOCKED:
            domains = trusted + own
        else:
            both = Domains(allowed=trusted).narrow(own)
            if both is None:
                reason = "may only narrow those set elsewhere"
                raise _make_refusal(name, option.source, reason)
            domains = both.allowed
        narrowed[name] = replace(option, value=domains, limit=None)
    return narrowed


def _overrules(option: Option) -> bool:
    """Return whether an option of a project file comes before that of a trusted one."""
    return not option.source.trusted and option.limit is not None


def check_limits(settings: BaseModel, chosen: Options) -> None:
    """Raise an error for a limit that is higher than a project file may set."""
    trusted: set[Name] = set()
    for name, option in chosen.items():
        if option.source.trusted or option.limit is not None:
            trusted.add(name)
    for name, option in chosen.items():
        if not option.source.trusted:
            _check_limit(name, option, settings, trusted)


def _check_limit(
    name: Name, option: Option, settings: BaseModel, trusted: Collection[Name]
) -> None:
    if name == _BUDGET and option.value is False:
        raise _make_refusal(name, option.source, "may not be switched off here")
    if not _has_limit(name, option.value):
        return
    value, limit = _find_value_and_limit(name, option, settings)
    notes = _find_notes(name, type(settings).model_fields)
    if too_high(value, notes, limit):
        maximum = limit_of(notes, limit)
        reason = f"may not be more than {maximum} here"
        if isinstance(maximum, bool):
            reason = "may not be switched on here"
        raise _make_refusal(name, option.source, reason)
    note = find_project_note(notes)
    if note is None or not note.replaces:
        return
    if Name(name.group, note.replaces) in trusted:
        reason = f"may not take the place of {note.replaces} here"
        raise _make_refusal(name, option.source, reason)


def _has_limit(name: Name, value: Any) -> bool:
    """Return whether a value can be too high.

    Providers check their own options, and only numbers of layers are limited.
    """
    if name.group not in {"layers", "providers"}:
        return True
    if name.option == SWITCH:
        return True
    is_layer_option = name.group == "layers" and name.option is not None
    return is_layer_option and isinstance(value, int | float)


def _find_value_and_limit(
    name: Name, option: Option, settings: BaseModel
) -> tuple[Any, Any]:
    """Return a value and its trusted limit, in the form in which they are compared."""
    if find_setting(name.group).layers:  # a layer is on or off
        return bool(option.value), option.limit and bool(option.limit)
    if name.group in {"layers", "providers"}:
        return option.value, option.limit
    value = _find_value(settings, name)
    if option.limit is None:
        return value, None
    # The limit is not validated yet: it may be a text where the value is a number.
    limit_alone = {name: replace(option, value=option.limit)}
    trusted_settings = type(settings)(**nest(limit_alone))
    return value, _find_value(trusted_settings, name)


def _find_value(settings: BaseModel, name: Name) -> Any:
    value = getattr(settings, name.group)
    if name.part is None:
        return value
    if isinstance(value, Mapping):
        return value.get(name.part)
    return getattr(value, name.part)


def warn_of_keys(options: Options) -> None:
    """Warn of each key in a file that other users of this machine can read."""
    for name, option in options.items():
        if name.group == "providers" and _is_key(name, option.value):
            _warn_once(option.source, ".".join(name.path))


def _parse_domains(value: Any) -> tuple[str, ...] | None:
    try:
        return tuple(parse_domain(text) for text in split_list(value))
    except (AttributeError, TypeError, ValueError):
        return None


def _is_key(name: Name, value: Any) -> bool:
    """Return whether an option of a provider has a key in plain text."""
    if name.option is None:
        return False
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    if not text or is_in_keyring(text):
        return False
    notes = field_notes(provider_class(name.parent)).get(name.option)
    if notes:
        return is_secret(notes)
    return name.option == "api_key"


@functools.lru_cache(maxsize=64)
def _warn_of_variable(
    variable: str, variables: tuple[str, ...], fields: tuple[str, ...]
) -> None:
    """Warn once of a variable that is named like a setting.

    It is not an error, since it may be another program's. With the prefix that people
    write by mistake, it probably is, unless the rest is close to a setting.
    """
    own_name = variable.removeprefix(PREFIX).removeprefix(_MISSPELLED_PREFIX)
    names = [name.removeprefix(PREFIX) for name in variables]
    close = find_close(own_name, names)
    if variable.startswith(_MISSPELLED_PREFIX) and not close:
        return
    line = find_line(own_name.lower(), fields, "variable")
    hint = "it is ignored"
    if line:
        hint = f"write {line}"
    elif close:
        hint = f"did you mean {PREFIX}{close}?"
    place = describe_variable(variable)
    _log.warning("environment %s: not a setting; %s", place, hint)


@functools.lru_cache(maxsize=64)
def _warn_once(source: Source, key: str) -> None:
    _log.warning(
        "%s: %s: other users of this machine can read this key: chmod 600 %s",
        source.place,
        key,
        source.name,
    )


def _make_refusal(name: Name, source: Source, reason: str) -> ConfigurationError:
    variable = find_setting(name.group, name.part).variable
    variables = (variable,) if variable else ()
    return make_refusal(source, source.key, reason, variables=variables)
