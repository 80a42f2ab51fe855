"""What to write instead of a name that is an option elsewhere, or another library's."""

from __future__ import annotations
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, TypeAlias

from .. import _registry
from .._text.vocabulary import OTHER_NAMES
from ..provider._declare import field_notes
from ._values import SETTINGS, find_setting

Form: TypeAlias = Literal["argument", "setting", "file", "variable"]

# What other libraries call an option, or what one may try: where each belongs, with a
# value, and another one for files.
_CLIENT = ("http.client", "client")
_CONTEXT = ("http.verify", "context")
_EXTRA = ("search_options.extra", "...")
_NEARLY_ALL = 3  # providers that have an option: more need no names
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
    "cookies": ("http.credentials",
                ('{"https://wiki.corp": '
                 'Credentials(cookies={"session": "env:SESSION"})}')),
    "proxy": ("http.proxy", f'{_PROXY}, resolve="here"', (f'{_PROXY}, and http.resolve '
                                                         f'= "here"')),
    "contact": ("http.contact", '"https://bot.example/about"'),
    "searx_host": ("providers.searxng.base_url", '"http://localhost:8888"'),
    "search_kwargs": _EXTRA, "params": _EXTRA,
    "source": ("search_options.topic", '"news"'),
    "api_wrapper": ("", _WRAPPER), "wrapper": ("", _WRAPPER),
    "doc_content_chars_max": ("read_options.max_length", "4_000"),
    "include_generated_answer": ("", ("WebSearch(Tavily(include_answer=True))"
                                      ".search(query).answer")),
    "get_full_documents": ("", ('read_many([each.url.replace("/abs/", "/pdf/") for '
                                'each in WebSearch("arxiv").search(query).results])')),
    "text_splitter": ("", ("WebSearchRetriever(text_splitter=...), in LlamaIndex "
                           "WebSearchRetriever(node_parser=...)")),
}  # fmt: skip


def find_aliases(names: Collection[str]) -> dict[str, str]:
    """Return what other libraries call some of our *names*, each with ours."""
    return {name: ours for name, ours in OTHER_NAMES.items() if ours in names}


def find_home(option: str) -> str:
    """Return the setting that an *option* of searches or of pages is in; empty for
    others.
    """
    for group in ("search_options", "read_options"):
        if option in SETTINGS[group].parts:
            return group
    return ""


def find_line(
    name: str,
    names: Collection[str],
    form: Form = "argument",
    *,
    providers: Any = None,
    find_home: Callable[[str], str] = find_home,
) -> str:
    """Return the line to write instead of *name*, in the *form* that its place takes;
    empty if none is known.

    *names* are those that are understood in its place: for other forms than that of an
    argument, all settings. Of the providers that have an option of this name, those of
    *providers*, which the call names, come first. *find_home* returns which of *names*
    an option of a search or of a page is in.
    """
    option = OTHER_NAMES.get(name, name)
    if option == "limit" and "k" in names:
        option = "k"
    if option in names:
        return _write(form, names, option)
    home = find_home(option)
    if home in names:
        return _write(form, names, f"{home}.{option}")
    if home == "search_options":  # of a class that only reads
        return ""
    if name in FOREIGN_NAMES:
        return _write(form, names, *FOREIGN_NAMES[name])
    if name in {"read_top", "passage_length"}:
        return f"search(query, {name}=...)"
    from ..reading import ReadOptions

    if name in ReadOptions.__annotations__:
        return f"read(url, {name}=...)"
    lines = [
        _write(form, names, f"providers.{provider}.{name}")
        for provider in _find_providers(name, providers)
    ]
    return ", or ".join(lines)


def _find_providers(option: str, preferred: Any) -> list[str]:
    """Return the providers that have *option*: the *preferred* ones, else all, unless
    nearly all have it.
    """
    if isinstance(preferred, str):
        preferred = preferred.split(",")
    if not isinstance(preferred, list | tuple):
        preferred = ()
    providers = [
        provider
        for provider in _registry.known()
        if option in field_notes(_registry.find_class(provider))
    ]
    first = [provider for provider in providers if provider in preferred]
    if first or len(providers) > _NEARLY_ALL:
        return first
    return providers


def _write(
    form: Form, names: Collection[str], path: str, value: str = "...", in_file: str = ""
) -> str:
    """Return the line that sets *path*, a setting or a part of one."""
    if form != "argument" and not _is_setting(path, names):
        if not path:
            return ""
        line = _write("argument", names, path, value)
        return f"WebSearch({line}), which alone takes it"
    if form in {"file", "variable"}:
        return _write_entry(form, path, in_file or _as_toml(value))
    group, *parts = path.split(".")
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


def _is_setting(path: str, names: Collection[str]) -> bool:
    """Return whether *path* is one of the settings *names*, or a part of one."""
    group, *parts = path.split(".")
    if group not in names:
        return False
    names = find_setting(group).parts
    if names and parts:
        return parts[0] in names
    return True


def _as_toml(value: str) -> str:
    """Return a value as a file has it, where an argument has `Credentials`."""
    tables = re.sub(r"Credentials\((\w+)=([^()]*)\)", r"{\1 = \2}", value)
    return tables.replace('": ', '" = ')


def _write_entry(form: Form, path: str, value: str) -> str:
    """Return the line of a file, or of the environment where a variable exists."""
    group, *parts = path.split(".")
    if form == "file":
        return f"{path} = {value}"
    variable = find_setting(group, *parts[:1]).variable
    if not variable:
        return f"{path} = {value} in a settings file"

    def name_other(line: re.Match[str]) -> str:
        return f" and {find_setting(*line[1].split('.')).variable}="

    value = _AND.sub(name_other, value.strip('["]'))
    return f"{variable}={value}"
