"""The `WebSearch` behind every class of this package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from websearch_core import WebSearch
from websearch_core.client import CommonArguments


def resolve_web(web: WebSearch | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """
    Replace the arguments of `WebSearch` among *options* by a ``web``; keep the others, and ``max_length``.

    Raises:
        ConfigurationError: Both were given, or the arguments are invalid.

    """
    names = CommonArguments.__annotations__
    arguments = {name: value for name, value in options.items() if name in names}
    others = {name: value for name, value in options.items() if name not in names}
    return {"web": WebSearch.resolve(web, cast("CommonArguments", arguments)), **others}
