"""What the tools of both frameworks share: the arguments, what the developer fixes, and
the limits of a run.
"""

from __future__ import annotations
import gc
import json
import logging
import pickle
import re
import threading

import httpx
import pytest
from pydantic import SecretStr, ValidationError

from websearch_core import Credentials, Http, SearchResponse, SearchResult, WebSearch
from websearch_core.errors import (
    BudgetExceeded,
    ConfigurationError,
    InvalidOption,
    MissingKey,
)
from websearch_core.models._domains import Domains
from websearch_core.settings import Settings
from websearch_core.tools import PageArguments, SearchArguments
from websearch_core.tools._fixed import FixedOptions
from websearch_core.tools._tenants import CONFIGURABLE, Tenants
from websearch_core.tools._web_tools import Uses


def sent(arguments, **given):
    """Validate what a model sends, and return it without the query."""
    validated = dict(arguments(query="tides", **given))
    del validated["query"]
    return validated


def call(fixed, **given):
    """Combine what a model sends with what is fixed."""
    return fixed.search_call(
        fixed.arguments()(query="tides", **given), WebSearch("duckduckgo")
    )


class TestArguments:
    @pytest.mark.parametrize(
        ("given", "understood"),
        [
            ({"limit": None, "allowed_domains": None, "time_range": None}, {}),
            ({"limit": "", "allowed_domains": " ", "time_range": ""}, {}),
            ({"limit": "7"}, {"limit": 7}),
            ({"limit": 7.0}, {"limit": 7}),
            ({"max_results": 3}, {"limit": 3}),
            ({"max_results": 3, "limit": None}, {"limit": 3}),
            ({"max_results": 3, "limit": 4}, {"limit": 4}),
            ({"time_range": "d"}, {"time_range": "day"}),
            ({"time_range": " W "}, {"time_range": "week"}),
            ({"time_range": "Month"}, {"time_range": "month"}),
            ({"time_range": "y"}, {"time_range": "year"}),
            (
                {"allowed_domains": "python.org, docs.org"},
                {"allowed_domains": ["python.org", "docs.org"]},
            ),
            (
                {"allowed_domains": "python.org docs.org"},
                {"allowed_domains": ["python.org", "docs.org"]},
            ),
            (
                {"allowed_domains": '["python.org"]'},
                {"allowed_domains": ["python.org"]},
            ),
            (
                {"allowed_domains": "['sea.example', 'tide.example']"},
                {"allowed_domains": ["sea.example", "tide.example"]},
            ),
            (
                {"blocked_domains": "evil.example"},
                {"blocked_domains": ["evil.example"]},
            ),
            ({"num_results": 3}, {"limit": 3}),
            (
                {"include_domains": ["sea.example"]},
                {"allowed_domains": ["sea.example"]},
            ),
            (
                {"exclude_domains": "sea.example"},
                {"blocked_domains": ["sea.example"]},
            ),
        ],
        ids=str,
    )
    def test_what_models_send_is_understood(self, given, understood):
        assert sent(SearchArguments, **given) == {**sent(SearchArguments), **understood}

    def test_null_and_empty_text_mean_the_default_of_every_argument_of_a_page(self):
        plain = PageArguments(url="https://sea.example/")
        for nothing in (None, "", "  "):
            assert (
                PageArguments(
                    url=plain.url,
                    max_length=nothing,
                    offset=nothing,
                    query=nothing,
                    find=nothing,
                )
                == plain
            )
        assert PageArguments(url=plain.url, offset="1500").offset == 1500

    @pytest.mark.parametrize(
        "word", ["None", "null", "any", " ANY ", "undefined", "n/a"]
    )
    @pytest.mark.parametrize("arguments", [SearchArguments, PageArguments])
    def test_a_word_for_nothing_leaves_out_every_argument_but_the_required_one(
        self, arguments, word
    ):
        (required,) = arguments.model_json_schema()["required"]
        optional = set(arguments.model_fields) - {required, "queries", "notes"}
        plain = arguments(**{required: "https://sea.example/"})

        assert optional
        for name in optional:
            assert arguments(**{required: "https://sea.example/", name: word}) == plain
        assert getattr(arguments(**{required: word}), required) == word.strip()

    @pytest.mark.parametrize(
        "nothing",
        ["anywhere", "all", ["null"], ["any", ""], '["anywhere"]', "[None]", "*"],
    )
    def test_words_for_everywhere_are_no_domains(self, nothing):
        names = ("allowed_domains", "blocked_domains", "include_domains")
        for name in names:
            assert sent(SearchArguments, **{name: nothing}) == sent(SearchArguments)

    @pytest.mark.parametrize(
        ("queries", "understood"),
        [
            ("[Closed] pump leaks oil", ["[Closed] pump leaks oil"]),
            ("[1, 2] interval notation", ["[1, 2] interval notation"]),
            ("['open a valve', 'shut it']", ["open a valve", "shut it"]),
            ('["open a valve", null, " "]', ["open a valve"]),
            ("tides, ebb and flow", ["tides, ebb and flow"]),
            ("[" * 10_000, ["[" * 10_000]),
        ],
    )
    def test_a_text_is_one_query_unless_it_is_a_list(self, queries, understood):
        arguments = FixedOptions.of().arguments(multi_query=True)

        assert arguments(queries=queries).queries == understood

    def test_one_query_that_begins_with_a_bracket_is_one_search(self):
        arguments = FixedOptions.of().arguments(multi_query=True)

        assert arguments(query="[Open] gate").queries == ["[Open] gate"]
        assert SearchArguments(query="['gate']").query == "['gate']"

    @pytest.mark.parametrize(
        "given",
        [{"query": ""}, {"query": None}, {"query": " "}, {}, {"query": "x", "limit": "few"},
         {"query": "x", "time_range": "decade"}, {"query": "x", "depth": "advanced"},
         {"query": "x", "notes": ["limit"]}],
        ids=str,
    )  # fmt: skip
    def test_what_makes_no_sense_is_refused(self, given):
        with pytest.raises(ValidationError):
            SearchArguments(**given)

    @pytest.mark.parametrize(
        "arguments",
        [
            SearchArguments,
            PageArguments,
            FixedOptions.of(
                {"limit": 3, "topic": "news", "allowed_domains": ["a.org"]}
            ).arguments(),
        ],
    )
    def test_a_schema_holds_nothing_that_a_strict_mode_refuses(self, arguments):
        schema = arguments.model_json_schema()
        keys = set(
            re.findall(
                r'"(\w+)":',
                json.dumps(
                    {**schema, "properties": list(schema["properties"].values())}
                ),
            )
        )

        assert keys <= {
            "type",
            "properties",
            "required",
            "description",
            "items",
            "enum",
        }
        assert not {"max_results", "blocked_domains", "notes"} & set(
            schema["properties"]
        )
        assert [
            one for one in schema["properties"].values() if not one["description"]
        ] == []

    def test_a_schema_that_was_made_for_one_tool_can_be_pickled(self):
        made = FixedOptions.of({"topic": "news", "limit": 3}).arguments()

        assert pickle.loads(pickle.dumps(made)) is made
        assert pickle.loads(pickle.dumps(made(query="tides"))) == made(query="tides")
        assert pickle.loads(pickle.dumps(SearchArguments)) is SearchArguments


