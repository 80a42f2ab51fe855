"""The server of the pages: ``with serve() as origin``."""

from __future__ import annotations
import html
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from urllib.parse import parse_qs, urlsplit

from .cases import CASES, HERE, MOST_ROWS, TEXTS, make_row

# and the id of the element that each fills
_FRAMEWORKS = {"react": "root", "vue": "app", "svelte": "svelte"}
_SHELL = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><meta name="viewport" content="width=device-width">
<style>.fade-enter-active {{ transition: opacity 2s }} .fade-enter-from {{ opacity: 0 }}</style></head>
<body><noscript>You need to enable JavaScript to run this app.</noscript>
<div id="{id}" data-page="{page}">{inside}</div><script src="/built/{framework}.js" defer></script></body></html>"""
_SERVER_SIDE = {
    "react-hydration": "<header><a href='/'>The Harbour Review</a></header><main><p>Rendered at 2026</p></main>"
}
# text/json is taken, too
_TYPES = {"js": "javascript", "json": "json", "events": "event-stream"}
_PARTS = 6
_PATHS = {case.path: case.name for case in CASES}


@contextmanager
def serve(
    accepted: list[str] | None = None, more: Mapping[str, str] = MappingProxyType({})
) -> Iterator[str]:
    """Serve the site, and return its origin.

    Args:
        accepted: Gets the path of each request that follows from accepting a consent
            wall.
        more: The HTML of more pages, by path, or a file with an ending of `_TYPES`.

    """
    handler = type(
        "Handler",
        (_Handler,),
        {"accepted": [] if accepted is None else accepted, "more": more},
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    accepted: list[str]
    more: Mapping[str, str]

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer."""
        asked = urlsplit(self.path)
        options = {
            name: values[-1]
            for name, values in parse_qs(asked.query, keep_blank_values=True).items()
        }
        if "accepted" in options or asked.path == "/plain/accepted":
            self.accepted.append(self.path)
        try:
            self._answer(asked.path, options)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _answer(self, path: str, options: dict[str, str]) -> None:
        kind, _, name = path.removeprefix("/").partition("/")
        if kind == "api":
            time.sleep(min(int(options.get("delay", 0)), 3_000) / 1_000)
            self._answer_data(*name.partition("/")[::2], options)
        elif (
            kind == "built"
            and (file := HERE / "built" / name).name == name
            and file.is_file()
        ):
            self._send(file.read_bytes(), "text/javascript; charset=utf-8")
        elif path in self.more:
            self._send(
                self.more[path].encode(),
                f"text/{_TYPES.get(path.rpartition('.')[2], 'html')}; charset=utf-8",
            )
        elif path == "/plain/chunked":
            self._stream("text/html; charset=utf-8", _chunked_page())
        elif kind == "plain" and (file := HERE / "plain" / f"{name}.html").is_file():
            self._send(
                file.read_bytes(), "text/html; charset=utf-8", _POLICIES.get(name)
            )
        elif path in _PATHS or kind == "react-router":
            framework = kind.partition("-")[0]
            self._send(_shell(framework, kind).encode(), "text/html; charset=utf-8")
        else:
            self._send(b"there is no such page", "text/plain", status=404)

    def _answer_data(self, kind: str, name: str, options: dict[str, str]) -> None:
        if kind == "article" and name in TEXTS:
            self._send_json(TEXTS[name])
        elif kind == "rows":
            begin, count = int(options["from"]), int(options["count"])
            rows = [make_row(number) for number in range(begin, begin + count)]
            self._send_json({"rows": rows, "isLast": begin + count >= MOST_ROWS})
        elif kind == "session":
            self._send_json({"list": "/api/list"})
        elif kind == "list":
            self._send_json({"name": "tide-tables"})
        elif kind == "stream":
            said = "\n\n".join(TEXTS[name]["paragraphs"])
            size = len(said) // _PARTS + 1
            self._stream(
                "text/plain; charset=utf-8",
                [said[at : at + size] for at in range(0, len(said), size)],
            )
        elif kind == "script":
            self._send(
                f"document.write({json.dumps(_article(name))});".encode(),
                "text/javascript",
            )
        else:
            self._send(b'{"error": "out of order"}', "application/json", status=500)

    def _send_json(self, value: object) -> None:
        self._send(json.dumps(value).encode(), "application/json")

    def _send(
        self,
        body: bytes,
        media_type: str,
        policy: str | None = None,
        *,
        status: int = 200,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        if policy:
            self.send_header("Content-Security-Policy", policy)
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, media_type: str, parts: list[str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in [*parts, ""]:
            data = part.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
            time.sleep(0.15)


_POLICIES = {
    "trusted-types": "default-src 'none'; connect-src 'self'; script-src 'nonce-n0nce'; require-trusted-types-for 'script'; "
    "trusted-types 'none'; sandbox allow-scripts allow-same-origin"
}


def _shell(framework: str, page: str) -> str:
    inside = _SERVER_SIDE.get(page, "")
    return _SHELL.format(
        title=page,
        id=_FRAMEWORKS[framework],
        page=page,
        inside=inside,
        framework=framework,
    )


def _article(name: str) -> str:
    text = TEXTS[name]
    return f"<h1>{html.escape(text['title'])}</h1>" + "".join(
        f"<p>{html.escape(one)}</p>" for one in text["paragraphs"]
    )


def _chunked_page() -> list[str]:
    """Return a page of which the second part arrives hidden, and is then put in its
    place, as React streams it.
    """
    move = (
        "<script>(() => { const gap = document.getElementById('B:0'), part = document.getElementById('S:0');"
        "gap.replaceWith(...part.childNodes); document.querySelector('.wait').remove(); part.remove(); })()</script>"
    )
    first, second = _article("kelp-farm"), _article("bee-hotel")
    return [
        '<!DOCTYPE html><html lang="en"><head><title>Two articles</title></head><body><header><a href="/">Home</a></header>',
        f'<main>{first}<template id="B:0"></template><p class="wait">Loading…</p></main>',
        f'<div hidden id="S:0">{second}</div>',
        move,
        "</body></html>",
    ]
