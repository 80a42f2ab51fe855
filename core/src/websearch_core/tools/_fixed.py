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
    CALL_OPTIONS,
    PASSAGE_LENGTH,
    QUERY_LENGTH,
    check_arguments,
    check_number,
    make_query,
    merge_options,
)
from ..errors import ConfigurationError, InvalidOption, WebSearchError
from ..layers._relax import IGNORED
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
from ._arguments import (
    FIXED,
    MAX_RESULTS,
    PageArguments,
    SearchArguments,
    search_arguments,
)

if TYPE_CHECKING:
    from ..client import WebSearch
    from ..reading import ReadOptions

OptionMapping: TypeAlias = Annotated[Mapping[str, Any], PlainSerializer(show_options)]
# a model may ask for less
_NARROWED = frozenset({"limit", "allowed_domains", "blocked_domains"})
# of a search, with the least value of each
_READING = {"read_top": 0, "passage_length": 1}


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
        response = answer
        if self.notes:
            response = answer.with_notes(*self.notes)
        if any([response.results, response.answer, response.images]):
            return response
        without_effect = " ".join(
            note for note in response.notes if note.endswith(IGNORED)
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

    search: Mapping[str, Any] = {}  # of `SearchDefaults`
    read: Mapping[str, Any] = {}  # of `ReadOptions`
    # those of the options, within the policy of the `WebSearch`
    domains: Domains = ANYWHERE

    @classmethod
    def of(
        cls,
        search: SearchDefaults | Mapping[str, Any] | None = None,
        read: ReadOptions | Mapping[str, Any] | None = None,
        *,
        defaults: FixedOptions | None = None,
    ) -> FixedOptions:
        """Check ``search_options`` and ``read_options``, which replace the *defaults*,
        but only narrow their domains.
        """
        defaults = defaults or cls()
        options = merge_options(_check_search(search), defaults.search)
        query = _make_query(options)
        names = query.model_fields_set - {"text"}
        checked = {name: getattr(query, name) for name in names}
        for name in _READING:
            if name in options:
                checked[name] = options[name]
        inside = _narrow(defaults.domains, query.allowed_domains, query.blocked_domains)
        own = check_read_options(read, refused=CALL_OPTIONS)
        return cls(checked, merge_options(own, defaults.read), inside)

    @property
    def limit(self) -> int | None:
        """The maximum number of results, if it is set."""
        limit: int | None = self.search.get("limit")
        return limit

    @property
    def default_limit(self) -> int:
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
        without_effect: frozenset[str] = frozenset(),
    ) -> type[SearchArguments]:
        """Return the arguments of a tool, or the more special *base*, restricted to
        what a model may still choose. What is *without_effect* is not offered.
        """
        allowed = self.domains.allowed
        # pyright does not see that a class has a hash
        key: Any = base
        return search_arguments(
            key, self.hidden, self.limit, allowed, multi_query, without_effect
        )

    def of_run(self, policy: Domains, options: Mapping[str, Any]) -> FixedOptions:
        """Return the options of a run that sets *options*, under the domain *policy* of
        its `WebSearch`.
        """
        domains = _narrow(policy, self.domains.allowed, self.domains.blocked)
        defaults = self._replace(domains=domains)
        search = options.get("search_options")
        read = options.get("read_options")
        if not search and not read:
            return defaults
        return FixedOptions.of(search, read, defaults=defaults)

    def read_within(self, web: WebSearch) -> dict[str, Any]:
        """Return the options of a page that hold for the calls of *web*."""
        return merge_options(
            self.read, web.settings.read_options, {"transcripts": "keep"}
        )

    def search_call(self, arguments: SearchArguments, web: WebSearch) -> SearchCall:
        """Combine the arguments of a model with these options.

        An option that the provider does not support is left out with a note: a model
        can go on.
        """
        notes = list(arguments.notes)
        has_time = arguments.time_range != "all"
        hides_time = has_time and "time_range" in self.hidden
        if hides_time:
            notes.append(FIXED.format("time_range"))
        max_results = self.limit or MAX_RESULTS
        if arguments.limit > max_results:
            notes.append(f"limit: {max_results} is the maximum here")
        domains = self._narrow(
            arguments.allowed_domains, arguments.blocked_domains, notes
        )
        options: dict[str, Any] = {
            "limit": min(arguments.limit, max_results),
            "allowed_domains": domains.allowed,
            "blocked_domains": domains.blocked,
        }
        filters: list[str] = []
        if arguments.allowed_domains and domains.allowed != self.domains.allowed:
            filters.append("allowed_domains")
        if has_time and not hides_time:
            filters.append("time_range")
            options["time_range"] = arguments.time_range
        defaults: dict[str, Any] = {"unsupported": "note"}
        if self.search.get("read_top"):
            defaults["passage_length"] = self._find_passage_length(web)
        options = merge_options(options, self.search, defaults)
        return SearchCall(options, tuple(notes), tuple(filters))

    def _find_passage_length(self, web: WebSearch) -> int | None:
        """Return the length of the passages of a page, unless the developer sets it.

        If those of the first page took more than all results may, they would be left
        out.
        """
        max_tokens: int | None = self.read_within(web).get("max_tokens")
        if not max_tokens:
            return None
        places: int = self.search["read_top"] + 1
        return min(PASSAGE_LENGTH, max_tokens * CHARACTERS_PER_TOKEN // places)

    def page_options(self, arguments: PageArguments, web: WebSearch) -> ReadOptions:
        """Return the arguments of `WebSearch.read` for the part of a page that a model
        requested.

        A model cannot raise the limit in tokens. The developer's length holds for the
        passages for a query, too, if it is less than their own.
        """
        settings: Any = web.settings.read_options
        options: dict[str, Any] = {
            name: getattr(arguments, name) for name in CALL_OPTIONS
        }
        if arguments.max_length:
            options["max_length"] = arguments.max_length
        elif arguments.query:
            max_length = self.read.get("max_length") or QUERY_LENGTH
            options["max_length"] = min(
                max_length, QUERY_LENGTH, settings["max_length"]
            )
        limit = {"max_tokens": settings.get("max_tokens")}
        return cast("ReadOptions", merge_options(options, self.read, limit))

    def check_support(self, web: WebSearch) -> None:
        """Check that the provider of *web* supports the options of a search."""
        web.check_options(_without_reading(self.search))

    def _narrow(
        self, allowed: Sequence[str], blocked: Sequence[str], notes: list[str]
    ) -> Domains:
        """Return the domains for a search that a model restricts to some; *notes* get
        what it should know.
        """
        if not allowed and not blocked:
            return self.domains
        query = SearchQuery.of(
            "any", allowed_domains=list(allowed), blocked_domains=list(blocked)
        )
        inside = self.domains.narrow(query.allowed_domains, query.blocked_domains)
        if inside is None:
            notes.append(
                "allowed_domains: none of these may be searched here, so all that may "
                "be were searched"
            )
            inside = self.domains.narrow((), query.blocked_domains)
            return inside if inside is not None else self.domains
        if allowed and not set(query.allowed_domains) <= set(inside.allowed):
            notes.append(
                f"allowed_domains: only {', '.join(inside.allowed)} may be searched "
                f"here"
            )
        return inside


def split_arguments(
    arguments: Mapping[str, Any], own: Collection[str]
) -> tuple[CommonArguments, dict[str, Any]]:
    """Split the arguments of a class into those of the `WebSearch` behind it and its
    *own*.

    Args:
        arguments: The arguments that the class was called with.
        own: The names of its own arguments, such as ``limit``, ``k``,
            ``search_options`` and ``read_options``.

    Raises:
        ConfigurationError: One is unknown. If it is an option of a search or of a page,
            or the name that another library has for one, the message has the line to
            write.
    """
    if "search_options" in own and not {"limit", "k"}.intersection(own):
        _refuse_limit(arguments)
    common = CommonArguments.__annotations__
    check_arguments(arguments, [*common, *own], find_home)
    for_web: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for name, value in arguments.items():
        group = others if name in own else for_web
        group[name] = value
    return cast("CommonArguments", for_web), others


def _refuse_limit(arguments: Mapping[str, Any]) -> None:
    names = list(arguments)
    options = arguments.get("search_options")
    if isinstance(options, Mapping):
        names.extend(options)
    for name in names:
        if _is_limit(name):
            raise ConfigurationError(
                f"{name}: give it to the tool that searches; this one opens pages"
            )


def check_search_options(
    options: Mapping[str, Any] | None, *, limit: str | None = None
) -> dict[str, Any]:
    """Return the ``search_options`` of a tool or a retriever, whose argument *limit* is
    not among them.
    """
    options = _as_dict("search_options", options)
    for name, value in options.items():
        if limit and _is_limit(name):
            raise InvalidOption(
                f"search_options: {name}: write {limit}={value!r}, beside "
                f"search_options"
            )
    _make_query(_check_search(options))
    return options


def check_read_options(
    options: Mapping[str, Any] | None, *, refused: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the ``read_options`` that are not None. Those that are *refused* are
    arguments of each call instead.
    """
    checked = merge_options(_as_dict("read_options", options))
    for name in checked.keys() & set(refused):
        raise InvalidOption(f"read_options: {name}: each call chooses it")
    names = list(ReadDefaults.model_fields)
    if not refused:
        names.extend(CALL_OPTIONS)
    _check_names("read_options", checked, names)
    defaults = dict(checked)
    for name in CALL_OPTIONS:
        defaults.pop(name, None)
    try:
        model = ReadDefaults(**defaults)
    except ValidationError as error:
        raise InvalidOption(f"read_options: {describe_problems(error)}") from None
    for name in model.model_fields_set:
        checked[name] = getattr(model, name)
    return checked


def find_home(option: str) -> str:
    """Return the argument whose mapping has this *option*: ``search_options``,
    ``read_options``, or neither.
    """
    return "search_options" if option in _READING else settings.find_home(option)


def _check_names(
    group: str, options: Mapping[str, Any], names: Collection[str]
) -> None:
    for option in options:
        if option in names:
            continue
        name = str(option)
        beside = [*CommonArguments.__annotations__, "read_options"]
        line = ""
        if OTHER_NAMES.get(name) not in names:
            line = settings.find_line(name, beside)
        hint = f"; write {line}, beside {group}"
        if not line:
            hint = suggest_name(name, names, settings.find_aliases(names))
        raise InvalidOption(f"{group}: {name}: not an option{hint}")


def _is_limit(name: Any) -> bool:
    return bool(OTHER_NAMES.get(name, name) == "limit")


def _as_dict(name: str, options: Mapping[str, Any] | None) -> dict[str, Any]:
    if not isinstance(options, Mapping | None):
        raise InvalidOption(f"{name}: must be a mapping, not {type(options).__name__}")
    return dict(options or {})


def _check_search(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Check the names of the options of a search, and the values of those that are not
    fields of a query.
    """
    checked = _as_dict("search_options", options)
    _check_names("search_options", checked, SearchDefaults.__annotations__)
    for name, minimum in _READING.items():
        value = checked.get(name)
        if value is not None:
            check_number(f"search_options: {name}", value, minimum, InvalidOption)
    return checked


def _make_query(options: Mapping[str, Any]) -> SearchQuery:
    """Return a query with those *options* of a search that are fields of one."""
    fields = _without_reading(options)
    unsupported = fields.pop("unsupported", None)
    try:
        return make_query("any", cast("SearchOptions", fields), unsupported, {})
    except InvalidOption as error:
        raise InvalidOption(f"search_options: {error}") from error


def _without_reading(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in _READING}


def _narrow(policy: Domains, allowed: Sequence[str], blocked: Sequence[str]) -> Domains:
    inside = policy.narrow(allowed, blocked)
    if inside is None:
        raise ConfigurationError(
            "search_options: allowed_domains: none of these is inside the domain policy"
        )
    return inside