class TestFixedOptions:
    def shown(self, options):
        return FixedOptions.of(options).arguments().model_json_schema()["properties"]

    def test_what_is_fixed_leaves_the_schema(self):
        assert list(self.shown({"topic": "news", "country": "GB"})) == [
            "query",
            "limit",
            "allowed_domains",
            "time_range",
        ]
        assert list(self.shown({"time_range": "week"})) == [
            "query",
            "limit",
            "allowed_domains",
        ]
        assert list(self.shown({"after": "2026-01-01"})) == [
            "query",
            "limit",
            "allowed_domains",
        ]

    def test_the_limit_is_the_most_and_the_usual_and_the_domains_are_named(self):
        shown = self.shown({"limit": 3, "allowed_domains": ["Python.org", "docs.org"]})

        assert (
            shown["limit"]["description"]
            == "Maximum number of results, 1 to 3; usually 3."
        )
        assert "python.org, docs.org" in shown["allowed_domains"]["description"]

    def test_what_is_fixed_and_sent_all_the_same_is_ignored_with_a_note(self):
        fixed = FixedOptions.of(
            {"topic": "news", "time_range": "week", "safe_search": "strict"}
        )
        made = call(fixed, topic="general", time_range="d", safe_search=None)

        assert (
            made.options["topic"],
            made.options["time_range"],
            made.options["safe_search"],
        ) == (
            "news",
            "week",
            "strict",
        )
        assert made.notes == (
            "topic, time_range: fixed by the developer, so what you sent was ignored",
        )

    def test_a_time_range_that_would_contradict_fixed_dates_is_ignored(self):
        fixed = FixedOptions.of({"after": "2026-01-01"})
        made = call(fixed, time_range="week")

        assert "time_range" not in made.options
        assert len(made.notes) == 1

    @pytest.mark.parametrize(
        ("asked", "limit", "notes"),
        [(None, 3, 0), (2, 2, 0), (3, 3, 0), (99, 3, 1), ("4", 3, 1)],
    )
    def test_a_model_can_ask_for_fewer_results_and_not_for_more(
        self, asked, limit, notes
    ):
        fixed = FixedOptions.of({"limit": 3})
        made = call(fixed, limit=asked)

        assert (made.options["limit"], len(made.notes)) == (limit, notes)

    def test_a_developer_can_ask_for_more_results_than_a_model_can(self):
        fixed = FixedOptions.of({"limit": 50})

        assert call(fixed).options["limit"] == 50
        assert call(FixedOptions.of()).options["limit"] == 5

    @pytest.mark.parametrize(
        ("asked", "searched", "notes"),
        [
            ([], ("python.org", "docs.org"), 0),
            (["docs.python.org"], ("docs.python.org",), 0),
            (["www.docs.org"], ("docs.org",), 0),
            (["docs.org", "evil.example"], ("docs.org",), 1),
            (["evil.example"], ("python.org", "docs.org"), 1),
        ],
    )
    def test_a_model_can_only_narrow_the_allowed_domains(self, asked, searched, notes):
        made = call(
            FixedOptions.of({"allowed_domains": ["python.org", "docs.org"]}),
            allowed_domains=asked,
        )

        assert (made.options["allowed_domains"], len(made.notes)) == (searched, notes)

    def test_a_model_can_only_widen_the_blocked_domains(self):
        fixed = FixedOptions.of({"blocked_domains": ["evil.example"]})
        made = call(fixed, blocked_domains=["ads.example"])
        closed = call(fixed, allowed_domains=["evil.example"])

        assert made.options["blocked_domains"] == ("evil.example", "ads.example")
        assert (closed.options["allowed_domains"], len(closed.notes)) == ((), 1)

    def test_the_policy_of_the_web_search_holds_too(self):
        policy = Domains(("python.org",), ("test.python.org",))
        made = call(
            FixedOptions.of(
                {"allowed_domains": ["docs.python.org", "evil.example"]},
                defaults=FixedOptions(domains=policy),
            )
        )

        assert made.options["allowed_domains"] == ("docs.python.org",)
        assert made.options["blocked_domains"] == ("test.python.org",)
        with pytest.raises(
            ConfigurationError, match="none of these is inside the domain policy"
        ):
            FixedOptions.of(
                {"allowed_domains": ["evil.example"]},
                defaults=FixedOptions(domains=policy),
            )

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"topc": "news"}, "topc: not an option; did you mean topic"),
            ({"max_result": 3}, "max_result: not an option; did you mean limit"),
            ({"topic": "sports"}, "topic: must be"),
            ({"limit": 0}, "limit"),
            ({"max_results": 2}, "max_results: not an option; did you mean limit?"),
            ({"allowed_domains": ["python.org/docs"]}, "is not a domain"),
            ({"text": "tides"}, "text: not an option"),
            ({"time_range": "day", "after": "2026-01-01"}, "not both"),
        ],
        ids=str,
    )
    def test_wrong_options_are_refused_at_once(self, options, words):
        with pytest.raises(InvalidOption, match=f"search_options: .*{words}"):
            FixedOptions.of(options)

    def test_options_of_a_run_replace_these_and_only_narrow_the_domains(self):
        fixed = FixedOptions.of(
            {"topic": "news", "limit": 3, "allowed_domains": ["python.org", "docs.org"]}
        )
        run = fixed.of_run(
            fixed.domains,
            {
                "search_options": {
                    "topic": "general",
                    "country": "GB",
                    "allowed_domains": ["docs.org"],
                }
            },
        )

        assert call(run).options["topic"] == "general"
        assert call(run).options["country"] == "GB"
        assert (call(run).options["limit"], call(run).options["allowed_domains"]) == (
            3,
            ("docs.org",),
        )
        with pytest.raises(ConfigurationError):
            fixed.of_run(
                fixed.domains, {"search_options": {"allowed_domains": ["evil.example"]}}
            )

    def test_an_empty_answer_says_what_to_try(self):
        made = call(
            FixedOptions.of({"topic": "news"}),
            allowed_domains=["python.org"],
            time_range="day",
        )
        empty = SearchResponse(query="tides")
        some = SearchResponse(
            query="tides", results=(SearchResult(title="T", url="https://a.example/"),)
        )

        assert made.finish(empty).notes == (
            "try fewer or other words, or leave out allowed_domains and time_range",
        )
        assert call(FixedOptions.of({"time_range": "day"})).finish(empty).notes == (
            "try fewer or other words",
        )
        assert made.finish(some).notes == ()
        answer = empty.model_copy(update={"answer": "04:10"})
        assert made.finish(answer).notes == ()
        ignored = empty.with_notes("kelp does not support time_range: ignored")
        assert (
            made.finish(ignored).notes[-1]
            == "try fewer or other words, or leave out allowed_domains"
        )


