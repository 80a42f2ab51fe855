"""
Jina Reader: turns a URL into Markdown, rendering JavaScript.

https://github.com/jina-ai/reader

Works without a key at some twenty pages a minute; ``JINA_API_KEY`` raises that. A page that is not there comes back as
a success with a warning, which is an error here. What it reads is cached for everybody unless ``private`` is set. A
server of your own speaks the same API: set ``base_url``.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from ..dates import parse_date
from ..errors import Blocked, PageNotFound, ServiceError, TooLarge, Unavailable
from ..flow import Flow, Request, Response
from ..guard import is_readable
from ..models import Page
from ..provider import BaseUrl, Env, Key, provider
from ..results import plain
from ..service import answer, changed, table, word

_MEANINGS: dict[int, type[ServiceError]] = {403: Blocked, 409: TooLarge, 413: TooLarge, 451: Blocked}


@provider
class Jina:
    """
    Reads with Jina Reader.

    Args:
        api_key: Starts with ``jina_``; optional.
        base_url: Where the reader is.
        private: Ask Jina to keep no copy of what it reads for us.

    """

    name = "jina"

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
        # By POST: in a path, the fragment and query of the page's URL would be taken for Jina's own.
        return Request(method="POST", url=f"{self.base_url}/", json={"url": url}, headers=headers, target=url)

    def _page(self, response: Response, url: str) -> Page:
        body = answer(response, self, verb="read", meanings=_MEANINGS, detail=_detail)
        data = table(body.get("data"))
        text = data.get("content")
        if not isinstance(text, str):
            raise changed(self.name, "read")
        warning = word(data.get("warning")) or ""
        self._check_target(warning)
        final = word(data.get("url")) or url
        return Page(
            url=url,
            final_url=final if is_readable(final) else url,
            title=plain(data.get("title"))[:300],
            content=text,
            description=plain(data.get("description"))[:1000] or None,
            published=parse_date(data.get("publishedTime")),
            language=word(table(data.get("metadata")).get("lang")),
            links=_links(data.get("links")),
            provider=self.name,
            notes=(f"jina: {warning[:200]}",) if warning else (),
        )

    def _check_target(self, warning: str) -> None:
        """A page that is not there is HTTP 200 with "Target URL returned error 404: Not Found"."""
        found = re.search(r"returned error (\d{3})", warning)
        if found is None:
            return
        status = int(found[1])
        kind = PageNotFound if status in {404, 410} else Unavailable
        error = kind(f"jina read failed: the page answered {status}", provider=self.name, status=status)
        error.temporary = status >= 500
        raise error


def _detail(body: Any) -> Any:
    return table(body).get("readableMessage") or table(body).get("message")


def _links(links: Any) -> tuple[str, ...]:
    """An object of text to URL, or a list of such pairs."""
    if isinstance(links, dict):
        urls = list(links.values())
    elif isinstance(links, list):
        urls = [pair[-1] for pair in links if isinstance(pair, list) and pair]
    else:
        urls = []
    return tuple(dict.fromkeys(url for url in urls if isinstance(url, str) and is_readable(url)))
