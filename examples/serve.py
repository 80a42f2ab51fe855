"""Serve the small website in ``examples/site``, which the offline demo searches and
reads and the tests browse.

    python examples/serve.py --port 8000

Or for the duration of a block, on a free port::

    with Site() as site:
        httpx.get(site.url + "/docs/rotation/")
    site.hits  # ["/docs/rotation/"]

It listens only on 127.0.0.1 and needs only the standard library. `site/README.md` says
what each page is for.
"""

from __future__ import annotations
import argparse
import gzip
import html
import json
import re
import sys
import time
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

ROOT = Path(__file__).with_name("site")

# The address in robots.txt and sitemap.xml, which require one. The server replaces it
# with its own address.
PUBLISHED_AT = b"https://ellersund.example"

MOVED = {
    "/docs/rotate.html": "/docs/rotation/",
    "/handbook/rotate": "/docs/rotate.html",  # two hops
    "/timetable": "/ferries/",
}

# These declare their encoding only in <meta>, as many old pages do, so their header
# must not name one.
CHARSET_IN_META = {"/museum/de/", "/museum/ja/"}

# These also come as Markdown, to those who ask for it first.
AS_MARKDOWN = {"/docs/install/": "/docs/install/index.md"}

# Seconds until the first byte.
SLOW = {"/museum/logbook-1911.html": 0.3}

# Not from `mimetypes`, whose tables differ between machines.
CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".md": "text/markdown; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".xml": "application/xml",
}


def _list_files() -> dict[str, Path]:
    """Return every path that is served and its file. A path that is not listed cannot
    reach any file.
    """
    files = (
        file
        for file in ROOT.rglob("*")
        if file.suffix in CONTENT_TYPES and file != ROOT / "README.md"
    )
    return {
        "/" + file.relative_to(ROOT).as_posix().removesuffix("index.html"): file
        for file in files
    }


def _search(
    files: dict[str, Path], words: list[str], most: int
) -> list[dict[str, str]]:
    """Return the English pages with the most of *words*, as the search of the site
    does, which ``plugin/`` uses.
    """
    found = []
    for path, file in files.items():
        if path.endswith("/") and not CHARSET_IN_META & {path}:
            page = file.read_text("utf-8")
            title = re.search(r"<title>(.*?)</title>", page, re.DOTALL)
            text = " ".join(
                html.unescape(
                    re.sub(
                        r"<(script|style).*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL
                    )
                ).split()
            )
            score = sum(text.lower().count(word) for word in words)
            if title and score:
                at = min(
                    text.lower().find(word) for word in words if word in text.lower()
                )
                found.append(
                    (
                        score,
                        {
                            "path": path,
                            "title": title[1],
                            "excerpt": text[at : at + 160],
                        },
                    )
                )
    found.sort(key=lambda one: -one[0])
    return [hit for _, hit in found[:most]]


class Site(ThreadingHTTPServer):
    """The example site, served from a background thread for the duration of the
    ``with`` block.

    Args:
        port: The port to listen on; 0 means a free one.

    Attributes:
        hits: The path of every request so far, in order, without the query.

    Raises:
        OSError: The port is taken.
    """

    # with the default of 5, the sixth of a burst of connections waits a second
    request_queue_size = 128

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Visit)
        self.hits: list[str] = []
        self.files = _list_files()
        self.edits: dict[str, tuple[bytes, bytes]] = {}
        self._thread = Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    @property
    def url(self) -> str:
        """The base URL of the site, without a trailing slash."""
        return f"http://127.0.0.1:{self.server_port}"

    def edit(self, path: str, old: str, new: str) -> None:
        """Serve the page at *path* with *new* instead of *old* from now on; the file
        stays as it is.
        """
        self.edits[path] = old.encode(), new.encode()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect early, as some tests do on purpose; print any
        other error.
        """
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Visit(BaseHTTPRequestHandler):
    """One request. HTTP/1.0 closes the connection after it, so none is left open when
    the site closes.
    """

    server: Site

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.server.hits.append(path)
        time.sleep(SLOW.get(path, 0))
        if path == "/search.json":
            self._answer()
        elif path in MOVED:
            self._redirect(MOVED[path])
        elif path in AS_MARKDOWN and self.headers.get("Accept", "").startswith(
            "text/markdown"
        ):
            self._send(HTTPStatus.OK, path, self.server.files[AS_MARKDOWN[path]])
        elif file := self.server.files.get(path):
            self._send(HTTPStatus.OK, path, file)
        elif f"{path}/" in self.server.files:
            self._redirect(f"{path}/")
        else:
            self._send(HTTPStatus.NOT_FOUND, path, self.server.files["/404.html"])

    do_HEAD = do_GET  # the same answer; `_finish` omits the body

    def _answer(self) -> None:
        fields = parse_qs(urlsplit(self.path).query)
        words = " ".join(fields.get("q", [])).lower().split()
        most = fields.get("limit", ["10"])[0]
        status = HTTPStatus.OK if words and most.isdigit() else HTTPStatus.BAD_REQUEST
        problem = {"error": "q must have words, and limit must be a number"}
        answer = (
            {"hits": _search(self.server.files, words, int(most))}
            if status is HTTPStatus.OK
            else problem
        )
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self._finish(json.dumps(answer).encode())

    def _redirect(self, target: str) -> None:
        self.send_response(HTTPStatus.MOVED_PERMANENTLY)
        self.send_header("Location", target)
        self._finish(b"")

    def _send(self, status: HTTPStatus, path: str, file: Path) -> None:
        content_type = (
            "text/html" if path in CHARSET_IN_META else CONTENT_TYPES[file.suffix]
        )
        body = file.read_bytes().replace(*self.server.edits.get(path, (b"", b"")))
        if path in ("/robots.txt", "/sitemap.xml"):
            body = body.replace(PUBLISHED_AT, self.server.url.encode())
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header(
            "Vary",
            "Accept, Accept-Encoding" if path in AS_MARKDOWN else "Accept-Encoding",
        )
        if re.search(
            r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))",
            self.headers.get("Accept-Encoding", ""),
        ):
            self.send_header("Content-Encoding", "gzip")
            body = gzip.compress(body, mtime=0)
        self._finish(body)

    def _finish(self, body: bytes) -> None:
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: `Site.hits` is the log."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve the example site on 127.0.0.1.")
    parser.add_argument(
        "--port",
        type=int,
        default=8000,
        help="0 means a free one (default: %(default)s)",
    )
    with Site(parser.parse_args().port) as site, suppress(KeyboardInterrupt):
        print(f"{site.url} (press Ctrl+C to stop)", flush=True)
        while True:
            time.sleep(3600)


if __name__ == "__main__":
    main()