def bodies_of(**options):
    """Return a Tavily `WebSearch`, and the bodies of the requests that it sends."""
    bodies = []

    def answer(request):
        bodies.append(json.loads(request.content))
        return httpx.Response(200, json={"results": []})

    client = httpx.Client(transport=httpx.MockTransport(answer))
    return WebSearch("tavily", api_key="k", **options, http=Http(client=client)), bodies


def test_a_call_beats_the_tool_which_beats_the_provider_in_the_requests():
    web, bodies = bodies_of(
        settings=Settings.load(providers={"tavily": {"search_depth": "advanced"}})
    )
    fixed = FixedOptions.of(
        {
            "limit": 8,
            "topic": "news",
            "extra": {"search_depth": "basic", "include_answer": True},
        }
    )
    web.search("tides")
    web.search("tides", **call(fixed).options)
    web.search("tides", **call(fixed, limit=2, topic="finance").options)
    provider, tool, last = bodies

    assert (provider["max_results"], provider["search_depth"]) == (5, "advanced")
    assert "include_answer" not in provider
    assert (
        tool["max_results"],
        tool["search_depth"],
        tool["topic"],
        tool["include_answer"],
    ) == (
        8,
        "basic",
        "news",
        True,
    )
    assert (last["max_results"], last["topic"]) == (2, "news")


