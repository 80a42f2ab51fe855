"""Word files: what their styles hide, and the numbers and boxes that Word shows."""

from __future__ import annotations

import pytest

from tests.core.reading.documents.test_office import (
    URL,
    WORD,
    cell,
    docx,
    paragraph,
    row,
)
from websearch_core.reading import read_bytes
from websearch_core.reading._documents.numbering import write_number

pytest.importorskip("markitdown")

HIDDEN = "<w:rPr><w:vanish/></w:rPr>"
SHOWN = "<w:vanish w:val='0'/>"


def read(body, *, styles="", numbering=""):
    """Read a Word file with these styles and lists."""
    parts = {"styles": styles, "numbering": numbering}
    return read_bytes(
        docx(
            body,
            **{
                f"word/{name}.xml": f"<w:{name} xmlns:w='{WORD}'>{content}</w:{name}>"
                for name, content in parts.items()
            },
        ),
        URL,
    )


def style(name, properties="", *, base="", kind="paragraph", more=""):
    below = f"<w:basedOn w:val='{base}'/>" if base else ""
    return (
        f"<w:style w:type='{kind}' w:styleId='{name}' {more}><w:name w:val='{name}'/>"
        f"{below}{properties}</w:style>"
    )


def run(text, style="", mark=""):
    named = f"<w:rStyle w:val='{style}'/>" if style else ""
    return f"<w:r><w:rPr>{named}{mark}</w:rPr><w:t>{text}</w:t></w:r>"


CYCLE = style("A", base="B") + style("B", HIDDEN, base="A")


@pytest.mark.parametrize(
    ("styles", "body", "text", "hidden"),
    [
        (style("Draft", HIDDEN), paragraph("ask Ada", "Draft"), "", 1),
        (style("Draft", HIDDEN) + style("Note", base="Draft"), paragraph("ask Ada", "Note"), "", 1),
        (style("Key", HIDDEN, kind="character"), f"<w:p>{run('Tides')}{run('ask Ada', 'Key')}</w:p>", "Tides", 1),
        (style("Base", HIDDEN, more="w:default='1'"), paragraph("ask Ada") + paragraph("Kelp"), "", 1),
        (style("Draft", HIDDEN) + style("Shown", f"<w:rPr>{SHOWN}</w:rPr>", base="Draft"),
         paragraph("Kelp", "Shown"), "Kelp", 0),
        (style("Draft", HIDDEN), f"<w:p><w:pPr><w:pStyle w:val='Draft'/></w:pPr>{run('Kelp', mark=SHOWN)}</w:p>",
         "Kelp", 0),
        # hidden by both, which shows it
        (style("Draft", HIDDEN) + style("Key", HIDDEN, kind="character"),
         f"<w:p><w:pPr><w:pStyle w:val='Draft'/></w:pPr>{run('Kelp', 'Key')}{run('ask Ada')}</w:p>", "Kelp", 1),
        (CYCLE, paragraph("ask Ada", "A") + paragraph("Tides"), "Tides", 1),
        (style("Draft", HIDDEN), paragraph("Tides") + paragraph("ask Ada", "Draft") + paragraph("Ebb") + paragraph("or Bea", "Draft"),
         "Tides\n\nEbb", 2),
    ],
)  # fmt: skip
def test_text_that_a_style_hides_is_left_out(styles, body, text, hidden):
    page = read(body, styles=styles)

    assert page.content == text
    notes = {0: (), 1: ("1 hidden passage left out",)}
    assert page.notes == notes.get(hidden, (f"{hidden} hidden passages left out",))


def test_a_hidden_field_does_not_break_what_is_around_it():
    def field(kind):
        return f"<w:r>{HIDDEN}<w:fldChar w:fldCharType='{kind}'/></w:r>"

    entry = f"<w:r>{HIDDEN}<w:instrText> XE kelp </w:instrText></w:r>"
    body = (
        f"<w:p>{run('Tides')}{field('begin')}{entry}{field('end')}{run(' turn')}</w:p>"
    )
    page = read(body)

    assert page.content == "Tides turn"
    assert page.notes == ()


