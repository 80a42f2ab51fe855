"""
Who reads pages, and how each of them is asked.

Run as a program it is one candidate in a process of its own: it answers pages on standard input with their Markdown,
what it took of the processor, and what the process took of memory. It needs the candidate's own libraries and nothing
else, so that it runs in an environment where they do not have to agree with ours.
"""

from __future__ import annotations

import os
import pickle
import re
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypedDict

Read: TypeAlias = Callable[[bytes, str, "str | None"], str]


class Candidate(NamedTuple):
    """
    Somebody who reads pages.

    Args:
        name: What it is called in the tables.
        function: Where the function is that reads a page, as ``module:function``. It takes the bytes, their URL and
            the value of the HTTP header ``Content-Type`` or None, and returns Markdown.
        distributions: Its names on PyPI.
        ours: Whether it runs in our environment instead of the peers'.

    """

    name: str
    function: str
    distributions: tuple[str, ...] = ()
    ours: bool = False


class Answer(TypedDict):
    """What a candidate made of a page, or the name of its exception; seconds of the processor."""

    markdown: str
    error: str
    seconds: float


OURS = Candidate("websearch-core", "benchmarks.reading.candidates:websearch_core", ("websearch-core",), ours=True)
TRAFILATURA = Candidate("trafilatura", "benchmarks.reading.candidates:trafilatura", ("trafilatura",))
CANDIDATES = (
    OURS,
    TRAFILATURA,
    Candidate(
        "trafilatura, no comments", "benchmarks.reading.candidates:trafilatura_without_comments", ("trafilatura",)
    ),
    Candidate("trafilatura, fast", "benchmarks.reading.candidates:trafilatura_fast", ("trafilatura",)),
    Candidate("resiliparse + markdownify", "benchmarks.reading.candidates:resiliparse", ("resiliparse", "markdownify")),
    Candidate(
        "html-to-markdown, preprocessing", "benchmarks.reading.candidates:html_to_markdown", ("html-to-markdown",)
    ),
    Candidate(
        "readability-lxml + markdownify",
        "benchmarks.reading.candidates:readability",
        ("readability-lxml", "markdownify"),
    ),
    Candidate("newspaper4k", "benchmarks.reading.candidates:newspaper", ("newspaper4k",)),
    Candidate("markdownify", "benchmarks.reading.candidates:markdownify", ("markdownify",)),
    Candidate("html2text", "benchmarks.reading.candidates:html2text", ("html2text",)),
)


def _module(name: str) -> Any:
    """Import when it is needed: whoever runs this has the libraries of one candidate, and may lack the others'."""
    return import_module(name)


def _text(data: bytes, content_type: str | None) -> str:
    """Decode as a careful user of an HTTP client does, for those that take text: by the header, or as UTF-8."""
    charset = re.search(r"charset=([\w-]+)", content_type or "")
    return data.decode(charset[1] if charset else "utf-8", "replace")


def _given(data: bytes, content_type: str | None) -> bytes | str:
    """What to give to those that take both: bytes, unless the header says what they are, which they cannot be told."""
    return _text(data, content_type) if "charset=" in (content_type or "") else data


def websearch_core(data: bytes, url: str, content_type: str | None) -> str:
    """Ours: the whole step from bytes to Markdown, metadata included."""
    return str(_module("websearch_core.reading").read_html(data, url, content_type).content)


def trafilatura(data: bytes, url: str, content_type: str | None, **options: bool) -> str:
    """Its Markdown, with all the structure that it can write."""
    kept = {"include_links": True, "include_tables": True, "include_formatting": True}
    page = _given(data, content_type)
    return _module("trafilatura").extract(page, url=url, output_format="markdown", **kept, **options) or ""


def trafilatura_without_comments(data: bytes, url: str, content_type: str | None) -> str:
    """The same without what it takes for readers' comments."""
    return trafilatura(data, url, content_type, include_comments=False)


def trafilatura_fast(data: bytes, url: str, content_type: str | None) -> str:
    """The same without its fallbacks."""
    return trafilatura(data, url, content_type, fast=True)


