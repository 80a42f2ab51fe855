"""What the author of a provider needs, behind one import.

A provider is any object with a ``name`` and a generator method ``search``, ``read`` or
both. It yields requests and is sent their responses. See CONTRIBUTING.md for a complete
example, and docs/extending.md for what is here. The errors that a provider raises are
in `websearch_core.errors`, other effects than requests in `websearch_core.flow`, and
what services that pass queries on to Google share in `websearch_core.provider.google`.
"""

from __future__ import annotations
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._runtime.deadline import time_left
    from .._text.urls import is_web_url, serialize
    from ..flow import Flow, Request, Response
    from ..models import Page, SearchQuery, SearchResponse, SearchResult
    from ._codes import COUNTRIES, COUNTRY_NAMES, LANGUAGES, LOWER_COUNTRIES
    from ._dates import date_range, date_span, midnight
    from ._declare import (
        REQUIRED,
        BaseUrl,
        Env,
        Key,
        KeyHeader,
        ProjectFile,
        is_vendor,
        key_text,
        missing_field_error,
        provider,
    )
    from ._function import from_function
    from ._http import (
        as_json,
        as_number,
        as_object,
        as_objects,
        as_text,
        as_texts,
        check_length,
        check_options,
        decode,
        drop_none,
        error_for,
        find_kind,
        find_max_age,
        find_message,
        find_value,
        get_json,
        parse_usage,
        place_key,
        post_json,
        quote_commands,
        redact,
        unexpected_format,
        with_extra,
        with_sites,
    )
    from ._languages import codes, find_country, find_language, match_language
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
        as_links,
        check_response,
        check_text,
        find_records,
        page_error,
        parse_page,
        parse_pages,
        parse_response,
        prepare_parser,
        read_alone,
    )
    from ._results import (
        parse_images,
        parse_results,
        parse_search,
        plain_text,
        take_results,
    )

__all__ = [
    "COUNTRIES", "COUNTRY_NAMES", "FILTERS", "FREE", "LANGUAGES", "LOWER_COUNTRIES",
    "REQUIRED", "BaseUrl", "Env", "Flow", "Key", "KeyHeader", "Limits", "Page",
    "PageReader", "Price", "ProjectFile", "Provider", "Request", "Response",
    "SearchProvider", "SearchQuery", "SearchResponse", "SearchResult", "Service",
    "Site", "as_json", "as_links", "as_number", "as_object", "as_objects", "as_text",
    "as_texts", "check_length", "check_options", "check_response", "check_text",
    "codes", "collect_pages", "date_range", "date_span", "decode", "drop_none",
    "error_for", "find_country", "find_kind", "find_language", "find_max_age",
    "find_message",
    "find_records", "find_value", "follow_pages", "from_function", "get_json",
    "is_vendor", "is_web_url", "key_text", "match_language", "midnight",
    "missing_field_error", "page_by_page", "page_error", "parse_images", "parse_page",
    "parse_pages", "parse_response", "parse_results", "parse_search", "parse_usage",
    "place_key", "plain_text", "post_json", "prepare_parser", "provider",
    "quote_commands", "read_alone", "redact", "serialize", "take_results", "time_left",
    "unexpected_format", "with_extra", "with_sites",
]  # fmt: skip

# In the order in which a program needs them: what is never used is not imported.
_HOMES = (
    "._declare", "._ports", "..models", "..flow", "._http", "._languages", "._paging",
    "._results", "._dates", "._codes", ".._text.urls", ".._runtime.deadline",
    "._reading", "._function",
)  # fmt: skip

# Type checkers see the imports above; with this function, they would accept any name.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import what is used: a program that makes a tool needs little of it."""
        homes = _HOMES if name in __all__ else ()
        for home in homes:
            module = import_module(home, __name__)
            if hasattr(module, name):
                globals()[name] = getattr(module, name)
                return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__]
