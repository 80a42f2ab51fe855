"""A browser that trusts the certificates of a company besides the usual ones."""

from __future__ import annotations
import http.server
import pathlib
import shutil
import ssl
import threading

import pytest
import trustme

from tests.browser.hostile.site import PUBLIC
from websearch_core import WebSearch
from websearch_core._browser import trust
from websearch_core._browser.host import host
from websearch_core.errors import ConfigurationError, Unavailable
from websearch_core.settings import Http

pytestmark = [pytest.mark.e2e, pytest.mark.enable_socket]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>Kelp</title><p>Brown algae grow in cold seas.")

    def log_message(self, *_):
        pass


def serve(authority):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(PUBLIC).configure_cert(context)
    server = http.server.ThreadingHTTPServer((PUBLIC, 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@pytest.fixture
def servers():
    """The company's certificates, a site that it signed, and one of somebody else who
    shows the company's certificate beside his own.
    """
    company, other = trustme.CA(), trustme.CA()
    stranger = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate = other.issue_cert(PUBLIC)
    made = [serve(company), serve(other)]
    chain = certificate.private_key_and_cert_chain_pem.bytes()
    with company.cert_pem.tempfile() as shown, pathlib.Path(shown).open("rb") as file:
        chain += file.read()
    with trustme.Blob(chain).tempfile() as path:
        stranger.load_cert_chain(path)
    impostor = http.server.ThreadingHTTPServer((PUBLIC, 0), Handler)
    impostor.socket = stranger.wrap_socket(impostor.socket, server_side=True)
    threading.Thread(target=impostor.serve_forever, daemon=True).start()
    made.append(impostor)
    yield company, [f"https://{PUBLIC}:{one.server_port}/" for one in made]
    for one in made:
        one.shutdown()
        one.server_close()


@pytest.mark.skipif(shutil.which("certutil") is None, reason="needs libnss3-tools")
def test_it_trusts_what_the_company_signed_and_nobody_else(servers, tmp_path):
    company, (signed, other, impostor) = servers
    path = tmp_path / "company.pem"
    path.write_bytes(b"# the company\n" + company.cert_pem.bytes() * 2)
    options = {"reader": "browser", "internal": [f"{PUBLIC}/32"], "retry": 1}
    usual = WebSearch("duckduckgo", timeout=60, **options)
    web = WebSearch("duckduckgo", timeout=60, http=Http(certificates=path), **options)

    assert "Brown algae" in web.read(signed).content
    for reader, url in ((usual, signed), (web, other), (web, impostor)):
        with pytest.raises(Unavailable, match="ERR_CERT_AUTHORITY_INVALID"):
            reader.read(url)
    host.end()


def test_without_its_program_it_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(trust.shutil, "which", lambda _: None)

    with pytest.raises(ConfigurationError, match="apt-get install libnss3-tools"):
        trust.trust(tmp_path / "company.pem", tmp_path)


def test_where_the_system_decides_it_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(trust.sys, "platform", "darwin")

    with pytest.raises(ConfigurationError, match="add them there"):
        trust.trust(tmp_path / "company.pem", tmp_path)
