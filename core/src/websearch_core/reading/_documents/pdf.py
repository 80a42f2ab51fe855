"""
Read PDF files: the text in the order of the file, each page under a heading with its number, so that it can be cited.

pypdf is pure Python: a broken file raises an error instead of crashing the process, and every structure that a hostile
file can inflate has a limit. It belongs to the extra ``pdf``.
"""

from __future__ import annotations

import logging
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any

from ..._deadline import time_left
from ..._text.dates import parse_date
from ..._text.invisible import one_line, removal_note, strip_invisible
from ..._text.quantity import quantity
from ...errors import UnsupportedContent
from ...models import Page
from .._links import MAX_LINKS, absolute
from .._page import DESCRIPTION_LENGTH, NAME_LENGTH, TITLE_LENGTH, language_of, make_page
from .._sniff import PDF

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

    from .filters import Budget

_MAX_CHARACTERS = 2_000_000
_MAX_SECONDS = 20.0  # for all pages; less if a deadline is nearer
_SHARE = 0.8  # of the time left, so that the pages read by then are still returned in time
_MAX_PAGES = 5_000
# Limits of pypdf for one stream, page or structure. Its defaults assume a machine with more memory.
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
_OUTPUT_LIMITS = (  # the limit on a decoded stream has one name for each filter
    "array_based_stream_maximum_output_length",
    "brotli_maximum_output_length",
    "lzw_maximum_output_length",
    "run_length_maximum_output_length",
    "zlib_maximum_output_length",
)

_FULL = 0.7  # of a full line: the line after a line this long may continue it
_MIN_FULL_LENGTH = 35  # characters: narrower text is a table or a list
_ITEM = re.compile(r"(?:[-*•◦▪‣·–—]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)])\s|\d+(?:\.\d+)+\s")  # noqa: RUF001
_LEADERS = re.compile(r"(?: ?\.){5,}")
_ENDED = re.compile(r"""[.!?:;…。！？]["'”’)\]]*$""")  # noqa: RUF001
_BROKEN = re.compile(r"(\w*[^\W\d_])[-\u00ad\u2010]$")
_COMPOUND = re.compile(r"(?<![^\W\d_])[^\W\d_]++(?:-[^\W\d_]++)+")  # possessive: linear for a page without spaces
_MAX_WORD_LENGTH = 100  # characters: a longer word is not checked for hyphenation
_MIN_REPEATS = 3  # a first or last line on this many pages, and a fifth of all, is a header or footer


def read_pdf(data: bytes, url: str) -> Page:
    """
    Read a PDF.

    Args:
        data: The bytes of the file.
        url: Where they came from; relative links are resolved against it.

    Raises:
        UnsupportedContent: The extra ``pdf`` is not installed, the file needs a password, or it is damaged.

    """
    try:
        from pypdf import apply_configuration

        from .filters import MAX_DECODED, BoundedReader, bounded
    except ImportError as error:
        raise UnsupportedContent(f'{PDF} needs the extra "pdf": pip install "websearch-core[pdf]"') from error

    logging.getLogger("pypdf").addHandler(logging.NullHandler())  # else its warnings go to stderr
    limits: dict[str, Any] = {**_LIMITS, **dict.fromkeys(_OUTPUT_LIMITS, MAX_DECODED)}
    with apply_configuration(**limits), bounded() as budget:
        try:
            reader = BoundedReader(BytesIO(data))
            locked = reader.is_encrypted and not reader.decrypt("")
            count = 0 if locked else len(reader.pages)
        except Exception as error:  # a damaged file fails in as many ways as there are objects in it
            raise UnsupportedContent(f"{PDF} that is damaged or not a PDF: {type(error).__name__}") from error
        if locked:
            raise UnsupportedContent(f"{PDF} that is encrypted: it opens with a password only")
        return _read(reader, count, url, budget)


