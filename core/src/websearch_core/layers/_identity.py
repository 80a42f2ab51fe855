"""What makes two calls the same: the request, and whose key it is sent with."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from .._keys import ApiKey
from ..models import SearchQuery
from ..provider._ports import Provider
from ._layer import leaves

_to_json = json.JSONEncoder(sort_keys=True).encode


def describe_query(query: SearchQuery) -> list[Any] | None:
    """Return *query* as JSON, the same for queries that mean the same; None if its ``extra`` is not JSON."""
    try:
        options = query.model_dump(mode="json", exclude={"text"}, exclude_defaults=True)
    except ValueError:  # pydantic cannot serialize a value
        return None
    for domains in ("allowed_domains", "blocked_domains"):
        if domains in options:
            options[domains].sort()
    return ["search", " ".join(unicodedata.normalize("NFC", query.text).split()), options]


def describe_provider(provider: Provider) -> list[Any] | None:
    """Return what *provider* is made of, with all options but without keys; None if not all of them are known."""
    described: list[Any] = []
    for leaf in leaves(provider):
        if not dataclasses.is_dataclass(leaf):
            return None
        try:
            options = {
                field.name: _plain(getattr(leaf, field.name)) for field in dataclasses.fields(leaf) if field.init
            }
        except TypeError:
            return None
        described.append([type(leaf).__module__, type(leaf).__qualname__, leaf.name, options])
    return described


def digest(described: object) -> str:
    """Return a text that is the same only for the same *described*, as JSON."""
    return hashlib.blake2b(_to_json(described).encode(), digest_size=32).hexdigest()


class Identity:
    """
    Tells requests apart by what is asked, and by whose keys it is asked with.

    Args:
        provider: The provider that is asked.

    """

    def __init__(self, provider: Provider) -> None:
        self._leaves = leaves(provider)

    def of(self, what: object) -> str:
        """
        Return a text that is the same only for the same *what*, as JSON, sent with the same keys.

        It is a keyed hash (BLAKE2, RFC 7693), whose key is made of those that the provider uses now, so it reveals
        neither.
        """
        keys = [
            _read(value)
            for leaf in self._leaves
            for value in getattr(leaf, "__dict__", {}).values()
            if isinstance(value, SecretStr)
        ]
        whose = hashlib.blake2b(_to_json(keys).encode()).digest()
        return hashlib.blake2b(_to_json(what).encode(), key=whose, digest_size=32).hexdigest()


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, SecretStr):  # a part of the keyed hash
        return None
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, set | frozenset):
        return sorted(map(repr, map(_plain, value)))
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    raise TypeError(type(value).__name__)


def _read(key: SecretStr) -> str:
    return key.identity() if isinstance(key, ApiKey) else key.get_secret_value()
