"""What the worker does with patterns: it times them."""

from __future__ import annotations
import re
import time
from functools import cache
from typing import Any

from tests.bounds.found import Found, calls, held, methods, modules
from tests.bounds.units import attacks

_SMALL, _MIDDLE = 1_000, 4_000  # characters
_NOTICEABLE = 0.0004  # seconds, for the middle size
_WORSE_THAN_LINEAR = 8  # times as long, for a text that is four times as long
_ANCHORED = {"match", "fullmatch"}

Pattern = tuple[re.Pattern[Any], frozenset[str]]  # and the methods that are called


@cache
def all_patterns(package: str) -> dict[str, Pattern]:
    """Return the patterns of a package, by a name that stays the same when lines move:
    its module and its source.
    """
    found: dict[str, Pattern] = {}
    every = list(modules(package))
    used = methods(every)
    for module in every:
        for one in held(module):
            found.setdefault(
                name_of(one.module, one.pattern),
                (one.pattern, used.get(place(one), frozenset())),
            )
        for call in calls(module):
            if call.pattern is not None:
                what = frozenset() if call.what == "compile" else frozenset({call.what})
                found.setdefault(
                    name_of(call.module, call.pattern), (call.pattern, what)
                )
    return found


def place(one: Found) -> tuple[str, str]:
    """Return where `methods` lists the name of a pattern."""
    return one.module if one.name.startswith("_") else "", one.name


def name_of(module: str, pattern: re.Pattern[Any]) -> str:
    """Return the name of a pattern."""
    return f"{module}: {pattern.pattern!r}"


def names(package: str) -> list[str]:
    """Return the names of the patterns of a package."""
    return list(all_patterns(package))


def screen(package: str, name: str) -> list[int]:
    """Return the numbers of the attacks that a pattern seems to be slow on, the slowest
    first.
    """
    return _screen(all_patterns(package)[name])


def screen_source(source: str) -> list[int]:
    """Do the same for a pattern that no module holds."""
    return _screen((re.compile(source, re.MULTILINE), frozenset()))


@cache  # many modules hold the same
def _screen(pattern: Pattern) -> list[int]:
    suspects = []
    small = list(attacks(pattern[0], _SMALL))
    for number, text in enumerate(attacks(pattern[0], _MIDDLE)):
        seconds = _time(pattern, text)
        if seconds > _NOTICEABLE:
            least = min(_time(pattern, small[number]) for _ in range(3))
            if seconds > _WORSE_THAN_LINEAR * least:
                seconds = min(seconds, *(_time(pattern, text) for _ in range(2)))
            if seconds > _WORSE_THAN_LINEAR * least:
                suspects.append((seconds, number))
            if seconds > 0.1:
                break
    return [number for _, number in sorted(suspects, reverse=True)]


def seconds(package: str, name: str, number: int, size: int) -> float:
    """Return how long a pattern takes for an attack of a size."""
    pattern = all_patterns(package)[name]
    return _time(pattern, list(attacks(pattern[0], size))[number])


def longest(package: str, name: str, size: int) -> float:
    """Return how long a pattern takes for the worst of the attacks of a size."""
    pattern = all_patterns(package)[name]
    return max(_time(pattern, text) for text in attacks(pattern[0], size))


def _time(pattern: Pattern, text: str) -> float:
    expression, used = pattern
    given: Any = (
        text.encode("utf-8", "replace")
        if isinstance(expression.pattern, bytes)
        else text
    )
    begin = time.thread_time()  # exact, also while the time of the process is limited
    for anchored in _ANCHORED & used:
        getattr(expression, anchored)(given)
    if not used or used - _ANCHORED:
        # from every place, without making objects for what is found
        expression.sub(given[:0], given)
    return time.thread_time() - begin
