"""What a cache keeps of an answer: our own values as JSON, checked when they are
read.
"""

from __future__ import annotations
import time
from datetime import UTC, datetime
from math import inf
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...errors import PageNotFound
from ...models import Page, SearchResponse
from .http import Lifetime, Validators

VERSION = 1  # of the entries; also a part of their keys
_FUTURE = 60.0  # seconds; clocks differ
_ANY = Lifetime()


class _Missing(BaseModel):
    """A page that does not exist, as an error says it."""

    model_config = ConfigDict(extra="forbid")

    message: str
    provider: str | None = None
    status: int | None = None


class Entry(BaseModel):
    """An answer, and when it was given: a response, a page, or that there is no
    page.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1  # of the format
    # seconds since the epoch, within what a date can express
    stored: float = Field(ge=0, lt=1e11)
    response: SearchResponse | None = None
    page: Page | None = None
    missing: _Missing | None = None
    partial: bool = False  # whether a part of the response failed
    # seconds in which the site of a page lets it be given without asking, if it says so
    fresh: float | None = None
    # seconds after that in which it lets it be given if it cannot be asked, if it says
    # so
    stale: float | None = None
    validators: Validators | None = None  # how to ask whether a page has changed

    @classmethod
    def of(
        cls,
        answer: SearchResponse | Page | PageNotFound,
        lifetime: Lifetime = _ANY,
        validators: Validators | None = None,
    ) -> Entry:
        """Return an entry of *answer*, as of now."""
        missing = None
        if isinstance(answer, PageNotFound):
            missing = _Missing(
                message=answer.message, provider=answer.provider, status=answer.status
            )
        return cls.model_construct(
            stored=time.time(),
            response=answer if isinstance(answer, SearchResponse) else None,
            page=answer if isinstance(answer, Page) else None,
            missing=missing,
            partial=getattr(answer, "_is_partial", False),
            fresh=_as_bound(lifetime.fresh),
            stale=_as_bound(lifetime.stale),
            validators=validators,
        )

    def renew(self, lifetime: Lifetime) -> Entry:
        """Return the same, as of now: its site says that it holds, and perhaps for how
        long.
        """
        update = {"stored": time.time()}
        for name in ("fresh", "stale"):
            bound = _as_bound(getattr(lifetime, name))
            if bound is not None:
                update[name] = bound
        return self.model_copy(update=update)

    @property
    def age(self) -> float:
        """Return how old it is, in seconds; ``inf`` if it claims to be from the
        future.
        """
        age = time.time() - self.stored
        return age if age > -_FUTURE else float("inf")

    @property
    def is_brief(self) -> bool:
        """Return whether it is kept only for a moment, since the next answer may be
        another one.
        """
        return self.partial or self.missing is not None

    @property
    def answer(self) -> SearchResponse | Page | PageNotFound:
        if self.missing:
            return PageNotFound(
                self.missing.message,
                provider=self.missing.provider,
                status=self.missing.status,
            )
        if self.page:
            return self.page.model_copy(
                update={"fetched_at": datetime.fromtimestamp(self.stored, UTC)}
            )
        assert self.response is not None
        return self.response


def _as_bound(seconds: float) -> float | None:
    return seconds if seconds < inf else None


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
    return (
        entry
        if sum(part is not None for part in (entry.response, entry.page, entry.missing))
        == 1
        else None
    )
