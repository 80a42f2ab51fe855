"""Find every regular expression of the packages, and of the parsers that get text from
them.

Two ways lead to the same patterns, and the test compares them: the source, where each
call of `re` is read as a tree, and the modules, whose attributes are walked. What only
the first finds and cannot evaluate has a name in `INSIDE`.
"""

from __future__ import annotations
import ast
import importlib
import inspect
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

PACKAGES = ("websearch_core", "langchain_websearch", "llamaindex_websearch")
PARSERS = (
    "feedparser",
    "sgmllib",
    "pypdf",
    "markdownify",
    "bs4",
    "markitdown",
    "mammoth",
    "openpyxl",
    "protego",
    "csv",
    "html",
    "mimetypes",
    "xml",
    "zipfile",
    "tomllib",
    "json",
)
_CALLS = {
    "compile",
    "search",
    "match",
    "fullmatch",
    "sub",
    "subn",
    "split",
    "findall",
    "finditer",
}
# which argument they are; else the third
_FLAGS = {"compile": 1, "sub": 4, "subn": 4, "split": 3}


class Found(NamedTuple):
    """A pattern: the module it is in, its name there or the line of the call, and
    itself.
    """

    module: str
    name: str
    pattern: re.Pattern[Any]


class Call(NamedTuple):
    """A call of `re` in the source; *pattern* is None if it is made at run time."""

    module: str
    line: int
    what: str
    source: str
    inside: bool
    pattern: re.Pattern[Any] | None


def modules(package: str) -> Iterator[ModuleType]:
    """Import and yield all modules of *package*."""
    top = importlib.import_module(package)
    yield top
    for info in pkgutil.walk_packages(getattr(top, "__path__", ()), f"{package}."):
        if not info.name.endswith(".__main__"):
            try:
                yield importlib.import_module(info.name)
            except ImportError:  # needs an extra
                if package in PACKAGES:
                    raise


def held(module: ModuleType) -> Iterator[Found]:
    """Yield the patterns that the attributes of *module* hold, also inside containers
    and classes.
    """
    for name, value in vars(module).items():
        if not name.startswith("__"):
            yield from (
                Found(module.__name__, path, each)
                for path, each in _patterns(value, name, module, 0)
            )


def _patterns(
    value: object, path: str, module: ModuleType, depth: int
) -> Iterator[tuple[str, re.Pattern[Any]]]:
    if isinstance(value, re.Pattern):
        yield path, value
    elif depth > 4:
        return
    elif isinstance(value, Mapping):
        for key, each in list(value.items()):
            yield from _patterns(key, path, module, depth + 1)
            yield from _patterns(each, path, module, depth + 1)
    elif isinstance(value, tuple | list | set | frozenset):
        for each in value:
            yield from _patterns(each, path, module, depth + 1)
    elif inspect.isclass(value) and value.__module__ == module.__name__:
        for name, each in list(vars(value).items()):
            yield from _patterns(each, f"{path}.{name}", module, depth + 1)
    elif callable(getattr(value, "__self__", None).__class__) and isinstance(
        getattr(value, "__self__", None), re.Pattern
    ):
        yield path, value.__self__  # type: ignore[attr-defined]
    elif getattr(type(value), "__module__", "").startswith(PACKAGES) and depth < 3:
        for name, each in list(getattr(value, "__dict__", {}).items()):
            yield from _patterns(each, f"{path}.{name}", module, depth + 1)


@cache
def _read(path: Path) -> list[tuple[ast.AST, bool]]:
    """Return all nodes of a source, in the order of `ast.walk`, and whether each is in
    a function.
    """
    nodes: list[tuple[ast.AST, bool]] = [(ast.parse(path.read_text("utf-8")), False)]
    for node, inside in nodes:  # which grows
        within = inside or isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        )
        nodes += [(child, within) for child in ast.iter_child_nodes(node)]
    return nodes


def calls(module: ModuleType) -> Iterator[Call]:
    """Yield the calls of `re` in the source of *module*."""
    path = Path(module.__file__ or "")
    if path.suffix != ".py" or not re.search(r"\bre\b", path.read_text("utf-8")):
        return
    nodes = _read(path)
    names = {"re"} | {
        alias.asname or alias.name
        for node, _ in nodes
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "re"
    }
    direct = {
        alias.asname or alias.name: alias.name
        for node, _ in nodes
        if isinstance(node, ast.ImportFrom) and node.module == "re"
        for alias in node.names
    }
    for node, inside in nodes:
        if not isinstance(node, ast.Call) or not node.args:
            continue
        called = node.func
        if (
            isinstance(called, ast.Attribute)
            and isinstance(called.value, ast.Name)
            and called.value.id in names
        ):
            what = called.attr
        elif isinstance(called, ast.Name) and called.id in direct:
            what = direct[called.id]
        else:
            continue
        if what in _CALLS:
            made = _evaluate(node, what, module)
            yield Call(
                module.__name__,
                node.lineno,
                what,
                ast.unparse(node.args[0]),
                inside,
                made,
            )


def _evaluate(node: ast.Call, what: str, module: ModuleType) -> re.Pattern[Any] | None:
    """Compile the pattern of a call, if it is made of nothing but literals and what the
    module has.
    """
    place = _FLAGS.get(what, 2)
    flags = next((word.value for word in node.keywords if word.arg == "flags"), None)
    flags = node.args[place] if flags is None and len(node.args) > place else flags
    try:
        source = eval(compile(ast.Expression(node.args[0]), "", "eval"), vars(module))
        value = (
            eval(compile(ast.Expression(flags), "", "eval"), vars(module))
            if flags is not None
            else 0
        )
    except NameError:
        return None
    if isinstance(source, re.Pattern):
        return source
    return re.compile(source, value)


def methods(every: Iterable[ModuleType]) -> dict[tuple[str, str], frozenset[str]]:
    """Return which attributes a name has where it is used, such as ``search`` of
    ``_LINK``.

    A private name is that of its module, any other one may be used in all modules.
    """
    used: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for module in every:
        path = Path(module.__file__ or "")
        if path.suffix == ".py":
            for node, _ in _read(path):
                if isinstance(node, ast.Attribute) and isinstance(
                    node.value, ast.Name | ast.Attribute
                ):
                    name = (
                        node.value.id
                        if isinstance(node.value, ast.Name)
                        else node.value.attr
                    )
                    used[module.__name__ if name.startswith("_") else "", name].add(
                        node.attr
                    )
    return {name: frozenset(attributes) for name, attributes in used.items()}


def main() -> None:
    """Print what there is."""
    ours = [m for package in PACKAGES for m in modules(package)]
    found = {(f.pattern.pattern, f.pattern.flags): f for m in ours for f in held(m)}
    print(len(ours), "modules", len(found), "held")
    made = [c for m in ours for c in calls(m)]
    print(
        len(made),
        "calls",
        sum(c.inside for c in made),
        "inside",
        sum(c.pattern is None for c in made),
        "not evaluated",
    )
    for c in made:
        if c.pattern is None or (
            not c.inside and (c.pattern.pattern, c.pattern.flags) not in found
        ):
            print(c)


if __name__ == "__main__":
    main()
