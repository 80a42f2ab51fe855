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
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any

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
    make_page,
)
from .columns import Shown, find_parts

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

    from .filters import Budget

_MAX_CHARACTERS = 2_000_000
_MAX_SECONDS = 20.0  # for all pages; less if a deadline is nearer
# of the time left, so that the pages read by then are still returned in time
_SHARE = 0.8
_MORE_SECONDS = 2.0  # to finish a page, and for the outline and the metadata
_MAX_PAGES = 5_000
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

_FULL = 0.7  # of a full line: the line after a line this long may continue it
_MIN_FULL_LENGTH = 35  # characters: narrower text is a table or a list
_ITEM = re.compile(
    r"(?:[-*•◦▪‣·–—]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)])\s|\d+(?:\.\d+)+\s"  # noqa: RUF001
)
# operators that show text, and those that move to another place
_SHOW = frozenset({b"Tj", b"TJ", b"'", b'"'})
_MOVE = frozenset({b"Tm", b"Td", b"TD", b"T*", b"BT"})
_MAX_PLACES = 8  # of the same text that are compared
_LEADERS = re.compile(r"(?: ?\.){5,}")
_ENDED = re.compile(r"""[.!?:;…。！？]["'”’)\]]*$""")  # noqa: RUF001
_BROKEN = re.compile(r"(\w*[^\W\d_])[-\u00ad\u2010]$")
# possessive: linear for a page without spaces
_COMPOUND = re.compile(r"(?<![^\W\d_])[^\W\d_]++(?:-[^\W\d_]++)+")
_MAX_WORD_LENGTH = 100  # characters: a longer word is not checked for hyphenation
_LETTER = (0, 0, 612, 792)  # points
_MIN_REPEATS = 3  # pages that share a header or footer
# of the height of a page, at its top and bottom, where headers and footers are
_MARGIN = 0.15
_NUMBER = re.compile(r"(?<!\d)\d{1,5}(?!\d)")
_WORD = re.compile(r"[^\W\d_]+")
_PAGE_WORDS = frozenset(
    "page pages p pg of seite s von página pág pagina de di sida sidan side strona str "
    "z 第 页 頁 共".split()
)
# of a header with a page number: "Chapter 3" may be all that marks a chapter
_MIN_WORDS = 3
_MAX_VALUE_LENGTH = 5_000  # characters of a field or note
_MAX_VALUES = 20  # of a list in which several entries are chosen
_MAX_PARENTS = 20  # of a field
_HIDDEN = 0b100010  # flags of an annotation that is not shown (ISO 32000-2, 12.5.3)
_PASSWORD = 1 << 13  # flag of a field (12.7.5.3)
_LONG_WORD = 20  # letters
_GLUED = 0.15  # share of letters in such words, where words seem to run together
# scripts
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\uffff\U00020000-\U0003ffff]+"
)
_GLUED_SAMPLE = 200_000  # characters
_MAX_PICTURES = 20  # of a page
# of a page: one with more is read in the order of the file
_MAX_SHOWN, _MAX_PARTS = 20_000, 16
_MIN_SIDE = 50  # pixels of an image that may have text
_MAX_PICTURES_SIZE = 2**25  # bytes of the images of all pages


def read_pdf(document: Document) -> Page:
    """Read a PDF, if it needs no password. It is an `ImportError` without the extra
    ``pdf``, and with a pypdf that would read it without our bounds.
    """
    from pypdf import apply_configuration

    from .filters import MAX_DECODED, UNBOUNDED, BoundedReader, bounded

    if UNBOUNDED:
        raise ImportError(f"this pypdf has no {', '.join(UNBOUNDED)}")
    # else its warnings go to stderr
    logging.getLogger("pypdf").addHandler(logging.NullHandler())
    limits: dict[str, Any] = {
        **_LIMITS,
        **{f"{name}_maximum_output_length": MAX_DECODED for name in _FILTERS},
    }
    seconds = min(_MAX_SECONDS, _SHARE * time_left())
    until = time.monotonic() + seconds
    with apply_configuration(**limits), bounded(seconds + _MORE_SECONDS) as budget:
        try:
            reader = BoundedReader(BytesIO(document.data))
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


