"""Write docs/api.md from the public modules: their ``__all__``, and the first sentence
of each docstring.
"""

from __future__ import annotations
import ast
import dataclasses
import enum
import importlib
import importlib.util
import inspect
import re
import sys
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from websearch_core import WebSearch, providers
from websearch_core.client import CommonArguments
from websearch_core.events import Event

MODULES = (
    "websearch_core", "websearch_core.client", "websearch_core.models",
    "websearch_core.errors",
    "websearch_core.providers", "websearch_core.flow", "websearch_core.provider",
    "websearch_core.provider.google",
    "websearch_core.layers",
    "websearch_core.events", "websearch_core.otel", "websearch_core.mcp",
    "websearch_core.reading",
    "websearch_core.index", "websearch_core.citations",
    "websearch_core.render", "websearch_core.tools", "websearch_core.provenance",
    "websearch_core.tokens",
    "websearch_core.settings", "websearch_core.keys", "websearch_core.testing",
    "langchain_websearch",
    "llamaindex_websearch",
)  # fmt: skip
_HEAD = """# Reference

All that is public, module by module. Python's `help` and the site have the whole documentation of each name. What is not listed
may change in any release: see [compatibility](compatibility.md). Written by `make docs`."""
_MORE = {
    "websearch_core.providers": " Their options are on [the page of providers]"
    "(providers.md).",
    "websearch_core.errors": " [Errors](errors.md) lists them, and says what each means.",
    "websearch_core.events": " Each has `tenant` and `run`, too; "
    "[Observing](observing.md#events) says when it happens.",
    "websearch_core.flow": " [Extending](extending.md#a-class-as-a-provider) shows how.",
    "websearch_core.provider": " [Extending](extending.md#the-kit) lists it, and says "
    "what each name is for.",
    "websearch_core.tools": " [Integrations](integrations.md) shows how to use them.",
}
_LISTED_ELSEWHERE = {"websearch_core.errors", "websearch_core.provider"}
# Of these, only the names are listed; of the providers, those of the classes.
_BY_NAME = {
    "websearch_core.flow",
    "websearch_core.provider.google",
    "websearch_core.tools",
}
_CLASSES_OF_PROVIDERS = {
    providers.provider_class(name).__name__ for name in providers.known()
}
# Arguments that others pass on to `WebSearch`, and how they are shown.
_COMMON = CommonArguments.__annotations__.keys()
_REST = inspect.Parameter("CommonArguments", inspect.Parameter.VAR_KEYWORD)
_MAX_CONSTANT = 100  # characters; a longer one is not shown


def write_page() -> str:
    """Return what docs/api.md should say."""
    homes = find_homes()
    sections = [
        _HEAD,
        *(_section(name, importlib.import_module(name), homes) for name in MODULES),
    ]
    return "\n\n".join(sections) + "\n"


def find_homes() -> dict[tuple[str, str], str]:
    """Return which module describes each name that a module lists: the first of the
    core that has it.
    """
    homes: dict[str, str] = {}
    listed = [
        (module, name)
        for module in MODULES
        for name in importlib.import_module(module).__all__
    ]
    for module, name in listed:
        if module.startswith("websearch_core"):
            homes.setdefault(name, module)
    return {
        (module, name): homes[name] if module.startswith("websearch_core") else module
        for module, name in listed
    }


def _section(
    name: str, module: types.ModuleType, homes: Mapping[tuple[str, str], str]
) -> str:
    lead = f"{_first_sentence(module.__doc__)}{_MORE.get(name, '')}"
    if name in _LISTED_ELSEWHERE:
        return f"## {name}\n\n{lead}"
    own = [listed for listed in module.__all__ if homes[name, listed] == name]
    by_name = [
        listed for listed in own if name in _BY_NAME or listed in _CLASSES_OF_PROVIDERS
    ]
    entries = [_entry(listed, name) for listed in own if listed not in by_name]
    if by_name:
        entries.insert(0, f"- {', '.join(f'`{one}`' for one in by_name)}")
    for home in dict.fromkeys(homes[name, listed] for listed in module.__all__):
        if home != name:
            names = [one for one in module.__all__ if homes[name, one] == home]
            entries.append(
                f"- {', '.join(f'`{one}`' for one in names)}: "
                f"see [{home}](#{home.replace('.', '')})"
            )
    lines = "\n".join(entries)
    return f"## {name}\n\n{lead}\n\n{lines}"


