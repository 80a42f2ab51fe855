"""Pages that a service is not asked to open, though others of their request are."""

from __future__ import annotations
from collections.abc import Mapping

from ..errors import ServiceError, UnsafeURL, WebSearchError


class RefusedTargets(UnsafeURL):
    """Some of the targets of a `Request` are refused here, so that nothing was sent.

    ``refusals`` has the error of each of them by its URL. The others may be sent.
    """

    def __init__(self, refusals: Mapping[str, WebSearchError]) -> None:
        super().__init__(next(iter(refusals.values())).message)
        self.refusals = dict(refusals)

    def __reduce__(self) -> tuple[type[RefusedTargets], tuple[object]]:
        return RefusedTargets, (self.refusals,)


def refuse(refusals: Mapping[str, WebSearchError], count: int) -> None:
    """Raise the *refusals* of a request with *count* targets, if there are any: the
    error of the only target, or `RefusedTargets`.
    """
    for refusal in refusals.values():
        if isinstance(refusal, ServiceError):
            refusal.concerns_page = True
        refusal.concerns_caller = True
    if not refusals:
        return
    if count == 1:
        raise next(iter(refusals.values()))
    raise RefusedTargets(refusals)


def was_refused(answer: object) -> bool:
    """Return whether the *answer* to a page is that the service was not asked for
    it.
    """
    if isinstance(answer, UnsafeURL):
        return True
    concerns_page = getattr(answer, "concerns_page", False)
    return bool(concerns_page and getattr(answer, "concerns_caller", False))
