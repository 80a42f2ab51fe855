"""Ask sites only for the pages that have changed since the run before, with the
validators in its rows (RFC 9110).
"""

from __future__ import annotations
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .._runtime.clock import now
from ..errors import WebSearchError
from ..flow import Flow
from ..layers import Rank
from ..layers._caching.http import UNCHANGED, NotModified, Watch
from ..layers._identity import describe_page, describe_provider, digest
from ..layers._layer import Layer, ProviderWrapper, read_each, reads_batches
from ..models import Page
from ..provider._ports import Provider
from .rows import Rows


@dataclass(frozen=True)
class Revalidation(Layer):
    """Answer with a page of status 304 if it has not changed since its row was written
    with the same options.

    Args:
        rows: Returns the rows, which keep the validators of new pages.
        options: What the call shows of each page.
    """

    # what a cache has is asked for by the cache
    rank: ClassVar[int] = (Rank.CACHE + Rank.SINGLE_FLIGHT) // 2

    rows: Callable[[], Rows]
    options: Mapping[str, Any]


class _RevalidationProvider(ProviderWrapper[Revalidation]):
    def __init__(self, layer: Revalidation, inner: Provider) -> None:
        super().__init__(layer, inner)
        self._made_of = describe_provider(inner)

    def read(self, url: str, /) -> Flow[Page]:
        if self._made_of is None:
            return (yield from super().read(url))
        rows = self.layer.rows()
        shown_part = dict(self.layer.options)
        options = digest([self._made_of, describe_page(url), shown_part])
        watch = Watch(rows.find_validators(url, options))
        try:
            page = yield from watch.watch(super().read(url))
        except NotModified:
            facts = {"status": UNCHANGED, "fetched_at": now(), "provider": self.name}
            return (rows.old or rows).recall(url).model_copy(update=facts)
        rows.keep_validators(url, options, watch.validators)
        return page

    def read_many(self, urls: Sequence[str], /) -> Flow[list[Page | WebSearchError]]:
        return (
            super().read_many(urls)
            if reads_batches(self.inner)
            else read_each(self, urls)
        )