URL = "https://sea.example/"


def length(web, read_options=None, **asked):
    """Return the length of the part of a page that is read for a model."""
    options = FixedOptions.of(None, read_options).page_options(
        PageArguments(url=URL, **asked), web
    )
    return options.get("max_length")


class TestParts:
    def test_a_model_that_names_a_length_gets_it_whatever_is_configured(
        self, monkeypatch
    ):
        monkeypatch.setenv("WEB_SEARCH_MAX_LENGTH", "2000")
        web = WebSearch("duckduckgo")

        assert length(web, max_length=15_000) == 15_000
        assert length(web) is None
        assert length(web, {"max_length": 700}) == 700
        assert length(web, max_length=-1) is None

    def test_a_question_gets_passages_and_not_the_whole_of_a_page_that_would_fit(self):
        web = WebSearch("duckduckgo")
        asked = {"query": "when is high water?"}

        assert length(web, **asked) == 3_000
        assert length(web, {"max_length": 500}, **asked) == 500
        assert (
            length(WebSearch("duckduckgo", read_options={"max_length": 300}), **asked)
            == 300
        )
        assert length(web, max_length=9_000, **asked) == 9_000

    def test_a_model_cannot_raise_the_limit_in_tokens_and_a_run_can_change_it(self):
        web = WebSearch("duckduckgo", read_options={"max_tokens": 600})
        fixed, asked = (
            FixedOptions.of(None, {"max_tokens": 500, "comments": "drop"}),
            PageArguments(url=URL, max_length=9),
        )
        of_run = fixed.of_run(fixed.domains, {"read_options": {"max_tokens": 400}})

        assert FixedOptions.of().page_options(asked, web)["max_tokens"] == 600
        assert fixed.page_options(asked, web)["max_tokens"] == 500
        assert (
            of_run.page_options(asked, web)["max_tokens"],
            of_run.read["comments"],
        ) == (400, "drop")

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"max_lenght": 3}, "max_lenght: not an option; did you mean max_length"),
            ({"max_length": 0}, "max_length: must be greater than or equal to 1"),
            ({"query": "kelp"}, "query: each call chooses it"),
            ("long", "must be a mapping"),
        ],
        ids=str,
    )
    def test_wrong_options_of_a_page_are_refused_at_once(self, options, words):
        with pytest.raises(InvalidOption, match=f"read_options: {words}"):
            FixedOptions.of(None, options)