def test_hidden_text_of_a_footnote_is_left_out():
    note = f"<w:footnote w:id='2'><w:p>{run('At noon.')}{run('ask Ada', mark='<w:vanish/>')}</w:p></w:footnote>"
    page = read_bytes(
        docx(
            f"<w:p>{run('Ebb')}<w:r><w:footnoteReference w:id='2'/></w:r></w:p>",
            **{
                "word/footnotes.xml": f"<w:footnotes xmlns:w='{WORD}'>{note}</w:footnotes>"
            },
        ),
        URL,
    )
    assert "At noon." in page.content
    assert "Ada" not in page.content


def level(number, text, form="decimal", more=""):
    return (
        f"<w:lvl w:ilvl='{number}'><w:start w:val='1'/><w:numFmt w:val='{form}'/>"
        f"<w:lvlText w:val='{text}'/>{more}</w:lvl>"
    )


def lists(*levels, more="", entries=""):
    """Make a list, number 1, of these levels; *entries* are others of its form."""
    return (
        f"<w:abstractNum w:abstractNumId='0'>{''.join(levels)}</w:abstractNum>{more}"
        f"<w:num w:numId='1'><w:abstractNumId w:val='0'/></w:num>{entries}"
    )


def restarted(number, at):
    return (
        f"<w:num w:numId='{number}'><w:abstractNumId w:val='0'/><w:lvlOverride w:ilvl='0'>"
        f"<w:startOverride w:val='{at}'/></w:lvlOverride></w:num>"
    )


def item(text, depth=0, number=1, *, style="", mark=""):
    named = f"<w:pStyle w:val='{style}'/>" if style else ""
    return (
        f"<w:p><w:pPr>{named}<w:numPr><w:ilvl w:val='{depth}'/><w:numId w:val='{number}'/>"
        f"</w:numPr>{mark}</w:pPr>{run(text)}</w:p>"
    )


CLAUSES = (level(0, "%1."), level(1, "%1.%2"), level(2, "(%3)", "lowerLetter"))
ARTICLES = (
    level(0, "Article %1", "upperRoman"),
    level(1, "Section %1.%2", more="<w:isLgl/>"),
)
IN_STYLE = "<w:pPr><w:numPr><w:ilvl w:val='%d'/><w:numId w:val='1'/></w:numPr></w:pPr>"


@pytest.mark.parametrize("first", ["numbering", "footnotes"])
def test_a_footnote_has_its_own_numbers_wherever_the_lists_are(first):
    note = f"<w:footnote w:id='2'>{item('At noon.')}</w:footnote>"
    contents = {"numbering": lists(*ARTICLES), "footnotes": note}
    parts = {
        f"word/{name}.xml": f"<w:{name} xmlns:w='{WORD}'>{contents[name]}</w:{name}>"
        for name in sorted(contents, key=lambda name: name != first)
    }
    body = f"{item('Ebb')}<w:p>{run('Flood')}<w:r><w:footnoteReference w:id='2'/></w:r></w:p>"
    page = read_bytes(docx(body, **parts), URL)

    assert "Article I Ebb" in page.content
    assert "Article I At noon." in page.content


