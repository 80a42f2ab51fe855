"""Parse URLs strictly: one canonical form, or an error.

`serialize` returns what is sent, and `canonicalize` what is compared. A server may tell
apart two spellings that nearly all servers take for one, so a URL is sent as it was
written.
"""

from __future__ import annotations
import ipaddress
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple, Protocol, TypeAlias, TypeVar
from urllib.parse import parse_qsl, quote, urlsplit

from ..errors import ConfigurationError, UnsafeURL

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
Origin: TypeAlias = tuple[str, str, int]


class SplitURL(NamedTuple):
    scheme: str
    host: str  # in lower-case ASCII
    port: int
    rest: str  # path, query and fragment


PORTS = {"http": 80, "https": 443}
_MAX_LENGTH = 8192
_LIST = re.compile(r"(?:\.xml(?:\.gz)?|/llms\.txt|/sitemap[^/]*)$", re.IGNORECASE)
_URL = re.compile(r"(https?)://([^/?#]*)([/?#].*)?", re.IGNORECASE | re.DOTALL)
_ORIGIN = re.compile(r"https?://[^/\\?#]+(?=/)", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_WITHOUT_SCHEME = re.compile(
    r"(localhost|[\w-]+(\.[\w-]+)+|[\w-]+(?=:\d))(:\d+)?([/?][^\s@]*)?"
)
_PUBLIC_NAME = re.compile(r"[\w-]+\.[\w.-]*[A-Za-z]([/?]|$)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_BLANK = re.compile(
    r"[\s\xa0\u1680\u180e\u2000-\u200b\u200e\u200f\u2028-\u202f"
    r"\u205f-\u206f\u3000\ufeff]"
)
_TO_ENCODE = re.compile(r"[^\x21-\x7e]|[\"<>\\^`{|}]")
_ENCODED = re.compile(r"%([0-9A-Fa-f]{2})|[\[\]]")
_UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
# What means the same percent-encoded: in a query, "&", "=", "+" and ";" do not.
_PLAIN_IN_PATH = frozenset(f"{_UNRESERVED}!$&'()*+,;=:@")
_PLAIN_IN_QUERY = frozenset(f"{_UNRESERVED}!$'()*,:@/?")
_AFTER_PATH = re.compile("[?#]")
_DOTS = re.compile(r"/(?:\.|%2e){1,2}(?=[/?#]|\Z)", re.IGNORECASE)
_BRACKETED = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::([0-9]{0,5}))?")
_NAMED = re.compile(r"([^:\[\]@%\\]+)(?::([0-9]{0,5}))?")
_LABELS = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*")
# Parameters that say where a visitor came from, and never which page it is.
_TRACKING = re.compile(
    r"utm_\w+|mc_[ce]id|_hs(enc|mi)|(fb|g|d|y|tw|tt)clid|msclkid|gclsrc|[gw]braid"
    r"|srsltid|igshid?|mkt_tok"
    r"|oly_(anon|enc)_id|vero_id|_openstat|li_fat_id|ref_src",
    re.IGNORECASE,
)
_IN_TEXT = re.compile(r"https?://[^\s<>\"'`\\^{|}]+", re.IGNORECASE)
_PUNCTUATION = tuple(".,;:!?*")
_BRACKETS = {")": "(", "]": "["}
_MAX_SHOWN = 200  # characters
_SECRET_NAME = re.compile(
    "auth|code|cred|key|pass|pwd|secret|session|sid|sig|ticket|token", re.IGNORECASE
)
_SECRET_VALUE = re.compile(r"[A-Za-z0-9_\-.~+/=]{20,}")
_DIGIT_AND_LETTER = re.compile("[0-9][^0-9]*[A-Za-z]|[A-Za-z][^A-Za-z]*[0-9]")
_DOT_ALIKE = re.compile("[\u2024\u3002\ua4f8\ufe52\uff0e\uff61]")


