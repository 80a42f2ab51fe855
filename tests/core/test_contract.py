"""Every built-in provider that works over HTTP keeps the promises.

What the services answer comes from the cassettes: ``search.yaml`` and ``nothing.yaml``
of a provider that searches, ``read.yaml`` of one that reads. A new provider needs no
line here.
"""

from __future__ import annotations
import ast
import inspect
import io
import json
import re
import tokenize
from pathlib import Path
from statistics import mean

import pytest

from tests.cassettes import tape as tapes
from websearch_core import SearchQuery, SearchResponse, SearchResult, providers
from websearch_core import provider as kit
from websearch_core.errors import (
    BadRequest,
    BadResponse,
    ConfigurationError,
    ServiceError,
    Unavailable,
)
from websearch_core.layers import Fallback
from websearch_core.provider._declare import field_notes, is_secret
from websearch_core.provider._ports import can, needs_network
from websearch_core.providers import known, provider_class
from websearch_core.testing import (
    SECRET,
    Check,
    _contract,
    play,
    read_checks,
    reply,
    search_checks,
)

# Tokens that are no code.
LAYOUT = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}
# They send in their own way, which no cassette can replay: see tests/core/providers.
LIBRARIES = {"browser", "ddgs"}
PLAIN_TEXT = {
    "external",
    "firecrawl",
    "github",
    "jina",
    "keenable",
    "ollama",
    "parallel",
    "perplexity",
    "searchapi",
    "searxng",
    "semanticscholar",
    "serpapi",
    "serper",
    "stackexchange",
    "tavily",
}  # in their titles, <code> is a word


# which ask none, or one that the user declares
WITHOUT_SERVICE = {"browser", "direct", "external", "local"}


def built_in(role):
    for name in known():
        cls = provider_class(name)
        is_ours = (
            cls.__module__.startswith("websearch_core.providers.")
            and name not in LIBRARIES
        )
        if is_ours and needs_network(cls) and can(cls, role):
            yield name


URL = "https://kelp.example/"
KELP = SearchQuery.of("kelp", limit=1)
# which answer in Atom and in HTML
JSON_SERVICES = sorted({*built_in("search")} - {"arxiv", "duckduckgo"})
# How services say under a success that a search failed, if not as all others do.
OWN_KINDS = {
    **dict.fromkeys(["firecrawl", "jina", "kagi", "searchapi", "serpapi"], Unavailable),
    "wikipedia": BadRequest,
}


def make(name):
    """Make the provider as its cassettes do, with a key for each field that takes
    one.
    """
    cls = provider_class(name)
    keys = {
        field: SECRET for field, notes in field_notes(cls).items() if is_secret(notes)
    }
    return cls(
        **{
            **tapes.options(
                tapes.find(name, "search" if can(cls, "search") else "read"), name
            ),
            **keys,
        }
    )


def checks_of(name, role):
    try:
        replies = {
            scenario: tapes.responses(tapes.find(name, scenario))
            for scenario in tapes.SCENARIOS[role]
        }
        provider = make(name)
    except tapes.MissingTape as missing:
        return [
            Check("has its cassettes", lambda error=missing: pytest.fail(str(error)))
        ]
    if role == "read":
        first, *later = replies["read"]
        return read_checks(provider, some=first, later=later)
    return search_checks(
        provider,
        some=replies["search"][0],
        none=replies["nothing"][0],
        failures=find_failures(name),
        markup=name not in PLAIN_TEXT,
    )


def find_failures(name):
    """Return what the service answers to a wrong key, and if an account is empty."""
    failures = []
    for scenario in ("wrong_key", "quota"):
        path = tapes.FOLDER / name / f"{scenario}.yaml"
        if path.exists():
            response = tapes.responses(tapes.load(path))[0]
            if "json" in response.media_type:
                failures.append(response)
    return failures


@pytest.mark.parametrize(
    ("provider", "check"),
    [
        pytest.param(name, check, id=f"{name}: {check}")
        for role in ("search", "read")
        for name in built_in(role)
        for check in checks_of(name, role)
    ],
)
def test_every_provider_keeps_its_promises(provider: str, check: Check):
    check()


