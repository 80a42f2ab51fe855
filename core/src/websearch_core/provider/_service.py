"""What people ask about a service before they use it, for the documentation and for `ProviderInfo`."""

from __future__ import annotations
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True)
class Price:
    """What a call costs by the list of prices of a service, as a program needs it.

    Only prices that the service publishes; leave out what is not known. What the service says it charged wins.

    Args:
        verb: What it is the price of; None for both.
        usd: US dollars; None if that is not known, as for a service that sells credits by subscription.
        credits: Credits of the service; None if it has none.
        size: How many results or pages the price pays for: a call for more pays it again. 0: for any number.
        by_request: Each HTTP request costs that much, instead of a call.
        when: The options of the provider that this is the price for, such as ``{"search_depth": "advanced"}``. The
            first price that fits counts.
    """

    verb: Literal["search", "read"] | None = None
    usd: float | None = None
    credits: float | None = None
    size: int = 0
    by_request: bool = False
    when: Mapping[str, Any] = field(default_factory=dict, hash=False)


FREE = (Price(usd=0, credits=0),)


@dataclass(frozen=True, kw_only=True)
class Service:
    """Facts about a service, as the class attribute ``about`` of a provider.

    They are the service's own claims. Prices and allowances change: `as_of` says when they were true.

    Args:
        api_urls: The pages that document its API.
        signup_url: Where to get a key.
        free_allowance: What costs nothing: ``1,000 credits a month``, ``keyless: 20 pages a minute``.
        price: The list price: ``USD 5 per 1,000 requests``.
        prices: The same for programs, which estimate by it what a call will cost; empty if that is not known.
        as_of: When allowance and prices were true: ``2026-09``.
        compared: The SDK whose parameters ours were compared with, and when: ``exa-py 2.28.0, 2026-11-23``. If empty,
            they were compared with the pages in *api_urls*.
        terms: What its terms say about results: storing, showing, automated use.
    """

    api_urls: tuple[str, ...] = ()
    signup_url: str = ""
    free_allowance: str = ""
    price: str = ""
    prices: tuple[Price, ...] = ()
    as_of: str = ""
    compared: str = ""
    terms: str = ""
