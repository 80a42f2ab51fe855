"""The events of `websearch_core.events` as LlamaIndex instrumentation events.

::

    class Show(BaseEventHandler):
        def handle(self, event, **kwargs):
            if isinstance(event, WebSearchEvent):
                print(event.name, event.data)

    get_dispatcher().add_event_handler(Show())
"""

from __future__ import annotations
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.events import BaseEvent

from websearch_core.events import Event, listen

__all__ = ["WebSearchEvent", "report"]

_dispatcher = get_dispatcher(__name__)


class WebSearchEvent(BaseEvent):
    """Something that happened during a search or the reading of a page.

    Args:
        name: What it is, such as ``search_start``, ``wait`` or ``read_end``.
        data: Its facts as plain data, as `websearch_core.events.Event.as_json` returns
            them.
    """

    name: str
    data: dict[str, Any]

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the class, which LlamaIndex stores."""
        return "WebSearchEvent"


@contextmanager
def report() -> Iterator[None]:
    """Dispatch the events of this block, in the span of LlamaIndex that is open."""
    with listen(_dispatch):
        yield


def _dispatch(event: Event) -> None:
    _dispatcher.event(WebSearchEvent(name=event.name, data=event.as_json()))