def _read(reader: PdfReader, count: int, url: str, budget: Budget) -> Page:
    until = time.monotonic() + min(_MAX_SECONDS, _SHARE * time_left())
    pages: list[list[str]] = []
    links: dict[str, None] = {}
    characters = invisible = broken = 0
    for number in range(min(count, _MAX_PAGES)):
        if characters > _MAX_CHARACTERS or time.monotonic() > until:
            break
        budget.renew()
        try:
            page = reader.pages[number]
            text, unseen = strip_invisible(page.extract_text()[:_MAX_CHARACTERS])
            if len(links) < MAX_LINKS:
                links |= dict.fromkeys(_links(page, url))
        except Exception:  # noqa: BLE001 - as above; the other pages may be sound, and the note says how many were not
            text, unseen = "", 0
            broken += 1
        characters, invisible = characters + len(text), invisible + unseen
        pages.append([" ".join(line.split()) for line in text.splitlines()])
    budget.renew()
    _strip_furniture(pages)
    compounds = {word.lower() for lines in pages for line in lines for word in _COMPOUND.findall(line)}
    outline = _outline(reader, len(pages))
    texts = [
        _paragraphs(list(filter(None, lines)), compounds, titles) for lines, titles in zip(pages, outline, strict=True)
    ]
    content = "\n\n".join(f"## Page {number}\n\n{text}" for number, text in enumerate(texts, start=1) if text)
    silent = sum(not text for text in texts) - broken
    cut = len(texts) < count
    notes = [
        f"the first {len(texts)} of {quantity(count, 'page')}" if cut else quantity(count, "page"),
        *removal_note(invisible),
        *([f"{quantity(broken, 'page')} could not be read: damaged or too complex"] if broken else []),
        *([_note_silent(silent, some=bool(content))] if silent > 0 else []),
    ]
    facts = _read_metadata(reader)
    return make_page(url, PDF, content, links=tuple(links)[:MAX_LINKS], truncated=cut, notes=tuple(notes), **facts)


def _note_silent(silent: int, *, some: bool) -> str:
    if some:
        return f"{quantity(silent, 'page')} without text: empty, or pictures"
    return "there is no text in it: its pages are pictures, as of a scan, or empty"


def _links(page: PageObject, base: str) -> Iterator[str]:
    for annotation in list(page.get("/Annots") or ())[:MAX_LINKS]:
        action = annotation.get_object().get("/A")
        address = action.get_object().get("/URI") if action is not None else None
        if isinstance(address, str) and (there := absolute(address, base)):
            yield there


def _strip_furniture(pages: Sequence[list[str]]) -> None:
    """Remove page numbers, and headers and footers that many pages share."""
    for edge in (0, -1):
        for lines in pages:
            if edge == 0:
                del lines[: next((number for number, line in enumerate(lines) if line), len(lines))]
            while lines and not lines[-1]:
                lines.pop()
        seen = Counter(_mask_digits(lines[edge]) for lines in pages if lines)
        for lines in pages:
            if lines and (
                (alike := _mask_digits(lines[edge])) in {"#", "page #", "page # of #", "# / #", "- # -"}
                or seen[alike] >= max(_MIN_REPEATS, len(pages) / 5)
            ):
                lines.pop(edge)


def _mask_digits(line: str) -> str:
    return re.sub(r"\d+", "#", line).lower()


def _outline(reader: PdfReader, count: int) -> list[dict[str, int]]:
    """Return, for each page, its titles in the file's outline, with their depth from 1."""
    found: list[dict[str, int]] = [{} for _ in range(count)]
    try:
        waiting: list[tuple[Any, int]] = [(reader.outline, 0)]
        while waiting:
            entry, depth = waiting.pop()
            if isinstance(entry, list):
                waiting += [(inner, depth + 1) for inner in entry]
            elif (page := reader.get_destination_page_number(entry)) is not None and 0 <= page < count:
                found[page].setdefault(_fold_title(str(entry.title or "")), depth)
    except Exception:  # noqa: BLE001 - as in `read_pdf`: a broken outline must not cost the text
        return [{} for _ in range(count)]
    return found


def _fold_title(title: str) -> str:
    """Reduce a title to its letters, since the page may write it with a number, or in another case and spacing."""
    return re.sub(r"[\W\d_]+", "", title).casefold()


