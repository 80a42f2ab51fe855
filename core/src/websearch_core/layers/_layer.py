"""What a layer is, how layers are ordered, and how to look inside them."""

from __future__ import annotations
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from math import inf
from typing import (
    Any,
    ClassVar,
    Generic,
    Literal,
    Self,
    TypeVar,
    cast,
    get_args,
    overload,
)

from .._registry import is_known
from .._runtime.bugs import contain_bugs, copy_error
from .._text.quantity import is_number
from ..errors import (
    BadResponse,
    ConfigurationError,
    InvalidOption,
    ServiceError,
    UnsafeURL,
    WebSearchError,
)
from ..flow import Flow, Gather
from ..flow._targets import RefusedTargets, was_refused
from ..models import Page, SearchQuery, SearchResponse
from ..provider._ports import (
    BatchReader,
    Provider,
    Role,
    can,
    check_port,
)

_DEFAULT_BATCH = 20  # pages, for readers that do not say how many they can read at once
_MAX_DEPTH = 100  # layers around each other
_ROLES: tuple[Role, ...] = ("search", "read")
# what each returns, and what a plain function may return instead
_ANSWERS: dict[Role, tuple[type, str]] = {
    "search": (SearchResponse, "a list of results"),
    "read": (Page, "a text"),
}


class Rank(IntEnum):
    """Where a layer stands, counted from the provider outwards.

    The lower the rank, the closer to the provider. Layers of the same rank stand in the
    order of their list, from the provider outwards as well. Those below ``COMBINE`` are
    put around each provider, the others around all of them together. So a retry waits
    for the throttle and is charged to the budget, and an answer from the cache is free.
    Any number in between is a rank, too.
    """

    ROBOTS = 5
    THROTTLE = 10
    BUDGET = 20
    RETRY = 30
    BREAKER = 40
    CACHE = 50
    SINGLE_FLIGHT = 60
    OUTERMOST = 70  # around each provider; the default for a layer without a rank
    COMBINE = 100  # combines several providers into one, such as `Fallback`
    RERANK = 110
    RELAX = 120
    POLICY = 130


L_co = TypeVar("L_co", bound="Layer", covariant=True)


@dataclass(frozen=True)
class Layer:
    """The options of a layer: a value without state. Base of all layers.

    Called with a provider, it returns one that has the layer around it:
    ``Retry(5)(provider)``. One with the rank ``COMBINE`` is called with several
    providers. In ``WebSearch(layers=[...])``, ``rank`` decides where it stands. Layers
    are frozen dataclasses.
    """

    rank: ClassVar[int] = Rank.OUTERMOST
    # The class derived from ``ProviderWrapper[...]`` of this layer.
    running_part: ClassVar[Callable[..., Provider] | None] = None

    def __new__(cls, *args: Any, **options: Any) -> Self:
        """Refuse providers, with an error that says what to write."""
        kind = cls.__name__
        first: Sequence[Any] = args[:1]
        if args and isinstance(args[0], tuple | list):
            first = args[0]
        has_providers = bool(first) and all(map(_is_provider, first))
        if has_providers or "inner" in options:
            inside = ", ".join(["provider"] * max(len(first), 1))
            raise ConfigurationError(
                f"{kind}: a provider is not an option: write {kind}(...)({inside})"
            )
        return super().__new__(cls)

    @classmethod
    def of(cls, short: Any, /) -> Self:
        """Return *short* if it is such a layer, else one whose first option it is."""
        if isinstance(short, cls):
            return short
        make: Any = cls  # this base does not know the options of the derived class
        layer: Self = make(short)
        return layer

    def start(self) -> Callable[..., Provider]:
        """Return a function that puts the running part of this layer around a provider.

        Each `WebSearch` calls this once, and the function with each of its providers.
        So what is made here is shared by the providers of one `WebSearch`, and what the
        running part makes belongs to one provider. A layer whose providers share
        nothing needs no ``start``: its part is the class that is based on
        ``ProviderWrapper[...]`` of the layer.

        Raises:
            ConfigurationError: There is no such class.
        """
        part = type(self).running_part
        if part is None:
            kind = type(self).__name__
            raise ConfigurationError(
                f"{kind} has no running part: "
                f"write class Part(ProviderWrapper[{kind}]), or start"
            )
        return partial(part, self)

    def __call__(self, *inner: Provider) -> Any:
        """Return a provider with this layer around *inner*.

        It may go around several: ``Fallback()(first, second)``.

        Raises:
            ConfigurationError: One is not a provider, or the layer would do nothing.
        """
        wrapped = Started(self).put_around(*inner)
        roles: list[Role] = [role for role in _ROLES if handles(wrapped, role)]
        for leaf in leaves(wrapped):
            if any(can(leaf, role) for role in roles):
                return wrapped
        kind = type(self).__name__
        verbs = " or ".join(roles)
        raise ConfigurationError(
            f"{kind} would do nothing here: {wrapped.name} cannot {verbs}"
        )

    def __deepcopy__(self, _: object) -> Self:
        return self


