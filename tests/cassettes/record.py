"""Record the cassettes of a provider again: ``make record PROVIDER=searxng``.

Keys come from the environment, as in normal use. Each cassette of the provider names
its call. The call is made for real; if it ends as the cassette expects (with success or
the same error), the new exchanges replace the old ones, and the fields that the service
has added, left out or changed are listed. Only the headers that we read are kept, and a
cassette that would contain a key is not written.
"""

from __future__ import annotations
import argparse
import os
import re
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import vcr  # type: ignore[import-untyped]
import yaml

from tests.cassettes import tape as tapes
from tests.cassettes.shape import Shape, compare, shape_of
from websearch_core import WebSearchError
from websearch_core.provider._declare import environment
from websearch_core.providers import provider_class
from websearch_core.testing._cassettes import REQUEST_HEADERS, RESPONSE_HEADERS

Exchanges = list[dict[str, Any]]


class Text(str):
    """A body that is written as several lines."""

    __slots__ = ()


def _block(dumper: yaml.SafeDumper, text: Text) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style="|")


yaml.SafeDumper.add_representer(Text, _block)


def make_call(tape: tapes.Tape) -> tuple[tapes.Outcome, Exchanges]:
    """Make the call of *tape* for real, with the key from the environment; return what
    came of it, without any key.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tape.yaml"
        recorder = vcr.VCR(
            record_mode="all",
            decode_compressed_response=True,
            filter_query_parameters=tapes.SECRET_PARAMETERS,
        )
        with recorder.use_cassette(str(file)):
            outcome = tapes.call(tape, keyless=True)
        raw = (
            yaml.load(file.read_text("utf-8"), yaml.CSafeLoader)
            if file.exists()
            else {"interactions": []}
        )
    return outcome, [_scrub(exchange) for exchange in raw["interactions"]]


def record(path: Path, source: str) -> str:
    """Record one cassette, and return the outcome in words, with the fields that have
    changed.
    """
    old = tapes.load(path)
    outcome, exchanges = make_call(old)
    expected, found = old["expect"].get("error"), getattr(outcome, "code", None)
    if expected != found:
        return f"unchanged: {found or 'success'} instead of {expected or 'success'}"
    if not exchanges:
        return "unchanged: nothing was sent"
    host = urlsplit(exchanges[0]["request"]["uri"]).netloc
    call = {
        name: value
        for name, value in old.items()
        if name not in {"expect", "version", "interactions"}
    }
    tape = {**call, "expect": _facts(outcome), "version": 1, "interactions": exchanges}
    made = f"# recorded {datetime.now(UTC):%Y-%m-%d} from {source or host}\n"
    text = made + yaml.safe_dump(tape, allow_unicode=True, sort_keys=False, width=110)
    if any(key in text for key in _keys()):
        return "unchanged: the exchange contains a key"
    path.write_text(text, "utf-8")
    differences = compare(first_shape(old["interactions"]), first_shape(exchanges))
    return "".join(
        ["recorded", *(f"\n  {line}" for lines in differences for line in lines)]
    )


def first_shape(exchanges: Exchanges) -> Shape:
    """Return the shape of the first answer."""
    body = exchanges[0]["response"]["body"]["string"] if exchanges else ""
    return shape_of(body if isinstance(body, str) else body.decode("utf-8", "replace"))


def _facts(outcome: tapes.Outcome) -> dict[str, Any]:
    data = tapes.facts(outcome)
    if isinstance(outcome, WebSearchError):
        return data
    if "results" in data:
        results = [
            {
                name: result[name]
                for name in ("title", "url", "snippet", _date_of(result))
            }
            for result in data["results"]
        ]
        return {
            "provider": data["provider"],
            "results": results,
            "answer": data["answer"],
            "notes": list(data["notes"]),
        }
    names = (
        "provider",
        "final_url",
        "title",
        "language",
        "media_type",
        "content_length",
        "truncated",
    )
    return {**{name: data[name] for name in names}, "content": Text(data["content"])}


def _date_of(result: dict[str, Any]) -> str:
    """Return where the date is: the day that ``2 hours ago`` means differs with each
    replay.
    """
    return "published_text" if result["published_text"] else "published"


def _scrub(exchange: dict[str, Any]) -> dict[str, Any]:
    request, response = exchange["request"], exchange["response"]
    body = response["body"]["string"]
    return {
        "request": {
            "body": request["body"] or "",
            "headers": _keep(request["headers"], REQUEST_HEADERS),
            "method": request["method"],
            "uri": request["uri"],
        },
        "response": {
            "body": {"string": Text(body) if isinstance(body, str) else body},
            "headers": _keep(response["headers"], RESPONSE_HEADERS),
            "status": response["status"],
        },
    }


def _keep(headers: dict[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in headers.items() if name.lower() in names}


def _keys() -> list[str]:
    names = [
        name
        for path in tapes.FOLDER.iterdir()
        for several in environment(provider_class(path.name)).values()
        for name in several
    ]
    return [
        value
        for name in names
        if re.search("KEY|TOKEN", name) and (value := os.environ.get(name, ""))
    ]


def main() -> int:
    """Record the cassettes that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument(
        "provider", help="a folder of cassettes: tavily, or searxng/searx"
    )
    parser.add_argument(
        "scenarios", nargs="*", help="names of cassettes (default: all of the provider)"
    )
    parser.add_argument(
        "--source",
        default="",
        help="a name for the service, if its host name is not enough",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=tapes.FOLDER,
        help="where the cassettes are (default: %(default)s)",
    )
    arguments = parser.parse_args()
    tapes.FOLDER = arguments.folder.resolve()
    if why := tapes.why_not_recorded(arguments.provider):
        print(
            f"{arguments.provider}: {why}; write its cassettes from the documentation",
            file=sys.stderr,
        )
        return 2
    for path in tapes.find_tapes(arguments.provider.rstrip("/")):
        if not arguments.scenarios or path.stem in arguments.scenarios:
            print(f"{tapes.name_of(path)}: {record(path, arguments.source)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
