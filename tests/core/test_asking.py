"""Who is asking: credentials, a proxy and a contact, from arguments and trusted
settings.
"""

from __future__ import annotations
import asyncio
import json
import pickle

import pytest
from pydantic import SecretStr

from websearch_core import Credentials, Http, WebSearch
from websearch_core.errors import AccessDenied, ConfigurationError, MissingKey
from websearch_core.index import Index
from websearch_core.providers.crossref import Crossref
from websearch_core.providers.wikipedia import Wikipedia
from websearch_core.settings import Settings

SECRET = "sesame-0123456789"
PROXY = f"http://ann:{SECRET}@proxy.corp:3128"
WIKI = "https://wiki.corp"
TEXT = "<p>" + "High water at noon. " * 20


def test_arguments_and_settings_say_the_same_and_show_no_secret(monkeypatch):
    table = {
        "proxy": PROXY, "resolve": "here", "contact": "ada@bot.example",
        "credentials": {WIKI: {"bearer": SECRET, "cookies": {"sid": "env:WIKI_SID"}}},
    }  # fmt: skip
    login = Credentials(bearer=SECRET, cookies={"sid": "env:WIKI_SID"})
    http = Http(
        proxy=PROXY,
        resolve="here",
        contact="ada@bot.example",
        credentials={WIKI: login},
    )
    settings = Settings.from_mapping({"http": table, "internal": [WIKI]})
    for web in (
        WebSearch("duckduckgo", http=http, internal=[WIKI]),
        WebSearch("duckduckgo", settings=settings),
    ):
        assert web._sender._contact == "mailto:ada@bot.example"
        assert (
            str(web._sender._proxies.find("https", "site.example", 443))
            == "proxy.corp:3128"
        )
        assert web._sender.credentials.find(f"{WIKI}/a") == login.with_owner(WIKI)
        shown = [
            repr(web.settings),
            str(web.settings.model_dump()),
            web.settings.model_dump_json(),
            repr(http),
        ]
        assert SECRET not in "".join(shown)
        for one in (web, web.settings, http, settings):
            assert SECRET.encode() not in pickle.dumps(one)


def test_a_pickle_has_the_proxy_unless_its_url_has_a_password():
    open_proxy, secret_proxy = (
        pickle.loads(
            pickle.dumps(
                WebSearch("duckduckgo", http=Http(proxy=proxy, resolve="here"))
            )
        )
        for proxy in ("http://proxy.corp:3128", SecretStr(PROXY))
    )

    place = open_proxy._sender._proxies.find("https", "site.example", 443)
    assert str(place) == "proxy.corp:3128"
    assert SECRET.encode() not in pickle.dumps(secret_proxy)
    with pytest.raises(MissingKey, match="http has no proxy: a pickle does not hold"):
        secret_proxy.search("kelp")


@pytest.mark.parametrize(
    ("http", "words"),
    [
        ({"proxy": PROXY}, "'here' resolves .* 'proxy' lets"),
        ({"proxy": f"ftp://{SECRET}", "resolve": "here"}, "must be a URL"),
        ({"resolve": "proxy"}, "is for a proxy"),
        ({"contact": "me"}, "a page about your program"),
        ({"contact": "https://bot.example/\r\nX-Evil: 1"}, "a page about your program"),
        (
            {"credentials": {WIKI: Credentials(bearer=SECRET)}},
            "add internal=\\['https://wiki.corp'\\]",
        ),
        ({"credentials": {WIKI: SECRET}}, "must be an instance of Credentials"),
    ],
)
def test_what_is_wrong_is_an_error_without_the_secret(http, words):
    with pytest.raises(ConfigurationError, match=words) as caught:
        WebSearch("duckduckgo", http=Http(**http))
    assert SECRET not in f"{caught.value} {caught.value.__cause__}"


@pytest.mark.parametrize(
    ("provider", "name"), [(Crossref, "mailto"), (Wikipedia, "contact")]
)
def test_a_contact_for_one_service_is_answered_with_the_line_for_all(
    provider, name, monkeypatch
):
    with pytest.raises(
        ConfigurationError,
        match=rf"{name}: not an option; did you mean WebSearch\(http=Http\(contact=",
    ):
        provider(**{name: "ann@bot.example"})
    monkeypatch.setenv(
        "WEB_SEARCH_PROVIDERS", json.dumps({provider.name: {name: "ann@bot.example"}})
    )
    with pytest.raises(
        ConfigurationError,
        match=rf"{name}: not an option; did you mean WebSearch\(http=Http\(contact=",
    ):
        WebSearch("duckduckgo")


