"""Built-in reader: fetches a page, from public addresses only, and turns it into
Markdown.

No service, no key, no JavaScript. It follows redirects itself, so that every hop passes
the guard, and sends no cookies or referrer, and credentials only to an origin that has
some. A page that only forwards its visitors (``<meta http-equiv="refresh">``, within
five seconds, with at most 300 characters of text) is a redirect too.

A page that answers with status 400 or above is an error, never content: `Blocked`,
`AccessDenied` (it needs a login or payment), `PageNotFound`. So is one that asks for a
password and says little else. A challenge against robots is `Blocked` too, with any
status, and a page that has no content without running its scripts is `NeedsBrowser`. In
a chain, the next reader is tried after each of them: ``reader="direct,jina"``.

It asks for Markdown first, as agents do, and uses it if it has content; otherwise it
makes another request, for HTML. With ``follow_alternates`` it also reads the Markdown
that an HTML page names (``<link rel="alternate">``, RFC 8288). With the option
``transcripts`` of a call it adds the captions and transcripts that a page or a feed
names.
"""

from __future__ import annotations
import re
from dataclasses import replace
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
from websearch_core._text.urls import Origin, find_origin
from websearch_core.flow import Call
from websearch_core.provider._obstacles import find_stub, needs_scripts, says_the_same
from websearch_core.provider._reading import prepare_parser
from websearch_core.provider._transcripts import MAX_BYTES, add_transcripts

_REDIRECTS = {301, 302, 303, 307, 308}
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
_REFRESH = re.compile(rb"http-equiv\s*+=\s*+(?:[\"']\s*+)?refresh")
# characters: a page with more text is read, although it leads elsewhere
_MAX_GOODBYE = 300
_MAX_GOODBYE_SIZE = 100_000  # bytes of its HTML
_LINK_TARGET = re.compile(r"\]\([^()\s]*\)")
_SILENT = "the page has no content without running its scripts; try another source"
_MARKDOWN_FILE = re.compile(r"\.(?:mdx?|markdown|qmd|txt)\Z", re.IGNORECASE)