class Next:
    """The second provider of a chain."""

    name = "next"

    def search(self, query):
        yield from ()
        return SearchResponse(
            query=query.text,
            results=(SearchResult(title="Kelp", url=URL),),
            provider=self.name,
        )


def ask(name, body, chain=Fallback()):  # noqa: B008 - it is frozen
    """Return what comes of a search whose service answers *body*, and who answers in a
    chain of it and another.
    """
    both = chain(make(name), Next())
    try:
        found = play(make(name).search(KELP), reply(body)).result
    except ServiceError as error:
        found = error
    return found, play(both.search(KELP), reply(body)).result.provider


def find_lists(body, path=()):
    """Yield the paths of all lists that are in objects only."""
    for key, value in body.items():
        if isinstance(value, list):
            yield (*path, key)
        elif isinstance(value, dict):
            yield from find_lists(value, (*path, key))


def place(body, path, value):
    """Return a copy of *body* with another value at a path; None leaves it out."""
    key, *rest = path
    if rest:
        return {**body, key: place(body[key], rest, value)}
    return {
        name: one for name, one in ({**body, key: value}).items() if one is not None
    }


def read_body(name, scenario):
    body = json.loads(tapes.responses(tapes.find(name, scenario))[0].content)
    # which searxng reports
    return {key: value for key, value in body.items() if key != "unresponsive_engines"}


def without_boxes(body):
    """Return a body without what becomes a result beside those of its list."""
    boxes = {"answerBox", "knowledgeGraph", "direct_answer"}
    return {
        name: without_boxes(value) if isinstance(value, dict) else value
        for name, value in body.items()
        if name not in boxes
    }


@pytest.mark.parametrize("name", JSON_SERVICES)
def test_an_empty_object_is_an_empty_answer_with_a_note_after_which_the_next_is_asked(
    name,
):
    found, answered = ask(name, {}, Fallback(on_empty=True))

    assert (found.results, len(found.notes), answered) == ((), 1, "next")
    assert re.search(f"{name}'s answer (held|has) no list", found.notes[0])
    assert ask(name, {})[1] == name


@pytest.mark.parametrize("name", JSON_SERVICES)
def test_an_answer_without_its_list_is_empty_and_one_with_another_type_there_is_an_error(
    name,
):
    body = without_boxes(read_body(name, "search"))
    needed = 0
    for path in find_lists(body):
        found, answered = ask(name, place(body, path, None), Fallback(on_empty=True))
        assert isinstance(found, SearchResponse), (path, found)
        if not found.results:
            needed += 1
            # a direct answer is one, too
            assert answered == (name if found.answer else "next")
            for other in "soon", 7, {"items": 3}:
                assert isinstance(ask(name, place(body, path, other))[0], BadResponse)

    # it has two lists, of pages and of news
    assert needed == (name != "you")


@pytest.mark.parametrize("name", JSON_SERVICES)
def test_an_error_under_a_success_is_an_error_after_which_the_next_is_asked(name):
    for error in (
        {"error": "down"},
        {"error": {"code": 500, "message": "down"}},
        {"errors": [{"message": "down"}]},
        {"error_code": "E1"},
        {"code": 503},
        {"message": "Forbidden"},
        {"message": "Forbidden", "request": {"id": "x"}},
        {"detail": "Service is under maintenance"},
        {"status": "error", "message": "down"},
        {"success": False},
    ):
        failed, answered = ask(name, error)

        assert (type(failed) in {BadResponse, OWN_KINDS.get(name)}, answered) == (
            True,
            "next",
        ), (error, failed)
        assert "down" not in str(failed), error  # what a service says is in `detail`


@pytest.mark.parametrize("name", JSON_SERVICES)
def test_an_error_beside_an_empty_list_is_an_error(name):
    if (nothing := tapes.responses(tapes.find(name, "nothing"))[0]).status != 200:
        pytest.skip("it says with a status that it found nothing")
    failed, answered = ask(name, {**json.loads(nothing.content), "error": "down"})

    assert isinstance(failed, ServiceError)
    assert answered == "next"


