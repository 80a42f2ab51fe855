"""The types of documents that can be read, besides HTML: one declaration each; and what
each reader gets and returns.

A new type is a declaration here, and a reader in ``_documents``; CONTRIBUTING.md shows
both.
"""

from __future__ import annotations
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Any, TypedDict
from urllib.parse import urlsplit

from .._text.media_types import MARKDOWN
from .._text.vocabulary import Responses
from ..models import Page
from ._links import Links

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
EPUB = "application/epub+zip"
VTT = "text/vtt"
SRT = "application/x-subrip"
# ours: podcasts call it application/json
TRANSCRIPT_JSON = "application/x-transcript+json"
_TEXTS = (
    "json xml ndjson x-ndjson jsonl x-jsonlines javascript ecmascript yaml x-yaml toml "
    "sql csv x-subrip srt"
).split()
TITLE_LENGTH = 300  # characters
DESCRIPTION_LENGTH = 1000
NAME_LENGTH = 200
_NO_LANGUAGES = frozenset({"und", "zxx", "mul"})
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}")


class ReadingOptions(TypedDict, total=False):
    """What the arguments of the same names of `websearch_core.reading.read_bytes` say;
    and what only readers of this package ask for.
    """

    links: Links
    comments: Responses | None
    reviews: Responses | None
    texts: Mapping[str, str] | None  # as those of a `Document`
    rendered: bool  # HTML that a browser wrote, after its scripts ran
    followed: bool  # without the links that the page asks programs not to follow


@dataclass(frozen=True, kw_only=True)
class Document:
    """What a reader gets."""

    data: bytes
    url: str  # where they came from; relative links are resolved against it
    media_type: str  # their media type, as detected
    # the value of the HTTP header, if any, for its charset
    content_type: str | None = None
    # what to do with links, as in `websearch_core.reading.read_html`
    links: Links = "keep"
    # of its pictures, by name; {} asks for the pictures, as `Page.files`
    texts: Mapping[str, str] | None = None

    def to_page(self, content: str, **facts: Any) -> Page:
        """Build a page from all of its Markdown, as `make_page` does."""
        return make_page(self.url, self.media_type, content, **facts)


@dataclass(frozen=True, kw_only=True, eq=False)
class DocumentType:
    """A type of documents."""

    name: str  # what the table in docs/documents.md calls it
    # Its function in ``_documents``, such as ``pdf:read_pdf``, which is imported on
    # first use. It takes a `Document` and returns a `Page` of Markdown, which is then
    # made safe.
    reader: str
    media_types: Sequence[str]  # its media types; ``*`` stands for any part of one
    # How its bytes begin, if that reveals the media type.
    magic: Mapping[re.Pattern[bytes], str] = field(default_factory=dict)
    # The ends of its URLs, in lower case, and the media type of a file that ends so. A
    # page that is declared as ``text/plain`` is of this type if its URL ends in one of
    # them.
    endings: Mapping[str, str] = field(default_factory=dict)
    extra: str = ""  # the extra that installs its parser, if that is not a dependency
    needs_end: bool = False  # whether it cannot be read without its end

    def has(self, media_type: str) -> bool:
        """Return whether documents of *media_type* are of this type."""
        return any(fnmatchcase(media_type, pattern) for pattern in self.media_types)

    def load_reader(self) -> Callable[[Document], Page]:
        """Import the reader."""
        name, function = self.reader.split(":")
        module = import_module(f"{__package__}._documents.{name}")
        reader: Callable[[Document], Page] = getattr(module, function)
        return reader


