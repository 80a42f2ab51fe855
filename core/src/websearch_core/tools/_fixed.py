"""What the developer gives to the tools: the arguments of a `WebSearch`, and options
that a model cannot change.
"""

from __future__ import annotations
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias, cast

from pydantic import PlainSerializer, ValidationError

from .._text.suggestion import suggest_name
from .._text.vocabulary import OTHER_NAMES
from ..client import CommonArguments
from ..client._arguments import (
    PASSAGE_LENGTH,
    check_arguments,
    check_number,
    make_query,
)
from ..errors import ConfigurationError, InvalidOption, WebSearchError
from ..models import (
    SearchOptions,
    SearchQuery,
    SearchResponse,
    Unsupported,
    describe_problems,
)
from ..models._domains import ANYWHERE, Domains
from ..settings import _names as settings
from ..settings._values import ReadDefaults, show_options
from ..tokens import CHARACTERS_PER_TOKEN
from ._arguments import MOST, PageArguments, SearchArguments, search_arguments

if TYPE_CHECKING:
    from ..client import WebSearch
    from ..reading import ReadOptions

OptionMapping: TypeAlias = Annotated[Mapping[str, Any], PlainSerializer(show_options)]
# a model may ask for less
_NARROWED = frozenset({"limit", "allowed_domains", "blocked_domains"})
# of a search, with the least value of each
_READING = {"read_top": 0, "passage_length": 1}
# the options of a page that each call chooses
OF_CALL = ("offset", "query", "find", "outline")
# characters of the passages for a query: benchmarks/results/benchmarks.md says how often
# they hold it
_PASSAGES = 2_000


class SearchDefaults(SearchOptions, total=False):
    """The options that every search of a tool has: those of `WebSearch.search`.

    Args:
        read_top: How many of the first results to read, in parallel: instead of their
            snippets, the model gets the passages of their pages that answer its query.
        passage_length: Maximum number of characters of these passages per page; by
            default 1,500, or fewer if ``max_tokens`` has no room for them.
        unsupported: ``note`` if a search may leave out options that the provider does
            not support, and note them; otherwise they are an error when the tool is
            made.
    """

    read_top: int
    passage_length: int
    unsupported: Unsupported | None


class SearchCall(NamedTuple):
    """One search that a model requested."""

    options: Mapping[str, Any]  # of `WebSearch.search`
    notes: tuple[str, ...] = ()  # what the model should know about its arguments
    # the arguments that restrict this search, and that the model could leave out
    filters: tuple[str, ...] = ()

    def finish(
        self, answer: SearchResponse | WebSearchError
    ) -> SearchResponse | WebSearchError:
        """Return *answer*; if it is a response, with the notes, and with what to try if
        it is empty.
        """
        if isinstance(answer, WebSearchError):
            return answer
        response = answer.with_notes(*self.notes) if self.notes else answer
        if response.results:
            return response
        without_effect = " ".join(
            note for note in response.notes if "does not support" in note
        )
        filters = [name for name in self.filters if name not in without_effect]
        less = f", or leave out {' and '.join(filters)}" if filters else ""
        return response.with_notes(f"try fewer or other words{less}")


