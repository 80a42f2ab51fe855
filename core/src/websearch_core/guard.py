"""
Which places a page may be read from.

The model chooses the URL and the hostile web chooses the answer, so there are two checks. `Guard.check` reads a URL,
strictly: what two parsers could read differently is refused, not guessed. `Guard.judge` looks at the addresses that a
name resolves to, at the moment of connecting, and `websearch_core.http` connects to the very address judged. Redirects,
rebinding DNS and odd spellings of an address all end at one of the two. This module is pure: it opens nothing.

The tables follow the IANA special-purpose registries (RFC 6890 and updates); Python's ``ipaddress.is_global`` is no
policy: it changed between versions and calls multicast, NAT64 and unallocated space global.
"""

from __future__ import annotations

import contextlib
import ipaddress
import re
import socket
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import quote

from .errors import ConfigurationError, UnsafeURL

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
Origin: TypeAlias = tuple[str, str, int]
Resolve: TypeAlias = Callable[[str, int], Sequence[str]]

_V4_SPECIAL = [
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
    )
]  # fmt: skip
_V6_UNICAST = ipaddress.IPv6Network("2000::/3")  # all that IANA has allocated for global unicast
_V6_SPECIAL = [
    ipaddress.IPv6Network(network)
    for network in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
]  # Teredo and other protocol assignments, documentation, 6to4, AS112
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_ISATAP = (b"\x00\x00\x5e\xfe", b"\x02\x00\x5e\xfe")
_METADATA = frozenset(
    ipaddress.ip_address(address)
    for address in (
        "169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "192.0.0.192", "168.63.129.16",
        "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:42::42",
    )
)  # cloud services that hand out credentials to whoever asks from inside; no hole is ever made for them  # fmt: skip

_INTERNAL = (
    "arpa", "corp", "home", "internal", "intranet", "invalid", "lan", "local", "localdomain", "localdomain6",
    "localhost", "onion", "private", "test",
)  # fmt: skip
_PORTS_OF_OTHERS = frozenset((
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
    110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531,
    532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060,
    5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
))  # https://fetch.spec.whatwg.org/#port-blocking  # fmt: skip

_LONGEST = 8192
_URL = re.compile(r"(https?)://([^/?#]*)([/?#].*)?", re.IGNORECASE | re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_BLANK = re.compile(r"[\s\xa0\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]")
_TO_ENCODE = re.compile(r"[^\x21-\x7e]|[\"<>\\^`{|}]")
_BRACKETED = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::([0-9]{0,5}))?")
_NAMED = re.compile(r"([^:\[\]@%\\]+)(?::([0-9]{0,5}))?")
_LABELS = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*")
_DOT_ALIKE = re.compile("[\u2024\u3002\ua4f8\ufe52\uff0e\uff61]")


