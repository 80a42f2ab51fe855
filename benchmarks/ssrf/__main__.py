"""
Who reaches what, when a stranger chooses the URL: ours and the guards found on PyPI, over a corpus of hostile URLs.

Every candidate fetches every row in a process of its own, on a network that leads nowhere (`network`). What
counts is where it connected, never what it returned. Writes ``docs/measured/ssrf.md``, and ends with an error if ours
misses its goal.

::

    python3 -m venv /tmp/peers && /tmp/peers/bin/pip install --requirement benchmarks/ssrf/requirements.txt
    .venv/bin/python -m benchmarks.ssrf --peers /tmp/peers/bin/python
"""

from __future__ import annotations

import argparse
import ipaddress
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import trustme

from benchmarks.report import Goal, Table
from benchmarks.ssrf.candidates import CANDIDATES, Candidate
from benchmarks.ssrf.network import FIRST, Row, read_rows

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "measured" / "ssrf.md"
CORPUS = HERE.parents[2] / "shared" / "corpora" / "hostile"

_AT_ONCE = 3  # processes
_TIMEOUT = 900.0  # seconds for one candidate: some make a TLS context for every page


class Place(IntEnum):
    """Where an address leads, from bad to worse."""

    PUBLIC = 0
    SPECIAL = 1  # multicast, documentation, deprecated, unallocated: no way in is known
    TRANSLATED = 2  # inside, where the network translates: NAT64, 6to4, Teredo, ISATAP
    INSIDE = 3  # inside, on any host


def _networks(*texts: str) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    return [ipaddress.ip_network(text) for text in texts]


# The judge's own tables, not the guard's: from the IANA registries, and RFC 3056, 4380, 5214, 6052 and 8215.
_INSIDE = _networks(
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.168.0.0/16", "::/127", "fc00::/7", "fe80::/10",
)  # fmt: skip
_SPECIAL = _networks(
    "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
    "::/3", "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20", "4000::/2", "8000::/1",
)  # fmt: skip
_NAT64, _NAT64_LOCAL = _networks("64:ff9b::/96", "64:ff9b:1::/48")
_LAST_FOUR = _networks("::/96", "::ffff:0:0:0/96")  # IPv4-compatible, IPv4-translated
_6TO4, _TEREDO = _networks("2002::/16", "2001::/32")


def place(dialled: str) -> Place:
    """Judge an address that was dialled."""
    if dialled.startswith("unix:"):
        return Place.INSIDE
    ip = ipaddress.ip_address(dialled)
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped:
        ip = ip.ipv4_mapped  # the kernel itself takes the one for the other
    if any(ip in network for network in _INSIDE):
        return Place.INSIDE
    if isinstance(ip, ipaddress.IPv6Address):
        carried = _carried(ip)
        if ip in _NAT64_LOCAL or any(place(str(inner)) is not Place.PUBLIC for inner in carried):
            return Place.TRANSLATED
        if ip in _NAT64:
            return Place.PUBLIC
    return Place.SPECIAL if any(ip in network for network in _SPECIAL) else Place.PUBLIC


def _carried(ip: ipaddress.IPv6Address) -> list[ipaddress.IPv4Address]:
    """The IPv4 addresses that a translator would find in *ip*."""
    raw, found = ip.packed, []
    if ip in _NAT64 or any(ip in network for network in _LAST_FOUR) or raw[8:12] in (b"\0\0^\xfe", b"\2\0^\xfe"):
        found.append(raw[12:])
    if ip in _6TO4:
        found.append(raw[2:6])
    if ip in _TEREDO:
        found += [raw[4:8], bytes(byte ^ 0xFF for byte in raw[12:])]
    return [ipaddress.IPv4Address(each) for each in found]


@dataclass(frozen=True)
class Fetched:
    """What one candidate did about one row."""

    row: Row
    asked: Sequence[str]
    dialled: Sequence[str]
    ended: str

    @property
    def worst(self) -> Place:
        """The worst place it dialled."""
        return max(map(place, self.dialled), default=Place.PUBLIC)


@dataclass(frozen=True)
class Tally:
    """What one candidate did about all rows, each fetched in one way: directly, or by way of a redirect."""

    fetched: Sequence[Fetched]

    def reached(self, where: Place, why: str = "") -> int:
        """Count the rows that got it to dial such a place, and no worse one."""
        return sum(each.worst is where and each.row.why.startswith(why) for each in self.fetched)

    @property
    def wrongly_refused(self) -> int:
        """Honest rows for which it dialled nobody."""
        return sum(each.row.label == "allow" and not each.dialled for each in self.fetched)

    @property
    def tolerated(self) -> int:
        """Rows that policy refuses and that led it to a public address: not forgery, but guesswork."""
        return sum(
            each.row.label != "allow" and bool(each.dialled) and each.worst is Place.PUBLIC for each in self.fetched
        )

    @property
    def looked_up(self) -> int:
        """Rows to be refused before any look-up that were looked up."""
        return sum(each.row.label == "invalid" and bool(each.asked) for each in self.fetched)

    @property
    def connected(self) -> int:
        """Rows that policy refuses and that led it anywhere at all."""
        return sum(each.row.label != "allow" and bool(each.dialled) for each in self.fetched)

    @property
    def wrongly_connected(self) -> int:
        """Honest rows that led it to a place that is not public, such as the second answer of a rebinding name."""
        return sum(each.row.label == "allow" and each.worst is not Place.PUBLIC for each in self.fetched)


