"""The schemas of what the tools return as JSON, for programs that call them."""

from __future__ import annotations
from collections.abc import Collection
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, RootModel, create_model

from ..models import Page, SearchResponse, SearchResult

_CONFIG = ConfigDict(extra="forbid", defer_build=True)


class _Source(BaseModel):
    model_config = _CONFIG

    id: int
    title: str
    url: str
    read: bool


class _Error(BaseModel):
    model_config = _CONFIG

    code: str
    message: str
    provider: str | None
    temporary: bool | None
    retry_after: float | None


class _Failure(BaseModel):
    """What a call that failed returns."""

    model_config = _CONFIG

    status: Literal["error"]
    error: _Error


@cache
def output_schema(tool: str, *, multi_query: bool = False) -> type[BaseModel]:
    """Return the schema of the text that a tool with ``output_format="json"`` returns.

    Args:
        tool: ``web_search``, ``open_page`` or ``list_pages``.
        multi_query: Whether the searches have several queries.
    """
    success = _describe_search()
    if tool == "open_page":
        success = _describe_page()
    if multi_query and tool == "web_search":
        failure = create_model("FailedSearch", __base__=_Failure, query=(str, ...))
        fields: dict[str, Any] = {
            "status": (Literal["success"], ...),
            "searches": (list[success | failure], ...),  # type: ignore[valid-type]
        }
        success = create_model("Searches", __config__=_CONFIG, **fields)
    root: Any = success | _Failure
    schema: type[BaseModel] = create_model(f"{tool}_output", __base__=RootModel[root])
    return schema


def _describe_search() -> type[BaseModel]:
    result = create_model(
        "Result", __config__=_CONFIG, **_take_fields(SearchResult, {"raw", "rank"})
    )
    fields = _take_fields(SearchResponse, {"raw", "results"})
    fields |= {
        **_list_common(),
        "results": (list[result], ...),
        "message": (str, ...),
        "sources": (list[_Source], ...),
    }
    return create_model("Search", __config__=_CONFIG, **fields)


def _describe_page() -> type[BaseModel]:
    fields = _take_fields(Page, {"links", "outline", "status"})
    fields |= {
        **_list_common(),
        "http_status": (int | None, ...),
        "parts": (str, ""),
    }
    return create_model("WebPage", __config__=_CONFIG, **fields)


def _list_common() -> dict[str, Any]:
    return {
        "notice": (str, ...),
        "status": (Literal["success"], ...),
        "error": (None, ...),
    }


def _take_fields(model: type[BaseModel], without: Collection[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        if name not in without:
            fields[name] = (field.annotation, field)
    return fields
