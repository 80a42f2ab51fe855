"""DuckDuckGo: its HTML pages for browsers without JavaScript; it often blocks programs.

https://html.duckduckgo.com/html/

There is no API. These pages are not meant for programs and often answer a data centre's
first request with a challenge: that is ``Blocked``, never "no results". Use it as a
last resort and at a human's pace. A page has ten results.
"""

from __future__ import annotations
import re
from html import escape
from typing import Any, ClassVar, TypeAlias
from urllib.parse import parse_qs, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from websearch_core import provider as kit
from websearch_core.errors import Blocked, ServiceError, UnsupportedOption
from websearch_core.flow import Sleep

_Form: TypeAlias = dict[str, str]

_TIME = {"day": "d", "week": "w", "month": "m", "year": "y"}
_SAFE_SEARCH = {"off": "-2", "moderate": "-1", "strict": "1"}
# Country first; a country's first language is its default, and a language's first
# country its home.
_REGIONS = kit.codes(
    "en-US=us-en es-ES=es-es pt-PT=pt-pt fr-FR=fr-fr de-DE=de-de nl-NL=nl-nl "
    "it-IT=it-it zh-Hans-CN=cn-zh "
    "zh-Hant-TW=tw-tzh zh-Hant-HK=hk-tzh ja-JP=jp-jp ko-KR=kr-kr ar-SA=xa-ar "
    "bg-BG=bg-bg ca-ES=es-ca cs-CZ=cz-cs "
    "da-DK=dk-da de-AT=at-de de-CH=ch-de el-GR=gr-el en-AU=au-en en-CA=ca-en "
    "en-GB=uk-en en-ID=id-en en-IE=ie-en "
    "en-IL=il-en en-IN=in-en en-MY=my-en en-NZ=nz-en en-PH=ph-en en-PK=pk-en "
    "en-SG=sg-en en-TH=th-en en-VN=vn-en "
    "en-ZA=za-en es-AR=ar-es es-CL=cl-es es-CO=co-es es-MX=mx-es es-PE=pe-es "
    "es-US=us-es et-EE=ee-et fi-FI=fi-fi "
    "fr-BE=be-fr fr-CA=ca-fr fr-CH=ch-fr hr-HR=hr-hr hu-HU=hu-hu it-CH=ch-it "
    "lt-LT=lt-lt lv-LV=lv-lv nl-BE=be-nl "
    "no-NO=no-no pl-PL=pl-pl pt-BR=br-pt ro-RO=ro-ro ru-RU=ru-ru sk-SK=sk-sk "
    "sl-SI=sl-sl sv-SE=se-sv tr-TR=tr-tr "
    "uk-UA=ua-uk is-IS=is-is"
)
_ROWS = (
    ".web-result:not(.result--ad), "
    ".result:not(.result--ad):not(.web-result):has(.result__a)"
)
_LINK = re.compile(r"<a\b(?:[^<]|<(?!a\b))*?</a>")
# answers about the program that asks
_ABOUT_YOU = re.compile("Your IP address is|Your user agent:|URL Decoded:")
_CHALLENGE = re.compile(rb"challenge-form|anomaly-modal|anomaly\.js")
_MEANINGS: dict[int, type[ServiceError]] = {
    202: Blocked,
    303: Blocked,
    403: Blocked,
    418: Blocked,
}
_HEADERS = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 "
                  "Firefox/140.0",
    "Accept": "text/html,application/xhtml+xml", "Accept-Language": "en-US,en;q=0.5",
    "Sec-Fetch-Dest": "document",
    "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "same-origin",
    "Sec-Fetch-User": "?1",
}  # fmt: skip
_MAX_PAGES = 5


