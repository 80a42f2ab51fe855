"""The arguments of `WebSearch`, as types."""

from __future__ import annotations
from typing import TYPE_CHECKING, TypeAlias, TypedDict

from ..settings._values import Concerns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pydantic import SecretStr

    from ..events._hooks import Hook
    from ..layers import Layer, RateLimiter
    from ..models import SearchOptions
    from ..provider._ports import PageReader, SearchProvider
    from ..reading import ReadOptions
    from ..settings import Http, Settings, Timeout

Choice: TypeAlias = (
    "str | SearchProvider | PageReader | Sequence[str | SearchProvider | PageReader]"
)


class _Basics(TypedDict, total=False):
    reader: Choice | None
    api_key: str | SecretStr | Callable[[], str] | None
    base_url: str | None
    internal: Sequence[str] | None
    allowed_domains: Sequence[str] | None
    blocked_domains: Sequence[str] | None
    timeout: float | Timeout | None


class _Options(_Basics, Concerns, total=False):
    layers: Sequence[Layer] | None
    http: Http | None
    on_event: Hook | Sequence[Hook] | None
    settings: Settings | None


class WebSearchOptions(_Options, total=False):
    """The arguments of `WebSearch` besides ``provider``, which it takes by position,
    too.
    """

    search_options: SearchOptions | None
    read_options: ReadOptions | None


class WebArguments(_Options, total=False):
    """The arguments of `WebSearch` without ``search_options`` and ``read_options``."""

    provider: Choice | None


class CommonArguments(WebArguments, total=False):
    """The arguments of `WebSearch` for tools, retrievers and loaders, whose
    ``search_options`` and ``read_options`` are their own.

    ``rate_limiter``, as the models of the frameworks call it, is the same as
    ``throttle``.
    """

    rate_limiter: RateLimiter | None
