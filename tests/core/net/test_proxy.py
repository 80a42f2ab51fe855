"""Pages through a proxy: one of ours that behaves or does not, and tinyproxy, which
Debian packages.
"""

from __future__ import annotations
import asyncio
import pickle
import re
import shutil
import socket
import ssl
import subprocess
import time

import pytest
import trustme

from tests import server as faulty
from tests.faults.proxy import Proxy as LocalProxy
from websearch_core._net.gate import Gate
from websearch_core._net.guard import Guard
from websearch_core._net.lookup import FOR_PAGES, Line
from websearch_core._net.proxy import Proxies, Proxy, is_listed
from websearch_core._net.sender import Sender
from websearch_core._runtime.deadline import time_limit
from websearch_core.errors import (
    AuthenticationError,
    ConfigurationError,
    ServiceError,
    TimedOut,
    Unavailable,
    UnsafeURL,
    WebSearchError,
)
from websearch_core.flow import Request
from websearch_core.keys import pickle_keys

pytestmark = pytest.mark.enable_socket

SECRET = "pass-word:@0123456789"
ESCAPED = "pass-word%3A%400123456789"
SITES = {"site.example": "127.0.0.1", "other.example": "127.0.0.1"}
VARIABLES = (
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
)


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(params=["here", "proxy"])
def resolve(request):
    return request.param


@pytest.fixture
def proxy():
    running = LocalProxy(SITES)
    yield running
    running.close()


def make_guard(resolve_by, asked=None):
    """Names resolve here to loopback, which is open, unless the proxy is to resolve
    them.
    """

    def look_up(host, port):
        if asked is not None:
            asked.append(host)
        if resolve_by == "proxy":
            raise socket.gaierror(socket.EAI_NONAME, "this machine resolves nothing")
        return [SITES[host]]

    return Guard.allowing(["127.0.0.0/8"], resolve=look_up)


@pytest.fixture
def fetch(library, colour):
    """``fetch(sender, url)`` sends one request for a page in each colour."""
    made = []

    def make(guard, proxies, **options):
        made.append(Sender(guard, library=library, proxies=proxies, **options))
        return made[-1]

    def fetch(sender, url, seconds=30.0, **options):
        request = Request(url=url, **{"guarded": True, **options})
        with time_limit(seconds):
            if colour == "blocking":
                return sender.send(request)

            async def asend():
                return await sender.asend(request)

            return asyncio.run(asend())

    fetch.make = make
    yield fetch
    for one in made:
        one.close()


def test_http_goes_in_absolute_form_by_name_and_through_a_tunnel_by_address(
    fetch, proxy, server, http, resolve
):
    server.answers["/a"] = http(b"page")
    asked = []
    sender = fetch.make(make_guard(resolve, asked), Proxies.of(proxy.url, resolve))
    url = f"http://site.example:{server.port}/a?b=1"

    assert fetch(sender, url).content == b"page"
    ((path, headers, _),) = server.requests
    assert (path, headers["host"]) == ("/a?b=1", f"site.example:{server.port}")
    assert proxy.asked == [
        f"GET {url}" if resolve == "proxy" else f"CONNECT 127.0.0.1:{server.port}"
    ]
    assert asked == ([] if resolve == "proxy" else ["site.example"])
    assert not {name for name in headers if name.startswith("proxy-")}


@pytest.mark.parametrize("name", ["site.example", "other.example"])
def test_https_goes_through_a_tunnel_and_tls_checks_the_name_of_the_url(
    fetch, proxy, http, resolve, name
):
    authority = trustme.CA()
    theirs, ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert("site.example").configure_cert(theirs)
    authority.configure_trust(ours)
    named = []
    theirs.sni_callback = lambda connection, server_name, context: named.append(
        server_name
    )
    site = faulty.Server([http(b"page")], tls=theirs)
    sender = fetch.make(
        make_guard(resolve), Proxies.of(proxy.url, resolve), verify=ours
    )
    url = f"https://{name}:{site.port}/"

    if name == "site.example":
        assert fetch(sender, url).content == b"page"
        assert site.requests[0][1]["host"] == f"site.example:{site.port}"
    else:
        with pytest.raises(Unavailable, match="through the proxy 127.0.0.1:[0-9]+"):
            fetch(sender, url)
        assert site.requests == []
    assert named == [name]
    asked = "127.0.0.1" if resolve == "here" else name
    assert proxy.asked == [f"CONNECT {asked}:{site.port}"]
    site.close()


