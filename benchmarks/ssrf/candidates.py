"""The HTTP clients and guards that are compared, and how to fetch a page with each of
them.

Run as a program, this lets one candidate fetch every row of the corpus, then every row
again by a redirect. It prints for each row, as a line of JSON, the names it looked up
and the addresses it connected to. At the end it prints whether it sent a request for
one host over a connection whose certificate is for another. It needs only the
candidate's own libraries, so that it runs in an environment whose requirements may
conflict with ours.
"""

from __future__ import annotations
import asyncio
import json
import logging
import ssl
import sys
import warnings
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from benchmarks.ssrf.network import FIRST, REDIRECTS, SECOND, Network, read_rows
from websearch_core import Http

Fetch: TypeAlias = Callable[[str], Any]

_TIMEOUT = 20.0  # seconds for one row: every answer here is fast


@dataclass(frozen=True)
class Candidate:
    """A way to fetch pages.

    Args:
        distribution: Its name on PyPI.
        prepare: Imports its libraries and returns the function that fetches one URL.
        ours: Whether it runs in our environment instead of the peers'.
        remark: A remark below the tables.
    """

    distribution: str
    prepare: Callable[[], Fetch]
    ours: bool = False
    remark: str = ""


def _websearch(
    library: Literal["httpx", "httpx2"], *, colour: str
) -> Callable[[], Fetch]:
    def prepare() -> Fetch:
        import_module(library)
        # reads SSL_CERT_FILE, which our reader ignores for pages
        trusted = ssl.create_default_context()
        web = import_module("websearch_core").WebSearch(
            reader="direct",
            internal=[],
            retry=1,
            http=Http(verify=trusted, library=library),
        )
        return _on_one_loop(web.aread) if colour == "async" else web.read

    return prepare


def _httpx() -> Fetch:
    return import_module("httpx").Client(follow_redirects=True).get  # type: ignore[no-any-return]


def _httpx_async() -> Fetch:
    return _on_one_loop(import_module("httpx").AsyncClient(follow_redirects=True).get)


def _requests() -> Fetch:
    return import_module("requests").Session().get  # type: ignore[no-any-return]


def _aiohttp() -> Fetch:
    aiohttp = import_module("aiohttp")

    # one, created on the loop; its DNS cache is off, so rows stay independent
    sessions: list[Any] = []

    async def get(url: str) -> None:
        sessions[:] = sessions or [
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(use_dns_cache=False))
        ]
        async with sessions[0].get(url) as response:
            await response.read()

    return _on_one_loop(get)


def _safehttpx() -> Fetch:
    return _on_one_loop(import_module("safehttpx").get)


def _httpx_secure() -> Fetch:
    client = import_module("httpx").AsyncClient(follow_redirects=True)
    import_module("httpx_secure").httpx_ssrf_protection(client)
    return _on_one_loop(client.get)


def _antissrf() -> Fetch:
    is_ssrf = import_module("antissrf").is_ssrf
    requests = import_module("requests")

    def get(url: str) -> None:
        if not is_ssrf(urlsplit(url).hostname):
            requests.get(url)

    return get


def _advocate() -> Fetch:
    return import_module("advocate").get  # type: ignore[no-any-return]


def _requests_hardened() -> Fetch:
    hardened = import_module("requests_hardened")
    config = hardened.Config(
        ip_filter_enable=True,
        ip_filter_allow_loopback_ips=False,
        never_redirect=False,
        default_timeout=(5, 5),
    )
    manager = hardened.Manager(config)
    session = manager.get_session()
    return session.get  # type: ignore[no-any-return]


def _drawbridge() -> Fetch:
    return _on_one_loop(import_module("drawbridge").Client().get)


def _drawbridge_blocking() -> Fetch:
    return import_module("drawbridge").SyncClient().get  # type: ignore[no-any-return]


def _langchain() -> Fetch:
    return import_module("langchain_core._security").ssrf_safe_client().get  # type: ignore[no-any-return]


def _langchain_async() -> Fetch:
    return _on_one_loop(
        import_module("langchain_core._security").ssrf_safe_async_client().get
    )


def _pydantic_ai() -> Fetch:
    return _on_one_loop(import_module("pydantic_ai._ssrf").safe_download)


def _on_one_loop(get: Callable[[str], Awaitable[Any]]) -> Fetch:
    """Turn an async function into a blocking one that always runs on the same loop, as
    its client needs.
    """
    runner = asyncio.Runner()

    async def in_time(url: str) -> None:
        async with asyncio.timeout(_TIMEOUT):
            await get(url)

    return lambda url: runner.run(in_time(url))


