"""Measure what a stranger's URL can reach: our guard and the guards found on PyPI, on a
corpus of hostile URLs.

Every candidate fetches every row in its own process, on a network that leads nowhere
(`benchmarks.ssrf.network`). What counts is the addresses it connects to, not what it
returns. Writes ``benchmarks/results/ssrf.md``, and exits with an error if our guard misses
its goal. ``make bench-ssrf`` installs the other candidates first.
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

from benchmarks.report import Goal, Table, store
from benchmarks.ssrf.candidates import CANDIDATES, Candidate
from benchmarks.ssrf.network import FIRST, Row, read_rows

_ROOT = Path(__file__).resolve().parents[2]
PAGE = _ROOT / "benchmarks" / "results" / "ssrf.md"
CORPUS = _ROOT.parent / "shared" / "corpora" / "hostile"

_AT_ONCE = 3  # processes
_TIMEOUT = 900.0  # seconds for one candidate: some make a TLS context for every page


class Place(IntEnum):
    """Where an address leads, from good to bad."""

    PUBLIC = 0
    SPECIAL = 1  # multicast, documentation, deprecated, unallocated: no way in is known
    # inside, where the network has a translator: NAT64, 6to4, Teredo, ISATAP
    TRANSLATED = 2
    INSIDE = 3  # inside, on any host


def _parse_networks(*texts: str) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    return [ipaddress.ip_network(text) for text in texts]


# Independent of the guard's tables: from the IANA registries, and RFC 3056, 4380, 5214,
# 6052 and 8215.
_INSIDE = _parse_networks(
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32",
    "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.168.0.0/16", "::/127", "fc00::/7", "fe80::/10",
)  # fmt: skip
_SPECIAL = _parse_networks(
    "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
    "203.0.113.0/24", "224.0.0.0/3",
    "::/3", "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
    "4000::/2", "8000::/1",
)  # fmt: skip
_NAT64, _NAT64_LOCAL = _parse_networks("64:ff9b::/96", "64:ff9b:1::/48")
# IPv4-compatible, IPv4-translated
_LAST_FOUR = _parse_networks("::/96", "::ffff:0:0:0/96")
_6TO4, _TEREDO = _parse_networks("2002::/16", "2001::/32")


def place(dialled: str) -> Place:
    """Return where a connection to this address leads."""
    if dialled.startswith("unix:"):
        return Place.INSIDE
    ip = ipaddress.ip_address(dialled)
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped:
        ip = ip.ipv4_mapped  # the kernel treats them as the same
    if any(ip in network for network in _INSIDE):
        return Place.INSIDE
    if isinstance(ip, ipaddress.IPv6Address):
        embedded = _find_embedded(ip)
        if ip in _NAT64_LOCAL or any(
            place(str(inner)) is not Place.PUBLIC for inner in embedded
        ):
            return Place.TRANSLATED
        if ip in _NAT64:
            return Place.PUBLIC
    return Place.SPECIAL if any(ip in network for network in _SPECIAL) else Place.PUBLIC


def _find_embedded(ip: ipaddress.IPv6Address) -> list[ipaddress.IPv4Address]:
    """Return the IPv4 addresses that a translator would find in *ip*."""
    raw, found = ip.packed, []
    if (
        ip in _NAT64
        or any(ip in network for network in _LAST_FOUR)
        or raw[8:12] in (b"\0\0^\xfe", b"\2\0^\xfe")
    ):
        found.append(raw[12:])
    if ip in _6TO4:
        found.append(raw[2:6])
    if ip in _TEREDO:
        found += [raw[4:8], bytes(byte ^ 0xFF for byte in raw[12:])]
    return [ipaddress.IPv4Address(each) for each in found]


@dataclass(frozen=True)
class Fetched:
    """What one candidate did with one row."""

    row: Row
    looked_up: Sequence[str]
    dialled: Sequence[str]
    ended: str

    @property
    def worst(self) -> Place:
        """The worst place it tried to connect to."""
        return max(map(place, self.dialled), default=Place.PUBLIC)


@dataclass(frozen=True)
class Tally:
    """What one candidate did with all rows, either directly or by a redirect."""

    fetched: Sequence[Fetched]

    def reached(self, where: Place, why: str = "") -> int:
        """Count the rows whose worst connection was to such a place."""
        return sum(
            each.worst is where and each.row.why.startswith(why)
            for each in self.fetched
        )

    @property
    def wrongly_refused(self) -> int:
        """Honest rows without any connection."""
        return sum(
            each.row.label == "allow" and not each.dialled for each in self.fetched
        )

    @property
    def tolerated(self) -> int:
        """Forbidden or ambiguous rows that led to a public address: not a forged
        request, but a guess.
        """
        return sum(
            each.row.label != "allow"
            and bool(each.dialled)
            and each.worst is Place.PUBLIC
            for each in self.fetched
        )

    @property
    def looked_up(self) -> int:
        """Ambiguous rows that were looked up."""
        return sum(
            each.row.label == "invalid" and bool(each.looked_up)
            for each in self.fetched
        )

    @property
    def connected(self) -> int:
        """Forbidden or ambiguous rows that led to any connection."""
        return sum(
            each.row.label != "allow" and bool(each.dialled) for each in self.fetched
        )

    @property
    def wrongly_connected(self) -> int:
        """Honest rows that led to a place that is not public, such as the second answer
        of a rebinding name.
        """
        return sum(
            each.row.label == "allow" and each.worst is not Place.PUBLIC
            for each in self.fetched
        )


@dataclass(frozen=True)
class Result:
    """The tallies of one candidate, or the reason why there are none."""

    version: str = ""
    missing: str = ""
    tls: str = ""
    direct: Tally = Tally(())
    redirected: Tally = Tally(())


def measure(
    name: str, candidate: Candidate, python: str, corpus: Path, rows: Sequence[Row]
) -> Result:
    """Let one candidate fetch the corpus in its own process."""
    own = ("WEB_SEARCH_", "LANGCHAIN_")
    env = {
        k: v
        for k, v in os.environ.items()
        if not k.lower().endswith("_proxy") and not k.startswith(own)
    }
    program = [
        sys.executable if candidate.ours else python,
        "-m",
        "benchmarks.ssrf.candidates",
    ]
    with tempfile.TemporaryDirectory() as elsewhere:  # a folder without a settings file
        authority, certificate = (
            Path(elsewhere, "authority.pem"),
            Path(elsewhere, "certificate.pem"),
        )
        ours = trustme.CA()
        ours.cert_pem.write_to_path(authority)
        ours.issue_cert(FIRST).private_key_and_cert_chain_pem.write_to_path(certificate)
        done = subprocess.run(
            [*program, name, str(corpus), str(certificate)],
            cwd=elsewhere,
            env=env
            | {
                "PYTHONPATH": str(_ROOT),
                "SSL_CERT_FILE": str(authority),
                "REQUESTS_CA_BUNDLE": str(authority),
            },
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=_TIMEOUT,
        )
    first, *lines = map(json.loads, done.stdout.splitlines())
    if "missing" in first:
        return Result(missing=first["missing"])
    last = lines.pop()
    return Result(
        first["version"],
        "",
        last["tls"],
        _make_tally(lines, "direct", rows),
        _make_tally(lines, "redirect", rows),
    )


def _make_tally(
    lines: Iterable[dict[str, Any]], way: str, rows: Sequence[Row]
) -> Tally:
    done = (each for each in lines if each["way"] == way)
    return Tally(
        [
            Fetched(
                rows[each["row"]], each["looked_up"], each["dialled"], each["ended"]
            )
            for each in done
        ]
    )


def goals(results: dict[str, Result]) -> list[Goal]:
    """Return for each of our candidates whether it met its goal."""
    return [
        _judge(name, result)
        for name, result in results.items()
        if CANDIDATES[name].ours
    ]


def _judge(name: str, result: Result) -> Goal:
    direct, redirected = result.direct, result.redirected
    connected = (
        direct.connected
        + redirected.connected
        + direct.wrongly_connected
        + redirected.wrongly_connected
    )
    looked_up = direct.looked_up + redirected.looked_up
    met = not (
        result.missing
        or connected
        or looked_up
        or direct.wrongly_refused
        or result.tls != "checked"
    )
    measured = (
        f"{connected} forbidden connections, {looked_up} look-ups of ambiguous names, "
        f"{direct.wrongly_refused} honest rows refused, the TLS name {result.tls}"
    )
    return Goal(
        f"{name} follows the policy for every row", result.missing or measured, met
    )


def page(results: dict[str, Result], rows: Sequence[Row]) -> str:
    """Return the text of the page."""
    present = {name: result for name, result in results.items() if not result.missing}
    count = Counter(row.label for row in rows)
    direct = Table(
        [
            "",
            "version",
            "inside",
            "translated",
            "special",
            "honest, refused",
            "ambiguous, looked up",
            "tolerated",
        ],
        [
            [
                name,
                result.version,
                *_count_places(result.direct),
                *map(str, _count_others(result.direct)),
            ]
            for name, result in present.items()
        ],
    )
    redirected = Table(
        [
            "",
            "follows",
            "inside",
            "translated",
            "special",
            "honest, refused",
            "rebinding",
            "mixed",
            "TLS name",
        ],
        [
            [
                name,
                *_count_followed(result.redirected),
                str(result.direct.reached(Place.INSIDE, "rebinding")),
                str(
                    sum(
                        _is_mixed(each) and each.worst is Place.INSIDE
                        for each in result.direct.fetched
                    )
                ),
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
        remarks="\n".join(
            f"- **{name}**: {CANDIDATES[name].remark}."
            for name in present
            if CANDIDATES[name].remark
        ),
        absent="; ".join(name for name, result in results.items() if result.missing)
        or "none",
    )


def _count_places(tally: Tally) -> list[str]:
    return [
        str(tally.reached(where))
        for where in (Place.INSIDE, Place.TRANSLATED, Place.SPECIAL)
    ]


def _count_others(tally: Tally) -> tuple[int, int, int]:
    return tally.wrongly_refused, tally.looked_up, tally.tolerated


def _count_followed(tally: Tally) -> list[str]:
    """Return whether it follows redirects, and where they led."""
    if any(each.dialled for each in tally.fetched):
        return ["yes", *_count_places(tally), str(tally.wrongly_refused)]
    honest = Counter(each.ended for each in tally.fetched if each.row.label == "allow")
    ended = honest.most_common(1)[0][0]
    return ["no" if ended == "answered" else f"fails: {ended}", "-", "-", "-", "-"]


def _is_mixed(fetched: Fetched) -> bool:
    return fetched.row.url.startswith("http://mixed")


_PAGE = """\
# What a URL can make us reach

