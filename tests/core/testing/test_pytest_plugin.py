"""The fixtures `fake_web` and `cassette`, in pytest processes of their own."""

from __future__ import annotations
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from websearch_core.testing import SECRET, FakeWeb
from websearch_core.testing._cassettes import Scrubber

CORE = Path(__file__).resolve().parents[3] / "core"
SEARCH = """
from websearch_core import WebSearch

def test_tides(cassette):
    web = WebSearch("brave", api_key={key!r}, base_url={url!r}, internal=[{url!r}], retry=1)
    assert [result.title for result in web.search("tide tables").results] == ["Tide tables [key]"]
    assert web.read({url!r} + "/tides?token=hush", max_length=50).content == "High water at Ellersund at noon."
"""


def run_pytest(folder, *options):
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "pytest_websearch",
        *options,
    ]
    # the plugins of others take seconds to load
    alone = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        command, cwd=folder, env=alone, capture_output=True, text=True, timeout=600
    )


@pytest.mark.repository
def test_the_entry_point_of_the_plugin_is_its_module():
    project = tomllib.loads((CORE / "pyproject.toml").read_text("utf-8"))

    assert project["project"]["entry-points"]["pytest11"] == {
        "pytest_websearch": "pytest_websearch"
    }
    assert (
        "src/pytest_websearch.py"
        in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    )


def test_loading_the_plugin_loads_neither_the_core_nor_vcrpy(tmp_path):
    (tmp_path / "test_loaded.py").write_text(
        "import sys\ndef test_loaded(): assert not {'websearch_core', 'pydantic', 'httpx', 'vcr'} & set(sys.modules)\n"
    )
    done = run_pytest(tmp_path)

    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_fake_web_is_empty_and_takes_the_place_of_every_provider(fake_web):
    from websearch_core import WebSearch

    assert isinstance(fake_web, FakeWeb)
    fake_web.results = [{"url": "https://sea.example/kelp"}]
    assert (
        WebSearch("brave").search("kelp", time_range="week").results[0].provider
        == "fake"
    )
    assert fake_web.searches[0].time_range == "week"


@pytest.mark.repository
def test_the_example_of_a_cassette_replays_without_a_key(tmp_path, monkeypatch):
    page = (CORE.parent / "docs/testing.md").read_text("utf-8")
    (example,) = [
        block.split("```")[0]
        for block in page.split("```python\n")
        if "(cassette)" in block
    ]
    (tmp_path / "test_docs.py").write_text(example)
    cassette = tmp_path / "cassettes" / "test_docs" / "test_tides.yaml"
    cassette.parent.mkdir(parents=True)
    url = "https://api.search.brave.com/res/v1/web/search?q=tide+tables&count=5&result_filter=web&text_decorations=false"
    body = '{"type": "search", "web": {"results": [{"title": "Tides", "url": "https://sea.example/tides"}]}}'
    response = {
        "status": {"code": 200, "message": "OK"},
        "headers": {},
        "body": {"string": body},
    }
    request = {"method": "GET", "uri": url, "headers": {}, "body": ""}
    cassette.write_text(
        yaml.safe_dump(
            {"version": 1, "interactions": [{"request": request, "response": response}]}
        )
    )
    monkeypatch.delenv("BRAVE_API_KEY", raising=False)

    done = run_pytest(tmp_path)
    assert "1 passed" in done.stdout, done.stdout


@pytest.mark.apart
@pytest.mark.enable_socket
def test_a_cassette_is_recorded_without_keys_and_replayed_without_a_server(
    tmp_path, server, http
):
    hit = {"title": f"Tide tables {SECRET}", "url": f"{server.url}/tides"}
    server.answers["/web/search"] = http(
        {"type": "search", "web": {"results": [hit]}},
        "200 OK",
        "Set-Cookie: session=hush",
        f"X-Echo: {SECRET}",
    )
    server.answers["/tides"] = http(
        "<p>High water at Ellersund at noon.", "200 OK", "Content-Type: text/html"
    )
    (tmp_path / "test_sea.py").write_text(SEARCH.format(key=SECRET, url=server.url))

    assert "there is no cassette" in run_pytest(tmp_path).stdout
    recorded = run_pytest(tmp_path, "--websearch-record=once")
    assert "1 passed" in recorded.stdout, recorded.stdout
    text = (tmp_path / "cassettes" / "test_sea" / "test_tides.yaml").read_text("utf-8")
    requests = len(server.requests)
    server.close()
    (tmp_path / "test_sea.py").write_text(
        SEARCH.format(key="another-key-of-a-test", url=server.url)
    )
    replayed = run_pytest(tmp_path)
    assert "1 passed" in replayed.stdout, replayed.stdout

    assert requests == len(server.requests) == 2
    assert not [
        word
        for word in (SECRET, "hush", "User-Agent", "user-agent", "Echo")
        if word in text
    ]
    headers = [
        set(exchange["response"]["headers"])
        for exchange in yaml.safe_load(text)["interactions"]
    ]
    assert headers == [{"content-type"}, {"content-type"}]


class Request:
    """What vcrpy passes to a filter."""

    def __init__(self, uri, headers, body=b""):
        self.uri, self.headers, self.body = uri, headers, body


def test_keys_are_removed_from_urls_bodies_and_what_the_server_repeats():
    scrubber = Scrubber()
    request = scrubber.scrub_request(
        Request(
            "https://api.example/search?q=kelp&api_key=hush-in-the-url",
            {
                "Authorization": "Bearer hush-in-a-header",
                "Content-Type": "application/json",
                "Cookie": "id=7",
            },
            b'{"query": "kelp", "max_tokens": 5, "auth": {"api_key": "hush-in-the-body"}}',
        )
    )
    response = scrubber.scrub_response(
        {
            "status": {"code": 200},
            "headers": {
                "Retry-After": ["7"],
                "Set-Cookie": ["id=7"],
                "Location": ["/?key=hush-in-the-url"],
            },
            "body": {
                "string": b"hush-in-a-header hush-in-the-url hush-in-the-body \xff"
            },
        }
    )

    assert request.uri == "https://api.example/search?q=kelp"
    assert request.headers == {"Content-Type": "application/json"}
    assert (
        request.body
        == b'{"query": "kelp", "max_tokens": 5, "auth": {"api_key": "REDACTED"}}'
    )
    assert response["headers"] == {"Retry-After": ["7"], "Location": ["/?key=[key]"]}
    assert response["body"]["string"] == b"[key] [key] [key] \xff"


@pytest.mark.parametrize("body", [b"", b"no JSON", b'["kelp"]', '{"query": "kelp"}'])
def test_what_holds_no_key_stays_as_it_is(body):
    request = Scrubber().scrub_request(
        Request(
            "https://api.example/search?q=a+b",
            {"content-type": "application/json"},
            body,
        )
    )

    assert request.body == body
    assert request.uri == "https://api.example/search?q=a+b"
