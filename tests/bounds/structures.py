"""Pages of structure: elements with attributes, styles and data that refer to each
other, made from a number, and what the worker does with them.

`tests.bounds.documents` repeats a text in a place of a document. A page may as well be
small in each place, and large only together: elements inside elements, a price list
beside data of a product, data that refers to itself. One page repeats one part, or a
few, and stands inside others.
"""

from __future__ import annotations
import json
import os
import random
import resource
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

from websearch_core import Page, WebSearchError
from websearch_core.reading import Excerpt, read_bytes

SIZE = 250_000  # characters of a page, about
URL = "https://page.example/seaweed"
_MAX_MEMORY = 4 * 2**30  # bytes; more ends the process, not the machine
_EXCERPTS = (
    Excerpt(),
    Excerpt(find="kelp", max_length=3_000),
    Excerpt(query="kelp holdfast", max_length=3_000),
    Excerpt(outline=True),
)

_TAGS = (
    "div div div p p span span a b i em table tr td th ul ol li dl dt dd h1 h2 h3 section article aside nav header footer "
    "main form label button details summary blockquote pre code figure figcaption picture img time ins del s small sup sub "
    "ruby rt svg math mrow mi template noscript dialog address caption thead tbody select option textarea object iframe x-y"
).split()  # fmt: skip
_OUTER = (
    "div",
    "ul><li",
    "blockquote",
    "section",
    "span",
    "table><tr><td",
    "a href=#k",
    "details",
    "dl><dd",
    "noscript",
)
_WORDS = (
    "comment comments reply review rating price old-price product card item list related author byline date sidebar menu "
    "breadcrumb sr-only visually-hidden tab panel modal paywall subscriber-only title teaser ad cookie footnote toc next "
    "katex mwe-math-element addtocalendar"
).split()  # fmt: skip
_STYLES = (
    "display:none", "visibility:hidden", "visibility:visible", "opacity:0", "opacity:.2", "color:#fff;background:#fff",
    "color:transparent", "color:black", "font-size:0", "font-size:1em", "position:absolute;left:-9999px",
    "clip-path:inset(100%)", "height:0;overflow:hidden", "transform:scale(0)", "width:calc((1px + 2px)*0)",
)  # fmt: skip
_TEXTS = (
    "x", "$1 ", "$1.50", "12,50 €", "kelp is brown. ", "2021-03-04 ", "March 4, 2021 ", "By Ada Byron", "[1]", "* ", "` ",
    "| ", "# ", "{{a}}", "Reply", "5 comments", "Was $9", "1 2 3 ", "A. B. ", "é", "漢。", "http://e.example/a ",
    "save 5% ", "Q: a? ", "(", "\n", "&amp;", "&#8203;", "–", "e\u0301",
)  # fmt: skip
_PROPERTIES = "name author datePublished itemListElement comment review articleBody offers price".split()
_ROLES = ("tab", "tabpanel", "dialog", "heading", "list", "row")
_TYPES = (
    "Product ProductGroup Recipe HowTo FAQPage QAPage Question Answer NewsArticle Article DiscussionForumPosting Comment "
    "ItemList ListItem Event JobPosting Offer AggregateOffer Person Place WebSite Review"
).split()  # fmt: skip
_KEYS = (
    "name headline text description articleBody url author creator datePublished mainEntity mainEntityOfPage hasPart "
    "itemListElement item offers priceSpecification hasVariant price lowPrice highPrice priceCurrency availability brand "
    "recipeIngredient recipeInstructions step acceptedAnswer suggestedAnswer comment aggregateRating ratingValue startDate "
    "location address isAccessibleForFree cssSelector hiringOrganization employmentType image reviewBody @value"
).split()  # fmt: skip


