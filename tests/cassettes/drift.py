"""Compare the answers of the services with those on the cassettes: ``make drift``, or
``make drift PROVIDER=tavily``.

What we send is compared with the services' SDKs first, which needs no key: see
``vocabulary.py``.

Of answers, only the shape counts: fields and types. Each provider that has a key in the
environment, or needs none, makes the call of ``search.yaml`` or ``read.yaml`` once, for
real; nothing is kept. Ends with 1 if a call fails or finds nothing, or if a field has
another type. Fields that are missing or new are listed: most are optional.
"""

from __future__ import annotations
import argparse
import sys
from pathlib import Path

from tests.cassettes import tape as tapes
from tests.cassettes import vocabulary
from tests.cassettes.record import first_shape, make_call
from tests.cassettes.shape import Differences, compare
from websearch_core import SearchResponse, WebSearchError
from websearch_core.providers import get_configured, provider_class


def check(path: Path) -> Differences:
    """Make the call of the cassette at *path*, and compare the answer with the one on
    it.
    """
    tape = tapes.load(path)
    outcome, exchanges = make_call(tape)
    if isinstance(outcome, WebSearchError):
        return Differences([f"the call fails: {outcome}"], [], [])
    differences = compare(first_shape(tape["interactions"]), first_shape(exchanges))
    if isinstance(outcome, SearchResponse) and not outcome.results:
        differences.changed.append("nothing is found")
    return differences


def main() -> int:
    """Check the providers that the command line names, or all services that are ready
    to use.
    """
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument(
        "providers", nargs="*", help="default: all that have a key or need none"
    )
    chosen = parser.parse_args().providers
    names = chosen or [
        info.name
        for info in get_configured()
        if hasattr(provider_class(info.name), "base_url")
    ]
    failed = False
    for name in (
        [name for name in vocabulary.PLACES if not chosen or name in chosen]
        if vocabulary.SDKS.is_dir()
        else []
    ):
        failed = (
            _report(
                vocabulary.describe(name, vocabulary.SDKS),
                vocabulary.check(name, vocabulary.SDKS),
                "as its SDK accepts",
            )
            or failed
        )
    for name in names:
        for path in (
            tapes.FOLDER / name / f"{scenario}.yaml" for scenario in ("search", "read")
        ):
            if path.exists():
                failed = (
                    _report(tapes.name_of(path), check(path), "as on the cassette")
                    or failed
                )
    return int(failed)


def _report(what: str, differences: Differences, unchanged: str) -> bool:
    """Print what differs; return whether anything changed."""
    print(f"{what}: {'changed' if differences.changed else unchanged}")
    print("".join(f"  {line}\n" for lines in differences for line in lines), end="")
    return bool(differences.changed)


if __name__ == "__main__":
    sys.exit(main())
