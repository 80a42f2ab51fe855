"""What a cache keeps of an answer: JSON of our own values, which are checked when they are read."""

from __future__ import annotations

import time
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from ...errors import PageNotFound
from ...models import Page, SearchResponse

VERSION = 1  # of the entries; also a part of their keys
_FUTURE = 60.0  # seconds; clocks differ


class _Missing(BaseModel):
    """A page that does not exist, as an error says it."""

    model_config = ConfigDict(extra="forbid")

    message: str
    provider: str | None = None
    status: int | None = None


class Entry(BaseModel):
    """
    An answer, and when it was given.

    Args:
        version: Of the format.
        stored: Seconds since the epoch.
        response: A response; or else
        page: a page; or else
        missing: that there is none.

    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    stored: float
    response: SearchResponse | None = None
    page: Page | None = None
    missing: _Missing | None = None

    @classmethod
    def of(cls, answer: SearchResponse | Page | PageNotFound) -> Entry:
        """Return an entry of *answer*, as of now."""
        now = time.time()
        if isinstance(answer, SearchResponse):
            return cls.model_construct(stored=now, response=answer)
        if isinstance(answer, Page):
            return cls.model_construct(stored=now, page=answer)
        missing = _Missing(message=str(answer), provider=answer.provider, status=answer.status)
        return cls.model_construct(stored=now, missing=missing)

    @property
    def age(self) -> float:
        """Return how old it is, in seconds; ``inf`` if it claims to be from the future."""
        age = time.time() - self.stored
        return age if age > -_FUTURE else float("inf")

    @property
    def answer(self) -> SearchResponse | Page | PageNotFound:
        """The answer."""
        if self.missing:
            return PageNotFound(self.missing.message, provider=self.missing.provider, status=self.missing.status)
        answer = self.response or self.page
        assert answer is not None
        return answer


def encode(entry: Entry) -> bytes | None:
    """Return *entry* as JSON; None if the raw answer in it is not JSON."""
    try:
        return entry.model_dump_json(exclude_defaults=True, by_alias=True).encode()
    except ValueError:
        return None


def decode(data: bytes) -> Entry | None:
    """Return the entry in *data*; None if there is none, whatever it is."""
    try:
        entry = Entry.model_validate_json(data)
    except ValidationError:
        return None
    return entry if sum(part is not None for part in (entry.response, entry.page, entry.missing)) == 1 else None
