"""How our code looks: the rules of CONTRIBUTING.md that ruff cannot check.

They hold in the finished rooms. The list of these only grows.
"""

from __future__ import annotations
import ast
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

pytestmark = pytest.mark.repository
ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "core": ROOT / "core/src/websearch_core",
    "langchain": ROOT / "langchain_websearch/src/langchain_websearch",
    "llamaindex": ROOT / "llamaindex_websearch/src/llamaindex_websearch",
}
# Folders and files, such as "core/layers", "langchain".
FINISHED: list[str] = [
    "core/_cli",
    "core/_browser",
    "core/_net",
    "core/_registry",
    "core/_runtime",
    "core/_text",
    "core/citations",
    "core/client",
    "core/errors",
    "core/events",
    "core/flow",
    "core/index",
    "core/keys",
    "core/layers",
    "core/mcp",
    "core/models",
    "core/otel",
    "core/provenance",
    "core/provider",
    "core/providers",
    "core/ray",
    "core/reading/__init__",
    "core/reading/_charset",
    "core/reading/_choice",
    "core/reading/_documents",
    "core/reading/_element",
    "core/reading/_excerpt",
    "core/reading/_formats",
    "core/reading/_html",
    "core/reading/_isolation",
    "core/reading/_language",
    "core/reading/_guess",
    "core/reading/_links",
    "core/reading/_markdown",
    "core/reading/_sniff",
    "core/reading/_types",
    "core/reading/_where",
    "core/render",
    "core/settings",
    "core/testing",
    "core/tokens",
    "core/tools",
    "langchain",
    "llamaindex",
]
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
WHOLE_VALUES = (ast.Assign, ast.AnnAssign, ast.Return, ast.keyword, ast.Dict)
PARTICIPLES = set(
    "found known given most usual kept asked shown said stated wanted made held meant "
    "least one several".split()
)
# Above a function: its loop is measured, so it stays tight under a picture of its state.
MEASURED = "# Measured:"


def count_operators(condition: ast.expr) -> int:
    """Count the ``and`` and ``or`` between the parts of a condition."""
    operators = [part for part in ast.walk(condition) if isinstance(part, ast.BoolOp)]
    return sum(len(operator.values) - 1 for operator in operators)


def is_condition(node: ast.expr) -> bool:
    """Return whether an expression is a comparison or a call of ``bool``."""
    if isinstance(node, ast.Compare):
        return True
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "bool"


def check_conditional(node: ast.IfExp, parent: ast.AST) -> Iterator[str]:
    if not isinstance(parent, WHOLE_VALUES):
        yield "a conditional expression inside another expression"
    if count_operators(node.test):
        yield "a conditional expression with a compound test"


def check_assignment(node: ast.Assign) -> Iterator[str]:
    if len(node.targets) > 1:
        yield "a chained assignment"
    target = node.targets[0]
    if not isinstance(target, ast.Tuple):
        return
    if isinstance(node.value, ast.Tuple):
        yield "two values assigned in one statement"
    elif len(target.elts) > 2:
        yield "three names unpacked"


def check_comprehension(node: ast.AST) -> Iterator[str]:
    generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
    if len(generators) > 1:
        yield "a second `for` in a comprehension"
    inner = [part for part in ast.walk(node) if part is not node]
    if any(isinstance(part, COMPREHENSIONS) for part in inner):
        yield "a comprehension inside a comprehension"
    conditions = [test for generator in generators for test in generator.ifs]
    if any(count_operators(condition) for condition in conditions):
        yield "a comprehension with a compound condition"