async def test_a_tunnel_is_kept_for_its_origin(library, http, proxy):
    site = faulty.Server([http(b"page")])
    sender = Sender(
        make_guard("here"), library=library, proxies=Proxies.of(proxy.url, "here")
    )
    for name in ("site", "site", "other"):
        await sender.asend(
            Request(url=f"http://{name}.example:{site.port}/", guarded=True)
        )
        sender.send(Request(url=f"http://{name}.example:{site.port}/", guarded=True))

    assert len(site.requests) == 6
    assert len(proxy.asked) == 4
    await sender.aclose()
    site.close()


def test_a_login_is_sent_to_the_proxy_alone_and_a_missing_or_wrong_one_is_an_error(
    fetch, server, http, resolve
):
    server.answers["/"] = http(b"page")
    wanting = LocalProxy(SITES, login=f"ann:{SECRET}")
    place = f"127.0.0.1:{wanting.port}"
    url = f"http://site.example:{server.port}/"
    right = Proxies.of(f"http://ann:{ESCAPED}@{place}", resolve)

    assert fetch(fetch.make(make_guard(resolve), right), url).content == b"page"
    assert wanting.logins == [f"ann:{SECRET}"]
    assert "authorization" not in "".join(server.requests[0][1])
    for given, words in (
        (place, "asks for a login"),
        (f"ann:wrong-password-1@{place}", "does not accept the user"),
    ):
        with pytest.raises(
            AuthenticationError, match=f"^the proxy {place} {words}"
        ) as caught:
            fetch(
                fetch.make(make_guard(resolve), Proxies.of(f"http://{given}", resolve)),
                url,
            )
        assert "wrong-password" not in repr(caught.value) + str(caught.value)
    assert len(server.requests) == 1
    assert SECRET not in repr(right)
    wanting.close()


def sending(data, then=0.0):
    def answer(connection):
        connection.sendall(data)
        time.sleep(then)

    return answer


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake",
            Unavailable,
            "answers in the name of the page's server",
        ),
        (
            b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\nfake",
            Unavailable,
            "answers in the name",
        ),
        (
            b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n",
            Unavailable,
            "refuses a tunnel",
        ),
        (
            b"HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\n\r\nfake",
            Unavailable,
            "refuses a tunnel .* 403",
        ),
        (
            b"HTTP/1.1 502 Bad Gateway\r\n\r\nfake",
            Unavailable,
            "cannot reach the page's server: it answers 502",
        ),
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", Unavailable, "not valid HTTP"),
        (
            b"HTTP/1.1 200 OK\r\nX-",
            Unavailable,
            "closed the connection before its response was complete",
        ),
        (
            b"HTTP/1.1 200 OK\r\n" + b"X-Long: 1\r\n" * 20_000,
            Unavailable,
            "closed the connection before its response was complete",
        ),
        (b"", Unavailable, "closed the connection before its response was complete"),
        (
            sending(b"", 8.0),
            TimedOut,
            "proxy 127.0.0.1:[0-9]+ .*within the time allowed",
        ),
        (sending(b"HTTP/1.1 200 OK\r\n", 8.0), TimedOut, "within the time allowed"),
    ],
)
def test_a_proxy_that_misbehaves_is_an_error_that_names_it_and_the_site_says_nothing(
    fetch, answer, kind, words
):
    bad = LocalProxy(answer=answer)
    sender = fetch.make(
        make_guard("proxy"),
        Proxies.of(f"http://ann:{ESCAPED}@127.0.0.1:{bad.port}", "proxy"),
    )

    with pytest.raises(kind, match=words) as caught:
        fetch(
            sender, "https://site.example/", seconds=0.3 if kind is TimedOut else 30.0
        )
    assert type(caught.value) is kind
    assert f"the proxy 127.0.0.1:{bad.port}" in str(caught.value)
    error: BaseException | None = caught.value
    while error is not None:
        assert not re.search("pass-word|fake", f"{error!r} {error}")
        error = error.__cause__ or error.__context__
    bad.close()