class _Part(Generic[L_co]):
    """A running part, of one provider or of several.

    Its class registers itself with its layer. A copy starts without state.
    """

    layer: L_co
    _started: Started | None = None

    def __init_subclass__(cls) -> None:
        for base in cls.__dict__.get("__orig_bases__", ()):
            for argument in get_args(base):
                if isinstance(argument, type) and issubclass(argument, Layer):
                    argument.running_part = cast("Callable[..., Provider]", cls)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy the layer and what is inside, without the state."""
        return self.layer, inner_of(self)


class ProviderWrapper(_Part[L_co]):
    """Base of what a layer puts around one provider.

    It passes everything on: define what the layer changes. A ``read`` needs a
    ``read_many`` beside it, for pages that are read together. A copy or pickle starts
    without state.

    Args:
        layer: The layer.
        inner: The provider inside.
    """

    def __init__(self, layer: L_co, inner: Provider) -> None:
        self.layer = layer
        self.inner = inner

    @property
    def name(self) -> str:
        """The name of the provider inside."""
        return self.inner.name

    @property
    def options(self) -> frozenset[str]:
        """The options that the provider inside supports."""
        return options_of(self.inner)

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search with the provider inside."""
        return ask_provider(self.inner, "search", query)

    def read(self, url: str, /) -> Flow[Page]:
        """Read with the provider inside."""
        return ask_provider(self.inner, "read", url)

    def read_many(self, urls: Sequence[str], /) -> Flow[list[Page | WebSearchError]]:
        """Read many pages with the provider inside, in one request if it can."""
        return read_many(self.inner, urls)


class ProviderGroup(_Part[L_co]):
    """Base of what makes one provider of several, in order."""

    separator: ClassVar[str]

    def __init__(self, layer: L_co, *inner: Provider) -> None:
        self.layer = layer
        self.inner = inner

    @property
    def name(self) -> str:
        """The names of the providers, in order."""
        return self.separator.join(provider.name for provider in self.inner)

    @property
    def options(self) -> frozenset[str]:
        """The options that any of them supports."""
        return frozenset().union(*map(options_of, self.inner))


class Started:
    """A layer with the state that its providers share."""

    def __init__(self, layer: Layer) -> None:
        self._layer = layer
        self._wrap = layer.start()

    def put_around(self, *inner: Provider) -> Provider:
        """Return a provider with the layer around *inner*.

        Check that all of them are providers, and that everything is passed on.
        """
        self._check_inner(inner)
        wrapped = self._wrap(*inner)
        self._check_wrapped(wrapped, inner)
        if isinstance(wrapped, _Part):
            wrapped._started = self  # noqa: SLF001 - a copy needs it
        return wrapped

    def _check_inner(self, inner: Sequence[object]) -> None:
        kind = type(self._layer).__name__
        for provider in inner:
            if not _is_provider(provider):
                raise ConfigurationError(
                    f"{kind}: goes around a provider, not {type(provider).__name__}"
                )
        if len(inner) == 1:
            return
        combines = self._layer.rank == Rank.COMBINE
        if inner and combines:
            return
        count = f"{len(inner)} providers" if inner else "no provider"
        arguments = "provider, provider" if combines else "provider"
        raise ConfigurationError(
            f"{kind} has {count} inside: write {kind}(...)({arguments})"
        )

    def _check_wrapped(self, wrapped: Provider, inner: Sequence[Provider]) -> None:
        kind = type(self._layer).__name__
        if list(map(id, inner_of(wrapped))) != list(map(id, inner)):
            raise ConfigurationError(
                f"{kind}: start() must return a function "
                "from a provider to one whose inner it is"
            )
        check_part(wrapped)
        if not any(handles(wrapped, role) for role in _ROLES):
            raise ConfigurationError(
                f"{kind} changes nothing: define search, or read and read_many, "
                "in its running part"
            )


def handles(wrapped: object, method: str) -> bool:
    """Return whether the running part of a layer has a *method* of its own.

    One that its base class passes on does not count.
    """
    if not callable(getattr(wrapped, method, None)):
        return False
    inherited = getattr(ProviderWrapper, method)
    return getattr(type(wrapped), method, None) is not inherited


