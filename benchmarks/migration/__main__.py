"""Run the pairs, old and new, against the same server: ``make bench-migration``.

Writes what the old packages gave to ``docs/generators/outcomes.json``, with which `make
test` compares what ours give, and the tables of docs/migration.md,
docs/for-coding-agents.md and docs/measured/migration.md. Two of the old loaders need
Debian's packages chromium-headless-shell and chromium-driver.
"""

from __future__ import annotations
import argparse
import json
import subprocess
import sys
from pathlib import Path

from benchmarks.migration.new import run_pair, send_here
from benchmarks.migration.outcome import judge
from benchmarks.migration.server import serve
from benchmarks.report import store
from docs.generate import render
from docs.generators.pairs import OUTCOMES, PAIRS

_ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--peers",
        required=True,
        help="the Python of the environment with the old packages",
    )
    parser.add_argument(
        "--only",
        default="",
        help="run only the pairs whose old code contains this; keep the others",
    )
    arguments = parser.parse_args()
    kept = json.loads(OUTCOMES.read_text("utf-8")) if arguments.only else {"pairs": {}}
    with serve() as (port, _):
        command = [
            arguments.peers,
            "-m",
            "benchmarks.migration.old",
            str(port),
            arguments.only,
        ]
        packages, *lines = subprocess.run(
            command,
            cwd=_ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        ).stdout.splitlines()
        found = {
            name: outcome
            for line in lines
            for name, outcome in json.loads(line).items()
        }
        pairs = {
            pair.name: found.get(pair.name) or kept["pairs"][pair.name]
            for pair in PAIRS
        }
        OUTCOMES.write_text(
            json.dumps(
                {"packages": json.loads(packages), "pairs": pairs},
                indent=1,
                ensure_ascii=False,
            )
            + "\n",
            "utf-8",
        )
        failed = 0
        with send_here(port):
            for pair in PAIRS:
                problem = (
                    judge(pair, pairs[pair.name], run_pair(pair))
                    if arguments.only in pair.name
                    else ""
                )
                failed += bool(problem)
                print(
                    f"{problem or 'as expected'}: {pair.name}" if problem else ".",
                    end="\n" if problem else "",
                )
    print()
    for path, text in render().items():
        path.write_text(text, "utf-8")
    measured = _ROOT / "docs/measured/migration.md"
    store(measured, measured.read_text("utf-8"))
    sys.exit(f"{failed} pairs are not what the table says" if failed else 0)


if __name__ == "__main__":
    main()
