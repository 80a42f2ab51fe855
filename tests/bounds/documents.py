"""What the worker does with documents: it puts a text into a place of one, and times
how long reading it takes.
"""

from __future__ import annotations
import io
import json
import time
from collections.abc import Callable
from urllib.parse import quote

from tests.bounds.units import repeat
from websearch_core import Page, WebSearchError
from websearch_core.citations import check_citations
from websearch_core.flow import Response
from websearch_core.layers._robots import Rules
from websearch_core.providers.direct import Direct
from websearch_core.reading import Excerpt, find_transcripts
from websearch_core.testing import play

Document = tuple[str, str, str | bytes]  # URL, media type, content

URL = "https://page.example/"
_HTML = {
    "body": "<p>Kelp</p>{}",
    "shell": "<script src=a.js></script><div id=root>{}</div>",
    "paragraph": "<article><h1>Kelp</h1><p>{}</p></article>",
    "title": "<title>{}</title><p>Kelp",
    "heading": "<h1>{}</h1><p>Kelp",
    "link": "<a href='{}'>Kelp</a>",
    "link text": "<p>Kelp <a href='/a'>{}</a>",
    "attribute": "<p style='{}'>Kelp</p>",
    "style": "<style>{}</style><p>Kelp",
    "class": "<div class='{}'>Kelp</div>",
    "code": "<pre><code>{}</code></pre>",
    "cell": "<table><tr><th>Kelp</th></tr><tr><td>{}</td></tr></table>",
    "item": "<ul><li>{}</li><li>Kelp</li></ul>",
    "comment": "<!--{}--><p>Kelp",
    "script": "<script>{}</script><p>Kelp",
    "description": "<meta name=description content='{}'><p>Kelp",
    "author": "<meta name=author content='{}'><p>Kelp",
    "date": "<meta property='article:published_time' content='{}'><p>Kelp",
    "byline": "<article><h1>Kelp</h1><p class=byline>{}</p><p>Brown algae.</p></article>",
    "time": "<article><h1>Kelp</h1><time datetime='{}'>{}</time><p>Brown algae.</p></article>",
    "refresh": "<meta http-equiv=refresh content='{}'><p>Kelp",
    "formula": "<p>Kelp <math><annotation encoding='application/x-tex'>{}</annotation></math>",
}
_JSON_LD = ("headline", "articleBody", "author", "datePublished", "description", "text")
_RSS = (
    "title", "link", "description", "author", "dc:creator", "managingEditor", "webMaster", "dc:publisher", "pubDate", "guid",
    "category", "content:encoded", "itunes:author", "itunes:owner", "itunes:duration", "dc:date", "comments", "rating",
)  # fmt: skip
_ATOM = (
    "title", "summary", "content", "updated", "published", "id", "rights", "generator", "link", "author", "author/name",
    "author/email", "author/uri", "contributor/name", "category",
)  # fmt: skip
_MARKDOWN = {"text": "# Kelp\n\n{}", "front matter": "---\ntitle: {}\nauthor: {}\n---\nKelp", "metadata": "---\n{}\n---\nKelp",
             "code": "```\n{}\n```", "link": "[Kelp]({})", "table": "| a |\n|---|\n| {} |"}  # fmt: skip


def _html(form: str) -> Callable[[str], Document]:
    return lambda text: (
        URL,
        "text/html; charset=utf-8",
        f"<!doctype html><body>{form.replace('{}', text)}",
    )


def _json_ld(field: str) -> Callable[[str], Document]:
    def make(text: str) -> Document:
        data = json.dumps(
            {"@type": "Article", "headline": "Kelp", field: text}
        ).replace("</", "<\\/")
        return (
            URL,
            "text/html",
            f"<script type='application/ld+json'>{data}</script><p>Kelp",
        )

    return make


def _rss(field: str, where: str) -> Callable[[str], Document]:
    def make(text: str) -> Document:
        name, item = (f"<{field}>{text}</{field}>", "<item><title>Kelp</title></item>")
        inside = f"{name}{item}" if where == "channel" else f"<item>{name}</item>"
        spaces = (
            'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:content="http://purl.org/rss/1.0/modules/content/"'
            ' xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"'
        )
        source = f'<rss version="2.0" {spaces}><channel><title>Kelp</title>{inside}</channel></rss>'
        return URL, "application/rss+xml", source

    return make


def _atom(field: str) -> Callable[[str], Document]:
    def make(text: str) -> Document:
        outer, _, inner = field.partition("/")
        inside = f"<{inner}>{text}</{inner}>" if inner else text
        entry = (
            f'<link href="{text[:80000]}"/>'
            if field == "link"
            else f"<{outer} type='html'>{inside}</{outer}>"
        )
        source = f'<feed xmlns="http://www.w3.org/2005/Atom"><title>Kelp</title><entry>{entry}</entry></feed>'
        return URL, "application/atom+xml", source

    return make


def _pdf(text: str) -> Document:
    shown = (
        text.encode("latin-1", "replace")
        .replace(b"\\", b"\\\\")
        .replace(b"(", b"\\(")
        .replace(b")", b"\\)")
    )
    lines = [shown[n : n + 4_000] for n in range(0, len(shown), 4_000)]
    stream = (
        b"BT /F1 9 Tf 20 700 Td "
        + b"".join(b"(" + line + b") Tj 0 -10 Td " for line in lines)
        + b"ET"
    )
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj%s endobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = (
        b"xref\n0 6\n0000000000 65535 f \n%strailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF"
        % (table, len(out))
    )
    return URL, "application/pdf", out + end


