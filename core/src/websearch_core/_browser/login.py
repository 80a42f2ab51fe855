"""Send credentials from a browser to the origins that they are for, and nowhere else.

Every request of the page is paused here before it leaves, each hop of a redirect again.
One gets the credentials of its origin if it is the page itself being opened, or
something that a document of the same origin loads into the main frame: no other site
can use them by a form, an image, a frame, a script, or by redirecting what the document
loads. What is not paused here, such as a worker's request, gets none. A hop inherits
headers, so others lose them.
"""

from __future__ import annotations
import asyncio
from typing import Any

from .._net.credentials import OriginCredentials
from .._text.urls import find_origin
from ..errors import WebSearchError
from .tab import Tab

_PATIENCE = 5.0  # seconds for the browser to say what a request is for


class Login:
    """The credentials of one page: those of all origins, for *tab*."""

    def __init__(self, tab: Tab, credentials: OriginCredentials) -> None:
        self._tab = tab
        self._credentials = credentials
        # the URL of the document that each request is for
        self._documents: dict[str, asyncio.Future[str]] = {}
        # the headers that each request got, in lower case
        self._added: dict[str, set[str]] = {}
        # requests that led to an origin without credentials
        self._strayed: set[str] = set()

    async def begin(self) -> None:
        """Pause every request from now on."""
        self._tab.listener = self._hear
        await self._tab.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})

    def _hear(self, event: str, params: dict[str, Any]) -> None:
        if event == "Network.requestWillBeSent":
            document = self._document_of(params["requestId"])
            if not document.done():
                document.set_result(str(params.get("documentURL", "")))
        elif event == "Fetch.requestPaused":
            self._tab.start(self._go_on(params))
        elif event in ("Network.loadingFinished", "Network.loadingFailed"):
            self._documents.pop(params["requestId"], None)
            self._added.pop(params["requestId"], None)
            self._strayed.discard(params["requestId"])

    def _document_of(self, request: str) -> asyncio.Future[str]:
        if request not in self._documents:
            self._documents[request] = asyncio.get_running_loop().create_future()
        return self._documents[request]

    async def _go_on(self, paused: dict[str, Any]) -> None:
        request = paused["request"]
        network = str(paused.get("networkId", ""))
        try:
            own = await self._find_headers(paused, request, network)
        except WebSearchError as error:
            self._tab.fail(error)
            return
        answer: dict[str, Any] = {"requestId": paused["requestId"]}
        before = self._added.pop(network, set())
        if own or before:
            self._added[network] = {name.lower() for name in own}
            gone = before | self._added[network]
            headers = {
                name: value
                for name, value in request["headers"].items()
                if name.lower() not in gone
            } | own
            answer["headers"] = [
                {"name": name, "value": str(value)} for name, value in headers.items()
            ]
        await self._tab.send("Fetch.continueRequest", answer)

    async def _find_headers(
        self, paused: dict[str, Any], request: dict[str, Any], network: str
    ) -> dict[str, str]:
        """Return the headers to log in with, if this request may have them."""
        credentials = self._credentials.find(request["url"])
        if credentials is None or paused.get("frameId") != self._tab.target:
            self._strayed.add(network)
            return {}
        if paused.get("resourceType") == "Document":
            may = request["method"] == "GET"
        else:
            try:
                async with asyncio.timeout(_PATIENCE):
                    document = await asyncio.shield(self._document_of(network))
            except TimeoutError:
                return {}
            may = (
                find_origin(document) == find_origin(request["url"])
                and network not in self._strayed
            )
        if not may:
            self._strayed.add(network)
            return {}
        headers, secrets = credentials.make_headers()
        self._tab.secrets |= set(secrets)
        return headers
