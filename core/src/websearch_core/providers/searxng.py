"""SearXNG: your own metasearch server.

Needs ``base_url``, from ``SEARXNG_URL``, ``SEARXNG_BASE_URL`` or ``SEARX_HOST``. JSON
is off by default and answered with 403: add ``json`` under ``search: formats:`` in the
server's ``settings.yml``. Public servers discourage programs and allow four calls an
hour. The number of results cannot be set, so a larger limit requests more pages, and a
later ``page`` those before it too, up to ten. Domain filters are sent as ``site:`` in
the query and work as well as the engines support it. Words that are commands to SearXNG
(``!g``, ``:de``) are quoted. No results while engines failed is `Unavailable`, not an
empty response.
"""

from __future__ import annotations
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal

from websearch_core import provider as kit
from websearch_core.errors import Unavailable, UnsupportedOption

_CATEGORIES = {"academic": "science", "code": "it"}
_SAFE_SEARCH = {"off": 0, "moderate": 1, "strict": 2}
_CHINESE = {"zh-hans": "zh-CN", "zh-hant": "zh-TW"}
_MAX_PAGES = 10
# made for programs; in old versions, text in the user's language
_PUBLISHED = ("pubdate", "publishedDate")
_ENGINE = re.compile(r"\w[\w.+&']*( [\w.+&']+){0,2}")  # a name, and not a sentence
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
    ]
    api_key: Annotated[kit.Key | None, kit.Env("SEARXNG_API_KEY")] = None
    auth: Literal["bearer", "basic"] = "bearer"
    key_header: kit.KeyHeader = "Authorization"
    engines: Annotated[tuple[str, ...], kit.FoundFile()] = ()

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search, page by page until the limit is reached or a page has nothing new."""
        kit.check_options(query, self)

        def fetch(number: int) -> kit.Flow[tuple[kit.SearchResponse, int]]:
            body = self._body((yield self._request(query, number)))
            return self._response(query, body), number + 1

        skip = (query.page - 1) * query.limit  # the pages of a server have any length
        found = yield from kit.follow_pages(
            query, self, fetch, 1, max_pages=_MAX_PAGES, skip=skip
        )
        return found.with_notes(*self._engine_notes(found, query))

    def find_engines(self, result: kit.SearchResult, /) -> tuple[str, ...]:
        """Return the search engines behind a result, by the names that their own
        providers have here.
        """
        names = (
            name.casefold() for name in _engines(result.raw) if isinstance(name, str)
        )
        return tuple(
            dict.fromkeys(
                _OUR_NAMES.get(name) or re.sub("[ .]news$", "", name) for name in names
            )
        )

    def _request(self, query: kit.SearchQuery, page: int) -> kit.Request:
        categories = (
            [_CATEGORIES.get(query.topic, query.topic)] if not self.engines else []
        )
        # they replace only our default
        if query.topic == "general" and "categories" in query.extra:
            categories = []
        params = {
            # these signs would be commands, or redirects
            "q": kit.quote_commands(kit.with_sites(query), "!:<"),
            "format": "json",
            "categories": [*categories, *(["images"] if query.images else [])] or None,
            "engines": list(self.engines) or None,
            "language": _language(query),
            "time_range": query.time_range,
            "safesearch": _SAFE_SEARCH[query.safe_search]
            if query.safe_search
            else None,
            "pageno": page if page > 1 else None,
        }
        # The limiter of a server takes clients for bots that accept no HTML or send no
        # language.
        headers = {
            "Accept": "application/json, text/html;q=0.5",
            "Accept-Language": "en",
        }
        return kit.Request(
            # people paste it with its path
            url=f"{self.base_url.removesuffix('/search')}/search",
            params=kit.with_extra(params, query, join=","),
            headers=headers | self._credentials() if self.api_key else headers,
        )

    def _credentials(self) -> dict[str, str]:
        if (
            self.api_key
            and self.auth == "basic"
            and self.key_header.lower() == "authorization"
        ):
            return {
                "Authorization": f"Basic {b64encode(self.api_key.get_secret_value().encode()).decode()}"
            }
        return kit.place_key(self)[0]

    def _body(self, response: kit.Response) -> dict[str, Any]:
        # a page, or words of a proxy
        if response.status == 403 and not response.content.lstrip().startswith(b"{"):
            hint = (
                "the server does not answer in JSON; add json under 'search: formats:' "
                "in its settings.yml"
            )
            raise kit.error_for(response, self, hint=hint)
        if 300 <= response.status < 400:
            raise kit.error_for(
                response,
                self,
                hint="a redirect; words that begin with ! are commands to SearXNG",
            )
        if response.status == 404:
            raise kit.error_for(
                response, self, hint="there is no SearXNG at this base_url"
            )
        return kit.decode(response, self)

    def _response(
        self, query: kit.SearchQuery, body: dict[str, Any]
    ) -> kit.SearchResponse:
        items, notes = kit.take_results(body, self.name)
        images = (
            [
                one
                for one in kit.as_objects(items)
                if one.get("template") == "images.html"
            ]
            if query.images
            else []
        )
        rest = [item for item in items if item not in images]
        boxes = kit.as_objects(body.get("infoboxes"))
        answers: Any = body.get("answers")
        given = [
            *(answers if isinstance(answers, list) else []),
            *(box.get("content") for box in boxes),
        ]
        found = kit.parse_search(
            self, query, body, [*filter(None, map(_page_of, boxes)), *rest],
            snippet="content", published=_PUBLISHED,
            answer=next(filter(None, map(_answer_text, given)), None),
            images=kit.parse_images(images, url="img_src", description="title", page_url="url"),
            suggestions=_suggestions(query, body), notes=notes,
        )  # fmt: skip
        unresponsive = _unresponsive(body)
        failed = _describe_failed(unresponsive)
        if failed and not found.results and not found.answer and not images:
            words = kit.redact(
                ", ".join(f"{name} ({reason})" for name, reason in unresponsive), self
            )
            message = f"searxng search failed: its engines did not answer: {failed}"
            error = Unavailable(message, provider=self.name, detail=words)
            # engines are suspended for minutes to hours; a retry makes it worse
            error.temporary = False
            raise error
        if query.time_range and not found.results and not failed:
            found = found.with_notes(
                "searxng skips engines that know no time range, without saying so"
            )
        return (
            found.with_notes(f"engines that did not answer: {failed}", partial=True)
            if failed
            else found
        )

    def _engine_notes(
        self, found: kit.SearchResponse, query: kit.SearchQuery
    ) -> list[str]:
        """Say what the server does not: which of the configured engines it may not
        know.
        """
        if not self.engines:
            return []
        seen = {
            str(name).casefold()
            for result in found.results
            for name in _engines(result.raw)
        }
        failed = {
            name.casefold() for name, _ in _unresponsive(kit.as_object(found.raw))
        }
        missing = (
            [name for name in self.engines if name.casefold() not in seen | failed]
            if seen
            else []
        )
        notes = (
            [
                (
                    f"no results from {', '.join(missing)}: unknown to the server, or "
                    f"nothing found"
                )
            ]
            if missing
            else []
        )
        if query.topic != "general":
            notes.append(
                f"only the configured engines were asked, whether or not they are for "
                f"{query.topic}"
            )
        return notes


def _language(query: kit.SearchQuery) -> str | None:
    """Return a tag that SearXNG takes: a language in lower case, and a country or
    nothing.
    """
    if query.language is None:
        if query.country:
            raise UnsupportedOption(
                "searxng needs a language together with the country",
                options=["country"],
            )
        return None
    language, *subtags = query.language.split("-")
    language = language.lower()
    regions = [part.upper() for part in subtags if re.fullmatch("[A-Za-z]{2}", part)]
    region = regions[0] if regions else query.country
    if chinese := kit.match_language(query.language, _CHINESE, country=query.country):
        is_usual = (
            region is None or kit.match_language(f"zh-{region}", _CHINESE) == chinese
        )
        return f"zh-{region}" if region and is_usual else chinese
    if (
        language == "zh"
        or kit.match_language(query.language, {language: language}) is None
    ):
        raise UnsupportedOption(
            f"searxng does not know the language {query.language[:35]}",
            options=["language"],
        )
    return f"{language}-{region}" if region else language


def _page_of(box: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the page that an infobox is about, as a result."""
    urls = [
        box.get("id"),
        *(link.get("url") for link in kit.as_objects(box.get("urls"))),
    ]
    url = next(
        (url for url in urls if isinstance(url, str) and url.startswith("http")), None
    )
    return {**box, "title": box.get("infobox"), "url": url} if url else None


