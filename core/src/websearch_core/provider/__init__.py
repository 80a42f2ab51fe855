"""What the author of a provider needs, behind one import.

A provider is any object with a ``name`` and a generator method ``search``, ``read`` or
both. It yields requests and is sent their responses. See CONTRIBUTING.md for a complete
example. The errors that it raises are in `websearch_core.errors`, other effects than
requests in `websearch_core.flow`, and what services that pass queries on to Google
share in `websearch_core.provider.google`.
"""

from __future__ import annotations
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._runtime.deadline import time_left
    from ..flow import Flow, Request, Response
    from ..models import Page, SearchQuery, SearchResponse, SearchResult
    from ._dates import date_range
    from ._declare import BaseUrl, Env, FoundFile, Key, is_vendor, provider
    from ._function import from_function
    from ._http import (
        as_number,
        as_object,
        as_objects,
        as_text,
        check_options,
        decode,
        drop_none,
        error_for,
        get_json,
        parse_usage,
        post_json,
        with_extra,
        with_sites,
    )
    from ._languages import codes, find_country, find_language
    from ._paging import collect_pages, follow_pages, page_by_page
    from ._ports import (
        FILTERS,
        FREE,
        Limits,
        PageReader,
        Price,
        Provider,
        SearchProvider,
        Service,
        Site,
    )
    from ._reading import (
        check_response,
        check_text,
        page_error,
        parse_page,
        parse_pages,
    )
    from ._results import parse_images, parse_results, parse_search

__all__ = [
    "FILTERS", "FREE", "BaseUrl", "Env", "Flow", "FoundFile", "Key", "Limits", "Page",
    "PageReader", "Price",
    "Provider", "Request", "Response", "SearchProvider", "SearchQuery",
    "SearchResponse", "SearchResult", "Service",
    "Site", "as_number", "as_object", "as_objects", "as_text", "check_options",
    "check_response", "check_text", "codes",
    "collect_pages", "date_range", "decode", "drop_none", "error_for", "find_country",
    "find_language", "follow_pages",
    "from_function", "get_json", "is_vendor", "page_by_page", "page_error",
    "parse_images", "parse_page",
    "parse_pages", "parse_results", "parse_search", "parse_usage", "post_json",
    "provider", "time_left", "with_extra",
    "with_sites",
]  # fmt: skip

_HOMES = (
    "._declare", "._ports", "._http", "._languages", "._paging", "._reading",
    "._results",
    "._dates", "._function", "..models", "..flow", ".._runtime.deadline",
)  # fmt: skip

# type checkers see the imports above; with this function, they would accept any name
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import what is used: a program that makes a tool needs little of it."""
        for home in _HOMES if name in __all__ else ():
            if hasattr(module := import_module(home, __name__), name):
                globals()[name] = getattr(module, name)
                return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__]