@pytest.mark.parametrize(
    ("numbering", "body", "text"),
    [
        (lists(*CLAUSES), item("Term") + item("Start", 1) + item("Day", 2) + item("Hour", 2) + item("End", 1) + item("Fees")
         + item("Rate", 1), "1. Term\n\n1.1 Start\n\n(a) Day\n\n(b) Hour\n\n1.2 End\n\n2. Fees\n\n2.1 Rate"),
        (lists(*ARTICLES), item("Tides") + item("Ebb", 1) + item("Boats") + item("Oars", 1),
         "Article I Tides\n\nSection 1.1 Ebb\n\nArticle II Boats\n\nSection 2.1 Oars"),
        # goes on after other text
        (lists(level(0, "%1.")), item("Ebb") + item("Flood") + paragraph("So far.") + item("Slack"),
         "1. Ebb\n2. Flood\n\nSo far.\n\n3. Slack"),
        (lists(level(0, "%1."), entries=restarted(2, 1) + restarted(3, 7)),
         item("Ebb") + item("Flood") + paragraph("Boats") + item("Oar", 0, 2) + paragraph("Nets") + item("Cod", 0, 3) + item("Eel", 0, 3),
         "1. Ebb\n2. Flood\n\nBoats\n\n1. Oar\n\nNets\n\n7. Cod\n8. Eel"),
        # the third level does not begin again
        (lists(level(0, "%1."), level(1, "%2)", "lowerRoman", "<w:lvlRestart w:val='0'/>")),
         item("Ebb") + item("Noon", 1) + item("Flood") + item("Night", 1), "1. Ebb\n\ni) Noon\n\n2. Flood\n\nii) Night"),
        (lists(level(0, "%1", "ordinal")), item("Ebb") + item("Flood"), "Ebb\n\nFlood"),
        (lists(level(0, "")), item("Ebb"), "Ebb"),
        (lists(level(0, "%1.", more=HIDDEN)), item("Ebb"), "Ebb"),
        (lists(level(0, "%1" * 50)), item("Ebb"), "Ebb"),
        (lists(level(0, "-", "bullet"), level(1, "%2.")), item("Ebb") + item("Noon", 1) + item("Flood"),
         "- Ebb\n  1. Noon\n- Flood"),
        (lists(*CLAUSES), item("Ebb", 1, 0) + item("Flood", 9) + item("Slack", 0, 5), "Ebb\n\nFlood\n\nSlack"),
        # no number for a paragraph that goes on in the next, or shows nothing
        (lists(*CLAUSES), item("Ebb", mark="<w:rPr><w:del/></w:rPr>") + item("Flood"), "1. EbbFlood"),
        (lists(*CLAUSES), item("", mark=HIDDEN) + item("Flood"), "1. Flood"),
    ],
)  # fmt: skip
def test_paragraphs_have_the_numbers_that_word_shows(numbering, body, text):
    assert read(body, numbering=numbering).content == text


@pytest.mark.parametrize(
    ("numbering", "styles"),
    [
        (lists(*CLAUSES), style("Clause", IN_STYLE % 1)),
        (lists(*CLAUSES), style("Base", IN_STYLE % 1) + style("Clause", base="Base")),
        (
            "<w:abstractNum w:abstractNumId='5'><w:numStyleLink w:val='Outline'/></w:abstractNum>"
            "<w:num w:numId='6'><w:abstractNumId w:val='5'/></w:num>" + lists(*CLAUSES),
            style("Outline", IN_STYLE % 0, kind="numbering") + style("Clause", (IN_STYLE % 1).replace("'1'/></w:numPr>", "'6'/></w:numPr>")),
        ),
    ],
    ids=["its own", "that of its base", "that of a style"],
)  # fmt: skip
def test_a_style_numbers_its_paragraphs(numbering, styles):
    body = paragraph("Ebb", "Clause") + paragraph("Flood", "Clause")
    page = read(body, numbering=numbering, styles=styles)

    assert page.content == "1.1 Ebb\n\n1.2 Flood"


def test_a_heading_has_its_number():
    styles = style("Heading1", IN_STYLE % 0) + style("Heading2", IN_STYLE % 1)
    body = paragraph("Tides", "Heading1") + paragraph("Ebb", "Heading2")
    page = read(body, numbering=lists(*CLAUSES), styles=styles)

    assert page.content == "# 1. Tides\n\n## 1.1 Ebb"


def test_a_formula_has_the_number_of_its_paragraph():
    space = "http://schemas.openxmlformats.org/officeDocument/2006/math"
    formula = f"<m:oMath xmlns:m='{space}'><m:r><m:t>x</m:t></m:r></m:oMath>"
    body = item("", 1).replace(run(""), formula) + item("Ebb", 1)

    assert read(body, numbering=lists(*CLAUSES)).content == "1.1 $x$\n\n1.2 Ebb"


@pytest.mark.parametrize(
    ("number", "form", "text"),
    [
        (9, "decimalZero", "09"), (1_000_000, "decimal", "1000000"), (26, "lowerLetter", "z"), (28, "upperLetter", "BB"),
        (1994, "upperRoman", "MCMXCIV"), (0, "lowerRoman", None), (1_000_000, "lowerRoman", None),
        (1_000_000, "lowerLetter", None), (0, "lowerLetter", None), (3, "chicago", None), (3, "none", ""),
    ],
)  # fmt: skip
def test_a_number_is_written_as_word_writes_it_or_not_at_all(number, form, text):
    assert write_number(number, form) == text


BOX = "<w:txbxContent>%s</w:txbxContent>"
COPY = f"<v:shape xmlns:v='urn:schemas-microsoft-com:vml'><v:textbox>{BOX}</v:textbox></v:shape>"


