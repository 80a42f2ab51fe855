"""SearXNG: your own metasearch server.

JSON is off by default and answered with 403: add ``json`` under ``search: formats:`` in
the server's ``settings.yml``. Public servers discourage programs and allow four calls
an hour. A larger limit requests more pages, and a later ``page`` those before it too,
up to ten. Words that are commands to SearXNG (``!g``, ``:de``) are quoted. No results
while engines failed is ``Unavailable``, not an empty response.
"""

from __future__ import annotations
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator

from websearch_core import provider as kit
from websearch_core.errors import Unavailable, UnsupportedOption

_CATEGORIES = {"academic": "science", "code": "it"}
_SAFE_SEARCH = {"off": 0, "moderate": 1, "strict": 2}
_CHINESE = {"zh-hans": "zh-CN", "zh-hant": "zh-TW"}
_MAX_PAGES = 10
# made for programs; in old versions, text in the user's language
_PUBLISHED = ("pubdate", "publishedDate")
_ENGINE = re.compile(r"\w[\w.+&']*( [\w.+&']+){0,2}")  # a name, and not a sentence
_NEWS_ENDING = re.compile("[ .]news$")
_SITES = re.compile(r"\(?-?site:\S+( OR site:\S+)*|\bOR\b")
_SKIPS_ENGINES = "searxng skips engines that know no time range, without saying so"
# The limiter of a server takes clients for bots that accept no HTML or send no
# language.
_HEADERS = {"Accept": "application/json, text/html;q=0.5", "Accept-Language": "en"}
_OUR_NAMES = {"semantic scholar": "semanticscholar", "stackoverflow": "stackexchange"}
_REASONS = frozenset({
    "CAPTCHA", "HTTP connection error", "HTTP error", "HTTP protocol error",
    "SSL error: certificate validation has failed", "access denied", "network error",
    "parsing error", "proxy error",
    "server API error", "timeout", "too many requests", "unexpected crash",
})  # fmt: skip


