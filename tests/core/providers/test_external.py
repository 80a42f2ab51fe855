"""A service that is declared in settings, and nowhere in code."""

from __future__ import annotations
import copy
import json
import pickle

import pytest

from websearch_core import WebSearch
from websearch_core.errors import (
    AuthenticationError,
    ConfigurationError,
    UnsupportedOption,
    WebSearchError,
)
from websearch_core.flow import Response
from websearch_core.layers import leaves
from websearch_core.models import SearchQuery
from websearch_core.providers import get_all
from websearch_core.providers.external import External
from websearch_core.settings import Settings
from websearch_core.testing import SECRET, play, reply

URL = "https://search.example/api"
JSON = {"content-type": "application/json"}


def ask(query="kelp", options=(), **declared):
    return next(
        External(base_url=URL, **declared).search(
            SearchQuery.of(query, **dict(options))
        )
    )


def test_the_plainest_declaration_is_a_url():
    request = ask()

    assert (request.method, request.url, request.params) == ("GET", URL, {"q": "kelp"})
    assert request.headers == {"Accept": "application/json"}
    found = play(
        External(base_url=URL).search(SearchQuery.of("kelp")),
        reply({"results": [{"title": "Kelp", "url": "https://a.example"}]}),
    ).result
    assert [(one.title, one.url) for one in found.results] == [
        ("Kelp", "https://a.example")
    ]


@pytest.mark.parametrize(
    ("declared", "header", "in_url"),
    [
        ({}, {"Authorization": f"Bearer {SECRET}"}, {}),
        ({"key_header": "X-Api-Key"}, {"X-Api-Key": SECRET}, {}),
        ({"key_parameter": "token"}, {}, {"token": SECRET}),
    ],
)
def test_the_key_goes_where_the_declaration_says(declared, header, in_url):
    request = ask(api_key=SECRET, **declared)

    assert request.headers == {"Accept": "application/json", **header}
    assert request.secret_params == in_url
    assert SECRET not in repr(request)


def test_parameters_have_the_names_of_the_service_in_a_url():
    names = {
        "query": "text",
        "limit": "n",
        "page": "p",
        "allowed_domains": "sites",
        "images": "pictures",
    }
    options = {
        "page": 3,
        "allowed_domains": ["a.org", "b.org"],
        "images": True,
        "limit": 4,
    }
    request = ask(
        options=options.items(), parameters=names, constants={"index": 7, "safe": False}
    )

    assert request.params == {
        "index": "7", "safe": "false", "text": "kelp", "n": "4", "p": "3", "sites": "a.org,b.org", "pictures": "true",
    }  # fmt: skip


def test_parameters_may_be_inside_objects_of_a_body_and_the_declaration_stays_as_it_is():
    constants = {"request": {"index": "docs"}}
    names = {
        "query": "request.text",
        "after": "request.from.day",
        "allowed_domains": "sites",
    }
    options = {
        "after": "2026-01-02",
        "allowed_domains": ["a.org"],
        "extra": {"debug": 1},
    }
    request = ask(
        options=options.items(), method="POST", parameters=names, constants=constants
    )

    assert request.json == {
        "request": {"index": "docs", "text": "kelp", "from": {"day": "2026-01-02"}}, "sites": ["a.org"], "debug": 1,
    }  # fmt: skip
    assert constants == {"request": {"index": "docs"}}


def test_options_that_are_not_declared_are_refused():
    with pytest.raises(UnsupportedOption, match="language"):
        ask(options={"language": "en"}.items())
    assert External(
        base_url=URL, parameters={"query": "q", "language": "l", "limit": "n"}
    ).options == {"language"}


@pytest.mark.parametrize(
    ("declared", "problem"),
    [
        ({"base_url": "search.example"}, "absolute http"),
        ({"parameters": {"limit": "n"}}, "give the name of the"),
        (
            {"parameters": {"query": "q", "lang": "l"}},
            "lang: not an option of a search",
        ),
        ({"parameters": {"query": "a..b"}}, "parameters"),
        ({"results": "data[0].items .x"}, "results"),
        ({"method": "PUT"}, "method"),
        (
            {"key_header": "X-Colour"},
            "must be Authorization, or have key, token or secret in its name",
        ),
        ({"key_header": "X-Key\nHost"}, "must be Authorization"),
        ({"links": "x"}, "links"),
        (
            {"results": "data..items"},
            "names with dots between them, such as data.items",
        ),
        ({"parameters": {"query": ""}}, "parameters.query"),
        ({"parameters": {"query": "q", "language": "q"}}, "q would be sent twice"),
        (
            {"parameters": {"query": "a.b", "limit": "a"}, "method": "POST"},
            "a would be sent twice",
        ),
        (
            {"parameters": {"query": "token"}, "key_parameter": "token"},
            "token would be sent twice",
        ),
    ],
)
def test_a_wrong_declaration_is_an_error_that_says_where(declared, problem):
    with pytest.raises(ConfigurationError, match="external") as caught:
        External(**{"base_url": URL, **declared})

    assert problem in str(caught.value)


def test_names_of_a_url_may_have_dots():
    assert ask(parameters={"query": "a", "limit": "a.b"}).params == {
        "a": "kelp",
        "a.b": "5",
    }


