"""A real Chromium, and the hostile web of tests/browser/hostile around it."""

from __future__ import annotations
import base64
import hashlib
import socket
import ssl

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from tests.browser.hostile.site import PUBLIC, Names, Site
from websearch_core import WebSearch
from websearch_core._browser.find import find_browser
from websearch_core._browser.host import host
from websearch_core._browser.launch import Launch
from websearch_core._browser.render import Renderer
from websearch_core._net.guard import Guard
from websearch_core._net.sender import Sender
from websearch_core.errors import ConfigurationError
from websearch_core.flow import Request

# Attacks on what Chromium would otherwise keep from pages on loopback.
FLAGS = ("--allow-loopback-in-peer-connection",)


@pytest.fixture(scope="session", autouse=True)
def chromium():
    try:
        path = find_browser()
    except ConfigurationError as error:
        pytest.skip(str(error))
    try:
        socket.create_server((PUBLIC, 0)).close()
    except OSError:
        pytest.skip(f"this system has no {PUBLIC}")
    yield path
    host.end()


@pytest.fixture(scope="session")
def certificates():
    """Two certificates; and the flag with which the browser of these tests accepts the
    key of the first.
    """
    made = [trustme.CA().issue_cert("shop.example") for _ in range(2)]
    contexts = [ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) for _ in made]
    for one, context in zip(made, contexts, strict=True):
        one.configure_cert(context)
    key = x509.load_pem_x509_certificate(
        made[0].cert_chain_pems[0].bytes()
    ).public_key()
    der = key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    digest = base64.b64encode(hashlib.sha256(der).digest()).decode()
    return contexts, f"--ignore-certificate-errors-spki-list={digest}"


@pytest.fixture(scope="session")
def site(certificates):
    with Site(*certificates[0]) as serving:
        yield serving


@pytest.fixture(scope="session")
def launch(certificates):
    """How the shared browser of these tests is started."""
    return Launch(pages_at_once=12, flags=(*FLAGS, certificates[1]))


@pytest.fixture
def guard():
    """Allows the address of the site alone, and resolves names as `Names` says."""
    return Guard.allowing([f"{PUBLIC}/32"], resolve=Names().resolve)


@pytest.fixture
def render(launch, guard):
    """``render(url)`` returns the response of the shared browser, blocking."""
    sender = Sender(guard)

    def render(url, **options):
        renderer = Renderer(**{"launch": launch} | options)
        return sender.send(Request(url=url, guarded=True, transport=renderer))

    return render


@pytest.fixture
def web(launch, guard, monkeypatch):
    """A `WebSearch` whose reader is the shared browser."""
    from websearch_core.providers import Browser

    monkeypatch.setattr(Browser, "_make_launch", lambda self: launch)
    # a machine may be busy
    made = WebSearch(reader=Browser(), internal=[f"{PUBLIC}/32"], retry=1, timeout=90)
    made._sender.guard = guard
    return made
