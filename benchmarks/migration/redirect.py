"""Send what the old packages request to the server of the pairs, at the lowest place
that each library has.

Each request keeps its path and its body; the header ``Host`` says where it was for.
"""

from __future__ import annotations
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit


def redirect(port: int) -> None:
    """Send every request of this process to *port* of this machine. Libraries that are
    not installed are left out.
    """
    here = f"127.0.0.1:{port}"
    _redirect_requests(here)
    _redirect_httpx(port)
    _redirect_aiohttp(here)
    _redirect_urllib(here)
    _redirect_urllib3(here)
    _redirect_httplib2(here)
    _redirect_ddgs()
    _redirect_browsers(here)
    _redirect_unstructured()


def _move(url: str, here: str) -> tuple[str, str]:
    """Return *url* at the server, and the host that it was for."""
    parts = urlsplit(url)
    if parts.hostname in ("localhost", "127.0.0.1"):  # what drives a browser
        return url, parts.netloc
    return parts._replace(scheme="http", netloc=here).geturl(), parts.netloc


def _redirect_requests(here: str) -> None:
    from requests.adapters import HTTPAdapter

    send = HTTPAdapter.send

    def send_here(self: Any, request: Any, **options: Any) -> Any:
        original = request.url
        request.url, request.headers["Host"] = _move(original, here)
        response = send(self, request, **{**options, "proxies": {}})
        response.url = request.url = original
        return response

    HTTPAdapter.send = send_here


def _redirect_httpx(port: int) -> None:
    import httpx

    send, asend = (
        httpx.HTTPTransport.handle_request,
        httpx.AsyncHTTPTransport.handle_async_request,
    )

    def move(request: httpx.Request) -> httpx.Request:
        request.headers["Host"] = request.url.host
        url = request.url.copy_with(scheme="http", host="127.0.0.1", port=port)
        return httpx.Request(
            request.method,
            url,
            headers=request.headers,
            stream=request.stream,
            extensions=request.extensions,
        )

    def send_here(self: Any, request: httpx.Request) -> httpx.Response:
        return send(self, move(request))

    async def asend_here(self: Any, request: httpx.Request) -> httpx.Response:
        return await asend(self, move(request))

    httpx.HTTPTransport.handle_request = send_here
    httpx.AsyncHTTPTransport.handle_async_request = asend_here


def _redirect_aiohttp(here: str) -> None:
    import aiohttp
    from yarl import URL

    ask = aiohttp.ClientSession._request

    async def ask_here(self: Any, method: str, url: Any, **options: Any) -> Any:
        moved, host = _move(str(url), here)
        options["headers"] = {**(options.get("headers") or {}), "Host": host}
        options["ssl"] = False
        response = await ask(self, method, moved, **options)
        response._url = URL(str(url))
        return response

    aiohttp.ClientSession._request = ask_here


def _redirect_urllib(here: str) -> None:
    import urllib.request

    open_url = urllib.request.OpenerDirector.open

    def open_here(self: Any, fullurl: Any, *arguments: Any, **options: Any) -> Any:
        request = (
            fullurl
            if isinstance(fullurl, urllib.request.Request)
            else urllib.request.Request(fullurl)
        )
        moved, host = _move(request.full_url, here)
        request.full_url = moved
        request.add_header("Host", host)
        return open_url(self, request, *arguments, **options)

    urllib.request.OpenerDirector.open = open_here


def _redirect_urllib3(here: str) -> None:
    import urllib3

    ask = urllib3.PoolManager.urlopen

    def ask_here(
        self: Any, method: str, url: str, *arguments: Any, **options: Any
    ) -> Any:
        moved, host = _move(url, here)
        options["headers"] = {**(options.get("headers") or {}), "Host": host}
        return ask(self, method, moved, *arguments, **options)

    urllib3.PoolManager.urlopen = ask_here


def _redirect_httplib2(here: str) -> None:
    import httplib2

    ask = httplib2.Http.request

    def ask_here(self: Any, uri: str, *arguments: Any, **options: Any) -> Any:
        moved, host = _move(uri, here)
        options["headers"] = {**(options.get("headers") or {}), "Host": host}
        return ask(self, moved, *arguments, **options)

    httplib2.Http.request = ask_here


def _redirect_ddgs() -> None:
    """Ask with requests, which is redirected, instead of with a library in Rust, which
    cannot be.
    """
    import duckduckgo_search.duckduckgo_search
    import requests
    from ddgs.http_client import HttpClient

    def ask_here(_: Any, method: str, url: str, **options: Any) -> Any:
        known = {
            name: options.get(name) for name in ("params", "data", "headers", "cookies")
        }
        return requests.request(method, url, **known, timeout=10)

    class Client:
        """What the older library asks with."""

        request = ask_here
        headers: dict[str, str]

        def __init__(self, **_: Any) -> None:
            self.headers = {}

    HttpClient.request = ask_here
    duckduckgo_search.duckduckgo_search.primp = SimpleNamespace(Client=Client)


def _redirect_browsers(here: str) -> None:
    """Start the browser of this machine, and let it resolve every name to the
    server.
    """
    import functools
    import shutil

    from playwright import async_api, sync_api
    from selenium import webdriver

    found = {
        "executable_path": shutil.which("chromium-headless-shell"),
        "channel": None,
    }
    arguments = ["--no-sandbox", f"--host-resolver-rules=MAP * {here}"]

    for api in (sync_api, async_api):
        launch = api.BrowserType.launch

        def launch_here(self: Any, *, launch: Any = launch, **options: Any) -> Any:
            given = [
                word for word in options.get("args") or () if "--headless" not in word
            ]
            return launch(self, **{**options, **found, "args": [*given, *arguments]})

        api.BrowserType.launch = functools.wraps(launch)(launch_here)

    start = webdriver.Chrome.__init__

    def start_here(self: Any, options: Any = None, **others: Any) -> None:
        options = options or webdriver.ChromeOptions()
        options.binary_location = found["executable_path"]
        for argument in arguments:
            options.add_argument(argument)
        start(
            self,
            options=options,
            service=webdriver.ChromeService(shutil.which("chromedriver")),
        )

    webdriver.Chrome.__init__ = start_here


def _redirect_unstructured() -> None:
    """Fetch without resolving names, and without the model of a language that would be
    downloaded.

    The model only names the kinds of the parts of a page.
    """
    import requests
    import spacy
    from unstructured.nlp import tokenize
    from unstructured.partition import auto

    language = spacy.blank("en")
    language.add_pipe("sentencizer")
    tokenize._load_spacy_model = lambda: language
    auto.safe_get = lambda url, **_: requests.get(url, timeout=10)
