"""
Everything a provider's author needs, behind one import.

A provider is any object with a ``name`` and a generator method ``search``, ``read`` or both. It yields requests and is
sent their responses. See CONTRIBUTING.md for a complete example.
"""

from __future__ import annotations

from .._text.dates import parse_date
from .._text.rates import RateLimit
from .._urls import canonicalize, is_web_url
from ..errors import (
    AccessDenied,
    AuthenticationError,
    BadRequest,
    BadResponse,
    Blocked,
    ConfigurationError,
    InvalidOption,
    MissingKey,
    NeedsBrowser,
    PageNotFound,
    QuotaExhausted,
    RateLimited,
    ServiceError,
    TimedOut,
    TooLarge,
    Unavailable,
    UnsafeURL,
    UnsupportedContent,
    UnsupportedOption,
    WebSearchError,
)
from ..flow import Call, Flow, Gather, Request, Response, Sleep
from ..models import Image, Page, SearchQuery, SearchResponse, SearchResult
from ._codes import COUNTRIES, GOOGLE_LANGUAGES, GOOGLE_RESULT_LANGUAGES, LANGUAGES
from ._countries import COUNTRY_NAMES
from ._dates import date_range, google_period, midnight
from ._declare import BaseUrl, Env, FoundFile, Key, is_vendor, missing_field_error, provider
from ._function import from_function
from ._google import google_answer, google_filters
from ._http import (
    as_number,
    as_object,
    as_objects,
    as_text,
    as_texts,
    check_length,
    check_options,
    decode,
    decode_json,
    error_for,
    given,
    parse_usage,
    redact,
    retry_after,
    unexpected_format,
    with_sites,
)
from ._languages import codes, find_country, find_language, match_language
from ._obstacles import find_challenge, find_challenge_text, needs_scripts
from ._paging import Batch, collect_pages, follow_pages
from ._ports import (
    AsyncHTTPClient,
    BatchReader,
    HTTPClient,
    Limits,
    PageReader,
    Provider,
    Role,
    SearchProvider,
    can,
)
from ._reading import as_links, check_text, first_heading, page_error, page_meaning
from ._requests import bearer, post_json
from ._results import Getter, in_domains, join_names, parse_images, parse_results, plain_text, take_results
from ._service import Service

__all__ = [
    "COUNTRIES",
    "COUNTRY_NAMES",
    "GOOGLE_LANGUAGES",
    "GOOGLE_RESULT_LANGUAGES",
    "LANGUAGES",
    "AccessDenied",
    "AsyncHTTPClient",
    "AuthenticationError",
    "BadRequest",
    "BadResponse",
    "BaseUrl",
    "Batch",
    "BatchReader",
    "Blocked",
    "Call",
    "ConfigurationError",
    "Env",
    "Flow",
    "FoundFile",
    "Gather",
    "Getter",
    "HTTPClient",
    "Image",
    "InvalidOption",
    "Key",
    "Limits",
    "MissingKey",
    "NeedsBrowser",
    "Page",
    "PageNotFound",
    "PageReader",
    "Provider",
    "QuotaExhausted",
    "RateLimit",
    "RateLimited",
    "Request",
    "Response",
    "Role",
    "SearchProvider",
    "SearchQuery",
    "SearchResponse",
    "SearchResult",
    "Service",
    "ServiceError",
    "Sleep",
    "TimedOut",
    "TooLarge",
    "Unavailable",
    "UnsafeURL",
    "UnsupportedContent",
    "UnsupportedOption",
    "WebSearchError",
    "as_links",
    "as_number",
    "as_object",
    "as_objects",
    "as_text",
    "as_texts",
    "bearer",
    "can",
    "canonicalize",
    "check_length",
    "check_options",
    "check_text",
    "codes",
    "collect_pages",
    "date_range",
    "decode",
    "decode_json",
    "error_for",
    "find_challenge",
    "find_challenge_text",
    "find_country",
    "find_language",
    "first_heading",
    "follow_pages",
    "from_function",
    "given",
    "google_answer",
    "google_filters",
    "google_period",
    "in_domains",
    "is_vendor",
    "is_web_url",
    "join_names",
    "match_language",
    "midnight",
    "missing_field_error",
    "needs_scripts",
    "page_error",
    "page_meaning",
    "parse_date",
    "parse_images",
    "parse_results",
    "parse_usage",
    "plain_text",
    "post_json",
    "provider",
    "redact",
    "retry_after",
    "take_results",
    "unexpected_format",
    "with_sites",
]
