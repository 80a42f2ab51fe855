"""Read pages and search in the jobs of Ray Data, on one machine or a hundred.

`ReadPages` and `SearchQueries` are callables for ``Dataset.map_batches``, whose actors
keep connections, parsers and limits from batch to batch::

    urls = ray.data.read_text("s3://bucket/urls.txt")
    shared = "redis://limits.internal:6379/0"
    pages = partition_by_host(urls, 64, column="text").map_batches(
        ReadPages,
        fn_constructor_kwargs={
            "column": "text", "throttle": shared, "cache": shared, "robots": True
        },
        compute=ray.data.ActorPoolStrategy(min_size=2, max_size=16),
        batch_size=256,
    )
    pages.write_parquet("s3://bucket/pages")

Each row of the input is one row of the output, even if its page cannot be read: then
``code`` and ``message`` say why. With ``throttle`` and ``cache`` in one Redis, all
actors together are as polite to a host as one, and a batch that Ray repeats after it
lost a worker is not paid for twice. A batch ends with its slowest page, so pages that
hang hold up an actor: have more actors than cores (``num_cpus=0.5``), and a short
``timeout``. Keys belong in the environment of the workers, or in a settings file there:
Ray stores constructor arguments in the clear.

Install it with ``pip install 'websearch-core[ray]'``; it was written for Ray 2.60
(https://docs.ray.io/en/releases-2.60.0/data/api/doc/ray.data.Dataset.map_batches.html).
"""

from __future__ import annotations
import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from ._text.urls import find_host
from .client import WebSearch, WebSearchOptions
from .errors import ConfigurationError, WebSearchError
from .models import Page, SearchResponse
from .render import row_as_json

__all__ = ["ReadPages", "SearchQueries", "partition_by_host"]

_PAGE_COLUMNS = (
    "final_url",
    "title",
    "content",
    "published",
    "fetched_at",
    "provider",
    "hash",
)
_SEARCH_COLUMNS = ("urls", "results", "answer", "provider")
_HOST = "host"


class ReadPages:
    """Reads the pages of a batch, with `WebSearch.iter_read`.

    Adds the columns ``final_url``, ``title``, ``content`` (Markdown), ``published`` and
    ``fetched_at`` (ISO 8601), ``provider``, ``hash`` (SHA-256 of the content), and
    ``code`` and ``message`` of the error. All are text, or null.

    Args:
        column: The column with the URLs.
        concurrency: Maximum number of pages at a time, in each actor.
        give_up_after: How many pages of a host in a row may fail before the others of
            the batch are errors at once, see `WebSearch.iter_read`.
        options: The arguments of `WebSearch`. Pages are whole unless ``read_options``
            say otherwise.

    Raises:
        ConfigurationError: An argument is wrong, or a batch has no such column.
    """

    def __init__(
        self,
        column: str = "url",
        *,
        concurrency: int = 32,
        give_up_after: int | None = 3,
        **options: Unpack[WebSearchOptions],
    ) -> None:
        options["read_options"] = {
            "max_length": sys.maxsize,
            **(options.get("read_options") or {}),
        }
        self._web = _make_web(options)
        self._column = column
        self._concurrency = concurrency
        self._give_up_after = give_up_after

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """Return the batch, as columns by name, with the pages."""
        answers = self._web.iter_read(
            _list_values(batch, self._column),
            concurrency=self._concurrency,
            in_order=True,
            give_up_after=self._give_up_after,
        )
        return _add_columns(batch, _PAGE_COLUMNS, answers)


class SearchQueries:
    """Searches for the queries of a batch, with `WebSearch.iter_search`.

    Adds the columns ``urls`` (a list, in order, for `ReadPages` after ``flat_map``),
    ``results`` (JSON, as `websearch_core.render.search_as_json` writes it), ``answer``,
    ``provider``, and ``code`` and ``message`` of the error.

    Args:
        column: The column with the queries.
        concurrency: Maximum number of searches at a time, in each actor.
        options: The arguments of `WebSearch`; ``search_options`` has the limit and the
            filters.

    Raises:
        ConfigurationError: An argument is wrong, or a batch has no such column.
    """

    def __init__(
        self,
        column: str = "query",
        *,
        concurrency: int = 8,
        **options: Unpack[WebSearchOptions],
    ) -> None:
        self._web = _make_web(options)
        self._column = column
        self._concurrency = concurrency

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        """Return the batch, as columns by name, with the results."""
        answers = self._web.iter_search(
            _list_values(batch, self._column),
            concurrency=self._concurrency,
            in_order=True,
        )
        return _add_columns(batch, _SEARCH_COLUMNS, answers)


def partition_by_host(dataset: Any, blocks: int, *, column: str = "url") -> Any:
    """Return *dataset* with all URLs of a host in one of *blocks* blocks, and the host
    in a column ``host``.

    One actor then reads all pages of a host: it reuses connections, looks the name up
    once, and gives up a dead host sooner.

    Args:
        dataset: A ``ray.data.Dataset``.
        blocks: The number of blocks. Several times that of actors is good: then a slow
            host holds up few others.
        column: The column with the URLs.
    """

    def add_host(batch: Mapping[str, Any]) -> dict[str, Any]:
        urls = _list_values(batch, column)
        return {**batch, _HOST: [find_host(str(url)) for url in urls]}

    return dataset.map_batches(add_host).repartition(blocks, keys=[_HOST])


def _list_values(batch: Mapping[str, Any], column: str) -> list[Any]:
    if column not in batch:
        raise ConfigurationError(
            f"column: {column!r} is not in the batch, which has {', '.join(batch)}"
        )
    return list(batch[column])


def _add_columns(
    batch: Mapping[str, Any], names: Iterable[str], answers: Iterable[tuple[Any, Any]]
) -> dict[str, Any]:
    rows = [_make_row(answer) for _, answer in answers]
    columns = dict(batch)
    for name in (*names, "code", "message"):
        columns[name] = [row.get(name) for row in rows]
    return columns


def _make_row(answer: Page | SearchResponse | WebSearchError) -> dict[str, Any]:
    if isinstance(answer, WebSearchError):
        return {"code": answer.code, "message": answer.message}
    row = row_as_json(answer)
    if isinstance(answer, SearchResponse):
        row["urls"] = [result.url for result in answer.results]
        row["results"] = json.dumps(row["results"], ensure_ascii=False)
        row["message"] = None  # the column is for errors; this counts the results
    return row


def _make_web(options: WebSearchOptions) -> WebSearch:
    # For a type checker, a TypedDict may have other keys than those that it declares.
    arguments: dict[str, Any] = {**options}
    return WebSearch(**arguments)
