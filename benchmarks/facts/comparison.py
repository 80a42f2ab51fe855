"""Run ``websearch compare`` on the facts, and write its table into ``docs/compare.md``.

    python -m benchmarks.facts.comparison

The pages are served on this machine and put into a local index;
``../shared/corpora`` has them.
"""

from __future__ import annotations
import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from benchmarks.facts.__main__ import find_missing, load_facts, load_pages
from training.corpus import CONTENT_TYPE
from websearch_core.index import Index
from websearch_core.reading import read_html

PAGE = Path(__file__).resolve().parents[2] / "docs" / "compare.md"
_BEGIN, _END = (
    "<!-- begin facts: written by python -m benchmarks.facts.comparison -->\n",
    "<!-- end facts -->",
)
_MAX_TOKENS = 500


def serve(pages: dict[str, bytes]) -> ThreadingHTTPServer:
    """Serve *pages* by their paths on this machine, in a thread."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            data = pages.get(self.path)
            self.send_response(200 if data else 404)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(data or b"")))
            self.end_headers()
            self.wfile.write(data or b"")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def compare(folder: Path) -> str:
    """Index the pages, ask the questions, and return what the command prints."""
    facts = load_facts()
    pages = load_pages({fact.page for fact in facts})
    known = {name: data for name, (data, _) in pages.items()}
    server = serve({f"/{name}": data for name, data in known.items()})
    home = f"http://127.0.0.1:{server.server_address[1]}"
    index = Index(folder / "index.db")
    for name, data in known.items():
        index.add(read_html(data, f"{home}/{name}", CONTENT_TYPE))
    questions = folder / "questions.jsonl"
    lines = (
        json.dumps({"question": fact.question, "answer": fact.answer}) for fact in facts
    )
    questions.write_text("\n".join(lines) + "\n", "utf-8")
    environment = {
        "WEB_SEARCH_INDEX": str(folder / "index.db"),
        "WEB_SEARCH_INTERNAL": home,
        "NO_COLOR": "1",
    }
    options = ["-p", "local", "-r", "direct", "--max-tokens", str(_MAX_TOKENS)]
    done = subprocess.run(
        [sys.executable, "-m", "websearch_core", "compare", str(questions), *options],
        env={**os.environ, **environment, "COLUMNS": "160"}, cwd=folder, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    server.shutdown()
    return done.stdout


def main() -> int:
    """Write the table, or say why not."""
    missing = find_missing()
    if missing:
        print(f"skipped: there is no {', '.join(missing)}", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        table = compare(Path(folder))
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    command = (
        f"$ websearch compare facts.jsonl -p local -r direct --max-tokens {_MAX_TOKENS}"
    )
    PAGE.write_text(
        f"{before}{_BEGIN}\n```console\n{command}\n{table.rstrip()}\n```\n\n{_END}{after}",
        "utf-8",
    )
    print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