@pytest.mark.parametrize("name", ["credentials", "proxy", "resolve", "contact"])
def test_a_file_that_was_merely_found_may_say_none_of_it(name, monkeypatch, tmp_path):
    value = (
        f'{{"{WIKI}" = {{bearer = "env:HOME"}}}}' if name == "credentials" else '"here"'
    )
    (tmp_path / "websearch.toml").write_text(f"[http]\n{name} = {value}\n")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ConfigurationError, match=f"http.{name}.* may not be set here"):
        WebSearch("duckduckgo")


def test_the_environment_may_say_the_contact_and_the_proxy(monkeypatch):
    monkeypatch.setenv("WEB_SEARCH_HTTP_CONTACT", "https://bot.example/about")
    monkeypatch.setenv("WEB_SEARCH_HTTP_PROXY", PROXY)
    monkeypatch.setenv("WEB_SEARCH_HTTP_RESOLVE", "proxy")
    sender = WebSearch("duckduckgo")._sender

    assert sender._contact == "https://bot.example/about"
    assert sender._proxies.resolve == "proxy"


@pytest.mark.enable_socket
def test_a_page_that_is_kept_is_for_those_who_log_in_alike(server, http, tmp_path):
    server.answers["/"] = http(
        f"<html><body>{TEXT}",
        "200 OK",
        "Content-Type: text/html",
        "Cache-Control: max-age=999",
    )
    cache = str(tmp_path / "answers.db")

    def read(**login):
        given = (
            Http(credentials={server.url: Credentials(**login)}) if login else Http()
        )
        with WebSearch(
            "duckduckgo", internal=[server.url], cache=cache, http=given
        ) as web:
            before = len(server.requests)
            web.read(f"{server.url}/")
            return len(server.requests) == before

    assert [read(bearer=SECRET), read(bearer=SECRET), read(bearer=lambda: SECRET)] == [
        False,
        True,
        True,
    ]
    assert [read(), read(bearer=f"{SECRET}-of-bob"), read(cookies={"sid": SECRET})] == [
        False
    ] * 3
    assert read()


@pytest.mark.enable_socket
def test_a_crawl_logs_in_at_its_site_too(server, http, tmp_path):
    def page(links=""):
        return http(f"<html><body>{TEXT}{links}", "200 OK", "Content-Type: text/html")

    server.answers |= {
        "/": page('<a href="/b">more</a>'),
        "/b": page(),
        "/robots.txt": http(b"", "404 Not Found"),
    }
    login = {server.url: Credentials(cookies={"sid": SECRET})}
    with WebSearch(
        "duckduckgo", internal=[server.url], http=Http(credentials=login)
    ) as web:
        report = Index(tmp_path / "index.db").add_pages(
            web.crawl(f"{server.url}/", sitemaps=False)
        )

    assert report.added == 2
    assert {
        path: headers["cookie"] for path, headers, _ in server.requests
    } == dict.fromkeys(("/robots.txt", "/", "/b"), f"sid={SECRET}")
    assert SECRET.encode() not in (tmp_path / "index.db").read_bytes()


LOGIN_FORM = b"<form><label>Name<input name=n></label><input type=password name=p><button>Sign in</button></form>"


@pytest.mark.enable_socket
@pytest.mark.parametrize("kind", ["form", "elsewhere"])
def test_a_page_that_asks_for_a_login_is_access_denied(server, http, kind):
    form = (
        LOGIN_FORM if kind == "form" else b"<p>Continue with your company account</p>"
    )
    server.answers["/login"] = http(form, "200 OK", "Content-Type: text/html")
    port = server.port
    server.answers["/a"] = http(
        b"", "302 Found", f"Location: http://localhost:{port}/login?next=/a"
    )
    with WebSearch("duckduckgo", internal=["127.0.0.0/8", "::1/128"]) as web:
        for read in (web.read, lambda url: asyncio.run(web.aread(url))):
            with pytest.raises(AccessDenied, match="the page asks for a login"):
                read(f"{server.url}/a")


@pytest.mark.enable_socket
def test_a_page_with_a_login_beside_its_text_is_read(server, http):
    server.answers["/login"] = http(
        LOGIN_FORM + TEXT.encode(), "200 OK", "Content-Type: text/html"
    )
    with WebSearch("duckduckgo", internal=[server.url]) as web:
        assert "High water" in web.read(f"{server.url}/login").content
