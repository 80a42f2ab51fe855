"""Read PDF files: the text in the order of the file, each page under a heading with its
number, to be cited.

pypdf is pure Python: a broken file raises an error instead of crashing the process, and
every structure that a hostile file can inflate has a limit. It belongs to the extra
``pdf``.
"""

from __future__ import annotations
import logging
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from ..._runtime.deadline import time_left
from ..._text.dates import parse_date
from ..._text.invisible import one_line, removal_note, strip_invisible
from ..._text.quantity import quantity
from ...errors import UnsupportedContent
from ...models import Page
from .._links import MAX_LINKS, absolute
from .._types import (
    DESCRIPTION_LENGTH,
    NAME_LENGTH,
    PDF,
    TITLE_LENGTH,
    Document,
    language_of,
)
from .layout import LETTER, Box, Leaf, Line, Recorder
from .paragraphs import (
    find_compounds,
    fold_title,
    strip_furniture,
    write_paragraphs,
)

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

    from .filters import Budget

_MAX_CHARACTERS = 2_000_000
_MAX_SECONDS = 20.0  # for all pages; less if a deadline is nearer
# of the time left, so that the pages read by then are still returned in time
_SHARE = 0.8
_MORE_SECONDS = 2.0  # to finish a page, and for the outline and the metadata
_MAX_PAGES = 5_000
_END_SIZE = 2048  # bytes, in which a file says where its table of objects is
# Limits of pypdf for one stream, page or structure. Its defaults assume a machine with
# more memory.
_LIMITS: dict[str, Any] = {
    "disable_legacy_handling": True,  # nothing here sets limits the old way
    "maximum_declared_stream_length": 20_000_000,
    "stream_decoding_work_maximum_length": 16_000_000,
    "zlib_maximum_recovery_input_length": 1_000_000,
    "jbig2dec_binary": None,  # pictures are not read, and no page starts a program
    "stream_parsing_work_maximum_count": 400_000,
    "outline_maximum_entries": 5_000,
    "page_tree_maximum_entries": 20_000,
    "page_tree_maximum_page_entries": 200_000,
    "xform_maximum_invocations_per_extraction": 1_000,
}
# each has a limit on a decoded stream
_FILTERS = "array_based_stream", "brotli", "lzw", "run_length", "zlib"

_SHOW = frozenset({b"Tj", b"TJ", b"'", b'"'})  # operators that show text
_RISES = frozenset({b"Ts", b"Q"})  # set how far text is raised, or restore it
_WORD = re.compile(r"[^\W\d_]+")
_PROGRAM = re.compile(r"^Microsoft (?:Word|PowerPoint) - ")
_DATE = re.compile(
    r"(?:D:)?(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})"
    r"(?:(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?)?"
    r"(?P<zone>Z|[+-]\d{2}'?\d{2})?"
)
_MAX_VALUE_LENGTH = 5_000  # characters of a field or note
_MAX_VALUES = 20  # of a list in which several entries are chosen
_MAX_PARENTS = 20  # of a field
_HIDDEN = 0b100010  # flags of an annotation that is not shown (ISO 32000-2, 12.5.3)
_PASSWORD = 1 << 13  # flag of a field (12.7.5.3)
_FIELD_KEYS = ("/V", "/FT", "/Ff", "/TU", "/T")
_LONG_WORD = 20  # letters
_GLUED = 0.15  # share of letters in such words, where words seem to run together
# scripts
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\uffff\U00020000-\U0003ffff]+"
)
_GLUED_SAMPLE = 200_000  # characters
# Unicode has ligatures, and forms of Arabic letters and of marks in lines that go
# down, for old character sets; nobody searches for them.
_FORMS = {code: normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFEFD)}
_FORMS[0xAD] = "-"  # a soft hyphen that is painted is a hyphen
_MAX_PICTURES = 20  # of a page
_MIN_SIDE = 50  # pixels of an image that may have text
_MAX_PICTURES_SIZE = 2**25  # bytes of the images of all pages


