"""A name of elsewhere is answered with the line to write, and that line is accepted
where it is to be written.
"""

from __future__ import annotations
import logging
import re
import ssl
import tomllib
from pathlib import Path

import httpx
import pytest

from websearch_core import Credentials, Http, Timeout, WebSearch
from websearch_core.errors import ConfigurationError, InvalidOption
from websearch_core.layers import Throttle
from websearch_core.providers import SearXNG, Tavily
from websearch_core.settings import Settings
from websearch_core.settings._merge import _warn_of_variable
from websearch_core.settings._names import FOREIGN_NAMES, find_line
from websearch_core.testing import FakeWeb
from websearch_core.tools import WebTools, split_arguments

ONLY_ARGUMENTS = {
    "client",
    "http_client",
    "async_client",
    "http_async_client",
    "verify",
    "verify_ssl",
}
# which are answered with a sentence, and only as arguments
ADVICE = {
    "api_wrapper",
    "wrapper",
    "get_full_documents",
    "include_generated_answer",
    "text_splitter",
}
VALUES = {
    "limit": "3", "allowed_domains": '["a.example"]', "blocked_domains": '["a.example"]', "country": '"US"',
    "search_depth": '"advanced"', "max_length": "9", "extra": "{}", "topic": '"news"', "timeout": "3",
}  # fmt: skip


def put_value(line: str) -> str:
    """Return *line* with a value in the place of dots."""
    name = re.findall(r"\w+", line.partition("...")[0])[-1]
    return line.replace("...", VALUES.get(name, ""))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("include_domains", "allowed_domains=..."),
        ("exclude_domains", "blocked_domains=..."),
        ("k", 'search_options={"limit": ...}'),
        ("top_k", 'search_options={"limit": ...}'),
        ("max_results", 'search_options={"limit": ...}'),
        ("region", 'search_options={"country": ...}'),
        ("max_length", 'read_options={"max_length": ...}'),
        ("find", "read(url, find=...)"),
        ("read_top", "search(query, read_top=...)"),
        ("search_depth", 'Settings.load(providers={"tavily": {"search_depth": ...}})'),
        ("http_client", "WebSearch(http=Http(client=client)), which alone takes it"),
        ("verify", "WebSearch(http=Http(verify=context)), which alone takes it"),
        ("rate_limiter", "throttle=limiter"),
    ],
)
def test_settings_answer_with_what_settings_take(name, line):
    with pytest.raises(ConfigurationError) as caught:
        Settings(**{name: "SECRET"})
    assert str(caught.value).endswith(f"{name}: write {line}")


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ('include_domains = ["a.com"]', "allowed_domains = ..."),
        ("k = 3", "search_options.limit = ..."),
        ('search_depth = "advanced"', "providers.tavily.search_depth = ..."),
        ('region = "us"', "search_options.country = ..."),
        ("rate_limiter = 3", "throttle = 0.5"),
        ("requests_per_second = 3", "throttle = 2"),
        (
            "http_client = 3",
            "WebSearch(http=Http(client=client)), which alone takes it",
        ),
        (
            "http.client = 3",
            "WebSearch(http=Http(client=client)), which alone takes it",
        ),
        ("verify = true", "WebSearch(http=Http(verify=context)), which alone takes it"),
        (
            "headers = {a = 1}",
            'http.credentials = {"https://wiki.corp" = {headers = {"X-Key" = "env:KEY"}}}',
        ),
        ("search_options.k = 3", "search_options.limit = ..."),
        (
            'search_options.include_domains = ["a.com"]',
            "search_options.allowed_domains = ...",
        ),
        ("search_options.search_depth = 3", "providers.tavily.search_depth = ..."),
        ("search_options.timeout = 3", "timeout = ..."),
        ('read_options.topic = "news"', "search_options.topic = ..."),
        (
            'provider = "brave,linkup"\ninclude_answer = true',
            "providers.linkup.include_answer = ...",
        ),
    ],
)
def test_a_file_is_answered_with_what_files_take(entry, line):
    Path("websearch.toml").write_text(entry)
    with pytest.raises(ConfigurationError) as caught:
        Settings.load()
    assert str(caught.value).endswith(f": write {line}")