def test_a_proxy_that_nobody_listens_for_is_named(fetch, resolve):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    sender = fetch.make(
        make_guard(resolve), Proxies.of(f"http://127.0.0.1:{port}", resolve)
    )

    for url in ("http://site.example/", "https://site.example/"):
        with pytest.raises(
            Unavailable, match=f"^the proxy 127.0.0.1:{port} cannot be reached"
        ):
            fetch(sender, url)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            b"",
            "the page's server through the proxy 127.0.0.1:[0-9]+ closed the connection before it answered",
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\ncut",
            "through the proxy 127.0.0.1:[0-9]+ closed the connection",
        ),
        (
            b"no http at all\r\n\r\n",
            "through the proxy 127.0.0.1:[0-9]+ sent a response that is not valid HTTP",
        ),
    ],
)
def test_what_goes_wrong_in_absolute_form_names_the_proxy_too(fetch, answer, words):
    bad = LocalProxy(answer=answer)
    sender = fetch.make(make_guard("proxy"), Proxies.of(bad.url, "proxy"))

    with pytest.raises(ServiceError, match=words):
        fetch(sender, "http://site.example/")
    bad.close()


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1/",
        "https://10.0.0.1/",
        "http://[fd00::1]/",
        "http://inside/",
        "https://wiki.corp/",
        "http://169.254.169.254/",
        "http://metadata.google.internal/",
        "http://0x7f.1/",
        "http://site.example:25/",
    ],
)
def test_the_proxy_is_not_asked_for_what_is_forbidden(fetch, proxy, resolve, url):
    guard = Guard(resolve=lambda host, port: ["10.0.0.1"], is_own=lambda ip: False)

    with pytest.raises(UnsafeURL):
        fetch(fetch.make(guard, Proxies.of(proxy.url, resolve)), url)
    assert proxy.asked == []


def test_an_address_of_this_machine_is_refused_as_a_literal_whoever_resolves(
    fetch, proxy, resolve
):
    guard = Guard(is_own=lambda ip: str(ip) == "93.184.215.14")
    for scheme in ("http", "https"):
        with pytest.raises(UnsafeURL):
            fetch(
                fetch.make(guard, Proxies.of(proxy.url, resolve)),
                f"{scheme}://93.184.215.14/",
            )
    assert proxy.asked == []


def test_one_bad_address_of_a_name_refuses_it_where_it_is_resolved_here(fetch, proxy):
    guard = Guard(
        resolve=lambda host, port: ["93.184.215.14", "10.0.0.1"],
        is_own=lambda ip: False,
    )

    with pytest.raises(UnsafeURL):
        fetch(
            fetch.make(guard, Proxies.of(proxy.url, "here")), "https://mixed.example/"
        )
    assert proxy.asked == []


def test_this_machine_is_reached_without_the_proxy(fetch, proxy, server, http, resolve):
    server.answers["/"] = http(b"page")
    sender = fetch.make(Guard.allowing([server.url]), Proxies.of(proxy.url, resolve))

    assert fetch(sender, f"{server.url}/").content == b"page"
    assert proxy.asked == []


def test_services_go_through_it_by_name_except_those_of_this_machine(
    fetch, proxy, server, http, resolve
):
    server.answers["/"] = http(b"{}")
    asked = []
    sender = fetch.make(make_guard(resolve, asked), Proxies.of(proxy.url, resolve))

    assert (
        fetch(sender, f"http://site.example:{server.port}/", guarded=False).status
        == 200
    )
    assert fetch(sender, f"{server.url}/", guarded=False).status == 200
    assert proxy.asked == [f"GET http://site.example:{server.port}/"]
    assert asked == []