@kit.provider
class Direct:
    """Reads pages without a service.

    Args:
        max_bytes: How many bytes of a page to read, after decompression. A longer page
            is cut, with a note. A cut PDF or Office file, whose index is at its end,
            may be unreadable: that raises `TooLarge`.
        max_redirects: How many redirects to follow, by status or by a page that does
            nothing else.
        allow_downgrade: Follow redirects from https to http.
        user_agent: The ``User-Agent`` to send. Unset: one that names this library, and
            the ``contact`` of `Http`.
        links: ``keep`` the links of a page with their targets, keep only their
            ``text``, or ``drop`` them.
        comments: ``drop`` or ``keep`` readers' comments, unless the call or the
            `WebSearch` says so. Unset: an article drops them, other pages keep what
            belongs to them.
        reviews: The same for reviews. Unset: those that belong to the page are kept.
        isolate: Parse pages in another process, which is killed at the deadline, so
            that a page harms only itself; and search them there for ``query`` and
            ``find``. Where no process can be started, ``True`` reads the first 512 KiB
            of a page in this one, and ``require`` raises `ConfigurationError`.
            ``False`` saves the memory of such processes, about 46 MB each: then no
            deadline ends a hostile page. It holds for all readers of a chain.
        prefer_markdown: Ask for Markdown first, and for HTML only if the site has no
            Markdown, or only a stub of it.
        follow_alternates: Read the Markdown that an HTML page names as its alternate
            instead of the HTML, if it is at the same origin and says what the page
            says. One more request for each such page.
        processes: How many pages of one `WebSearch`, or of one of its tenants, are
            parsed at a time, and the maximum number of these processes for them; twice
            as many for all. Unset: the number of cores, at most 8.
    """

    name = "direct"
    opens_pages = True

    max_bytes: Annotated[int, kit.FoundFile(at_most=10 * 2**20)] = 10 * 2**20
    max_redirects: Annotated[int, kit.FoundFile(at_most=5)] = 5
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
            prepare_parser()
            return (yield from self._read_first(url))

    def _read_first(self, url: str) -> kit.Flow[kit.Page]:
        if not self.prefer_markdown or current_call().wanted.menus:
            return (yield from self._read(url, _HTML_FIRST))
        response, here = yield from self._fetch(url, _MARKDOWN_FIRST)
        if response.media_type in MARKDOWN or response.status in _REFUSED:
            return (yield from self._markdown(response, url, here))
        return (yield from self._html(response, url, here))

    def _read(self, url: str, accept: str) -> kit.Flow[kit.Page]:
        response, here = yield from self._fetch(url, accept)
        return (yield from self._html(response, url, here))

    def _markdown(
        self, response: kit.Response, url: str, here: str
    ) -> kit.Flow[kit.Page]:
        """Return the Markdown that the site offers; if it does not say what the page
        says, ask for HTML instead.
        """
        page: kit.Page | None = None
        try:
            page = yield from self._page(response, url, here)
            stub = find_stub(page.title, page.content)
        except errors.ServiceError:
            if response.status in _NO_PAGE:
                raise
            stub = "cannot be read"
        if page and (not stub or _MARKDOWN_FILE.search(urlsplit(here).path)):
            return page
        try:
            other: kit.Page = yield from self._read(url, _HTML_FIRST)
        except errors.ServiceError:
            # but something, and the HTML not even that
            if page and stub == "says next to nothing":
                return page
            raise
        if other.media_type in MARKDOWN or response.status in _REFUSED:
            return other
        return other.with_notes(
            f"the Markdown that the site offers {stub}: this is its HTML"
        )

    def _html(self, response: kit.Response, url: str, here: str) -> kit.Flow[kit.Page]:
        """Return the page with its transcripts, or the Markdown that it names as its
        alternate.
        """
        page: kit.Page = yield from self._page_or_alternate(response, url, here)
        return (
            yield from add_transcripts(self, page, response, self._fetch_transcript)
        )

    def _fetch_transcript(self, url: str) -> kit.Flow[tuple[kit.Response, str]]:
        return (yield from self._fetch(url, _ANY, most=min(self.max_bytes, MAX_BYTES)))

    def _page_or_alternate(
        self, response: kit.Response, url: str, here: str
    ) -> kit.Flow[kit.Page]:
        """Return the page, or the Markdown that it names as its alternate, if that says
        what the page says.
        """
        there: str | None = yield from self._find_alternate(response, here)
        if not there:
            return (yield from self._page(response, url, here))
        page: kit.Page | errors.NeedsBrowser
        try:
            page = yield from self._page(response, url, here)
        except errors.NeedsBrowser as error:
            page = error
        markdown = yield from self._alternate(there)
        if isinstance(page, errors.NeedsBrowser):
            if markdown is None:
                raise page
            page = kit.Page(url=url, final_url=here)
        elif markdown is None or not (
            yield Call(says_the_same, markdown.content, page.content)
        ):
            return page.with_notes(
                "the Markdown that the page names could not be used: this is its HTML"
            )
        known = {name: fact for name in _FACTS if (fact := getattr(page, name))}
        markdown = markdown.model_copy(update={"url": url, "final_url": here, **known})
        return markdown.with_notes(
            "this is the Markdown that the page names as its alternate"
        )

    def _find_alternate(
        self, response: kit.Response, here: str
    ) -> kit.Flow[str | None]:
        if (
            not self.follow_alternates
            or response.status >= 300
            or response.media_type not in {"", *HTML}
        ):
            return None
        if current_call().wanted.menus or (
            b"markdown" not in response.content and "link" not in response.headers
        ):
            return None
        found: str | None = yield Call(_parse_links, response, here)
        return found

    def _alternate(self, there: str) -> kit.Flow[kit.Page | None]:
        """Return the Markdown at *there*, or None if that says nothing; in at most half
        of the time left.
        """
        try:
            with time_limit(kit.time_left() / 2):
                response, final = yield from self._fetch(
                    there, _MARKDOWN_FIRST, origin=find_origin(there)
                )
                # the page says that it is Markdown
                if response.media_type == "text/plain":
                    kind = (
                        response.headers["content-type"]
                        .lower()
                        .replace("plain", "markdown", 1)
                    )
                    response = replace(
                        response, headers={**response.headers, "content-type": kind}
                    )
                page: kit.Page = yield from self._page(response, there, final)
        except (errors.ServiceError, errors.UnsafeURL, errors.DisallowedByRobots):
            return None
        is_text = page.media_type in {"text/plain", *MARKDOWN}
        return page if is_text and not find_stub(page.title, page.content) else None

    def _fetch(
        self,
        url: str,
        accept: str,
        origin: Origin | None = None,
        most: int | None = None,
    ) -> kit.Flow[tuple[kit.Response, str]]:
        """Fetch *url*, and return the response with the URL that redirects led to,
        within *origin* if it is given.
        """
        here, headers = url, {"Accept": accept, "Accept-Language": "en;q=0.8,*;q=0.5"}
        if self.user_agent:
            headers["User-Agent"] = self.user_agent
        for _ in range(self.max_redirects + 1):
            response: kit.Response = yield kit.Request(
                url=here,
                headers=headers,
                max_bytes=most or self.max_bytes,
                guarded=True,
            )
            there: str | None = yield from self._find_next(response, here)
            if there is None:
                return response, here
            here = there
            if origin and find_origin(here) != origin:
                raise errors.UnsafeURL(
                    "the Markdown of the page redirects to another site"
                )
        raise errors.BadResponse(
            f"direct read failed: more than {self.max_redirects} redirects",
            provider=self.name,
        )

    def _find_next(self, response: kit.Response, here: str) -> kit.Flow[str | None]:
        """Return where the response leads, by its status or by a page that does nothing
        else; None if nowhere.
        """
        there: str | None
        if response.status in _REDIRECTS:
            there = response.headers.get("location", "")
            if not there:
                raise kit.error_for(
                    response,
                    self,
                    verb="read",
                    hint="a redirect that leads nowhere",
                    kind=errors.BadResponse,
                )
        elif not _may_send_on(response):
            return None
        else:
            there = yield Call(
                self._parse_refresh, response, here, current_call().wanted
            )
        return self._follow(there, here) if there else None

    def _follow(self, location: str, here: str) -> str:
        try:
            there = (
                location
                if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", location)
                else urljoin(here, location)
            )
            downgrade = (
                urlsplit(here).scheme == "https" and urlsplit(there).scheme == "http"
            )
        except ValueError as error:  # such as //[ and http://[
            raise errors.UnsafeURL(
                "the page redirects to something that is not a URL"
            ) from error
        if downgrade and not self.allow_downgrade:
            raise errors.UnsafeURL("the page redirects from https to http")
        return there

    def _page(self, response: kit.Response, url: str, here: str) -> kit.Flow[kit.Page]:
        page: kit.Page = yield Call(
            self._parse, response, url, here, current_call().wanted
        )
        return page

    def _parse(
        self, response: kit.Response, url: str, here: str, wanted: WantedContent
    ) -> kit.Page:
        """Parse the page, off the event loop: a long one is searched for marks of
        challenges, too.
        """
        kit.check_response(response, self)
        page = kit.parse_response(
            self,
            response,
            url,
            here,
            self.max_bytes,
            links=wanted.links or self.links,
            comments=wanted.comments or self.comments,
            reviews=wanted.reviews or self.reviews,
            followed=wanted.menus,
        )
        if page.media_type in HTML:
            self._check_obstacles(response, page, url, wanted.route)
        return page

    def _parse_refresh(
        self, response: kit.Response, url: str, wanted: WantedContent
    ) -> str | None:
        """Return where the page sends its visitors within seconds, if it has nothing
        else to say.
        """
        from ..reading import find_refresh

        try:
            text = self._parse(response, url, url, wanted).content
        except (errors.NeedsBrowser, errors.UnsupportedContent):
            text = ""
        except errors.ServiceError:
            # such as a challenge: reading the page raises it again
            return None
        if len(_LINK_TARGET.sub("]", text)) > _MAX_GOODBYE:
            return None
        return find_refresh(response.content, url, response.headers.get("content-type"))

    def _check_obstacles(
        self, response: kit.Response, page: kit.Page, asked: str, route: str
    ) -> None:
        """Raise what keeps a page that came without an error from being content."""
        kit.check_response(response, self, page.content, asked)
        if not response.content.strip():
            raise errors.UnsupportedContent(
                "direct read failed: the page is empty", provider=self.name
            )
        if needs_scripts(page.content, response.content, route):
            raise errors.NeedsBrowser(
                f"direct read failed: {_SILENT}",
                provider=self.name,
                status=response.status,
            )


def _may_send_on(response: kit.Response) -> bool:
    """Return whether the response may be a page that only leads elsewhere; quick, and
    rarely wrong.
    """
    if (
        response.status >= 300
        or response.media_type not in {"", *HTML}
        or len(response.content) > _MAX_GOODBYE_SIZE
    ):
        return False
    source = response.content.replace(b"\x00", b"").lower()
    return b"refresh" in source and _REFRESH.search(source) is not None


def _parse_links(response: kit.Response, here: str) -> str | None:
    from ..reading import find_markdown_alternate

    headers = response.headers
    return find_markdown_alternate(
        response.content, here, headers.get("content-type"), headers.get("link", "")
    )
