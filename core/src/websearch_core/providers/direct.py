"""Built-in reader: fetches a page, from public addresses only, and turns it into
Markdown.

No service, no key, no JavaScript. It follows redirects itself, so that every hop passes
the guard. It sends no referrer, credentials only to an origin that has some, and a
cookie only back to the site that has set it while this page is read. Reading a page
takes at most 30 requests.

A page that answers with status 400 or above, asks for a password or is a challenge
against robots is an error, never content. In a chain, the next reader is tried after
each of them: ``reader="direct,jina"``.
"""

from __future__ import annotations
import re
from dataclasses import replace
from html import escape
from typing import Annotated, Literal
from urllib.parse import urljoin, urlsplit

from pydantic import Field

from websearch_core import errors
from websearch_core import provider as kit
from websearch_core._runtime.deadline import time_limit
from websearch_core._runtime.scope import (
    Parsing,
    WantedContent,
    current_call,
    scope,
)
from websearch_core._text.media_types import HTML, MARKDOWN
from websearch_core._text.urls import (
    Origin,
    as_slashes,
    find_origin,
    is_list,
)
from websearch_core.flow import Call
from websearch_core.provider._obstacles import find_stub, needs_scripts, says_the_same
from websearch_core.provider._transcripts import MAX_BYTES, add_transcripts
from websearch_core.provider._visit import (
    Visit,
    ask_again,
    find_secure,
    lacks_its_end,
    may_send_on,
    read_frames,
)