def _read(
    reader: PdfReader, count: int, document: Document, budget: Budget, until: float
) -> Page:
    url, given = document.url, document.texts
    files: dict[str, bytes] = {}
    pages: list[list[str]] = []
    margins: list[set[str]] = []
    values: list[list[str]] = []
    links: dict[str, None] = {}
    characters = invisible = broken = size = 0
    for number in range(min(count, _MAX_PAGES)):
        if characters > _MAX_CHARACTERS or time.monotonic() > until:
            break
        budget.renew()
        edge: set[str] = set()
        entered: list[str] = []
        text, unseen = "", 0
        try:
            page = reader.pages[number]
            text, edge = _extract(page)
            if given is not None and not text.strip():
                text = "\n".join(
                    read
                    for name, read in given.items()
                    if name.startswith(f"{number}-")
                )
                for data in () if given else _pictures(page):
                    if (size := size + len(data)) <= _MAX_PICTURES_SIZE:
                        files[f"{number}-{size}"] = data
            text, unseen = strip_invisible(text[:_MAX_CHARACTERS])
            for link, value in _annotations(page):
                entered += [value] if value else []
                if link and len(links) < MAX_LINKS and (there := absolute(link, url)):
                    links[there] = None
        except Exception:  # noqa: BLE001 - as above; the other pages may be sound, and the note says how many were not
            broken += not text
        characters, invisible = (
            characters + len(text) + sum(map(len, entered)),
            invisible + unseen,
        )
        pages.append([" ".join(line.split()) for line in text.splitlines()])
        margins.append(edge)
        values.append(entered)
    budget.renew()
    repeats = _strip_furniture(pages, margins)
    compounds = {
        word.lower()
        for lines in pages
        for line in lines
        for word in _COMPOUND.findall(line)
    }
    outline = _outline(reader, len(pages))
    texts = [
        _paragraphs(list(filter(None, lines)), compounds, titles)
        for lines, titles in zip(pages, outline, strict=True)
    ]
    texts = [
        "\n\n".join(filter(None, [text, *entered]))
        for text, entered in zip(texts, values, strict=True)
    ]
    content = "\n\n".join(
        f"## Page {number}\n\n{text}"
        for number, text in enumerate(texts, start=1)
        if text
    )
    silent = sum(not text for text in texts) - broken
    partly = f"{quantity(silent, 'page')} without text: empty, or pictures"
    cut, nameless = len(texts) < count, content.count("\ufffd")
    notes = [
        f"the first {len(texts)} of {quantity(count, 'page')}"
        if cut
        else quantity(count, "page"),
        *removal_note(invisible),
        *(
            [
                (
                    f"headers, footers and page numbers that repeat left out: "
                    f"{quantity(repeats, 'line')}"
                )
            ]
            if repeats
            else []
        ),
        *(
            ["words may run together: the file does not say where they end"]
            if _is_glued(content)
            else []
        ),
        *(
            [
                (
                    f"{quantity(nameless, 'character')} that the fonts do not name, shown "
                    f"as \ufffd"
                )
            ]
            if nameless
            else []
        ),
        *(
            [f"{quantity(broken, 'page')} could not be read: damaged or too complex"]
            if broken
            else []
        ),
        *(
            [
                partly
                if content
                else "there is no text in it: its pages are pictures, as of a scan, or "
                "empty"
            ]
            * (silent > 0)
        ),
    ]
    facts = {**_read_metadata(reader), "files": files}
    return make_page(
        url,
        PDF,
        content,
        links=tuple(links)[:MAX_LINKS],
        truncated=cut,
        notes=tuple(notes),
        **facts,
    )


def _extract(page: PageObject) -> tuple[str, set[str]]:
    """Return the text of a page, and those of its lines that are near its top or bottom
    edge.
    """
    from pypdf.errors import LimitReachedError

    shown: list[Shown] = []
    found = _extract_part(page, shown, None)
    box = page.mediabox if "/MediaBox" in page else _LETTER
    parts = (
        find_parts(shown, float(box[0] + box[2]) / 2) if len(shown) < _MAX_SHOWN else []
    )
    if 1 < len(parts) < _MAX_PARTS:
        # which counts the fonts of each part: the page as it was read stands
        with suppress(LimitReachedError):
            texts, edges = zip(
                *(_extract_part(page, [], part) for part in parts), strict=True
            )
            return "\n".join(texts), set().union(*edges)
    return found