class Maker:
    """Makes the page of a number."""

    def __init__(self, number: int) -> None:
        self._random = random.Random(number)

    def page(self) -> str:
        """Return the source of the page."""
        chance = self._random
        head = "<title>Kelp</title>"
        if chance.random() < 0.5:
            kind = chance.choice(("article", "product", "website"))
            head += f"<meta property=og:type content={kind}>"
        if chance.random() < 0.7:
            data = json.dumps(self._data()).replace("<", "\\u003c")
            head += f"<script type='application/ld+json'>{data}</script>"
        around = "".join(self._open() for _ in range(chance.choice((0, 0, 1, 5))))
        pair = self._open() + chance.choice(("", self._open()))
        around += pair * chance.choice((0, 0, 50, 120, 240))
        parts = [self._part() for _ in range(chance.choice((1, 1, 1, 2, 3)))]
        room = (SIZE - len(around)) // len(parts)
        body = "".join(part * max(1, room // max(1, len(part))) for part in parts)
        return f"{head}<h1>Kelp</h1>{around}{body}"

    def _open(self) -> str:
        first, *others = self._random.choice(_OUTER).split(">")
        return ">".join([first + self._attributes(), *others]) + ">"

    def _part(self, depth: int = 0) -> str:
        chance = self._random
        name = chance.choice(_TAGS)
        inside = ""
        for _ in range(chance.choice((1, 1, 2, 3))):
            if depth < 3 and chance.random() < 0.3:
                inside += self._part(depth + 1)
            else:
                inside += chance.choice(_TEXTS)
        end = f"</{name}>" if chance.random() < 0.8 else ""
        return f"<{name}{self._attributes()}>{inside}{end}"

    def _attributes(self) -> str:
        chance = self._random
        pick = chance.choice
        makers: list[Callable[[], str]] = [
            lambda: f"class='{pick(_WORDS)}'",
            lambda: f"class='{pick(_WORDS)} {pick(_WORDS)}-{pick(_WORDS)}'",
            lambda: f"id={pick(_WORDS)}",
            lambda: f"style='{pick(_STYLES)}'",
            lambda: f"style='{self._variables()}'",
            lambda: pick(("href=/a", "href=#k", "rel=author", "rel=next")),
            lambda: f"itemscope itemtype=https://schema.org/{pick(_TYPES)}",
            lambda: f"itemprop={pick(_PROPERTIES)}",
            lambda: f"itemscope itemprop={pick(_PROPERTIES)}",
            lambda: f"role={pick(_ROLES)}",
            lambda: pick(("hidden", "aria-hidden=true", "popover", "open")),
            lambda: pick(("aria-controls=k", "aria-labelledby=k")),
            lambda: "datetime=2021-03-04",
            lambda: "rowspan=9 colspan=9",
        ]
        count = pick((0, 0, 1, 1, 2, 3))
        return "".join(f" {pick(makers)()}" for _ in range(count))

    def _variables(self) -> str:
        """Return a style whose variables refer to each other."""
        chance = self._random
        count = chance.randrange(2, 24)
        declared = []
        for number in range(count):
            name = chance.randrange(number + 1, count + 1)
            times = chance.choice((1, 2, 8))
            declared.append(f"--v{number}:" + f"var(--v{name},)" * times)
        target = chance.choice(("opacity", "font-size", "color", "transform"))
        return ";".join([*declared, f"--v{count}:0", f"{target}:var(--v0)"])

    def _data(self) -> dict[str, Any]:
        """Return things that refer to each other, and to a long text."""
        chance = self._random
        names = [f"#{n}" for n in range(chance.randrange(1, 8))]
        long = chance.choice(("kelp is brown. ", "</x>", "<b>kelp</b> ", "&lt;p>", "9"))
        text = {"@id": "#t", "text": long * chance.choice((1, 200, 5_000))}
        text |= {"name": text["text"], "price": 3, "url": "/a"}
        things = [text, *(self._thing(name, [*names, "#t"]) for name in names)]
        return {"@graph": sorted(things, key=lambda _: chance.random())}

    def _thing(self, name: str, others: list[str]) -> dict[str, Any]:
        chance = self._random
        thing: dict[str, Any] = {"@id": name, "@type": chance.choice(_TYPES)}
        if chance.random() < 0.7:
            thing["name"] = "Kelp"
        for _ in range(chance.randrange(3, 9)):
            key = chance.choice(_KEYS)
            reference = {"@id": chance.choice(others)}
            values: list[Any] = [False, "Kelp", "3.50", ".price", reference, reference]
            value = chance.choice(values)
            if value is reference:
                value = [value] * chance.choice((1, 20, 100))
            thing[key] = value
        return thing


def _data_page(*things: dict[str, Any]) -> str:
    data = json.dumps({"@graph": things}).replace("<", "\\u003c")
    script = f"<script type='application/ld+json'>{data}</script>"
    return f"<title>Kelp</title><h1>Kelp</h1>{script}"


def _steps() -> str:
    """Return a recipe whose steps all refer to one with many parts, each the text."""
    return _data_page(
        {"@type": "HowTo", "name": "Kelp", "step": [{"@id": "#a"}] * 90},
        {"@id": "#a", "name": "", "url": "/", "itemListElement": [{"@id": "#b"}] * 90},
        {"@id": "#b", "name": "", "url": "/", "description": "kelp " * 40_000},
    )


def _answers() -> str:
    """Return questions whose answers are one text, of which nothing is left."""
    questions = [{"@id": "#q"}] * 90
    answers = [{"@id": "#a"}] * 90
    return _data_page(
        {"@type": "FAQPage", "name": "Kelp", "mainEntity": questions},
        {"@id": "#q", "@type": "Question", "url": "/", "suggestedAnswer": answers},
        {"@id": "#a", "name": "Kelp", "url": "/", "text": "<i></i>" + "</y>" * 20_000},
    )


def _variables() -> str:
    levels = ";".join(f"--k{n}:" + f"var(--k{n + 1})" * 6 for n in range(18))
    return f"<h1>Kelp</h1><p style='{levels};--k18:var(--no,);opacity:var(--k0)'>Kelp"


def _amounts() -> str:
    product = {"@type": "Product", "name": "Kelp", "offers": {"price": "7"}}
    return _data_page(product) + "<p>" + "$2 " * 80_000


def _muted() -> str:
    pair = "<div style='visibility:hidden'><div style='visibility:visible'>"
    return "<h1>Kelp</h1>" + pair * 100 + "kelp<br>" * 40_000


def _closed() -> str:
    marks = "klmnopqrst"
    closed = [{"isAccessibleForFree": False, "cssSelector": f".{m}"} for m in marks]
    article = {"@type": "NewsArticle", "headline": "Kelp", "hasPart": closed}
    article["isAccessibleForFree"] = False
    opening = f"<div class='{' '.join(marks)}'>"
    return _data_page(article) + opening * 240 + "k<br>" * 60_000


def _signs() -> str:
    codes = [chr(code) for code in range(0x21, 0x9000)]
    signs = [sign for sign in codes if unicodedata.category(sign)[0] in "LMNPS"]
    marks = [sign for sign in signs if unicodedata.category(sign)[0] == "M"]
    return "<pre>kelp " + " ".join(marks) + " ".join(signs).replace("<", "")


def _headings() -> str:
    return "<span>" * 240 + "<h2>Kelp</h2>" * 6_000 + "<h2>" + "1<br>" * 15_000


def _links() -> str:
    return "<a href=#k><table><tr><td>" * 200 + "kelp<br>" * 40_000


def _noscripts() -> str:
    return "<div itemprop=articleBody>" + "<noscript>" * 200 + "kelp<br>" * 40_000


def _unseen_runs() -> str:
    product = {"@type": "Product", "name": "Kelp", "offers": {"price": "7"}}
    return _data_page(product) + "<div>$1 " * 60 + "<i>&#8203;</i>" * 40_000


def _grounds() -> str:
    """Return elements whose styles say something about what is inside, deeply."""
    names = ";".join(f"--k{n}:{n}" for n in range(90))
    around = f"<div style='{names};font-size:99%;background:#fff'>" * 200
    return around + "<b style='opacity:var(--k1);color:red'>kelp</b>" * 4_000


def _formulas() -> str:
    return "<span class=katex>" * 240 + "<math>" + "<mrow></mrow>" * 40_000


def _controls() -> str:
    return "<div role=tab id=k>" * 240 + "<i>–</i>" * 60_000


def _mixed_sums() -> str:
    sums = "calc(1px + " * 18 + "+".join(["1px"] * 60_000) + ")" * 18
    return f"<h1>Kelp</h1><p style='width:{sums}'>Kelp"


def _types() -> str:
    many = [f"Thing{n}" for n in range(30_000)]
    listed = [{"@id": "#q"}] * 100
    lists = [
        {"@type": "ItemList", "name": "Kelp", "itemListElement": listed}
        for _ in range(90)
    ]
    return _data_page({"@id": "#q", "@type": many, "name": "", "url": "/"}, *lists)


PAGES: dict[str, Callable[[], str]] = {
    "answers that refer to one text": _answers,
    "amounts in one block": _amounts,
    "controls without a word": _controls,
    "different signs": _signs,
    "formulas around one without text": _formulas,
    "grounds inside grounds": _grounds,
    "headings without links": _headings,
    "links inside links": _links,
    "noscript inside noscript": _noscripts,
    "parts that are not free": _closed,
    "runs that nobody sees beside a price": _unseen_runs,
    "steps that refer to one text": _steps,
    "sums inside sums": _mixed_sums,
    "types of things": _types,
    "variables of a style": _variables,
    "visibility inside visibility": _muted,
}


def measure(page: int | str) -> tuple[float, int]:
    """Return the seconds of processor time and the MB that reading a page costs, with
    excerpts of it: one of `PAGES`, or that of a number.
    """
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY, _MAX_MEMORY))
    source = PAGES[page]() if isinstance(page, str) else Maker(page).page()
    data = source.encode()
    _read(b"<p>Kelp</p>")  # what is loaded once is not the cost of the page
    before = _forget_peak()
    begin = time.process_time()
    _read(data)
    seconds = time.process_time() - begin
    return seconds, (_status("VmHWM") - before) // 1024


def _read(data: bytes) -> Page | None:
    page = None
    try:
        page = read_bytes(data, URL, "text/html", isolate=False)
        for excerpt in _EXCERPTS:
            excerpt.of(page)
    except WebSearchError:  # a page may be refused, but not for free
        return page
    return page


def _forget_peak() -> int:
    """Let the peak of memory begin here, and return what is used now, in kB."""
    with Path("/proc/self/clear_refs").open("w") as file:
        file.write("5")
    return _status("VmRSS")


def _status(name: str) -> int:
    """Return a line of what Linux says about the memory of this process, in kB."""
    with Path(f"/proc/{os.getpid()}/status").open() as file:
        line = next(line for line in file if line.startswith(f"{name}:"))
    return int(line.split()[1])
