"""A search service and its one page, on this machine, for programs that run in a new
interpreter.
"""

from __future__ import annotations

from tests.server import Received, Server, http

_PAGE = "<title>Kelp</title><h1>Kelp</h1><p>Kelp is a brown alga of the northern seas, and grows half a metre a day."


def _reply(request: Received) -> bytes:
    path = request[0]
    if not path.startswith("/web/search"):
        return http(_PAGE, "200 OK", "Content-Type: text/html")
    hit = {"title": "Kelp", "url": f"{url}/kelp", "description": "About kelp."}
    return http({"type": "search", "web": {"results": [hit]}})


url = Server(reply=_reply).url
arguments = {
    "provider": "brave",
    "api_key": "SECRET-of-a-test",
    "base_url": url,
    "internal": [url],
}
