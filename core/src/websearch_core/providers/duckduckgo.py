"""DuckDuckGo: its HTML pages for browsers without JavaScript; it often blocks programs.

https://html.duckduckgo.com/html/

There is no API. These pages are not meant for programs and often answer a data centre's
first request with a challenge: that is `Blocked`, never "no results". Use it as a last
resort and at a human's pace; for more, use a service made for programs. A page has ten
results and ends with a form for the next page, whose hidden fields are valid only
there. Advertisements are dropped.
"""

from __future__ import annotations
import re
from typing import ClassVar
from urllib.parse import parse_qs, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from websearch_core import provider as kit
from websearch_core.errors import Blocked, ServiceError, UnsupportedOption
from websearch_core.flow import Sleep

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

        def fetch(
            form: dict[str, str],
        ) -> kit.Flow[tuple[kit.SearchResponse, dict[str, str] | None]]:
            if form is not first:
                yield Sleep(self.pause)
            headers = {"Referer": f"{self.base_url}/", **_HEADERS}
            answer = yield kit.Request(
                method="POST", url=f"{self.base_url}/html/", form=form, headers=headers
            )
            tree = self._tree(answer)
            response = kit.SearchResponse(
                query=query.text,
                results=_results(tree),
                provider=self.name,
                answer=_abstract(tree),
                suggestions=_corrections(tree, query),
                raw=answer.content.decode("utf-8", "replace"),
            )
            return response, _next_form(tree)

        skip = (query.page - 1) * query.limit
        return (
            yield from kit.follow_pages(
                query, self, fetch, first, max_pages=_MAX_PAGES, skip=skip
            )
        )

    def _form(self, query: kit.SearchQuery) -> dict[str, str]:
        # a !bang would redirect to another site
        words = kit.quote_commands(kit.with_sites(query), "!")
        kit.check_length(words, self)
        form = {
            "q": words,
            "b": "",
            "kl": _region(query),
            "df": kit.date_span(query, _TIME, sign="..") or "",
        }
        if query.safe_search:
            form["kp"] = _SAFE_SEARCH[query.safe_search]
        return kit.with_extra(form, query)

    def _tree(self, response: kit.Response) -> LexborHTMLParser:
        if _CHALLENGE.search(response.content):
            raise kit.error_for(
                response,
                self,
                hint="a challenge against robots; try again in an hour",
                kind=Blocked,
            )
        if response.status != 200:
            raise kit.error_for(response, self, meanings=_MEANINGS)
        # invalid bytes fail only when read
        tree = LexborHTMLParser(response.content.decode("utf-8", "replace"))
        has_results = any(row.css_first(".result__a") for row in tree.css(_ROWS))
        if (
            not has_results
            and b"No  results" not in response.content
            and not tree.css(".no-results")
        ):
            raise kit.unexpected_format(self.name)
        return tree


def _results(tree: LexborHTMLParser) -> tuple[kit.SearchResult, ...]:
    rows = [
        {
            "title": _html(row.css_first(".result__a")),
            "url": _target(row.css_first(".result__a")),
            "snippet": _html(row.css_first(".result__snippet")),
            "published": _date(row.css_first(".result__extras__url")),
        }
        for row in tree.css(_ROWS)
    ]
    return kit.parse_results(
        [row for row in rows if row["url"]], DuckDuckGo.name, markup="html"
    )


def _html(node: LexborNode | None) -> str:
    return (node.inner_html or "") if node is not None else ""


def _target(link: LexborNode | None) -> str | None:
    """Return the target of a link, direct or in the ``uddg`` of a redirect; None for an
    advertisement.
    """
    href = (link.attributes.get("href") or "") if link is not None else ""
    try:
        url = urljoin("https://duckduckgo.com/", href)
        parts = urlsplit(url)
        if parts.path == "/l/" and (targets := parse_qs(parts.query).get("uddg")):
            url = targets[0]
            parts = urlsplit(url)
    except ValueError:  # such as //[: one bad link must not lose the other results
        return None
    is_own = f".{parts.hostname}".endswith(".duckduckgo.com")
    return None if not href or (is_own and parts.path in {"/l/", "/y.js"}) else url


def _date(extras: LexborNode | None) -> str | None:
    stamp = (
        re.search(r"\d{4}-\d\d-\d\dT[\d:.]+", extras.text())
        if extras is not None
        else None
    )
    return stamp[0] if stamp else None


def _next_form(tree: LexborHTMLParser) -> dict[str, str] | None:
    """Return the hidden fields of the form whose button says "Next" (another leads
    back); None on the last page.
    """
    for form in reversed(tree.css(".nav-link form")):
        if any(
            (button.attributes.get("value") or "").startswith("Next")
            for button in form.css("input[type=submit]")
        ):
            fields = form.css("input[type=hidden]")
            return {
                name: one.attributes.get("value") or ""
                for one in fields
                if (name := one.attributes.get("name"))
            }
    return None


def _abstract(tree: LexborHTMLParser) -> str | None:
    """Return the text of the box above the results, without the link to its source."""
    box = tree.css_first("#zero_click_abstract")
    if box is None or _ABOUT_YOU.search(box.text()):
        return None
    return (
        kit.plain_text(
            re.sub(r"<a\b(?:[^<]|<(?!a\b))*?</a>", " ", box.inner_html or ""), "html"
        )
        or None
    )


def _corrections(tree: LexborHTMLParser, query: kit.SearchQuery) -> tuple[str, ...]:
    """Return the queries that the page proposes for a misspelled one."""
    texts = [
        kit.plain_text(link.inner_html, "html")
        for link in tree.css("[id*=did_you_mean] a, [class*=spelling] a")
    ]
    return tuple(
        dict.fromkeys(
            text for text in texts if text and text.casefold() != query.text.casefold()
        )
    )


def _region(query: kit.SearchQuery) -> str:
    """Return DuckDuckGo's code for the country and language: ``uk-en``, ``jp-jp``,
    ``wt-wt`` for anywhere.
    """
    if query.country is None and query.language is None:
        return "wt-wt"
    known = {
        tag: code
        for tag, code in _REGIONS.items()
        if query.country is None or tag.endswith(f"-{query.country}")
    }
    if query.language is None:
        found = next(iter(known.values()), None)
    else:
        found = kit.match_language(query.language, known, country=query.country)
    if found is None:
        options = [name for name in ("country", "language") if getattr(query, name)]
        message = f"duckduckgo has no region for {' and '.join(options)}"
        raise UnsupportedOption(message, options=options, provider=DuckDuckGo.name)
    return found