def _engines(item: Any) -> list[Any]:
    engines = kit.as_object(item).get("engines")
    return engines if isinstance(engines, list) else [kit.as_object(item).get("engine")]


def _suggestions(query: kit.SearchQuery, body: dict[str, Any]) -> tuple[str, ...]:
    """Return suggestions and corrections without the domains that were added to the
    query.
    """
    texts = [
        *kit.as_texts(body.get("suggestions")),
        *kit.as_texts(body.get("corrections")),
    ]
    if query.allowed_domains or query.blocked_domains:
        texts = [
            " ".join(re.sub(r"\(?-?site:\S+( OR site:\S+)*|\bOR\b", " ", text).split())
            for text in texts
        ]
    return tuple(
        dict.fromkeys(
            text for text in texts if text and text.casefold() != query.text.casefold()
        )
    )


def _answer_text(item: Any) -> str:
    """Return the text of an answer: an object with a text, the weather or translations,
    in old versions a string.
    """
    if not isinstance(item, dict):
        return kit.plain_text(item)
    translations = ", ".join(
        kit.as_texts(
            [one.get("text") for one in kit.as_objects(item.get("translations"))]
        )
    )
    return kit.plain_text(item.get("answer")) or kit.plain_text(
        kit.as_object(item.get("current")).get("summary") or translations
    )


def _unresponsive(body: dict[str, Any]) -> list[tuple[str, str]]:
    pairs = body.get("unresponsive_engines")
    return [
        (str(pair[0])[:40], str(pair[1])[:60])
        for pair in (pairs if isinstance(pairs, list) else [])
        if isinstance(pair, list) and len(pair) == 2
    ]


def _describe_failed(unresponsive: Iterable[tuple[str, str]]) -> str:
    """Name engines as the server does, and known reasons only: other words of a server
    may come from a page.
    """
    named, others = [], 0
    for name, reason in unresponsive:
        suspended = "Suspended: " if reason.startswith("Suspended: ") else ""
        why = reason.removeprefix(suspended)
        if _ENGINE.fullmatch(name):
            named.append(f"{name} ({suspended}{why})" if why in _REASONS else name)
        else:
            others += 1
    return ", ".join(
        [*named, *([f"{others} unknown engine{'s' * (others > 1)}"] if others else [])]
    )
