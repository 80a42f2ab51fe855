"""Decide where pages may be read from.

The model chooses the URL and the hostile web chooses the answer, so there are two
checks. `Guard.check` parses a URL strictly: a URL that two parsers could read
differently is refused, not guessed. `Guard.judge` checks the addresses that a name
resolves to, at the moment of connecting, and `websearch_core._net.backend` connects to
exactly these addresses. Redirects, rebinding DNS and odd spellings of an address all
meet one of the two. This module opens nothing: the calls to the operating system are
passed in as ``resolve`` and ``is_own``, whose defaults are in `system`.

The tables follow the IANA special-purpose registries (RFC 6890 and updates). Python's
``ipaddress.is_global`` is not enough: it changed between versions and calls multicast,
NAT64 and unallocated space global.
"""

from __future__ import annotations
import ipaddress
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import TypeAlias

from .._text.urls import (
    Address,
    Network,
    Origin,
    parse_address,
    parse_holes,
    serialize,
    split_url,
)
from ..errors import UnsafeURL
from ..models._domains import ANYWHERE, Domains
from .system import is_own_address, resolve_host

Resolve: TypeAlias = Callable[[str, int], Sequence[str]]

_V4_SPECIAL = [
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
        "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
    )
]  # fmt: skip
# all that IANA has allocated for global unicast
_V6_UNICAST = ipaddress.IPv6Network("2000::/3")
_V6_SPECIAL = [
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "2620:4f:8000::/48",
        "3fff::/20",
    )
]  # Teredo and other protocol assignments, documentation, 6to4, AS112
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_LOCAL_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")  # RFC 8215
_ISATAP = (b"\x00\x00\x5e\xfe", b"\x02\x00\x5e\xfe")
# where clouds give credentials to any machine inside; never allowed, not even by a hole
_FORBIDDEN = [
    ipaddress.ip_network(network)
    for network in (
        # link-local: AWS, Azure, Google, Oracle, Tencent, OpenStack, Scaleway, ...
        "169.254.0.0/16", "fe80::/10",
        "100.80.80.80",  # UCloud
        "100.96.0.96",  # Volcano Engine
        "100.100.100.200", "fd00:100::100:200",  # Alibaba
        "168.63.129.16",  # Azure: a public address
        "192.0.0.192", "fd00:c1::a9fe:a9fe",  # Oracle
        "fd00:42::42",  # Scaleway
        "fd00:a9fe:a9fe::1",  # Akamai
        "fd00:ec2::/32",  # AWS
        "fd20:ce::254",  # Google
    )
]  # fmt: skip

_INTERNAL = (
    "arpa", "corp", "home", "internal", "intranet", "invalid", "lan", "local",
    "localdomain", "localdomain6",
    "localhost", "onion", "private", "test",
)  # fmt: skip
_BLOCKED_PORTS = frozenset((
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87,
    95, 101, 102, 103, 104, 109,
    110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512,
    513, 514, 515, 526, 530, 531,
    532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723,
    2049, 3659, 4045, 4190, 5060,
    5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
))  # https://fetch.spec.whatwg.org/#port-blocking  # fmt: skip


