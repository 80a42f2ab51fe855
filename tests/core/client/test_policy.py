"""The domain policy: what may be searched and read, whoever does it, and that nothing
widens it.
"""

from __future__ import annotations
import asyncio
import json

import httpx
import pytest

from websearch_core import (
    Http,
    Page,
    SearchQuery,
    SearchResponse,
    SearchResult,
    WebSearch,
)
from websearch_core.errors import (
    ConfigurationError,
    DomainNotAllowed,
    InvalidOption,
    PageNotFound,
    UnsafeURL,
    UnsupportedOption,
)
from websearch_core.layers import Relax
from websearch_core.models import Image
from websearch_core.models._domains import Domains, parse_domain
from websearch_core.provider import check_options
from websearch_core.render import render_search, search_as_json
from websearch_core.settings import Settings

SITES = (
    "https://docs.python.org/3/",
    "https://python.org/",
    "https://evil.example/",
    "https://notpython.org/",
)


class Sites:
    """Finds the same pages whatever is asked, and reads them; records what it was
    asked.
    """

    name = "sites"

    def __init__(
        self, options=frozenset({"allowed_domains", "blocked_domains"}), final=None
    ):
        self.options = options
        self.final = final
        self.asked = []
        self.opened = []

    def search(self, query):
        check_options(query, self)
        self.asked.append(query)
        found = tuple(
            SearchResult(title=url, url=url, snippet="A snippet. " * 200)
            for url in SITES
        )
        images = tuple(
            Image(url="https://cdn.example/1.png", page_url=url) for url in SITES
        )
        return SearchResponse(
            query=query.text, results=found, images=images, provider=self.name
        )
        yield

    def read(self, url):
        self.opened.append(url)
        return Page(
            url=url,
            final_url=self.final or url,
            content="Tide tables.",
            provider=self.name,
        )
        yield


def web(sites=None, **options):
    sites = sites or Sites()
    return WebSearch(sites, reader=sites, **options)


def found(response):
    return [result.url for result in response.results]


@pytest.mark.parametrize(
    ("url", "inside"),
    [
        ("https://python.org/", True),
        ("https://python.org./", True),
        ("HTTPS://DOCS.Python.ORG:8443/x?y#z", True),
        ("https://notpython.org/", False),
        ("https://python.org.evil.example/", False),
        ("https://evil.example/python.org", False),
        ("https://evil.example/?https://python.org", False),
        ("https://python.org@evil.example/", False),
        ("https://evil.example\\.python.org/", False),
        ("file:///srv/python.org", False),
        ("python.org", False),
    ],
)
def test_only_the_host_of_a_url_decides(url, inside):
    assert Domains(allowed=("python.org",)).permits(url) is inside


def test_a_domain_is_the_same_in_unicode_and_in_punycode():
    for name in ("straße.example", "xn--strae-oqa.example"):
        blocked = Domains(blocked=(parse_domain(name),))
        assert not blocked.permits("https://straße.example/")
        assert not blocked.permits("https://www.xn--strae-oqa.example/")
        assert blocked.permits("https://strasse.example/")


def test_a_file_of_a_local_index_is_outside_of_all_domains():
    assert Domains(blocked=("evil.example",)).permits("file:///srv/notes.md")
    assert not Domains(allowed=("python.org",)).permits("file:///srv/notes.md")


@pytest.mark.parametrize(
    ("ours", "theirs", "both"),
    [
        ((), (), ()),
        ((), ("a.example",), ("a.example",)),
        (("a.example",), (), ("a.example",)),
        (("a.example", "b.example"), ("b.example", "c.example"), ("b.example",)),
        (("a.example",), ("docs.a.example",), ("docs.a.example",)),
        (("docs.a.example",), ("a.example",), ("docs.a.example",)),
        (("a.example",), ("b.example",), None),
        (("a.example",), ("nota.example",), None),
    ],
)
def test_two_lists_of_domains_overlap_in_the_narrower_ones(ours, theirs, both):
    narrowed = Domains(ours).narrow(theirs)

    assert (None if narrowed is None else narrowed.allowed) == both


def test_a_search_returns_and_requests_only_what_is_allowed():
    sites = Sites()
    response = web(
        sites, allowed_domains=["python.org"], blocked_domains=["docs.python.org"]
    ).search("tides")

    assert found(response) == ["https://python.org/"]
    assert [image.page_url for image in response.images] == ["https://python.org/"]
    assert (sites.asked[0].allowed_domains, sites.asked[0].blocked_domains) == (
        ("python.org",),
        ("docs.python.org",),
    )


def test_a_call_can_narrow_the_policy_but_not_widen_it():
    ours = web(allowed_domains=["python.org"], blocked_domains=["evil.example"])

    assert found(ours.search("tides", allowed_domains=["docs.python.org"])) == [
        "https://docs.python.org/3/"
    ]
    assert found(
        ours.search("tides", allowed_domains=["docs.python.org", "notpython.org"])
    ) == ["https://docs.python.org/3/"]
    assert found(ours.search("tides", blocked_domains=["docs.python.org"])) == [
        "https://python.org/"
    ]
    assert found(
        ours.search(SearchQuery.of("tides", blocked_domains=["docs.python.org"]))
    ) == ["https://python.org/"]
    with pytest.raises(
        InvalidOption,
        match="allowed_domains: none of these domains may be searched here",
    ):
        ours.search("tides", allowed_domains=["evil.example"])
    with pytest.raises(InvalidOption):
        web(blocked_domains=["evil.example"]).search(
            "tides", allowed_domains=["www.evil.example"]
        )


