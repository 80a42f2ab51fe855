"""The keys of this environment, and the texts and bytes that must not contain them."""

from __future__ import annotations
import os
import re
from collections.abc import Iterable
from typing import Any

from websearch_core.flow._redaction import redact_content, without_keys
from websearch_core.provider._declare import environment, field_notes, is_secret
from websearch_core.providers import known, provider_class

# A shorter key is a part of many words, so only what holds it is refused.
_MIN_LENGTH = 8
# what stands for a short key; the first that does not contain it
_MARKS = ("[key]", "***", "")
_NAME_OF_KEY = re.compile("CREDENTIAL|KEY|PASSW|SECRET|TOKEN")


class Keys:
    """Keys that may reach no file and no terminal.

    Args:
        keys: Those of services and models, however short.
        others: What other variables of the environment hold, such as the key of a
            service that is no longer there.
    """

    def __init__(self, keys: Iterable[str] = (), others: Iterable[str] = ()) -> None:
        every = {key.strip() for key in (*keys, *others)}
        self.long = frozenset(key for key in every if len(key) >= _MIN_LENGTH)
        # longest first, since one may be a part of another
        self._short = sorted({key.strip() for key in keys} - self.long, key=len)[::-1]
        if "" in self._short:
            self._short.remove("")

    @classmethod
    def of_environment(cls, variables: Iterable[str] = ()) -> Keys:
        """Return the keys in the environment; *variables* are those of models."""
        names = {*variables, *secret_variables()}
        keys = [os.environ[name] for name in names if name in os.environ]
        others = [
            value for name, value in os.environ.items() if _NAME_OF_KEY.search(name)
        ]
        return cls(keys, [key for key in others if len(key) >= _MIN_LENGTH])

    def redact(self, text: str) -> str:
        """Return *text* without the keys, for a terminal."""
        text = without_keys(text, self.long)
        for key in self._short:
            mark = next(mark for mark in _MARKS if key not in mark)
            while key in text:  # also where parts of it have come together
                text = text.replace(key, mark)
        return text

    def remove(self, value: Any) -> Any:
        """Return a value of YAML without the long keys, in any of their spellings."""
        if isinstance(value, str):
            return type(value)(without_keys(value, self.long))
        if isinstance(value, bytes):
            return redact_content(value, self.long)
        if isinstance(value, list):
            return [self.remove(item) for item in value]
        if isinstance(value, dict):
            return {name: self.remove(inner) for name, inner in value.items()}
        return value

    def are_in(self, text: str) -> bool:
        """Return whether *text* contains any of the keys."""
        return self.redact(text) != text


def secret_variables() -> list[str]:
    """Return the environment variables that hold the keys of services."""
    names: list[str] = []
    for provider in known():
        names += key_variables(provider_class(provider))
    return names


def key_variables(cls: type[Any]) -> list[str]:
    """Return the environment variables that hold the keys of one service."""
    notes = field_notes(cls)
    names: list[str] = []
    for field, variables in environment(cls).items():
        if is_secret(notes.get(field, ())):
            names += variables
    return names
