"""
What the files in ``providers`` are made with.

A provider is a frozen value; nothing is inherited. Its fields are its options, and say where each may come from::

    @provider
    class Brave:
        name = "brave"
        options = frozenset({"time_range", ...})

        api_key: Annotated[Key, Env("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")]
        base_url: BaseUrl = "https://api.search.brave.com/res/v1"
"""

from __future__ import annotations

import functools
from dataclasses import fields
from typing import Annotated, Any, TypeVar, cast, dataclass_transform, get_type_hints
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, SecretStr, ValidationError
from pydantic.dataclasses import dataclass

from .errors import ConfigurationError, MissingKey
from .models import explain

T = TypeVar("T")


class Env:
    """Names the environment variables that a field may come from; the first one that is set wins."""

    def __init__(self, *names: str) -> None:
        self.names = names


def _key(value: SecretStr) -> SecretStr:
    key = value.get_secret_value().strip()
    if not key:
        raise ValueError("the key is empty")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("a key is printable ASCII without blanks")
    return SecretStr(key)


def _base_url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise ValueError("not an absolute http(s) URL without credentials, query or fragment")
    return value.rstrip("/")


Key = Annotated[SecretStr, AfterValidator(_key)]
BaseUrl = Annotated[str, AfterValidator(_base_url)]


@dataclass_transform(frozen_default=True, kw_only_default=True)
def provider(cls: type[T]) -> type[T]:
    """
    Make *cls* a frozen, keyword-only dataclass whose values are checked.

    Constructing one with something wrong raises `ConfigurationError`, or `MissingKey` that names the variable to set.
    """
    config = ConfigDict(extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=True)
    made = dataclass(frozen=True, kw_only=True, config=config)(cls)
    checked = made.__init__

    @functools.wraps(checked)
    def init(self: Any, **values: Any) -> None:
        try:
            checked(self, **values)
        except ValidationError as error:
            raise _misconfigured(made, error) from None  # pydantic's own text may show the value

    made.__init__ = init  # type: ignore[method-assign]
    return cast("type[T]", made)


def environment(cls: type[Any]) -> dict[str, tuple[str, ...]]:
    """Return the environment variables of each field of a provider that has any."""
    hints = get_type_hints(cls, include_extras=True)
    found = {}
    for field in fields(cls):
        for note in getattr(hints[field.name], "__metadata__", ()):
            if isinstance(note, Env):
                found[field.name] = note.names
    return found


def missing(cls: Any, field: str) -> MissingKey:
    """Make the error for a *field* of provider *cls* that has to be given: what, which variable, which file entry."""
    names = environment(cls).get(field, ())
    ways = [f"set {' or '.join(names)}"] if names else []
    ways += [f"pass {field}=...", f"put {field} under [providers.{cls.name}] in websearch.toml"]
    return MissingKey(f"{cls.name} has no {field}: {', or '.join(ways)}", variables=names)


def _misconfigured(cls: Any, error: ValidationError) -> ConfigurationError:
    problems = error.errors()
    for problem in problems:
        own = problem.get("ctx", {}).get("error")
        if isinstance(own, ConfigurationError):
            return own
    if all(problem["type"].startswith("missing") or "is empty" in problem["msg"] for problem in problems):
        return missing(cls, str(problems[0]["loc"][0]))
    return ConfigurationError(f"{cls.name}: {explain(error)}")
