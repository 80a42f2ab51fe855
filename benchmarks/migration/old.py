"""Run the old side of the pairs: ``python -m benchmarks.migration.old PORT [words]``,
with the old packages.

Writes lines of JSON to standard output: the versions of the packages, and for each pair
what came of it.
"""

from __future__ import annotations
import asyncio
import io
import json
import os
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import version
from pathlib import Path

from benchmarks.migration.outcome import ENVIRONMENT, describe, execute
from benchmarks.migration.redirect import redirect
from docs.generators.pairs import PAIRS


def main(port: int, words: str = "") -> None:
    """Run the pairs whose names contain *words*."""
    warnings.simplefilter("ignore")
    os.environ.update(
        ENVIRONMENT,
        USER_AGENT="bench-migration",
        GOOGLE_CSE_ID="1",
        DO_NOT_TRACK="true",
    )
    redirect(port)
    listed = Path(__file__).with_name("requirements.in").read_text("utf-8").splitlines()
    print(
        json.dumps(
            {name: version(name) for name in listed if not name.startswith("#")}
        ),
        flush=True,
    )
    for pair in PAIRS:
        if words not in pair.name:
            continue
        said = io.StringIO()
        # which some of them expect to find
        asyncio.set_event_loop(asyncio.new_event_loop())
        try:
            with redirect_stdout(said), redirect_stderr(said):
                done = describe(execute(pair.imports(old=True), pair.before))
        except Exception as error:  # noqa: BLE001 - a package that fails is a result
            done = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps({pair.name: done}), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
