"""Pages that something other than our HTTP client gets: `Request.transport`."""

from __future__ import annotations
import asyncio
from concurrent.futures import Future

import pytest

from websearch_core._net.guard import Guard
from websearch_core._net.sender import Sender
from websearch_core._runtime.deadline import time_limit
from websearch_core.errors import TimedOut, Unavailable, UnsafeURL
from websearch_core.flow import Request, Response

URL = "http://93.184.215.14/a"


@pytest.fixture
def sender():
    return Sender(Guard(resolve=lambda host, port: []))


def answer(response=None, error=None):
    """Make a transport, and the list of what it is called with."""
    calls, future = [], Future()

    def transport(*arguments):
        calls.append(arguments)
        if response:
            future.set_result(response)
        elif error:
            future.set_exception(error)
        return future

    return transport, calls, future


@pytest.fixture(params=["blocking", "async"])
def send(request, sender):
    if request.param == "blocking":
        return sender.send
    return lambda page: asyncio.run(sender.asend(page))


def test_it_gets_the_request_in_canonical_form_the_guard_and_the_queue(send, sender):
    transport, calls, _ = answer(Response(status=200))

    assert (
        send(
            Request(url="HTTP://93.184.215.14:80/a", guarded=True, transport=transport)
        ).status
        == 200
    )
    ((request, guard, line, *_),) = calls
    assert (request.url, guard, line) == (URL, sender.guard, sender._lines[True])


def test_it_is_not_called_for_what_the_guard_forbids(send):
    transport, calls, _ = answer(Response(status=200))

    with pytest.raises(UnsafeURL):
        send(Request(url="http://127.0.0.1/", guarded=True, transport=transport))
    assert calls == []


@pytest.mark.parametrize("error", [Unavailable("gone"), UnsafeURL("no")])
def test_its_errors_are_raised(send, error):
    transport, _, _ = answer(error=error)

    with pytest.raises(type(error), match=str(error)):
        send(Request(url=URL, guarded=True, transport=transport))


def test_it_is_cancelled_at_the_deadline(send):
    transport, _, future = answer()

    with time_limit(0.1), pytest.raises(TimedOut):
        send(Request(url=URL, guarded=True, transport=transport))
    assert future.cancelled()


def test_its_own_timeout_is_ours(send):
    transport, _, _ = answer(error=TimeoutError())

    with pytest.raises((TimedOut, TimeoutError)):
        send(Request(url=URL, guarded=True, transport=transport))


def test_it_is_for_pages_only(send):
    transport, _, _ = answer(Response(status=200))

    with pytest.raises(AssertionError, match="guarded"):
        send(Request(url=URL, transport=transport))