@kit.provider
class SearXNG:
    """Searches with a SearXNG server.

    Args:
        base_url: Where the server is, with its path if it has one.
        api_key: The credentials for servers behind a proxy that needs them.
        auth: How to send them: as a ``bearer`` token, or as ``basic`` authentication
            with a key ``user:password``.
        key_header: The header to send the key in, as it is, instead of
            ``Authorization``.
        engines: The engines to use, and no others; if empty, the server chooses.
    """

    name = "searxng"
    options: ClassVar[frozenset[str]] = frozenset({
        "allowed_domains", "blocked_domains", "time_range", "country", "language",
        "safe_search", "topic", "images",
        "page",
    })  # fmt: skip
    emulated: ClassVar[frozenset[str]] = frozenset(
        {"allowed_domains", "blocked_domains", "limit", "page"}
    )
    topics: ClassVar[frozenset[str]] = frozenset({"academic", "code", "news"})
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=("https://docs.searxng.org/dev/search_api.html",),
        free_allowance="everything: it is free software, on your own server",
        prices=kit.FREE,
        compared="a server of 2026-08-22, 2026-11-21",
        terms="public servers discourage programs; engines may block a busy server",
    )

    base_url: Annotated[
        kit.BaseUrl, kit.Env("SEARXNG_URL", "SEARXNG_BASE_URL", "SEARX_HOST")
    ] = kit.REQUIRED
    api_key: Annotated[kit.Key | None, kit.Env("SEARXNG_API_KEY")] = None
    auth: Literal["bearer", "basic"] = "bearer"
    key_header: kit.KeyHeader = "Authorization"
    engines: Annotated[
        list[str] | tuple[str, ...], AfterValidator(tuple), kit.ProjectFile()
    ] = ()

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search, page by page until the limit is reached or a page has nothing new."""
        kit.check_options(query, self)

        def fetch(number: int) -> kit.Flow[tuple[kit.SearchResponse, int]]:
            body = self._decode((yield self._request(query, number)))
            return self._parse(query, body), number + 1

        skip = (query.page - 1) * query.limit  # the pages of a server have any length
        response = yield from kit.follow_pages(
            query, self, fetch, 1, max_pages=_MAX_PAGES, skip=skip
        )
        return response.with_notes(*self._note_engines(response, query))

    def find_engines(self, result: kit.SearchResult, /) -> tuple[str, ...]:
        """Return the search engines behind a result, by the names that their own
        providers have here.
        """
        engines = []
        for engine in _find_engines(result.raw):
            if isinstance(engine, str):
                name = engine.casefold()
                engines.append(_OUR_NAMES.get(name) or _NEWS_ENDING.sub("", name))
        return tuple(dict.fromkeys(engines))

    def _request(self, query: kit.SearchQuery, page: int) -> kit.Request:
        safe_search = query.safe_search
        params = {
            # these signs would be commands, or redirects
            "q": kit.quote_commands(kit.with_sites(query), "!:<"),
            "format": "json",
            "categories": self._categories(query) or None,
            "engines": list(self.engines) or None,
            "language": _choose_language(query),
            "time_range": query.time_range,
            "safesearch": _SAFE_SEARCH[safe_search] if safe_search else None,
            "pageno": page if page > 1 else None,
        }
        return kit.Request(
            # people paste it with its path
            url=f"{self.base_url.removesuffix('/search')}/search",
            params=kit.with_extra(params, query, join=","),
            headers=_HEADERS | self._credentials(),
        )

    def _categories(self, query: kit.SearchQuery) -> list[str]:
        categories = []
        # those of the caller replace only our default
        is_open = query.topic == "general" and "categories" in query.extra
        if not self.engines and not is_open:
            categories.append(_CATEGORIES.get(query.topic, query.topic))
        if query.images:
            categories.append("images")
        return categories

    def _credentials(self) -> dict[str, str]:
        is_basic = self.auth == "basic" and self.key_header.lower() == "authorization"
        if self.api_key and is_basic:
            pair = kit.key_text(self.api_key).encode()
            return {"Authorization": f"Basic {b64encode(pair).decode()}"}
        headers, _ = kit.place_key(self)
        return headers

    def _decode(self, response: kit.Response) -> dict[str, Any]:
        hint = _find_hint(response)
        if hint:
            raise kit.error_for(response, self, hint=hint)
        return kit.decode(response, self)

    def _parse(
        self, query: kit.SearchQuery, body: dict[str, Any]
    ) -> kit.SearchResponse:
        items, notes = kit.take_results(body, self.name)
        images: list[Any] = []
        if query.images:
            images = list(filter(_is_image, items))
        pages = [item for item in items if item not in images]
        boxes = kit.as_objects(body.get("infoboxes"))
        response = kit.parse_search(
            self,
            query,
            body,
            [*filter(None, map(_find_page, boxes)), *pages],
            snippet="content",
            published=_PUBLISHED,
            answer=_find_answer(body, boxes),
            images=kit.parse_images(
                images, url="img_src", description="title", page_url="url"
            ),
            suggestions=_find_suggestions(query, body),
            notes=notes,
        )
        failures = _find_failures(body)
        if not failures:
            if query.time_range and not response.results:
                return response.with_notes(_SKIPS_ENGINES)
            return response
        names = _describe_failures(failures)
        has_content = response.results or response.answer or images
        if not has_content:
            raise self._make_failure_error(failures, names)
        return response.with_notes(
            f"engines that did not answer: {names}", partial=True
        )

    def _make_failure_error(
        self, failures: list[tuple[str, str]], names: str
    ) -> Unavailable:
        words = ", ".join(f"{name} ({reason})" for name, reason in failures)
        error = Unavailable(
            f"searxng search failed: its engines did not answer: {names}",
            provider=self.name,
            detail=kit.redact(words, self),
        )
        # engines are suspended for minutes to hours; a retry makes it worse
        error.temporary = False
        return error

    def _note_engines(
        self, response: kit.SearchResponse, query: kit.SearchQuery
    ) -> list[str]:
        """Say what the server does not: which of the configured engines it may not
        know.
        """
        if not self.engines:
            return []
        notes = []
        missing = self._find_missing(response)
        if missing:
            names = ", ".join(missing)
            notes.append(
                f"no results from {names}: unknown to the server, or nothing found"
            )
        if query.topic != "general":
            notes.append(
                f"only the configured engines were asked, whether or not they are for "
                f"{query.topic}"
            )
        return notes

    def _find_missing(self, response: kit.SearchResponse) -> list[str]:
        """Return the configured engines that neither have a result nor failed; none if
        no engine is named.
        """
        names: set[str] = set()
        for result in response.results:
            names |= {str(name).casefold() for name in _find_engines(result.raw)}
        if not names:
            return []
        failures = _find_failures(kit.as_object(response.raw))
        names |= {name.casefold() for name, _ in failures}
        return [name for name in self.engines if name.casefold() not in names]


def _find_hint(response: kit.Response) -> str | None:
    """Return our explanation of an answer that is not from SearXNG's API."""
    # a page, or words of a proxy
    if response.status == 403 and not response.content.lstrip().startswith(b"{"):
        return (
            "the server does not answer in JSON; add json under 'search: formats:' in "
            "its settings.yml"
        )
    if 300 <= response.status < 400:
        return "a redirect; words that begin with ! are commands to SearXNG"
    if response.status == 404:
        return "there is no SearXNG at this base_url"
    return None


