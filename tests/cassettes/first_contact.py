"""Meet the services and models that this environment has keys for: ``make
first-contact``.

Each service makes the calls of the contract once, and each model has two conversations
with the tools in each framework. A service's answers are compared with its cassettes
and replace them; ``cassettes/checked.json`` keeps the days. FIRST-CONTACT.md says more.
"""

from __future__ import annotations
import argparse
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from tests.cassettes import conversation, live
from tests.cassettes import tape as tapes
from tests.cassettes.allowance import MODEL_USD, WORST_USD, Allowance
from tests.cassettes.keys import Keys, key_variables
from tests.cassettes.record import CannotWrite, Observation, Recorder
from tests.models import VENDORS
from websearch_core.errors import UnknownProvider
from websearch_core.providers import get_configured, provider_class

PAUSE = 1.5  # seconds between the calls of a service: many allow one a second
# what nobody can ask for
_NOT_ASKED = {"malformed", "quota", "rate_limited"}


def find_services() -> list[str]:
    """Return the names of the services that have a key in the environment."""
    names: list[str] = []
    for info in get_configured():
        cls = provider_class(info.name)
        has_key = any(map(os.environ.get, key_variables(cls)))
        if has_key and hasattr(cls, "base_url"):
            names.append(info.name)
    return names


def find_cassettes(folder: str, scenarios: Sequence[str]) -> list[Path]:
    """Return the cassettes of a service whose calls to make, in their order."""
    names = scenarios or live.SCENARIOS
    paths = [tapes.FOLDER / folder / f"{name}.yaml" for name in names]
    return [path for path in paths if path.exists()]


def list_scenarios(folder: str) -> list[str]:
    """Return all scenarios of a folder that can be asked for, those of the contract
    first.
    """
    others = [path.stem for path in tapes.find_tapes(folder)]
    names = [
        name
        for name in dict.fromkeys([*live.SCENARIOS, *others])
        if name not in _NOT_ASKED
    ]
    return [name for name in names if not name.startswith("shaped_")]


def meet_services(
    recorder: Recorder, cassettes: dict[str, list[Path]], say: Callable[[str], None]
) -> Iterator[Observation]:
    """Make the calls of services, say what came of each, and note which of them were
    checked.

    Raises:
        CannotWrite: A file could not be written.
    """
    for folder, paths in cassettes.items():
        is_checked = False
        for observation in recorder.meet(paths):
            for line in describe(observation):
                say(line)
            yield observation
            is_checked = is_checked or _shows_service(observation)
            if observation.verdict != "not asked":
                time.sleep(PAUSE)
        if is_checked:
            problem = recorder.note(folder.partition("/")[0])
            if problem:
                say(problem)


def _shows_service(observation: Observation) -> bool:
    """Return whether the adapter understood what a service is for."""
    scenario = observation.cassette.rpartition("/")[2]
    if scenario not in {"search", "read"}:
        return False
    is_answer = observation.verdict in {"as documented", "differs"}
    return is_answer and not observation.reason


def describe(observation: Observation) -> Iterator[str]:
    """Yield the row of an observation, and what differs below it."""
    notes = [observation.reason, observation.result]
    note = "; ".join(filter(None, notes))
    row = f"{observation.cassette:<28} {observation.verdict:<14} {note}"
    yield row.rstrip()
    for lines in observation.differences:
        for line in lines:
            yield f"  {line}"


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    add = parser.add_argument
    add(
        "services",
        nargs="*",
        help="folders of cassettes: tavily, or searxng/searx, whose every cassette is "
        "recorded (default: the contract of all services with a key)",
    )
    add("--scenario", nargs="+", default=[], help="names of cassettes")
    add("--model", nargs="+", default=[], help="openai, or openai=gpt-5-mini")
    add("--usd", type=float, default=2.0, help="dollars (default: %(default)s)")
    add("--requests", type=int, default=200, help="requests (default: %(default)s)")
    add("--source", default="", help="a name for the service, besides its host")
    add("--folder", type=Path, default=tapes.FOLDER, help="where the cassettes are")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Meet what the command line names, or all that has a key."""
    options = parse(arguments)
    tapes.FOLDER = options.folder.resolve()
    logging.disable()  # clients of HTTP log URLs, in which some services take the key
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    variables = [vendor.variables for vendor in VENDORS.values()]
    keys = Keys.of_environment(chain.from_iterable(variables))
    allowance = Allowance(options.usd, options.requests)

    def say(line: str) -> None:
        print(keys.redact(line), flush=True)

    try:
        status = _meet(options, allowance, keys, say)
    except (UnknownProvider, ValueError) as error:
        say(f"nothing was asked: {error}")
        return 2
    except CannotWrite as error:
        say(f"stopped, and what was there is still there: {error}")
        status = 1
    except KeyboardInterrupt:
        say("interrupted; each cassette is the old one or the new one")
        status = 130
    say(f"\n{allowance.describe()}")
    return status


def _meet(
    options: argparse.Namespace,
    allowance: Allowance,
    keys: Keys,
    say: Callable[[str], None],
) -> int:
    cassettes = find_all(options)
    chosen = conversation.choose(options.model, only=bool(options.services))
    say(
        f"at most {options.usd:g} USD and {options.requests} requests; a request "
        f"without a known price counts {WORST_USD} USD, one to a model {MODEL_USD}\n"
    )
    recorder = Recorder(allowance, keys, writes=True, source=options.source)
    verdicts = [
        observation.verdict for observation in meet_services(recorder, cassettes, say)
    ]
    for report in conversation.meet_models(chosen, allowance):
        verdicts.append(report.verdict)
        for line in report.describe():
            say(line)
    seen = {"as documented", "differs", "not seen"}
    return 0 if seen & set(verdicts) else 2


def find_all(options: argparse.Namespace) -> dict[str, list[Path]]:
    """Return the cassettes whose calls to make, by folder.

    Raises:
        UnknownProvider: A service that is named is not there, or no longer.
        ValueError: It has no such cassette.
    """
    cassettes: dict[str, list[Path]] = {}
    for service in options.services:
        folder = service.rstrip("/")
        provider_class(folder.partition("/")[0])
        scenarios = options.scenario or list_scenarios(folder)
        cassettes[folder] = find_cassettes(folder, scenarios)
        if not cassettes[folder]:
            raise ValueError(f"{folder} has no such cassette")
    if options.services or options.model:
        return cassettes
    for name in find_services():
        cassettes[name] = find_cassettes(name, options.scenario)
    return cassettes


if __name__ == "__main__":
    sys.exit(main())