@kit.provider
class DuckDuckGo:
    """Searches with DuckDuckGo.

    Args:
        base_url: Where its HTML pages are.
        pause: Seconds between one page of results and the next.
    """

    name = "duckduckgo"
    options: ClassVar[frozenset[str]] = kit.FILTERS | {
        "country",
        "language",
        "safe_search",
        "page",
    }
    emulated: ClassVar[frozenset[str]] = frozenset(
        {"allowed_domains", "blocked_domains", "limit", "page"}
    )
    limits: ClassVar[kit.Limits] = kit.Limits(query_length=499, requests_per_second=1)
    about: ClassVar[kit.Service] = kit.Service(
        free_allowance="no allowance is documented: it blocks programs that ask often",
        prices=kit.FREE,
        compared="its HTML pages, 2026-11",
        terms="there is no offer for programs",
    )

    base_url: kit.BaseUrl = "https://html.duckduckgo.com"
    pause: float = 1.0

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search, going from page to page as a reader would."""
        kit.check_options(query, self)
        first = self._form(query)

        def fetch(form: _Form) -> kit.Flow[tuple[kit.SearchResponse, _Form | None]]:
            if form is not first:
                yield Sleep(self.pause)
            return (yield from self._fetch(query, form))

        skip = (query.page - 1) * query.limit
        return (
            yield from kit.follow_pages(
                query, self, fetch, first, max_pages=_MAX_PAGES, skip=skip
            )
        )

    def _fetch(
        self, query: kit.SearchQuery, form: _Form
    ) -> kit.Flow[tuple[kit.SearchResponse, _Form | None]]:
        """Return a page of results, and the form for the next."""
        answer = yield kit.Request(
            method="POST",
            url=f"{self.base_url}/html/",
            form=form,
            headers={"Referer": f"{self.base_url}/", **_HEADERS},
        )
        tree = self._parse(answer)
        response = kit.SearchResponse(
            query=query.text,
            results=kit.parse_results(_find_items(tree), self.name, markup="html"),
            provider=self.name,
            answer=_find_abstract(tree),
            suggestions=_find_corrections(tree, query),
            raw=answer.content.decode("utf-8", "replace"),
        )
        return response, _find_next_form(tree)

    def _form(self, query: kit.SearchQuery) -> _Form:
        # a !bang would redirect to another site
        words = kit.quote_commands(kit.with_sites(query), "!")
        kit.check_length(words, self)
        form = {
            "q": words,
            "b": "",
            "kl": _choose_region(query),
            "df": kit.date_span(query, _TIME, sign="..") or "",
        }
        if query.safe_search:
            form["kp"] = _SAFE_SEARCH[query.safe_search]
        return kit.with_extra(form, query)

    def _parse(self, response: kit.Response) -> LexborHTMLParser:
        if _CHALLENGE.search(response.content):
            raise kit.error_for(
                response,
                self,
                hint="a challenge against robots; try again in an hour",
                kind=Blocked,
            )
        if response.status != 200:
            raise kit.error_for(response, self, meanings=_MEANINGS)
        # the parser reads invalid bytes, and fails when their text is taken
        tree = LexborHTMLParser(response.content.decode("utf-8", "replace"))
        if any(row.css_first(".result__a") for row in tree.css(_ROWS)):
            return tree
        if b"No  results" in response.content or tree.css(".no-results"):
            return tree
        raise kit.unexpected_format(self.name)


def _find_items(tree: LexborHTMLParser) -> list[dict[str, Any]]:
    """Return the results, and first the box above them if its page is none of these."""
    rows = _find_rows(tree)
    box = _find_box(tree)
    if box is None or box["url"] in [row["url"] for row in rows]:
        return rows
    return [box, *rows]


def _find_rows(tree: LexborHTMLParser) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for row in tree.css(_ROWS):
        link = row.css_first(".result__a")
        item = {
            "title": _take_html(link),
            "url": _find_target(link),
            "snippet": _take_html(row.css_first(".result__snippet")),
            "published": _find_date(row.css_first(".result__extras__url")),
        }
        if item["url"]:
            items.append(item)
    return items


def _take_html(node: LexborNode | None) -> str:
    if node is None:
        return ""
    return node.inner_html or ""


def _find_target(link: LexborNode | None) -> str | None:
    """Return the target of a link, direct or in the ``uddg`` of a redirect; None for an
    advertisement.
    """
    address = link.attributes.get("href") if link is not None else None
    if not address:
        return None
    try:
        url = urljoin("https://duckduckgo.com/", address)
        parts = urlsplit(url)
        targets = parse_qs(parts.query).get("uddg")
        if parts.path == "/l/" and targets:
            url = targets[0]
            parts = urlsplit(url)
    except ValueError:  # such as //[: one bad link must not lose the other results
        return None
    is_own = f".{parts.hostname}".endswith(".duckduckgo.com")
    if is_own and parts.path in {"/l/", "/y.js"}:
        return None
    return url


def _find_date(extras: LexborNode | None) -> str | None:
    if extras is None:
        return None
    stamp = re.search(r"\d{4}-\d\d-\d\dT[\d:.]+", extras.text())
    return stamp[0] if stamp else None


def _find_next_form(tree: LexborHTMLParser) -> _Form | None:
    """Return the hidden fields of the form whose button says "Next" (another leads
    back); None on the last page.
    """
    for form in reversed(tree.css(".nav-link form")):
        buttons = form.css("input[type=submit]")
        labels = [button.attributes.get("value") or "" for button in buttons]
        if any(label.startswith("Next") for label in labels):
            return _take_fields(form)
    return None


def _take_fields(form: LexborNode) -> _Form:
    fields = {}
    for field in form.css("input[type=hidden]"):
        name = field.attributes.get("name")
        if name:
            fields[name] = field.attributes.get("value") or ""
    return fields


def _find_abstract(tree: LexborHTMLParser) -> str | None:
    """Return the text of the box above the results, without the link to its source."""
    box = tree.css_first("#zero_click_abstract")
    if box is None or _ABOUT_YOU.search(box.text()):
        return None
    return kit.plain_text(_LINK.sub(" ", box.inner_html or ""), "html") or None


def _find_box(tree: LexborHTMLParser) -> dict[str, Any] | None:
    """Return the box above the results in the form of one, if it links to its source:
    without it, an answer cannot be cited.
    """
    link = tree.css_first(".zci__heading a")
    url = _find_target(link)
    abstract = _find_abstract(tree)
    if abstract is None or url is None:
        return None
    return {"title": _take_html(link), "url": url, "snippet": escape(abstract)}


def _find_corrections(
    tree: LexborHTMLParser, query: kit.SearchQuery
) -> tuple[str, ...]:
    """Return the queries that the page proposes for a misspelled one."""
    links = tree.css("[id*=did_you_mean] a, [class*=spelling] a")
    texts = [kit.plain_text(link.inner_html, "html") for link in links]
    original = query.text.casefold()
    others = [text for text in texts if text.casefold() not in {"", original}]
    return tuple(dict.fromkeys(others))


def _choose_region(query: kit.SearchQuery) -> str:
    """Return DuckDuckGo's code for the country and language: ``uk-en``, ``jp-jp``,
    ``wt-wt`` for anywhere.
    """
    if query.country is None and query.language is None:
        return "wt-wt"
    regions = _REGIONS
    if query.country is not None:
        ending = f"-{query.country}"
        regions = {tag: code for tag, code in regions.items() if tag.endswith(ending)}
    if query.language is None:
        region = next(iter(regions.values()), None)
    else:
        region = kit.match_language(query.language, regions, country=query.country)
    if region is None:
        options = [name for name in ("country", "language") if getattr(query, name)]
        why = f"has no region for {' and '.join(options)}"
        raise UnsupportedOption.by(DuckDuckGo, why, *options)
    return region
