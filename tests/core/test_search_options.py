"""An option of a search is a field of `SearchQuery`, and reaches all who set options.

Settings, the schemas of all frameworks and of MCP, and the tables of the documentation
are made of it. What is written by hand is compared here, the samples of the contract in
`test_contract`.
"""

from __future__ import annotations
import inspect

import pytest

from websearch_core import WebSearch
from websearch_core._cli.arguments import name_flag
from websearch_core._cli.commands.search import search
from websearch_core.models import SearchOptions, SearchQuery
from websearch_core.tools import SearchArguments, SearchDefaults

# How to search is an option, too, but no service gets it.
MANNER = {"unsupported", "read_top", "passage_length"}
OPTIONS = set(SearchQuery.model_fields) - {"text", "unsupported"}
# What only developers set, in `search_options`. A model would have to know the service
# (`extra`), or could get around a decision (`safe_search`, `topic`).
NOT_FOR_MODELS = {
    "after", "before", "country", "language", "safe_search", "topic", "images", "page",
    "extra", "max_snippet_chars",
}  # fmt: skip
# What the command line has otherwise: `--option`, and a terminal cuts snippets itself.
NOT_ON_THE_COMMAND_LINE = {"extra", "max_snippet_chars"}


def test_each_option_is_a_typed_keyword():
    assert set(SearchOptions.__annotations__) == OPTIONS


def test_tools_take_each_option_and_the_manner_of_the_search():
    assert set(SearchDefaults.__annotations__) == OPTIONS | MANNER


@pytest.mark.parametrize("method", ["search", "asearch"])
def test_a_search_takes_the_manner_as_arguments_of_its_own(method: str):
    parameters = inspect.signature(getattr(WebSearch, method)).parameters

    assert set(parameters) == {"self", "query", "options"} | MANNER


def test_a_model_has_each_option_that_is_not_for_developers_alone():
    arguments = set(SearchArguments.model_fields) - {"query", "queries", "notes"}

    assert arguments == OPTIONS - NOT_FOR_MODELS


def test_the_command_line_has_a_flag_for_each_option():
    flags = {
        f"--{name.replace('_', '-')}" for name in inspect.signature(search).parameters
    }
    expected = {name_flag(option) for option in OPTIONS - NOT_ON_THE_COMMAND_LINE}

    assert expected - flags == set()


def test_the_exceptions_are_options():
    assert NOT_FOR_MODELS | NOT_ON_THE_COMMAND_LINE <= OPTIONS
