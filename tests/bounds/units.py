"""What a hostile page repeats."""

from __future__ import annotations
import re
from collections.abc import Iterator
from typing import Any

try:
    from re import _constants as codes  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]
except ImportError as error:  # private, so it may go
    raise ImportError(
        "re has no parser any more: find another one, or derive no units"
    ) from error

UNITS = (
    "[", "[a ", "](", "[a](", "[](", "<", "<a ", "<a>", "<!--", "(", "&", "&a", "-", "1", "a", "a.", "Ab. ", " ", "\n",
    "\t", '"', "'", "*", "_", "`", "#", "|", "=", "/", "\\", "- a\n", "> ", "1. ", '{"', "\u4e2d", "a@",
)  # fmt: skip
"""Text that is repeated, in any kind of document."""

_MOST_STEMS = 8


def attacks(pattern: re.Pattern[Any], size: int) -> Iterator[str]:
    """Yield texts of about *size* characters that *pattern* may be slow on: the units,
    and what the pattern looks for.

    A sample that the pattern matches is cut after each of its parts. Each stem is
    repeated, and its last character, which something else may follow.
    """
    yield from (repeat(unit, size) for unit in UNITS)
    stems = list(dict.fromkeys(_stems(pattern)))
    step = max(1, len(stems) // _MOST_STEMS)
    for stem in stems[-1::-step]:
        yield repeat(stem, size)
        yield stem + stem[-1] * size
        # what fails only at the end is tried again from each place
        yield stem + stem[-1] * size + "\x01"
        if len(stem) > 1:
            yield stem[0] + repeat(stem[1:], size)


def repeat(unit: str, size: int) -> str:
    """Return *size* characters of *unit* and *unit* and so on."""
    return (unit * (size // len(unit) + 1))[:size]


def _stems(pattern: re.Pattern[Any]) -> Iterator[str]:
    source = pattern.pattern
    text = source.decode("latin-1") if isinstance(source, bytes) else source
    sample = ""
    for piece in _pieces(
        parser.parse(
            text,
            pattern.flags
            & ~re.DEBUG
            & ~(re.UNICODE if isinstance(source, bytes) else 0),
        )
    ):
        if piece:
            sample += piece
            yield sample


def _pieces(parsed: Any) -> Iterator[str]:
    """Yield a text for each part of a parsed pattern that together match it, or
    nearly.
    """
    for code, argument in parsed:
        match code:
            case codes.LITERAL:
                yield chr(argument)
            case codes.NOT_LITERAL:
                yield "a" if argument != ord("a") else "b"
            case codes.ANY:
                yield "a"
            case codes.IN:
                yield _member(argument)
            case codes.BRANCH:
                yield from _pieces(argument[1][-1])
            case codes.SUBPATTERN:
                yield from _pieces(argument[-1])
            case codes.ATOMIC_GROUP:
                yield from _pieces(argument)
            case codes.MAX_REPEAT | codes.MIN_REPEAT | codes.POSSESSIVE_REPEAT:
                least, _most, inner = argument
                for _ in range(min(max(least, 1), 3)):
                    yield from _pieces(inner)
            case _:  # what has no width
                yield ""


def _member(ranges: list[tuple[Any, Any]]) -> str:
    if ranges[0][0] is codes.NEGATE:
        return next(
            (
                each
                for each in "a1 -\n"
                if not any(_has(one, each) for one in ranges[1:])
            ),
            "\u4e2d",
        )
    code, argument = ranges[0]
    if code is codes.LITERAL:
        return chr(argument)
    if code is codes.RANGE:
        return chr(argument[0])
    kinds = {
        codes.CATEGORY_SPACE: " ",
        codes.CATEGORY_DIGIT: "1",
        codes.CATEGORY_WORD: "a",
    }
    return kinds.get(argument, "-")


def _has(one: tuple[Any, Any], character: str) -> bool:
    code, argument = one
    if code is codes.LITERAL:
        return bool(argument == ord(character))
    if code is codes.RANGE:
        return bool(argument[0] <= ord(character) <= argument[1])
    if code is codes.CATEGORY:
        classes = {codes.CATEGORY_SPACE: r"\s", codes.CATEGORY_NOT_SPACE: r"\S", codes.CATEGORY_DIGIT: r"\d",
                   codes.CATEGORY_NOT_DIGIT: r"\D", codes.CATEGORY_WORD: r"\w", codes.CATEGORY_NOT_WORD: r"\W"}  # fmt: skip
        return bool(re.match(classes[argument], character))
    return False
