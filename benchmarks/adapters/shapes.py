"""Shapes of captured answers, and answers of invented values with these shapes.

A shape has the keys of an answer, the types of its values, their order, nulls, lengths
and marks, and no value. They are expected beside the repository, in
``../shared/recordings/shapes``.
"""

from __future__ import annotations
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle, islice
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "recordings" / "shapes"

_LIST = re.compile(r"\[(\d+)\]")
_TEXT = re.compile(r"text<=(\d+)((?:\+[a-z-]+)*)")
_WORDS = (
    "harbour light tide pilot quay ferry beacon chart anchor buoy mole lock keel sail "
    "storm gull kelp sand reef bell"
)
_SIZES = (0, 20, 100, 500, 2_000, 10_000, 10**9)
_LONGER = 12_000  # characters of a text that has more than 10,000
# where a captured exchange has the body of its answer, as a text
_BODIES = ("b64", "body")
_EPOCH = 1_772_600_000  # seconds: a day in March 2026


@dataclass(frozen=True)
class Captured:
    """The shape of one captured answer."""

    path: Path

    @property
    def service(self) -> str:
        """The folder that it is in."""
        return self.path.parent.name

    @property
    def name(self) -> str:
        """What cassettes and reports call it: ``brave/helmut__web``."""
        return f"{self.service}/{self.path.name.removesuffix('.shape.json')}"

    @cached_property
    def shape(self) -> Any:
        """Its shape."""
        return json.loads(self.path.read_text("utf-8"))

    @property
    def headers(self) -> list[str] | None:
        """The names of the headers, if it is an exchange whose body is only a text;
        None if it is an answer.
        """
        shape = self.shape
        if not isinstance(shape, dict):
            return None
        if "http_interactions" in shape:
            return [
                name.lower()
                for name in items_of(shape["http_interactions"])[0]["response"][
                    "headers"
                ]
            ]
        return (
            list(shape.get("headers", {}))
            if any(body in shape for body in _BODIES)
            else None
        )

    @property
    def is_exchange(self) -> bool:
        """Whether the inside of the answer is not known."""
        return self.headers is not None


def find_shapes() -> list[Captured]:
    """Return all shapes; none where the folder is absent."""
    return [Captured(path) for path in sorted(FOLDER.glob("*/*.shape.json"))]


def items_of(shape: Any) -> list[Any]:
    """Return the kinds of items of a list; none if *shape* is not a list."""
    return next(iter(shape.values())) if _length(shape) is not None else []


def _length(shape: Any) -> int | None:
    if not isinstance(shape, dict) or len(shape) != 1:
        return None
    found = _LIST.fullmatch(next(iter(shape)))
    return int(found[1]) if found else None


def fields(shape: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield each path with the type of what is there, as `tests.cassettes.shape` names
    them.
    """
    if _length(shape) is not None:
        yield path, "list"
        for item in items_of(shape):
            yield from fields(item, f"{path}[]")
    elif isinstance(shape, dict):
        yield path, "object"
        for name, inner in shape.items():
            yield from fields(inner, f"{path}.{name}".removeprefix("."))
    else:
        yield (
            path,
            {"null": "null", "bool": "boolean", "int": "number", "float": "number"}.get(
                shape, "text"
            ),
        )


def marks(shape: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield each path of a text that has marks, with each of them."""
    if _length(shape) is not None:
        for item in items_of(shape):
            yield from marks(item, f"{path}[]")
    elif isinstance(shape, dict):
        for name, inner in shape.items():
            yield from marks(inner, f"{path}.{name}".removeprefix("."))
    elif isinstance(shape, str) and (found := _TEXT.fullmatch(shape)):
        for mark in filter(None, found[2].split("+")):
            yield path, mark


class Inventor:
    """Invents an answer: the same one each time.

    Args:
        given: Values by their paths, such as ``web.results[].type``; ``{n}`` in a text
            is a number of its own.
        longest: Maximum number of characters of a text.
        whole: Whether lists are as long as captured; otherwise they have an item of
            each kind, those inside them one.
        tag: How the service marks a word: a form for it.
    """

    def __init__(
        self,
        given: Mapping[str, Any] | None = None,
        *,
        longest: int = _LONGER,
        whole: bool = True,
        tag: str = "",
    ) -> None:
        self._given = given or {}
        self._longest = longest
        self._whole = whole
        self._tag = tag or "<strong>{}</strong>"
        self._count = 0

    def make(self, shape: Any, path: str = "") -> Any:
        """Return a value of this *shape*."""
        if path in self._given:
            value = self._given[path]
            self._count += 1
            return (
                value.replace("{n}", str(self._count))
                if isinstance(value, str)
                else value
            )
        if (length := _length(shape)) is not None:
            kinds = items_of(shape)
            count = (
                length
                if self._whole
                else min(length, 1)
                if "[]" in path
                else len(kinds)
            )
            return [
                self.make(kind, f"{path}[]") for kind in islice(cycle(kinds), count)
            ]
        if isinstance(shape, dict):
            return {
                name: self.make(inner, f"{path}.{name}".removeprefix("."))
                for name, inner in shape.items()
            }
        return self._value(shape, path)

    def _value(self, kind: str, path: str) -> Any:
        self._count += 1
        n, name = self._count, path.rpartition(".")[2]
        if found := _TEXT.fullmatch(kind):
            return self._text(int(found[1]), found[2], n)
        is_time = name.endswith("_date") or name in {
            "created",
            "created_at_i",
            "time",
            "timestamp",
        }
        simple: dict[str, Any] = {
            "null": None,
            "bool": name in {"is_accepted", "is_oa", "success"},
            "int": _EPOCH + n if is_time else n,
            "float": round(1 / (n + 1), 4),
            "url": f"https://{self._word(n)}.example/{self._word(n + 7)}/{n}",
            "id": hashlib.sha256(str(n).encode()).hexdigest()[:32],
            "date": f"2026-{n % 9 + 1:02}-{n % 28 + 1:02}",
            "date-time": f"2026-{n % 9 + 1:02}-{n % 28 + 1:02}T08:00:03Z",
        }
        return simple[kind]

    def _text(self, most: int, marked: str, n: int) -> str:
        if not most:
            return ""
        if "relative-date" in marked and most <= 20:
            return f"{n % 9 + 2} days ago"
        least = max(size for size in _SIZES if size < most)
        length = min(
            least + (min(most, 3 * least + 40) - least) // 3, _LONGER, self._longest
        )
        words = [self._word(n), self._word(n + 5), str(n)]
        while len(" ".join(words)) < length:
            words.append(self._word(n + len(words) * 3))
        end = [
            *(["3 days ago"] if "relative-date" in marked else []),
            *(["and &quot;so&#x27;s&quot; &amp; on"] if "entities" in marked else []),
            *([self._tag.format(words[0])] if "tags" in marked else []),
        ]
        text = " ".join([*words, *end]).capitalize()
        return (
            text.replace(" ", "\n", 3).replace("\n", " ", 2)
            if "lines" in marked
            else text
        )

    def _word(self, n: int) -> str:
        words = _WORDS.split()
        return words[n % len(words)]
