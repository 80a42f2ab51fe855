"""Show docstrings as they are meant: code in blocks, names as links, and the arguments
that a decorator makes.
"""

from __future__ import annotations
import json
from pathlib import Path
from typing import Any

import griffe

from docs.site.markup import to_markdown


class Docstrings(griffe.Extension):
    """Prepares what mkdocstrings renders.

    Args:
        facts: Where `docs.site.pages.find_facts` was written to.
    """

    def __init__(self, facts: str) -> None:
        self._facts = json.loads(Path(facts).read_text("utf-8"))

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of an object, and give a class its arguments."""
        self._rewrite(obj)
        if (
            isinstance(obj, griffe.Class)
            and (arguments := self._facts["classes"].get(obj.path)) is not None
        ):
            own = obj.members.get("__init__")
            made = griffe.Function(
                "__init__",
                parameters=griffe.Parameters(*map(_make, arguments)),
                parent=obj,
            )
            if isinstance(own, griffe.Function):
                made.docstring = own.docstring
            obj.set_member("__init__", made)

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Rewrite the docstring of a package, which is nobody's member."""
        self._rewrite(pkg)

    def _rewrite(self, obj: griffe.Object) -> None:
        if obj.docstring is not None:
            obj.docstring.value = to_markdown(
                obj.docstring.value, lambda name: self._find(name, obj)
            )

    def _find(self, name: str, within: griffe.Object) -> str | None:
        """Return the place of a name in the reference: of a method of this class, a
        module, or a public name.
        """
        package = within.path.partition(".")[0]
        names = {
            **self._facts["names"]["websearch_core"],
            **self._facts["names"].get(package, {}),
        }
        module, _, last = name.rpartition(".")
        holder = within if isinstance(within, griffe.Class) else within.parent
        if not module and isinstance(holder, griffe.Class) and holder.name in names:
            member = holder.members.get(name)
            if (
                isinstance(member, griffe.Function)
                and member.has_docstring
                and not name.startswith("_")
            ):
                return f"{names[holder.name]}.{name}"
        if name in self._facts["modules"]:
            return f"{name}.md"
        return (
            str(names[last])
            if last in names and (not module or module in self._facts["modules"])
            else None
        )


def _make(argument: list[Any]) -> griffe.Parameter:
    name, kind, annotation, default = argument
    return griffe.Parameter(
        name,
        annotation=annotation or None,
        kind=griffe.ParameterKind[kind.lower()],
        default=default,
    )
