"""``websearch cache``."""

from __future__ import annotations
import dataclasses
from typing import Annotated, Literal

import typer

from ...errors import ConfigurationError
from ..arguments import TextOrJson
from ..output import print_json, print_line, print_rows, report_errors


def cache(
    action: Annotated[
        Literal["stats", "clear"],
        typer.Argument(
            metavar="[stats|clear]", help="Show how full it is, or empty it"
        ),
    ] = "stats",
    form: TextOrJson = "text",
) -> None:
    """Show how full the cache of answers and pages is, or empty it.

    It is the one that the settings name, else the file in your cache folder.
    """
    with report_errors(form):
        from ...client._selection import find_cache
        from ...settings import Settings

        backend = find_cache(Settings.load())
        try:
            if action == "clear":
                backend.clear()
            stats = backend.stats()
        except ConfigurationError:  # says what to do
            raise
        except Exception as error:
            raise ConfigurationError(
                f"the cache cannot be used: {type(error).__name__}"
            ) from error
        if form == "json":
            print_json(dataclasses.asdict(stats))
        elif action == "clear":
            print_line(f"empty: {stats.location}")
        else:
            rows = (
                ("entries", f"{stats.entries:,}"),
                ("size", f"{stats.size / 2**20:,.1f} MiB"),
            )
            print_rows([*rows, ("location", stats.location)])