def _extract_part(
    page: PageObject, shown: list[Shown], part: set[int] | None
) -> tuple[str, set[str]]:
    """Do so for a *part* of what operators show, or for everything; add to *shown* what
    that is.

    What is printed twice in the same place, to look bold, is read once.
    """
    upright = page.rotation % 180 == 0
    box = page.mediabox if "/MediaBox" in page else _LETTER
    low, high = sorted(float(box[n]) for n in ((1, 3) if upright else (0, 2)))
    near, step = _MARGIN * (high - low), min(1.0, (high - low) / 500)
    printed: dict[tuple[str, int], list[tuple[float, float]]] = {}
    lines: list[tuple[str, float]] = [("", low)]
    shows = 0  # since the last operator that sets a position
    kept: Any = None
    points = 1.0

    def before(operator: bytes, operands: Any, cm: Any, tm: Any) -> None:
        nonlocal shows, kept, points
        if operator not in _SHOW:
            shows *= operator not in _MOVE
            points = float(operands[1]) if operator == b"Tf" else points
            return
        shows += 1
        x, y = _place(cm, tm)
        what = operands[-1]
        text = (
            "".join(map(_as_text, what)) if isinstance(what, list) else _as_text(what)
        )
        height = points * abs(tm[0] * cm[0])
        shown.append(Shown(x, y, height, len(text) * height))
        places = printed.setdefault((text, shows), [])
        size = step if len(text) > 2 else step / 4  # narrow letters can be this close
        is_double = any(
            abs(x - x2) < size and abs(y - y2) < size
            for x2, y2 in places[-_MAX_PLACES:]
        )
        if is_double or (part is not None and len(shown) - 1 not in part):
            kept, operands[-1] = what, type(what)()
        places.append((x, y))

    def after(_operator: bytes, operands: Any, _cm: Any, _tm: Any) -> None:
        nonlocal kept
        if kept is not None:  # other pages may share the stream
            operands[-1] = kept
            kept = None

    def collect(text: str, cm: Any, tm: Any, *_: Any) -> None:
        first, *rest = text.split("\n")
        at = _place(cm, tm)[upright]
        before_it, there = lines[-1]
        lines[-1] = (before_it + first, there if before_it.strip() else at)
        lines.extend((line, at) for line in rest)

    text = page.extract_text(
        visitor_operand_before=before, visitor_operand_after=after, visitor_text=collect
    )
    return text, {
        " ".join(line.split())
        for line, at in lines
        if at < low + near or at > high - near
    }


def _pictures(page: Any) -> Iterator[bytes]:
    """Yield the larger images of a page: those that JPEG, JPEG 2000 or a fax encode are
    files then.
    """
    with suppress(KeyError):  # it has none
        for reference in list(page["/Resources"]["/XObject"].values())[:_MAX_PICTURES]:
            with suppress(Exception):  # as in `read_pdf`: the others may be sound
                image = reference.get_object()
                if (
                    image["/Subtype"] == "/Image"
                    and min(image["/Width"], image["/Height"]) >= _MIN_SIDE
                ):
                    yield image.get_data()


def _as_text(shown: object) -> str:
    """Return what an operand shows, one character a byte where its encoding is not
    known; "" for a distance.
    """
    return (
        shown.decode("latin-1")
        if isinstance(shown, bytes)
        else shown
        if isinstance(shown, str)
        else ""
    )


def _place(cm: Any, tm: Any) -> tuple[float, float]:
    """Return where the text matrix *tm* puts text, in the coordinates of the page."""
    x, y = tm[4], tm[5]
    return x * cm[0] + y * cm[2] + cm[4], x * cm[1] + y * cm[3] + cm[5]


def _annotations(page: PageObject) -> Iterator[tuple[str, str]]:
    """Yield, for each annotation that people see, the address that it links to, and the
    text that was entered in it.
    """
    found = page.get("/Annots")
    for reference in list(found.get_object() if found is not None else ())[:MAX_LINKS]:
        try:
            annotation = reference.get_object()
            facts = (
                ("", "")
                if annotation.get("/F", 0) & _HIDDEN
                else _read_annotation(annotation)
            )
        except Exception:  # noqa: BLE001 - as in `read_pdf`: a broken annotation must not cost the others
            facts = ("", "")
        yield facts


