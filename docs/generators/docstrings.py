"""What docstrings say of arguments, and signatures and fields of their defaults."""

from __future__ import annotations
import inspect
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from pydantic_core import PydanticUndefined

from websearch_core._text import docstrings

from .markdown import as_markdown


def read_args(described: object) -> dict[str, str]:
    """Return what the docstring of a class or function says of each argument, as
    Markdown.
    """
    return {
        name: as_markdown(meaning)
        for name, meaning in docstrings.read_args(described).items()
    }


def read_defaults(cls: type[Any]) -> dict[str, str]:
    """Return the options of a class with their defaults, as Markdown; of a plain class,
    what calling it takes.
    """
    if is_dataclass(cls):
        return {field.name: _default(field) for field in fields(cls)}
    parameters = inspect.signature(cls).parameters.values()
    return {
        one.name: "required" if one.default is one.empty else show(one.default)
        for one in parameters
    }


def show(default: Any) -> str:
    """Return a default as Markdown; what stands for nothing is empty."""
    return "" if default in (None, "", ()) else f"`{default}`"


def _default(field: Any) -> str:
    default = getattr(field.default, "default", field.default)
    if default in (MISSING, PydanticUndefined):
        return "" if field.default_factory is not MISSING else "required"
    return show(default)
