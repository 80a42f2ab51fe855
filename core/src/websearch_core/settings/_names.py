"""What to write instead of a name that is an option elsewhere, or another library's."""

from __future__ import annotations
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, TypeAlias

from .. import _registry
from .._text.vocabulary import OTHER_NAMES
from ..provider._declare import field_notes
from ._values import IN_ENVIRONMENT, PARTS

Form: TypeAlias = Literal["argument", "setting", "file", "variable"]

# What other libraries call an option, or what one may try: where each belongs, with a
# value, and another one for files.
_CLIENT, _CONTEXT, _EXTRA = (
    ("http.client", "client"),
    ("http.verify", "context"),
    ("search_options.extra", "..."),
)
_PACE = "Throttle(requests_per_second=2), or host_requests_per_second=2 for pages"
_AND = re.compile(r'", and ([\w.]+) = "')  # between two lines of a file
_PROXY = '"http://proxy.corp:3128"'
_WRAPPER = "the options of the wrapper here, beside provider=..."
FOREIGN_NAMES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("max_attempts", "max_retries"), ("retry", "5")),
    "rate_limiter": ("throttle", "limiter", "0.5"),
    "requests_per_second": ("throttle", _PACE, "2"),
    "client": _CLIENT, "http_client": _CLIENT,
    "async_client": ("http.async_client", "client"),
    "http_async_client": ("http.async_client", "client"),
    "verify": _CONTEXT, "verify_ssl": _CONTEXT,
    "credentials": ("http.credentials", ('{"https://wiki.corp": '
                                        'Credentials(bearer="env:TOKEN")}')),
    "headers": ("http.credentials", ('{"https://wiki.corp": '
                                    'Credentials(headers={"X-Key": "env:KEY"})}')),
    "cookies": ("http.credentials", ('{"https://wiki.corp": '
                                    'Credentials(cookies={"session": "env:SESSION"})}')),
    "proxy": ("http.proxy", f'{_PROXY}, resolve="here"', (f'{_PROXY}, and http.resolve '
                                                         f'= "here"')),
    "contact": ("http.contact", '"https://bot.example/about"'),
    "searx_host": ("providers.searxng.base_url", '"http://localhost:8888"'),
    "search_kwargs": _EXTRA, "params": _EXTRA,
    "source": ("search_options.topic", '"news"'),
    "api_wrapper": ("", _WRAPPER), "wrapper": ("", _WRAPPER),
}  # fmt: skip


def find_aliases(known: Collection[str]) -> dict[str, str]:
    """Return what other libraries call some of the *known* names, each with ours."""
    return {name: ours for name, ours in OTHER_NAMES.items() if ours in known}


def find_home(option: str) -> str:
    """Return the setting that an *option* of searches or of pages is in; empty for
    others.
    """
    return next(
        (
            group
            for group in ("search_options", "read_options")
            if option in PARTS[group]
        ),
        "",
    )


def find_line(
    name: str,
    known: Collection[str],
    form: Form = "argument",
    *,
    asked: Any = None,
    find_home: Callable[[str], str] = find_home,
) -> str:
    """Return the line to write instead of *name*, in the *form* that its place takes;
    empty if none is known.

    *known* are the names that are understood in its place: for other forms than that of
    an argument, all settings. Of the providers that have an option of this name, those
    that are *asked* come first. *find_home* returns which of *known* an option of a
    search or of a page is in.
    """
    option = OTHER_NAMES.get(name, name)
    if option == "limit" and "k" in known:
        option = "k"
    if option in known:
        return _write(form, known, option)
    if (home := find_home(option)) in known:
        return _write(form, known, f"{home}.{option}")
    if home == "search_options":  # of a class that only reads
        return ""
    if name in FOREIGN_NAMES:
        return _write(form, known, *FOREIGN_NAMES[name])
    if name in {"read_top", "passage_length"}:
        return f"search(query, {name}=...)"
    from ..reading import ReadOptions

    if name in ReadOptions.__annotations__:
        return f"read(url, {name}=...)"
    return ", or ".join(
        _write(form, known, f"providers.{one}.{name}")
        for one in _find_providers(name, asked)
    )


def _find_providers(option: str, asked: Any) -> list[str]:
    """Return the providers that have *option*: those of *asked*, else all, unless
    nearly all have it.
    """
    first = (
        asked.split(",")
        if isinstance(asked, str)
        else asked
        if isinstance(asked, list | tuple)
        else ()
    )
    found = [
        provider
        for provider in _registry.known()
        if option in field_notes(_registry.find_class(provider))
    ]
    return [provider for provider in found if provider in first] or found * (
        len(found) <= 3
    )


def _write(
    form: Form, known: Collection[str], path: str, value: str = "...", in_file: str = ""
) -> str:
    """Return the line that sets *path*, a setting or a part of one."""
    group, *parts = path.split(".")
    if form != "argument" and (
        group not in known
        or (group in PARTS and parts and parts[0] not in PARTS[group])
    ):
        return (
            path
            and f"WebSearch({_write('argument', known, path, value)}), which alone "
            f"takes it"
        )
    if form in {"file", "variable"}:
        value = in_file or re.sub(
            r"Credentials\((\w+)=([^()]*)\)", r"{\1 = \2}", value
        ).replace('": ', '" = ')
        if form == "variable" and has_variable(group, *parts[:1]):
            value = _AND.sub(
                lambda another: f" and {name_variable(tuple(another[1].split('.')))}=",
                value.strip('["]'),
            )
            return f"{name_variable((group, *parts))}={value}"
        return f"{path} = {value}{' in a settings file' * (form == 'variable')}"
    match [group, *parts]:
        case "providers", name, option if form == "argument":
            return (
                f"provider={_registry.provider_class(name).__name__}({option}={value})"
            )
        case "providers", name, option:
            return f'Settings.load(providers={{"{name}": {{"{option}": {value}}}}})'
        case (("timeout" | "http"), part):
            return f"{group}={group.capitalize()}({part}={value})"
        case _, part:
            return f'{group}={{"{part}": {value}}}'
        case _:
            return f"{group}={value}" if group else value


def has_variable(group: str, part: str = "") -> bool:
    """Return whether a setting, or a part of one, has an environment variable."""
    parts = IN_ENVIRONMENT.get(group, ())
    return part in parts if part else group == "timeout" or not parts


def name_variable(path: tuple[str, ...]) -> str:
    """Return the environment variable of a setting: its own name, without that of the
    table which only groups it.
    """
    group, part = (*path, "")[:2]
    of_part = {
        "timeout": f"{part}_timeout",
        "http": f"http_{part}",
        "search_options": part,
        "read_options": part,
    }
    name = of_part.get(group, group) if part else group.partition(".")[0]
    return f"WEB_SEARCH_{name.upper()}"
