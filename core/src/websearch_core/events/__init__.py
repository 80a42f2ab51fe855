"""What happens during a call, for logs, metrics, traces and progress bars.

::

    def show(event: Event) -> None:
        print(event.name, event.as_json())

    web = WebSearch(on_event=show)

A call is a `SearchStart`, an `Exchange` for each HTTP request, and a `SearchEnd`; a
page has a `ReadStart` and a `ReadEnd`. In between, layers say what they do: a `Wait`
before another attempt, a `Failover` to the next provider. Your own layers announce
theirs with `emit`; it needs no `WebSearch`, because the hook is a context variable.

A hook is called where the event happens: in the thread or task of the call, with its
context variables (such as the current span of OpenTelemetry), and between two requests,
so it has to be quick. Pages that are read concurrently by blocking code call it from
several threads. What it raises is logged once, and does not affect the call.
"""

from __future__ import annotations
from typing import TYPE_CHECKING

from .._runtime.lazy import importer
from ._hooks import Event, Hook, emit, listen

if TYPE_CHECKING:
    from ._built_in import (
        BreakerClosed,
        BreakerOpened,
        CacheHit,
        CallShared,
        Charge,
        Exchange,
        Failover,
        HedgeStarted,
        ProviderSkipped,
        ReadEnd,
        ReadStart,
        SearchEnd,
        SearchStart,
        Wait,
    )  # fmt: skip

__all__ = [
    "BreakerClosed", "BreakerOpened", "CacheHit", "CallShared", "Charge", "Event",
    "Exchange", "Failover",
    "HedgeStarted", "Hook", "ProviderSkipped", "ReadEnd", "ReadStart", "SearchEnd",
    "SearchStart", "Wait", "emit",
    "listen",
]  # fmt: skip

# type checkers see the imports above; with this function, they would accept any name
if not TYPE_CHECKING:
    # when the first event happens: making a tool needs none
    __getattr__ = importer(__name__, dict.fromkeys(__all__, "_built_in"))


def __dir__() -> list[str]:
    return [*__all__]
