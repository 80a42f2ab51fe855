"""The server of the pages: ``with serve() as origin``."""

from __future__ import annotations
import html
import json
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from urllib.parse import parse_qs, urlsplit

from tests.server import Answer, Received, Server, head, http

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
    site = _Site([] if accepted is None else accepted, more)
    with Server(reply=site.reply) as server:
        yield server.url


class _Site:
    """Makes the answers."""

    def __init__(self, accepted: list[str], more: Mapping[str, str]) -> None:
        self.accepted = accepted
        self.more = more

    def reply(self, request: Received) -> Answer:
        """Answer a request."""
        asked = urlsplit(request[0])
        options = {
            name: values[-1]
            for name, values in parse_qs(asked.query, keep_blank_values=True).items()
        }
        if "accepted" in options or asked.path == "/plain/accepted":
            self.accepted.append(request[0])
        return self._answer(asked.path, options)

    def _answer(self, path: str, options: dict[str, str]) -> Answer:
        kind, _, name = path.removeprefix("/").partition("/")
        if kind == "api":
            time.sleep(min(int(options.get("delay", 0)), 3_000) / 1_000)
            return self._answer_data(*name.partition("/")[::2], options)
        if (
            kind == "built"
            and (file := HERE / "built" / name).name == name
            and file.is_file()
        ):
            return self._send(file.read_bytes(), "text/javascript; charset=utf-8")
        if path in self.more:
            return self._send(
                self.more[path].encode(),
                f"text/{_TYPES.get(path.rpartition('.')[2], 'html')}; charset=utf-8",
            )
        if path == "/plain/chunked":
            return self._stream("text/html; charset=utf-8", _chunked_page())
        if kind == "plain" and (file := HERE / "plain" / f"{name}.html").is_file():
            return self._send(
                file.read_bytes(), "text/html; charset=utf-8", _POLICIES.get(name)
            )
        if path in _PATHS or kind == "react-router":
            framework = kind.partition("-")[0]
            return self._send(
                _shell(framework, kind).encode(), "text/html; charset=utf-8"
            )
        return self._send(b"there is no such page", "text/plain", status=404)

    def _answer_data(self, kind: str, name: str, options: dict[str, str]) -> Answer:
        if kind == "article" and name in TEXTS:
            return self._send_json(TEXTS[name])
        if kind == "rows":
            begin, count = int(options["from"]), int(options["count"])
            rows = [make_row(number) for number in range(begin, begin + count)]
            return self._send_json({"rows": rows, "isLast": begin + count >= MOST_ROWS})
        if kind == "session":
            return self._send_json({"list": "/api/list"})
        if kind == "list":
            return self._send_json({"name": "tide-tables"})
        if kind == "stream":
            said = "\n\n".join(TEXTS[name]["paragraphs"])
            size = len(said) // _PARTS + 1
            return self._stream(
                "text/plain; charset=utf-8",
                [said[at : at + size] for at in range(0, len(said), size)],
            )
        if kind == "script":
            return self._send(
                f"document.write({json.dumps(_article(name))});".encode(),
                "text/javascript",
            )
        return self._send(b'{"error": "out of order"}', "application/json", status=500)

    def _send_json(self, value: object) -> bytes:
        return self._send(json.dumps(value).encode(), "application/json")

    def _send(
        self,
        body: bytes,
        media_type: str,
        policy: str | None = None,
        *,
        status: int = 200,
    ) -> bytes:
        more = [f"Content-Security-Policy: {policy}"] if policy else []
        return http(body, f"{status} Status", f"Content-Type: {media_type}", *more)

    def _stream(self, media_type: str, parts: list[str]) -> Answer:
        begin = head(
            "200 OK", f"Content-Type: {media_type}", "Transfer-Encoding: chunked"
        )

        def answer(connection: socket.socket) -> None:
            connection.sendall(begin)
            for part in [*parts, ""]:
                data = part.encode()
                connection.sendall(b"%x\r\n%s\r\n" % (len(data), data))
                time.sleep(0.15)

        return answer


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
