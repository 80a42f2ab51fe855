"""Pass the events of a call to the run that it belongs to, as LangChain's custom
events.

Their names are those of `websearch_core.events` after ``websearch.``:
``websearch.search_start``, ``websearch.wait`` and so on. Callback handlers get them in
``on_custom_event``, and ``astream_events`` streams them under that name. In a graph of
LangGraph, ``stream_mode="custom"`` streams them as ``{"name": "websearch.search_start",
"data": {...}}``.
"""

from __future__ import annotations
import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import (
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    AsyncCallbackManagerForToolRun,
    AsyncParentRunManager,
    BaseCallbackManager,
    CallbackManagerForRetrieverRun,
    CallbackManagerForToolRun,
    Callbacks,
    ParentRunManager,
    adispatch_custom_event,
    dispatch_custom_event,
)
from langchain_core.runnables import RunnableConfig, ensure_config

from websearch_core.events import Event, listen
from websearch_core.tools import as_error

_PREFIX = "websearch."

Run = CallbackManagerForToolRun | CallbackManagerForRetrieverRun
AsyncRun = AsyncCallbackManagerForToolRun | AsyncCallbackManagerForRetrieverRun


@contextmanager
def report(run: Run | Callbacks) -> Iterator[None]:
    """Dispatch the events of this block to *run* and to the stream of its graph; if
    nobody would hear, do nothing.

    *run* may also be what LangChain passes on from one: the callbacks of a child.
    """
    with _stream():
        if (config := _find_config(run)) is None:
            yield
            return
        with listen(
            lambda event: dispatch_custom_event(
                f"{_PREFIX}{event.name}", event.as_json(), config=config
            )
        ):
            yield


@asynccontextmanager
async def areport(run: AsyncRun | Callbacks) -> AsyncIterator[None]:
    """Do the same on an event loop, where handlers may be async: one task dispatches
    all events, in order.
    """
    if (config := _find_config(run)) is None:
        with _stream():
            yield
        return
    waiting: asyncio.Queue[Event | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    async def dispatch() -> None:
        while (event := await waiting.get()) is not None:
            try:
                await adispatch_custom_event(
                    f"{_PREFIX}{event.name}", event.as_json(), config=config
                )
            except Exception as bug:  # noqa: BLE001 - logged; a call does not fail because nobody could watch it
                as_error(bug, f"{_PREFIX}{event.name}")

    task = loop.create_task(dispatch())
    try:
        with (
            _stream(),
            listen(lambda event: loop.call_soon_threadsafe(waiting.put_nowait, event)),
        ):
            yield
    finally:
        loop.call_soon_threadsafe(waiting.put_nowait, None)
        await task


def _stream() -> AbstractContextManager[None]:
    """Write the events of a block to the stream of the graph around it, for
    ``stream_mode="custom"``.
    """
    # LangGraph is not always installed; it keeps the writer, which does nothing in
    # other modes, in the config.
    runtime = (ensure_config().get("configurable") or {}).get("__pregel_runtime")
    write = getattr(runtime, "stream_writer", None)
    if write is None:
        return nullcontext()
    return listen(
        lambda event: write({"name": f"{_PREFIX}{event.name}", "data": event.as_json()})
    )


def _find_config(run: Run | AsyncRun | Callbacks) -> RunnableConfig | None:
    """Return the config to dispatch the events of *run* with; None if nobody would hear
    of them.
    """
    callbacks = (
        run.get_child()
        if isinstance(run, ParentRunManager | AsyncParentRunManager)
        else run
    )
    if (
        not isinstance(callbacks, BaseCallbackManager)
        or callbacks.parent_run_id is None
        or not callbacks.handlers
    ):
        return None
    return RunnableConfig(callbacks=callbacks)