class TestUses:
    def test_each_run_has_so_many_calls(self):
        uses = Uses(2)
        for run in ("one", "two"):
            uses.count(run)
            uses.count(run)
            with pytest.raises(
                BudgetExceeded,
                match="all 2 calls .* answer with what you have found so far",
            ):
                uses.count(run)

    def test_without_a_limit_there_is_none(self):
        for _ in range(100):
            Uses().count("run")

    def test_a_run_that_is_over_takes_no_memory(self):
        class Run:
            pass

        uses = Uses(1)
        for _ in range(50):
            uses.count(Run())
        gc.collect()
        assert len(uses._counts.by_object) == 0
        for n in range(10_100):
            uses.count(n)
        assert len(uses._counts.by_name) == 10_000

    def test_parallel_calls_are_all_counted(self):
        uses, refused = Uses(10), []

        def call():
            try:
                uses.count("run")
            except BudgetExceeded as error:
                refused.append(error)

        threads = [threading.Thread(target=call) for _ in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(refused) == 30

    @pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "3"])
    def test_a_wrong_limit_is_refused(self, wrong):
        with pytest.raises(ConfigurationError, match="max_uses"):
            Uses(wrong)

    def test_a_copy_begins_to_count_again(self):
        uses = Uses(1)
        uses.count("run")
        pickle.loads(pickle.dumps(uses)).count("run")