_TEXT = DocumentType(
    name="text",
    reader="text:read_text",
    media_types=("text/*", "*+xml", "*+json", *(f"*/{name}" for name in _TEXTS)),
    endings={
        ".csv": "text/csv",
        ".json": "application/json",
        ".jsonl": "application/jsonl",
        ".ndjson": "application/x-ndjson",
        ".rst": "text/plain",
        ".tsv": "text/tab-separated-values",
        ".txt": "text/plain",
        ".xml": "application/xml",
    },
)
# The first one that fits reads a document.
TYPES = (
    DocumentType(
        name="PDF",
        reader="pdf:read_pdf",
        media_types=(PDF,),
        magic={re.compile(rb"\s*%PDF-"): PDF},
        extra="pdf",
        needs_end=True,
    ),
    DocumentType(
        name="EPUB",
        reader="office:read_office",
        media_types=(DOCX, XLSX, PPTX, EPUB),
        extra="office",
        needs_end=True,
    ),
    DocumentType(
        name="RSS",
        reader="feed:read_feed",
        media_types=(
            "application/rss+xml",
            "application/atom+xml",
            "application/rdf+xml",
            "application/feed+json",
        ),
    ),
    DocumentType(
        name="transcripts",
        reader="transcript:read_transcript",
        media_types=(VTT, SRT, "application/srt", "text/srt", TRANSCRIPT_JSON),
        magic={re.compile(rb"(?:\xef\xbb\xbf)?WEBVTT(?=[ \t\r\n]|\Z)"): VTT},
        endings={".vtt": VTT, ".srt": SRT},
    ),
    DocumentType(
        name="images",
        reader="image:read_image",
        media_types=("image/*",),
        magic={
            re.compile(rb"\x89PNG\r\n\x1a\n"): "image/png",
            re.compile(rb"GIF8[79]a"): "image/gif",
            re.compile(rb"\xff\xd8\xff"): "image/jpeg",
            re.compile(rb"RIFF....WEBP", re.DOTALL): "image/webp",
            re.compile(
                rb"BM.{4}\x00{4}.{4}[\x0c\x28\x40\x6c\x7c]\x00{3}", re.DOTALL
            ): "image/bmp",
            re.compile(rb"II\*\x00|MM\x00\*"): "image/tiff",
            re.compile(rb"\x00\x00\x01\x00"): "image/x-icon",
            re.compile(rb"\x00\x00\x00\x0cjP {2}|\xff\x4f\xff\x51"): "image/jp2",
            re.compile(rb"....ftyp(?:avif|avis)", re.DOTALL): "image/avif",
            re.compile(
                rb"....ftyp(?:heic|heix|heim|heis|hevc|hevx|mif1|msf1)", re.DOTALL
            ): "image/heic",
        },
    ),
    DocumentType(
        name="sitemaps",
        reader="feed:read_sitemap",
        media_types=("*xml", "application/gzip"),
    ),
    DocumentType(
        name="Markdown",
        reader="markdown:read_markdown",
        media_types=sorted(MARKDOWN),
        endings=dict.fromkeys(
            (".md", ".mdx", ".markdown", ".qmd", "/llms.txt", "/llms-full.txt"),
            "text/markdown",
        ),
    ),
    _TEXT,
)
_HTML_ENDINGS = {
    ".htm": "text/html",
    ".html": "text/html",
    ".xhtml": "application/xhtml+xml",
}


def find_type(media_type: str, url: str) -> DocumentType | None:
    """Return the type of a document that is not HTML: by its media type, or by its URL
    if that is ``text/plain``.
    """
    if media_type == "text/plain":
        path = path_of(url)
        for document_type in TYPES:
            if path.endswith(tuple(document_type.endings)):
                return document_type
    return next((kind for kind in TYPES if kind.has(media_type)), None)


def find_media_type(path: str) -> str | None:
    """Return the media type of a file, by the end of its *path*; None if that says
    nothing.

    Not as `mimetypes` does, which depends on tables of the machine.
    """
    path = path.lower()
    for endings in (_HTML_ENDINGS, *(kind.endings for kind in TYPES)):
        for ending, media_type in endings.items():
            if path.endswith(ending):
                return media_type
    return None


def is_declared(media_type: str) -> bool:
    """Return whether a declaration names *media_type*: no site has invented it."""
    return any(
        media_type in (*kind.media_types, *kind.magic.values()) for kind in TYPES
    )


def is_text(media_type: str) -> bool:
    """Return whether *media_type* is a kind of text."""
    return _TEXT.has(media_type)


def path_of(url: str) -> str:
    """Return the path of *url* in lower case; empty if it is none."""
    try:
        return urlsplit(url).path.lower()
    except ValueError:
        return ""


def language_of(values: Iterable[str]) -> str | None:
    """Return the first of *values* that is a language tag, spelled as in BCP 47, or
    None.
    """
    for value in values:
        tag = value.split(",")[0].strip().replace("_", "-")
        if _LANGUAGE.fullmatch(tag) and tag.lower() not in _NO_LANGUAGES:
            first, *rest = tag.split("-")
            return "-".join([first.lower(), *map(_subtag, rest)])
    return None


def _subtag(tag: str) -> str:
    """``br`` -> ``BR``, ``hans`` -> ``Hans``."""
    if len(tag) == 2:
        return tag.upper()
    if len(tag) == 4 and tag.isalpha():
        return tag.title()
    return tag.lower()


def make_page(url: str, media_type: str, content: str, **facts: Any) -> Page:
    """Build a page from all of its Markdown, and *facts*: other fields of `Page`."""
    content = content.strip("\n")
    size = len(content)
    return Page(
        url=url,
        final_url=url,
        content=content,
        content_length=size,
        original_length=size,
        media_type=media_type,
        **facts,
    )
