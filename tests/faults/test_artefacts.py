"""What a run leaves behind: files, logs, events, errors, pickles. None of it holds the
key.
"""

from __future__ import annotations
import asyncio
import base64
import json
import logging
import pickle
import traceback
from contextlib import closing
from urllib.parse import quote

import pytest

from tests.faults.run import WAYS
from tests.server import Server, http
from websearch_core import WebSearch
from websearch_core.errors import WebSearchError
from websearch_core.layers import Retry

pytestmark = pytest.mark.enable_socket
KEY = "tvly-SECRET/of+a=test-0123456789"
SPELLINGS = {
    KEY,
    quote(KEY),
    quote(KEY, safe=""),
    base64.b64encode(KEY.encode()).decode().rstrip("="),
}
# what is left of it if a text is cut before it is redacted
TRACES = SPELLINGS | {KEY[:16], KEY[-16:]}


def repeat(status, kind="application/json"):
    """An answer that repeats the key in its headers and, in every spelling, in its
    body.
    """
    echo = {
        "error": list(SPELLINGS),
        "results": [{"url": f"https://a.example/?k={quote(KEY)}", "title": KEY}],
    }
    return http(
        json.dumps(echo | {"detail": KEY}),
        status,
        f"Content-Type: {kind}",
        f"X-Echo: {KEY}",
        f"Location: /{KEY}",
    )


ANSWERS = [
    repeat(status)
    for status in (
        "200 OK",
        "302 Found",
        "400 Bad",
        "401 No",
        "402 Pay",
        "403 No",
        "404 No",
        "429 Slow",
        "500 Oops",
    )
] + [
    repeat("200 OK", "text/html"),
    http(f"not JSON: {KEY}"),
    http(f"<p>{KEY}", "500 Oops", "Content-Type: text/html"),
]


@pytest.mark.parametrize("way", WAYS)
def test_no_artefact_of_a_run_holds_the_key(tmp_path, way, caplog):
    caplog.set_level(logging.DEBUG)
    for name in ("httpx", "httpcore", "websearch_core"):
        caplog.set_level(logging.DEBUG, name)
    shown, events = [], []
    for number, answer in enumerate(ANSWERS):
        with (
            closing(Server([answer])) as server,
            WebSearch(
                "tavily",
                api_key=KEY,
                base_url=server.url,
                cache=str(tmp_path / "answers.db"),
                budget="1000 calls/day",
                retry=Retry(wait_initial=0),
                on_event=events.append,
            ) as web,
        ):
            shown += [
                repr(web),
                repr(web.provider),
                pickle.dumps(web).decode("latin-1"),
            ]
            try:
                query = f"kelp {number}"
                found = (
                    web.search(query)
                    if way == "blocking"
                    else asyncio.run(web.asearch(query))
                )
                shown += [found.model_dump_json(), repr(found)]
            except WebSearchError as error:
                shown += traceback.format_exception(error)
                shown += [
                    repr(error),
                    str(error.detail),
                    repr(vars(error)),
                    pickle.dumps(error).decode("latin-1"),
                ]
            assert len(server.requests[0][1]["authorization"]) > len(KEY)

    files = {
        path: path.read_bytes().decode("latin-1")
        for path in tmp_path.rglob("*")
        if path.is_file()
    }
    assert any(path.name == "answers.db" for path in files)
    everything = {
        "what is shown": "\n".join([*shown, *map(repr, events)]),
        "the log": caplog.text,
        **files,
    }
    assert len(caplog.text) > 1000
    assert [
        (str(place), one)
        for place, text in everything.items()
        for one in TRACES
        if one in text
    ] == []
