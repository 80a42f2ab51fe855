"""Resolve the packages of development, and write them with hashes to requirements.txt.

    make lock                # upgrade all of them
    make lock PACKAGE=h11    # upgrade one, and leave the others as they are

One file serves every Python and system: entries have markers. It names no package
index. What the demo needs comes first, so that ``.ci/locked demo`` can cut it off.
"""

from __future__ import annotations
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_LOCKED = "requirements.txt"
_HEAD = """\
# Every package of development with its hashes, for each Python and system. Written by `make lock`.
# Has no wheels, and is needed by blockbuster:
--no-binary forbiddenfruit
# For the demo (.ci/locked demo):
"""
_REST = "# For development, as well:\n"
_PROJECTS = (
    "core/pyproject.toml",
    "langchain_websearch/pyproject.toml",
    "llamaindex_websearch/pyproject.toml",
)
_EXTRAS = ("cli", "keyring", "mcp", "office", "otel", "pdf", "redis", "testing", "yaml")
_OWN = ("websearch-core", "langchain-websearch", "llamaindex-websearch")


def split(locked: str) -> dict[str, str]:
    """Return the entry of each package in a file of requirements, by its name and its
    marker: a package may have an entry for each of several Pythons.
    """
    entries = re.split(r"\n(?! )", locked.strip())
    lines = {entry.partition(" \\")[0]: entry for entry in entries}
    return {line: entry for line, entry in lines.items() if "==" in line}


def write(development: str, demo: str) -> str:
    """Return the text of requirements.txt, made of what `uv` resolved for development
    and for the demo.
    """
    entries = split(development)
    names = {line.partition("==")[0] for line in split(demo)}
    first = [e for line, e in entries.items() if line.partition("==")[0] in names]
    rest = [e for line, e in entries.items() if line.partition("==")[0] not in names]
    return _HEAD + "\n".join(first) + "\n" + _REST + "\n".join(rest) + "\n"


def resolve(uv: str, output: Path, *arguments: str) -> str:
    """Return what *uv* resolves the projects to; versions that are in *output* stay."""
    options = ["--universal", "--python-version", "3.11", "--generate-hashes"]
    options += ["--no-annotate", "--no-header", "--no-emit-index-url", "--quiet"]
    options += [f"--no-emit-package={name}" for name in _OWN]
    command = [uv, "pip", "compile", *options, *arguments, "--output-file", str(output)]
    subprocess.run([*command, *_PROJECTS], cwd=_ROOT, check=True, stdout=sys.stderr)
    return output.read_text("utf-8")


def main(arguments: list[str]) -> None:
    """Write requirements.txt."""
    parser = argparse.ArgumentParser(prog="lock", description=__doc__)
    parser.add_argument("--uv", default="uv", help="the program")
    parser.add_argument("package", nargs="?", default="", help="upgrade only this one")
    chosen = parser.parse_args(arguments)
    upgrade = f"--upgrade-package={chosen.package}" if chosen.package else "--upgrade"
    locked = _ROOT / _LOCKED
    names = {line.partition("==")[0] for line in split(locked.read_text("utf-8"))}
    if chosen.package and chosen.package not in names:
        sys.exit(f"{_LOCKED} has no {chosen.package!r}")
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "development.txt")
        output.write_text("\n".join(split(locked.read_text("utf-8")).values()), "utf-8")
        extras = [f"--extra={name}" for name in _EXTRAS]
        development = resolve(
            chosen.uv, output, *extras, "--group=pyproject.toml:dev", upgrade
        )
        demo = resolve(
            chosen.uv,
            Path(folder, "demo.txt"),
            "--extra=cli",
            "--group=pyproject.toml:demo",
            f"--constraint={output}",
        )
    locked.write_text(write(development, demo), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
