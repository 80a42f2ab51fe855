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
def report(
    run: Run | Callbacks, config: RunnableConfig | None = None
) -> Iterator[None]:
    """Dispatch the events of this block to *run* and to the stream of its graph; if
    nobody would hear, do nothing.

    *run* may also be what LangChain passes on from one: the callbacks of a child.
    *config* is that of the run, by default the one around the block.
    """
    target = _find_target(run)
    if target is None:
        with _stream(config):
            yield
        return

    def dispatch(event: Event) -> None:
        dispatch_custom_event(_name(event), event.as_json(), config=target)

    with _stream(config), listen(dispatch):
        yield


@asynccontextmanager
async def areport(
    run: AsyncRun | Callbacks, config: RunnableConfig | None = None
) -> AsyncIterator[None]:
    """Do the same on an event loop, where handlers may be async: one task dispatches
    all events, in order.
    """
    target = _find_target(run)
    if target is None:
        with _stream(config):
            yield
        return
    queue: asyncio.Queue[Event | None] = asyncio.Queue()  # None ends it
    loop = asyncio.get_running_loop()

    def put(event: Event | None) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, event)

    task = loop.create_task(_dispatch(queue, target))
    try:
        with _stream(config), listen(put):
            yield
    finally:
        put(None)
        await task


async def _dispatch(queue: asyncio.Queue[Event | None], target: RunnableConfig) -> None:
    while True:
        event = await queue.get()
        if event is None:
            return
        try:
            await adispatch_custom_event(_name(event), event.as_json(), config=target)
        except Exception as bug:  # noqa: BLE001 - logged: a call does not fail because of who watches it
            as_error(bug, _name(event))


def _name(event: Event) -> str:
    return f"{_PREFIX}{event.name}"


def _stream(config: RunnableConfig | None) -> AbstractContextManager[None]:
    """Write the events of a block to the stream of the graph around it, for
    ``stream_mode="custom"``.
    """
    # LangGraph is not always installed; it keeps the writer, which does nothing in
    # other modes, in the config.
    if config is None:
        config = ensure_config()
    runtime = (config.get("configurable") or {}).get("__pregel_runtime")
    write = getattr(runtime, "stream_writer", None)
    if write is None:
        return nullcontext()

    def write_event(event: Event) -> None:
        write({"name": _name(event), "data": event.as_json()})

    return listen(write_event)


def _find_target(run: Run | AsyncRun | Callbacks) -> RunnableConfig | None:
    """Return the config to dispatch the events of *run* with; None if nobody would hear
    of them.
    """
    callbacks: object = run
    if isinstance(run, ParentRunManager | AsyncParentRunManager):
        if not run.inheritable_handlers:
            return None
        callbacks = run.get_child()
    if not isinstance(callbacks, BaseCallbackManager):
        return None
    if callbacks.parent_run_id is None or not callbacks.handlers:
        return None
    return RunnableConfig(callbacks=callbacks)
