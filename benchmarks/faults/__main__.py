"""Let our calls and those of other libraries meet every fault of the matrix, and write
benchmarks/results/faults.md.

    python -m benchmarks.faults --peers build/fault-peers/bin/python

The matrix and its server are those of the tests (`tests.faults`). What no call to a
server shows is proven by tests, which run too. ``make bench-faults`` installs the other
libraries first. Exits with 1 if a row is not as expected.
"""

from __future__ import annotations
import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from xml.etree import ElementTree as ET

from benchmarks.faults.page import PAGE, Judged, write_page
from benchmarks.report import store
from tests.faults import run
from tests.faults.model import Case
from tests.faults.surroundings import Ports, open_ports, resolving_oddly
from tests.faults.table import FAULTS

_ROOT = Path(__file__).resolve().parents[2]
_AT_ONCE = 12  # of our calls
_MOST_MEMORY = 64  # MiB that a call of a peer may take
PEERS = {
    "services": ("httpx", "TavilySearch"),
    "pages": ("httpx page", "WebBaseLoader", "SimpleWebPageReader"),
    "ourselves": (),
}
_FOUND = {"json": "https://kelp.example/", "page": "Brown algae of the northern seas."}


def judge_ours(ports: Ports) -> dict[tuple[int, run.Way], Judged]:
    """Make every call of the matrix, blocking and async, and say what is not as
    expected.
    """
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        calls = {
            (fault.number, way): [
                (case, threads.submit(run.call, case, way, ports))
                for case in fault.cases
            ]
            for fault in FAULTS
            if fault.cases
            for way in run.WAYS
        }
        return {
            which: _judge([(case, call.result()) for case, call in both])
            for which, both in calls.items()
        }


def _judge(endings: Sequence[tuple[Case, run.Ending]]) -> Judged:
    problems = [
        f"{case.name}: {problem}"
        for case, ending in endings
        for problem in run.find_problems(case, ending)
    ]
    codes = dict.fromkeys(f"`{ending.code}`" for _, ending in endings)
    return Judged(problem="; ".join(problems), what=", ".join(codes))


def judge_proofs() -> dict[str, bool]:
    """Run the tests that prove a fault; return which of them passed."""
    named = sorted({proof for fault in FAULTS for proof in fault.proven_by})
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"--junitxml={report}",
            *named,
        ]
        subprocess.run(command, cwd=_ROOT, check=False, stdout=subprocess.DEVNULL)
        cases = list(ET.parse(report).iter("testcase"))
    passed: dict[str, bool] = {}
    for case in cases:
        test = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name', '').partition('[')[0]}"
        passed[test] = passed.get(test, True) and not list(case.iterfind("*"))
    return {proof: passed.get(proof, False) for proof in named}


def judge_peers(python: str, ports: Ports) -> dict[tuple[int, str], Judged]:
    """Let the other libraries make the calls that they can make, and judge them by how
    they end.
    """
    asked = {
        (fault.number, peer, number): case
        for fault in FAULTS
        for peer in PEERS[fault.section]
        for number, case in enumerate(fault.cases)
        if case.peers and case.where in _FOUND
    }
    with ExitStack() as stack:
        calls = []
        for key, case in asked.items():
            _, base = stack.enter_context(run.serve(case, ports))
            text = case.text or _FOUND[case.where]
            calls.append(
                {
                    "id": key,
                    "peer": key[1],
                    "url": base,
                    "text": text,
                    "without": case.without,
                }
            )
        command = [python, str(Path(__file__).with_name("peers.py"))]
        done = subprocess.run(
            command, input=json.dumps(calls), capture_output=True, text=True, check=True
        )
    found: dict[tuple[int, str], list[Judged]] = {}
    for line in done.stdout.splitlines():
        said = json.loads(line)
        number, peer, which = said["id"]
        found.setdefault((number, peer), []).append(
            _judge_peer(asked[number, peer, which], said)
        )
    return {which: _worst(judged) for which, judged in found.items()}


def _judge_peer(case: Case, said: Mapping[str, object]) -> Judged:
    """Judge only what every caller may expect: an end, an error that looks like one,
    the answer if there is one.
    """
    what, grown = str(said["what"]), int(str(said["grown"]))
    if said["ended"] == "busy":
        return Judged(
            problem=f"still busy after 10 "
            f"s{f', with {grown:,} MiB' if grown > _MOST_MEMORY else ''}"
        )
    if said["ended"] == "died":
        return Judged(problem="the process died")
    if "MemoryError" in what:
        return Judged(problem="2 GiB were not enough")
    if grown > _MOST_MEMORY:
        return Judged(problem=f"took {grown} MiB")
    if said["leaks"]:
        return Judged(problem="shows the key")
    if case.expected == "ok":
        if said["ended"] == "answer" and said["has"] and not said["passes"]:
            return Judged(what="the answer")
        return Judged(
            problem=_shorten(what) if said["ended"] == "error" else "not that answer"
        )
    if case.expected == "cut" and said["ended"] == "answer":
        return Judged(problem="cut, and does not say so")
    if said["ended"] == "error":
        return Judged(what=what.partition(":")[0])
    return Judged(
        problem=_shorten(what)
        if what.startswith("as a result:")
        else "returned as an answer"
    )


def _shorten(what: str) -> str:
    words = (
        what.partition("(")[0]
        if what.startswith("as a result")
        else what.partition(":")[0]
    )
    return " ".join(words.split()[:5]).rstrip(":")


def _worst(judged: Sequence[Judged]) -> Judged:
    """Return one judgement for all cases of a fault."""
    problems = dict.fromkeys(one.problem for one in judged if not one.fits)
    return Judged(
        problem=", ".join(problems),
        what=", ".join(dict.fromkeys(one.what for one in judged)),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--peers", help="the Python of the environment with the other libraries"
    )
    chosen = parser.parse_args(arguments)
    proofs = judge_proofs()
    with open_ports() as ports:
        peers = judge_peers(chosen.peers, ports) if chosen.peers else {}
        with resolving_oddly():
            ours = judge_ours(ports)
    text, missed = write_page(ours, proofs, peers, PEERS)
    store(PAGE, text)
    print(
        f"{len(FAULTS) - len(missed)} of {len(FAULTS)} as expected; not {missed}"
        if missed
        else "all as expected"
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
