"""Begin a provider: ``make provider NAME=beacon``.

Writes what CONTRIBUTING.md shows for Lighthouse, under another name: the file, its line
in the registry, its cassettes, and those of its failures.
"""

from __future__ import annotations
import argparse
import builtins
import keyword
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill

import websearch_core.provider as kit
from websearch_core._registry import registered_name
from websearch_core.errors import UnknownProvider

ROOT = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "CONTRIBUTING.md"
# What the service answers, and what it means.
_FAILURES = {
    "malformed": (200, "OK", '{"data": {"search": 3}}', "bad_response"),
    "quota": (
        402,
        "Payment Required",
        '{"error": "No credit is left"}',
        "quota_exhausted",
    ),
    "rate_limited": (
        429,
        "Too Many Requests",
        '{"error": "Slow down"}',
        "rate_limited",
    ),
    "wrong_key": (
        401,
        "Unauthorized",
        '{"error": "Unknown key"}',
        "authentication_failed",
    ),
}
_MAX_NAME = 30  # a longer name makes lines too long


class BadName(ValueError):
    """A provider cannot have this name; the message says why."""


def check_name(name: str) -> None:
    """Make sure that a new provider can be called *name*.

    Raises:
        BadName: It cannot.
    """
    if (
        not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name)
        or keyword.iskeyword(name)
        or len(name) > _MAX_NAME
    ):
        raise BadName(
            f"{name!r} is not a name for a provider: use up to {_MAX_NAME} of a-z, 0-9 "
            f"and _"
        )
    if class_name(name) in kit.__all__ or hasattr(builtins, class_name(name)):
        raise BadName(
            f"{name!r} is taken: the class would be called {class_name(name)}, as "
            f"something else is"
        )
    try:
        taken = registered_name(name)
    except UnknownProvider:
        return
    raise BadName(
        f"{name!r} is taken: it is the provider {taken}; `websearch providers` lists "
        f"them"
    )


def class_name(name: str) -> str:
    """Return the name of the class of the provider *name*: ``YouCom`` for
    ``you_com``.
    """
    return "".join(part.capitalize() for part in name.split("_"))


def write_provider(name: str) -> list[Path]:
    """Write the files of a new provider, and its line in the registry.

    Returns:
        What was written.

    Raises:
        BadName: There cannot be a provider of that name, or one of its files exists.
    """
    check_name(name)
    guide = _rename(GUIDE.read_text("utf-8"), name)
    blocks = re.findall(
        r"`([\w./]+\.(?:py|yaml))`:\n\n```\w+\n(.*?)^```",
        guide,
        re.MULTILINE | re.DOTALL,
    )
    files = {ROOT / path: text for path, text in [*blocks, *_write_failures(blocks)]}
    ((line, place),) = re.findall(
        rf'`("{name}": [^`]+)` in the table of\s+`([^`]+)`', guide
    )
    for path in files:
        if path.exists():
            raise BadName(f"{name!r} is taken: {path.relative_to(ROOT)} exists")
    registry = ROOT / place
    registered = _register(registry.read_text("utf-8"), line)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    registry.write_text(registered, "utf-8")
    return [*files, registry]


def _rename(text: str, name: str) -> str:
    # Not NAME.com: a host of somebody else's must not get the key before the true
    # address is filled in.
    text = text.replace(
        "https://lighthouse.example", f"https://{name.replace('_', '-')}.example"
    )
    return (
        text.replace("LIGHTHOUSE", name.upper())
        .replace("Lighthouse", class_name(name))
        .replace("lighthouse", name)
    )


def _write_failures(blocks: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield a cassette for each way to fail, made of the one that finds nothing."""
    ((path, nothing),) = [
        (path, text) for path, text in blocks if path.endswith("/nothing.yaml")
    ]
    for scenario, (code, phrase, body, error) in _FAILURES.items():
        text = nothing.replace(
            "code: 200, message: OK", f"code: {code}, message: {phrase}"
        )
        text = re.sub(r"expect: .*", f"expect: {{error: {error}}}", text)
        yield (
            path.replace("nothing", scenario),
            re.sub(r"string: .*\}", f"string: '{body}'}}", text),
        )


def _register(text: str, line: str) -> str:
    """Put *line* where it belongs in the table of built-in providers, which is
    sorted.
    """
    head, body, tail = re.split(
        r"(?s)(?<=_BUILT_IN: )(.*?)(?=\n\}\))", text, maxsplit=1
    )
    kind, *entries = re.split(r"\s+(?=\"\w+\":)", body)
    kept_whole = " ".join(
        entry.replace(" ", "\xa0") for entry in sorted([*entries, line])
    )
    table = fill(
        kept_whole, 88, initial_indent="    ", subsequent_indent="    "
    ).replace("\xa0", " ")
    return f"{head}{kind}\n{table}{tail}"


def main() -> int:
    """Write the provider that the command line names."""
    parser = argparse.ArgumentParser(description="Begin a provider.")
    parser.add_argument("name", help="what users will choose it by, such as lighthouse")
    name = parser.parse_args().name
    try:
        written = write_provider(name)
    except BadName as error:
        print(error, file=sys.stderr)
        return 2
    for path in written:
        print(path.relative_to(ROOT))
    print(
        "Now make them true: the addresses, what is sent, what comes back. "
        "CONTRIBUTING.md explains each part."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
