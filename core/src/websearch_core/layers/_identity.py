"""What makes two calls the same: the request, who makes it, and whose key it is sent
with.
"""

from __future__ import annotations
import dataclasses
import hashlib
import json
import sys
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from .._runtime.scope import Caller, current_call
from .._text.urls import identify
from ..keys._keys import ApiKey
from ..models import SearchQuery
from ..provider._ports import Provider
from ._layer import Rank, inner_of, parts, rank_of

# Layers of these ranks decide whether and when a provider is asked, not what it
# answers.
_SILENT = {
    Rank.THROTTLE,
    Rank.BUDGET,
    Rank.RETRY,
    Rank.BREAKER,
    Rank.CACHE,
    Rank.SINGLE_FLIGHT,
}
_to_json = json.JSONEncoder(sort_keys=True).encode


def describe_query(query: SearchQuery) -> list[Any] | None:
    """Return *query* as JSON, the same for queries that mean the same; None if its
    ``extra`` is not JSON.
    """
    try:
        options = query.model_dump(mode="json", exclude={"text"}, exclude_defaults=True)
    except ValueError:  # pydantic cannot serialize a value
        return None
    for domains in ("allowed_domains", "blocked_domains"):
        if domains in options:
            options[domains].sort()
    return [
        "search",
        " ".join(unicodedata.normalize("NFC", query.text).split()),
        options,
    ]


def describe_page(url: str) -> list[Any]:
    """Return what is read at *url*, and what the call wants of it, as JSON."""
    return ["read", identify(url), *current_call().content.describe()]


def describe_provider(provider: Provider) -> list[Any] | None:
    """Return *provider* with the layers that change its answers, all options and no
    key; None if one cannot show it.
    """
    description: list[Any] = []
    for part in parts(provider):
        inner = inner_of(part)
        if inner and rank_of(part) in _SILENT:
            continue
        made_of: Any = getattr(part, "layer", part)
        if not dataclasses.is_dataclass(made_of):
            return None
        fields = [field.name for field in dataclasses.fields(made_of) if field.init]
        if inner and "inner" in fields:
            fields.remove("inner")
        try:
            options = {name: _plain(getattr(made_of, name)) for name in fields}
            kind = _plain(type(made_of))
        except TypeError:
            return None
        description.append([kind, part.name, options, len(inner)])
    return description


def digest(description: object) -> str:
    """Return a text that is the same only for the same *description*, as JSON."""
    return hashlib.blake2b(_to_json(description).encode(), digest_size=32).hexdigest()


class Identity:
    """Tells requests to *provider* apart by the request and the key that pays for
    it.
    """

    def __init__(self, provider: Provider) -> None:
        chain = list(parts(provider))
        self.leaves = [part for part in chain if not inner_of(part)]
        self._keys: list[ApiKey | SecretStr] = []
        for leaf in self.leaves:
            for value in getattr(leaf, "__dict__", {}).values():
                if isinstance(value, ApiKey | SecretStr):
                    self._keys.append(value)
        self._has_budget = any(rank_of(part) == Rank.BUDGET for part in chain)

    def caller(self) -> Caller:
        """Return who asks, with the tenant if a budget inside charges it: others do not
        share the answer.
        """
        call = current_call()
        tenant = call.account.tenant if self._has_budget else ""
        return call.caller._replace(tenant=tenant)

    def of(self, what: object) -> str:
        """Return a text that is the same only for the same *what*, as JSON, sent with
        the same keys.

        It is a keyed hash (BLAKE2, RFC 7693), whose key is made of those that the
        provider uses, and reveals neither.
        """
        keys: list[str] = []
        for key in self._keys:
            if isinstance(key, ApiKey):
                keys.append(key.identity())
            else:
                keys.append(key.get_secret_value())
        whose = hashlib.blake2b(_to_json(keys).encode()).digest()
        return hashlib.blake2b(
            _to_json(what).encode(), key=whose, digest_size=32
        ).hexdigest()


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, SecretStr):  # a part of the keyed hash
        return None
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, list | tuple):
        return list(map(_plain, value))
    if isinstance(value, set | frozenset):
        return sorted(map(repr, map(_plain, value)))
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, type):
        return _locate(value)
    raise TypeError(type(value).__name__)


def _locate(kind: type) -> list[str]:
    """Return where *kind* is defined. One that a function made may hold anything, and
    so may one of a notebook.
    """
    module = kind.__module__
    if module in {"__main__", "__mp_main__"}:  # each program has its own
        module = getattr(sys.modules.get(module), "__file__", None) or "<locals>"
    names = [base.__qualname__ for base in kind.__mro__]
    if any("<locals>" in name for name in (module, *names)):
        raise TypeError(kind.__qualname__)
    return [module, kind.__qualname__]
