"""Search without the options that a provider does not support, and say so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, get_args

from ..errors import AllProvidersFailed, ConfigurationError, UnsupportedOption
from ..flow import Flow
from ..models import Page, SearchQuery, SearchResponse, Unsupported
from ..provider._declare import FoundFile
from ..provider._ports import Provider
from ._layer import Rank, name_of, options_of, reader, searcher


@dataclass(frozen=True)
class Relax:
    """
    Ask again without the options that a provider does not support, and note it in the response.

    It does so only if the question could not be answered as it is: by nobody, where there are several providers. What
    `SearchQuery.unsupported` says comes first.

    Args:
        inner: The provider to ask; left out in ``WebSearch(layers=[Relax(...)])``.
        unsupported: What to do if the query does not say: ``note``, or ``raise``.

    """

    rank: ClassVar[Rank] = Rank.RELAX

    inner: Provider | None = None
    unsupported: Annotated[Unsupported, FoundFile()] = "note"

    def __post_init__(self) -> None:
        if self.unsupported not in get_args(Unsupported):
            raise ConfigurationError(f"Relax: unsupported: must be one of {', '.join(get_args(Unsupported))}")

    @property
    def name(self) -> str:
        """The name of the provider inside."""
        return name_of(self, self.inner)

    @property
    def options(self) -> frozenset[str]:
        """The options that the provider inside supports."""
        return options_of(self.inner)

    @property
    def provider(self) -> Provider | None:
        """The same as ``inner``."""
        return self.inner

    def wrap(self, inner: Provider, /) -> Relax:
        """Return the same layer around *inner*."""
        return replace(self, inner=inner)

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search, with fewer options if need be."""
        provider = searcher(self, self.inner)
        if (query.unsupported or self.unsupported) == "raise":
            return (yield from provider.search(query))
        asked = query.model_copy(update={"unsupported": None})  # settled: inside, the same question as of anybody else
        notes: list[str] = []
        while True:
            try:
                response = yield from provider.search(asked)
            except (UnsupportedOption, AllProvidersFailed) as error:
                lacking = next(_unsupported(error), None)
                less = asked.without(*lacking.options) if lacking else asked
                if lacking is None or less == asked:
                    raise
                asked = less
                who = lacking.provider or self.name
                notes.append(f"{who} does not support {', '.join(lacking.options)}: ignored")
            else:
                return response.with_notes(*notes) if notes else response

    def read(self, url: str, /) -> Flow[Page]:
        """Read."""
        return reader(self, self.inner).read(url)


def _unsupported(error: BaseException) -> Iterator[UnsupportedOption]:
    """Yield the reasons that relaxing may help with, in the order the providers were asked."""
    if isinstance(error, UnsupportedOption) and error.options:
        yield error
    elif isinstance(error, AllProvidersFailed):
        for cause in error.exceptions:
            yield from _unsupported(cause)
