"""No test fails because a machine is slow or busy.

An assertion may compare what a clock says with a lower bound ("no earlier than"). That a
deadline ended something is asserted by `tests.waiting.ended_by`; that work grows with its
input is asserted by counting (`tests.profiling.count_lines`), or in tests/timed and
tests/bounds, which measure processor time with nothing beside them.
"""

from __future__ import annotations
import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
# Who may compare times: the helper, and what runs alone.
ALLOWED = ("waiting.py", "bounds/", "timed/")
CLOCKS = frozenset(
    "monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns "
    "thread_time thread_time_ns".split()
)
READS_CLOCK = re.compile(rf"\b(?:{'|'.join(CLOCKS)}|(?:time|loop)\.time)\(")
COLLECTING = frozenset({"add", "append", "extend", "insert", "put"})
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def dotted(node: ast.AST) -> str:
    """Return a name such as ``began`` or ``self.pause``; empty if it is none."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


class Clocks:
    """What holds the value of a clock in a file: names, attributes and functions that
    return one.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._functions = set(CLOCKS)
        self._attributes: set[str] = set()
        before = -1
        while before < len(self._functions) + len(self._attributes):
            before = len(self._functions) + len(self._attributes)
            for function in ast.walk(tree):
                if isinstance(function, FUNCTIONS):
                    self._learn(function)

    def _learn(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        names = self.find_names(function)
        self._attributes |= {name.rpartition(".")[2] for name in names if "." in name}
        if function.name.startswith("test_"):
            return
        for node in ast.walk(function):
            if isinstance(node, ast.Return) and self.is_read(node.value, names):
                self._functions.add(function.name)

    def find_names(self, function: ast.AST) -> set[str]:
        """Return the names in *function* that hold the value of a clock."""
        names: set[str] = set()
        before = -1
        while before < len(names):
            before = len(names)
            for node in ast.walk(function):
                for target, value in find_bindings(node):
                    if self.is_read(value, names):
                        names |= find_targets(target)
        return names

    def is_read(self, node: ast.AST | None, names: set[str]) -> bool:
        """Return whether an expression has the value of a clock."""
        if node is None or isinstance(node, ast.Lambda):
            return False
        if isinstance(node, ast.Call):
            called = dotted(node.func)
            if called == "len":
                return False
            is_clock = called.rpartition(".")[2] in self._functions
            if is_clock or called in {"time.time", "loop.time"}:
                return True
        if isinstance(node, ast.Name):
            return node.id in names
        if isinstance(node, ast.Attribute) and node.attr in self._attributes:
            return True
        return any(self.is_read(child, names) for child in ast.iter_child_nodes(node))


def find_bindings(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST | None]]:
    """Yield what *node* gives a value to, with the value; of two tuples, each part."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                yield from zip(target.elts, node.value.elts, strict=False)
            else:
                yield target, node.value
    elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
        yield node.target, node.value
    elif isinstance(node, ast.For | ast.comprehension):
        yield find_items(node.target, node.iter)
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in COLLECTING
    ):
        for argument in node.args:
            yield node.func.value, argument


def find_items(target: ast.AST, values: ast.AST) -> tuple[ast.AST, ast.AST]:
    """Return what gets the items of *values*: not the number that `enumerate` adds."""
    if (
        isinstance(target, ast.Tuple)
        and isinstance(values, ast.Call)
        and dotted(values.func) == "enumerate"
    ):
        return target.elts[1], values.args[0]
    return target, values


def find_targets(target: ast.AST) -> set[str]:
    """Return the names in the target of an assignment."""
    if isinstance(target, ast.Tuple | ast.List):
        return {name for part in target.elts for name in find_targets(part)}
    if isinstance(target, ast.Starred | ast.Subscript):
        return find_targets(target.value)
    name = dotted(target)
    return {name} if name else set()


def find_upper_bounds(source: str) -> list[int]:
    """Return the lines of *source* where an assertion has an upper bound for the value
    of a clock.
    """
    if not READS_CLOCK.search(source):
        return []
    tree = ast.parse(source)
    clocks = Clocks(tree)
    lines = set()
    for function in ast.walk(tree):
        if not isinstance(function, FUNCTIONS):
            continue
        names = clocks.find_names(function)
        for assertion in ast.walk(function):
            if not isinstance(assertion, ast.Assert):
                continue
            for node in ast.walk(assertion.test):
                if isinstance(node, ast.Compare) and has_upper_bound(
                    node, clocks, names
                ):
                    lines.add(node.lineno)
    return sorted(lines)


def has_upper_bound(node: ast.Compare, clocks: Clocks, names: set[str]) -> bool:
    """Return whether a comparison says that the value of a clock is less than
    something.
    """
    sides = [node.left, *node.comparators]
    for operator, left, right in zip(node.ops, sides, sides[1:], strict=False):
        if isinstance(operator, ast.Lt | ast.LtE) and clocks.is_read(left, names):
            return True
        if isinstance(operator, ast.Gt | ast.GtE) and clocks.is_read(right, names):
            return True
    return False


def test_no_assertion_has_an_upper_bound_for_a_time():
    wrong = []
    for path in sorted(TESTS.rglob("*.py")):
        place = path.relative_to(TESTS).as_posix()
        if place.startswith(ALLOWED):
            continue
        for line in find_upper_bounds(path.read_text("utf-8")):
            wrong.append(f"tests/{place}:{line}")

    assert wrong == [], __doc__


def in_a_test(*lines: str) -> str:
    return "\n    ".join(["def test_it():", *lines])


@pytest.mark.parametrize(
    "source",
    [
        in_a_test("a = time.monotonic()", "work()", "assert time.monotonic() - a < 5"),
        in_a_test("a = perf_counter()", "b = perf_counter() - a", "assert 1 < b < 3"),
        in_a_test(
            "a, n = time.process_time(), 0", "assert 5 > time.process_time() - a"
        ),
        in_a_test("a = []", "a.append(time.thread_time())", "assert max(a) <= 1"),
        in_a_test("a = {}", "a[1] = time.monotonic()", "assert all(b < 1 for b in a)"),
        in_a_test("assert loop.time() < ends"),
        "def cost(work):\n    a = time.thread_time()\n    work()\n"
        "    return time.thread_time() - a\n" + in_a_test("assert cost(work) < 5"),
        "class Watch:\n    def run(self):\n        self.pause = time.monotonic() - last\n"
        + in_a_test("assert watch.pause < 5"),
    ],
)
def test_an_upper_bound_is_noticed(source):
    assert len(find_upper_bounds(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        in_a_test("a = time.monotonic()", "work()", "assert time.monotonic() - a > 5"),
        in_a_test("a = time.monotonic()", "assert 0.2 <= time.monotonic() - a"),
        in_a_test("a = []", "a.append(time.monotonic())", "assert len(a) < 5"),
        in_a_test("a, n = time.monotonic(), 0", "assert n < 5"),
        in_a_test(
            "a = [time.monotonic()]", "assert all(b > 5 * n for n, b in enumerate(a))"
        ),
        in_a_test("ends = time.monotonic() + 5", "while time.monotonic() < ends: pass"),
        in_a_test("seconds = call()", "assert seconds < 5"),
    ],
)
def test_a_lower_bound_and_a_count_may_be_asserted(source):
    assert find_upper_bounds(source) == []
