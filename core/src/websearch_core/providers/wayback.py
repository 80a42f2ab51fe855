"""Wayback Machine: the last archived copy of a page that is gone, or that refuses to be
read.

Use it as the last of several readers: ``reader="direct,wayback"``. It reads the last
copy that was not an error; a note gives its day. The archive leaves out some sites at
their owners' request, which is ``Blocked``; a page that it never saw is
``PageNotFound``.
"""

from __future__ import annotations
import re
from datetime import UTC, date, datetime
from typing import Annotated, Any, ClassVar, NamedTuple
from urllib.parse import urljoin

from websearch_core import provider as kit
from websearch_core.errors import BadResponse, Blocked, PageNotFound, ServiceError
from websearch_core.flow import Call

_BLOCKED = re.compile(
    rb"AccessControlException|Blocked Site|excluded from the Wayback", re.IGNORECASE
)
_STAMP = re.compile(r"[12]\d{13}", re.ASCII)  # year, month, day, hour, minute, second
_COPY = re.compile(r"(?P<stamp>[12]\d{13})(?:[a-z]{2}_)?/(?P<url>.+)", re.ASCII)
_MAX_REDIRECTS = 3
_MEANINGS: dict[int, type[ServiceError]] = {404: PageNotFound, 410: PageNotFound}


class _Capture(NamedTuple):
    """A copy in the archive: when it was made, and of which page."""

    stamp: str
    url: str


@kit.provider
class Wayback:
    """Reads archived copies of pages.

    Args:
        base_url: Where the archive is.
        until: Read the last copy that was made up to this day; unset, the last of all.
        max_bytes: How many bytes of a page to read, after decompression.
    """

    name = "wayback"
    label = "Wayback Machine"
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=(
            "https://archive.org/help/wayback_api.php",
            "https://github.com/internetarchive/wayback/tree/master/wayback-cdx-server",
        ),
        free_allowance="keyless, at the pace of a person",
        price="free",
        prices=kit.FREE,
        as_of="2026-11",
        compared="the pages of its API, 2026-11",
    )

    base_url: kit.BaseUrl = "https://web.archive.org"
    until: Annotated[date | None, kit.ProjectFile()] = None
    max_bytes: Annotated[int, kit.ProjectFile(at_most=10 * 2**20)] = 10 * 2**20

    def read(self, url: str, /) -> kit.Flow[kit.Page]:
        """Read the last archived copy of the page at *url*."""
        kit.prepare_parser()
        params = {
            "url": kit.serialize(url),
            "output": "json",
            "fl": "timestamp,original",
            "filter": "statuscode:200",
            "to": f"{self.until:%Y%m%d}" if self.until else None,
            "limit": -1,  # the last
        }
        response = yield kit.get_json(self, "cdx/search/cdx", params, target=url)
        capture = self._find_capture(response)
        response, capture = yield from self._fetch(capture)
        page: kit.Page = yield Call(
            kit.parse_response,
            self,
            response,
            url,
            capture.url,
            self.max_bytes,
        )
        day = datetime.strptime(capture.stamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        page = page.model_copy(
            update={"final_url": f"{self.base_url}/web/{capture.stamp}/{capture.url}"}
        )
        return page.with_notes(
            f"this is the copy that the Wayback Machine archived on {day:%Y-%m-%d}, "
            f"not the page as it is today"
        )

    def _find_capture(self, response: kit.Response) -> _Capture:
        """Return the capture in the answer: a table, whose first row has the names of
        the columns.
        """
        if _BLOCKED.search(response.content):
            raise kit.error_for(
                response,
                self,
                verb="read",
                hint="the archive leaves out this site",
                kind=Blocked,
            )
        if response.status != 200:
            raise kit.error_for(response, self, verb="read")
        rows = kit.as_json(response) if response.content.strip() else []
        if not _is_table(rows):
            raise kit.unexpected_format(self.name, "read")
        if len(rows) < 2:
            raise self._make_missing_error()
        stamp, url = map(str, rows[-1][:2])
        if not _STAMP.fullmatch(stamp) or not kit.is_web_url(url):
            raise kit.unexpected_format(self.name, "read")
        return _Capture(stamp, url)

    def _fetch(self, capture: _Capture) -> kit.Flow[tuple[kit.Response, _Capture]]:
        """Fetch a copy, and return also which one it is.

        The archive redirects to the copy that is nearest in time, and to that of the
        page that the site redirected to.
        """
        for _ in range(_MAX_REDIRECTS + 1):
            url = f"{self.base_url}/web/{capture.stamp}id_/{capture.url}"
            response: kit.Response = yield kit.Request(
                url=url, max_bytes=self.max_bytes, guarded=True
            )
            if response.status == 200:
                # RFC 7089: a page about the archive has none
                if "memento-datetime" not in response.headers:
                    raise self._make_missing_error()
                return response, capture
            following = self._find_redirect(url, response)
            if following is None:
                raise kit.error_for(response, self, verb="read", meanings=_MEANINGS)
            capture = following
        raise BadResponse(
            f"wayback read failed: more than {_MAX_REDIRECTS} redirects",
            provider=self.name,
        )

    def _find_redirect(self, url: str, response: kit.Response) -> _Capture | None:
        location = response.headers.get("location", "")
        if not location or not 300 <= response.status < 400:
            return None
        path = urljoin(url, location).removeprefix(f"{self.base_url}/web/")
        match = _COPY.fullmatch(path)
        if match is None or not kit.is_web_url(match["url"]):
            return None
        return _Capture(match["stamp"], match["url"])

    def _make_missing_error(self) -> PageNotFound:
        return PageNotFound(
            "wayback read failed: the archive has no copy of this page",
            provider=self.name,
        )


def _is_table(rows: Any) -> bool:
    if not isinstance(rows, list):
        return False
    return all(isinstance(row, list) and len(row) > 1 for row in rows)
