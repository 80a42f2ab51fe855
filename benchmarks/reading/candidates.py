"""The page readers that are compared, and how to call each of them.

Run as a program, this is one candidate in its own process: it takes pages on standard
input and answers with their Markdown, its CPU time and its memory. It needs only the
candidate's own libraries, so that it runs in an environment whose requirements may
conflict with ours.
"""

from __future__ import annotations
import io
import json
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
    """A page reader.

    Args:
        name: Its name in the tables.
        function: The function that reads a page, as ``module:function``. It takes the
            bytes, their URL and the value of the HTTP header ``Content-Type`` or None,
            and returns Markdown.
        distributions: Its names on PyPI.
        ours: Whether it runs in our environment instead of the peers'.
    """

    name: str
    function: str
    distributions: tuple[str, ...] = ()
    ours: bool = False


class Answer(TypedDict):
    """The Markdown of a page or the name of the exception raised, and the seconds of
    CPU time.
    """

    markdown: str
    error: str
    seconds: float


OURS = Candidate(
    "websearch-core",
    "benchmarks.reading.candidates:websearch_core",
    ("websearch-core",),
    ours=True,
)
TRAFILATURA = Candidate(
    "trafilatura", "benchmarks.reading.candidates:trafilatura", ("trafilatura",)
)
CANDIDATES = (
    OURS,
    TRAFILATURA,
    Candidate(
        "trafilatura, no comments",
        "benchmarks.reading.candidates:trafilatura_without_comments",
        ("trafilatura",),
    ),
    Candidate(
        "trafilatura, fast",
        "benchmarks.reading.candidates:trafilatura_fast",
        ("trafilatura",),
    ),
    Candidate(
        "resiliparse + markdownify",
        "benchmarks.reading.candidates:resiliparse",
        ("resiliparse", "markdownify"),
    ),
    Candidate(
        "html-to-markdown, preprocessing",
        "benchmarks.reading.candidates:html_to_markdown",
        ("html-to-markdown",),
    ),
    Candidate(
        "readability-lxml + markdownify",
        "benchmarks.reading.candidates:readability",
        ("readability-lxml", "markdownify"),
    ),
    Candidate(
        "newspaper4k", "benchmarks.reading.candidates:newspaper", ("newspaper4k",)
    ),
    Candidate(
        "markdownify", "benchmarks.reading.candidates:markdownify", ("markdownify",)
    ),
    Candidate("html2text", "benchmarks.reading.candidates:html2text", ("html2text",)),
)


PYMUPDF = Candidate(
    "pymupdf", "benchmarks.reading.candidates:pymupdf_text", ("pymupdf",)
)
DOCUMENTS = (
    Candidate(
        OURS.name,
        "benchmarks.reading.candidates:websearch_core_document",
        OURS.distributions,
        ours=True,
    ),
    PYMUPDF,
    Candidate(
        "markitdown", "benchmarks.reading.candidates:markitdown", ("markitdown",)
    ),
)
METADATA = (
    Candidate(
        OURS.name,
        "benchmarks.reading.candidates:websearch_core_metadata",
        OURS.distributions,
        ours=True,
    ),
    Candidate(
        TRAFILATURA.name,
        "benchmarks.reading.candidates:trafilatura_metadata",
        TRAFILATURA.distributions,
    ),
    Candidate(
        "newspaper4k",
        "benchmarks.reading.candidates:newspaper_metadata",
        ("newspaper4k",),
    ),
)


def _import(name: str) -> Any:
    """Import late: this environment may have the libraries of one candidate only."""
    return import_module(name)


def _decode(data: bytes, content_type: str | None) -> str:
    """Decode for readers that take text, as a careful user of an HTTP client does: by
    the header, or as UTF-8.
    """
    charset = re.search(r"charset=([\w-]+)", content_type or "")
    return data.decode(charset[1] if charset else "utf-8", "replace")


def _prepare(data: bytes, content_type: str | None) -> bytes | str:
    """Return the input for readers that take both: bytes, unless the header names a
    charset, which they cannot take.
    """
    return _decode(data, content_type) if "charset=" in (content_type or "") else data


def websearch_core(data: bytes, url: str, content_type: str | None) -> str:
    """Our reader: the whole step from bytes to Markdown, including metadata."""
    return str(
        _import("websearch_core.reading").read_html(data, url, content_type).content
    )


def trafilatura(
    data: bytes, url: str, content_type: str | None, **options: bool
) -> str:
    """Return its Markdown with all the structure it can write."""
    kept = {"include_links": True, "include_tables": True, "include_formatting": True}
    page = _prepare(data, content_type)
    return (
        _import("trafilatura").extract(
            page, url=url, output_format="markdown", **kept, **options
        )
        or ""
    )


def trafilatura_without_comments(
    data: bytes, url: str, content_type: str | None
) -> str:
    """Do the same without readers' comments."""
    return trafilatura(data, url, content_type, include_comments=False)


def trafilatura_fast(data: bytes, url: str, content_type: str | None) -> str:
    """Do the same without its fallbacks."""
    return trafilatura(data, url, content_type, fast=True)


def resiliparse(data: bytes, _url: str, content_type: str | None) -> str:
    """Pass its main content, as minimal HTML, to markdownify."""
    parse, extract = (
        _import("resiliparse.parse.html").HTMLTree,
        _import("resiliparse.extract.html2text"),
    )
    page = _prepare(data, content_type)
    if isinstance(page, bytes):
        detect = _import("resiliparse.parse.encoding").detect_encoding
        tree = parse.parse_from_bytes(page, detect(page, from_html_meta=True))
    else:
        tree = parse.parse(page)
    html = extract.extract_plain_text(
        tree, preserve_formatting="minimal_html", main_content=True, links=True
    )
    return str(_import("markdownify").markdownify(html, heading_style="ATX"))


