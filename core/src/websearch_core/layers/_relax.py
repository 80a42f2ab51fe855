"""Search without the options that a provider does not support, and say so."""

from __future__ import annotations
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, get_args

from ..errors import AllProvidersFailed, ConfigurationError, UnsupportedOption
from ..flow import Flow
from ..models import SearchQuery, SearchResponse, Unsupported
from ..provider._declare import ProjectFile
from ._layer import Layer, ProviderWrapper, Rank, leaves

# the end of a note about an option without effect
IGNORED = ": ignored"
# options that a `WebSearch` applies to the results, whoever found them
APPLIED_HERE = frozenset({"allowed_domains", "blocked_domains"})


@dataclass(frozen=True)
class Relax(Layer):
    """Search again without the options that a provider does not support, with a note in
    the response.

    With several providers, this happens only if none of them answers the full query.
    A `WebSearch` applies the domains to the results itself: a service that has no such
    filter is asked for a full page of results, and those outside are left out.
    `SearchQuery.unsupported` takes precedence.

    Args:
        unsupported: What to do if the query does not say: ``note`` or ``raise``.
    """

    rank: ClassVar[int] = Rank.RELAX

    unsupported: Annotated[Unsupported, ProjectFile()] = "note"

    def __post_init__(self) -> None:
        if self.unsupported not in get_args(Unsupported):
            raise ConfigurationError(
                f"Relax: unsupported: must be one of {', '.join(get_args(Unsupported))}"
            )


class _RelaxProvider(ProviderWrapper[Relax]):
    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        if (query.unsupported or self.layer.unsupported) == "raise":
            return (yield from super().search(query))
        # without what is decided here, so that the query inside is always the same
        inner_query = query
        if query.unsupported is not None:
            inner_query = query.model_copy(update={"unsupported": None})
        notes: list[str] = []
        while True:
            try:
                response = yield from super().search(inner_query)
            except (UnsupportedOption, AllProvidersFailed) as error:
                cause = next(find_unsupported(error), None)
                if cause is None:
                    raise
                relaxed = inner_query.without(*cause.options)
                if relaxed == inner_query:
                    raise
                inner_query = self._ask_for_more(relaxed, cause.options)
                notes.extend(_explain(cause.provider or self.name, cause.options))
            else:
                if not notes:
                    return response
                return response.with_notes(*notes)

    def _ask_for_more(
        self, query: SearchQuery, options: Collection[str]
    ) -> SearchQuery:
        """Return *query* with a larger limit if results will be left out of it."""
        if not APPLIED_HERE.intersection(options):
            return query
        limits = [getattr(leaf, "limits", {}) for leaf in leaves(self.inner)]
        sizes = [limit.get("results_per_request", 0) for limit in limits]
        if min(sizes) <= query.limit:
            return query
        return query.model_copy(update={"limit": min(sizes)})


def _explain(provider: str, options: Collection[str]) -> Iterator[str]:
    """Yield what becomes of the *options* that a provider does not support."""
    applied = [option for option in options if option in APPLIED_HERE]
    if applied:
        yield (
            f"{provider} does not support {', '.join(applied)}: "
            "results outside are left out here"
        )
    ignored = [option for option in options if option not in APPLIED_HERE]
    if ignored:
        yield f"{provider} does not support {', '.join(ignored)}{IGNORED}"


def find_unsupported(error: BaseException) -> Iterator[UnsupportedOption]:
    """Yield the errors that fewer options may fix, in the order of the providers."""
    if isinstance(error, UnsupportedOption) and error.options:
        yield error
    elif isinstance(error, AllProvidersFailed):
        for cause in error.exceptions:
            yield from find_unsupported(cause)