def check_node(node: ast.AST, parent: ast.AST) -> Iterator[str]:
    """Yield what is wrong with a node, without those below it."""
    if isinstance(node, ast.IfExp):
        yield from check_conditional(node, parent)
    elif isinstance(node, ast.NamedExpr):
        yield "a walrus"
    elif isinstance(node, ast.If | ast.While) and count_operators(node.test) > 1:
        yield "a condition of more than two parts"
    elif isinstance(node, ast.Assign):
        yield from check_assignment(node)
    elif isinstance(node, COMPREHENSIONS):
        yield from check_comprehension(node)
    elif isinstance(node, ast.Starred) and isinstance(
        node.value, ast.IfExp | ast.BoolOp
    ):
        yield "a conditional star"
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        if is_condition(node.left) or is_condition(node.right):
            yield "a text or list times a condition"
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        if node.id in PARTICIPLES:
            yield "a name that is a participle"
        elif node.id.lower().lstrip("_").startswith("of_"):
            yield "a name that says only what it belongs to"
    elif isinstance(node, ast.arg) and node.arg in PARTICIPLES:
        yield "a name that is a participle"


def is_measured(node: ast.AST, lines: list[str]) -> bool:
    """Return whether the comment above a function says that its loop is measured."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    above = first - 2
    while above >= 0 and lines[above].lstrip().startswith("#"):
        if lines[above].lstrip().startswith(MEASURED):
            return True
        above -= 1
    return False


def check_source(source: str) -> list[str]:
    """Return what is wrong in a file: the line, and what it is."""
    lines = source.splitlines()
    problems = []
    waiting: list[tuple[ast.AST, ast.AST]] = [(ast.parse(source), ast.Module([], []))]
    while waiting:
        node, parent = waiting.pop()
        if is_measured(node, lines):
            continue
        line = getattr(node, "lineno", 0)
        problems += [f"{line}: {problem}" for problem in check_node(node, parent)]
        waiting += [(child, node) for child in ast.iter_child_nodes(node)]
    return sorted(problems)


def files_of(room: str) -> list[Path]:
    """Return the files of a room, such as ``core/layers`` or ``core/errors``."""
    package, _, part = room.partition("/")
    path = PACKAGES[package] / part
    if path.is_dir():
        return sorted(path.rglob("*.py"))
    return [path.with_suffix(".py")]


@pytest.mark.parametrize("room", FINISHED)
def test_a_finished_room_keeps_the_rules(room):
    problems = {
        str(path.relative_to(ROOT)): found
        for path in files_of(room)
        if (found := check_source(path.read_text("utf-8")))
    }

    assert problems == {}


def test_ruff_makes_no_exception_for_a_finished_room():
    manifest = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    ignores = manifest["tool"]["ruff"]["lint"]["per-file-ignores"]
    rules = {"C901", "E501", "PLR0912", "PLR1702"}
    patterns = [pattern for pattern, ignored in ignores.items() if rules & set(ignored)]

    for room in FINISHED:
        for path in files_of(room):
            name = str(path.relative_to(ROOT))
            excepted = [pattern for pattern in patterns if fnmatch(name, pattern)]
            assert excepted == [], room


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("x = f(a if b else c)", "a conditional expression inside another expression"),
        ("x = a if b and c else d", "a conditional expression with a compound test"),
        ("if (x := f()):\n    pass", "a walrus"),
        ("if a and b or c:\n    pass", "a condition of more than two parts"),
        ("a, b = 1, 2", "two values assigned in one statement"),
        ("a, b, c = f()", "three names unpacked"),
        ("a = b = 1", "a chained assignment"),
        ("x = [a for b in c for a in b]", "a second `for` in a comprehension"),
        ("x = [[a for a in b] for b in c]", "a comprehension inside a comprehension"),
        ("x = [a for a in b if a and c]", "a comprehension with a compound condition"),
        ("x = [*(a or b)]", "a conditional star"),
        ("x = 's' * (a > 1)", "a text or list times a condition"),
        ("found = 1", "a name that is a participle"),
        ("def f(given): pass", "a name that is a participle"),
        ("_OF_SEARCH = 1", "a name that says only what it belongs to"),
    ],
)
def test_each_rule_finds_what_it_is_for(code, problem):
    assert check_source(code) == [f"1: {problem}"]


@pytest.mark.parametrize(
    "code",
    [
        "x = a if b else c",
        "return_value = f(key=a if b else c)",
        "a, b = f()",
        "x = [a for a in b if a]",
        "# Measured: one pass over all characters.\ndef f(given):\n    a = b = 1",
    ],
)
def test_plain_code_passes(code):
    assert check_source(code) == []
