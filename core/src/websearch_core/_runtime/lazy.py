"""Packages that import their names when they are used: a program that makes a tool
needs few of them.
"""

from __future__ import annotations
import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def importer(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Return the function ``__getattr__`` of a *package*: *homes* are the modules below
    it that have its names.
    """

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