def read_pdf(document: Document) -> Page:
    """Read a PDF, if it needs no password.

    It is an `ImportError` without the extra ``pdf``, and with a pypdf that would read
    it without our bounds.
    """
    from pypdf import apply_configuration

    from .filters import MAX_DECODED, UNBOUNDED, BoundedReader, bounded

    if UNBOUNDED:
        raise ImportError(f"this pypdf has no {', '.join(UNBOUNDED)}")
    # else its warnings go to stderr
    logging.getLogger("pypdf").addHandler(logging.NullHandler())
    data = document.data
    if b"startxref" not in data[-_END_SIZE:]:  # else it is not searched
        data += b"\nstartxref\n0\n%%EOF\n"
    limits: dict[str, Any] = {
        **_LIMITS,
        **{f"{name}_maximum_output_length": MAX_DECODED for name in _FILTERS},
    }
    seconds = min(_MAX_SECONDS, _SHARE * time_left())
    until = time.monotonic() + seconds
    with apply_configuration(**limits), bounded(seconds + _MORE_SECONDS) as budget:
        try:
            reader = BoundedReader(BytesIO(data))
            locked = reader.is_encrypted and not reader.decrypt("")
            count = 0 if locked else len(reader.pages)
        except Exception as error:
            # a damaged file fails in as many ways as there are objects in it
            raise UnsupportedContent(
                f"{PDF} that is damaged or not a PDF: {type(error).__name__}"
            ) from error
        if locked:
            raise UnsupportedContent(
                f"{PDF} that is encrypted: it opens with a password only"
            )
        return _read(reader, count, document, budget, until)


class _PdfReader:
    """Reads the pages of a file, within a budget."""

    def __init__(self, reader: PdfReader, document: Document, budget: Budget) -> None:
        self.reader = reader
        self.document = document
        self.budget = budget
        self.leaves: list[Leaf] = []
        self.entered: list[list[str]] = []  # what was entered in the forms of each page
        self.links: dict[str, None] = {}
        self.files: dict[str, bytes] = {}
        self.characters = 0
        self.invisible = 0
        self.broken = 0  # pages that could not be read
        self.hiding = 0  # pages with text where nobody sees it
        self._size = 0  # bytes of the pictures

    def read(self, number: int) -> None:
        """Read a page; one that is broken is counted, and is empty."""
        self.budget.renew()
        leaf = Leaf([], 0.0, 0.0)
        entered: list[str] = []
        try:
            page = self.reader.pages[number]
            leaf = self._extract(page, number)
            self.characters += sum(len(line.text) for line in leaf.lines)
            entered += self._read_annotations(page)
        except Exception:  # noqa: BLE001 - as below; the other pages may be sound, and the note says how many were not
            self.broken += not leaf.lines
        self.characters += sum(map(len, entered))
        self.leaves.append(leaf)
        self.entered.append(entered)

    def _extract(self, page: PageObject, number: int) -> Leaf:
        recorder = _record(page, _find_box(page), self.budget)
        leaf = recorder.leaf()
        self.hiding += recorder.hides
        texts = self.document.texts
        if texts is not None and not any(line.text.strip() for line in leaf.lines):
            middle = (leaf.low + leaf.high) / 2
            recognized = [
                text for name, text in texts.items() if name.startswith(f"{number}-")
            ]
            lines = [Line(line, middle) for line in "\n".join(recognized).splitlines()]
            leaf = leaf._replace(lines=lines)
            if not texts:
                self._keep_pictures(page, number)
        room = _MAX_CHARACTERS
        lines = []
        for line in leaf.lines:
            letters = line.text[:room].translate(_FORMS)
            text, invisible = strip_invisible(letters)
            room -= len(text)
            self.invisible += invisible
            if not line.is_table:
                text = " ".join(text.split())
            if text:
                lines.append(line._replace(text=text))
        return leaf._replace(lines=lines)

    def _keep_pictures(self, page: PageObject, number: int) -> None:
        for data in _pictures(page):
            self._size += len(data)
            if self._size <= _MAX_PICTURES_SIZE:
                self.files[f"{number}-{self._size}"] = data

    def _read_annotations(self, page: PageObject) -> list[str]:
        """Keep the links of a page, and return what was entered in its forms."""
        entered: list[str] = []
        for link, value in _annotations(page):
            if value:
                entered.append(value)
            if not link or len(self.links) >= MAX_LINKS:
                continue
            target = absolute(link, self.document.url)
            if target:
                self.links[target] = None
        return entered


def _read(
    reader: PdfReader, count: int, document: Document, budget: Budget, until: float
) -> Page:
    pages = _PdfReader(reader, document, budget)
    for number in range(min(count, _MAX_PAGES)):
        if pages.characters > _MAX_CHARACTERS or time.monotonic() > until:
            break
        pages.read(number)
    budget.renew()
    leaves = pages.leaves
    furniture = strip_furniture(leaves)
    compounds = find_compounds(leaves)
    outline = _outline(reader, len(leaves))
    texts: list[str] = []
    for leaf, titles, entered in zip(leaves, outline, pages.entered, strict=True):
        text = write_paragraphs(leaf.lines, compounds, titles)
        texts.append("\n\n".join(filter(None, [text, *entered])))
    sections = [
        f"## Page {number}\n\n{text}"
        for number, text in enumerate(texts, start=1)
        if text
    ]
    content = "\n\n".join(sections)
    size = quantity(count, "page")
    if len(texts) < count:
        size = f"the first {len(texts)} of {size}"
    notes = [size, *removal_note(pages.invisible)]
    if furniture:
        lines = quantity(furniture, "line")
        notes.append(f"headers, footers and page numbers that repeat left out: {lines}")
    notes += _describe_problems(content, pages, len(texts) - len(sections))
    return document.to_page(
        content,
        links=tuple(pages.links)[:MAX_LINKS],
        truncated=len(texts) < count,
        notes=notes,
        files=pages.files,
        **_read_metadata(reader),
    )