@pytest.mark.parametrize(
    "name",
    [
        *sorted(FOREIGN_NAMES.keys() - ONLY_ARGUMENTS - ADVICE),
        "include_domains",
        "k",
        "region",
    ],
)
def test_every_line_for_a_file_is_accepted_by_a_file(name):
    lines = put_value(find_line(name, Settings.model_fields, "file")).replace(
        ", and ", "\n"
    )
    assert tomllib.loads(lines)
    Settings.from_mapping(tomllib.loads(lines))


@pytest.mark.parametrize("name", sorted(ONLY_ARGUMENTS | ADVICE))
def test_no_line_is_for_a_file_that_takes_none(name):
    assert find_line(name, Settings.model_fields, "file").startswith(
        "WebSearch(" if name in ONLY_ARGUMENTS else ""
    )
    assert find_line(name, [], "argument")


@pytest.mark.parametrize(
    "name", [*sorted(FOREIGN_NAMES.keys() - ADVICE), "include_domains", "k", "region"]
)
def test_every_line_for_arguments_is_accepted_by_the_web_search(monkeypatch, name):
    monkeypatch.setenv("TAVILY_API_KEY", "SECRET")
    client = httpx.AsyncClient() if "async" in name else httpx.Client()
    known = {
        "Http": Http, "Timeout": Timeout, "Credentials": Credentials, "Throttle": Throttle, "Tavily": Tavily,
        "SearXNG": SearXNG, "client": client, "context": ssl.create_default_context(), "limiter": 0.5,
    }  # fmt: skip
    with pytest.raises(ConfigurationError) as caught:
        WebSearch("ddg", **{name: "SECRET"})
    line = put_value(str(caught.value).partition(": write ")[2].partition(", or ")[0])
    WebSearch(
        **{
            "provider": FakeWeb(),
            "internal": ["https://wiki.corp"],
            **eval(f"dict({line})", known),
        }
    )


@pytest.mark.parametrize(
    ("variable", "answer"),
    [
        ("INCLUDE_DOMAINS", "write WEB_SEARCH_ALLOWED_DOMAINS=..."),
        ("RATE_LIMITER", "write WEB_SEARCH_THROTTLE=0.5"),
        ("COMMENT", "did you mean WEB_SEARCH_COMMENTS?"),
        ("MAX_RESULTS", "write search_options.limit = ... in a settings file"),
        (
            "SEARCH_DEPTH",
            "write providers.tavily.search_depth = ... in a settings file",
        ),
    ],
)
def test_a_variable_is_answered_with_the_variable_or_the_entry(
    variable, answer, monkeypatch, caplog
):
    _warn_of_variable.cache_clear()
    monkeypatch.setenv(f"WEB_SEARCH_{variable}", "SECRET")
    with caplog.at_level(logging.WARNING):
        Settings.load()
    assert caplog.messages == [
        f"environment WEB_SEARCH_{variable}: not a setting; {answer}"
    ]


@pytest.mark.parametrize("name", ["inclde_domains", "include_domain"])
def test_a_misspelt_name_of_another_library_never_becomes_its_opposite(name):
    with pytest.raises(
        ConfigurationError, match="not an option; did you mean allowed_domains?"
    ):
        Settings(**{name: ["a.example"]})


@pytest.mark.parametrize("name", ["limit", "k", "max_results"])
def test_a_tool_that_opens_pages_has_no_number_of_results_among_its_options(name):
    with pytest.raises(
        ConfigurationError,
        match=f"^{name}: give it to the tool that searches; this one opens pages",
    ):
        split_arguments(
            {"search_options": {name: 3}}, ["search_options", "read_options"]
        )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            {"search_options": {"k": 3}},
            "search_options: k: write limit=3, beside search_options",
        ),
        (
            {"search_options": {"max_results": 3}},
            "search_options: max_results: write limit=3, beside search_options",
        ),
        (
            {"search_options": {"max_length": 3}},
            'write read_options={"max_length": ...}, beside search_options',
        ),
        (
            {"read_options": {"timeout": 3}},
            "read_options: timeout: not an option; write timeout=..., beside read_op",
        ),
        (
            {"read_options": {"search_depth": 3}},
            r"write provider=Tavily(search_depth=...), beside read_options",
        ),
    ],
)
def test_options_of_a_tool_are_answered_with_what_it_takes(options, says):
    with pytest.raises(InvalidOption, match=re.escape(says)):
        WebTools(provider=FakeWeb(), **options)
