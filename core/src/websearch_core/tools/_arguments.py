"""The arguments of the two tools: the schema for the model, and the validation of what
it sends.
"""

from __future__ import annotations
import ast
import copyreg
import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from .._text.vocabulary import parse_time_range

MAX_RESULTS = 20  # results of a search, unless the developer sets another limit
MAX_QUERIES = 5  # in one call
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
# How models write that they leave an argument out.
_NOTHING = frozenset(
    "null none nil undefined n/a any anything anywhere anytime unlimited *".split()
)
_EVERYWHERE = _NOTHING | {"all", "everywhere"}  # instead of domains
# What models call an argument that has another name here and means the same.
_SAME = MappingProxyType(
    {
        "max_results": "limit",
        "num_results": "limit",
        "include_domains": "allowed_domains",
        "exclude_domains": "blocked_domains",
    }
)


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

    Models send ``null``, an empty text, the word ``None`` or a number as text; all of
    them are understood.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", str_strip_whitespace=True, json_schema_extra=_simplify
    )
    hidden: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _forgive(cls, sent: Any) -> Any:
        """Leave out what was meant to be left out."""
        if not isinstance(sent, Mapping):
            return sent
        arguments: dict[str, Any] = {}
        for name, value in sent.items():
            if value is None:
                continue
            field = cls.model_fields.get(name)
            is_required = field is not None and field.is_required()
            if is_required or not is_left_out(value):
                arguments[name] = value
        return cls._translate(arguments)

    @classmethod
    def _translate(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return *arguments* by the names that they have here."""
        return arguments


def is_left_out(value: object) -> bool:
    """Return whether a model that sent *value* meant to leave the argument out.

    That is an empty text, or a word such as ``null``, ``None`` or ``any``.
    """
    if not isinstance(value, str):
        return False
    word = value.strip().lower()
    return not word or word in _NOTHING


def _is_everywhere(item: object) -> bool:
    if item is None:
        return True
    if not isinstance(item, str):
        return False
    word = item.strip().lower()
    return not word or word in _EVERYWHERE


def _is_blank(item: object) -> bool:
    if isinstance(item, str):
        return not item.strip()
    return item is None


def _parse_list(text: str, split: Callable[[str], list[Any]]) -> list[Any]:
    """Return the list that *text* is in JSON or in Python, else what *split* makes of
    the text.
    """
    text = text.strip()
    if not text.startswith("["):
        return split(text)
    for parse in (json.loads, ast.literal_eval):
        try:
            value = parse(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(value, list):
            return value
    return split(text)


# LangChain takes the types of the arguments apart, twice in each call: they are plain
# here, and methods understand what else models send.
class SearchArguments(Arguments):  # type: ignore[metaclass]
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
    ignored: list[str] = []

    @field_validator("queries", mode="before")
    @classmethod
    def _parse_queries(cls, value: Any) -> Any:
        """Understand one query, and a list that was sent as text; leave out ``null``
        and empty ones.

        A query may begin with a bracket, as in ``[Solved] disk is full``.
        """
        if isinstance(value, str):
            value = _parse_list(value, lambda text: [text])
        if not isinstance(value, list):
            return value
        return [item for item in value if not _is_blank(item)]

    @field_validator("allowed_domains", "blocked_domains", mode="before")
    @classmethod
    def _parse_domains(cls, value: Any) -> Any:
        """Understand ``"python.org, docs.org"`` and ``'["python.org"]'``, and leave out
        what names no domain: ``null``, empty texts, ``anywhere``.
        """
        if isinstance(value, str):
            value = _parse_list(value, re.compile(r"[\s,]+").split)
        if not isinstance(value, list):
            return value
        return [item for item in value if not _is_everywhere(item)]

    @field_validator("time_range", mode="before")
    @classmethod
    def _parse_time_range(cls, value: Any) -> Any:
        parsed = parse_time_range(value)
        return "all" if parsed is None else parsed

    @classmethod
    def _translate(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        """Understand other names, and set aside what is fixed."""
        # empty, it comes from a framework that sends every default
        if arguments.pop("ignored", None):
            raise PydanticCustomError("unknown_argument", "ignored: not an argument")
        for other, name in _SAME.items():
            if other in arguments:
                arguments.setdefault(name, arguments.pop(other))
        takes_list = "query" in cls.hidden
        if takes_list and not arguments.get("queries"):
            query = arguments.pop("query", None)
            if query:
                arguments["queries"] = query
        if not takes_list and arguments.get("queries"):
            raise PydanticCustomError(
                "unknown_argument", "queries: not an argument; write query"
            )
        ignored = [name for name in arguments if name in cls.fixed]
        for name in ignored:
            del arguments[name]
        return {**arguments, "ignored": ignored}


class PageArguments(Arguments):  # type: ignore[metaclass]
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
