"""The `WebSearch` behind every class of this package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel

from websearch_core import WebSearch
from websearch_core.client import CommonArguments
from websearch_core.client._arguments import check_arguments
from websearch_core.tools import Pinned, Tenants


def resolve_web(kind: type[BaseModel], web: WebSearch | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """
    Replace the arguments of `WebSearch` among *options* by a ``web``; keep those of *kind*, and ``max_length``.

    Raises:
        ConfigurationError: Both were given, or an argument is unknown or invalid.

    """
    arguments, others = _split(kind, options)
    return {"web": WebSearch.resolve(web, arguments), **others}


def resolve_tenants(kind: type[BaseModel], web: WebSearch | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """
    Do the same for a tool, whose runs may replace the ``web`` as ``configurable`` says.

    Raises:
        ConfigurationError: As in `resolve_web`, or ``configurable`` is wrong.

    """
    arguments, others = _split(kind, options)
    tenants = others.pop("configurable", ())
    if not isinstance(tenants, Tenants):
        tenants = Tenants(web, arguments, tenants)
    return {"web": tenants.web, "configurable": tenants, **others}


def resolve_search(kind: type[BaseModel], web: WebSearch | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """
    Do the same for a tool that searches, with checked ``search_options``.

    Raises:
        InvalidOption: An option of a search is wrong.
        ConfigurationError: As in `resolve_tenants`.

    """
    resolved = resolve_tenants(kind, web, options)
    pinned = resolved.pop("search_options", None)
    if not isinstance(pinned, Pinned):
        made: WebSearch = resolved["web"]
        if isinstance(pinned, Mapping | None):
            pinned = {**made.settings.search_options, **(pinned or {})}
        pinned = Pinned.of(pinned, made.settings.domains)
        made.check_options(pinned.options)
    return {"search_options": pinned, **resolved}


def _split(kind: type[BaseModel], options: Mapping[str, Any]) -> tuple[CommonArguments, dict[str, Any]]:
    names = CommonArguments.__annotations__
    # pydantic would show the value of an unknown argument, which may be a key: `api_ky="..."`
    check_arguments(options, [*names, *kind.model_fields])
    arguments = {name: value for name, value in options.items() if name in names}
    others = {name: value for name, value in options.items() if name not in names}
    return cast("CommonArguments", arguments), others
