"""
Jina Reader: turns a URL into Markdown, rendering JavaScript.

https://github.com/jina-ai/reader

Works without a key for about twenty pages a minute; ``JINA_API_KEY`` raises that. Jina reports a missing page as a
success with a warning; here it is an error. Jina caches what it reads for all its users unless ``private`` is set. A
self-hosted server has the same API: set ``base_url``. It may run inside your network, so the address of a page is then
checked here first: internal addresses are refused, as with the built-in reader.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from websearch_core.provider import (
    BaseUrl,
    Blocked,
    Env,
    Flow,
    Key,
    Page,
    PageNotFound,
    Request,
    Response,
    ServiceError,
    TooLarge,
    Unavailable,
    as_object,
    as_text,
    canonicalize,
    decode,
    is_vendor,
    is_web_url,
    parse_date,
    plain_text,
    provider,
    unexpected_format,
)

_MEANINGS: dict[int, type[ServiceError]] = {403: Blocked, 409: TooLarge, 413: TooLarge, 451: Blocked}

_WARNINGS = {
    "cached snapshot": "This is a cached snapshot",
    "captcha": "The page may require a CAPTCHA",
    "not yet fully loaded": "The page may not have loaded completely",
    "shadow dom": "The page has parts in a shadow DOM that were not read",
    "iframe": "The page has frames that were not read",
}


@provider
class Jina:
    """
    Reads with Jina Reader.

    Args:
        api_key: Starts with ``jina_``; optional.
        base_url: Where the reader is.
        private: Ask Jina not to keep a copy of the page.

    """

    name = "jina"
    label = "Jina Reader"

    api_key: Annotated[Key | None, Env("JINA_API_KEY")] = None
    base_url: BaseUrl = "https://r.jina.ai"
    private: bool = False

    def read(self, url: str, /) -> Flow[Page]:
        """Read the page at *url*."""
        response = yield self._request(url)
        return self._page(response, url)

    def _request(self, url: str) -> Request:
        headers = {"Accept": "application/json", "X-Retain-Images": "alt"}
        if self.private:
            headers["DNT"] = "1"
        if self.api_key is not None:
            headers["Authorization"] = f"Bearer {self.api_key.get_secret_value()}"
        # POST, because in a path Jina would take the query of the page's URL for its own. The URL is canonical, so that
        # a model cannot leak data in the way it spells a URL that it may open.
        return Request(
            method="POST",
            url=f"{self.base_url}/",
            json={"url": canonicalize(url)},
            headers=headers,
            target=url,
            judge_target=not is_vendor(self),
        )

    def _page(self, response: Response, url: str) -> Page:
        body = decode(response, self, verb="read", meanings=_MEANINGS, detail=_detail)
        data = as_object(body.get("data"))
        text = data.get("content")
        if not isinstance(text, str):
            raise unexpected_format(self.name, "read")
        warning = as_text(data.get("warning")) or ""
        self._check_target(warning)
        final = as_text(data.get("url")) or url
        return Page(
            url=url,
            final_url=final if is_web_url(final) else url,
            title=plain_text(data.get("title"))[:300],
            content=text,
            description=plain_text(data.get("description"))[:1000] or None,
            published=parse_date(data.get("publishedTime")),
            language=as_text(as_object(data.get("metadata")).get("lang")),
            links=_links(data.get("links")),
            provider=self.name,
            notes=(f"jina: {_describe_warning(warning)}",) if warning else (),
        )

    def _check_target(self, warning: str) -> None:
        """Raise an error for a missing page: Jina answers 200 with "Target URL returned error 404: Not Found"."""
        found = re.search(r"returned error (\d{3})", warning)
        if found is None:
            return
        status = int(found[1])
        kind = PageNotFound if status in {404, 410} else Unavailable
        error = kind(f"jina read failed: the page answered {status}", provider=self.name, status=status)
        error.temporary = status >= 500
        raise error


def _describe_warning(warning: str) -> str:
    """Return our own note for a warning: its text may come from the page."""
    folded = warning.casefold()
    return next((note for words, note in _WARNINGS.items() if words in folded), "there is a warning about this page")


def _detail(body: Any) -> Any:
    return as_object(body).get("readableMessage") or as_object(body).get("message")


def _links(links: Any) -> tuple[str, ...]:
    """Return the URLs: *links* is an object of text to URL, or a list of such pairs."""
    if isinstance(links, dict):
        urls = list(links.values())
    elif isinstance(links, list):
        urls = [pair[-1] for pair in links if isinstance(pair, list) and pair]
    else:
        urls = []
    return tuple(dict.fromkeys(url for url in urls if isinstance(url, str) and is_web_url(url)))