@pytest.mark.parametrize(
    ("bypass", "hosts"),
    [
        ("sea.example", {"sea.example", "a.sea.example"}),
        (".sea.example", {"sea.example", "a.sea.example"}),
        ("::1", {"::1"}),
        ("localhost,[::1]", {"::1"}),
        ("[fd00::1]:443", {"fd00::1"}),
        ("fd00::1", {"fd00::1"}),
        ("10.1.2.3", {"10.1.2.3"}),
        ("10.0.0.0/8,fd00::/8,a:b:c", set()),
        ("*", {"sea.example", "a.sea.example", "::1", "fd00::1", "10.1.2.3"}),
    ],
)
def test_what_no_proxy_lists(bypass, hosts):
    names = ["sea.example", "a.sea.example", "::1", "fd00::1", "10.1.2.3"]

    assert {name for name in names if is_listed(name, 443, bypass)} == hosts


def test_the_environment_is_read_only_if_that_is_asked_for(
    fetch, proxy, server, http, resolve, monkeypatch
):
    server.answers["/"] = http(b"page")
    url = f"http://site.example:{server.port}/"
    monkeypatch.setenv("HTTP_PROXY", proxy.url)

    assert fetch(fetch.make(make_guard("here"), None), url).content == b"page"
    assert proxy.asked == []
    assert (
        fetch(
            fetch.make(make_guard(resolve), Proxies.of("environment", resolve)), url
        ).content
        == b"page"
    )
    assert len(proxy.asked) == 1
    monkeypatch.setenv("NO_PROXY", "other.example,.corp")
    both = Proxies.of("environment", resolve)
    assert both.find("http", "other.example", 80) is None
    assert both.find("http", "wiki.corp", 443) is None
    assert str(both.find("http", "site.example", 80)) == f"127.0.0.1:{proxy.port}"
    assert both.find("https", "site.example", 443) is None
    if resolve == "here":
        assert (
            fetch(
                fetch.make(make_guard("here"), both), url.replace("site.", "other.")
            ).content
            == b"page"
        )
        assert len(proxy.asked) == 1


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://ann:{}@proxy.corp", "plain http"),
        ("socks5://ann:{}@proxy.corp", "SOCKS are not supported; use plain http"),
        ("http://ann:{}@proxy.corp:99999", "port"),
        ("http://ann:{}@proxy corp:1", "spaces"),
        ("http://ann:{}@proxy.corp/path", "must be a URL"),
        ("http://ann:{}@proxy.corp?x", "must be a URL"),
        ("http://ann:{}@", "must be a URL"),
        ("http://ann:{}@a@proxy.corp", "must be a URL"),
        ("http://ann:{}%0d%0aX-Evil:1@proxy.corp", "cannot be sent"),
        ("http://ann:{}\r\nX-Evil:1@proxy.corp", "cannot be sent"),
        ("http://ann%3ax:{}@proxy.corp", "cannot be sent"),
        ("http://ann:{}@127.1:3128", "IPv4"),
        ("proxy.corp:3128/{}", "must be a URL"),
        ("", "must be a URL"),
    ],
)
def test_a_broken_proxy_is_an_error_without_its_password(url, words):
    with pytest.raises(ConfigurationError, match=words) as caught:
        Proxies.of(url.format("hunter2-secret"), "here")
    assert (
        "hunter2"
        not in f"{caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}"
    )


def test_who_resolves_has_to_be_said_and_both_are_explained(monkeypatch):
    for given in (None, "", "remote", True):
        with pytest.raises(
            ConfigurationError, match="'here' resolves .* 'proxy' lets the proxy"
        ):
            Proxies.of("http://proxy.corp:3128", given)
    with pytest.raises(ConfigurationError, match="is for a proxy"):
        Proxies.of(None, "here")
    with pytest.raises(
        ConfigurationError, match="neither HTTP_PROXY nor HTTPS_PROXY is set"
    ):
        Proxies.of("environment", "here")
    monkeypatch.setenv("HTTPS_PROXY", "http://ann:hunter2@bad host")
    with pytest.raises(ConfigurationError, match="^HTTPS_PROXY: the host") as caught:
        Proxies.of("environment", "here")
    assert "hunter2" not in repr(caught.value)
    with pytest.raises(ConfigurationError, match="must be a URL"):
        Proxies.of(3128, "here")


