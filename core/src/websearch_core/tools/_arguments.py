"""The arguments of the tools: the schema for the model, and the validation of what
it sends.
"""

from __future__ import annotations
import copyreg
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from .._text.quantity import is_whole_number
from ..errors import InvalidOption
from ..models import describe_problems
from . import _dialects as dialects

MAX_CHARACTERS = 100_000  # of a page, in one call
MAX_RESULTS = 20  # results of a search, unless the developer sets another limit
MAX_QUERIES = 5  # in one call
MAX_PAGES = 200  # of a site, in one call
# What repeats the name, or is refused by a strict mode.
_REFUSED = (
    "title",
    "default",
    "minLength",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
)
FIXED = "{}: fixed by the developer, so what you sent was ignored"
_MAX_NAMED = 5  # domains that a description lists


def _simplify(schema: dict[str, Any], cls: type[Arguments]) -> None:
    """Leave out of a schema what costs a model's context, what it may not send, and
    what a vendor refuses.

    OpenAI's strict mode refuses defaults and lengths, and Anthropic's refuses bounds.
    They are in the descriptions, and validated. Gemini knows no
    ``additionalProperties``; the strict modes add it themselves.
    """
    # a tool has a title and a description of its own
    for key in ("title", "description", "additionalProperties"):
        schema.pop(key, None)
    for name in cls.hidden:
        schema["properties"].pop(name, None)
    for argument in schema["properties"].values():
        for key in _REFUSED:
            argument.pop(key, None)


class _Picklable(type(BaseModel)):  # type: ignore[misc] # it has no public name
    """The class of the schemas, so that those which are made while the program runs can
    be pickled.
    """


def _reduce(cls: Any) -> Any:
    restrictions = cls.__dict__.get("restrictions")
    if restrictions is None:
        return cls.__qualname__
    return search_arguments, restrictions


copyreg.pickle(_Picklable, _reduce)


