"""A search service and its one page, on this machine, for programs that run in a new
interpreter.
"""

from __future__ import annotations
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_PAGE = b"<title>Kelp</title><h1>Kelp</h1><p>Kelp is a brown alga of the northern seas, and grows half a metre a day."


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Do not log."""

    def do_GET(self) -> None:
        hit = {"title": "Kelp", "url": f"{url}/kelp", "description": "About kelp."}
        found = {"type": "search", "web": {"results": [hit]}}
        search = self.path.startswith("/web/search")
        body = json.dumps(found).encode() if search else _PAGE
        self.send_response(200)
        self.send_header("Content-Type", "application/json" if search else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


_server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
threading.Thread(target=_server.serve_forever, daemon=True).start()

url = f"http://127.0.0.1:{_server.server_port}"
arguments = {
    "provider": "brave",
    "api_key": "SECRET-of-a-test",
    "base_url": url,
    "internal": [url],
}
