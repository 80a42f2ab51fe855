"""Certificates of a company, and mistakes in the variables of the environment."""

from __future__ import annotations
import asyncio
import datetime as dt
import http.server
import importlib.util
import os
import ssl
import sys
import threading
from contextlib import contextmanager

import pytest
import trustme

from websearch_core import WebSearch
from websearch_core._net.certificates import find_problem, parse_certificates
from websearch_core.errors import ConfigurationError, Unavailable
from websearch_core.providers import SearXNG
from websearch_core.settings import Http, Settings

pytestmark = pytest.mark.enable_socket

LIBRARIES = ("httpx", "httpx2")
PAGE = b"<title>Kelp</title><h1>Kelp</h1><p>Brown algae grow in cold seas.</p>"
ANSWER = b'{"results": [{"url": "https://sea.example/", "title": "Kelp"}]}'


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        is_search = self.path.startswith("/search")
        body = ANSWER if is_search else PAGE
        kind = "application/json" if is_search else "text/html"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture(scope="module")
def origin(authority):
    """A site whose certificate the company has signed."""
    with serve(authority.issue_cert("127.0.0.1")) as address:
        yield address


@contextmanager
def serve(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"https://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def company(authority, tmp_path):
    path = tmp_path / "company.pem"
    authority.cert_pem.write_to_path(str(path))
    return path


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch):
    for name in [*os.environ]:
        if name.lower().endswith("_proxy") or name.startswith("SSL_CERT"):
            monkeypatch.delenv(name)


def make_web(origin, **http):
    return WebSearch(
        SearXNG(base_url=origin),
        reader="direct",
        internal=["127.0.0.0/8"],
        retry=1,
        http=Http(**http),
    )


@pytest.mark.parametrize("library", LIBRARIES)
def test_pages_and_services_trust_the_certificates_of_a_company(
    origin, company, library
):
    with make_web(origin, library=library) as web:
        for call in (lambda: web.read(origin), lambda: web.search("kelp")):
            with pytest.raises(Unavailable, match="CERTIFICATE_VERIFY_FAILED"):
                call()
    with make_web(origin, library=library, certificates=company) as web:
        assert "Brown algae" in web.read(origin).content
        assert web.search("kelp").results[0].title == "Kelp"
        assert "Brown algae" in asyncio.run(web.aread(origin)).content


def test_an_error_says_what_is_wrong_with_a_certificate(authority, company):
    now = dt.datetime.now(dt.UTC)
    day = dt.timedelta(days=1)
    certificates = {
        "has expired": authority.issue_cert(
            "127.0.0.1", not_before=now - 9 * day, not_after=now - day
        ),
        "is not valid yet": authority.issue_cert(
            "127.0.0.1", not_before=now + day, not_after=now + 9 * day
        ),
        "is for another address": authority.issue_cert("127.0.0.9"),
        "http.certificates": trustme.CA().issue_cert("127.0.0.1"),
    }
    for words, certificate in certificates.items():
        with (
            serve(certificate) as origin,
            make_web(origin, certificates=company) as web,
        ):
            for call in (lambda: web.read(origin), lambda: web.search("kelp")):
                with pytest.raises(Unavailable, match=words):
                    call()


def test_the_usual_certificates_are_trusted_as_before(company):
    from websearch_core._net.certificates import trusted

    usual = trusted("httpx", trust_env=False).get_ca_certs()
    both = trusted("httpx", trust_env=False, certificates=company).get_ca_certs()

    assert len(both) == len(usual) + 1


def test_the_environment_names_the_file_too(origin, company, monkeypatch):
    monkeypatch.setenv("WEB_SEARCH_HTTP_CERTIFICATES", str(company))

    with make_web(origin) as web:
        assert "Brown algae" in web.read(origin).content


def test_a_found_settings_file_does_not(tmp_path, company, monkeypatch):
    (tmp_path / "websearch.toml").write_text(f'[http]\ncertificates = "{company}"\n')
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ConfigurationError, match="http"):
        Settings.load()


@pytest.mark.parametrize("text", [None, "", "no certificates"])
def test_a_file_without_certificates_is_said_when_the_client_is_made(tmp_path, text):
    path = tmp_path / "company.pem"
    if text is not None:
        path.write_text(text)

    with pytest.raises(ConfigurationError, match=r"http\.certificates: .*company.pem"):
        WebSearch("duckduckgo", http=Http(certificates=path))
    with pytest.raises(ConfigurationError, match=r"http\.certificates: .*company.pem"):
        parse_certificates(str(path))


def test_a_context_and_a_file_are_not_taken_together(company):
    with pytest.raises(ConfigurationError, match="certificates"):
        Http(verify=ssl.create_default_context(), certificates=company)


MISTAKES = {
    "a file that is missing": ("SSL_CERT_FILE", "/nowhere/certificates.pem"),
    "a file that is a folder": ("SSL_CERT_FILE", "/"),
    "a file of something else": ("SSL_CERT_FILE", __file__),
    "a folder that is missing": ("SSL_CERT_DIR", "/nowhere/certificates"),
    "a proxy of another scheme": ("HTTPS_PROXY", "ftp://u:pass-word@proxy.corp:1"),
    "a port that is none": ("HTTP_PROXY", "http://u:pass-word@proxy.corp:port"),
    "lower case": ("https_proxy", "ftp://u:pass-word@proxy.corp:1"),
    "a proxy for all": ("ALL_PROXY", "ftp://u:pass-word@proxy.corp:1"),
}


def look(library, variable):
    """Make a mistake in the environment, and return what each use of it says."""
    said = []
    for use in (
        lambda web: web.search("kelp"),
        lambda web: asyncio.run(web.asearch("kelp")),
    ):
        with (
            make_web("https://sea.example", library=library) as web,
            pytest.raises(ConfigurationError) as caught,
        ):
            use(web)
        said.append(str(caught.value))
    said.append(str(find_problem(library, None)))
    assert all(variable in text for text in said), said
    assert "pass-word" not in "".join(said)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("variable", "value"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_the_environment_names_its_variable(
    variable, value, library, monkeypatch
):
    monkeypatch.setenv(variable, value)

    look(library, variable)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_socks_proxy_without_its_package_names_the_variable(library, monkeypatch):
    if importlib.util.find_spec("socksio"):
        monkeypatch.setitem(sys.modules, "socksio", None)
    monkeypatch.setenv("ALL_PROXY", "socks5://u:pass-word@127.0.0.1:9")

    look(library, "ALL_PROXY")


def test_an_environment_without_mistakes_is_no_problem(company, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.corp:3128")
    monkeypatch.setenv("NO_PROXY", "localhost,.corp,10.1.2.3,::1")
    monkeypatch.setenv("SSL_CERT_FILE", str(company))

    assert find_problem("httpx", company) is None


def test_doctor_says_what_is_wrong_with_them(monkeypatch, tmp_path):
    from websearch_core._cli.checks import describe_environment

    monkeypatch.setenv("WEB_SEARCH_HTTP_CERTIFICATES", str(tmp_path / "none.pem"))
    setting = describe_environment(Settings.load())["tls"]["problem"]
    monkeypatch.delenv("WEB_SEARCH_HTTP_CERTIFICATES")
    fine = describe_environment(Settings.load())["tls"]["problem"]
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere.pem")
    variable = describe_environment(Settings.load())["tls"]["problem"]

    assert setting.startswith("http.certificates: ")
    assert fine is None
    assert variable.startswith("SSL_CERT_FILE: ")