def test_a_pickle_holds_no_password_unless_that_is_asked_for():
    proxy = Proxy.parse(f"http://ann:{ESCAPED}@proxy.corp:3128")

    assert SECRET.encode() not in pickle.dumps(proxy)
    with pytest.raises(WebSearchError, match="a pickle does not hold keys"):
        pickle.loads(pickle.dumps(proxy)).make_headers()
    with pickle_keys():
        copied = pickle.loads(pickle.dumps(proxy))
    assert copied.make_headers() == proxy.make_headers()
    assert "secret" not in repr(proxy)
    assert SECRET not in repr(proxy)


async def _say(gate, data, then=b""):
    host, _, port = gate.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        async with asyncio.timeout(30):
            writer.write(data)
            head = await reader.readuntil(b"\r\n\r\n")
            if then and head.startswith(b"HTTP/1.1 200"):
                writer.write(then)
                return await reader.read()
            return head + await reader.read()
    finally:
        writer.close()


@pytest.mark.parametrize("login", ["", "ann:sesame-0123"])
async def test_the_gate_of_a_browser_goes_through_it(server, http, resolve, login):
    server.answers["/a"] = faulty.closing(http(b"page", "200 OK", "Connection: close"))
    proxy = LocalProxy(SITES, login=login)
    proxies = Proxies.of(
        f"http://{login}@127.0.0.1:{proxy.port}" if login else proxy.url, resolve
    )
    url, place = f"http://site.example:{server.port}/a", f"site.example:{server.port}"
    async with Gate(make_guard(resolve), Line(FOR_PAGES), proxies=proxies) as gate:
        plain = await _say(
            gate,
            f"GET {url} HTTP/1.1\r\nHost: x\r\nProxy-Authorization: no\r\n\r\n".encode(),
        )
        tunnelled = await _say(
            gate,
            f"CONNECT {place} HTTP/1.1\r\nHost: x\r\n\r\n".encode(),
            then=f"GET /a HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n".encode(),
        )

    assert plain.startswith(b"HTTP/1.1 200 ")
    assert plain.endswith(b"page")
    assert tunnelled.endswith(b"page")
    by_address, by_name = f"CONNECT 127.0.0.1:{server.port}", f"CONNECT {place}"
    assert proxy.asked == (
        [by_address] * 2 if resolve == "here" else [f"GET {url}", by_name]
    )
    assert proxy.logins == [login] * 2
    assert [headers["host"] for _, headers, _ in server.requests] == [place] * 2
    assert not any(
        "proxy-authorization" in headers for _, headers, _ in server.requests
    )
    proxy.close()


async def test_a_proxy_that_asks_the_gate_for_a_login_is_named_and_the_browser_learns_nothing(
    resolve,
):
    proxy = LocalProxy(SITES, login="ann:sesame-0123")
    async with Gate(
        make_guard(resolve), Line(FOR_PAGES), proxies=Proxies.of(proxy.url, resolve)
    ) as gate:
        answers = [
            await _say(gate, b"GET http://site.example/ HTTP/1.1\r\nHost: x\r\n\r\n"),
            await _say(gate, b"CONNECT site.example:443 HTTP/1.1\r\nHost: x\r\n\r\n"),
        ]
        errors = [
            gate.find_error(url)
            for url in ("http://site.example/", "https://site.example/")
        ]

    assert [
        answer for answer in answers if not answer.startswith(b"HTTP/1.1 502 ")
    ] == []
    assert [
        error
        for error in errors
        if not (
            isinstance(error, AuthenticationError) and str(proxy.port) in str(error)
        )
    ] == []
    proxy.close()