def resiliparse(data: bytes, _url: str, content_type: str | None) -> str:
    """Its main content as minimal HTML, and markdownify."""
    parse, extract = _module("resiliparse.parse.html").HTMLTree, _module("resiliparse.extract.html2text")
    page = _given(data, content_type)
    if isinstance(page, bytes):
        detect = _module("resiliparse.parse.encoding").detect_encoding
        tree = parse.parse_from_bytes(page, detect(page, from_html_meta=True))
    else:
        tree = parse.parse(page)
    html = extract.extract_plain_text(tree, preserve_formatting="minimal_html", main_content=True, links=True)
    return str(_module("markdownify").markdownify(html, heading_style="ATX"))


def html_to_markdown(data: bytes, _url: str, content_type: str | None) -> str:
    """With its preprocessing, which drops navigation and forms."""
    library = _module("html_to_markdown")
    options = library.ConversionOptions(preprocessing=library.PreprocessingOptions(enabled=True))
    return library.convert(_text(data, content_type), options).content or ""


def readability(data: bytes, url: str, content_type: str | None) -> str:
    """Its summary, and markdownify."""
    document = _module("readability").Document(_given(data, content_type), url=url)
    return str(_module("markdownify").markdownify(document.summary(html_partial=True), heading_style="ATX"))


def newspaper(data: bytes, url: str, content_type: str | None) -> str:
    """Its text of an article, which has no structure."""
    article = _module("newspaper").article(url, input_html=_text(data, content_type), fetch_images=False)
    return str(article.text)


def markdownify(data: bytes, _url: str, content_type: str | None) -> str:
    """The whole page, but for scripts and styles."""
    soup = _module("bs4").BeautifulSoup(_given(data, content_type), "lxml")
    for element in soup(["script", "style", "noscript", "template"]):
        element.decompose()
    return str(_module("markdownify").MarkdownConverter(heading_style="ATX").convert_soup(soup))


def html2text(data: bytes, url: str, content_type: str | None) -> str:
    """The whole page."""
    writer = _module("html2text").HTML2Text(baseurl=url, bodywidth=0)
    return str(writer.handle(_text(data, content_type)))


def load(function: str) -> Read:
    """Return what is called ``module:function``."""
    module, _, name = function.partition(":")
    found: Read = getattr(import_module(module), name)
    return found


def answer(read: Read, data: bytes, url: str, content_type: str | None) -> Answer:
    """Read a page, whatever happens."""
    begin = time.process_time()
    try:
        markdown, error = read(data, url, content_type), ""
    except Exception as raised:  # noqa: BLE001 - which exceptions it has is the candidate's affair
        markdown, error = "", type(raised).__name__
    return Answer(markdown=markdown, error=error, seconds=time.process_time() - begin)


def peak() -> float:
    """Return the most memory that this process ever had, in MiB."""
    # Not ru_maxrss: on Linux that begins with what the process had that started this one.
    said = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())
    return int(said[1]) / 1024 if said else 0.0


def serve(function: str, distributions: list[str]) -> None:
    """
    Be one candidate: say which versions there are, then answer each page until there are no more.

    A page is a tuple as `Read` takes it; None asks for the memory. The one article that is read before everything
    loads what is loaded late.
    """
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    try:
        versions = {name: version(name) for name in distributions}
        read = load(function)
        hello = answer(read, _WARM_UP, "https://example.org/", "text/html; charset=utf-8")
    except ImportError as error:
        _say(answers, ImportError(str(error)))
        return
    _say(answers, ImportError(f"it fails with {hello['error']}") if hello["error"] else versions)
    while True:
        try:
            page = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        _say(answers, peak() if page is None else answer(read, *page))


def _say(answers: Any, something: object) -> None:
    pickle.dump(something, answers)
    answers.flush()


_WARM_UP = b"<title>t</title><article><h1>Words</h1>" + b"<p>Some words, then more of them, in a row.</p>" * 9

if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2:])
