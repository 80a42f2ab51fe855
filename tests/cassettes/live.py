"""The call of a cassette as a real service can answer it.

What is written from documentation names hosts that are reserved, which have no pages
(RFC 2606), and searches for what every engine finds something for. A real call has
other words in these places, and its cassette says so when it is recorded.
"""

from __future__ import annotations
import copy
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

from tests.cassettes import tape as tapes
from websearch_core.provider._declare import environment
from websearch_core.providers import provider_class

# Those of the contract that can be had by asking, in this order. Nobody can ask for a
# limit of rate, an empty account or a broken answer.
SCENARIOS = ("search", "nothing", "page_2", "read", "read_failed", "wrong_key")
# the cassette that an answer of this kind is compared with, whatever the question was
BY_ERROR = {
    "authentication_failed": "wrong_key",
    "quota_exhausted": "quota",
    "rate_limited": "rate_limited",
}
PAGE = "https://example.com/"  # run by IANA for such uses
SITE = "en.wikipedia.org"
# words that are in no page
NOTHING = "qzxvwkj bvqxzhgj wzkxqvpj"
WRONG_KEY = "wrong-key-0123456789abcdef0123456789abcdef"
_DOCUMENTED_NOTHING = "xyzzy plugh"  # which engines find a game for


def prepare(tape: tapes.Tape, scenario: str) -> tapes.Tape:
    """Return *tape* with a call that a real service can answer; its key is left to the
    environment, or is `WRONG_KEY`.
    """
    live = copy.deepcopy(tape)
    verb = tapes.role(tape)
    argument, options = tape[verb]
    reads_page = verb == "read" and scenario != "read_failed"
    if reads_page and is_reserved(argument):
        argument = PAGE
    if argument == _DOCUMENTED_NOTHING:
        argument = NOTHING
    domains = options.get("allowed_domains", [])
    if any(map(is_reserved, domains)):
        options = {**options, "allowed_domains": [SITE]}
    live[verb] = [argument, options]
    key = WRONG_KEY if scenario == "wrong_key" else None
    live["web"] = _replace_keys(tape["web"], key)
    return live


def is_reserved(place: str) -> bool:
    """Return whether a host or URL is one of those that nobody can have."""
    host = urlsplit(place).hostname or place
    return host == "example" or host.endswith(".example")


def find_places(name: str, tape: tapes.Tape) -> dict[str, str]:
    """Return where the environment says that a service is, with the places that a
    cassette has instead.
    """
    cls = provider_class(name)
    declared = tapes.options(tape, name)
    places: dict[str, str] = {}
    for field, variables in environment(cls).items():
        default = declared.get(field) or getattr(cls, field, None)
        if not str(default).startswith("http"):
            continue
        for variable in variables:
            place = os.environ.get(variable, "").rstrip("/")
            if place:
                places[place] = str(default).rstrip("/")
    return places


@contextmanager
def without_places(name: str) -> Iterator[None]:
    """Let a service be where its default says, in a block, whatever the environment
    says.
    """
    with patch.dict(os.environ):
        for variables in environment(provider_class(name)).values():
            for variable in variables:
                os.environ.pop(variable, None)
        yield


def _replace_keys(web: Any, key: str | None) -> Any:
    """Return the arguments of a `WebSearch` with *key*, or without any, and without
    reserved addresses.
    """
    if not isinstance(web, dict):
        return web
    clean: dict[str, Any] = {}
    for name, value in web.items():
        if name == "api_key":
            if key is not None:
                clean[name] = key
            continue
        if name == "base_url" and is_reserved(str(value)):
            continue
        clean[name] = _replace_keys(value, key)
    return clean
