"""The example of a service for many tenants."""

from __future__ import annotations
import importlib.util
from pathlib import Path

import pytest

from websearch_core.flow import Response

pytest.importorskip(
    "fastapi",
    reason="FastAPI is not installed: pip install -r examples/service/requirements.in",
)

from fastapi.testclient import TestClient

APP = Path(__file__).resolve().parents[2] / "examples" / "service" / "app.py"
ANN, BOB, EVE = (f"a-token-of-{name}-0123456789" for name in ("ann", "bob", "eve"))
BODY = b'{"results": [{"url": "https://docs.sea.example/", "title": "Tides", "content": "High at noon", "score": 1}]}'


@pytest.fixture
def example(monkeypatch):
    async def answer(_, request):
        sent.append(request.headers["Authorization"])
        return Response(status=200, url=request.url, headers={}, content=BODY)

    sent: list[str] = []
    monkeypatch.setattr("websearch_core._net.sender.Sender.asend", answer)
    spec = importlib.util.spec_from_file_location("service_app", APP)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(importlib.import_module("sys").modules, "service_app", module)
    spec.loader.exec_module(module)
    module.sent = sent
    return module


@pytest.mark.enable_socket  # the client talks to the app over a socket pair
def test_each_tenant_has_a_key_a_policy_and_a_budget(example):
    tenants = {
        ANN: example.Tenant("ann", "ann-key", budget="2 calls"),
        BOB: example.Tenant("bob", "bob-key", allowed_domains=["python.org"]),
    }

    def ask(path, token):
        return client.get(path, headers={"Authorization": f"Bearer {token}"})

    with TestClient(example.make_app(tenants)) as client:
        assert client.get("/search?q=tides").status_code == 401
        assert ask("/search?q=tides", EVE).status_code == 401
        assert [ask("/search?q=tides", ANN).status_code for _ in range(3)] == [
            200,
            200,
            402,
        ]
        assert ask("/search?q=tides", ANN).json()["error"].startswith("the budget")
        assert ask("/search?q=tides", BOB).json() == []  # another domain
        assert ask("/read?url=https://docs.sea.example/", BOB).status_code == 403
        assert ask("/search?q=tides&limit=-1", BOB).status_code == 422
    assert example.sent == ["Bearer ann-key"] * 2 + ["Bearer bob-key"]
    assert "ann-key" not in repr(tenants)


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer "},
        {"Authorization": f"Bearer {EVE}"},
        {"Authorization": f"Bearer {ANN[:-1]}"},
        {"Authorization": f"Bearer {ANN} "},
        {"Authorization": ANN},
        {"Authorization": f"Basic {ANN}"},
        {"Authorization": "Bearer tok\u00e9n".encode()},
    ],
    ids=str,
)
def test_no_path_answers_without_the_token_of_a_tenant(example, headers):
    app = example.make_app({ANN: example.Tenant("ann", "ann-key")})

    @app.get("/added-later")
    async def add() -> str:
        return "secret"

    paths = {route.path for route in app.routes} | {"/docs", "/redoc", "/openapi.json"}
    assert {"/search", "/read", "/added-later"} <= paths
    with TestClient(app) as client:
        for path in paths:
            answer = client.get(
                f"{path}?q=tides&url=https://docs.sea.example/", headers=headers
            )
            assert answer.status_code == (
                401 if path in {"/search", "/read", "/added-later"} else 404
            ), path
    assert example.sent == []


@pytest.mark.parametrize("token", ["", " ", "short", "x" * 15])
def test_a_token_that_can_be_guessed_is_refused_at_the_start(example, token):
    with pytest.raises(
        ValueError,
        match="the token of ann has fewer than 16 characters: .*token_urlsafe",
    ):
        example.make_app({token: example.Tenant("ann", "ann-key")})


def test_the_tenants_of_the_example_are_ready(example):
    assert {
        tenant.web.provider.name
        for tenant in example.load_tenants(APP.with_name("tenants.json")).values()
    } == {"tavily"}
