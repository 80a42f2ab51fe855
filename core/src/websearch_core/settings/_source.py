"""The source of a value."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..errors import ConfigurationError
from ..keys._environ import is_loop_running
from ._formats import find_line, read_text


@dataclass(frozen=True)
class Source:
    """
    The source of a value.

    Args:
        kind: ``file`` is a file that the user chose, ``found`` one in the working directory or above it.
        name: The environment variable, or the path of the file.
        written: The name of the setting as it is written there, such as ``webSearch``, ``tavily``, ``apiKey``.

    """

    kind: Literal["argument", "environment", "file", "found", "default"]
    name: str = ""
    written: tuple[str, ...] = field(default=(), compare=False)

    @property
    def trusted(self) -> bool:
        """False for a value that the author of the working directory may have written."""
        return self.kind != "found"

    @property
    def key(self) -> str:
        """The name of the setting as it is written there."""
        names = self.written[2:] if self.written[:2] == ("tool", "websearch") else self.written
        return ".".join(name if name.isprintable() else repr(name) for name in names)

    @property
    def line(self) -> int | None:
        """The line of the file, from 1, if it can be found. The file is read again, since its text may hold keys."""
        if self.kind not in {"file", "found"} or not self.written or is_loop_running():  # which reading would block
            return None
        try:
            return find_line(read_text(Path(self.name)), Path(self.name), self.written)
        except (ConfigurationError, ValueError):  # it has changed
            return None

    @property
    def place(self) -> str:
        """Where to look for it, for messages: a variable, a file and its line, or an argument."""
        match self.kind:
            case "file" | "found":
                return f"{self.name}, line {line}" if (line := self.line) else self.name
            case "argument":
                return "settings"
            case _:
                return str(self)

    def __str__(self) -> str:
        match self.kind:
            case "environment":
                return f"environment {self.name}"
            case "file" | "found":
                return self.name
            case kind:
                return kind


DEFAULT, ARGUMENT = Source("default"), Source("argument")


@dataclass(frozen=True)
class Option:
    """
    A value and its source.

    Args:
        value: The value.
        source: Where it comes from.
        limit: The value of a trusted source that this one overrules, if there is one.

    """

    value: Any = field(repr=False)  # it may be a key
    source: Source
    limit: Any = field(default=None, repr=False)