def _choose_language(query: kit.SearchQuery) -> str | None:
    """Return a tag that SearXNG takes: a language in lower case, and a country or
    nothing.
    """
    if query.language is None:
        if query.country:
            raise UnsupportedOption.by(
                SearXNG, "needs a language together with the country", "country"
            )
        return None
    language, *subtags = query.language.split("-")
    language = language.lower()
    regions = [part.upper() for part in subtags if re.fullmatch("[A-Za-z]{2}", part)]
    region = next(iter(regions), query.country)
    chinese = kit.match_language(query.language, _CHINESE, country=query.country)
    if chinese:
        return _choose_chinese(chinese, region)
    is_known = kit.match_language(query.language, {language: language}) is not None
    if language == "zh" or not is_known:
        why = f"does not know the language {query.language[:35]}"
        raise UnsupportedOption.by(SearXNG, why, "language")
    return f"{language}-{region}" if region else language


def _choose_chinese(tag: str, region: str | None) -> str:
    """Return the tag of a region in which that script is the usual one; else *tag*,
    that of the script's home.
    """
    if region and kit.match_language(f"zh-{region}", _CHINESE) == tag:
        return f"zh-{region}"
    return tag


def _is_image(item: Any) -> bool:
    return isinstance(item, dict) and item.get("template") == "images.html"


def _find_page(box: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the page that an infobox is about, as a result."""
    links = kit.as_objects(box.get("urls"))
    for url in [box.get("id"), *(link.get("url") for link in links)]:
        if isinstance(url, str) and url.startswith("http"):
            return {**box, "title": box.get("infobox"), "url": url}
    return None


def _find_engines(item: Any) -> list[Any]:
    facts = kit.as_object(item)
    engines = facts.get("engines")
    return engines if isinstance(engines, list) else [facts.get("engine")]


def _find_suggestions(query: kit.SearchQuery, body: dict[str, Any]) -> tuple[str, ...]:
    """Return suggestions and corrections without the domains that were added to the
    query.
    """
    suggestions = kit.as_texts(body.get("suggestions"))
    texts = [*suggestions, *kit.as_texts(body.get("corrections"))]
    if query.allowed_domains or query.blocked_domains:
        texts = [" ".join(_SITES.sub(" ", text).split()) for text in texts]
    original = query.text.casefold()
    others = [text for text in texts if text.casefold() not in {"", original}]
    return tuple(dict.fromkeys(others))


def _find_answer(body: dict[str, Any], boxes: list[dict[str, Any]]) -> str | None:
    """Return the first answer, or else the text of the first infobox that has one."""
    answers = body.get("answers")
    candidates = answers if isinstance(answers, list) else []
    texts = map(_write_answer, [*candidates, *(box.get("content") for box in boxes)])
    return next(filter(None, texts), None)


def _write_answer(item: Any) -> str:
    """Return the text of an answer: an object with a text, the weather or translations,
    in old versions a string.
    """
    if not isinstance(item, dict):
        return kit.plain_text(item)
    text = kit.plain_text(item.get("answer"))
    if text:
        return text
    weather = kit.find_value(item, "current.summary")
    if weather:
        return kit.plain_text(weather)
    translations = kit.as_objects(item.get("translations"))
    texts = kit.as_texts([translation.get("text") for translation in translations])
    return kit.plain_text(", ".join(texts))


def _find_failures(body: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the engines that did not answer, and the reasons."""
    pairs = body.get("unresponsive_engines")
    failures: list[tuple[str, str]] = []
    if not isinstance(pairs, list):
        return failures
    for pair in pairs:
        if isinstance(pair, list) and len(pair) == 2:
            name, reason = map(str, pair)
            failures.append((name[:40], reason[:60]))
    return failures


def _describe_failures(failures: Iterable[tuple[str, str]]) -> str:
    """Name engines as the server does, and reasons only from our list: other words of a
    server may come from a page.
    """
    descriptions = []
    others = 0
    for name, reason in failures:
        if not _ENGINE.fullmatch(name):
            others += 1
        elif reason.removeprefix("Suspended: ") in _REASONS:
            descriptions.append(f"{name} ({reason})")
        else:
            descriptions.append(name)
    if others:
        plural = "s" if others > 1 else ""
        descriptions.append(f"{others} unknown engine{plural}")
    return ", ".join(descriptions)