def _entry(name: str, module: str) -> str:
    value = getattr(sys.modules[module], name)
    if isinstance(value, type) and issubclass(value, Event):
        return f"- `{name}{_signature(value)}`"
    if inspect.isroutine(value) or isinstance(value, type):
        return (
            f"- `{name}{_signature(value)}`: {_first_sentence(inspect.getdoc(value))}"
        )
    meaning = _source(name, module)
    if len(meaning) <= _MAX_CONSTANT:
        return f"- `{name} = {meaning}`"
    return (
        f"- `{name}`: a "
        f"{'mapping' if isinstance(value, Mapping) else type(value).__name__}"
    )


def _signature(value: Any) -> str:
    """Return the arguments, except of a class that has none of its own, or whose
    framework adds its own.
    """
    if isinstance(value, type):
        base = (BaseException, enum.Enum, typing.Protocol)
        if typing.is_typeddict(value) or any(one in value.__mro__ for one in base):
            return ""
        if not value.__module__.startswith("websearch_core"):
            return ""
    signature = inspect.signature(value)
    parameters = [
        one for one in signature.parameters.values() if not one.name.startswith("_")
    ]
    if isinstance(value, type) and issubclass(value, Event) and value is not Event:
        shared = {field.name for field in dataclasses.fields(Event)}
        parameters = [one for one in parameters if one.name not in shared]
    if value is not WebSearch and signature.parameters.keys() >= _COMMON:
        parameters = [one for one in parameters if one.name not in _COMMON]
        parameters.append(_REST)
    return f"({', '.join(_arguments(parameters))})"


def _arguments(parameters: Iterable[inspect.Parameter]) -> Iterator[str]:
    starred = False
    before = None
    for one in parameters:
        if before is one.POSITIONAL_ONLY and one.kind is not before:
            yield "/"
        if one.kind is one.KEYWORD_ONLY and not starred:
            yield "*"
        before, starred = (
            one.kind,
            starred or one.kind in {one.KEYWORD_ONLY, one.VAR_POSITIONAL},
        )
        stars = "*" * (
            (one.kind is one.VAR_POSITIONAL) + 2 * (one.kind is one.VAR_KEYWORD)
        )
        name = stars + one.name
        if one.default is not one.empty:
            shown = repr(one.default)
            # what has no readable form
            shown = "..." if "<" in shown or "Undefined" in shown else shown
            name += f"={shown}"
        yield name


def _source(name: str, module: str) -> str:
    """Return the right side of the assignment that makes *name*, as it stands in the
    module it is imported from.
    """
    for statement in ast.walk(ast.parse(inspect.getsource(sys.modules[module]))):
        if isinstance(statement, ast.ImportFrom) and any(
            one.name == name for one in statement.names
        ):
            package = sys.modules[module].__package__
            return _source(
                name,
                importlib.util.resolve_name(
                    "." * statement.level + (statement.module or ""), package
                ),
            )
        if (
            isinstance(statement, ast.Assign | ast.AnnAssign)
            and statement.value is not None
        ):
            targets = (
                statement.targets
                if isinstance(statement, ast.Assign)
                else [statement.target]
            )
            if any(
                isinstance(target, ast.Name) and target.id == name for target in targets
            ):
                return ast.unparse(statement.value)
    raise LookupError(f"{module} does not define {name}")


def _first_sentence(text: str | None) -> str:
    paragraph = inspect.cleandoc(text or "").partition("\n\n")[0]
    line = " ".join(paragraph.split()).removesuffix("::").replace("``", "`")
    return re.split(r"(?<=[.!?])\s+(?=[A-Z`])", line, maxsplit=1)[0]
