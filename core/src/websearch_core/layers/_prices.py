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
from ..provider._ports import Price, Provider, Role, Service, needs_network, opens_pages
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
        whose, _, verb = str(name).partition(".")
        if verb and verb not in get_args(Role):
            raise ConfigurationError(f"prices: {name}: write {whose}.search or .read")
        try:
            given = [parse_price(part) for part in split_texts(price)]
        except ConfigurationError as error:
            raise ConfigurationError(f"prices: {name}: {error}") from None
        if not given:
            raise ConfigurationError(f"prices: {name}: is empty")


def find_price(provider: Provider, verb: Role, prices: Prices) -> Price:
    """Return what a call of *provider* costs; an empty price if that is not known."""
    own = prices.get(f"{provider.name}.{verb}") or prices.get(provider.name)
    if own:
        found: dict[str, Any] = dict(map(parse_price, split_texts(own)))
        return Price(
            **found, by_request=verb == "search", size=1 if verb == "read" else 0
        )
    if not needs_network(provider) or opens_pages(provider):
        return _NOTHING
    about = getattr(provider, "about", None)
    for price in about.prices if isinstance(about, Service) else ():
        if price.verb in {None, verb} and all(
            getattr(provider, name, None) == it for name, it in price.when.items()
        ):
            return price
    return Price()


def estimate(price: Price, count: int) -> Estimate:
    """Return what a call for *count* results or pages is estimated to cost."""
    times = ceil(count / price.size) if price.size else 1
    once = Amount(
        0,
        (in_millionths(price.credits) or 0) * times,
        (in_millionths(price.usd) or 0) * times,
    )
    return Estimate(
        price, once + Amount(calls=MILLION), once if price.by_request else Amount()
    )


def correct(
    name: str, price: Price, estimated: Amount, answers: Sequence[SearchResponse | Page]
) -> Amount:
    """Return what a call cost by what the service called *name* says in its *answers*,
    else what was *estimated*.

    What is more than 100 times the estimate is not believed: one answer could use up
    the budget of everybody. Where nothing was estimated, that is 10 USD and 1,000
    credits.
    """
    charged = _believe(
        name,
        _add_up(answer.usage.get("credits") for answer in answers),
        estimated,
        "credits",
    )
    cost = _believe(name, _add_up(answer.cost for answer in answers), estimated, "usd")
    if cost is None and charged is not None and price.usd and price.credits:
        cost = round(charged * price.usd / price.credits)
    return Amount(
        estimated.calls,
        estimated.credits if charged is None else charged,
        estimated.usd if cost is None else cost,
    )


def unknown_price(
    provider: Provider, unit: Unit, limits: Sequence[str]
) -> ConfigurationError:
    """Make the error for a provider whose price in the *unit* of one of the *limits* is
    not known.
    """
    about = getattr(provider, "about", None)
    listed = about.price if isinstance(about, Service) else ""
    said = f" (its list says: {listed}; {about.as_of})" if listed and about else ""
    counted = "USD" if unit == "usd" else unit
    return ConfigurationError(
        f"budget: what a call of {provider.name} costs in {counted} is not "
        f"known{said}: "
        f"write Budget({', '.join(limits)!r}, prices={{{provider.name!r}: '... "
        f"{counted}'}}), or both in [budget]"
    )


def _believe(
    name: str, stated: int | None, estimated: Amount, unit: Unit
) -> int | None:
    """Return what a service stated, or None if that is too much."""
    if stated is None or stated <= _BELIEVED * (estimated.of(unit) or _USUAL.of(unit)):
        return stated
    said, ours = format_amount(stated, unit), format_amount(estimated.of(unit), unit)
    _log.warning(
        "budget: %s says that a call cost %s, which is not believed: the estimate "
        "counts, %s",
        name,
        said,
        ours,
    )
    return None


def _add_up(numbers: Iterable[float | None]) -> int | None:
    """Return the sum in millionths; None if nothing was reported, or nonsense."""
    stated = [in_millionths(number) for number in numbers if number is not None]
    return (
        sum(one for one in stated if one is not None)
        if stated and None not in stated
        else None
    )
