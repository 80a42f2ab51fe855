"""
DuckDuckGo: its HTML pages for browsers without JavaScript; it often blocks programs.

https://html.duckduckgo.com/html/

There is no API. These pages are not meant for programs and often answer a data centre's first request with a challenge:
that is `Blocked`, never "no results". Use it as a last resort and at a human's pace; for more, use a service made for
programs. A page has ten results and ends with a form for the next page, whose hidden fields are valid only there.
Advertisements are dropped.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from websearch_core.provider import (
    BaseUrl,
    Blocked,
    Flow,
    Limits,
    Request,
    Response,
    SearchQuery,
    SearchResponse,
    SearchResult,
    ServiceError,
    Sleep,
    UnsupportedOption,
    check_options,
    error_for,
    parse_results,
    provider,
    unexpected_format,
    with_sites,
)

_TIME = {"day": "d", "week": "w", "month": "m", "year": "y"}
_SAFE_SEARCH = {"off": "-2", "moderate": "-1", "strict": "1"}
_REGIONS = """
    ar-es au-en at-de be-fr be-nl br-pt bg-bg ca-en ca-fr cl-es cn-zh co-es hr-hr cz-cs dk-da ee-et fi-fi fr-fr de-de
    gr-el hk-tzh hu-hu in-en id-en ie-en il-en it-it jp-jp kr-kr lv-lv lt-lt my-en mx-es nl-nl nz-en no-no pk-en pe-es
    ph-en pl-pl pt-pt ro-ro ru-ru xa-ar sg-en sk-sk sl-sl za-en es-es es-ca se-sv ch-de ch-fr ch-it tw-tzh th-en tr-tr
    us-en us-es ua-uk uk-en vn-en
""".split()  # country first; each country's first language is its default
_COUNTRIES = {"GB": "uk", "SA": "xa", "SI": "sl"}
_LANGUAGES = {"ja": "jp", "ko": "kr", "nb": "no", "sl": "sl", "zh-tw": "tzh", "zh-hk": "tzh", "zh-hant": "tzh"}
_HOMES = {"en": "us-en", "es": "es-es", "pt": "pt-pt", "fr": "fr-fr", "de": "de-de", "nl": "nl-nl", "it": "it-it"}
_CHALLENGE = re.compile(rb"challenge-form|anomaly-modal|anomaly\.js")
_MEANINGS: dict[int, type[ServiceError]] = {202: Blocked, 303: Blocked, 403: Blocked, 418: Blocked}
_BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
_MAX_PAGES = 5


@provider
class DuckDuckGo:
    """
    Searches with DuckDuckGo.

    Args:
        base_url: Where its HTML pages are.
        pause: Seconds between one page of results and the next.

    """

    name = "duckduckgo"
    label = "DuckDuckGo"
    options = frozenset({
        "allowed_domains", "blocked_domains", "time_range", "after", "before", "country", "language", "safe_search",
        "page",
    })  # fmt: skip
    limits = Limits(query_length=499)

    base_url: BaseUrl = "https://html.duckduckgo.com"
    pause: float = 1.0

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search, going from page to page as a reader would."""
        check_options(query, self)
        end = query.page * query.limit
        results: list[SearchResult] = []
        form = self._form(query)
        for _ in range(_MAX_PAGES):
            tree = self._tree((yield self._request(form)))
            results += _results(tree)
            following = _next_form(tree)
            if following is None or len(results) >= end:
                break
            form = following
            yield Sleep(self.pause)
        return SearchResponse(query=query.text, results=tuple(results[end - query.limit :]), provider=self.name)

    def _form(self, query: SearchQuery) -> dict[str, str]:
        words = re.sub(r"(?<!\S)(![^\s\"]*)", r'"\1"', with_sites(query))  # a !bang would redirect to another site
        form = {"q": words, "b": "", "kl": _region(query), "df": _dates(query)}
        if query.safe_search:
            form["kp"] = _SAFE_SEARCH[query.safe_search]
        return {**form, **query.extra}

    def _request(self, form: dict[str, str]) -> Request:
        return Request(
            method="POST",
            url=f"{self.base_url}/html/",
            form=form,
            headers={
                "User-Agent": _BROWSER,
                "Referer": f"{self.base_url}/",
                "Accept": "text/html,application/xhtml+xml",
                "Accept-Language": "en-US,en;q=0.5",
                "Sec-Fetch-Dest": "document",
                "Sec-Fetch-Mode": "navigate",
                "Sec-Fetch-Site": "same-origin",
                "Sec-Fetch-User": "?1",
            },
        )

    def _tree(self, response: Response) -> LexborHTMLParser:
        if _CHALLENGE.search(response.content):
            raise error_for(response, self, hint="a challenge against robots; try again in an hour", kind=Blocked)
        if response.status != 200:
            raise error_for(response, self, meanings=_MEANINGS)
        tree = LexborHTMLParser(response.content.decode("utf-8", "replace"))  # invalid bytes fail only when read
        if not tree.css(".web-result") and b"No  results" not in response.content and not tree.css(".no-results"):
            raise unexpected_format(self.name)
        return tree


def _results(tree: LexborHTMLParser) -> tuple[SearchResult, ...]:
    rows = [
        {
            "title": _html(row.css_first(".result__a")),
            "url": _target(row.css_first(".result__a")),
            "snippet": _html(row.css_first(".result__snippet")),
            "published": _date(row.css_first(".result__extras__url")),
        }
        for row in tree.css(".web-result:not(.result--ad)")
    ]
    return parse_results([row for row in rows if row["url"]], DuckDuckGo.name)


def _html(node: LexborNode | None) -> str:
    return (node.inner_html or "") if node is not None else ""


def _target(link: LexborNode | None) -> str | None:
    """Return the target of a link, direct or in the ``uddg`` of a redirect; None for an advertisement."""
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
    stamp = re.search(r"\d{4}-\d\d-\d\dT[\d:.]+", extras.text()) if extras is not None else None
    return stamp[0] if stamp else None


def _next_form(tree: LexborHTMLParser) -> dict[str, str] | None:
    """Return the hidden fields of the form whose button says "Next" (another leads back); None on the last page."""
    for form in reversed(tree.css(".nav-link form")):
        if any((button.attributes.get("value") or "").startswith("Next") for button in form.css("input[type=submit]")):
            fields = form.css("input[type=hidden]")
            return {
                name: field.attributes.get("value") or "" for field in fields if (name := field.attributes.get("name"))
            }
    return None


def _dates(query: SearchQuery) -> str:
    if query.after or query.before:
        return f"{query.after or '1970-01-01'}..{query.before or '2100-01-01'}"
    return _TIME[query.time_range] if query.time_range else ""


def _region(query: SearchQuery) -> str:
    """Return DuckDuckGo's code for the country and language: ``uk-en``, ``jp-jp``, ``wt-wt`` for anywhere."""
    if query.country is None and query.language is None:
        return "wt-wt"
    tag = (query.language or "").lower()
    language = _LANGUAGES.get(tag) or _LANGUAGES.get(tag[:2]) or tag.partition("-")[0]
    if query.country is None and language in _HOMES:
        return _HOMES[language]
    country = _COUNTRIES.get(query.country or "", (query.country or "").lower())
    for region in _REGIONS:
        if (not country or region.startswith(f"{country}-")) and (not language or region.endswith(f"-{language}")):
            return region
    options = [name for name in ("country", "language") if getattr(query, name)]
    raise UnsupportedOption(f"duckduckgo has no region for {' and '.join(options)}", options=options)