def _read_annotation(annotation: Any) -> tuple[str, str]:
    kind = annotation.get("/Subtype")
    if kind == "/FreeText":
        return "", _entered(annotation.get("/Contents"))
    if kind == "/Widget":
        chain = [annotation]
        while (parent := chain[-1].get("/Parent")) is not None and len(
            chain
        ) < _MAX_PARENTS:
            chain.append(parent.get_object())
        stated = {
            key: next((field[key] for field in chain if key in field), None)
            for key in ("/V", "/FT", "/Ff", "/TU", "/T")
        }
        value: Any = stated["/V"]
        if stated["/FT"] == "/Btn":
            is_on = (
                isinstance(value, str)
                and value not in {"/Off", ""}
                and annotation.get("/AS", value) == value
            )
            value = str(value).removeprefix("/") if is_on else ""
        elif stated["/FT"] == "/Sig" or (stated["/Ff"] or 0) & _PASSWORD:
            value = ""
        # fields can share a long value, so each counts a little only
        if isinstance(value, list):
            value = ", ".join(
                one[: _MAX_VALUE_LENGTH // _MAX_VALUES]
                for one in value[:_MAX_VALUES]
                if isinstance(one, str)
            )
        value = _entered(value)
        name = one_line(str(stated["/TU"] or stated["/T"] or ""), NAME_LENGTH)
        return "", f"{name}: {value}" if name and value else value
    action = annotation.get("/A")
    address = action.get_object().get("/URI") if action is not None else None
    return (address if isinstance(address, str) else ""), ""


def _entered(value: object) -> str:
    text = (
        strip_invisible(value[:_MAX_VALUE_LENGTH])[0] if isinstance(value, str) else ""
    )
    return "\n".join(" ".join(line.split()) for line in text.splitlines()).strip()


def _is_glued(text: str) -> bool:
    words = _WORD.findall(_UNSPACED.sub(" ", text[:_GLUED_SAMPLE]))
    return sum(len(word) for word in words if len(word) > _LONG_WORD) > _GLUED * sum(
        map(len, words)
    )


def _strip_furniture(pages: Sequence[list[str]], margins: Sequence[set[str]]) -> int:
    """Remove page numbers, and headers and footers of most pages, or of most left or
    right ones; return how many lines.

    The first copy of a header stays, and so does the only line of a page.
    """
    removed = 0
    for edge in (0, -1):
        for lines in pages:
            if edge == 0:
                del lines[
                    : next(
                        (number for number, line in enumerate(lines) if line),
                        len(lines),
                    )
                ]
            while lines and not lines[-1]:
                lines.pop()
        forms = [
            list(_forms(lines[edge], number)) if lines and lines[edge] in margin else []
            for number, (lines, margin) in enumerate(zip(pages, margins, strict=True))
        ]
        seen = Counter(
            (form, number % 2)
            for number, of_page in enumerate(forms)
            for form, _ in of_page
        )
        shown: set[str] = set()
        for number, lines in enumerate(pages):
            for form, is_number in forms[number]:
                here, other = seen[form, number % 2], seen[form, 1 - number % 2]
                enough = len(pages) / 5 if is_number else len(pages) / 2
                # by most pages on this side
                is_shared = here >= _MIN_REPEATS and here > len(pages) / 4
                if (is_shared or here + other >= max(_MIN_REPEATS, enough)) and sum(
                    map(bool, lines)
                ) > 1:
                    if is_number or form in shown:
                        lines.pop(edge)
                        removed += 1
                    shown.add(form)
                    break
    return removed


def _forms(line: str, page: int) -> Iterator[tuple[str, bool]]:
    """Yield what a line has in common with headers of other pages, and whether it is
    but a page number.
    """
    line = line.lower()
    words = _WORD.findall(line)
    is_number = _PAGE_WORDS.issuperset(words)
    found = list(_NUMBER.finditer(line))
    if found and (is_number or len(words) >= _MIN_WORDS):
        for number in {found[0], found[-1]}:
            yield (
                f"{line[: number.start()]}#{int(number[0]) - page}{line[number.end() :]}",
                is_number,
            )
    yield line, False


def _outline(reader: PdfReader, count: int) -> list[dict[str, int]]:
    """Return, for each page, its titles in the file's outline, with their depth from
    1.
    """
    found: list[dict[str, int]] = [{} for _ in range(count)]
    try:
        waiting: list[tuple[Any, int]] = [(reader.outline, 0)]
        while waiting:
            entry, depth = waiting.pop()
            if isinstance(entry, list):
                waiting += [(inner, depth + 1) for inner in entry]
            elif (
                page := reader.get_destination_page_number(entry)
            ) is not None and 0 <= page < count:
                found[page].setdefault(_fold_title(str(entry.title or "")), depth)
    except Exception:  # noqa: BLE001 - as in `read_pdf`: a broken outline must not cost the text
        return [{} for _ in range(count)]
    return found


def _fold_title(title: str) -> str:
    """Reduce a title to its letters, since the page may write it with a number, or in
    another case and spacing.
    """
    return re.sub(r"[\W\d_]+", "", title).casefold()


def _paragraphs(
    lines: Sequence[str], compounds: set[str], titles: Mapping[str, int]
) -> str:
    """Join the lines of each paragraph; keep those of what may be a list, table or
    code; turn titles into headings.
    """
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
            # a blank line ends a paragraph
            out.append(
                f"\n\n{line}" if joined and not _ITEM.match(line) else f"\n{line}"
            )
            joined = False
        before = line
    return _LEADERS.sub(" …", re.sub(r"\n{3,}", "\n\n", "".join(out))).strip()


def _goes_on(before: str, line: str, full: float) -> bool:
    if (
        len(before) < full
        or _ITEM.match(line)
        or _LEADERS.search(before)
        or _LEADERS.search(line)
    ):
        return False
    if before[-1] in "{}=|>" or not (_is_prose(before) and _is_prose(line)):
        return False
    return line[:1].islower() or not _ENDED.search(before) or len(before) > 1.15 * full


def _is_prose(line: str) -> bool:
    return sum(
        character.isalpha() or character == " " for character in line
    ) > 0.75 * len(line)


def _join(text: str, line: str, compounds: set[str]) -> tuple[str, str]:
    """Return both lines so that they can be concatenated.

    ``iden-`` and ``tifier`` become one word; ``command-`` and ``line`` keep the hyphen
    if the text has that elsewhere.
    """
    first = line.partition(" ")[0].rstrip(".,;:!?)")
    if (broken := _BROKEN.search(text[-_MAX_WORD_LENGTH:])) and first[:1].islower():
        whole_word = f"{broken[1]}-{first}".lower()
        return (text if whole_word in compounds else text[:-1]), line
    east_asian = text[-1:] >= "\u2e80" and line[:1] >= "\u2e80"
    return text, line if east_asian else f" {line}"


def _read_metadata(reader: PdfReader) -> dict[str, Any]:
    """Return the metadata of the file, without the defaults of the programs that write
    it.
    """
    try:
        stated: Any = reader.metadata or {}
        facts = {
            name: str(stated.get(f"/{name}") or "")
            for name in ("Title", "Author", "Subject", "CreationDate", "ModDate")
        }
        language = str(reader.root_object.get("/Lang") or "")
    except Exception:  # noqa: BLE001 - as in `read_pdf`: broken metadata must not cost the text
        return {}
    title = re.sub(
        r"^Microsoft (?:Word|PowerPoint) - ", "", one_line(facts["Title"], TITLE_LENGTH)
    )
    return {
        "title": ""
        if title.lower() in {"untitled", "(anonymous)", "unspecified"}
        else title,
        "author": one_line(facts["Author"], NAME_LENGTH).replace("(anonymous)", "")
        or None,
        "description": one_line(facts["Subject"], DESCRIPTION_LENGTH) or None,
        "published": _date(facts["CreationDate"]),
        "modified": _date(facts["ModDate"]),
        "language": language_of([language]),
    }


def _date(text: str) -> datetime | None:
    """Parse a date such as ``D:20260504100000+02'00'`` (ISO 32000-2, 7.9.4)."""
    found = re.match(
        r"(?:D:)?(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2})?)?(Z|[+-]\d{2}'?\d{2})?",
        text,
    )
    if not found:
        return None
    year, month, day, hour, minute, second, zone = found.groups(default="")
    clock = (
        f"T{hour}:{minute}:{second or '00'}{zone.replace(chr(39), '')}" if hour else ""
    )
    return parse_date(f"{year}-{month}-{day}{clock}")
