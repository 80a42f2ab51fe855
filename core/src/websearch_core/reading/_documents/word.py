"""Read Word files: mammoth makes HTML of them, which our own writer writes."""

from __future__ import annotations
import re
from typing import Any

from ..._text.invisible import one_line
from ...models import Page
from .._html.fragment import read_fragment
from .._types import TITLE_LENGTH, Document
from .archive import MAX_SOURCE_LENGTH, Unpacked
from .text import note_hidden
from .word_xml import NUMBER, show

_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
"""
_CHECKBOX = re.compile(r'<input(?=[^<>]*type="checkbox")([^<>]*)/?>')
# A plain number of a paragraph, which is that of an item unless its style makes it
# something else.
_NUMBER = re.compile(rf'(<li>)?<a id="{NUMBER}([0-9]{{1,10}})"></a>')
_MAX_HEAD_LENGTH = 200  # characters of a cell that names a column


def read_word(unpacked: Unpacked, document: Document) -> Page:
    import mammoth
    from mammoth.documents import Table
    from mammoth.transforms import element_of_type
    from markitdown.converter_utils.docx.pre_process import pre_process_docx

    titles: list[str] = []
    parts, hidden = show(unpacked.parts)
    set_headers = element_of_type(Table, _set_header)

    def prepare(document: Any) -> Any:
        titles.extend(map(_read_title, document.children))
        return set_headers(document)

    source = mammoth.convert_to_html(
        pre_process_docx(Unpacked(parts).packed()),  # writes formulas as TeX
        style_map=_STYLES,
        include_embedded_style_map=False,  # which may hide what people see
        convert_image=mammoth.images.img_element(lambda _: {"src": ""}),
        transform_document=prepare,
    ).value
    source = _NUMBER.sub(_write_number, source)
    source = _CHECKBOX.sub(_write_checkbox, source)
    text, targets = read_fragment(
        source, document.url, links=document.links, limit=MAX_SOURCE_LENGTH
    )
    title = one_line(next(filter(None, titles), ""), TITLE_LENGTH)
    notes = note_hidden(hidden, "hidden passage")
    return document.to_page(text, title=title, links=targets, notes=notes)


def _write_number(element: re.Match[str]) -> str:
    if element[1]:
        return f'<li value="{element[2]}">'
    return f"{element[2]}. "


def _write_checkbox(element: re.Match[str]) -> str:
    if "checked=" in element[1]:
        return "[x] "
    return "[ ] "


def _read_title(element: Any) -> str:
    """Return the text of a paragraph in the style *Title*, empty for others."""
    if getattr(element, "style_name", None) == "Title":
        return _text_of(element)
    return ""


def _set_header(table: Any) -> Any:
    """Return a table whose first row is its header, if that looks like one.

    In Markdown it will be, and lists fit into the cells of a table with a header.
    """
    if table.children and _is_header(table.children[0]):
        table.children[0] = table.children[0].copy(is_header=True)
    return table


def _is_header(row: Any) -> bool:
    """Return whether each cell of a row is empty or one short paragraph."""
    from mammoth.documents import Paragraph, TableCell

    cells: Any = getattr(row, "children", ())
    for cell in cells:
        paragraphs: Any = getattr(cell, "children", ())
        if not isinstance(cell, TableCell) or len(paragraphs) > 1:
            return False
        for paragraph in paragraphs:
            is_plain = isinstance(paragraph, Paragraph) and not paragraph.numbering
            if not is_plain or len(_text_of(paragraph)) > _MAX_HEAD_LENGTH:
                return False
    return len(cells) > 1


def _text_of(element: Any) -> str:
    from mammoth.documents import Text
    from mammoth.transforms import get_descendants_of_type

    texts = get_descendants_of_type(element, Text)
    return "".join(text.value for text in texts)
