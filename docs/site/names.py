"""A page with each setting, argument and variable under a heading of its own, so that
the search of the site finds it by its name.
"""

from __future__ import annotations
import re
from collections.abc import Mapping
from typing import Any

from docs.generators import settings
from docs.generators.docstrings import read_args
from docs.generators.providers import label
from websearch_core import SearchQuery
from websearch_core.provider._declare import environment
from websearch_core.providers import known, provider_class
from websearch_core.reading import ReadOptions
from websearch_core.tools import WebTools

_NAME = re.compile(r"`([A-Za-z_][\w.]*)`")
_HEAD = (
    "# Names of settings, arguments and variables\n\nFor the search of this site, "
    "which finds each of them here. The tables are on the pages that are named."
)


def write_page() -> str:
    """Return the page."""
    parts = [
        _HEAD,
        "## Settings and arguments of `WebSearch`",
        *map(_write_setting, settings.list_rows()),
        *_write_arguments(
            "Arguments of the tools",
            "An argument of tools and toolkits, in "
            "[LangChain](langchain.md) and [LlamaIndex](llamaindex.md).",
            read_args(WebTools),
        ),
        *_write_arguments(
            "Options of a search",
            "An option of a [search](providers.md), in a call or in `search_options`.",
            read_args(SearchQuery),
        ),
        *_write_arguments(
            "Options of a page",
            "An option of a call that [reads a page](reading.md), or in "
            "`read_options`.",
            read_args(ReadOptions),
        ),
        "## Variables of services",
        *_write_variables(),
    ]
    return "\n\n".join(parts) + "\n"


def list_headings() -> list[str]:
    """Return the names under which the search of the site should find an entry."""
    return re.findall(r"^### (.*)$", write_page(), re.MULTILINE)


def _write_setting(row: list[str]) -> str:
    argument, variable, in_a_file, default, _, meaning = row
    names = dict.fromkeys(_NAME.findall(f"{argument} {variable} {in_a_file}"))
    text = meaning.replace("](#", "](settings.md#")
    if default:
        text += f" By default {default}."
    heading = ", ".join(f"`{name}`" for name in names)
    return f"### {heading}\n\n{text} [Settings](settings.md)."


def _write_arguments(
    heading: str, lead: str, arguments: Mapping[str, str]
) -> list[str]:
    parts = [f"## {heading}"]
    for name, meaning in arguments.items():
        parts.append(f"### `{name}`\n\n{meaning} {lead}")
    return parts


def _write_variables() -> list[str]:
    parts = []
    for name in known():
        cls: type[Any] = provider_class(name)
        meanings = read_args(cls)
        for field, variables in environment(cls).items():
            heading = ", ".join(f"`{variable}`" for variable in variables)
            parts.append(
                f"### {heading}\n\n`{field}` of [{label(name)}]"
                f"(providers.md#{name}): {meanings[field]}"
            )
    return parts