@pytest.mark.parametrize(
    "name", [name for name in known() if name not in WITHOUT_SERVICE]
)
def test_each_adapter_built_in_names_what_it_was_compared_with_and_when(name):
    compared = getattr(
        getattr(provider_class(name), "about", None), "compared", "no `about`"
    )
    file = Path(inspect.getsourcefile(provider_class(name))).read_text("utf-8")

    assert re.fullmatch(
        r"(\S+ \d+\.\d+\.\d+|[a-z ]{3,}.*), 20[2-9]\d-[01]\d(-[0-3]\d)?", compared
    ), compared
    assert f'compared="{compared}"' in file


def test_missing_cassettes_are_named(monkeypatch, tmp_path):
    monkeypatch.setattr(tapes, "FOLDER", tmp_path)
    (check,) = checks_of("brave", "search")

    with pytest.raises(
        pytest.fail.Exception,
        match=r"write cassettes/brave/search\.yaml: .*CONTRIBUTING\.md",
    ):
        check()


def count_tokens(path):
    """Count the tokens of the code of a file, without comments and docstrings.

    An f-string is one token, as it was before Python 3.12.
    """
    text = path.read_text("utf-8")
    documented = set()
    for node in ast.walk(ast.parse(text)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text and isinstance(node.value.value, str):
            documented |= set(range(node.lineno, node.end_lineno + 1))
    count = depth = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        if kind == "FSTRING_END":
            depth -= 1
        elif depth == 0 and token.type not in LAYOUT:
            count += token.start[0] not in documented
        if kind == "FSTRING_START":
            depth += 1
    return count


def test_a_provider_is_small():
    folder = Path(providers.__file__).parent
    files = [path for path in folder.glob("*.py") if not path.name.startswith("_")]
    sizes = {path.stem: count_tokens(path) for path in files}

    assert mean(sizes.values()) < 1_300
    assert max(sizes.values()) < 2_500, max(sizes, key=sizes.get)


class Beacon:
    """A provider whose service reports failures in a way of its own."""

    name = "beacon"
    limits: dict[str, float] = {"per_second": 2}  # noqa: RUF012 - never changed

    def __init__(self, **options):
        self.options_of_decode = options

    def search(self, query, /):
        body = kit.decode(
            (yield kit.Request(url="https://beacon.example/search")),
            self,
            **self.options_of_decode,
        )
        return kit.parse_search(self, query, body, path="answer.items")


EMPTY_PURSE = reply({"answer": {}, "fault": {"code": "empty_purse"}}, 200)


def run_checks(provider, words):
    checks = search_checks(
        provider,
        some=reply({"answer": {"items": [{"url": URL}]}}),
        none=reply({"answer": {"items": []}}),
        failures=[EMPTY_PURSE],
    )
    (check,) = [check for check in checks if words in str(check)]
    check()


def test_a_failure_that_would_be_no_results_breaks_a_promise():
    with pytest.raises(AssertionError, match="under status 200.*code='error.code'"):
        run_checks(Beacon(), "takes no answer of a failure")

    run_checks(Beacon(code="fault.code"), "takes no answer of a failure")


def test_a_limit_that_does_nothing_breaks_a_promise_and_is_refused_by_the_decorator():
    words = "there is no per_second; there are .*requests_per_second"

    with pytest.raises(AssertionError, match=words):
        run_checks(Beacon(), "names its limits")
    with pytest.raises(ConfigurationError, match=words):
        kit.provider(type("Lamp", (), {"name": "lamp", "limits": Beacon.limits}))


# Fields of a query that no service gets as an option of its own.
NO_OPTIONS = {"text", "limit", "extra", "unsupported", "max_snippet_chars"}


def test_the_contract_has_a_sample_of_each_option_of_a_query():
    assert set(_contract._OPTIONS) == set(SearchQuery.model_fields) - NO_OPTIONS