def verdict(address: str) -> str | None:
    """Return why *address* is not a public internet address, or None if it is one."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv4Address):
        is_special = any(ip in network for network in _V4_SPECIAL)
        if is_special or _is_forbidden(ip):
            return "not a public address"
        return None
    if ip.scope_id is not None:
        return "a scoped address"
    # the answer of DNS64 for every IPv4 site: judge the address inside
    if ip in _NAT64:
        return verdict(str(ipaddress.IPv4Address(ip.packed[12:])))
    if ip not in _V6_UNICAST or any(ip in network for network in _V6_SPECIAL):
        return "not a public address"
    if ip.packed[8:12] in _ISATAP:
        return "an embedded address"
    return None


@dataclass(frozen=True)
class Guard:
    """The policy for pages of the open web.

    No hole allows link-local addresses, or others where a cloud is known to give out
    credentials.
    """

    networks: tuple[Network, ...] = ()  # allowed although they are not public
    origins: frozenset[Origin] = frozenset()  # allowed whatever address the name has
    # that pages may be on; nothing else may be opened, not even a hole
    domains: Domains = ANYWHERE
    # a test passes its own table
    resolve: Resolve = field(default=resolve_host, repr=False)
    # whether it is of this machine
    is_own: Callable[[Address], bool] = field(default=is_own_address, repr=False)

    @classmethod
    def allowing(
        cls,
        entries: Iterable[str],
        *,
        domains: Domains = ANYWHERE,
        resolve: Resolve = resolve_host,
        is_own: Callable[[Address], bool] = is_own_address,
    ) -> Guard:
        """Make a guard with holes: networks such as ``10.1.0.0/16``, origins such as
        ``https://wiki.corp:8443``.
        """
        return cls(*parse_holes(entries), domains, resolve, is_own)

    def check(self, url: str) -> str:
        """Check *url* strictly, without using the network; return it as it is to be
        sent.

        Raise `UnsafeURL` if it is ambiguous, or its scheme, name, port or literal
        address is not allowed for pages, and `DomainNotAllowed` if its domain is not.
        """
        origin = split_url(url)[:3]
        host, port = origin[1:]
        ip = parse_address(host)
        if ip and _is_forbidden(ip):
            raise UnsafeURL("the address is not a public one")
        if origin not in self.origins:
            # `judge` does not see the scheme, and would allow it
            if self._is_origin(host, port):
                raise UnsafeURL(
                    "this host and port are allowed over another scheme only"
                )
            self._check_host(origin[0], host, port)
        self.domains.check(url)
        return serialize(url)

    def _check_host(self, scheme: str, host: str, port: int) -> None:
        if port in _BLOCKED_PORTS:
            raise UnsafeURL("this port belongs to another kind of service")
        ip = parse_address(host)
        if ip:
            if verdict(str(ip)) and not self._is_hole(ip):
                raise _refuse("the address is not a public one", host, port, scheme)
        elif not self.networks and _is_internal(host):
            # with allowed networks, its address decides
            raise _refuse("the host name is an internal one", host, port, scheme)

    def judge(self, host: str, port: int, addresses: Sequence[str]) -> list[str]:
        """Return the *addresses* of *host*, IPv6 and IPv4 in turn (RFC 8305, section
        4), if we may connect to all of them; else raise `UnsafeURL`, whose message does
        not contain them.

        One non-public address refuses the whole name: honest names do not mix.
        Connecting has no scheme: `check` has already refused the URL if *host* and
        *port* are allowed only with another scheme.
        """
        ips = [ipaddress.ip_address(address) for address in addresses]
        named = self._is_origin(host, port)
        if not all(self._may_connect(ip, named) for ip in ips):
            raise _refuse("the address is not a public one", host, port)
        six = [str(ip) for ip in ips if ip.version == 6]
        four = [str(ip) for ip in ips if ip.version == 4]
        in_turn = chain.from_iterable(zip_longest(six, four))
        return [address for address in in_turn if address]

    def _may_connect(self, ip: Address, named: bool) -> bool:
        if _is_forbidden(ip):
            return False
        return (
            named
            or self._is_hole(ip)
            or (verdict(str(ip)) is None and not self.is_own(ip))
        )

    def _is_origin(self, host: str, port: int) -> bool:
        return any((host, port) == origin[1:] for origin in self.origins)

    def _is_hole(self, ip: Address) -> bool:
        return _is_in_any(ip, self.networks)


def _refuse(why: str, host: str, port: int, scheme: str = "") -> UnsafeURL:
    """Make the error, with a note for people that says how to allow it: models are
    shown only *why*.
    """
    if not scheme:
        scheme = "https" if port in {443, 8443} else "http"
    place = f"[{host}]" if ":" in host else host
    origin = f"{scheme}://{place}"
    if port not in {80, 443}:
        origin += f":{port}"
    error = UnsafeURL(why)
    error.add_note(
        f"If it is meant to be read, allow it by internal=[{origin!r}] or --internal "
        f"{origin}"
    )
    return error


def _is_forbidden(ip: Address) -> bool:
    """Return whether a cloud may give out credentials at *ip* or an address embedded in
    it.
    """
    return any(_is_in_any(address, _FORBIDDEN) for address in _find_embedded(ip))


def _is_in_any(ip: Address, networks: Iterable[Network]) -> bool:
    return any(ip in network for network in networks if network.version == ip.version)


def _find_embedded(ip: Address) -> list[Address]:
    """Return *ip* and the IPv4 addresses that may be embedded in it."""
    if isinstance(ip, ipaddress.IPv4Address):
        return [ip]
    addresses: list[Address] = [ip]
    if ip.teredo is not None:
        addresses.append(ip.teredo[1])
    if ip.sixtofour is not None:
        addresses.append(ip.sixtofour)
    packed = ip.packed
    is_mapped = int(ip) >> 64 == 0  # ::, ::ffff: and ::ffff:0:
    is_translated = ip in _NAT64 or packed[8:12] in _ISATAP
    if is_mapped or is_translated:
        addresses.append(ipaddress.IPv4Address(packed[12:]))
    # any prefix length: byte 8 is never part of the address (RFC 6052, 2.2)
    if ip in _LOCAL_NAT64:
        octets = packed[6:8] + packed[9:]
        addresses += [
            ipaddress.IPv4Address(octets[begin : begin + 4]) for begin in range(3)
        ]
        addresses.append(ipaddress.IPv4Address(packed[12:]))
    return addresses


def _is_internal(host: str) -> bool:
    return "." not in host or any(
        host == suffix or host.endswith(f".{suffix}") for suffix in _INTERNAL
    )
