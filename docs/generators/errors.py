"""The table of codes in docs/errors.md: from the classes of errors."""

from __future__ import annotations
import inspect

from websearch_core import errors

from .markdown import as_markdown, make_table


def write_table() -> str:
    """Return a row for each error, with its code and its class, and which may pass."""
    rows = []
    passing = []
    for name in errors.__all__:
        cls: type[errors.WebSearchError] = getattr(errors, name)
        # the last two are raised as subclasses
        if cls in {errors.Attempt, errors.WebSearchError, errors.ServiceError}:
            continue
        if getattr(cls, "temporary", False):
            passing.append(f"`{cls.code}`")
        summary = as_markdown((inspect.getdoc(cls) or "").partition("\n\n")[0])
        rows.append([f"`{cls.code}`", f"`{name}`", summary])
    table = make_table(["code", "class", ""], sorted(rows))
    return f"{table}\n\nOf these, {', '.join(sorted(passing))} may pass."