@dataclass(frozen=True)
class Result:
    """What came of one candidate: tallies, or the reason why there are none."""

    version: str = ""
    missing: str = ""
    tls: str = ""
    direct: Tally = Tally(())
    redirected: Tally = Tally(())


def measure(name: str, candidate: Candidate, python: str, corpus: Path, rows: Sequence[Row]) -> Result:
    """Let one candidate fetch the corpus in a process of its own."""
    own = ("WEB_SEARCH_", "LANGCHAIN_")
    env = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy") and not k.startswith(own)}
    program = [sys.executable if candidate.ours else python, "-m", "benchmarks.ssrf.candidates"]
    with tempfile.TemporaryDirectory() as elsewhere:  # where no settings file is found
        authority, certificate = Path(elsewhere, "authority.pem"), Path(elsewhere, "certificate.pem")
        ours = trustme.CA()
        ours.cert_pem.write_to_path(authority)
        ours.issue_cert(FIRST).private_key_and_cert_chain_pem.write_to_path(certificate)
        done = subprocess.run(
            [*program, name, str(corpus), str(certificate)],
            cwd=elsewhere,
            env=env | {"SSL_CERT_FILE": str(authority), "REQUESTS_CA_BUNDLE": str(authority)},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=_TIMEOUT,
        )
    first, *lines = map(json.loads, done.stdout.splitlines())
    if "missing" in first:
        return Result(missing=first["missing"])
    last = lines.pop()
    return Result(first["version"], "", last["tls"], _tally(lines, "direct", rows), _tally(lines, "redirect", rows))


def _tally(lines: Iterable[dict[str, Any]], way: str, rows: Sequence[Row]) -> Tally:
    done = (each for each in lines if each["way"] == way)
    return Tally([Fetched(rows[each["row"]], each["asked"], each["dialled"], each["ended"]) for each in done])


def goals(results: dict[str, Result]) -> list[Goal]:
    """Say for each way of ours whether it did what we want of it."""
    return [_goal(name, result) for name, result in results.items() if CANDIDATES[name].ours]


def _goal(name: str, result: Result) -> Goal:
    direct, redirected = result.direct, result.redirected
    connected = direct.connected + redirected.connected + direct.wrongly_connected + redirected.wrongly_connected
    looked_up = direct.looked_up + redirected.looked_up
    met = not (result.missing or connected or looked_up or direct.wrongly_refused or result.tls != "checked")
    measured = (
        f"{connected} connections where there must be none, {looked_up} look-ups of ambiguous names, "
        f"{direct.wrongly_refused} honest rows refused, the TLS name {result.tls}"
    )
    return Goal(f"{name} does with every row what policy says", result.missing or measured, met)


def page(results: dict[str, Result], rows: Sequence[Row]) -> str:
    """Write it all down."""
    present = {name: result for name, result in results.items() if not result.missing}
    count = Counter(row.label for row in rows)
    direct = Table(
        ["", "version", "inside", "translated", "special", "honest, refused", "ambiguous, looked up", "tolerated"],
        [
            [name, result.version, *_places(result.direct), *map(str, _others(result.direct))]
            for name, result in present.items()
        ],
    )
    redirected = Table(
        ["", "follows", "inside", "translated", "special", "honest, refused", "rebinding", "mixed", "TLS name"],
        [
            [
                name,
                *_followed(result.redirected),
                str(result.direct.reached(Place.INSIDE, "rebinding")),
                str(sum(_is_mixed(each) and each.worst is Place.INSIDE for each in result.direct.fetched)),
                result.tls,
            ]
            for name, result in present.items()
        ],
    )
    return _PAGE.format(
        block=count["block"],
        invalid=count["invalid"],
        allow=count["allow"],
        rows=len(rows),
        redirects=sum(row.fits_a_header for row in rows),
        python=platform.python_version(),
        libc=" ".join(platform.libc_ver()),
        goals="\n".join(map(str, goals(results))),
        direct=direct,
        redirected=redirected,
        remarks="\n".join(f"- **{name}**: {CANDIDATES[name].remark}." for name in present if CANDIDATES[name].remark),
        absent="; ".join(name for name, result in results.items() if result.missing) or "none",
    )


