"""The options of a search that the developer decides, and a model cannot change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._text.choices import OTHER_NAMES
from .._text.suggestion import suggest_name
from ..errors import ConfigurationError, InvalidOption
from ..models import SearchOptions, SearchQuery, SearchResponse
from ..models._domains import ANYWHERE, Domains
from ._arguments import MOST, SearchArguments, search_arguments

_NARROWED = frozenset({"limit", "allowed_domains", "blocked_domains"})  # a model may ask for less
_KNOWN = (*SearchOptions.__annotations__, "unsupported")


@dataclass(frozen=True)
class SearchCall:
    """
    One search that a model requested.

    Args:
        options: The arguments of `WebSearch.search`.
        notes: What the model should know about its arguments.
        filters: The arguments that restrict this search, and that the model could leave out.

    """

    options: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()

    def finish(self, response: SearchResponse) -> SearchResponse:
        """Return *response* with the notes, and with what to try if it is empty."""
        if self.notes:
            response = response.with_notes(*self.notes)
        if response.results:
            return response
        without_effect = " ".join(note for note in response.notes if "does not support" in note)
        filters = [name for name in self.filters if name not in without_effect]
        less = f", or leave out {' and '.join(filters)}" if filters else ""
        return response.with_notes(f"try fewer or other words{less}")


@dataclass(frozen=True)
class Pinned:
    """
    The options that every search of a tool has.

    A model can change none of them, except that it can ask for fewer results than ``limit``, for some of the
    ``allowed_domains``, and for more ``blocked_domains``.

    Args:
        options: The fields of `SearchQuery`, without ``text``, that were given.
        domains: The domains that may be searched: those of the options, within the policy of the `WebSearch`.

    """

    options: Mapping[str, Any] = field(default_factory=dict)
    domains: Domains = ANYWHERE

    @classmethod
    def of(cls, options: SearchOptions | Mapping[str, Any] | None, policy: Domains = ANYWHERE) -> Pinned:
        """
        Check *options*, as ``search_options`` of a tool.

        Args:
            options: Fields of `SearchQuery`; also ``unsupported``, which is ``note`` by default.
            policy: The domain policy of the `WebSearch`.

        Raises:
            InvalidOption: An option is unknown, or its value is wrong.
            ConfigurationError: None of the allowed domains is inside the policy.

        """
        if not isinstance(options, Mapping | None):
            raise InvalidOption(f"search_options: must be a mapping, not {type(options).__name__}")
        given: dict[str, Any] = dict(options or {})
        if unknown := [name for name in given if name not in _KNOWN]:
            hint = suggest_name(str(unknown[0]), _KNOWN, OTHER_NAMES)
            raise InvalidOption(f"search_options: {unknown[0]}: not an option{hint}")
        try:
            query = SearchQuery.of("any", **given)  # pyright: ignore[reportArgumentType] - whatever was given is checked
        except InvalidOption as error:
            raise InvalidOption(f"search_options: {error}") from error
        domains = policy.narrow(query.allowed_domains, query.blocked_domains)
        if domains is None:
            raise ConfigurationError("search_options: allowed_domains: none of these is inside the domain policy")
        return cls({name: getattr(query, name) for name in query.model_fields_set - {"text"}}, domains)

    @property
    def limit(self) -> int | None:
        """The maximum number of results, if it is set."""
        limit: int | None = self.options.get("limit")
        return limit

    @property
    def usual(self) -> int:
        """The number of results of a search whose model does not say."""
        return self.limit or 5

    @property
    def hidden(self) -> frozenset[str]:
        """The options that a model cannot set. A ``time_range`` would contradict ``after`` and ``before``."""
        fixed = frozenset(self.options) - _NARROWED
        return fixed | {"time_range"} if fixed & {"after", "before"} else fixed

    def arguments(self, base: type[SearchArguments] = SearchArguments) -> type[SearchArguments]:
        """Return the arguments of a tool, or the more special *base*, restricted to what a model may still choose."""
        return search_arguments(base, self.hidden, self.limit, self.domains.allowed)  # pyright: ignore[reportArgumentType] - a class has a hash

    def of_run(self, policy: Domains, options: SearchOptions | Mapping[str, Any] | None = None) -> Pinned:
        """
        Return the options of one run.

        Args:
            policy: The domain policy of the `WebSearch` of the run.
            options: The run's own options. They replace these, except that they can only narrow the domains.

        Raises:
            InvalidOption: An option is unknown, or its value is wrong.
            ConfigurationError: None of the allowed domains is inside the policy.

        """
        here = policy.narrow(self.domains.allowed, self.domains.blocked) if policy else self.domains
        if here is None:
            raise ConfigurationError("search_options: allowed_domains: none of these is inside the domain policy")
        if not options:
            return self if here == self.domains else Pinned(self.options, here)
        own = Pinned.of(options, here)
        return Pinned({**self.options, **own.options}, own.domains)

    def call(
        self,
        *,
        limit: int | None = None,
        allowed_domains: Sequence[str] = (),
        time_range: str = "all",
        blocked_domains: Sequence[str] = (),
        ignored: Sequence[str] = (),
        read_top: int = 0,
        passage_length: int = 1_500,
    ) -> SearchCall:
        """
        Combine the arguments of a model with these options.

        An option that the provider does not support is left out with a note: a model can go on.

        Raises:
            InvalidOption: One of the domains is not a domain.

        """
        notes: list[str] = []
        if time_range != "all" and "time_range" in self.hidden:
            ignored = (*ignored, "time_range")
        if ignored:
            notes.append(f"{', '.join(ignored)}: fixed by the developer, so what you sent was ignored")
        most = self.limit or MOST
        if limit is not None and limit > most:
            notes.append(f"limit: there are at most {most} results here")
        domains = self._narrow(allowed_domains, blocked_domains, notes)
        filters = ["allowed_domains"] if allowed_domains and domains.allowed != self.domains.allowed else []
        options = {"unsupported": "note", **{n: v for n, v in self.options.items() if n not in _NARROWED}}
        if time_range != "all" and "time_range" not in self.hidden:
            filters.append("time_range")
            options["time_range"] = time_range
        options |= {
            "limit": min(self.usual if limit is None else limit, most),
            "allowed_domains": domains.allowed,
            "blocked_domains": domains.blocked,
            "read_top": read_top,
            "passage_length": passage_length,
        }
        return SearchCall(options, tuple(notes), tuple(filters))

    def _narrow(self, allowed: Sequence[str], blocked: Sequence[str], notes: list[str]) -> Domains:
        if not allowed and not blocked:
            return self.domains
        asked = SearchQuery.of("any", allowed_domains=list(allowed), blocked_domains=list(blocked))
        inside = self.domains.narrow(asked.allowed_domains, asked.blocked_domains)
        if inside is None:
            notes.append("allowed_domains: none of these may be searched here, so all that may be were searched")
            inside = self.domains.narrow((), asked.blocked_domains)
            return inside if inside is not None else self.domains
        if allowed and not set(asked.allowed_domains) <= set(inside.allowed):
            notes.append(f"allowed_domains: only {', '.join(inside.allowed)} may be searched here")
        return inside
