"""Pages meet the same faults with credentials and through a proxy: they end as in the
table, and no secret shows.
"""

from __future__ import annotations
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from unittest import mock

import pytest

from tests.faults import run
from tests.faults.proxy import Proxy
from tests.faults.surroundings import open_ports
from tests.faults.table import CASES
from tests.whole import WHOLE
from websearch_core import Credentials

pytestmark = pytest.mark.enable_socket

SECRET = "sesame-0123456789"
HERE = "http://127.0.0.1:{port}"
FAULTS = {
    name: case
    for name, case in CASES.items()
    if case.where == "page" and case.base == HERE
}
_AT_ONCE = 16


def log_in(base):
    """Return what logs in at *base*."""
    login = Credentials(
        basic=("ann", SECRET),
        headers={"X-Wiki": f"Token {SECRET}"},
        cookies={"sid": SECRET},
    )
    return {"credentials": {base: login}}


def resolve(host, *args, system=socket.getaddrinfo, **kwargs):
    name = host.decode() if isinstance(host, bytes) else str(host)
    return system(
        "127.0.0.1" if name.rstrip(".") == "site.example" else host, *args, **kwargs
    )


HOW = {"credentials": "async", "here": "blocking", "proxy": "async"}


def find_cases(how):
    """Return a third of the cases of each fault; all of them if they are few, or `make
    test-whole`.
    """
    by_fault = {}
    for name in FAULTS:
        by_fault.setdefault(name.partition(" ")[0], []).append(name)
    third = slice(list(HOW).index(how), None, 3)
    chosen = [
        names if WHOLE or len(names) < 3 else names[third]
        for names in by_fault.values()
    ]
    return {name: FAULTS[name] for names in chosen for name in names}


def test_every_case_is_met():
    assert {name for how in HOW for name in find_cases(how)} == {*FAULTS}


@pytest.mark.parametrize(("how", "way"), HOW.items())
def test_a_page_ends_as_it_does_without(how, way):
    proxy = Proxy({"site.example": "127.0.0.1"}, login=f"ann:{SECRET}")
    url = f"http://ann:{SECRET}@localhost:{proxy.port}"
    cases = find_cases(how)
    if how != "credentials":
        cases = {
            name: replace(case, base=HERE.replace("127.0.0.1", "site.example"))
            for name, case in cases.items()
        }
    send = (
        log_in if how == "credentials" else lambda base: {"proxy": url, "resolve": how}
    )
    with (
        open_ports() as ports,
        mock.patch("socket.getaddrinfo", resolve),
        ThreadPoolExecutor(_AT_ONCE) as threads,
    ):
        calls = {
            name: threads.submit(run.call, case, way, ports, None, send)
            for name, case in cases.items()
        }
        endings = {name: call.result() for name, call in calls.items()}
    proxy.close()

    problems = {
        name: run.find_problems(cases[name], ending) for name, ending in endings.items()
    }
    assert {name: found for name, found in problems.items() if found} == {}
    assert [name for name, ending in endings.items() if SECRET in ending.shown] == []
    assert bool(proxy.asked) is (how != "credentials")
    assert len(cases) > 30