_REDIRECTS = {300, 301, 302, 303, 307, 308}
_OTHERS = "text/plain;q=0.8, application/json;q=0.7, */*;q=0.5"
_HTML_FIRST = f"text/html, application/xhtml+xml, {_OTHERS}"
_MARKDOWN_FIRST = (
    f"text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, {_OTHERS}"
)
_ANY = "text/vtt, */*;q=0.8"
_REFUSED = {406, 415}  # a server that takes the preference for a condition
_NO_PAGE = {401, 402, 403, 407, 410, 429, 451}  # whatever the format
_FACTS = (
    "title", "language", "author", "published", "modified", "description",
    "canonical_url", "site_name", "links",
)  # fmt: skip
_MAX_LIST = 50 * 2**20  # bytes: https://www.sitemaps.org/protocol.html
# characters: a page with more text is read, although it leads elsewhere
_MAX_GOODBYE = 300
_LINK_TARGET = re.compile(r"\]\([^()\s]*\)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ALTERNATE = "this is the Markdown that the page names as its alternate"
_UNUSABLE_ALTERNATE = (
    "the Markdown that the page names could not be used: this is its HTML"
)
_SILENT = "the page has no content without running its scripts; try another source"
_MARKDOWN_FILE = re.compile(r"\.(?:mdx?|markdown|qmd|txt)\Z", re.IGNORECASE)


@kit.provider
class Direct:
    """Reads pages without a service.

    Args:
        max_bytes: How many bytes of a page to read, after decompression; 50 MiB of a
            sitemap in a crawl. A longer page is cut, with a note; a PDF or Office file
            may then raise ``TooLarge``.
        max_redirects: How many redirects to follow, by status or by a page that does
            nothing else.
        allow_downgrade: Follow redirects from https to http. Without it, one to the
            same host is tried over https.
        user_agent: The ``User-Agent`` to send. Unset: one that names this library, and
            the ``contact`` of `Http`.
        links: ``keep`` the links of a page with their targets, keep only their
            ``text``, or ``drop`` them.
        comments: ``drop`` or ``keep`` readers' comments. Unset: an article drops them,
            other pages keep what belongs to them.
        reviews: The same for reviews. Unset: they are kept.
        isolate: Parse pages in another process, which is killed at the deadline, and
            search them there for ``query`` and ``find``. Where none can be started,
            ``True`` reads the first 512 KiB of a page in this one, and ``require``
            raises ``ConfigurationError``. With ``False``, no deadline ends a hostile
            page. It holds for all readers of a chain.
        prefer_markdown: Ask for Markdown first, and for HTML only if the site has no
            Markdown, or only a stub of it.
        follow_alternates: Read the Markdown that an HTML page names as its alternate
            instead, if it says what the page says. One more request for each such page.
        processes: How many pages of one ``WebSearch``, or of one of its tenants, are
            parsed at a time; twice as many for all. Unset: the number of cores, at most
            8.
    """

    name = "direct"
    opens_pages = True

    max_bytes: Annotated[int, kit.ProjectFile(at_most=10 * 2**20)] = 10 * 2**20
    max_redirects: Annotated[int, kit.ProjectFile(at_most=10)] = 10
    allow_downgrade: bool = False
    user_agent: str | None = None
    links: Literal["keep", "text", "drop"] = "keep"
    comments: Literal["drop", "keep"] | None = None
    reviews: Literal["drop", "keep"] | None = None
    prefer_markdown: bool = True
    follow_alternates: bool = False
    isolate: bool | Literal["require"] = True
    processes: Annotated[int, Field(ge=1)] | None = None

    def read(self, url: str, /) -> kit.Flow[kit.Page]:
        """Read the page at *url*."""
        with scope(parsing=Parsing(self.isolate, self.processes)):
            kit.prepare_parser()
            return (yield from Visit(self.name).run(self._read(url)))

    def _read(self, url: str) -> kit.Flow[kit.Page]:
        if not self.prefer_markdown or current_call().content.menus:
            return (yield from self._read_html(url))
        response, final_url = yield from self._fetch(url, _MARKDOWN_FIRST)
        if response.media_type in MARKDOWN or response.status in _REFUSED:
            return (yield from self._take_markdown(response, url, final_url))
        return (yield from self._take_html(response, url, final_url))

    def _read_html(self, url: str) -> kit.Flow[kit.Page]:
        response, final_url = yield from self._fetch(url, _HTML_FIRST)
        return (yield from self._take_html(response, url, final_url))

    def _take_markdown(
        self, response: kit.Response, url: str, final_url: str
    ) -> kit.Flow[kit.Page]:
        """Return the Markdown that the site offers; if it does not say what the page
        says, ask for HTML instead.
        """
        page: kit.Page | None = None
        try:
            page = yield from self._parse_later(response, url, final_url)
            problem = find_stub(page.title, page.content)
        except errors.ServiceError:
            if response.status in _NO_PAGE:
                raise
            problem = "cannot be read"
        if _MARKDOWN_FILE.search(urlsplit(final_url).path):
            problem = None  # a short file of Markdown is all that there is
        if page and problem is None:
            return page
        try:
            html_page: kit.Page = yield from self._read_html(url)
        except errors.ServiceError:
            # but something, and the HTML not even that
            if page and problem == "says next to nothing":
                return page
            raise
        if html_page.media_type in MARKDOWN or response.status in _REFUSED:
            return html_page
        return html_page.with_notes(
            f"the Markdown that the site offers {problem}: this is its HTML"
        )

    def _take_html(
        self, response: kit.Response, url: str, final_url: str
    ) -> kit.Flow[kit.Page]:
        """Return the page with its transcripts, or the Markdown that it names as its
        alternate.
        """
        page: kit.Page = yield from self._choose_version(response, url, final_url)
        return (
            yield from add_transcripts(self, page, response, self._fetch_transcript)
        )

    def _fetch_transcript(self, url: str) -> kit.Flow[tuple[kit.Response, str]]:
        max_bytes = min(self.max_bytes, MAX_BYTES)
        return (yield from self._fetch(url, _ANY, max_bytes=max_bytes))

    def _choose_version(
        self, response: kit.Response, url: str, final_url: str
    ) -> kit.Flow[kit.Page]:
        """Return the page, or the Markdown that it names as its alternate, if that says
        what the page says; of a page that consists of frames, what these say.
        """
        from ..reading import find_frames

        frames: list[str] = []
        if may_send_on(response):
            content_type = response.headers.get("content-type")
            frames = yield Call(find_frames, response.content, final_url, content_type)
        if frames:
            content = current_call().content
            holder = yield Call(self._convert, response, url, final_url, content)
            return (yield from read_frames(holder, frames, self._read_html))
        alternate: str | None = yield from self._find_alternate(response, final_url)
        if not alternate:
            return (yield from self._parse_later(response, url, final_url))
        page: kit.Page | None = None
        problem: errors.NeedsBrowser | None = None
        try:
            page = yield from self._parse_later(response, url, final_url)
        except errors.NeedsBrowser as error:
            problem = error
        markdown: kit.Page | None = yield from self._read_alternate(alternate)
        if page is None:  # there is nothing to compare with
            if markdown is None:
                assert problem is not None
                raise problem
            page = kit.Page(url=url, final_url=final_url)
        else:
            is_same = markdown is not None and (
                yield Call(says_the_same, markdown.content, page.content)
            )
            if markdown is None or not is_same:
                return page.with_notes(_UNUSABLE_ALTERNATE)
        facts = {name: getattr(page, name) for name in _FACTS}
        update = {name: value for name, value in facts.items() if value}
        update |= {"url": url, "final_url": final_url}
        return markdown.model_copy(update=update).with_notes(_ALTERNATE)

    def _find_alternate(
        self, response: kit.Response, final_url: str
    ) -> kit.Flow[str | None]:
        if not self.follow_alternates or current_call().content.menus:
            return None
        if response.status >= 300 or response.media_type not in {"", *HTML}:
            return None
        if b"markdown" not in response.content and "link" not in response.headers:
            return None
        from ..reading import find_markdown_alternate

        alternate: str | None = yield Call(
            find_markdown_alternate,
            response.content,
            final_url,
            response.headers.get("content-type"),
            response.headers.get("link", ""),
        )
        return alternate

    def _read_alternate(self, url: str) -> kit.Flow[kit.Page | None]:
        """Return the Markdown at *url*, or None if that says nothing; in at most half
        of the time left.
        """
        try:
            with time_limit(kit.time_left() / 2):
                response, final_url = yield from self._fetch(
                    url, _MARKDOWN_FIRST, origin=find_origin(url)
                )
                page: kit.Page = yield from self._parse_later(
                    _as_markdown(response), url, final_url
                )
        except (errors.ServiceError, errors.UnsafeURL, errors.DisallowedByRobots):
            return None
        if page.media_type not in {"text/plain", *MARKDOWN}:
            return None
        return None if find_stub(page.title, page.content) else page

    def _fetch(
        self,
        url: str,
        accept: str,
        origin: Origin | None = None,
        max_bytes: int | None = None,
    ) -> kit.Flow[tuple[kit.Response, str]]:
        """Fetch *url*, and return the response with the URL that redirects led to;
        these stay within *origin*, if there is one.
        """
        headers = {"Accept": accept, "Accept-Language": "en;q=0.8,*;q=0.5"}
        if self.user_agent:
            headers["User-Agent"] = self.user_agent
        size = max_bytes or self.max_bytes
        if current_call().content.menus and is_list(url):
            size = max(size, _MAX_LIST)
        for _ in range(self.max_redirects + 1):
            request = kit.Request(
                url=url, headers=headers, max_bytes=size, guarded=True
            )
            response: kit.Response = yield request
            if lacks_its_end(response, size):
                response = yield from ask_again(request, response)
            target: str | None = yield from self._find_next(response, url)
            if target is None:
                return response, url
            url = target
            if origin and find_origin(url) != origin:
                raise errors.UnsafeURL(
                    "the Markdown of the page redirects to another site"
                )
        raise errors.BadResponse(
            f"direct read failed: more than {self.max_redirects} redirects",
            provider=self.name,
        )

    def _find_next(self, response: kit.Response, url: str) -> kit.Flow[str | None]:
        """Return where the response leads, by its status or by a page that does nothing
        else; None if nowhere.
        """
        target: str | None
        if response.status in _REDIRECTS and not response.content:
            target = response.headers.get("location", "")
            if not target:
                raise kit.error_for(
                    response,
                    self,
                    verb="read",
                    hint="a redirect that leads nowhere",
                    kind=errors.BadResponse,
                )
        elif may_send_on(response):
            target = yield Call(
                self._parse_refresh, response, url, current_call().content
            )
        else:
            return None
        return self._resolve(target, url) if target else None

    def _resolve(self, location: str, url: str) -> str:
        """Return the URL that a redirect from *url* leads to."""
        location = as_slashes(location)
        try:
            target = location if _SCHEME.match(location) else urljoin(url, location)
            schemes = (urlsplit(url).scheme, urlsplit(target).scheme)
        except ValueError as error:  # such as //[ and http://[
            raise errors.UnsafeURL(
                "the page redirects to something that is not a URL"
            ) from error
        if schemes == ("https", "http") and not self.allow_downgrade:
            secure = find_secure(target, url)
            if secure is None:
                raise errors.UnsafeURL("the page redirects from https to http")
            return secure
        return target

    def _parse_later(
        self, response: kit.Response, url: str, final_url: str
    ) -> kit.Flow[kit.Page]:
        """Parse the page, off the event loop: a long one is searched for marks of
        challenges, too.
        """
        content = current_call().content
        page: kit.Page = yield Call(self._parse, response, url, final_url, content)
        return page

    def _parse(
        self, response: kit.Response, url: str, final_url: str, content: WantedContent
    ) -> kit.Page:
        page = self._convert(response, url, final_url, content)
        if page.media_type in HTML:
            self._check_obstacles(response, page, url, content.route)
        return page

    def _convert(
        self, response: kit.Response, url: str, final_url: str, content: WantedContent
    ) -> kit.Page:
        kit.check_response(response, self)
        return kit.parse_response(
            self,
            response,
            url,
            final_url,
            self.max_bytes,
            links=content.links or self.links,
            comments=content.comments or self.comments,
            reviews=content.reviews or self.reviews,
            followed=content.menus,
        )

    def _parse_refresh(
        self, response: kit.Response, url: str, content: WantedContent
    ) -> str | None:
        """Return where the page sends its visitors within seconds, if it has nothing
        else to say.
        """
        from ..reading import find_refresh

        try:
            text = self._parse(response, url, url, content).content
        except (errors.NeedsBrowser, errors.UnsupportedContent):
            text = ""
        except errors.ServiceError:
            # such as a challenge: reading the page raises it again
            return None
        if len(_LINK_TARGET.sub("]", text)) > _MAX_GOODBYE:
            return None
        header = escape(response.headers.get("refresh", ""))
        tag = f'<meta http-equiv="refresh" content="{header}">'.encode()
        content_type = response.headers.get("content-type")
        return find_refresh(tag + response.content, url, content_type)

    def _check_obstacles(
        self, response: kit.Response, page: kit.Page, start_url: str, route: str
    ) -> None:
        """Raise what keeps a page that came without an error from being content."""
        kit.check_response(response, self, page.content, start_url)
        if not response.content.strip():
            raise errors.UnsupportedContent(
                "direct read failed: the page is empty", provider=self.name
            )
        if needs_scripts(page.content, response.content, route):
            if lacks_its_end(response, self.max_bytes):
                raise errors.Unavailable(
                    "direct read failed: only the beginning of the page arrived",
                    provider=self.name,
                    status=response.status,
                )
            raise errors.NeedsBrowser(
                f"direct read failed: {_SILENT}",
                provider=self.name,
                status=response.status,
            )


def _as_markdown(response: kit.Response) -> kit.Response:
    """Return *response*, of which a page says that it is Markdown: many servers call
    that plain text.
    """
    if response.media_type != "text/plain":
        return response
    stated_type = response.headers["content-type"].lower()
    content_type = stated_type.replace("plain", "markdown", 1)
    return replace(response, headers={**response.headers, "content-type": content_type})
