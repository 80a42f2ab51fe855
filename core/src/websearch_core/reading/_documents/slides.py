"""Read presentations: HTML of what their slides show, which our own writer writes."""

from __future__ import annotations
from collections.abc import Iterable, Iterator
from html import escape
from itertools import islice
from typing import Any

from ...models import Page
from .._html.fragment import read_fragment
from .._types import Document
from .archive import MAX_SOURCE_LENGTH, Unpacked
from .text import note_hidden

_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_MAX_POINTS = 10_000  # of a chart
_PROPERTIES = "./*/p:cNvPr"


def read_slides(unpacked: Unpacked, document: Document) -> Page:
    """Read each slide once, however often a presentation shows it."""
    from pptx import Presentation

    sources: list[str] = []
    parts: set[Any] = set()
    hidden = 0
    limit = MAX_SOURCE_LENGTH
    for slide in Presentation(unpacked.packed()).slides:
        if limit <= 0:
            break
        if slide.part in parts:
            continue
        parts.add(slide.part)
        if slide.element.get("show") in {"0", "false"}:
            hidden += 1
            continue
        source = "".join(_write_slide(slide, len(parts)))
        limit -= len(source)
        sources.append(source)
    html = "".join(sources)
    text, _ = read_fragment(html, "", limit=len(html))
    notes = note_hidden(hidden, "hidden slide")
    return document.to_page(text, notes=notes)


def _write_slide(slide: Any, number: int) -> Iterator[str]:
    """Yield the HTML of a slide: its title, and the rest as it is read aloud."""
    yield f"<h2>Slide {number}</h2>"
    title = slide.shapes.title
    if title is not None and title.text.strip():
        yield f"<h3>{_write_text(title.text.strip())}</h3>"
    for shape in slide.shapes:
        if title is None or shape.shape_id != title.shape_id:
            yield from _write_shape(shape)
    if slide.has_notes_slide:
        frame = slide.notes_slide.notes_text_frame
        if frame is not None and frame.text.strip():
            yield f"<h3>Notes:</h3><p>{_write_text(frame.text)}</p>"


def _write_shape(shape: Any) -> Iterator[str]:
    properties: Any = next(iter(shape.element.xpath(_PROPERTIES)), {})
    if properties.get("hidden") in {"1", "true"}:
        return
    if hasattr(shape, "shapes"):
        for inner in shape.shapes:
            yield from _write_shape(inner)
    elif getattr(shape, "has_table", False):
        yield f"<table>{''.join(_write_rows(shape))}</table>"
    elif getattr(shape, "has_chart", False):
        yield from _write_chart(shape.chart.element)
    elif shape.has_text_frame:
        yield f"<p>{_write_text(shape.text_frame.text)}</p>"
    elif properties.get("descr"):
        yield f'<p><img alt="{escape(properties.get("descr"))}"></p>'


def _write_text(text: str) -> str:
    lines = text.replace("\v", "\n").split("\n")
    return "<br>".join(map(escape, lines))


def _write_rows(shape: Any) -> Iterator[str]:
    name = "th"
    cells = shape.table.iter_cells()  # the rows of a table search it for each of them
    for row in shape.element.iter(f"{_DRAWING}tr"):
        yield "<tr>"
        for cell in islice(cells, len(row.findall(f"{_DRAWING}tc"))):
            if cell.is_spanned:
                continue
            spans = f"rowspan={cell.span_height} colspan={cell.span_width}"
            yield f"<{name} {spans}>{_write_text(cell.text)}</{name}>"
        yield "</tr>"
        name = "td"


def _write_chart(chart: Any) -> Iterator[str]:
    """Yield the title of a chart, and a table of its numbers as the file keeps them."""
    title = chart.find(f"{_CHART}chart/{_CHART}title")
    name = "Chart"
    if title is not None:
        texts = [part.text or "" for part in title.iter(f"{_DRAWING}t")]
        name = ": ".join(filter(None, [name, "".join(texts)]))
    yield f"<h3>{escape(name)}</h3>"
    columns: list[dict[str, str]] = [{}]
    heads = [""]
    for series in chart.iter(f"{_CHART}ser"):
        head = " ".join(_read_points(series, "tx").values())
        heads.append(head or f"Series {len(heads)}")
        columns[0] |= _read_points(series, "cat") or _read_points(series, "xVal")
        columns.append(_read_points(series, "val") or _read_points(series, "yVal"))
    places: dict[str, None] = {}
    for column in columns:
        places |= dict.fromkeys(column)
    if len(places) * len(columns) > _MAX_POINTS:
        return
    yield f"<table>{_write_cells(heads)}"
    for place in places:
        yield _write_cells(column.get(place, "") for column in columns)
    yield "</table>"


def _write_cells(texts: Iterable[str]) -> str:
    cells = "".join(f"<td>{_write_text(text)}</td>" for text in texts)
    return f"<tr>{cells}</tr>"


def _read_points(series: Any, name: str) -> dict[str, str]:
    """Return the values of a part of a series by their places."""
    values: dict[str, str] = {}
    for points in series.iterfind(f"{_CHART}{name}"):
        for point in islice(points.iter(f"{_CHART}pt"), _MAX_POINTS):
            value = point.findtext(f"{_CHART}v") or ""
            values.setdefault(point.get("idx", ""), value)
    return values
