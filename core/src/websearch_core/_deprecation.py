"""Rename public names without breaking the code that uses them.

A replaced public name stays for at least one minor version, and warns. For a function,
class or overload that stays callable, `typing_extensions.deprecated` (PEP 702) does
this; a type checker shows it too. For a name that moved or was renamed, a module calls
`renamed`::

    __getattr__ = renamed(__name__, {"configured": "websearch_core.providers:build"}, removal="0.3")
"""

from __future__ import annotations
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def renamed(
    module: str, names: Mapping[str, str], *, removal: str
) -> Callable[[str], Any]:
    """Return the ``__getattr__`` (PEP 562) of *module* that resolves old names with a
    warning, until *removal*.

    *names* maps each old name to where it is now, as ``"module:attribute"``; *removal*
    is a version.
    """

    def resolve(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, _, attribute = names[name].partition(":")
        warnings.warn(
            f"{module}.{name} is deprecated and will be removed in {removal}; use "
            f"{home}.{attribute}",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(import_module(home), attribute)

    return resolve
