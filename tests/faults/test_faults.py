"""Every call that meets a fault ends as the matrix says, blocking and async, with every
HTTP library.
"""

from __future__ import annotations
import ast
import gc
import logging
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import get_args

import pytest

from tests.faults import run
from tests.faults.services import KEY
from tests.faults.surroundings import open_ports, resolving_oddly
from tests.faults.table import CASES, FAULTS
from tests.whole import WHOLE
from websearch_core._net.sender import Library

ROOT = Path(__file__).resolve().parents[2]
OWN = "own client"
LIBRARIES = get_args(Library)
_AT_ONCE = 16  # calls; most of them wait

pytestmark = pytest.mark.enable_socket


class Log(logging.Handler):
    """Keeps every message that holds the key."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.leaks = []

    def emit(self, record):
        if KEY in (line := self.format(record)):
            self.leaks.append(line)


def find_cases(number, way, transport):
    """Return the names of the cases of a fault that a way and a transport meet.

    Each case is met in both ways and with both libraries, and with a client of the
    caller's own: half of the many cases of a fault by blocking calls of the one library
    and async calls of the other, the rest the other way round. `make test-whole` lets
    everybody meet all.
    """
    names = [name for name in CASES if name.startswith(f"{number} ")]
    turn = run.WAYS.index(way) + (
        LIBRARIES.index(transport) if transport in LIBRARIES else 0
    )
    return names if WHOLE or len(names) < 3 else names[turn % 2 :: 2]


@pytest.fixture(scope="module")
def log():
    """What all loggers say, from the least important message on."""
    handler = Log()
    levels = {
        name: logging.getLogger(name).level
        for name in ("", "websearch_core", "httpx", "httpx2")
    }
    for name in levels:
        logging.getLogger(name).setLevel(logging.DEBUG)
    logging.getLogger().addHandler(handler)
    yield handler
    logging.getLogger().removeHandler(handler)
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


@pytest.fixture(scope="module")
def endings(request, log):
    """How each call of this run ends. They are made together, before the first test,
    since most of them wait.
    """
    params = [
        item.callspec.params
        for item in request.session.items
        if item.path == request.path and "[" in item.name
    ]
    wanted = [
        (name, one["way"], one.get("library", OWN))
        for one in params
        for name in find_cases(one["number"], one["way"], one.get("library", OWN))
    ]
    with open_ports() as ports, resolving_oddly():
        found = _call([one for one in wanted if one[2] != OWN], ports)
        gc.collect()
        # httpcore leaves the socket of a cancelled handshake to the collector
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            found |= _call([one for one in wanted if one[2] == OWN], ports)
            gc.collect()
    return found


def _call(wanted, ports):
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        calls = {
            (name, way, transport): threads.submit(
                run.call, CASES[name], way, ports, transport
            )
            for name, way, transport in wanted
        }
        return {key: call.result() for key, call in calls.items()}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("way", run.WAYS)
@pytest.mark.parametrize("number", [fault.number for fault in FAULTS if fault.cases])
def test_a_call_that_meets_a_fault_ends_as_expected(endings, number, way, library):
    problems = {
        name: run.find_problems(CASES[name], endings[name, way, library])
        for name in find_cases(number, way, library)
    }

    assert problems
    assert {name: found for name, found in problems.items() if found} == {}


@pytest.mark.parametrize("way", run.WAYS)
@pytest.mark.parametrize(
    "number",
    [fault.number for fault in FAULTS if fault.cases and fault.section == "services"],
)
def test_a_fault_of_a_service_ends_as_expected_over_the_callers_own_client_too(
    endings, number, way
):
    test_a_call_that_meets_a_fault_ends_as_expected(endings, number, way, OWN)


def test_no_log_of_any_of_them_holds_the_key(endings, log):
    assert log.leaks == []


def test_every_case_is_met_in_both_ways_and_with_every_library_and_the_callers_own_client():
    for fault in FAULTS:
        names = {name for name in CASES if name.startswith(f"{fault.number} ")}
        for met in (
            *(
                {
                    name
                    for way in run.WAYS
                    for name in find_cases(fault.number, way, one)
                }
                for one in (*LIBRARIES, OWN)
            ),
            *(
                {
                    name
                    for one in LIBRARIES
                    for name in find_cases(fault.number, way, one)
                }
                for way in run.WAYS
            ),
        ):
            assert met == names


def test_every_fault_is_in_the_matrix_and_is_met_or_proven():
    assert [fault.number for fault in FAULTS] == list(range(1, 73))
    assert [fault for fault in FAULTS if not (fault.cases or fault.proven_by)] == []


def test_every_test_that_the_matrix_names_exists():
    named = {proof for fault in FAULTS for proof in fault.proven_by}
    tests = {
        f"{path}::{node.name}"
        for path in {proof.partition("::")[0] for proof in named}
        for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }

    assert named <= tests