def html_to_markdown(data: bytes, _url: str, content_type: str | None) -> str:
    """Convert with its preprocessing, which drops navigation and forms."""
    library = _import("html_to_markdown")
    options = library.ConversionOptions(
        preprocessing=library.PreprocessingOptions(enabled=True)
    )
    return library.convert(_decode(data, content_type), options).content or ""


def readability(data: bytes, url: str, content_type: str | None) -> str:
    """Pass its summary to markdownify."""
    document = _import("readability").Document(_prepare(data, content_type), url=url)
    return str(
        _import("markdownify").markdownify(
            document.summary(html_partial=True), heading_style="ATX"
        )
    )


def newspaper(data: bytes, url: str, content_type: str | None) -> str:
    """Return its text of the article, which has no structure."""
    article = _import("newspaper").article(
        url, input_html=_decode(data, content_type), fetch_images=False
    )
    return str(article.text)


def markdownify(data: bytes, _url: str, content_type: str | None) -> str:
    """Convert the whole page except scripts and styles."""
    soup = _import("bs4").BeautifulSoup(_prepare(data, content_type), "lxml")
    for element in soup(["script", "style", "noscript", "template"]):
        element.decompose()
    return str(
        _import("markdownify").MarkdownConverter(heading_style="ATX").convert_soup(soup)
    )


def html2text(data: bytes, url: str, content_type: str | None) -> str:
    """Convert the whole page."""
    writer = _import("html2text").HTML2Text(baseurl=url, bodywidth=0)
    return str(writer.handle(_decode(data, content_type)))


def websearch_core_document(data: bytes, url: str, content_type: str | None) -> str:
    """Our reader of documents, which knows their kind by their bytes."""
    page = _import("websearch_core.reading").read_bytes(data, url, content_type)
    return str(page.content)


def pymupdf_text(data: bytes, _url: str, _content_type: str | None) -> str:
    """Return the text of each page."""
    kind = "pdf" if data.startswith(b"%PDF-") else "html"
    with _import("pymupdf").open(stream=data, filetype=kind) as document:
        return "\n".join(page.get_text() for page in document)


def markitdown(data: bytes, url: str, _content_type: str | None) -> str:
    """Convert a file that its suffix names."""
    library = _import("markitdown")
    suffix = Path(url).suffix
    if data.lstrip().startswith(b"<"):
        suffix = ".html"
    result = library.MarkItDown().convert_stream(
        io.BytesIO(data), stream_info=library.StreamInfo(extension=suffix)
    )
    return str(result.text_content)


def websearch_core_metadata(data: bytes, url: str, content_type: str | None) -> str:
    """Return the metadata that our reader finds, as JSON."""
    page = _import("websearch_core.reading").read_html(data, url, content_type)
    return _as_json(
        page.title, page.author, page.published.isoformat() if page.published else ""
    )


def trafilatura_metadata(data: bytes, url: str, content_type: str | None) -> str:
    """Do the same; it separates authors by semicolons."""
    found = _import("trafilatura").extract_metadata(
        _decode(data, content_type), default_url=url
    )
    return (
        _as_json(found.title, (found.author or "").replace(";", ","), found.date)
        if found
        else "{}"
    )


def newspaper_metadata(data: bytes, url: str, content_type: str | None) -> str:
    """Do the same."""
    article = _import("newspaper").article(
        url, input_html=_decode(data, content_type), fetch_images=False
    )
    date = article.publish_date
    return _as_json(
        article.title, ",".join(article.authors), date.isoformat() if date else ""
    )


def _as_json(title: str | None, author: str | None, date: str | None) -> str:
    return json.dumps(
        {"title": title or "", "author": author or "", "date": date or ""}
    )


def load(function: str) -> Read:
    """Import ``module:function`` and return the function."""
    module, _, name = function.partition(":")
    found: Read = getattr(import_module(module), name)
    return found


def answer(read: Read, data: bytes, url: str, content_type: str | None) -> Answer:
    """Read a page; return an exception by name instead of raising it."""
    begin = time.process_time()
    try:
        markdown, error = read(data, url, content_type), ""
    except Exception as raised:  # noqa: BLE001 - a candidate may raise anything
        markdown, error = "", type(raised).__name__
    return Answer(markdown=markdown, error=error, seconds=time.process_time() - begin)


def peak() -> float:
    """Return the peak memory of this process, in MiB."""
    # Not ru_maxrss: on Linux its initial value is that of the parent process.
    match = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())
    return int(match[1]) / 1024 if match else 0.0


def serve(function: str, distributions: list[str]) -> None:
    """Run one candidate: send its versions, then answer pages until standard input
    ends.

    A page is a tuple with the arguments of `Read`; None asks for the peak memory.
    Reading an article before the first answer loads whatever the candidate loads late.
    """
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries may print, which must not mix with the answers
    try:
        versions = {name: version(name) for name in distributions}
        read = load(function)
        hello = answer(
            read, _WARM_UP, "https://example.org/", "text/html; charset=utf-8"
        )
    except ImportError as error:
        _send(answers, ImportError(str(error)))
        return
    _send(
        answers,
        ImportError(f"it fails with {hello['error']}") if hello["error"] else versions,
    )
    while True:
        try:
            page = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        _send(answers, peak() if page is None else answer(read, *page))


def _send(answers: Any, message: object) -> None:
    pickle.dump(message, answers)
    answers.flush()


_WARM_UP = (
    b"<title>t</title><article><h1>Words</h1>"
    + b"<p>Some words, then more of them, in a row.</p>" * 9
)

if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2:])
