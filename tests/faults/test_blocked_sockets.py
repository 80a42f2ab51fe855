"""Sockets that pytest-socket blocks, as it does in every test without the mark
``enable_socket``.
"""

from __future__ import annotations
import asyncio

import pytest
import pytest_socket

from tests.faults.run import WAYS
from tests.faults.services import KEY
from websearch_core import WebSearch
from websearch_core.events import Wait
from websearch_core.settings import Settings


@pytest.mark.filterwarnings("ignore:A test tried to use")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("verb", ["search", "read"])
@pytest.mark.parametrize("several", [False, True], ids=["one", "several"])
def test_a_socket_that_a_test_blocks_is_raised_as_it_is(way, verb, several):
    events = []
    place = {"api_key": KEY, "base_url": "http://127.0.0.1:8000"}
    web = WebSearch(
        ["tavily", "brave"] if several else "tavily",
        reader=["direct", "jina"] if several else "direct",
        settings=Settings.load(
            providers={"tavily": place, "brave": place, "jina": place}
        ),
        internal=["127.0.0.0/8"],
        on_event=events.append,
    )
    what = "kelp" if verb == "search" else "http://127.0.0.1:8000/"

    with pytest.raises(pytest_socket.SocketBlockedError):
        getattr(web, verb)(what) if way == "blocking" else asyncio.run(
            getattr(web, f"a{verb}")(what)
        )
    assert [event for event in events if isinstance(event, Wait)] == []