def _sheet(text: str) -> Document:
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    sheet = book.create_sheet("Kelp")
    sheet.append(["Kelp"])
    for n in range(0, len(text), 32_000):  # as much as a cell holds
        sheet.append(["'" + text[n : n + 32_000]])
    out = io.BytesIO()
    book.save(out)
    return (
        URL,
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        out.getvalue(),
    )


def _whole(kind: str, form: str = "{}", url: str = URL) -> Callable[[str], Document]:
    return lambda text: (url, kind, form.replace("{}", text))


READ: dict[str, Callable[[str], Document]] = {
    **{f"HTML {name}": _html(form) for name, form in _HTML.items()},
    **{f"JSON-LD {field}": _json_ld(field) for field in _JSON_LD},
    **{f"RSS {where} {field}": _rss(field, where) for where in ("item", "channel") for field in _RSS},
    "RSS before the root": _whole("application/rss+xml", "{}<rss version='2.0'><channel><title>Kelp</title></channel></rss>"),
    **{f"Atom {field}": _atom(field) for field in _ATOM},
    **{f"Markdown {name}": _whole("text/markdown", form) for name, form in _MARKDOWN.items()},
    "text": _whole("text/plain"),
    "text at the end": _whole("text/plain", "Kelp\n\n{}x"),
    "CSV": _whole("text/csv", "kelp,algae\n{},b\n"),
    "XML": _whole("application/xml", "<?xml version='1.0'?><a>{}</a>"),
    "JSON": lambda text: (URL, "application/json", json.dumps({"kelp": text})),
    "JSON Feed": lambda text: (
        URL,
        "application/feed+json",
        json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": "Kelp", "items": [
            {"content_html": text, "title": text, "date_published": text, "authors": [{"name": text}]}]}),
    ),
    "sitemap": _whole("application/xml", "<urlset><url><loc>https://page.example/{}</loc><lastmod>{}</lastmod></url></urlset>"),
    "sitemap inside": _whole("application/xml", "<urlset>{}</urlset>"),
    "llms.txt": _whole("text/plain", "# Kelp\n\n> All\n\n- {}\n- [a](/b): {}", f"{URL}llms.txt"),
    "llms.txt inside": _whole("text/plain", "# Kelp\n\n> {}\n\n- [a](/b)\n{}", f"{URL}llms.txt"),
    "WebVTT": _whole("text/vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n{}"),
    "WebVTT speaker": _whole("text/vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n<v {}>Kelp"),
    "WebVTT inside": _whole("text/vtt", "WEBVTT\n\n{}"),
    "podcast": lambda text: (
        URL,
        "application/x-transcript+json",
        json.dumps({"segments": [{"startTime": 1, "speaker": text, "body": text}]}),
    ),
    "PDF text": _pdf,
    "sheet cell": _sheet,
    "header": lambda text: (URL, text.replace("\n", " ")[:90_000], "<p>Kelp</p>"),
}  # fmt: skip
"""Documents with a place for a text."""

OTHERS = (
    "tracks",
    "episodes",
    "robots.txt",
    "robots.txt rule",
    "find",
    "find it",
    "query",
)
"""What else is done with a text."""

CITED = ("cited source", "cited source, many claims")
"""The same for a source that an answer cites; ``tests/core/citations/test_citations.py`` compares it with an honest one."""


def seconds(place: str, unit: str, size: int) -> float:
    """Return how long it takes to read a document with a text in *place*: *size*
    characters of *unit*.
    """
    text = repeat(unit, size)
    _do(place, "Kelp")  # imports
    work = _prepare(place, text)
    begin = time.thread_time()
    work()
    return time.thread_time() - begin


def _do(place: str, text: str) -> None:
    _prepare(place, text)()


def _prepare(place: str, text: str) -> Callable[[], object]:
    if place in READ:
        return _reading(*READ[place](text))
    match place:
        case "tracks":
            film = f"<html lang='{text}'><video><track src='{text}'>{text}</video>".encode()
            return lambda: find_transcripts(film, URL, "text/html", is_feed=False)
        case "episodes":
            feed = f"<rss><item>{text}</item><item><podcast:transcript {text}><title>{text}</title></rss>".encode()
            return lambda: find_transcripts(
                feed, URL, "application/rss+xml", is_feed=True
            )
        case "robots.txt":
            return lambda: Rules(text).allows(f"{URL}{'a' * 100}")
        case "robots.txt rule":
            rule = text.replace("\n", "/")[:2_000]
            while len(quote(rule)) > 8_000:  # a longer URL is refused
                rule = rule[: len(rule) // 2]
            return lambda: Rules(
                f"User-agent: *\nDisallow: /{rule}*{rule}*x$\n"
            ).allows(URL + quote(rule))
        case "find" | "find it" | "query":
            long = text * (1_000_000 // 80_000)  # a megabyte, if the text is of 80 kB
            page = Page(url=URL, final_url=URL, title="Kelp", content=long)
            what = {"find": "brown algae", "find it": "a"}
            options = (
                {"query": "kelp of the brown sea 1"}
                if place == "query"
                else {"find": what[place]}
            )
            return lambda: Excerpt(max_length=15_000, **options).of(page)  # type: ignore[arg-type]
        case _:
            claims = 40 if "many" in place else 1
            answer = " ".join(
                f"Brown algae of the northern seas number {n} [1](https://page.example/)."
                for n in range(claims)
            )
            source = {"id": 1, "url": URL, "title": "Kelp", "text": text}
            return lambda: check_citations(answer, [source])


def _reading(url: str, kind: str, content: str | bytes) -> Callable[[], object]:
    body = content.encode() if isinstance(content, str) else content
    answer = Response(status=200, headers={"content-type": kind}, content=body)

    def read() -> object:
        try:
            return play(
                Direct(isolate=False, prefer_markdown=False).read(url), answer
            ).result
        except WebSearchError as error:
            return error

    return read