class TestTenants:
    def make(self, *configurable, **arguments):
        arguments = {"provider": "tavily", "api_key": "developer", **arguments}
        return Tenants(None, configurable, **arguments)

    def key(self, web):
        (leaf,) = [part for part in _parts(web.provider) if hasattr(part, "api_key")]
        return leaf.api_key.get_secret_value()

    def test_each_key_has_a_web_search_of_its_own(self):
        tenants = self.make("api_key")
        ann, bob = (
            tenants.find({"api_key": "ann-key"}),
            tenants.find({"api_key": SecretStr("bob-key")}),
        )

        assert (self.key(ann), self.key(bob), self.key(tenants.web)) == (
            "ann-key",
            "bob-key",
            "developer",
        )
        assert tenants.find({"api_key": SecretStr("ann-key")}) is ann
        assert tenants.find({}) is tenants.web
        assert len({id(web._sender) for web in (ann, bob, tenants.web)}) == 3

    def test_so_many_tenants_are_kept_and_no_more(self, monkeypatch):
        monkeypatch.setattr("websearch_core.tools._tenants._MAX_TENANTS", 8)
        tenants = self.make("api_key")
        first = tenants.find({"api_key": "key-0"})
        for n in range(1, 8):
            tenants.find({"api_key": f"key-{n}"})
        assert tenants.find({"api_key": "key-0"}) is first
        tenants.find({"api_key": "one-more"})
        assert len(tenants._made) == 8
        assert tenants.find({"api_key": "key-0"}) is first
        assert self.key(tenants.find({"api_key": "key-1"})) == "key-1"

    def test_only_what_is_configurable_is_read(self):
        tenants = Tenants(
            None,
            {"api_key": "tavily_key", "provider": "provider"},
            provider="tavily",
            api_key="k",
        )
        given = {
            "tavily_key": SecretStr("s"),
            "provider": "brave",
            "base_url": "https://evil.example",
            "internal": ["0.0.0.0/0"],
        }

        assert tenants.read(given) == {"api_key": SecretStr("s"), "provider": "brave"}
        assert tenants.read({"__tavily_key": "t", "tavily_key": "s"}) == {
            "api_key": "t"
        }
        assert tenants.read({"tavily_key": None}) == {}

    @pytest.mark.parametrize(
        "name",
        [
            "base_url",
            "internal",
            "http",
            "settings",
            "providers",
            "layers",
            "cache",
            "budget",
            "api_ky",
        ],
    )
    def test_what_could_redirect_a_key_or_open_the_guard_is_not_configurable(
        self, name
    ):
        assert name not in CONFIGURABLE
        with pytest.raises(
            ConfigurationError,
            match=f"configurable: {name}: not an option that a run may set",
        ):
            self.make(name)

    def choosing(self, *names, **arguments):
        return Tenants(
            None,
            {"provider": names, "api_key": "api_key"},
            provider="tavily",
            api_key="developer",
            **arguments,
        )

    def test_a_key_is_not_sent_to_the_provider_that_a_run_chooses(self, monkeypatch):
        tenants = self.choosing("tavily", "brave", base_url="https://gateway.example")
        with pytest.raises(MissingKey, match="BRAVE_API_KEY"):
            tenants.find({"provider": "brave"})
        brave = tenants.find({"provider": "brave", "api_key": "ann-key"})

        assert self.key(brave) == "ann-key"
        assert "gateway" not in repr(list(_parts(brave.provider)))
        assert self.key(tenants.find({"provider": "tavily"})) == "developer"

    @pytest.mark.parametrize("place", ["environment", "file"])
    def test_a_key_that_merely_lies_about_is_not_lent_to_a_run(
        self, monkeypatch, tmp_path, place
    ):
        if place == "environment":
            monkeypatch.setenv("BRAVE_API_KEY", "SEKRET-brave")
            monkeypatch.setenv("JINA_API_KEY", "SEKRET-jina")
        else:
            file = tmp_path / "websearch.toml"
            file.write_text(
                '[providers.brave]\napi_key="SEKRET-brave"\n[providers.jina]\napi_key="SEKRET-jina"\n'
            )
            monkeypatch.setenv("WEB_SEARCH_CONFIG", str(file))
        listed = {
            "provider": ("brave", "ddg"),
            "reader": ["direct", "jina"],
            "api_key": "api_key",
        }
        tenants = Tenants(None, listed, provider="tavily", api_key="developer")
        for chosen, words in (
            (
                {"provider": "brave"},
                r"settings=Settings.load\(providers=\{'brave': \{'api_key': \.\.\.\}\}\)",
            ),
            (
                {"provider": ["ddg", "brave"]},
                "brave: a run that chooses it must bring its own api_key",
            ),
            (
                {"reader": "jina"},
                "jina: a run that chooses it must bring its own api_key",
            ),
            (
                {"reader": "jina", "api_key": "ann-key"},
                "jina: a run that chooses it must bring its own api_key",
            ),
        ):
            with pytest.raises(MissingKey, match=words) as raised:
                tenants.find(chosen)
            assert "SEKRET" not in str(raised.value)
        assert (
            tenants.find({"provider": "ddg", "reader": "direct"}).provider.name
            == "duckduckgo"
        )
        assert (
            self.key(tenants.find({"provider": "brave", "api_key": "ann-key"}))
            == "ann-key"
        )

    def test_a_key_that_was_lent_is_used(self, monkeypatch):
        monkeypatch.setenv("BRAVE_API_KEY", "environment")
        tenants = self.choosing(
            "tavily",
            "brave",
            settings=Settings.load(providers={"brave": {"api_key": "lent"}}),
        )
        assert self.key(tenants.find({"provider": "brave"})) == "lent"
        named = Tenants(None, ["provider"], provider=["duckduckgo", "brave"])
        # as the developer's own runs use it
        assert self.key(named.find({"provider": "brave"})) == "environment"

    def test_an_optional_key_is_not_needed(self):
        tenants = Tenants(None, {"reader": ("jina", "direct")}, provider="duckduckgo")
        assert tenants.find({"reader": "jina"}).reader.name == "jina"

    @pytest.mark.parametrize("role", ["provider", "reader"])
    @pytest.mark.parametrize(
        "chosen",
        ["local", "tavily,local", ["jina", "local"], "wayback", "auto", "", [], ("",)],
        ids=str,
    )
    def test_a_run_chooses_only_what_is_listed(self, role, chosen):
        tenants = Tenants(
            None, {role: ("jina", "tavily")}, provider="tavily", api_key="k"
        )
        with pytest.raises(
            ConfigurationError,
            match=f"{role}: a run may choose among jina, tavily; the developer lists",
        ):
            tenants.find({role: chosen})

    @pytest.mark.parametrize("name", ["local", "tavily"])
    def test_by_default_a_run_chooses_among_what_the_developer_named(
        self, name, monkeypatch, tmp_path
    ):
        monkeypatch.setenv("WEB_SEARCH_INDEX", str(tmp_path / "index.db"))
        tenants = Tenants(
            None,
            ["provider"],
            provider=["local", "tavily"],
            settings=Settings(providers={"tavily": {"api_key": "k"}}),
        )
        assert tenants.find({"provider": name}).provider.name == name
        with pytest.raises(
            ConfigurationError, match="a run may choose among local, tavily"
        ):
            tenants.find({"provider": "duckduckgo"})

    @pytest.mark.parametrize(
        ("arguments", "configurable", "words"),
        [
            ({}, None, "configurable: must be the names of options"),
            (
                {},
                ["provider"],
                "provider: list those that a run may choose among, as in configurable=",
            ),
            ({"provider": "tavily"}, ["reader"], "reader: list those"),
            ({"provider": "tavily"}, {"provider": ()}, "provider: list those"),
            (
                {"provider": "tavily"},
                {"provider": ("tavily", "local")},
                "local reads the files of this machine",
            ),
            (
                {"provider": "tavily"},
                {"reader": ("direct", "local")},
                "local reads the files of this machine",
            ),
            (
                {"provider": "tavily"},
                {"provider": ("tavily", "tavly")},
                "did you mean tavily",
            ),
        ],
        ids=str,
    )
    def test_a_list_that_is_wrong_or_missing_is_refused_at_once(
        self, arguments, configurable, words
    ):
        with pytest.raises(ConfigurationError, match=words):
            Tenants(
                None, configurable, **{**arguments, "api_key": "k"} if arguments else {}
            )

    def test_a_copy_has_the_same_list(self):
        twin = pickle.loads(pickle.dumps(self.choosing("tavily", "brave")))
        with pytest.raises(ConfigurationError, match="among tavily, brave"):
            twin.find({"provider": "duckduckgo"})

    def test_a_run_can_only_narrow_the_domain_policy(self):
        tenants = self.make(
            "allowed_domains",
            "blocked_domains",
            allowed_domains=["python.org", "docs.org"],
        )
        web = tenants.find(
            {
                "allowed_domains": ["docs.org", "evil.example"],
                "blocked_domains": ["b.docs.org"],
            }
        )

        assert web.settings.domains == Domains(("docs.org",), ("b.docs.org",))
        assert tenants.find(
            {"blocked_domains": ["x.org"]}
        ).settings.allowed_domains == ("python.org", "docs.org")
        with pytest.raises(ConfigurationError, match="inside the domain policy"):
            tenants.find({"allowed_domains": ["evil.example"]})

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"api_key": "keyring:bank/key"}, "may not name a keyring"),
            ({"api_key": SecretStr("keyring:bank/key")}, "may not name a keyring"),
            ({"api_key": 7}, "api_key: a key is text"),
            ({"api_key": "SEKRET of two words"}, "api_key: a key is printable ASCII"),
            ({"provider": {"name": "x"}}, "may only name providers"),
            ({"provider": "tavly"}, "unknown provider"),
            ({"timeout": "soon"}, "timeout"),
        ],
        ids=str,
    )
    def test_a_wrong_option_of_a_run_is_a_typed_error_without_the_key(
        self, options, words
    ):
        with pytest.raises(ConfigurationError, match=words) as raised:
            self.make(*options).find(options)
        assert "SEKRET" not in str(raised.value)

    def test_a_run_brings_credentials_for_origins_that_the_developer_opens(self):
        wiki, docs = "https://wiki.corp", "https://docs.corp"
        own = Http(proxy="http://proxy.corp:3128", resolve="here", credentials={
            origin: Credentials(bearer="of-the-developer") for origin in (wiki, docs)
        })  # fmt: skip
        tenants = self.make("credentials", internal=[wiki, docs], http=own)
        given = {wiki: {"bearer": "of-ann-012345", "headers": {"X-Team": "a"}}}
        ann, bob = (
            tenants.find({"credentials": given}),
            tenants.find({"credentials": {wiki: {"bearer": "of-bob"}}}),
        )

        def sent(web, origin):
            return web._sender.credentials.find(f"{origin}/a").make_headers()[0][
                "Authorization"
            ]

        assert [sent(web, wiki) for web in (ann, bob)] == [
            "Bearer of-ann-012345",
            "Bearer of-bob",
        ]
        assert (
            {sent(web, docs) for web in (ann, bob)}
            == {sent(tenants.web, wiki)}
            == {"Bearer of-the-developer"}
        )
        assert (
            tenants.find({"credentials": {wiki: Credentials(bearer="of-bob")}}) is bob
        )
        assert tenants.find({"credentials": given}) is ann
        assert (
            len(
                {
                    web._describe_call()["caller"].policy
                    for web in (ann, bob, tenants.web)
                }
            )
            == 3
        )
        assert ann._sender._proxies == tenants.web._sender._proxies is not None
        assert "of-ann" not in repr(tenants) + repr(vars(ann)) + repr(tenants._made)
        assert b"of-ann" not in pickle.dumps(ann)

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            (
                {"https://wiki.corp": {"bearer": "env:HOME"}},
                "may not name an environment variable or a keyring",
            ),
            (
                {"https://wiki.corp": {"cookies": {"sid": " env:HOME"}}},
                "may not name an environment variable",
            ),
            (
                {"https://wiki.corp": {"basic": ["ann", "keyring:a/b"]}},
                "may not name an environment variable",
            ),
            (
                {"https://wiki.corp": Credentials(headers={"X-Key": "env:HOME"})},
                "may not name an environment variable",
            ),
            (
                {"https://other.corp": {"bearer": "SEKRET-0123"}},
                "https://other.corp is not opened",
            ),
            ({"http://site.example": {"bearer": "SEKRET-0123"}}, "unencrypted"),
            (
                {"https://wiki.corp": {"token": "SEKRET-0123"}},
                "unknown argument: token",
            ),
            ({"https://wiki.corp": "SEKRET-0123"}, "a run gives"),
            ("SEKRET-0123", "a run gives"),
            ({7: {"bearer": "SEKRET-0123"}}, "not an origin"),
        ],
        ids=repr,
    )
    def test_what_a_run_may_not_log_in_with_is_an_error_without_the_secret(
        self, given, words, monkeypatch
    ):
        # as if the package keyring were installed
        monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
        tenants = self.make("credentials", internal=["https://wiki.corp"])
        with pytest.raises(ConfigurationError, match=words) as raised:
            tenants.find({"credentials": given})
        assert "SEKRET" not in f"{raised.value} {raised.value.__cause__}"

    def test_without_a_key_of_the_developer_each_run_has_to_bring_one(self):
        tenants = Tenants(None, ("api_key",), provider="tavily")

        assert self.key(tenants.find({"api_key": "ann-key"})) == "ann-key"
        with pytest.raises(MissingKey, match="the run must bring one"):
            tenants.web.search("tides")
        with pytest.raises(MissingKey, match="TAVILY_API_KEY"):
            Tenants(None, ("provider",), provider="tavily")

    def test_a_web_search_of_the_caller_cannot_have_another_key(self):
        web = WebSearch("tavily", api_key="k")
        with pytest.raises(
            ConfigurationError,
            match="configurable: api_key: give the arguments of WebSearch instead",
        ):
            Tenants(web, ("api_key", "search_options"))
        assert Tenants(web, ("search_options",)).web is web

    def test_no_key_shows_in_a_repr_or_a_pickle(self):
        tenants = self.make(
            "api_key",
            api_key="SEKRET-one",
            settings=Settings.load(providers={"brave": {"api_key": "SEKRET-two"}}),
        )
        tenants.find({"api_key": "SEKRET-three"})

        assert "SEKRET" not in repr(tenants) + repr(vars(tenants))
        assert b"SEKRET" not in pickle.dumps(tenants)
        assert (
            self.key(
                pickle.loads(pickle.dumps(tenants)).find({"api_key": "SEKRET-four"})
            )
            == "SEKRET-four"
        )

    def test_a_key_as_plain_text_is_warned_about_once(self, caplog):
        tenants = self.make("api_key")
        with caplog.at_level(logging.WARNING):
            for _ in range(2):
                tenants.read({"api_key": "SEKRET"})
            tenants.read({"api_key": SecretStr("SEKRET")})
            tenants.read({"__api_key": "SEKRET"})
        (record,) = caplog.records
        assert "SEKRET" not in record.getMessage()
        assert "'__api_key'" in record.getMessage()


def _parts(provider):
    from websearch_core.layers._layer import parts

    return parts(provider)