Written by `python -m benchmarks.ssrf`; do not edit. Python {python}, {libc}.

A model or a stranger chooses the URL, so it may lead to this machine, to its network, or to the cloud service that
hands out credentials. {rows} URLs are tried: {block} are well formed and forbidden (`block`), {invalid} are ambiguous
and must be refused before any look-up (`invalid`), and {allow} are honest (`allow`), among them international names and
neighbours of special addresses, which a careless guard refuses.

Each candidate fetches all rows in its own process, with its defaults, and follows redirects where it can. Names are
looked up in a table that has several, mixed and changing answers; the system's C library reads unusual spellings of
addresses such as `0x7f.1`. Every connection is refused and recorded: what counts is the addresses a candidate tried to
connect to, not what it returned. Because connections are refused, a client tries the other addresses of a name too, as
it would for an attacker who lets the first one fail. Then {redirects} rows are tried again as the target of a redirect
from a public page; the others contain line breaks or begin or end with whitespace, which a header cannot carry.

Our goal: no connection for a forbidden or ambiguous row, directly or by a redirect; no look-up for an ambiguous one; a
connection for every honest row that is fetched directly, and never to the second, internal answer of a name; and the
certificate is checked against the name in the URL.

{goals}

## Directly

{direct}

- **inside**: rows that reached an internal address on an ordinary host: loopback, private and link-local addresses,
  carrier-grade NAT, cloud services. A row counts once, for the worst address it reached.
