"""The example of a service for many tenants."""

from __future__ import annotations
import importlib.util
from pathlib import Path

import pytest

from websearch_core.flow import Response

pytest.importorskip("fastapi", reason="FastAPI is not installed: pip install -r examples/service/requirements.txt")

from fastapi.testclient import TestClient

APP = Path(__file__).resolve().parents[2] / "examples" / "service" / "app.py"
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
        "ann-token": example.Tenant("ann", "ann-key", budget="2 calls"),
        "bob-token": example.Tenant("bob", "bob-key", allowed_domains=["python.org"]),
    }

    def ask(path, token):
        return client.get(path, headers={"Authorization": f"Bearer {token}"})

    with TestClient(example.make_app(tenants)) as client:
        assert client.get("/search?q=tides").status_code == 401
        assert ask("/search?q=tides", "eve-token").status_code == 401
        assert [ask("/search?q=tides", "ann-token").status_code for _ in range(3)] == [200, 200, 402]
        assert ask("/search?q=tides", "ann-token").json()["error"].startswith("the budget")
        assert ask("/search?q=tides", "bob-token").json() == []  # another domain
        assert ask("/read?url=https://docs.sea.example/", "bob-token").status_code == 403
        assert ask("/search?q=tides&limit=-1", "bob-token").status_code == 422
    assert example.sent == ["Bearer ann-key"] * 2 + ["Bearer bob-key"]
    assert "ann-key" not in repr(tenants)


def test_the_tenants_of_the_example_are_ready(example):
    assert {tenant.web.provider.name for tenant in example.load_tenants(APP.with_name("tenants.json")).values()} == {
        "tavily"
    }