def serialize(url: str) -> str:
    """Return *url* as it is sent: as it is written, if that is how a URL is written.
    The host may be any.

    The host is in lower-case ASCII, ``.`` and ``..`` in the path are resolved, and what
    a URL cannot contain is percent-encoded. What is not an absolute http(s) URL, or is
    ambiguous, is an `UnsafeURL`.
    """
    parts = split_url(url)
    return _write_origin(parts) + parts.rest


@lru_cache(maxsize=4096)  # each result of a search is looked at several times
def canonicalize(url: str) -> str:
    """Return the canonical form of *url*, the same for all its spellings. The host may
    be any, internal ones included.

    Spellings are one if RFC 3986, section 6.2.2, says so, or if they differ only in
    whether a character without a meaning of its own there is percent-encoded:
    ``/Kelp_(alga)`` and ``/Kelp_%28alga%29``. This form is for comparing; `serialize`
    returns what to send, and raises the same errors.
    """
    parts = split_url(url)
    rest = parts.rest
    if _ENCODED.search(rest):
        path = _find_path(rest)
        query = _normalize(rest[len(path) :], _PLAIN_IN_QUERY)  # and the fragment
        rest = _normalize(path, _PLAIN_IN_PATH) + query
    return _write_origin(parts) + rest


@lru_cache(maxsize=1024)
def identify(url: str) -> str:
    """Return what identifies the page at *url*: its canonical form without the
    fragment, unless `find_route` finds one.

    What is not an http(s) URL, such as the ``file:`` URL of a local index, is returned
    as it is.
    """
    try:
        return strip_anchor(canonicalize(url))
    except UnsafeURL:
        return url


def find_route(url: str) -> str:
    """Return the fragment of *url* if it is a path (``#/inbox``, ``#!inbox``): scripts
    show another page for each.
    """
    fragment = url.partition("#")[2]
    return f"#{fragment}" if fragment.startswith(("!", "/")) else ""


def strip_anchor(url: str) -> str:
    """Return *url* without the place on the page that its fragment names; a route
    stays.
    """
    return url.partition("#")[0] + find_route(url)


@lru_cache(maxsize=1024)
def find_page(url: str) -> str:
    """Return what identifies the page at *url*: the same for all addresses under which
    services list it.

    Left out are the scheme, ``www.``, the fragment unless it is a route, a slash at the
    end, and parameters for tracking. The result is not a URL. What is not an http(s)
    URL, such as ``file:``, is returned as it is.
    """
    try:
        absolute = canonicalize(url)
    except UnsafeURL:
        return url
    address = absolute.partition("://")[2].partition("#")[0]
    path, *queries = address.removeprefix("www.").split("?", 1)
    place = path.rstrip("/")
    parameters = [part for part in "".join(queries).split("&") if _names_page(part)]
    if parameters:
        place += "?" + "&".join(parameters)
    return place + find_route(absolute)


def are_of_one_site(url: str, other: str) -> bool:
    """Return whether two URLs have the same host, whether or not they say ``www.``, at
    the same port; those of http and https count as one. Raise `UnsafeURL` as
    `serialize` does.
    """
    places: list[tuple[str, int]] = []
    for scheme, host, port, _ in map(split_url, (url, other)):
        place = 0 if port == PORTS[scheme] else port
        places.append((host.removeprefix("www."), place))
    return places[0] == places[1]


def as_slashes(address: str) -> str:
    """Return an address as browsers read it: a backslash in its path is a slash
    (https://url.spec.whatwg.org). One beside its host stays, and is refused: programs
    disagree about what the host is.
    """
    begin = _ORIGIN.match(address)
    if begin is None and _SCHEME.match(address):
        return address
    rest = address[begin.end() :] if begin else address
    path = _find_path(rest)
    slashes = path.replace("\\", "/")
    return address.removesuffix(rest) + slashes + rest.removeprefix(path)


def is_list(url: str) -> bool:
    """Return whether *url* is probably that of a sitemap, or of another list of
    pages.
    """
    return _LIST.search(url.partition("?")[0]) is not None