def _describe_problems(content: str, pages: _PdfReader, silent: int) -> Iterator[str]:
    """Yield notes on what is lacking; *silent* pages have no text, broken or not."""
    broken = pages.broken
    if pages.hiding:
        size = quantity(pages.hiding, "page")
        yield f"text outside of the page, which nobody sees, left out: {size}"
    if _is_glued(content):
        yield "words may run together: the file does not say where they end"
    nameless = content.count("\ufffd")
    if nameless:
        size = quantity(nameless, "character")
        yield f"{size} that the fonts do not name, shown as \ufffd"
    if broken:
        yield f"{quantity(broken, 'page')} could not be read: damaged or too complex"
    if silent > broken and content:
        yield f"{quantity(silent - broken, 'page')} without text: empty, or pictures"
    elif silent > broken:
        yield ("there is no text in it: its pages are pictures, as of a scan, or empty")


def _find_box(page: PageObject) -> Box:
    """Return the part of a page that is shown."""
    box = LETTER
    for name in ("/MediaBox", "/CropBox"):
        if name in page:
            rectangle: Any = page[name]
            edges = [float(edge) for edge in rectangle]
            left, right = sorted(edges[0:4:2])
            low, high = sorted(edges[1:4:2])
            inner = Box(left, low, right, high)
            box = inner if name == "/MediaBox" else box.cut(inner)
    if box.left < box.right and box.low < box.high:
        return box
    return LETTER


def _record(page: PageObject, box: Box, budget: Budget) -> Recorder:
    """Return what is painted on a page."""
    recorder = Recorder(box)

    def count(operator: bytes, operands: Any, *_: Any) -> None:
        recorder.operator += operator in _SHOW
        recorder.kern = 0.0
        if operator == b"TJ":
            recorder.kern = _find_kern(operands)
        elif operator in _RISES:
            numbers = [item for item in operands if isinstance(item, (int, float))]
            recorder.rise = float(sum(numbers[:1]))

    budget.recorder = recorder
    page.extract_text(visitor_operand_before=count)
    return recorder


