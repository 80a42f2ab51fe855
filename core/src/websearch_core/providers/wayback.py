"""Wayback Machine: the last archived copy of a page that is gone, or that refuses to be
read.

Works without a key. Use it as the last of several readers: ``reader="direct,wayback"``.
It asks the Internet Archive for the last copy that was not an error, fetches that as it
was archived, and reads it with the built-in reader. A note says that the text is an
archived copy, and of which day. ``until`` reads the page as it was on a day. The
archive leaves out some sites at their owners' request, which is `Blocked`; a page that
it never saw is `PageNotFound`.
"""

from __future__ import annotations
import re
from datetime import UTC, date, datetime
from typing import Annotated, ClassVar
from urllib.parse import urljoin

from websearch_core import provider as kit
from websearch_core.errors import BadResponse, Blocked, PageNotFound, ServiceError
from websearch_core.flow import Call
from websearch_core.provider._reading import prepare_parser

_BLOCKED = re.compile(
    rb"AccessControlException|Blocked Site|excluded from the Wayback", re.IGNORECASE
)
_MAX_REDIRECTS = 3
_MEANINGS: dict[int, type[ServiceError]] = {404: PageNotFound, 410: PageNotFound}


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
    until: Annotated[date | None, kit.FoundFile()] = None
    max_bytes: Annotated[int, kit.FoundFile(at_most=10 * 2**20)] = 10 * 2**20

    def read(self, url: str, /) -> kit.Flow[kit.Page]:
        """Read the last archived copy of the page at *url*."""
        prepare_parser()
        params = {
            "url": kit.serialize(url),
            "output": "json",
            "fl": "timestamp,original",
            "filter": "statuscode:200",
            "to": f"{self.until:%Y%m%d}" if self.until else None,
            "limit": -1,  # the last
        }
        response = yield kit.get_json(self, "cdx/search/cdx", params, target=url)
        stamp, original = self._capture(response)
        response, stamp, original = yield from self._fetch(stamp, original)
        page: kit.Page = yield Call(
            kit.parse_response,
            self,
            response,
            url,
            original,
            self.max_bytes,
        )
        day = datetime.strptime(stamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC).date()
        page = page.model_copy(
            update={"final_url": f"{self.base_url}/web/{stamp}/{original}"}
        )
        return page.with_notes(
            f"this is the copy that the Wayback Machine archived on {day}, not the "
            f"page as it is today"
        )

    def _capture(self, response: kit.Response) -> tuple[str, str]:
        """Return time and URL of the capture in the answer: a table, whose first row
        has the names of the columns.
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
        if not isinstance(rows, list) or not all(
            isinstance(row, list) and len(row) > 1 for row in rows
        ):
            raise kit.unexpected_format(self.name, "read")
        if len(rows) < 2:
            raise PageNotFound(
                "wayback read failed: the archive has no copy of this page",
                provider=self.name,
            )
        stamp, original = map(str, rows[-1][:2])
        if not re.fullmatch(r"[12]\d{13}", stamp, re.ASCII) or not kit.is_web_url(
            original
        ):
            raise kit.unexpected_format(self.name, "read")
        return stamp, original

    def _fetch(
        self, stamp: str, original: str
    ) -> kit.Flow[tuple[kit.Response, str, str]]:
        """Fetch a copy, and return also its time and the URL of its page.

        The archive redirects to the copy that is nearest in time, and to that of the
        page that the site redirected to.
        """
        for _ in range(_MAX_REDIRECTS + 1):
            copy = f"{self.base_url}/web/{stamp}id_/{original}"
            response: kit.Response = yield kit.Request(
                url=copy, max_bytes=self.max_bytes, guarded=True
            )
            if response.status == 200:
                # RFC 7089: a page about the archive has none
                if "memento-datetime" not in response.headers:
                    raise PageNotFound(
                        "wayback read failed: the archive has no copy of this page",
                        provider=self.name,
                    )
                return response, stamp, original
            location = response.headers.get("location", "")
            following = (
                urljoin(copy, location)
                if location and 300 <= response.status < 400
                else ""
            )
            place = following.removeprefix(f"{self.base_url}/web/")
            found = re.fullmatch(r"([12]\d{13})(?:[a-z]{2}_)?/(.+)", place, re.ASCII)
            if found is None or not kit.is_web_url(found[2]):
                raise kit.error_for(response, self, verb="read", meanings=_MEANINGS)
            stamp, original = found[1], found[2]
        raise BadResponse(
            f"wayback read failed: more than {_MAX_REDIRECTS} redirects",
            provider=self.name,
        )