def move(url: str, start: str) -> str:
    """Return *url* with the scheme, host and port of *start*; raise `UnsafeURL` as
    `serialize` does.
    """
    return _write_origin(split_url(start)) + split_url(url).rest


def _names_page(parameter: str) -> bool:
    """Return whether a parameter of a query may say which page it is."""
    return parameter != "" and not _TRACKING.fullmatch(parameter.partition("=")[0])


class Listed(Protocol):
    """A page of which `find_page` was asked."""

    @property
    def page(self) -> str:
        """What `find_page` returns for its URL."""
        ...


L = TypeVar("L", bound=Listed)


def find_alike(pages: Mapping[str, L], url: str) -> list[L]:
    """Return which of *pages*, by what `identify` returns, is exactly that at *url*.

    If none is, return all that services may list instead, which may be several.
    """
    exact = pages.get(identify(url))
    if exact is not None:
        return [exact]
    page = find_page(url)
    return [listed for listed in pages.values() if listed.page == page]


def locate(url: str) -> tuple[str, int]:
    """Return the host of *url*, in lower-case ASCII, and its port; raise `UnsafeURL` as
    `serialize` does.
    """
    return split_url(url)[1:3]


def find_origin(url: str) -> Origin | None:
    """Return the scheme, host and port of *url*; None if `is_web_url` is false for
    it.
    """
    try:
        return split_url(url)[:3]
    except UnsafeURL:
        return None


def parse_holes(
    entries: Iterable[str],
) -> tuple[tuple[Network, ...], frozenset[Origin]]:
    """Return the networks, ``10.1.0.0/16``, and the origins,
    ``https://wiki.corp:8443``, in *entries*.
    """
    networks: list[Network] = []
    origins: set[Origin] = set()
    for entry in entries:
        if "://" in entry:
            origins.add(_parse_origin(entry))
            continue
        try:
            networks.append(ipaddress.ip_network(entry))
        except ValueError as error:
            raise ConfigurationError(
                f"internal: {entry!r} is neither a network such as '10.1.0.0/16' nor "
                "an origin such as 'https://wiki.corp:8443'"
            ) from error
    return tuple(networks), frozenset(origins)


def _parse_origin(entry: str) -> Origin:
    try:
        parts = split_url(entry)
    except UnsafeURL as error:
        raise ConfigurationError(f"internal: {entry!r}: {error}") from error
    if parts.rest != "/":
        raise ConfigurationError(
            f"internal: {entry!r} has a path; an origin is scheme, host and port"
        )
    return parts[:3]


def find_host(url: str) -> str:
    """Return the host of *url*, with its port unless that is a default; empty if it is
    not an http(s) URL.
    """
    origin = find_origin(url)
    if origin is None:
        return ""
    host, port = origin[1:]
    return host if port in {80, 443} else f"{host}:{port}"


def is_web_url(url: str) -> bool:
    """Return whether *url* is an absolute, unambiguous http(s) URL. The host may be
    any, internal ones included.
    """
    return find_origin(url) is not None


def complete_url(text: str) -> str:
    """Return *text* with the scheme that it lacks, as in ``localhost:8888``; empty if
    it is not only that.
    """
    if not _WITHOUT_SCHEME.fullmatch(text):
        return ""
    scheme = "https" if _PUBLIC_NAME.match(text) else "http"
    return f"{scheme}://{text}"


def describe_relative(text: str) -> str:
    """Say that *text* is no absolute URL, and which one was probably meant."""
    guess = complete_url(text.lstrip("/"))
    if guess:
        return f"not an absolute http(s) URL; did you mean {describe_url(guess)}?"
    return "not an absolute http(s) URL such as https://example.com/"


