"""Fail where less is covered by tests, or by types, than the floors in pyproject.toml
([tool.floors]) ask for.

    python .ci/floors.py coverage build/coverage.json
    python .ci/floors.py types

Prints nothing when every floor holds, so that the last line of a test run stays the
last.
"""

from __future__ import annotations
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[1]


def main(kind: str, *paths: str) -> int:
    """Compare with the floors of *kind*, and return the exit status."""
    floors = tomllib.loads((_ROOT / "pyproject.toml").read_text("utf-8"))["tool"][
        "floors"
    ][kind]
    if kind == "types":
        failures = list(_types(floors))
    else:
        failures = list(
            _coverage(floors, json.loads(Path(paths[0]).read_text("utf-8")))
        )
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


def _coverage(floors: dict[str, float], measured: dict[str, Any]) -> Iterator[str]:
    """Each floor is for a module, or a package and all below it, as a path from where
    packages are installed.
    """
    for place, floor in floors.items():
        inside = {
            path: file
            for path, file in measured["files"].items()
            if f"/{place}" in f"/{path}"
            and (place.endswith(".py") or f"/{place}/" in f"/{path}")
        }
        if not inside:
            yield (
                f"{place} was not measured. If it moved, move its floor in "
                f"pyproject.toml."
            )
            continue
        covered = sum(
            file["summary"]["covered_lines"] + file["summary"]["covered_branches"]
            for file in inside.values()
        )
        total = sum(
            file["summary"]["num_statements"] + file["summary"]["num_branches"]
            for file in inside.values()
        )
        if 100 * covered < floor * total:
            yield (
                f"{place}: {100 * covered / total:.2f} % of lines and branches are "
                f"covered; the floor is {floor} %."
            )
            for path, file in inside.items():
                missing = [str(line) for line in file["missing_lines"]]
                missing += [
                    f"{start}->{end}" for start, end in file["missing_branches"]
                ]
                if missing:
                    yield f"  {path}: {', '.join(missing)}"


def _types(floors: dict[str, float]) -> Iterator[str]:
    """Each floor is the share of the symbols of a package, in percent, whose type
    pyright knows in full.
    """
    for package, floor in floors.items():
        command = [
            sys.executable,
            "-m",
            "pyright",
            "--verifytypes",
            package,
            "--ignoreexternal",
            "--outputjson",
        ]
        # pyright looks where python is found
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            command,
            env=os.environ | {"PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        report = json.loads(done.stdout)["typeCompleteness"]
        score = 100 * report["completenessScore"]
        if not sum(report["exportedSymbolCounts"].values()):
            yield (
                f"{package}: pyright finds no symbols. Is it installed, and not "
                f"editable?"
            )
        elif score < floor:
            yield (
                f"{package}: {score:.2f} % of the public symbols have a known type; "
                f"the floor is {floor} %."
            )
            for symbol in report["symbols"]:
                if symbol["isExported"] and not symbol["isTypeKnown"]:
                    yield (
                        f"  {symbol['name']}: "
                        f"{symbol['diagnostics'][0]['message'] if symbol['diagnostics'] else ''}"
                    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
