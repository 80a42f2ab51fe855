"""``websearch providers``."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from ..arguments import TextOrJson
from ..output import print_json, print_table, report_errors

if TYPE_CHECKING:
    from ...providers import ProviderInfo


def providers(form: TextOrJson = "text") -> None:
    """List the providers: what each can do, and whether it is ready or which variable is missing. Never shows keys."""
    with report_errors(form):
        from ...providers import get_all

        found = get_all()
        if form == "json":
            print_json([dataclasses.asdict(one) for one in found])
            return
        rows = [
            (one.name, "yes" * one.search, "yes" * one.read, _format_state(one), " ".join(one.options)) for one in found
        ]
        print_table(("provider", "search", "read", "state", "options"), rows)


def _format_state(one: ProviderInfo) -> str:
    if one.configured:
        return "ready"
    return f"set {' or '.join(one.missing)}" if one.missing else one.problem or ""