def _places(tally: Tally) -> list[str]:
    return [str(tally.reached(where)) for where in (Place.INSIDE, Place.TRANSLATED, Place.SPECIAL)]


def _others(tally: Tally) -> tuple[int, int, int]:
    return tally.wrongly_refused, tally.looked_up, tally.tolerated


def _followed(tally: Tally) -> list[str]:
    """Whether it follows redirects, and where they led."""
    if any(each.dialled for each in tally.fetched):
        return ["yes", *_places(tally), str(tally.wrongly_refused)]
    honest = Counter(each.ended for each in tally.fetched if each.row.label == "allow")
    ended = honest.most_common(1)[0][0]
    return ["no" if ended == "answered" else f"fails: {ended}", "-", "-", "-", "-"]


def _is_mixed(fetched: Fetched) -> bool:
    return fetched.row.url.startswith("http://mixed")


_PAGE = """\
# Whom a URL can make us reach

Written by `python -m benchmarks.ssrf`; do not edit. Python {python}, {libc}.

A model or a stranger chooses the URL, so it may lead to this machine, to the network around it, or to the service of
the cloud that hands out credentials. {rows} URLs try: {block} are well formed and forbidden (`block`), {invalid} could
be read in two ways and are to be refused before any look-up (`invalid`), and {allow} are honest (`allow`), among them
international names and neighbours of special addresses, which a careless guard refuses.

Each candidate fetches all rows in a process of its own, with its defaults, and follows redirects where it can. Names
are looked up in a table, with several, mixed and changing answers; spellings of addresses such as `0x7f.1` are read by
the system's C library. Every connection is refused and written down: what counts is whom a candidate dialled, not what
it returned. Because connections are refused, a client goes on to the further addresses of a name, as it would for an
attacker who lets the first one fail. Then {redirects} rows are tried again as the target of a redirect from a public
page; the others hold line breaks or surrounding blanks, which a header cannot.

Our goal: no connection for a forbidden or ambiguous row, directly or by a redirect; no look-up for an ambiguous one; a
connection for every honest row that is asked for directly, and never to the second, internal answer of a name; and the
name in the URL is the one that the certificate is checked for.

{goals}

## Directly

{direct}

- **inside**: rows that reached an internal address on an ordinary host: loopback, private and link-local addresses,
  carrier-grade NAT, the services of clouds. A row counts once, for the worst it reached.
- **translated**: internal addresses in the clothes of NAT64, 6to4, Teredo or ISATAP: reached where a network has such
  a translator.
- **special**: multicast, documentation, deprecated and unallocated space, through which no way in is known.
- **honest, refused**: of {allow} honest rows, those for which nobody was dialled.
- **ambiguous, looked up**: of {invalid} ambiguous rows, those that made it ask the resolver, which tells the owner of
  a name.
- **tolerated**: rows that our policy refuses and that led to a public address: ports of other services, credentials
  in the URL, spellings that two parsers read differently. No forgery, but a guess.

## By a redirect, and by what the resolver says

{redirected}

- **follows**: whether it follows redirects by itself; the next four columns count what became of rows that were the
  target of one. What is not ASCII stands in the redirect as UTF-8, as servers send it.
- **rebinding** and **mixed**: of three names whose second answer is internal, and of three that have a public and an
  internal address, those whose internal address was reached.
- **TLS name**: two names share an address, whose certificate is for the first. After a page of the first was fetched,
  a request for the second must not arrive there: neither by itself nor by a redirect from the first. It is *not
  checked* where it did, over a connection that had been opened for the first. It *fails* where not even the page of
  the first could be fetched.

## Remarks

{remarks}

Not installed, so not measured: {absent}.

The labels of the corpus are our own policy. The tables of addresses that judge the results are not those of the guard.
The comparison shows what each candidate does about these rows, not that there are no others.
"""


def main() -> None:
    """Measure everybody, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default=sys.executable, help="the Python that has the peers installed")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="where urls.tsv and dns.json are")
    arguments = parser.parse_args()
    if not (arguments.corpus / "urls.tsv").is_file():
        parser.error(f"there is no urls.tsv in {arguments.corpus}; say --corpus where it is")
    corpus = arguments.corpus.resolve()
    rows = read_rows(corpus)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        running = {
            name: pool.submit(measure, name, candidate, arguments.peers, corpus, rows)
            for name, candidate in CANDIDATES.items()
        }
        results = {name: future.result() for name, future in running.items()}
    PAGE.write_text(page(results, rows), "utf-8")
    missed = [goal for goal in goals(results) if not goal.met]
    sys.exit("\n".join(map(str, missed)) if missed else None)


if __name__ == "__main__":
    main()