class FixedOptions(NamedTuple):
    """The options that every search and every page of the tools has.

    A model can change none of them, except that it can ask for fewer results than
    ``limit``, for some of the ``allowed_domains``, for more ``blocked_domains``, and
    for another length of a page.
    """

    search: Mapping[str, Any] = {}  # what was given of `SearchDefaults`, here or before
    read: Mapping[str, Any] = {}  # what was given of `ReadOptions`
    # those of the options, within the policy of the `WebSearch`
    domains: Domains = ANYWHERE

    @classmethod
    def of(
        cls,
        search: SearchDefaults | Mapping[str, Any] | None = None,
        read: ReadOptions | Mapping[str, Any] | None = None,
        *,
        usual: FixedOptions | None = None,
    ) -> FixedOptions:
        """Check ``search_options`` and ``read_options``, which replace *usual* ones,
        but only narrow the domains.
        """
        usual = usual or cls()
        given, query = _parse(search, usual.search)
        checked = {
            name: getattr(query, name) for name in query.model_fields_set - {"text"}
        }
        for name in _READING:
            if (value := given.get(name, usual.search.get(name))) is not None:
                checked[name] = value
        inside = _narrow(usual.domains, query.allowed_domains, query.blocked_domains)
        return cls(
            checked, {**usual.read, **check_read_options(read, refused=OF_CALL)}, inside
        )

    @property
    def limit(self) -> int | None:
        """The maximum number of results, if it is set."""
        limit: int | None = self.search.get("limit")
        return limit

    @property
    def usual(self) -> int:
        """The number of results of a search whose model does not say."""
        return self.limit or 5

    @property
    def hidden(self) -> frozenset[str]:
        """The options that a model cannot set. A ``time_range`` would contradict
        ``after`` and ``before``.
        """
        fixed = frozenset(self.search) - _NARROWED - frozenset(_READING)
        return fixed | {"time_range"} if fixed & {"after", "before"} else fixed

    def arguments(
        self,
        base: type[SearchArguments] = SearchArguments,
        *,
        multi_query: bool = False,
    ) -> type[SearchArguments]:
        """Return the arguments of a tool, or the more special *base*, restricted to
        what a model may still choose.
        """
        allowed = self.domains.allowed
        # pyright does not see that a class has a hash
        key: Any = base
        return search_arguments(key, self.hidden, self.limit, allowed, multi_query)

    def of_run(self, policy: Domains, options: Mapping[str, Any]) -> FixedOptions:
        """Return the options of a run that sets *options*, under the domain *policy* of
        its `WebSearch`.
        """
        here = self._replace(
            domains=_narrow(policy, self.domains.allowed, self.domains.blocked)
        )
        own = options.get("search_options"), options.get("read_options")
        return FixedOptions.of(*own, usual=here) if any(own) else here

    def search_call(self, asked: SearchArguments, web: WebSearch) -> SearchCall:
        """Combine the arguments of a model with these options.

        An option that the provider does not support is left out with a note: a model
        can go on.
        """
        notes: list[str] = []
        hides_time = "time_range" in self.hidden
        ignored = [
            *asked.ignored,
            *(["time_range"] if hides_time and asked.time_range != "all" else ()),
        ]
        if ignored:
            notes.append(
                f"{', '.join(ignored)}: fixed by the developer, so what you sent was "
                f"ignored"
            )
        most = self.limit or MOST
        if asked.limit > most:
            notes.append(f"limit: {most} is the maximum here")
        domains = self._narrow(asked.allowed_domains, asked.blocked_domains, notes)
        filters = (
            ["allowed_domains"]
            if asked.allowed_domains and domains.allowed != self.domains.allowed
            else []
        )
        options = {
            "unsupported": "note",
            **{n: v for n, v in self.search.items() if n not in _NARROWED},
        }
        if asked.time_range != "all" and not hides_time:
            filters.append("time_range")
            options["time_range"] = asked.time_range
        room = self.read.get("max_tokens") or web.settings.read_options.get(
            "max_tokens"
        )
        # or the passages of the first page take more than all, and are left out
        if room and options.get("read_top"):
            most_of_each = room * CHARACTERS_PER_TOKEN // (options["read_top"] + 1)
            options.setdefault("passage_length", min(PASSAGE_LENGTH, most_of_each))
        options |= {
            "limit": min(asked.limit, most),
            "allowed_domains": domains.allowed,
            "blocked_domains": domains.blocked,
        }
        return SearchCall(options, tuple(notes), tuple(filters))

    def page_options(self, asked: PageArguments, web: WebSearch) -> ReadOptions:
        """Return the arguments of `WebSearch.read` for the part of a page that a model
        requested.

        A model cannot raise the limit in tokens. For a query, the usual length is that
        of about 500 tokens of passages: a page that would fit whole is not what was
        asked for.
        """
        settings: Any = web.settings.read_options
        usual = self.read.get("max_length") or (_PASSAGES if asked.query else None)
        if asked.query and usual:
            usual = min(usual, _PASSAGES, settings["max_length"])
        part = {
            "max_tokens": settings.get("max_tokens"),
            **self.read,
            "max_length": asked.max_length or usual,
        }
        return cast(
            "ReadOptions", {**part, **{name: getattr(asked, name) for name in OF_CALL}}
        )

    def check_support(self, web: WebSearch) -> None:
        """Check that the provider of *web* supports the options of a search."""
        web.check_options(
            {name: value for name, value in self.search.items() if name not in _READING}
        )

    def _narrow(
        self, allowed: Sequence[str], blocked: Sequence[str], notes: list[str]
    ) -> Domains:
        if not allowed and not blocked:
            return self.domains
        asked = SearchQuery.of(
            "any", allowed_domains=list(allowed), blocked_domains=list(blocked)
        )
        inside = self.domains.narrow(asked.allowed_domains, asked.blocked_domains)
        if inside is None:
            notes.append(
                "allowed_domains: none of these may be searched here, so all that may "
                "be were searched"
            )
            inside = self.domains.narrow((), asked.blocked_domains)
            return inside if inside is not None else self.domains
        if allowed and not set(asked.allowed_domains) <= set(inside.allowed):
            notes.append(
                f"allowed_domains: only {', '.join(inside.allowed)} may be searched "
                f"here"
            )
        return inside