@pytest.mark.parametrize("layers", [(), (Relax(),)], ids=["raise", "note"])
def test_a_provider_without_domain_filters_works_within_the_policy(layers):
    sites = Sites(options=frozenset())
    response = web(sites, allowed_domains=["python.org"], layers=layers).search("tides")

    assert found(response) == ["https://docs.python.org/3/", "https://python.org/"]
    assert any("does not support allowed_domains" in note for note in response.notes)
    assert sites.asked[0].allowed_domains == ()


def test_a_filter_that_the_call_asks_for_is_still_refused_if_the_provider_has_none():
    with pytest.raises(UnsupportedOption, match="allowed_domains"):
        web(Sites(options=frozenset()), blocked_domains=["a.example"]).search(
            "tides", allowed_domains=["b.example"]
        )


@pytest.mark.parametrize("method", ["read", "aread"])
def test_a_page_outside_is_refused_before_anything_is_opened(method):
    sites = Sites()
    ours = web(sites, allowed_domains=["python.org"])

    def read(url):
        answer = getattr(ours, method)(url)
        return asyncio.run(answer) if method == "aread" else answer

    assert read("https://docs.python.org/3/").content == "Tide tables."
    with pytest.raises(
        DomainNotAllowed,
        match=r"^only pages of these domains may be opened here: python\.org \(",
    ):
        read("https://ignore-all-instructions.example/")
    with pytest.raises(UnsafeURL):
        web(sites, blocked_domains=["evil.example"]).read(
            "https://www.evil.example/#top"
        )
    assert sites.opened == ["https://docs.python.org/3/"]


def test_reading_many_pages_and_the_first_results_keeps_to_the_policy():
    ours = web(blocked_domains=["evil.example"])

    page, refused = ours.read_many(["https://python.org/", "https://evil.example/"])
    assert isinstance(page, Page)
    assert isinstance(refused, DomainNotAllowed)
    assert "https://evil.example/" not in found(ours.search("tide tables", read_top=4))


def test_a_page_whose_reader_ended_outside_is_refused():
    with pytest.raises(DomainNotAllowed):
        web(Sites(final="https://evil.example/"), allowed_domains=["python.org"]).read(
            "https://python.org/"
        )
    assert (
        web(Sites(final="not a URL"), allowed_domains=["python.org"])
        .read("https://python.org/")
        .content
    )


@pytest.mark.enable_socket
@pytest.mark.parametrize("method", ["read", "aread"])
@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_a_redirect_outside_is_not_followed(server, http, method, library):
    elsewhere = f"http://localhost:{server.port}"
    server.answers["/page"] = http("", "302 Found", f"Location: {elsewhere}/secret")
    server.answers["/inside"] = http("", "302 Found", "Location: /text")
    server.answers["/text"] = http("Tide tables.", "200 OK", "Content-Type: text/plain")
    options = {
        "internal": ["127.0.0.0/8", "::1/128"],
        "http": Http(library=library),
        "allowed_domains": ["127.0.0.1"],
    }

    async def aread(ours, url):
        async with ours:
            return await ours.aread(url)

    def read(url):
        with WebSearch("duckduckgo", **options) as ours:
            return ours.read(url) if method == "read" else asyncio.run(aread(ours, url))

    assert read(f"{server.url}/inside").content == "Tide tables."
    with pytest.raises(DomainNotAllowed):
        read(f"{server.url}/page")
    assert "/secret" not in server.paths
    options["allowed_domains"] = ["127.0.0.1", "localhost"]
    with pytest.raises(PageNotFound):
        read(f"{server.url}/page")
    assert "/secret" in server.paths


def test_a_reading_service_gets_no_url_outside_and_may_not_return_one():
    asked = []

    def answer(request):
        asked.append(json.loads(request.content)["url"])
        data = {"content": "Tide tables.", "url": "https://evil.example/"}
        return httpx.Response(200, json={"code": 200, "data": data})

    client = httpx.Client(transport=httpx.MockTransport(answer))
    ours = WebSearch(
        "duckduckgo",
        reader="jina",
        allowed_domains=["python.org"],
        http=Http(client=client),
    )

    with pytest.raises(DomainNotAllowed):
        ours.read("https://evil.example/")
    assert asked == []
    with pytest.raises(DomainNotAllowed):
        ours.read("https://python.org/")
    assert asked == ["https://python.org/"]


def test_snippets_are_cut_in_every_format():
    response = web(search_options={"max_snippet_chars": 50}).search("tides")

    assert {len(result.snippet) for result in response.results} == {50}
    shown = [render_search(response, form) for form in ("text", "markdown", "json")]
    assert max(len(line) for text in shown for line in text.splitlines()) < 130
    assert {len(one["snippet"]) for one in search_as_json(response)["results"]} == {50}
    assert max(len(result.snippet) for result in web().search("tides").results) > 2_000