def check_part(part: Provider) -> None:
    """Check that *part* of a chain is a provider.

    A layer that reads must also read many pages at once.
    """
    kind = type(part).__name__
    if isinstance(part, Layer):
        raise ConfigurationError(
            f"{kind} has no provider inside: "
            f"write {kind}(...)(provider), or layers=[{kind}(...)]"
        )
    for inner in inner_of(part):
        if not _is_provider(inner):
            raise ConfigurationError(
                f"{kind}: inner: must be a provider, not {type(inner).__name__}"
            )
    check_port(part)
    reads = bool(inner_of(part)) and handles(part, "read")
    if reads and not handles(part, "read_many"):
        raise ConfigurationError(
            f"{kind} has read, but no read_many: "
            "pages that are read together would not pass through it"
        )


def _is_provider(value: object) -> bool:
    if isinstance(value, type):
        return False
    return any(can(value, role) for role in _ROLES)


def inner_of(provider: object) -> tuple[Provider, ...]:
    """Return the providers directly inside *provider*; empty if it is not a layer."""
    if isinstance(provider, type):
        return ()
    inner = getattr(provider, "inner", None)
    if inner is None:
        return ()
    if isinstance(inner, tuple | list):
        return tuple(inner)
    return (inner,)


def rank_of(part: object) -> int | None:
    """Return the rank of the layer that *part* belongs to; None if it has none."""
    layer = getattr(part, "layer", part)
    rank: int | None = getattr(layer, "rank", None)
    return rank


def parts(provider: Provider, *, around: tuple[int, ...] = ()) -> Iterator[Provider]:
    """Yield *provider* and, if it is a layer, everything inside it.

    *around* has the ids of the layers around it, so that one that contains itself is
    an error.
    """
    kind = type(provider).__name__
    if id(provider) in around:
        raise ConfigurationError(f"a {kind} contains itself")
    if len(around) >= _MAX_DEPTH:  # a property may make a new layer each time
        raise ConfigurationError(f"a {kind} is inside more than {_MAX_DEPTH} layers")
    yield provider
    for inner in inner_of(provider):
        yield from parts(inner, around=(*around, id(provider)))


def leaves(provider: Provider) -> list[Provider]:
    """Return the innermost providers; for one that is not a layer, itself."""
    return [part for part in parts(provider) if not inner_of(part)]


def reads_batches(provider: object) -> bool:
    """Return whether *provider* reads many pages in one request.

    A layer does if something inside it does.
    """
    if not callable(getattr(provider, "read_many", None)):
        return False
    inner = inner_of(provider)
    if not inner:
        return True
    return any(reads_batches(part) for part in inner)


def batch_size(provider: Provider) -> int:
    """Return how many pages a reader of batches can be asked for at once."""
    limits = [getattr(leaf, "limits", {}) for leaf in leaves(provider)]
    sizes = [limit.get("pages_per_request") for limit in limits]
    return min((size for size in sizes if size), default=_DEFAULT_BATCH)


def read_many(
    provider: Provider, urls: Sequence[str]
) -> Flow[list[Page | WebSearchError]]:
    """Read pages with *provider*: in one request if it can, else one by one.

    Return the page or its error for each URL, in order. If an error is raised, none of
    them was read.

    A page that is refused here, such as by the guard, does not stop the others.
    """
    if not reads_batches(provider):
        return (yield from read_each(provider, urls))
    try:
        pages = yield from cast("BatchReader", provider).read_many(urls)
    except RefusedTargets as error:
        if error.refusals.keys() <= set(urls):
            return (yield from _read_others(provider, urls, error.refusals))
        return (yield from read_each(provider, urls))  # it sends another spelling
    except UnsafeURL:  # one of them is, and it must not take the others with it
        return (yield from read_each(provider, urls))
    if len(pages) != len(urls):
        raise BadResponse(
            f"{provider.name} read failed: {len(pages)} answers for {len(urls)} pages",
            provider=provider.name,
        )
    return pages


def _read_others(
    provider: Provider, urls: Sequence[str], refusals: Mapping[str, WebSearchError]
) -> Flow[list[Page | WebSearchError]]:
    """Read the pages that have no error among *refusals*: those were not sent."""
    answers: dict[str, Page | WebSearchError] = dict(refusals)
    others = [url for url in urls if url not in refusals]
    if others:
        try:
            pages = yield from read_many(provider, others)
        except WebSearchError as failure:
            pages = [*spread(failure, len(others))]
        answers |= zip(others, pages, strict=True)
    return [answers[url] for url in urls]


def spread(failure: WebSearchError, count: int) -> Sequence[Any]:
    """Return the *failure* of a request for each of its pages, which add their URL."""
    return [failure, *(copy_error(failure) for _ in range(count - 1))]


