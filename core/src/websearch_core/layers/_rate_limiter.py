"""Wait for a rate limiter of the application's, such as one that its chat models share."""

from __future__ import annotations
import inspect
from typing import Any, Protocol

from ..errors import ConfigurationError, RateLimited
from ..flow import Flow
from ..flow._intercept import AuxiliaryCall


class RateLimiter(Protocol):
    """Says when the next request may be sent.

    The ``BaseRateLimiter`` of ``langchain_core.rate_limiters`` and that of ``llama_index.core.rate_limiter`` are ones.
    Async calls await ``aacquire`` or ``async_acquire`` if it has one of them.
    """

    def acquire(self) -> Any:
        """Block until one request may be sent; return False if it may not."""
        ...


def check_limiter(limiter: object) -> None:
    """Check that *limiter* can be waited for."""
    if isinstance(limiter, type) or not callable(getattr(limiter, "acquire", None)):
        raise ConfigurationError("rate_limiter: must be an object with a method acquire(), such as a BaseRateLimiter")
    if inspect.iscoroutinefunction(getattr(limiter, "acquire", None)):
        raise ConfigurationError("rate_limiter: acquire is an async def, and must block; aacquire is for async calls")


def wait_for(limiter: RateLimiter, provider: str) -> Flow[None]:
    """Wait until *limiter* lets a request through; if it does not, that is `RateLimited`."""
    asynchronous = getattr(limiter, "aacquire", None) or getattr(limiter, "async_acquire", None)
    admitted = yield AuxiliaryCall.either(limiter.acquire, asynchronous)
    if admitted is False:
        raise RateLimited(f"{provider} request not sent: the rate limiter does not let it through", provider=provider)