def verdict(address: str) -> str | None:
    """Return why *address* is not one of the public internet's, or None if it is."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv4Address):
        special = ip in _METADATA or any(ip in network for network in _V4_SPECIAL)
        return "not a public address" if special else None
    if ip.scope_id is not None:
        return "a scoped address"
    if ip in _NAT64:  # what DNS64 answers for every IPv4 site: judge the address inside
        return verdict(str(ipaddress.IPv4Address(ip.packed[12:])))
    if ip not in _V6_UNICAST or any(ip in network for network in _V6_SPECIAL):
        return "not a public address"
    return "an embedded address" if ip.packed[8:12] in _ISATAP else None


def canonical(url: str) -> str:
    """
    Return *url* in the one form that all its spellings share, wherever it leads.

    Raises:
        UnsafeURL: It is not absolute http(s), or can be read in more than one way.

    """
    scheme, host, port, rest = _read(url)
    netloc = f"[{host}]" if ":" in host else host
    if port != _default_port(scheme):
        netloc += f":{port}"
    return f"{scheme}://{netloc}{rest}"


def is_readable(url: str) -> bool:
    """Tell whether *url* is an absolute http(s) URL that can be read in one way only, wherever it leads."""
    try:
        _read(url)
    except UnsafeURL:
        return False
    return True


def ask_system(host: str, port: int) -> list[str]:
    """Ask the system for the addresses of *host*; a trailing dot keeps the search domains of resolv.conf out of it."""
    return addresses(f"{host}." if "." in host else host, port)


def addresses(name: str, port: int) -> list[str]:
    """Ask the system for the addresses of *name* as it stands: a short one may be of this network."""
    found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(info[4][0]) for info in found))


@dataclass(frozen=True)
class Guard:
    """
    The policy for pages of the open web.

    Args:
        networks: Addresses that may be reached although they are not public.
        origins: ``(scheme, host, port)`` that may be reached wherever the name leads.
        resolve: How names become addresses; a test puts its own table here.

    """

    networks: tuple[Network, ...] = ()
    origins: frozenset[Origin] = frozenset()
    resolve: Resolve = field(default=ask_system, repr=False)

    @classmethod
    def allowing(cls, entries: Iterable[str], *, resolve: Resolve = ask_system) -> Guard:
        """
        Make a guard with holes: networks such as ``10.1.0.0/16``, origins such as ``https://wiki.corp:8443``.

        Raises:
            ConfigurationError: An entry is neither.

        """
        networks: list[Network] = []
        origins: set[Origin] = set()
        for entry in entries:
            if "://" in entry:
                origins.add(_origin(entry))
                continue
            try:
                networks.append(ipaddress.ip_network(entry))
            except ValueError as error:
                raise ConfigurationError(
                    f"allow: {entry!r} is neither a network such as '10.1.0.0/16' nor an origin such as "
                    "'https://wiki.corp:8443'"
                ) from error
        return cls(tuple(networks), frozenset(origins), resolve)

    def check(self, url: str) -> str:
        """
        Read *url* strictly, without asking the network anything.

        Returns:
            The same URL in its one canonical form.

        Raises:
            UnsafeURL: It is ambiguous, or its scheme, name, port or literal address is not for pages.

        """
        scheme, host, port, _ = _read(url)
        if (scheme, host, port) not in self.origins:
            self._check_place(host, port)
        return canonical(url)

    def _check_place(self, host: str, port: int) -> None:
        if port in _PORTS_OF_OTHERS:
            raise UnsafeURL("this port belongs to another kind of service")
        if ip := literal(host):
            if _METADATA & {ip, _inside(ip)} or (verdict(str(ip)) and not self._is_hole(ip)):
                raise UnsafeURL("the address is not a public one")
        elif not self.networks and _is_internal(host):  # with a hole in the wall, its address decides
            raise UnsafeURL("the host name is an internal one")

    def judge(self, host: str, port: int, addresses: Sequence[str]) -> list[str]:
        """
        Decide which of the *addresses* found for *host* may be connected to, in the order to try them.

        One bad address refuses the whole name: honest names do not mix.

        Raises:
            UnsafeURL: They are not public. The message does not tell what they are.

        """
        ips = [ipaddress.ip_address(address) for address in addresses]
        named = any((host, port) == origin[1:] for origin in self.origins)
        if not all(self._may_connect(ip, named) for ip in ips):
            raise UnsafeURL("the address is not a public one")
        return _alternating([str(ip) for ip in ips])

    def _may_connect(self, ip: Address, named: bool) -> bool:
        if _METADATA & {ip, _inside(ip)}:
            return False
        return named or self._is_hole(ip) or (verdict(str(ip)) is None and not _is_own(ip))

    def _is_hole(self, ip: Address) -> bool:
        return any(ip in network for network in self.networks if network.version == ip.version)


def _read(url: str) -> tuple[str, str, int, str]:
    """Split *url* into scheme, host, port and the rest; the host in lower-case ASCII."""
    if len(url) > _LONGEST:
        raise UnsafeURL(f"the URL is longer than {_LONGEST} characters")
    if _CONTROL.search(url) or url != url.strip():
        raise UnsafeURL("the URL holds control characters or surrounding blanks")
    match = _URL.fullmatch(url)
    if match is None:
        other = _SCHEME.match(url) and not re.match("https?:", url, re.IGNORECASE)
        raise UnsafeURL("only http and https URLs can be opened" if other else "not an absolute http(s) URL")
    scheme, authority, rest = match[1].lower(), match[2], match[3] or "/"
    if "@" in authority:
        raise UnsafeURL("the URL holds credentials")
    if _BLANK.search(authority):
        raise UnsafeURL("the host name holds blanks")
    if bracketed := _BRACKETED.fullmatch(authority):
        host, digits = _ipv6(bracketed[1]), bracketed[2]
    elif named := _NAMED.fullmatch(authority):
        host, digits = _name(named[1]), named[2]
    else:
        raise UnsafeURL("the host cannot be read in one way only")
    port = int(digits) if digits else _default_port(scheme)
    if not 0 <= port <= 65535:
        raise UnsafeURL("the port is out of range")
    if rest[0] != "/":
        rest = f"/{rest}"
    return scheme, host, port, _TO_ENCODE.sub(lambda found: quote(found[0]), rest)


def _ipv6(text: str) -> str:
    try:
        return str(ipaddress.IPv6Address(text))
    except ValueError:
        raise UnsafeURL("the IPv6 address is malformed") from None


def _name(raw: str) -> str:
    host = raw.lower()
    if not host.isascii():
        host = _to_ascii(host)
    host = host.removesuffix(".")
    if len(host) > 253 or not _LABELS.fullmatch(host):
        raise UnsafeURL("the host name is malformed")
    if _NUMERIC.fullmatch(
        host.rpartition(".")[2]
    ):  # numbers that some resolvers take for an address: 127.1, 0x7f000001
        try:
            return str(ipaddress.IPv4Address(host))
        except ValueError:
            raise UnsafeURL("the IPv4 address is not written as four decimal numbers") from None
    if "xn--" in host:
        for label in host.split("."):
            if label.startswith("xn--"):
                _from_punycode(label)
    return host


def _to_ascii(host: str) -> str:
    import idna  # large tables: only for those who need them

    if _DOT_ALIKE.search(host):
        raise UnsafeURL("the host name holds something that only looks like a dot")
    try:
        return idna.encode(host).decode("ascii")
    except UnicodeError:
        raise UnsafeURL("the host name is not a valid international one") from None


def _from_punycode(label: str) -> None:
    import idna

    try:
        idna.decode(label)
    except UnicodeError:
        raise UnsafeURL("the host name is not valid punycode") from None


def _default_port(scheme: str) -> int:
    return 443 if scheme == "https" else 80


def _origin(entry: str) -> Origin:
    try:
        scheme, host, port, rest = _read(entry)
    except UnsafeURL as error:
        raise ConfigurationError(f"allow: {entry!r}: {error}") from error
    if rest != "/":
        raise ConfigurationError(f"allow: {entry!r} has a path; an origin is scheme, host and port")
    return scheme, host, port


def literal(host: str) -> Address | None:
    """Return the address that *host* is, or None if it is a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _inside(ip: Address) -> Address:
    """Return the IPv4 address that an IPv6 address may stand for, else the address itself."""
    if isinstance(ip, ipaddress.IPv4Address):
        return ip
    if ip.teredo is not None:
        return ip.teredo[1]
    if ip.sixtofour is not None:
        return ip.sixtofour
    carries = ip in _NAT64 or int(ip) >> 64 == 0 or ip.packed[8:12] in _ISATAP  # the second: ::, ::ffff: and ::ffff:0:
    return ipaddress.IPv4Address(ip.packed[12:]) if carries else ip


def _is_internal(host: str) -> bool:
    return "." not in host or any(host == suffix or host.endswith(f".{suffix}") for suffix in _INTERNAL)


def _is_own(ip: Address) -> bool:
    """True if the kernel would reach *ip* by talking to itself. Connecting a UDP socket sends nothing."""
    family = socket.AF_INET if ip.version == 4 else socket.AF_INET6
    with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((str(ip), 9))
        return bool(probe.getsockname()[0] == str(ip))
    return False


def _alternating(addresses: list[str]) -> list[str]:
    """Alternate the families, IPv6 first, keeping the resolver's order in each (RFC 8305, section 4)."""
    six = [address for address in addresses if ":" in address]
    four = [address for address in addresses if ":" not in address]
    longest = max(len(six), len(four))
    return [address for turn in range(longest) for address in (*six[turn : turn + 1], *four[turn : turn + 1])]