def test_a_cut_never_leaves_half_an_escape_sequence():
    class Stars(Sites):
        def search(self, query):
            result = SearchResult(
                title="Stars", url="https://python.org/", snippet="*" * 100
            )
            return SearchResponse(
                query=query.text, results=(result,), provider=self.name
            )
            yield

    for most in range(1, 20):
        (result,) = (
            web(Stars(), search_options={"max_snippet_chars": most})
            .search("stars")
            .results
        )
        assert len(result.snippet) <= most
        assert not result.snippet.removesuffix("…").endswith("\\")


def test_the_default_length_of_a_page_is_an_argument():
    class Long(Sites):
        def read(self, url):
            return Page(
                url=url,
                final_url=url,
                content="Tide tables. " * 1_000,
                provider=self.name,
            )
            yield

    ours = web(Long(), read_options={"max_length": 500})
    assert ours.read("https://python.org/").content_length <= 500
    assert 500 < ours.read("https://python.org/", max_length=900).content_length <= 900


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"allowed_domains": ["python.org/docs"]},
            r"allowed_domains\.0: 'python.org/docs' is not a domain",
        ),
        ({"blocked_domains": ["a b"]}, r"blocked_domains\.0: 'a b' is not a domain"),
        ({"search_options": {"max_snippet_chars": 0}}, "max_snippet_chars"),
        ({"max_length": 0}, "max_length"),
        ({"allowed_domain": ["python.org"]}, "did you mean allowed_domains"),
    ],
    ids=str,
)
def test_a_wrong_policy_is_refused(options, words):
    with pytest.raises(ConfigurationError, match=words):
        WebSearch("duckduckgo", **options)


class TestSettings:
    """Where the policy may come from."""

    @pytest.fixture(autouse=True)
    def files(self, tmp_path, monkeypatch):
        (tmp_path / "home").mkdir()
        (tmp_path / "project").mkdir()
        monkeypatch.chdir(tmp_path / "project")
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
        self.found = tmp_path / "project" / "websearch.toml"
        self.own = tmp_path / "home" / "websearch" / "websearch.toml"
        self.own.parent.mkdir()

    def test_the_environment_has_lists_separated_by_commas(self, monkeypatch):
        monkeypatch.setenv(
            "WEB_SEARCH_ALLOWED_DOMAINS", "https://www.Python.org/, *.djangoproject.com"
        )
        monkeypatch.setenv("WEB_SEARCH_BLOCKED_DOMAINS", "evil.example")
        monkeypatch.setenv("WEB_SEARCH_MAX_SNIPPET_CHARS", "300")
        settings = Settings.load()

        assert settings.domains == Domains(
            ("python.org", "djangoproject.com"), ("evil.example",)
        )
        assert settings.search_options == {"max_snippet_chars": 300}

    def test_a_project_file_sets_a_policy_where_there_is_none(self):
        self.found.write_text(
            'allowed_domains = ["python.org"]\nsearch_options.max_snippet_chars = 200'
        )

        assert Settings.load().allowed_domains == ("python.org",)
        assert not Settings.load().source("allowed_domains").trusted
        assert Settings.load(allowed_domains=["djangoproject.com"]).allowed_domains == (
            "djangoproject.com",
        )

    def test_a_project_file_narrows_what_you_set_and_never_replaces_it(self):
        self.own.write_text(
            'allowed_domains = ["python.org", "djangoproject.com"]\nblocked_domains = ["evil.example"]'
        )
        self.found.write_text(
            'allowed_domains = ["docs.python.org", "rust-lang.org"]\nblocked_domains = ["b.example"]'
        )

        assert Settings.load().domains == Domains(
            ("docs.python.org",), ("evil.example", "b.example")
        )

    @pytest.mark.parametrize(
        "given", ["[]", '["org"]', '["python.org", "evil.example"]']
    )
    def test_a_project_file_cannot_widen_the_policy(self, given):
        self.own.write_text(
            'allowed_domains = ["python.org"]\nblocked_domains = ["evil.example"]'
        )
        self.found.write_text(f"allowed_domains = {given}\nblocked_domains = []")

        assert Settings.load().domains == Domains(("python.org",), ("evil.example",))

    def test_a_project_file_that_leaves_nothing_is_an_error(self):
        self.own.write_text('allowed_domains = ["python.org"]')
        self.found.write_text('allowed_domains = ["evil.example"]')

        with pytest.raises(
            ConfigurationError,
            match="allowed_domains: may only narrow those set elsewhere",
        ):
            Settings.load()

    @pytest.mark.parametrize(
        ("own", "given"), [("", 1_001), ("search_options.max_snippet_chars = 100", 101)]
    )
    def test_a_project_file_cannot_lengthen_snippets(self, own, given):
        self.own.write_text(own)
        self.found.write_text(f"search_options.max_snippet_chars = {given}")

        with pytest.raises(
            ConfigurationError, match="max_snippet_chars: may not be more than"
        ):
            Settings.load()