- **translated**: internal addresses embedded in NAT64, 6to4, Teredo or ISATAP addresses: reached where a network has
  such a translator.
- **special**: multicast, documentation, deprecated and unallocated addresses, through which no way in is known.
- **honest, refused**: of {allow} honest rows, those without any connection.
- **ambiguous, looked up**: of {invalid} ambiguous rows, those that made it ask the resolver, which the owner of a
  name can see.
- **tolerated**: rows that our policy refuses and that led to a public address: ports of other services, credentials
  in the URL, spellings that two parsers read differently. Such a request is not forged, but it rests on a guess.

## By a redirect, and by the answers of the resolver

{redirected}

- **follows**: whether it follows redirects by itself; the next four columns count the rows that were the target of
  one. A redirect has non-ASCII characters as UTF-8, as servers send them.
- **rebinding** and **mixed**: of three names whose second answer is internal, and of three that have a public and an
  internal address, those whose internal address was reached.
- **TLS name**: two names share an address, whose certificate is for the first. After a page of the first is fetched, a
  request for the second must not arrive there, neither directly nor by a redirect from the first. The name is *not
  checked* if it did, over the connection opened for the first. It *fails* if not even the page of the first could be
  fetched.

## Remarks

{remarks}

Not installed, so not measured: {absent}.

The labels of the corpus are our own policy. The tables of addresses that judge the results are independent of those of
the guard. The comparison shows how each candidate treats these rows, not that there are no others.
"""


def main() -> None:
    """Measure all candidates, and write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ssrf",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--peers",
        default=sys.executable,
        help="the Python that has the peers installed",
    )
    parser.add_argument(
        "--corpus",
        type=Path,
        default=CORPUS,
        help="the folder with urls.tsv and dns.json",
    )
    arguments = parser.parse_args()
    if not (arguments.corpus / "urls.tsv").is_file():
        parser.error(
            f"no urls.tsv in {arguments.corpus}: pass its folder with --corpus"
        )
    corpus = arguments.corpus.resolve()
    rows = read_rows(corpus)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        running = {
            name: pool.submit(measure, name, candidate, arguments.peers, corpus, rows)
            for name, candidate in CANDIDATES.items()
        }
        results = {name: future.result() for name, future in running.items()}
    store(PAGE, page(results, rows))
    missed = [goal for goal in goals(results) if not goal.met]
    sys.exit("\n".join(map(str, missed)) if missed else None)


if __name__ == "__main__":
    main()
