"""What the calls of tools used together, by the artifacts of their outputs."""

from __future__ import annotations
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypedDict


class Usage(TypedDict):
    """What the calls of tools used together.

    Args:
        calls: How many of them a service or a page answered.
        cost: US dollars.
        is_cost_estimated: Whether a part of it is by the lists of prices.
        usage: Other units by provider: ``{"tavily.credits": 2}``.
    """

    calls: int
    cost: float
    is_cost_estimated: bool
    usage: dict[str, float]


def add_usage(artifacts: Iterable[Mapping[str, Any]]) -> Usage:
    """Return what the calls of tools used together, by their *artifacts*."""
    calls = 0
    costs: list[float] = []
    is_estimated = False
    usage: Counter[str] = Counter()
    for artifact in artifacts:
        for answer in artifact.get("searches", (artifact,)):
            if answer.get("status") != "success":
                continue
            calls += 1
            costs.append(answer.get("cost") or 0.0)
            is_estimated |= bool(answer.get("is_cost_estimated"))
            for unit, amount in answer.get("usage", {}).items():
                usage[f"{answer.get('provider')}.{unit}"] += amount
    return Usage(
        calls=calls,
        cost=math.fsum(costs),
        is_cost_estimated=is_estimated,
        usage=dict(usage),
    )