@pytest.mark.parametrize(
    ("frame", "fallback"),
    [
        (None, ""),
        ("<mc:Choice Requires='wps'>%s</mc:Choice>", ""),
        ("<mc:Choice Requires='wps'>%s</mc:Choice>", "<mc:Fallback><w:pict/></mc:Fallback>"),
        ("<mc:Choice Requires='wps'>%s</mc:Choice>", f"<mc:Fallback><w:pict>{COPY}</w:pict></mc:Fallback>"),
    ],
)  # fmt: skip
def test_the_text_of_a_box_is_read_once(fallback, frame):
    numbered = item("Boats leave at noon")
    fallback = fallback.replace("%s", numbered)
    drawing = f"<w:drawing><wps:txbx xmlns:wps='http://w.example/s'>{BOX % numbered}</wps:txbx></w:drawing>"
    inner = drawing
    if frame:
        space = "http://schemas.openxmlformats.org/markup-compatibility/2006"
        inner = f"<mc:AlternateContent xmlns:mc='{space}'>{frame % drawing}{fallback}</mc:AlternateContent>"
    body = f"<w:p>{run('Ferries')}<w:r>{inner}</w:r></w:p>" + item("Oars")
    page = read(body, numbering=lists(*CLAUSES))

    assert page.content == "Ferries\n\n1. Boats leave at noon\n2. Oars"


def test_a_table_from_right_to_left_is_read_in_its_own_order():
    rows = row(cell("יום"), cell("שעה")) + row(cell("שני"), cell("8:10"))
    page = read(f"<w:tbl><w:tblPr><w:bidiVisual/></w:tblPr>{rows}</w:tbl>")

    assert page.content == "| יום | שעה |\n| --- | --- |\n| שני | 8:10 |"


@pytest.mark.parametrize(
    ("part", "content"),
    [
        ("customXml/item1.xml", f"<broken xmlns='{WORD}'"),
        ("word/glossary/styles.xml", f"<w:styles xmlns:w='{WORD}'>{style('Draft', HIDDEN)}</w:styles>"),
    ],
)  # fmt: skip
def test_parts_that_say_nothing_of_the_text_change_nothing(part, content):
    body = paragraph("Kelp", "Draft")
    assert read_bytes(docx(body, **{part: content}), URL).content == "Kelp"


@pytest.mark.parametrize("mark", ["&kelp;", "</w:x>"])
def test_hidden_text_of_a_document_with_mistakes_is_left_out(mark):
    body = f"{paragraph('Tides')}{mark}<w:p>{run('ask Ada', mark='<w:vanish/>')}</w:p>"
    assert "Ada" not in read(body).content


def test_a_strict_document_is_read_like_any_other():
    body = item("Ebb") + f"<w:p>{run('ask Ada', mark='<w:vanish/>')}</w:p>"
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    numbering = f"<w:numbering xmlns:w='{strict}'>{lists(*CLAUSES)}</w:numbering>"
    data = docx(
        body,
        **{
            "word/document.xml": f"<w:document xmlns:w='{strict}'><w:body>{body}</w:body></w:document>",
            "word/numbering.xml": numbering,
        },
    )
    assert read_bytes(data, URL).content == "1. Ebb"


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        (paragraph("Kelp", "s0"), {"styles": "".join(style(f"s{n}", base=f"s{n + 1}") for n in range(5_000))}),
        (paragraph("Kelp", "A"), {"styles": CYCLE.replace("<w:vanish/>", "")}),
        (item("Kelp"), {"numbering": lists(*(level(0, "") for _ in range(5_000)))}),
        (item("Kelp", 0, 9), {"numbering": lists(more="<w:abstractNum w:abstractNumId='5'><w:numStyleLink w:val='S'/></w:abstractNum>"
         "<w:num w:numId='9'><w:abstractNumId w:val='5'/></w:num>"),
         "styles": style("S", IN_STYLE.replace("'1'", "'9'") % 0, kind="numbering")}),
        (item("Kelp"), {"numbering": lists(level(0, "%1.").replace("w:start w:val='1'", "w:start w:val='9999999999'"))}),
    ],
    ids=["long chain", "cycle", "levels", "linked to itself", "a start that no list has"],
)  # fmt: skip
def test_styles_and_lists_that_make_no_sense_number_nothing(body, parts):
    assert read(body, **parts).content == "Kelp"
