"""The context variables of a blocking call."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context, copy_context
from typing import TypeVar

T = TypeVar("T")


def run_apart(work: Callable[[], T]) -> T:
    """
    Call *work* in a copy of the context, so that Ctrl-C cannot leave a deadline of it behind.

    Variables that an application sets there, in a hook or a provider, are set here as well when it ends.
    """
    context = copy_context()
    try:
        answer = context.run(work)
    except Exception:
        _set_as_in(context)
        raise
    _set_as_in(context)
    return answer


def _set_as_in(context: Context) -> None:
    for variable, value in context.items():
        if variable.name.startswith("websearch_"):  # our own are for the call alone
            continue
        try:
            is_set = variable.get() is value
        except LookupError:
            is_set = False
        if not is_set:
            variable.set(value)