CANDIDATES = {
    "`WebSearch.read`, httpx": Candidate(
        "websearch-core", _websearch("httpx", colour="blocking"), ours=True
    ),
    "`WebSearch.aread`, httpx": Candidate(
        "websearch-core", _websearch("httpx", colour="async"), ours=True
    ),
    "`WebSearch.read`, httpx2": Candidate(
        "websearch-core", _websearch("httpx2", colour="blocking"), ours=True
    ),
    "`WebSearch.aread`, httpx2": Candidate(
        "websearch-core", _websearch("httpx2", colour="async"), ours=True
    ),
    "httpx": Candidate("httpx", _httpx, remark="no guard: the reference"),
    "httpx, async": Candidate("httpx", _httpx_async, remark="no guard"),
    "requests": Candidate("requests", _requests, remark="no guard"),
    "aiohttp": Candidate(
        "aiohttp",
        _aiohttp,
        remark="no guard; its DNS cache is off, or one row would affect the next",
    ),
    "antissrf": Candidate(
        "antissrf", _antissrf, remark="`is_ssrf(host)`, then `requests.get`"
    ),
    "safehttpx": Candidate(
        "safehttpx", _safehttpx, remark="asks dns.google about names that it refuses"
    ),
    "httpx-secure": Candidate(
        "httpx-secure",
        _httpx_secure,
        remark="connects before it checks the address; it sends nothing to a bad one, "
        "so an attacker can only probe",
    ),
    "advocate": Candidate("advocate", _advocate, remark="refuses IPv6 by default"),
    "requests-hardened": Candidate("requests-hardened", _requests_hardened),
    "drawbridge": Candidate("drawbridge", _drawbridge_blocking),
    "drawbridge, async": Candidate("drawbridge", _drawbridge),
    "langchain-core": Candidate(
        "langchain-core", _langchain, remark="`_security.ssrf_safe_client`, private"
    ),
    "langchain-core, async": Candidate(
        "langchain-core",
        _langchain_async,
        remark="`_security.ssrf_safe_async_client`, private",
    ),
    "pydantic-ai": Candidate(
        "pydantic-ai-slim", _pydantic_ai, remark="`_ssrf.safe_download`, private"
    ),
}


def main(name: str, corpus: Path, certificate: Path) -> None:
    """Let one candidate fetch the whole corpus, and print its look-ups and
    connections.
    """
    logging.disable()
    warnings.simplefilter("ignore")  # of the peers
    rows = read_rows(corpus)
    network = Network(json.loads((corpus / "dns.json").read_text("utf-8")))
    # before the candidate's libraries import functions of the real one
    network.install()
    candidate = CANDIDATES[name]
    try:
        fetch = candidate.prepare()
    except ImportError as error:
        print(json.dumps({"missing": str(error)}))
        return
    print(json.dumps({"version": version(candidate.distribution)}))

    def report(number: int, url: str, way: str) -> None:
        network.forget()
        ended = _fetch(fetch, url)
        done = {
            "row": number,
            "way": way,
            "looked_up": network.looked_up,
            "dialled": network.dialled,
            "ended": ended,
        }
        print(json.dumps(done))

    for number, row in enumerate(rows):
        report(number, row.url, "direct")
    network.redirect(rows)
    for number, row in enumerate(rows):
        if row.fits_a_header:
            report(number, f"http://{REDIRECTS}/{number}", "redirect")
    print(json.dumps({"tls": _check_tls(network, fetch, certificate)}))


def _check_tls(network: Network, fetch: Fetch, certificate: Path) -> str:
    """Check whether a request reaches a host whose address has a certificate for
    another host only.
    """
    hosts = network.share(certificate)
    ended = _fetch(fetch, f"https://{FIRST}/")
    if FIRST not in hosts:
        return f"fails: {ended}"
    _fetch(fetch, f"https://{SECOND}/")
    if SECOND in hosts:
        return "not checked"
    _fetch(fetch, f"https://{FIRST}/redirect")
    return "not checked after a redirect" if SECOND in hosts else "checked"


def _fetch(fetch: Fetch, url: str) -> str:
    try:
        fetch(url)
    except Exception as error:  # noqa: BLE001 - any failure will do: what counts is the connections before it
        return type(error).__name__
    return "answered"


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