def split_arguments(
    given: Mapping[str, Any], own: Collection[str]
) -> tuple[CommonArguments, dict[str, Any]]:
    """Split the arguments of a class into those of the `WebSearch` behind it and its
    *own*.

    Args:
        given: The arguments that the class was given.
        own: The names of its own arguments, such as ``limit``, ``k``,
            ``search_options`` and ``read_options``.

    Raises:
        ConfigurationError: One is unknown. If it is an option of a search or of a page,
            or the name that another library has for one, the message has the line to
            write.
    """
    common = CommonArguments.__annotations__
    if "search_options" in own and not {"limit", "k"}.intersection(own):
        inside = given.get("search_options")
        for name in filter(
            _is_limit, [*given, *(inside if isinstance(inside, Mapping) else ())]
        ):
            raise ConfigurationError(
                f"{name}: give it to the tool that searches; this one opens pages"
            )
    check_arguments(given, [*common, *own], find_home)
    arguments = {
        name: value
        for name, value in given.items()
        if name in common and name not in own
    }
    others = {name: value for name, value in given.items() if name in own}
    return cast("CommonArguments", arguments), others


def check_search_options(
    options: Mapping[str, Any] | None, *, limit: str | None = None
) -> dict[str, Any]:
    """Return the ``search_options`` of a tool or a retriever, whose argument *limit* is
    not among them.
    """
    given = _as_dict("search_options", options)
    for name in filter(_is_limit, given if limit else ()):
        raise InvalidOption(
            f"search_options: {name}: write {limit}={given[name]!r}, beside "
            f"search_options"
        )
    return _parse(given, {})[0]


def check_read_options(
    options: Mapping[str, Any] | None, *, refused: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the ``read_options`` that are not None. Those that are *refused* are
    arguments of each call instead.
    """
    given = {
        name: value
        for name, value in _as_dict("read_options", options).items()
        if value is not None
    }
    for name in given.keys() & set(refused):
        raise InvalidOption(f"read_options: {name}: each call chooses it")
    _check_names(
        "read_options",
        given,
        [*ReadDefaults.model_fields, *(() if refused else OF_CALL)],
    )
    try:
        made = ReadDefaults(
            **{name: value for name, value in given.items() if name not in OF_CALL}
        )
    except ValidationError as error:
        raise InvalidOption(f"read_options: {describe_problems(error)}") from None
    return {**given, **{name: getattr(made, name) for name in made.model_fields_set}}


def find_home(option: str) -> str:
    """Return the argument whose mapping has this *option*: ``search_options``,
    ``read_options``, or neither.
    """
    return "search_options" if option in _READING else settings.find_home(option)


def _check_names(group: str, given: Mapping[str, Any], known: Collection[str]) -> None:
    for name in (str(name) for name in given if name not in known):
        beside = [*CommonArguments.__annotations__, "read_options"]
        line = (
            "" if OTHER_NAMES.get(name) in known else settings.find_line(name, beside)
        )
        hint = (
            f"; write {line}, beside {group}"
            if line
            else suggest_name(name, known, settings.find_aliases(known))
        )
        raise InvalidOption(f"{group}: {name}: not an option{hint}")


def _is_limit(name: Any) -> bool:
    return bool(OTHER_NAMES.get(name, name) == "limit")


def _as_dict(name: str, options: Mapping[str, Any] | None) -> dict[str, Any]:
    if not isinstance(options, Mapping | None):
        raise InvalidOption(f"{name}: must be a mapping, not {type(options).__name__}")
    return dict(options or {})


def _parse(
    options: Mapping[str, Any] | None, usual: Mapping[str, Any]
) -> tuple[dict[str, Any], SearchQuery]:
    """Return the *options* of a search, and a query with those that are fields of one,
    and with the *usual* ones.
    """
    given = _as_dict("search_options", options)
    _check_names("search_options", given, SearchDefaults.__annotations__)
    for name, least in _READING.items():
        if given.get(name) is not None:
            check_number(f"search_options: {name}", given[name], least, InvalidOption)
    own, others = (
        {n: v for n, v in some.items() if n not in _READING} for some in (given, usual)
    )
    unsupported = own.pop("unsupported", None)
    try:
        return given, make_query("any", cast("SearchOptions", own), unsupported, others)
    except InvalidOption as error:
        raise InvalidOption(f"search_options: {error}") from error


def _narrow(policy: Domains, allowed: Sequence[str], blocked: Sequence[str]) -> Domains:
    if (inside := policy.narrow(allowed, blocked)) is None:
        raise ConfigurationError(
            "search_options: allowed_domains: none of these is inside the domain policy"
        )
    return inside