def _paragraphs(lines: Sequence[str], compounds: set[str], titles: Mapping[str, int]) -> str:
    """Join the lines of each paragraph; keep those of what may be a list, table or code; turn titles into headings."""
    if not lines:
        return ""
    lengths = sorted(map(len, lines))
    full = max(_MIN_FULL_LENGTH, _FULL * lengths[len(lengths) * 9 // 10])
    out: list[str] = []
    before, joined = "", False
    for line in lines:
        depth = 0 if _LEADERS.search(line) else titles.get(_fold_title(line), 0)
        if depth:
            out.append(f"\n\n{'#' * min(6, 2 + depth)} {line}\n")
            before, joined = "", False
            continue
        if before and _goes_on(before, line, full):
            out[-1], more = _join(out[-1], line, compounds)
            out.append(more)
            joined = True
        else:
            out.append(
                f"\n\n{line}" if joined and not _ITEM.match(line) else f"\n{line}"
            )  # a blank line ends a paragraph
            joined = False
        before = line
    return _LEADERS.sub(" …", re.sub(r"\n{3,}", "\n\n", "".join(out))).strip()


def _goes_on(before: str, line: str, full: float) -> bool:
    if len(before) < full or _ITEM.match(line) or _LEADERS.search(before) or _LEADERS.search(line):
        return False
    if before[-1] in "{}=|>" or not (_is_prose(before) and _is_prose(line)):
        return False
    return line[:1].islower() or not _ENDED.search(before) or len(before) > 1.15 * full


def _is_prose(line: str) -> bool:
    return sum(character.isalpha() or character == " " for character in line) > 0.75 * len(line)


def _join(text: str, line: str, compounds: set[str]) -> tuple[str, str]:
    """
    Return both lines so that they can be concatenated.

    ``iden-`` and ``tifier`` become one word; ``command-`` and ``line`` keep the hyphen if the text has the compound
    elsewhere.
    """
    first = line.partition(" ")[0].rstrip(".,;:!?)")
    if (broken := _BROKEN.search(text[-_MAX_WORD_LENGTH:])) and first[:1].islower():
        whole_word = f"{broken[1]}-{first}".lower()
        return (text if whole_word in compounds else text[:-1]), line
    east_asian = text[-1:] >= "\u2e80" and line[:1] >= "\u2e80"
    return text, line if east_asian else f" {line}"


def _read_metadata(reader: PdfReader) -> dict[str, Any]:
    """Return the metadata of the file, without the defaults of the programs that write it."""
    try:
        stated: Any = reader.metadata or {}
        facts = {
            name: str(stated.get(f"/{name}") or "")
            for name in ("Title", "Author", "Subject", "CreationDate", "ModDate")
        }
        language = str(reader.root_object.get("/Lang") or "")
    except Exception:  # noqa: BLE001 - as in `read_pdf`: broken metadata must not cost the text
        return {}
    title = re.sub(r"^Microsoft (?:Word|PowerPoint) - ", "", one_line(facts["Title"], TITLE_LENGTH))
    return {
        "title": "" if title.lower() in {"untitled", "(anonymous)", "unspecified"} else title,
        "author": one_line(facts["Author"], NAME_LENGTH).replace("(anonymous)", "") or None,
        "description": one_line(facts["Subject"], DESCRIPTION_LENGTH) or None,
        "published": _date(facts["CreationDate"]),
        "modified": _date(facts["ModDate"]),
        "language": language_of([language]),
    }


def _date(text: str) -> datetime | None:
    """Parse a date such as ``D:20260504100000+02'00'`` (ISO 32000-2, 7.9.4)."""
    found = re.match(r"(?:D:)?(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2})?)?(Z|[+-]\d{2}'?\d{2})?", text)
    if not found:
        return None
    year, month, day, hour, minute, second, zone = found.groups(default="")
    clock = f"T{hour}:{minute}:{second or '00'}{zone.replace(chr(39), '')}" if hour else ""
    return parse_date(f"{year}-{month}-{day}{clock}")
