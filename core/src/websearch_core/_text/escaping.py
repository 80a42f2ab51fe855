"""Escape text from the web so that it stays plain text where Markdown is rendered, and
where a terminal shows it.

A title, a snippet or an answer may contain ``![](https://collector.example/?d=...)``,
which a chat window loads as soon as it shows it. Escaping changes as little as
possible, because the same text is also shown unrendered: it inserts a space where
Markdown or HTML would begin. For whole pages of Markdown, see
`websearch_core.reading._markdown.sanitizer`.
"""

from __future__ import annotations
import re
from urllib.parse import quote, urlsplit

from .invisible import strip_invisible

# What begins a tag, a comment or an autolink (CommonMark 0.31, 6.5 and 6.6); "a < b"
# and "x <3" do not.
TAG = re.compile(r"<(?=[A-Za-z/!?]|[^\s<>@]{1,64}@)")
_DEFINITION = re.compile(r"^(?:[ \t>*+-]|\d{1,9}[.)])*+\[", re.MULTILINE)
# a block of code would swallow the text shown after it
_FENCE = re.compile(r"([`~])(?=\1\1)")
_NOT_IN_URLS = re.compile(r"""[\s<>"\\^`{|}\[\]\x00-\x20\x7f]""")
# printable ASCII that nothing acts on
_INERT = bytes(set(range(0x20, 0x7F)) - set(b"<[`~"))
_NOT_IN_LINKS = re.compile(r"""[\s<>"\\^`{|}\[\]\x00-\x20\x7f()!'*]""")
# an address whose brackets are kept
_IPV6_ADDRESS = re.compile(
    r"(?P<scheme>(?:(?!://).)*)://(?P<host>\[[0-9A-Fa-f:.]+\](?::\d*)?)(?=/|\Z)",
    re.DOTALL,
)
# Characters that would control a terminal, or change the direction of the text that
# follows.
_TERMINAL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LINE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_IN_JSON = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def escape_text(text: str) -> str:
    """Remove invisible characters from *text*, and break up whatever Markdown or HTML
    would act on.
    """
    if text.isascii() and not text.encode().translate(None, _INERT):
        return text  # as most are
    text = strip_invisible(text)[0]
    if "<" in text:
        text = TAG.sub("< ", text)
    if "[" in text:
        text = text.replace("![", "! [").replace("](", "] (")
        if "]:" in text and _DEFINITION.search(text):
            text = text.replace("]:", "] :")
    if "`" in text or "~" in text:
        return _FENCE.sub(r"\1 ", text)
    return text


def escape_url(url: str) -> str:
    """Percent-encode the characters of *url* that RFC 3986 does not allow in a path,
    query or fragment.

    Markdown gives some of them a meaning.
    """
    return _percent_encode(_NOT_IN_URLS, url) if _NOT_IN_URLS.search(url) else url


def escape_urls(urls: tuple[str, ...]) -> tuple[str, ...]:
    """Do the same for several, which seldom have such a character."""
    return tuple(map(escape_url, urls)) if _NOT_IN_URLS.search("".join(urls)) else urls


def link_target(url: str) -> str | None:
    """Encode *url* as the target of a Markdown link, so that it cannot end the link;
    None unless absolute http(s).
    """
    try:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            return None
    except ValueError:
        return None
    return _percent_encode(_NOT_IN_LINKS, url)


def _percent_encode(unsafe: re.Pattern[str], url: str) -> str:
    address = _IPV6_ADDRESS.match(url)
    if address is None:
        return unsafe.sub(quote_match, url)
    rest = url[address.end() :]
    scheme = unsafe.sub(quote_match, address["scheme"])
    return f"{scheme}://{address['host']}{unsafe.sub(quote_match, rest)}"


def quote_match(match: re.Match[str]) -> str:
    """Percent-encode what a pattern matches."""
    return quote(match[0], safe="")


def join_lines(text: str) -> str:
    """Join the lines of *text*: a name may contain a line that looks like one of the
    product.
    """
    return " ".join(text.split())


def strip_controls(text: str) -> str:
    """Remove the characters of *text* that would control a terminal; ends of lines and
    tabs stay.
    """
    return _TERMINAL.sub("", text)


def escape_line(text: str) -> str:
    """Escape the characters of *text* that would end the line, control a terminal or
    change the direction.
    """
    return _LINE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def escape_json(text: str) -> str:
    """Escape the characters of a JSON *text* that would control a terminal, and lone
    surrogates.
    """
    return _IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
