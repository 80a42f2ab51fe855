"""The arguments of the two tools: the schema for the model, and the validation of what
it sends.
"""

from __future__ import annotations
import copyreg
import json
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from .._text.vocabulary import parse_time_range

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)  # pydantic has no public name for it

MOST = 20  # results of a search, unless the developer sets another limit
MOST_QUERIES = 5  # in one call
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
_MAX_NAMED = 5  # domains that a description lists


def _simplify(schema: dict[str, Any], cls: type[Arguments]) -> None:
    """Leave out of a schema what costs a model's context, what it may not send, and
    what a strict mode refuses.

    OpenAI's refuses defaults and lengths, and Anthropic's refuses bounds. They are in
    the descriptions, and validated.
    """
    for key in ("title", "description"):  # the tool has its own
        schema.pop(key, None)
    for name in cls.hidden:
        schema["properties"].pop(name, None)
    for argument in schema["properties"].values():
        for key in _REFUSED:
            argument.pop(key, None)


class _Picklable(ModelMetaclass):
    """The class of the schemas, so that those which are made while the program runs can
    be pickled.
    """


def _reduce(cls: Any) -> Any:
    made = cls.__dict__.get("made_from")
    return cls.__qualname__ if made is None else (search_arguments, made)


copyreg.pickle(_Picklable, _reduce)


class Arguments(BaseModel, metaclass=_Picklable):
    """The arguments of a tool.

    Models send ``null``, an empty text or a number as text; all of them are understood.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", str_strip_whitespace=True, json_schema_extra=_simplify
    )
    hidden: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _forgive(cls, sent: Any) -> Any:
        """Take ``null`` and empty texts for what was left out."""
        if not isinstance(sent, Mapping):
            return sent
        required = {
            name for name, field in cls.model_fields.items() if field.is_required()
        }
        return {
            name: value
            for name, value in sent.items()
            if value is not None
            and (name in required or not isinstance(value, str) or value.strip())
        }


def _as_list(value: Any) -> Any:
    """Understand ``"python.org, docs.org"`` and ``'["python.org"]'``, and leave out
    ``null`` and empty texts.
    """
    if isinstance(value, str):
        value = _split(value)
    return (
        [item for item in value if item not in (None, "")]
        if isinstance(value, list)
        else value
    )


def _as_queries(value: Any) -> Any:
    """Understand one query, and a list that was sent as text; leave out ``null`` and
    empty ones.
    """
    if isinstance(value, str):
        value = _split(value) if value.lstrip().startswith("[") else [value]
    if not isinstance(value, list):
        return value
    return [
        item
        for item in value
        if item is not None and not (isinstance(item, str) and not item.strip())
    ]


def _split(text: str) -> list[Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return re.split(r"[\s,]+", text.strip())
    return value if isinstance(value, list) else [str(value)]


def _as_time_range(value: Any) -> Any:
    return "all" if (known := parse_time_range(value)) is None else known


_Queries = Annotated[list[str], BeforeValidator(_as_queries)]
_Domains = Annotated[list[str], BeforeValidator(_as_list)]
_Limit = Annotated[int, Field(ge=1)]
_TimeRange = Annotated[
    Literal["all", "day", "week", "month", "year"], BeforeValidator(_as_time_range)
]


class SearchArguments(Arguments):
    """The arguments of ``web_search``.

    A model is not shown the last two: ``blocked_domains`` is understood if it is sent,
    and ``ignored`` names what was sent although the developer has fixed it. It is shown
    either ``query`` or ``queries``.
    """

    hidden: ClassVar[frozenset[str]] = frozenset(
        {"queries", "blocked_domains", "ignored"}
    )
    fixed: ClassVar[frozenset[str]] = frozenset()

    query: str = Field(min_length=1, description="What to look for.")
    queries: _Queries = []
    limit: _Limit = Field(
        default=5, description=f"Maximum number of results, 1 to {MOST}; usually 5."
    )
    allowed_domains: _Domains = Field(
        default=[],
        description="Only these domains, e.g. python.org. Usually empty: anywhere.",
    )
    time_range: _TimeRange = Field(
        default="all", description="Only pages this recent, if it matters; usually all."
    )
    blocked_domains: _Domains = []
    ignored: list[str] = []

    @model_validator(mode="before")
    @classmethod
    def _set_aside(cls, sent: Any) -> Any:
        """Set aside what is fixed, and understand ``max_results`` as the limit."""
        if not isinstance(sent, Mapping):
            return sent
        # empty, it comes from a framework that sends every default
        if sent.get("ignored"):
            raise PydanticCustomError("unknown_argument", "ignored: not an argument")
        given = dict(sent)
        if "queries" in cls.hidden and given.get("queries"):
            raise PydanticCustomError(
                "unknown_argument", "queries: not an argument; write query"
            )
        if "query" in cls.hidden and given.get("query") and not given.get("queries"):
            given["queries"] = given.pop("query")
        limit = given.pop("max_results", None)
        if given.get("limit") is None and limit is not None:
            given["limit"] = limit
        ignored = [
            name for name in given if name in cls.fixed and given[name] is not None
        ]
        return {
            **{name: value for name, value in given.items() if name not in cls.fixed},
            "ignored": ignored,
        }


class PageArguments(Arguments):
    """The arguments of ``open_page``."""

    url: str = Field(
        min_length=1,
        description="Absolute http(s) URL of the page, or its number, e.g. [3].",
    )
    max_length: int = Field(
        default=0, ge=0, le=100_000, description="Maximum characters; 0: the default."
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


@cache
def search_arguments(
    base: type[SearchArguments],
    fixed: frozenset[str],
    limit: int | None,
    allowed_domains: tuple[str, ...],
    several: bool,
) -> type[SearchArguments]:
    """Return the arguments of a ``web_search`` that a developer has restricted.

    The *limit* is the usual number of results, too; None is the default. *several*:
    ``queries``, not a ``query``.
    """
    if not fixed and limit is None and not allowed_domains and not several:
        return base
    fields: dict[str, Any] = {}
    if several:
        what = (
            f"What to look for: 1 to {MOST_QUERIES} queries, one for each part of the "
            f"question."
        )
        fields["query"] = str, ""
        fields["queries"] = (
            _Queries,
            Field(min_length=1, max_length=MOST_QUERIES, description=what),
        )
    if limit is not None:
        what = f"Maximum number of results, 1 to {limit}; usually {limit}."
        # more is cut to it, with a note
        fields["limit"] = _Limit, Field(default=limit, description=what)
    if allowed_domains:
        named = ", ".join(allowed_domains[:_MAX_NAMED]) + ", ..." * (
            len(allowed_domains) > _MAX_NAMED
        )
        what = (
            f"Only these of {named}, or their subdomains. Usually empty: all of them."
        )
        fields["allowed_domains"] = _Domains, Field(default=[], description=what)
    made: type[SearchArguments] = create_model(base.__name__, __base__=base, **fields)
    made.__doc__ = base.__doc__
    made.fixed = fixed
    made.hidden = (
        (base.hidden - {"queries"}) | {"query"} if several else base.hidden
    ) | fixed
    made.made_from = base, fixed, limit, allowed_domains, several  # type: ignore[attr-defined]
    return made
