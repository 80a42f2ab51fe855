"""The table of codes in docs/errors.md: from the classes of errors."""

from __future__ import annotations
import inspect

from websearch_core import errors
from websearch_core._cli.output import exit_code

from .markdown import as_markdown, make_table


def write_table() -> str:
    """Return a row for each error: its code, its class, whether it may pass, and the
    exit code of the command line.
    """
    rows = []
    for name in errors.__all__:
        cls: type[errors.WebSearchError] = getattr(errors, name)
        # the last two are raised as subclasses
        if cls in {errors.Attempt, errors.WebSearchError, errors.ServiceError}:
            continue
        passes = "yes" if getattr(cls, "temporary", False) else ""
        summary = as_markdown((inspect.getdoc(cls) or "").partition("\n\n")[0])
        rows.append(
            [f"`{cls.code}`", f"`{name}`", passes, str(exit_code(cls)), summary]
        )
    return make_table(
        ["code", "class", "may pass", "exit code", ""], sorted(rows), "llccl"
    )
