"""Built-in reader: renders a page with a browser that is installed here, from public
addresses only.

For pages that say nothing without running their scripts. It needs Chromium, Chrome or
Edge, and no package. Everything that the browser sends goes through our proxy, which
judges each address as ``direct`` does. Nothing of a page is kept. What is not HTML,
such as a PDF, is read as ``direct`` would read it.

https://chromedevtools.github.io/devtools-protocol/
"""

from __future__ import annotations
from pathlib import Path
from typing import Annotated

from pydantic import Field

from websearch_core import provider as kit
from websearch_core.errors import Blocked, NeedsBrowser, UnsupportedContent
from websearch_core.flow import Call
from websearch_core.provider._obstacles import needs_scripts
from websearch_core.provider._reading import complete_page
from websearch_core.provider._transcripts import MAX_BYTES, add_transcripts

from .._browser.find import find_browser
from .._browser.launch import Launch
from .._browser.render import Capture, Rendered, Renderer
from .._runtime.scope import WantedContent, current_call
from .._text.media_types import HTML
from ..errors import ConfigurationError


@kit.provider
class Browser:
    """Reads pages with a browser.

    Args:
        browser_path: The program of a Chromium, Chrome or Edge. Unset: the first that
            is found.
        sandbox: Run pages in the browser's sandbox. Without it, a page that exploits
            the browser has the rights of this program.
        max_bytes: How many bytes of the page to read, after decompression. A longer
            page is cut, with a note.
        max_traffic: How many bytes the page and everything that it loads may have on
            the wire.
        max_requests: How many requests the page may make.
        memory: How many MiB the process of one page may use, before it is ended (on
            Linux).
        pages_at_once: How many pages to open at a time, in all of this process; others
            wait.
        images: Let pages load images and fonts, too.
        screenshot: Add ``screenshot.png`` to `Page.files`: the whole page, up to 16,000
            pixels.
        pdf: Add ``page.pdf``: the page as it would be printed.
        dom: Add ``dom.html``: the elements of the page after its scripts ran.
    """

    name = "browser"
    opens_pages = True
    helps_after = (NeedsBrowser, Blocked)

    browser_path: Annotated[
        Path | str | None, kit.Env("WEB_SEARCH_BROWSER_PATH", "WEBSEARCH_BROWSER_PATH")
    ] = None
    sandbox: bool = True
    max_bytes: Annotated[int, Field(ge=1), kit.ProjectFile(at_most=10 * 2**20)] = (
        10 * 2**20
    )
    max_traffic: Annotated[int, Field(ge=1), kit.ProjectFile(at_most=20 * 2**20)] = (
        20 * 2**20
    )
    max_requests: Annotated[int, Field(ge=1), kit.ProjectFile(at_most=500)] = 500
    memory: Annotated[int, Field(ge=128)] = 640
    pages_at_once: Annotated[int, Field(ge=1), kit.ProjectFile(at_most=4)] = 4
    images: bool = False
    screenshot: bool = False
    pdf: bool = False
    dom: bool = False

    def problem(self) -> str | None:
        """Return why it cannot be used yet: no browser is installed."""
        try:
            find_browser(self.browser_path)
        except ConfigurationError as error:
            return str(error)
        return None

    def read(self, url: str, /) -> kit.Flow[kit.Page]:
        """Read the page at *url*."""
        kit.prepare_parser()
        response: kit.Response = yield kit.Request(
            url=url + current_call().content.route,
            max_bytes=self.max_bytes,
            guarded=True,
            transport=self._make_renderer(),
        )
        final_url = response.url or url
        kit.check_response(response, self)
        if response.media_type and response.media_type not in HTML:
            return (yield from self._read_file(url, final_url))
        page: kit.Page = yield Call(self._parse, response, current_call().content, url)
        page = complete_page(self, page, response, url, final_url)
        page = yield from add_transcripts(self, page, response, self._fetch_transcript)
        if not isinstance(response, Rendered):
            return page
        update = {"rendered": True, "files": dict(response.files)}
        return page.model_copy(update=update).with_notes(*response.notes)

    def _fetch_transcript(self, url: str) -> kit.Flow[tuple[kit.Response, str]]:
        """Request a transcript where the page says that it is, without the browser."""
        response: kit.Response = yield kit.Request(
            url=url, max_bytes=min(self.max_bytes, MAX_BYTES), guarded=True
        )
        return response, url

    def _read_file(self, url: str, final_url: str) -> kit.Flow[kit.Page]:
        """Read what a browser would download or show in a viewer of its own."""
        response: kit.Response = yield kit.Request(
            url=final_url, max_bytes=self.max_bytes, guarded=True
        )
        kit.check_response(response, self)
        page: kit.Page = yield Call(
            kit.parse_response, self, response, url, final_url, self.max_bytes
        )
        return page

    def _make_renderer(self) -> Renderer:
        captures: dict[Capture, bool] = {
            "dom.html": self.dom,
            "screenshot.png": self.screenshot,
            "page.pdf": self.pdf,
        }
        return Renderer(
            launch=self._make_launch(),
            max_requests=self.max_requests,
            max_traffic=self.max_traffic,
            captures=tuple(name for name, is_wanted in captures.items() if is_wanted),
        )

    def _make_launch(self) -> Launch:
        return Launch(
            path=self.browser_path,
            sandbox=self.sandbox,
            images=self.images,
            memory=self.memory * 2**20,
            pages_at_once=self.pages_at_once,
        )

    def _parse(
        self, response: kit.Response, content: WantedContent, start_url: str
    ) -> kit.Page:
        """Parse the page, off the event loop."""
        from ..reading import read_page

        page = read_page(
            response.content,
            response.url,
            "text/html; charset=utf-8",
            rendered=True,
            comments=content.comments,
            reviews=content.reviews,
        )
        kit.check_response(response, self, page.content, start_url)
        if not page.content.strip():
            raise UnsupportedContent(
                "browser read failed: the page has no text", provider=self.name
            )
        # it had the scripts that it asks for
        if needs_scripts(page.content, b"<script>"):
            message = (
                "browser read failed: the page shows only a request to wait or to "
                "switch scripts on"
            )
            raise UnsupportedContent(message, provider=self.name)
        return page