@lru_cache(maxsize=1024)  # each result of a search is looked at several times
def describe_url(url: str) -> str:
    """Return *url* for a log or an error: printable ASCII, without credentials and
    fragment, and cut if it is long.

    Values of its query that look like secrets are left out: those named for one, and
    those that nobody could guess. So are parameters of its path, such as a session.
    """
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        path = re.sub(";[^/]*", ";...", parts.path)
        if parts.port is None and not host:  # "https:name:password@host"
            path = path.rpartition("@")[2]
        query = "&".join(
            _describe_parameter(name, value)
            for name, value in parse_qsl(parts.query, keep_blank_values=True)
        )
    except ValueError:  # also where a port should be: "https://name:pass/word@host"
        return "an invalid URL"
    text = f"{host}{path}"
    if parts.scheme:
        text = f"{parts.scheme}://{text}"
    elif host:
        text = f"//{text}"
    if query:
        text = f"{text}?{query}"
    text = re.sub(r"[^\x21-\x7e]", "?", text)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


def _describe_parameter(name: str, value: str) -> str:
    label = "..." if _is_unguessable(name) else quote(name)
    content = "..." if _looks_secret(name, value) else quote(value)
    return f"{label}={content}"


def _looks_secret(name: str, value: str) -> bool:
    # such as another URL, or JSON
    holds_names = _SECRET_NAME.search(value) and re.search("[%&:;=]", value)
    return (
        bool(_SECRET_NAME.search(name) or holds_names)
        or {*":@"} <= {*value}
        or _is_unguessable(value)
    )


def _is_unguessable(text: str) -> bool:
    return any(_DIGIT_AND_LETTER.search(run) for run in _SECRET_VALUE.findall(text))


@lru_cache(maxsize=1024)  # each result of a search is looked at several times
def split_url(url: str) -> SplitURL:
    """Split *url*, or raise `UnsafeURL`."""
    if len(url) > _MAX_LENGTH:
        raise UnsafeURL(f"the URL is longer than {_MAX_LENGTH} characters")
    if _CONTROL.search(url) or url != url.strip():
        raise UnsafeURL("the URL contains control characters or surrounding spaces")
    match = _URL.fullmatch(url)
    if match is None:
        has_scheme = _SCHEME.match(url) and not complete_url(url)
        if has_scheme and not re.match("https?:", url, re.IGNORECASE):
            raise UnsafeURL("only http and https URLs can be opened")
        raise UnsafeURL(describe_relative(url))
    scheme = match[1].lower()
    host, port = _split_authority(match[2], PORTS[scheme])
    rest = match[3] or "/"
    if rest[0] != "/":
        rest = f"/{rest}"
    if _DOTS.search(rest):
        rest = _resolve_dots(rest)
    rest = _TO_ENCODE.sub(lambda sign: quote(sign[0]), rest)
    return SplitURL(scheme, host, port, rest)


def _split_authority(authority: str, default_port: int) -> tuple[str, int]:
    """Return the host, in lower-case ASCII, and the port."""
    if "@" in authority:
        raise UnsafeURL("the URL contains credentials")
    if _BLANK.search(authority):
        raise UnsafeURL("the host name contains spaces")
    match = _BRACKETED.fullmatch(authority)
    parse: Callable[[str], str] = _parse_ipv6
    if match is None:
        match = _NAMED.fullmatch(authority)
        parse = _parse_name
    if match is None:
        raise UnsafeURL("the host is ambiguous")
    host = parse(match[1])
    port = int(match[2]) if match[2] else default_port
    if not 0 <= port <= 65535:
        raise UnsafeURL("the port is out of range")
    return host, port


def _write_origin(parts: SplitURL) -> str:
    netloc = f"[{parts.host}]" if ":" in parts.host else parts.host
    if parts.port != PORTS[parts.scheme]:
        netloc += f":{parts.port}"
    return f"{parts.scheme}://{netloc}"


def _find_path(rest: str) -> str:
    """Return the path of what follows the origin in a URL."""
    return _AFTER_PATH.split(rest, 1)[0]