class Arguments(BaseModel, metaclass=_Picklable):
    """The arguments of a tool.

    What models send in other words or shapes is understood, with a note where it is not
    quite the same. An error lists the arguments.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", str_strip_whitespace=True, json_schema_extra=_simplify
    )
    main: ClassVar[str]  # the argument that is always sent
    hidden: ClassVar[frozenset[str]] = frozenset({"notes"})
    # what is understood although a model is not shown it
    others: ClassVar[frozenset[str]] = frozenset()
    injected: ClassVar[frozenset[str]] = frozenset()  # by a framework
    fixed: ClassVar[frozenset[str]] = frozenset()
    readers: ClassVar[Mapping[str, dialects.Reader]] = {}

    @classmethod
    def parse(cls, sent: Any) -> Self:
        """Return the arguments that a model *sent*, or raise `InvalidOption`."""
        try:
            return cls.model_validate(sent)
        except ValidationError as error:
            raise InvalidOption(describe_problems(error)) from error

    @model_validator(mode="wrap")
    @classmethod
    def _understand(cls, sent: Any, validate: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return validate(cls._read(sent))
        except ValidationError as error:
            kind = error.errors(include_url=False)[0]["type"]
            problems = describe_problems(error)
        except dialects.Refusal as error:
            kind = "refusal"
            problems = str(error)
        name: Any = f"arguments:{kind}"  # else it is a literal type
        raise PydanticCustomError(
            name,
            "{problems}; the arguments are {names}",
            {"problems": problems, "names": ", ".join(cls.shown_names())},
        )

    @classmethod
    def _read(cls, sent: Any) -> Any:
        """Return what a model *sent* in the names and shapes of the arguments."""
        key: Any = cls  # pyright does not see that a class has a hash
        arguments = _list_names(key).open(sent)
        if not isinstance(arguments, dict):
            return arguments
        # empty, it comes from a framework that sends every default
        if arguments.pop("notes", None):
            raise dialects.Refusal("notes: not an argument")
        notes: list[str] = []
        values: dict[str, Any] = {}
        fixed_names: list[str] = []
        for name, value in arguments.items():
            if name != cls.main and dialects.is_left_out(value):
                continue
            if name in cls.fixed:
                fixed_names.append(name)
                continue
            read = cls.readers.get(name)
            values[name] = value if read is None else read(value, notes)
        if fixed_names:
            notes.append(FIXED.format(", ".join(fixed_names)))
        cls._finish(values, notes)
        return {**values, "notes": notes}

    @classmethod
    def _finish(cls, values: dict[str, Any], notes: list[str]) -> None:
        """Change *values* that depend on others or have bounds."""

    @classmethod
    def shown_names(cls) -> list[str]:
        """Return the arguments that a model may send."""
        return [name for name in cls.model_fields if name not in cls.hidden]


@cache
def _list_names(schema: type[Arguments]) -> dialects.Names:
    own = [*schema.shown_names(), *schema.others, *schema.fixed]
    return dialects.Names.of(schema.main, own, schema.injected)


# LangChain takes the types of the arguments apart, twice in each call: they are plain
# here, and methods understand what else models send.
class SearchArguments(Arguments):  # type: ignore[metaclass]
    """The arguments of ``web_search``.

    A model is not shown the last two. ``blocked_domains`` is understood if it is sent.
    It is shown either ``query`` or ``queries``.
    """

    main: ClassVar[str] = "query"
    hidden: ClassVar[frozenset[str]] = frozenset(
        {"queries", "blocked_domains", "notes"}
    )
    others: ClassVar[frozenset[str]] = frozenset({"blocked_domains"})
    readers: ClassVar[Mapping[str, dialects.Reader]] = {
        "query": dialects.read_query,
        "queries": dialects.read_queries,
        "limit": dialects.read_number,
        "allowed_domains": dialects.read_domains,
        "blocked_domains": dialects.read_domains,
        "time_range": dialects.read_time_range,
    }

    query: str = Field(min_length=1, description="What to look for.")
    queries: list[str] = []
    limit: int = Field(
        default=5,
        ge=1,
        description=f"Maximum number of results, 1 to {MAX_RESULTS}; usually 5.",
    )
    allowed_domains: list[str] = Field(
        default=[],
        description="Only these domains, e.g. python.org. Usually empty: anywhere.",
    )
    time_range: Literal["all", "day", "week", "month", "year"] = Field(
        default="all", description="Only pages this recent, if it matters; usually all."
    )
    blocked_domains: list[str] = []
    notes: list[str] = []  # for the model, about what it sent

    @classmethod
    def _finish(cls, values: dict[str, Any], notes: list[str]) -> None:
        _forget_low_limit(cls, values, notes)
        sites = dialects.find_sites(values.get("query"))
        if sites:
            notes.append("query: site: alone was taken for allowed_domains")
            values["query"] = " ".join(sites)
            values.setdefault("allowed_domains", sites)


class PageArguments(Arguments):  # type: ignore[metaclass]
    """The arguments of ``open_page``."""

    main: ClassVar[str] = "url"
    readers: ClassVar[Mapping[str, dialects.Reader]] = {
        "url": dialects.read_url,
        "max_length": dialects.read_number,
        "offset": dialects.read_number,
        "query": dialects.read_text,
        "find": dialects.read_text,
        "outline": dialects.read_truth,
    }

    url: str = Field(
        min_length=1,
        description="Absolute http(s) URL of the page, or its number, e.g. [3].",
    )
    max_length: int = Field(
        default=0,
        ge=0,
        le=MAX_CHARACTERS,
        description="Maximum characters; 0: the default.",
    )
    offset: int = Field(
        default=0,
        ge=0,
        description="Where to begin: 0, or the offset named to read on from.",
    )
    query: str = Field(
        default="", description="A question: return only the passages that answer it."
    )
    find: str = Field(
        default="",
        description="An exact phrase: return the places around it. Not with query.",
    )
    outline: bool = Field(default=False, description="Headings and offsets.")
    notes: list[str] = []  # for the model, about what it sent

    @classmethod
    def _finish(cls, values: dict[str, Any], notes: list[str]) -> None:
        for name in ("max_length", "offset"):
            value = values.get(name)
            if is_whole_number(value) and value < 0:
                notes.append(f"{name}: 0 is the minimum, so 0 was used")
                values[name] = 0
        max_length = values.get("max_length")
        if is_whole_number(max_length) and max_length > MAX_CHARACTERS:
            notes.append(f"max_length: {MAX_CHARACTERS} is the maximum, so it was used")
            values["max_length"] = MAX_CHARACTERS


class SiteArguments(Arguments):  # type: ignore[metaclass]
    """The arguments of ``list_pages``."""

    main: ClassVar[str] = "url"
    readers: ClassVar[Mapping[str, dialects.Reader]] = {
        "url": dialects.read_site,
        "contains": dialects.read_text,
        "limit": dialects.read_number,
    }

    url: str = Field(
        min_length=1,
        description="Where to begin: a site, a folder of it, or a page's number.",
    )
    contains: str = Field(
        default="", description="Only pages with these words in their address."
    )
    limit: int = Field(
        default=50,
        ge=1,
        description=f"Maximum number of pages, 1 to {MAX_PAGES}; usually 50.",
    )
    notes: list[str] = []  # for the model, about what it sent

    @classmethod
    def _finish(cls, values: dict[str, Any], notes: list[str]) -> None:
        _forget_low_limit(cls, values, notes)


def _forget_low_limit(
    schema: type[Arguments], values: dict[str, Any], notes: list[str]
) -> None:
    """Use the usual limit instead of one below 1; one above the maximum is cut later: a
    run may have another.
    """
    limit = values.get("limit")
    if is_whole_number(limit) and limit < 1:
        default = schema.model_fields["limit"].default
        notes.append(f"limit: 1 is the minimum, so the usual {default} was used")
        del values["limit"]


@cache
def search_arguments(
    base: type[SearchArguments],
    fixed: frozenset[str],
    limit: int | None,
    allowed_domains: tuple[str, ...],
    takes_list: bool,
    without_effect: frozenset[str],
) -> type[SearchArguments]:
    """Return the arguments of a ``web_search`` that a developer has restricted.

    The *limit* is the usual number of results, too; None is the default. With
    *takes_list* there are ``queries``, not a ``query``. What no provider supports is
    *without_effect*: it is not offered, but understood.
    """
    restrictions = base, fixed, limit, allowed_domains, takes_list, without_effect
    if not any(restrictions[1:]):
        return base
    fields: dict[str, Any] = {}
    if takes_list:
        fields |= _describe_queries()
    if limit is not None:
        what = f"Maximum number of results, 1 to {limit}; usually {limit}."
        # more is cut to it, with a note
        fields["limit"] = int, Field(default=limit, ge=1, description=what)
    if allowed_domains:
        names = _list_some(allowed_domains)
        what = f"Only these of {names}, or their subdomains. Usually empty: all."
        fields["allowed_domains"] = list[str], Field(default=[], description=what)
    hidden = base.hidden | fixed | without_effect
    if takes_list:
        hidden = (hidden - {"queries"}) | {"query"}
    schema: type[SearchArguments] = create_model(base.__name__, __base__=base, **fields)
    schema.__doc__ = base.__doc__
    schema.fixed = fixed
    schema.hidden = hidden
    if takes_list:
        schema.main = "queries"
    schema.restrictions = restrictions  # type: ignore[attr-defined]
    return schema


def _describe_queries() -> dict[str, Any]:
    what = (
        f"What to look for: 1 to {MAX_QUERIES} queries, one for each part of the "
        f"question."
    )
    limits = Field(min_length=1, max_length=MAX_QUERIES, description=what)
    return {"query": (str, ""), "queries": (list[str], limits)}


def _list_some(domains: tuple[str, ...]) -> str:
    names = ", ".join(domains[:_MAX_NAMED])
    return f"{names}, ..." if len(domains) > _MAX_NAMED else names