@pytest.mark.parametrize(
    "target", ["10.0.0.1:443", "inside.example:443", "169.254.169.254:80"]
)
async def test_the_gate_asks_the_proxy_for_nothing_that_is_forbidden(proxy, target):
    guard = Guard(resolve=lambda host, port: ["10.0.0.1"], is_own=lambda ip: False)
    async with Gate(
        guard, Line(FOR_PAGES), proxies=Proxies.of(proxy.url, "here")
    ) as gate:
        answers = [
            await _say(gate, f"CONNECT {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode()),
            await _say(
                gate, f"GET http://{target}/ HTTP/1.1\r\nHost: x\r\n\r\n".encode()
            ),
        ]

    assert [
        answer for answer in answers if not answer.startswith(b"HTTP/1.1 403 ")
    ] == []
    assert proxy.asked == []


@pytest.fixture(scope="module")
def tinyproxy(tmp_path_factory):
    """A function that starts Debian's tinyproxy, and returns its port."""
    program = shutil.which("tinyproxy")
    if program is None:
        pytest.skip("tinyproxy is not installed")
    running = []

    def start(*lines):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        folder = tmp_path_factory.mktemp("tinyproxy")
        settings = [
            f"Port {port}",
            "Listen 127.0.0.1",
            "Timeout 60",
            "MaxClients 20",
            *lines,
        ]
        (folder / "tinyproxy.conf").write_text("\n".join(settings) + "\n")
        running.append(subprocess.Popen(
            [program, "-d", "-c", folder / "tinyproxy.conf"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ))  # fmt: skip
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=5).close()
            except OSError:
                time.sleep(0.02)
            else:
                return port
        raise AssertionError("tinyproxy does not start")

    yield start
    for one in running:
        one.terminate()
        one.wait(30)


@pytest.fixture(scope="module")
def ports(tinyproxy):
    """Those of one that serves anybody, and of one that wants a login."""
    return tinyproxy(), tinyproxy("BasicAuth ann sesame-0123")


@pytest.fixture
def named_host():
    """A name of this machine that a proxy can resolve, and that is not localhost; with
    an address that it has.
    """
    name = socket.gethostname().lower()
    try:
        address = socket.gethostbyname(name)
        socket.create_server((address, 0)).close()
    except OSError:
        pytest.skip("the name of this machine does not resolve")
    return name, address


@pytest.mark.e2e
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_page_is_read_through_tinyproxy(
    fetch, ports, http, resolve, scheme, named_host
):
    name, address = named_host
    authority = trustme.CA()
    theirs, ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert(name).configure_cert(theirs)
    authority.configure_trust(ours)
    site = faulty.Server(
        [http(b"page")], tls=theirs if scheme == "https" else None, address=address
    )
    guard = Guard.allowing(
        [f"{address}/32", "127.0.0.0/8"], resolve=lambda host, port: [address]
    )
    for port, login in ((ports[0], ""), (ports[1], "ann:sesame-0123@")):
        sender = fetch.make(
            guard, Proxies.of(f"http://{login}127.0.0.1:{port}", resolve), verify=ours
        )
        assert fetch(sender, f"{scheme}://{name}:{site.port}/").content == b"page"
    assert [headers["host"] for _, headers, _ in site.requests] == [
        f"{name}:{site.port}"
    ] * 2
    with pytest.raises(
        AuthenticationError, match=f"the proxy 127.0.0.1:{ports[1]} asks for a login"
    ):
        fetch(
            fetch.make(
                guard, Proxies.of(f"http://127.0.0.1:{ports[1]}", resolve), verify=ours
            ),
            f"{scheme}://{name}:{site.port}/",
        )
    site.close()


@pytest.mark.e2e
def test_what_tinyproxy_cannot_reach_is_an_error_that_names_it(
    fetch, ports, named_host
):
    name, address = named_host
    with socket.create_server((address, 0)) as closed:
        port = closed.getsockname()[1]
    guard = Guard.allowing(
        [f"{address}/32", "127.0.0.0/8"], resolve=lambda host, port: [address]
    )
    sender = fetch.make(guard, Proxies.of(f"http://127.0.0.1:{ports[0]}", "here"))

    with pytest.raises(
        Unavailable,
        match=f"the proxy 127.0.0.1:{ports[0]} cannot reach the page's server",
    ):
        fetch(sender, f"https://{name}:{port}/")