def _resolve_dots(rest: str) -> str:
    """Resolve the dot segments of a path, also percent-encoded ones, as browsers do
    before they send anything.
    """
    path = _find_path(rest)
    *inner, last = path[1:].split("/")
    segments: list[str] = []
    for segment in [*inner, last]:
        dots = segment.lower().replace("%2e", ".")
        if dots == "..":
            del segments[-1:]
        elif dots != ".":
            segments.append(segment)
    if last.lower().replace("%2e", ".") in {".", ".."}:
        segments.append("")
    return "/" + "/".join(segments) + rest[len(path) :]


def _normalize(text: str, plain: frozenset[str]) -> str:
    """Decode the escapes of *plain* characters; write the others in upper case."""

    def normalize(match: re.Match[str]) -> str:
        if not match[1]:  # a bracket, which a path cannot contain, and Markdown neither
            return quote(match[0])
        character = chr(int(match[1], 16))
        return character if character in plain else match[0].upper()

    return _ENCODED.sub(normalize, text)


def _parse_ipv6(text: str) -> str:
    try:
        return str(ipaddress.IPv6Address(text))
    except ValueError:
        raise UnsafeURL("the IPv6 address is malformed") from None


def _parse_name(raw: str) -> str:
    host = to_ascii(raw).removesuffix(".")
    if len(host) > 253 or not _LABELS.fullmatch(host):
        raise UnsafeURL("the host name is malformed")
    # some resolvers take this for an address: 127.1, 0x7f000001
    if _NUMERIC.fullmatch(host.rpartition(".")[2]):
        try:
            return str(ipaddress.IPv4Address(host))
        except ValueError:
            raise UnsafeURL(
                "the IPv4 address is not written as four decimal numbers"
            ) from None
    if "xn--" in host:
        for label in host.split("."):
            if label.startswith("xn--"):
                _check_punycode(label)
    return host


def to_ascii(host: str) -> str:
    """Return a host name in lower case, an internationalized one as DNS has it (IDNA
    2008, as in UTS 46's strict form).

    Joiners are allowed where a script needs them, as in Persian. Symbols and emoji,
    which look alike, are not.
    """
    # `lower` alone writes the last sigma of a word differently
    host = host.replace("\u03a3", "\u03c3").lower()
    if host.isascii():
        return host
    import idna  # large tables: import them only if needed

    if _DOT_ALIKE.search(host):
        raise UnsafeURL("the host name contains a character that only looks like a dot")
    try:
        return idna.encode(unicodedata.normalize("NFC", host)).decode("ascii")
    except UnicodeError:
        raise UnsafeURL("the host name is not a valid internationalized one") from None


def _check_punycode(label: str) -> None:
    import idna

    try:
        idna.decode(label)
    except UnicodeError:
        raise UnsafeURL("the host name is not valid punycode") from None


def parse_address(host: str) -> Address | None:
    """Return the address that *host* is, or None if it is a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def is_this_machine(host: str) -> bool:
    """Return whether *host* is ``localhost`` or a loopback address. Names that only
    look like one do not count.
    """
    address = parse_address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def without_credentials(url: str) -> str:
    """Return a URL without the user and the password in it, and any other text as it
    is.
    """
    if "://" not in url:
        return url
    try:
        parts = urlsplit(url)
    except ValueError:  # such as an unclosed bracket
        return f"{url.partition('://')[0]}://..."
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def find_urls(text: str) -> list[str]:
    """Return the http(s) URLs in *text*, without the punctuation around them.

    The time is proportional to its length.
    """
    return [_strip_punctuation(url) for url in _IN_TEXT.findall(text)]


def _strip_punctuation(url: str) -> str:
    """Strip the punctuation of the sentence around a URL; keep a closing bracket that
    the URL itself opened.
    """
    unopened = {
        closing: url.count(closing) - url.count(opening)
        for closing, opening in _BRACKETS.items()
    }
    # count once and cut once: text from outside may contain a URL that is all brackets
    end = len(url)
    for last in reversed(url):
        if unopened.get(last, 0) > 0:
            unopened[last] -= 1
        elif last not in _PUNCTUATION:
            break
        end -= 1
    return url[:end]
