"""What people ask about a service before they use it, for the documentation and for `ProviderInfo`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Service:
    """
    Facts about a service, as the class attribute ``about`` of a provider.

    They are the service's own claims. Prices and allowances change: `as_of` says when they were true.

    Args:
        api_urls: The pages that document its API.
        signup_url: Where to get a key.
        free_allowance: What costs nothing: ``1,000 credits a month``, ``keyless: 20 pages a minute``.
        price: The list price: ``USD 5 per 1,000 requests``.
        as_of: When allowance and price were true: ``2026-09``.
        terms: What its terms say about results: storing, showing, automated use.

    """

    api_urls: tuple[str, ...] = ()
    signup_url: str = ""
    free_allowance: str = ""
    price: str = ""
    as_of: str = ""
    terms: str = ""