@pytest.mark.parametrize(
    "url",
    [
        f"{URL}?key={SECRET}",
        f"https://me:{SECRET}@search.example/",
        f"{URL}#{SECRET}",
        f"{URL}?{SECRET}",
    ],
)
def test_a_key_in_the_url_is_refused_without_showing_it(url):
    with pytest.raises(ConfigurationError, match="base_url") as caught:
        External(base_url=url)

    assert SECRET not in str(caught.value)
    assert ("a key in api_key with key_parameter" in str(caught.value)) == ("?" in url)


def answer(body, **declared):
    response = body if isinstance(body, Response) else reply(body)
    return play(
        External(base_url=URL, **declared).search(SearchQuery.of("kelp")), response
    ).result


@pytest.mark.parametrize(
    ("body", "declared", "problem"),
    [
        ([{"title": "Kelp", "url": "https://a.example"}], {}, "its response is a list, so results has to be empty"),
        ({"results": [{"title": "Kelp", "href": "https://a.example"}]}, {}, "no result has a URL at url"),
        ({"results": [1, None, "kelp"]}, {}, "no result has a URL at url"),
        ({"results": [{"url": {"url": "x"}}]}, {"url": "page.link"}, "no result has a URL at page.link"),
        ({"results": {"items": []}}, {}, "the response has an unexpected format"),
        (b"<h1>Log in</h1>", {}, "not JSON but text/html"),
        (Response(status=200, headers=JSON, content=b"[" * 100_000), {}, "broken JSON"),
        (Response(status=200, headers=JSON, content=b"[" * 100_000), {"results": ""}, "broken JSON"),
        (Response(status=200, headers=JSON, content=b'{"results": [', truncated=True), {}, "too large"),
        (Response(status=302, headers={"location": "http://169.254.169.254/"}, content=b""), {}, "302 Found"),
    ],
)  # fmt: skip
def test_an_answer_that_the_declaration_does_not_fit_is_an_error_that_says_where(
    body, declared, problem
):
    with pytest.raises(WebSearchError, match="external search failed") as caught:
        answer(body, **declared)

    assert problem in str(caught.value)


@pytest.mark.parametrize(
    "body", [{}, {"data": {}}, {"data": {"items": None}}, {"date": {"items": []}}]
)
def test_an_answer_without_a_list_is_empty_and_its_note_names_the_path(body):
    found = answer(body, results="data.items")

    assert (found.results, found.notes) == (
        (),
        ("external's answer has no list at data.items: is it elsewhere?",),
    )
    assert answer([], results="").notes == answer({"results": []}).notes == ()


def test_a_key_that_the_service_repeats_is_not_shown():
    request = ask(api_key=SECRET, key_parameter="token")
    said = json.dumps({"error": f"bad token in {request.url}?token={SECRET}"}).encode()

    with pytest.raises(AuthenticationError) as caught:
        play(External(base_url=URL, api_key=SECRET, key_parameter="token").search(SearchQuery.of("kelp")),
             Response(status=401, headers={}, content=said))  # fmt: skip
    assert SECRET not in repr(request) + str(caught.value)


def test_it_can_be_copied_compared_and_pickled():
    one = External(base_url=URL, parameters={"query": "q", "page": "p"})
    for other in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert other == one
        assert other.options == {"page"}
        assert hash(other) == hash(one)


FILE = """
provider = "external"
[providers.external]
base_url = "https://search.example/api"
method = "POST"
results = "data.hits"
[providers.external.parameters]
query = "text"
"""


def test_a_file_that_the_user_chose_declares_a_service(tmp_path, monkeypatch):
    file = tmp_path / "mine.toml"
    file.write_text(FILE, "utf-8")
    monkeypatch.setenv("WEB_SEARCH_CONFIG", str(file))
    web = WebSearch()

    assert web.provider.name == "external"
    (info,) = [one for one in get_all(Settings.load()) if one.name == "external"]
    assert info.configured
    file.write_text(FILE.replace("text", "t..t"), "utf-8")
    with pytest.raises(ConfigurationError, match=r"mine\.toml, line \d+: .*parameters"):
        WebSearch()


@pytest.mark.parametrize(
    "line",
    [
        'base_url = "https://evil.example"',
        'results = "x"',
        'api_key = "k"',
        "constants = {a=1}",
    ],
)
def test_a_file_that_was_merely_found_declares_nothing(line, tmp_path, monkeypatch):
    (tmp_path / "websearch.toml").write_text(f"[providers.external]\n{line}\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match="only found in the working directory"):
        WebSearch("external")


def test_a_file_that_the_user_chose_may_name_a_server_of_a_private_network(
    tmp_path, monkeypatch
):
    file = tmp_path / "mine.toml"
    file.write_text(
        FILE.replace("https://search.example", "http://10.0.0.5:8080"), "utf-8"
    )
    monkeypatch.setenv("WEB_SEARCH_CONFIG", str(file))

    (external,) = leaves(WebSearch().provider)
    assert (
        next(external.search(SearchQuery.of("kelp"))).url == "http://10.0.0.5:8080/api"
    )


def test_a_key_is_not_sent_unencrypted_and_what_is_missing_is_named():
    with pytest.raises(ConfigurationError, match="unencrypted"):
        WebSearch(External(base_url="http://search.example/api", api_key=SECRET))
    with pytest.raises(ConfigurationError, match="EXTERNAL_BASE_URL"):
        WebSearch("external")