def find_outage(pages: Sequence[Page | WebSearchError]) -> ServiceError | None:
    """Return the first error of a batch in which the service failed for every page that
    it was asked for, and may not fail again.
    """
    answers = [page for page in pages if not was_refused(page)]
    outages = [answer for answer in answers if _is_outage(answer)]
    if not outages or len(outages) < len(answers):
        return None
    return cast("ServiceError", outages[0])


def _is_outage(answer: Page | WebSearchError) -> bool:
    if not isinstance(answer, ServiceError):
        return False
    return answer.temporary and not answer.concerns_page


def read_each(
    provider: Provider, urls: Sequence[str]
) -> Flow[list[Page | WebSearchError]]:
    """Read each page on its own; return it or its error for each URL, in order."""
    reads = [
        contain_bugs(partial(ask_provider, provider, "read", url), provider.name)
        for url in urls
    ]
    return (yield Gather(reads))  # type: ignore[no-any-return]


def address(query: SearchQuery, provider: Provider, *group: Provider) -> SearchQuery:
    """Return *query* with the part of its ``extra`` that is for *provider*.

    ``extra`` may have tables for providers, ``{"brave": {...}}``, and parameters beside
    them. These need a table if several providers are asked: those of a *group*.
    """
    if not query.extra:
        return query
    own_names = {leaf.name for leaf in leaves(provider)}
    names = set(own_names)
    for member in group:
        names.update(leaf.name for leaf in leaves(member))

    tables: dict[str, Any] = {}
    parameters: dict[str, Any] = {}
    for name, value in query.extra.items():
        if not isinstance(value, Mapping):
            parameters[name] = value
        elif name in names or is_known(name):
            tables[name] = value
        else:
            parameters[name] = value

    if parameters and len(names) > 1:
        parameter = next(iter(parameters))
        example = f"extra={{{min(names)!r}: {{{parameter!r}: ...}}}}"
        raise InvalidOption(
            f"extra: several providers are asked, {', '.join(sorted(names))}: "
            f"write {example}"
        )
    own_tables = {name: table for name, table in tables.items() if name in own_names}
    if len(own_names) > 1:  # a group inside, which does the same for each of its own
        extra = own_tables
    else:
        (own_name,) = own_names
        extra = {**parameters, **own_tables.get(own_name, {})}
    return query.model_copy(update={"extra": extra})


@overload
def ask_provider(
    provider: Provider, role: Literal["search"], what: SearchQuery
) -> Flow[SearchResponse]: ...
@overload
def ask_provider(
    provider: Provider, role: Literal["read"], what: str
) -> Flow[Page]: ...
def ask_provider(provider: Provider, role: Role, what: SearchQuery | str) -> Flow[Any]:
    """Search or read with *provider*; check what it returns, unless it is one of our
    layers, which would only make tracebacks longer.

    Raises:
        ConfigurationError: It cannot search, or read.
        BadResponse: It returned something else than a `SearchResponse` or `Page`.
    """
    method = getattr(provider, role, None)
    if method is None:
        raise ConfigurationError(f"{provider.name} cannot {role}")
    answer: object = method(what)
    if isinstance(provider, _Part) and isinstance(answer, Generator):
        return answer
    return _check_answer(provider, role, answer)


def _check_answer(provider: Provider, role: Role, answer: object) -> Flow[Any]:
    kind, short = _ANSWERS[role]
    if isinstance(answer, Generator):
        answer = yield from answer
        if isinstance(answer, kind):
            return answer
    raise BadResponse(
        f"{provider.name} {role} failed: its {role}() returned a value of type "
        f"{type(answer).__name__}, and must be a generator that returns a "
        f"{kind.__name__}; websearch_core.provider.from_function({provider.name!r}, "
        f"{role}=function) makes a provider of a function that returns {short}",
        provider=provider.name,
    )


def options_of(provider: Provider) -> frozenset[str]:
    """Return the options of a query that *provider* supports."""
    return frozenset(getattr(provider, "options", ()))


def check_numbers(
    layer: object,
    *names: str,
    minimum: float,
    maximum: float = inf,
    integer: bool = False,
    optional: bool = False,
) -> None:
    """Check that fields of *layer* are numbers in these bounds.

    They may also be None if they are *optional*.
    """
    for name in names:
        value = getattr(layer, name)
        if value is None and optional:
            continue
        is_kind = isinstance(value, int) or not integer
        is_inside = is_number(value) and minimum <= value <= maximum
        if is_kind and is_inside:
            continue
        noun = "a whole number" if integer else "a number"
        bounds = f"at least {minimum}"
        if maximum < inf:
            bounds += f" and at most {maximum}"
        raise ConfigurationError(
            f"{type(layer).__name__}: {name}: must be {noun} of {bounds}"
        )
