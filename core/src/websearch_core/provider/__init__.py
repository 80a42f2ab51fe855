"""
Everything a provider's author needs, behind one import.

A provider is any object with a ``name`` and a generator method ``search``, ``read`` or both. It yields requests and is
sent their responses. See CONTRIBUTING.md for a complete example.
"""

from __future__ import annotations

from .._text.dates import parse_date
from .._urls import canonicalize, is_web_url
from ..errors import (
    AuthenticationError,
    BadRequest,
    BadResponse,
    Blocked,
    ConfigurationError,
    InvalidOption,
    MissingKey,
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
)
from ..flow import Call, Flow, Gather, Request, Response, Sleep
from ..models import Image, Page, SearchQuery, SearchResponse, SearchResult
from ._countries import COUNTRY_NAMES
from ._declare import BaseUrl, Env, FoundFile, Key, is_vendor, missing_field_error, provider
from ._function import from_function
from ._http import (
    as_object,
    as_objects,
    as_text,
    check_options,
    decode,
    decode_json,
    error_for,
    redact,
    retry_after,
    unexpected_format,
    with_sites,
)
from ._paging import collect_pages
from ._ports import (
    AsyncHTTPClient,
    HTTPClient,
    Limits,
    PageReader,
    Provider,
    Role,
    SearchProvider,
    can,
)
from ._results import Getter, join_names, parse_results, plain_text

__all__ = [
    "COUNTRY_NAMES",
    "AsyncHTTPClient",
    "AuthenticationError",
    "BadRequest",
    "BadResponse",
    "BaseUrl",
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
    "Page",
    "PageNotFound",
    "PageReader",
    "Provider",
    "QuotaExhausted",
    "RateLimited",
    "Request",
    "Response",
    "Role",
    "SearchProvider",
    "SearchQuery",
    "SearchResponse",
    "SearchResult",
    "ServiceError",
    "Sleep",
    "TimedOut",
    "TooLarge",
    "Unavailable",
    "UnsafeURL",
    "UnsupportedContent",
    "UnsupportedOption",
    "as_object",
    "as_objects",
    "as_text",
    "can",
    "canonicalize",
    "check_options",
    "collect_pages",
    "decode",
    "decode_json",
    "error_for",
    "from_function",
    "is_vendor",
    "is_web_url",
    "join_names",
    "missing_field_error",
    "parse_date",
    "parse_results",
    "plain_text",
    "provider",
    "redact",
    "retry_after",
    "unexpected_format",
    "with_sites",
]
