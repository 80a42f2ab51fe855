"""Compare the answers of the services with those on the cassettes: ``make drift``, or
``make drift PROVIDER=tavily``.

What we send is compared with the services' SDKs first, which needs no key: see
``vocabulary.py``. Parameters that we do not send are listed and change nothing. So
are an SDK's warnings that it will remove a word that we send, unless it is the version
that the adapter was compared with, and the age of our lists of prices.

Of answers, only the shape counts: fields and types. Each provider that has a key in the
environment, or needs none, makes the call of ``search.yaml`` or ``read.yaml`` once, for
real, as ``make first-contact`` does; nothing is kept. Ends with 1 if a service has
changed: it refuses the call, finds nothing, or a field has another type. Fields that
are missing or new are listed: most are optional. A service that was not reached says
nothing: it is listed, too, and if that is so of all, the end is 2.
"""

from __future__ import annotations
import argparse
import sys
from pathlib import Path

from tests.cassettes import tape as tapes
from tests.cassettes import vocabulary
from tests.cassettes.allowance import Allowance
from tests.cassettes.keys import Keys
from tests.cassettes.record import Recorder
from tests.cassettes.shape import Differences
from websearch_core._runtime.clock import now
from websearch_core._text.quantity import quantity
from websearch_core.providers import get_configured, known, provider_class


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
    ends = []
    recorder = Recorder(Allowance(), Keys.of_environment(), writes=False)
    if vocabulary.SDKS.is_dir():
        for name in vocabulary.PLACES:
            if not chosen or name in chosen:
                ends.append(_compare_sdk(name))
    for name in names:
        for scenario in ("search", "read"):
            path = tapes.FOLDER / name / f"{scenario}.yaml"
            if path.exists():
                ends.append(_compare_answer(path, recorder))
    for name in chosen or known():  # a list grows old without a key, too
        _print_age(name)
    if "changed" in ends:
        return 1
    return 2 if ends and "as before" not in ends else 0


def _print_age(name: str) -> None:
    """Say how old the list of prices of a provider is, if it has one."""
    about = getattr(provider_class(name), "about", None)
    if about is None or not about.prices or not about.as_of:
        return
    year, month = map(int, about.as_of.split("-")[:2])
    today = now().date()
    age = 12 * (today.year - year) + today.month - month
    print(f"{name}: its prices are of {about.as_of}, {quantity(age, 'month')} ago")


def _compare_sdk(name: str) -> str:
    described = vocabulary.describe(name, vocabulary.SDKS)
    if not vocabulary.find_version(name, vocabulary.SDKS):
        print(f"{described}: not reached: its SDK was not downloaded")
        return "not reached"
    found = vocabulary.check(name, vocabulary.SDKS)
    return _report(described, found, "as its SDK accepts")


def _compare_answer(path: Path, recorder: Recorder) -> str:
    observation = next(recorder.observe(path))
    if observation.verdict in {"refused", "not seen"}:
        print(f"{observation.cassette}: not reached: {observation.reason}")
        return "not reached"
    differences = observation.differences
    if observation.reason:
        changes = [observation.reason, *differences.changed]
        differences = differences._replace(changed=changes)
    return _report(observation.cassette, differences, "as on the cassette")


def _report(what: str, differences: Differences, unchanged: str) -> str:
    """Print what differs, and return how the comparison ended."""
    print(f"{what}: {'changed' if differences.changed else unchanged}")
    print("".join(f"  {line}\n" for lines in differences for line in lines), end="")
    return "changed" if differences.changed else "as before"


if __name__ == "__main__":
    sys.exit(main())
