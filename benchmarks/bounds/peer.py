"""Read one document with another library: name of the library, then the file; prints
the seconds of processor time.
"""

from __future__ import annotations
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path


def _serve(body: bytes) -> str:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def main(name: str, path: str) -> None:
    """Import first, then measure."""
    body = Path(path).read_bytes()
    if name == "feedparser":
        import feedparser

        work = lambda: feedparser.parse(body)  # noqa: E731
    elif name == "trafilatura":
        import trafilatura

        work = lambda: trafilatura.extract(body.decode(), with_metadata=True)  # noqa: E731
    else:
        from langchain_community.document_loaders import WebBaseLoader

        work = WebBaseLoader(_serve(body)).load
    begin = time.process_time()
    work()  # type: ignore[no-untyped-call,unused-ignore]
    print(time.process_time() - begin)


main(*sys.argv[1:])
