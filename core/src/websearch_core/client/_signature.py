"""The arguments of `WebSearch`, as types."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypedDict

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping, Sequence

    from pydantic import SecretStr

    from .._net.clients import Library
    from .._text.choices import Responses
    from ..events._hooks import Hook
    from ..events._log import Logger
    from ..layers import Layer, RateLimiter
    from ..provider._ports import AsyncHTTPClient, HTTPClient, PageReader, SearchProvider
    from ..reading import Links
    from ..settings import Settings
    from ..tokens import TokenCounter

Choice: TypeAlias = "str | SearchProvider | PageReader | Sequence[str | SearchProvider | PageReader]"


class CommonArguments(TypedDict, total=False):
    """The arguments of `WebSearch` except ``max_length``, for classes that have a ``max_length`` of their own."""

    provider: Choice | None
    fuse: bool | None
    reader: Choice | None
    api_key: str | SecretStr | Callable[[], str] | None
    base_url: str | None
    provider_options: Mapping[str, Mapping[str, object]] | None
    allow: Sequence[str] | None
    timeout: float | None
    search_timeout: float | None
    read_timeout: float | None
    connect_timeout: float | None
    attempts: int | None
    layers: Sequence[Layer] | None
    cache: bool | float | str | None
    robots: bool | None
    throttle: str | None
    rate_limiter: RateLimiter | None
    http_client: HTTPClient | None
    http_async_client: AsyncHTTPClient | None
    verify: ssl.SSLContext | None
    http_library: Library | None
    max_tokens: int | None
    token_counter: TokenCounter | None
    links: Links | None
    comments: Responses | None
    reviews: Responses | None
    settings: Settings | None
    logger: Logger | None
    on_event: Hook | None
    allowed_domains: Sequence[str] | None
    blocked_domains: Sequence[str] | None
    max_snippet_chars: int | None
    budget: str | Sequence[str] | None


class WebSearchArguments(CommonArguments, total=False):
    """The arguments of `WebSearch`, for code that creates one."""

    max_length: int | None
