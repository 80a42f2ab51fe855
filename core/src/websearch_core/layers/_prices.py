"""What a call of a provider will cost, by its list of prices or by the prices that the
developer gives.
"""

from __future__ import annotations
import logging
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple, TypeAlias, get_args

from .._text.lists import split_texts
from ..errors import ConfigurationError
from ..models import Page, SearchResponse
from ..provider._ports import (
    Price,
    Provider,
    Role,
    Service,
    can,
    needs_network,
    opens_pages,
)
from ._amounts import MILLION, Amount, Unit, format_amount, in_millionths, parse_price

Prices: TypeAlias = Mapping[str, str | Sequence[str]]

_NOTHING = Price(usd=0, credits=0)
_BELIEVED = 100  # times the estimate
# for a call that nothing was estimated for
_USUAL = Amount(credits=10 * MILLION, usd=MILLION // 10)
_log = logging.getLogger(__name__)


class Estimate(NamedTuple):
    """What a call is estimated to cost by *price*: *once*, before it begins, and for
    each further *request*.
    """

    price: Price
    once: Amount
    request: Amount


def check_prices(prices: Prices) -> None:
    """Check the names and the prices that a developer gives."""
    if not isinstance(prices, Mapping):
        raise ConfigurationError(
            "prices: must be a mapping such as {'exa': '0.007 USD'}"
        )
    for name, price in prices.items():
        provider, *verbs = str(name).split(".", 1)
        if verbs and verbs[0] not in get_args(Role):
            raise ConfigurationError(
                f"prices: {name}: write {provider}.search or .read"
            )
        try:
            amounts = [parse_price(part) for part in split_texts(price)]
        except ConfigurationError as error:
            raise ConfigurationError(f"prices: {name}: {error}") from None
        if not amounts:
            raise ConfigurationError(f"prices: {name}: is empty")


def find_price(provider: Provider, verb: Role, prices: Prices) -> Price:
    """Return what a call of *provider* costs; an empty price if that is not known."""
    own = prices.get(f"{provider.name}.{verb}") or prices.get(provider.name)
    if own:
        amounts: dict[str, Any] = dict(map(parse_price, split_texts(own)))
        if verb == "search":
            return Price(**amounts, by_request=True)
        return Price(**amounts, size=1)
    if not needs_network(provider) or opens_pages(provider):
        return _NOTHING
    about = getattr(provider, "about", None)
    if not isinstance(about, Service):
        return Price()
    for price in about.prices:
        if price.verb in {None, verb} and _has_options(provider, price.when):
            return price
    return Price()


def _has_options(provider: Provider, options: Mapping[str, Any]) -> bool:
    return all(
        getattr(provider, name, None) == value for name, value in options.items()
    )


def estimate(price: Price, count: int) -> Estimate:
    """Return what a call for *count* results or pages is estimated to cost."""
    times = ceil(count / price.size) if price.size else 1
    once = Amount(
        credits=(in_millionths(price.credits) or 0) * times,
        usd=(in_millionths(price.usd) or 0) * times,
    )
    request = once if price.by_request else Amount()
    return Estimate(price, once + Amount(calls=MILLION), request)


def list_prices(providers: Iterable[Provider], verb: Role) -> dict[str, Price]:
    """Return what a call of each provider costs, by name, if it costs dollars."""
    prices = {
        provider.name: find_price(provider, verb, {})
        for provider in providers
        if can(provider, verb)
    }
    return {name: price for name, price in prices.items() if price.usd}


def estimate_cost(
    answer: SearchResponse | Page, prices: Mapping[str, Price], count: int
) -> dict[str, Any]:
    """Return the fields of *answer* for what it cost by the *prices*, if the service
    did not say it; a search wanted *count* results.
    """
    price = prices.get(answer.provider)
    if answer.cost is not None:
        return {}
    if price is None or price.usd is None:
        return {}
    times = float(ceil(count / price.size)) if price.size else 1.0
    credits_used = answer.usage.get("credits")
    if credits_used is not None and price.credits:
        times = credits_used / price.credits
    return {"cost": price.usd * times, "is_cost_estimated": True}


def correct(
    name: str, price: Price, estimated: Amount, answers: Sequence[SearchResponse | Page]
) -> Amount:
    """Return what a call cost by what the service called *name* says in its *answers*,
    else what was *estimated*.

    What is more than 100 times the estimate is not believed: one answer could use up
    the budget of everybody. Where nothing was estimated, that is 10 USD and 1,000
    credits.
    """
    credits_reported = _add_up(answer.usage.get("credits") for answer in answers)
    usd_reported = _add_up(answer.cost for answer in answers)
    charged = _believe(name, credits_reported, estimated, "credits")
    cost = _believe(name, usd_reported, estimated, "usd")
    if cost is None and charged is not None:
        cost = _convert_credits(charged, price)
    if charged is None:
        charged = estimated.credits
    if cost is None:
        cost = estimated.usd
    return Amount(estimated.calls, charged, cost)


def _convert_credits(charged: int, price: Price) -> int | None:
    """Return the dollars that credits cost; None if the price does not say it."""
    if not price.usd or not price.credits:
        return None
    return round(charged * price.usd / price.credits)


def unknown_price(
    provider: Provider, unit: Unit, limits: Sequence[str]
) -> ConfigurationError:
    """Make the error for a provider whose price in the *unit* of one of the *limits* is
    not known.
    """
    about = getattr(provider, "about", None)
    listed = ""
    if isinstance(about, Service) and about.price:
        listed = f" (its list says: {about.price}; {about.as_of})"
    counted = "USD" if unit == "usd" else unit
    name = provider.name
    return ConfigurationError(
        f"budget: what a call of {name} costs in {counted} is not known{listed}: "
        f"write Budget({', '.join(limits)!r}, prices={{{name!r}: '... {counted}'}}), "
        "or both in [budget]"
    )


def _believe(
    name: str, reported: int | None, estimated: Amount, unit: Unit
) -> int | None:
    """Return what a service reported, or None if that is too much."""
    if reported is None:
        return None
    expected = estimated.of(unit) or _USUAL.of(unit)
    if reported <= _BELIEVED * expected:
        return reported
    _log.warning(
        "budget: %s says that a call cost %s, which is not believed: the estimate "
        "counts, %s",
        name,
        format_amount(reported, unit),
        format_amount(estimated.of(unit), unit),
    )
    return None


def _add_up(numbers: Iterable[float | None]) -> int | None:
    """Return the sum in millionths; None if nothing was reported, or nonsense."""
    total: int | None = None
    for number in numbers:
        if number is None:
            continue
        amount = in_millionths(number)
        if amount is None:
            return None
        total = (total or 0) + amount
    return total