def _find_kern(operands: list[Any]) -> float:
    """Return how far an operator usually goes back between its strings."""
    if not operands or not isinstance(operands[0], list):
        return 0.0
    kerns = sorted(item for item in operands[0] if isinstance(item, (int, float)))
    if not kerns:
        return 0.0
    return float(kerns[len(kerns) // 2])


def _pictures(page: Any) -> Iterator[bytes]:
    """Yield the larger images of a page.

    Those that JPEG, JPEG 2000 or a fax encode are files then.
    """
    with suppress(KeyError):  # it has none
        for reference in list(page["/Resources"]["/XObject"].values())[:_MAX_PICTURES]:
            with suppress(Exception):  # as in `read_pdf`: the others may be sound
                image = reference.get_object()
                is_large = min(image["/Width"], image["/Height"]) >= _MIN_SIDE
                if is_large and image["/Subtype"] == "/Image":
                    yield image.get_data()


def _annotations(page: PageObject) -> Iterator[tuple[str, str]]:
    """Yield what each annotation that people see says.

    That is the address that it links to, and the text that was entered in it.
    """
    annotations = page.get("/Annots")
    if annotations is None:
        return
    for reference in list(annotations.get_object())[:MAX_LINKS]:
        facts = ("", "")
        # as in `read_pdf`: a broken annotation must not cost the others
        with suppress(Exception):
            annotation = reference.get_object()
            if not annotation.get("/F", 0) & _HIDDEN:
                facts = _read_annotation(annotation)
        yield facts


def _read_annotation(annotation: Any) -> tuple[str, str]:
    kind = annotation.get("/Subtype")
    if kind == "/FreeText":
        return "", _clean(annotation.get("/Contents"))
    if kind == "/Widget":
        return "", _read_field(annotation)
    action = annotation.get("/A")
    if action is None:
        return "", ""
    address = action.get_object().get("/URI")
    if not isinstance(address, str):
        address = ""
    return address, ""


def _read_field(annotation: Any) -> str:
    """Return the name and the value of a field of a form."""
    chain = [annotation]  # a field inherits from those that it is a part of
    parent = annotation.get("/Parent")
    while parent is not None and len(chain) < _MAX_PARENTS:
        chain.append(parent.get_object())
        parent = chain[-1].get("/Parent")
    facts: dict[str, Any] = {}
    for field in reversed(chain):
        facts |= {key: field[key] for key in _FIELD_KEYS if key in field}
    text = _clean(_find_value(facts, annotation))
    title = facts.get("/TU") or facts.get("/T") or ""
    name = one_line(str(title), NAME_LENGTH)
    if name and text:
        return f"{name}: {text}"
    return text


def _find_value(facts: Mapping[str, Any], annotation: Any) -> Any:
    """Return what was entered in a field, or chosen."""
    value = facts.get("/V")
    kind = facts.get("/FT")
    if kind == "/Btn":
        return _read_button(value, annotation)
    if kind == "/Sig" or facts.get("/Ff", 0) & _PASSWORD:
        return ""
    if not isinstance(value, list):
        return value
    # fields can share a long value, so each counts a little only
    length = _MAX_VALUE_LENGTH // _MAX_VALUES
    values = [item for item in value[:_MAX_VALUES] if isinstance(item, str)]
    return ", ".join(item[:length] for item in values)


def _read_button(value: Any, annotation: Any) -> str:
    """Return the value of a button that is on."""
    if not isinstance(value, str) or value == "/Off":
        return ""
    if annotation.get("/AS", value) != value:
        return ""
    return value.removeprefix("/")


def _clean(value: object) -> str:
    if not isinstance(value, str):
        return ""
    text, _ = strip_invisible(value[:_MAX_VALUE_LENGTH])
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return "\n".join(lines).strip()


def _is_glued(text: str) -> bool:
    words = _WORD.findall(_UNSPACED.sub(" ", text[:_GLUED_SAMPLE]))
    lengths = [*map(len, words)]
    long = [length for length in lengths if length > _LONG_WORD]
    return sum(long) > _GLUED * sum(lengths)


def _outline(reader: PdfReader, count: int) -> list[dict[str, int]]:
    """Return the titles of each page in the outline, with their depth from 1."""
    titles: list[dict[str, int]] = [{} for _ in range(count)]
    try:
        waiting: list[tuple[Any, int]] = [(reader.outline, 0)]
        while waiting:
            entry, depth = waiting.pop()
            if isinstance(entry, list):
                waiting += [(inner, depth + 1) for inner in entry]
                continue
            page = reader.get_destination_page_number(entry)
            if page is not None and 0 <= page < count:
                titles[page].setdefault(fold_title(str(entry.title or "")), depth)
    except Exception:  # noqa: BLE001 - as in `read_pdf`: a broken outline must not cost the text
        return [{} for _ in range(count)]
    return titles


def _read_metadata(reader: PdfReader) -> dict[str, Any]:
    """Return the metadata of the file, without the defaults of programs."""
    try:
        entries: Any = reader.metadata or {}
        facts = {
            name: str(entries.get(f"/{name}") or "")
            for name in ("Title", "Author", "Subject", "CreationDate", "ModDate")
        }
        language = str(reader.root_object.get("/Lang") or "")
    except Exception:  # noqa: BLE001 - as in `read_pdf`: broken metadata must not cost the text
        return {}
    title = _PROGRAM.sub("", one_line(facts["Title"], TITLE_LENGTH))
    if title.lower() in {"untitled", "(anonymous)", "unspecified"}:
        title = ""
    author = one_line(facts["Author"], NAME_LENGTH).replace("(anonymous)", "")
    return {
        "title": title,
        "author": author or None,
        "description": one_line(facts["Subject"], DESCRIPTION_LENGTH) or None,
        "published": _date(facts["CreationDate"]),
        "modified": _date(facts["ModDate"]),
        "language": language_of([language]),
    }


def _date(text: str) -> datetime | None:
    """Parse a date such as ``D:20260504100000+02'00'`` (ISO 32000-2, 7.9.4)."""
    match = _DATE.match(text)
    if not match:
        return None
    parts = match.groupdict(default="")
    date = f"{parts['year']}-{parts['month']}-{parts['day']}"
    if not parts["hour"]:
        return parse_date(date)
    zone = parts["zone"].replace("'", "")
    clock = f"{parts['hour']}:{parts['minute']}:{parts['second'] or '00'}"
    return parse_date(f"{date}T{clock}{zone}")
