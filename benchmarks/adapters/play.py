"""Play answers of invented values to their adapters: as they are, with wrong values,
and with captured headers.
"""

from __future__ import annotations
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from html import unescape
from itertools import repeat
from typing import Any

import httpx

from benchmarks.adapters.cases import READ, Case, Chain, Facts
from benchmarks.adapters.shapes import Captured
from tests.cassettes import tape as tapes
from websearch_core import (
    Http,
    Page,
    SearchQuery,
    SearchResponse,
    WebSearch,
    WebSearchError,
)
from websearch_core.flow import Flow, Request, Response, run
from websearch_core.provider._declare import field_notes, is_secret
from websearch_core.providers import provider_class
from websearch_core.testing import SECRET
from websearch_core.testing._contract import MISSING, drive, with_value

Outcome = SearchResponse | Page | WebSearchError
_QUERY = "tides"
_SEARX = "https://searx.example"
_ARCHIVE = "https://web.archive.org"
# headers that tell a copy from a page of the archive, and that shapes do not have
_NEEDED = {"memento-datetime"}
_WRONG: tuple[Any, ...] = (None, True, -1, 1e400, "", "x", [], [None], {}, {"": None})
_MOST_REQUESTS = 25  # of one call: more, and it would go on forever
_MOST_PLACES = 150  # of an answer
_PART = re.compile(r"(\w+|[^.\[\]]+)|\[(\d+)\]")


def make_tape(case: Case, body: Any) -> tapes.Tape:
    """Return the cassette of an answer with this *body*: the call, what is expected of
    it, and the exchange.
    """
    cls = provider_class(case.provider)
    keyed = (
        {"api_key": "SECRET"}
        if any(is_secret(notes) for notes in field_notes(cls).values())
        else {}
    )
    keyed = {} if case.scenario == "anonymous_blocked" else keyed
    at = {"base_url": _SEARX} if case.provider == "searxng" else {}
    count = len(find_items(case, body))
    if case.reads:
        own = {"providers": {case.provider: keyed}} if keyed else {}
        call: dict[str, Any] = {
            "web": {"provider": "duckduckgo", "reader": case.provider, **own},
            "read": [READ, {}],
        }
    else:
        call = {
            "web": {"provider": case.provider, **keyed, **at},
            "search": [_QUERY, {"limit": count} if count else {}],
        }
    exchanges: list[dict[str, Any]] = []
    tape = {
        **call,
        "expect": expect(case, body),
        "version": 1,
        "interactions": exchanges,
    }

    def respond(request: httpx.Request) -> httpx.Response:
        headers = {"content-type": "application/json"}
        exchanges.append(
            _write(
                request,
                case.status,
                headers,
                json.dumps(body, ensure_ascii=False, indent=1) + "\n",
            )
        )
        return httpx.Response(case.status, headers=headers, text=json.dumps(body))

    http = Http(client=httpx.Client(transport=httpx.MockTransport(respond)))
    with WebSearch(**tapes.read_arguments(tape), http=http, retry=1) as web:
        argument, more = tape[tapes.role(tape)]
        # what comes of it is checked when the cassette is played
        with suppress(WebSearchError):
            getattr(web, tapes.role(tape))(argument, **more)
    return tape


def _write(
    request: httpx.Request, status: int, headers: Mapping[str, str], text: str
) -> dict[str, Any]:
    """Return an exchange as a cassette has it."""
    kind = request.headers.get("content-type")
    return {
        "request": {
            "body": request.content.decode(),
            "headers": {"Content-Type": [kind]} if kind else {},
            "method": request.method,
            "uri": str(
                request.url.copy_remove_param("api_key").copy_remove_param("key")
            ),
        },
        "response": {
            "body": {"string": text},
            "headers": {name.title(): [value] for name, value in headers.items()},
            "status": {
                "code": status,
                "message": httpx.codes.get_reason_phrase(status),
            },
        },
    }


def make_chain(chain: Chain, captured: Sequence[Captured]) -> tapes.Tape:
    """Return the cassette of *captured* exchanges with the archive: their headers, with
    the texts of our cassette.
    """
    ours = tapes.find("wayback", "read")
    table, copy = tapes.responses(ours)
    answers = iter(
        [table, *(_answer(chain, n, one, copy) for n, one in enumerate(captured, 1))]
    )
    exchanges: list[dict[str, Any]] = []

    def respond(request: Request) -> Response:
        answer = next(answers)
        sent = httpx.Request(
            request.method, httpx.URL(request.url, params=dict(request.params) or None)
        )
        exchanges.append(
            _write(sent, answer.status, answer.headers, answer.content.decode())
        )
        return answer

    with suppress(WebSearchError):  # as above
        run(_make_provider("wayback", {}).read(ours["read"][0]), respond)
    final = exchanges[-1]["request"]["uri"].replace("id_/", "/")
    expected = (
        {"error": chain.error}
        if chain.error
        else {"title": ours["expect"]["title"], "final_url": final}
    )
    return {
        "web": ours["web"],
        "read": ours["read"],
        "expect": expected,
        "version": 1,
        "interactions": exchanges,
    }


def _answer(chain: Chain, number: int, captured: Captured, copy: Response) -> Response:
    """Return the answer with the headers of a *captured* exchange: a redirect, what is
    at the end, or our *copy*.
    """
    theirs = captured.shape["headers"]
    headers = {
        name: "text/html; charset=utf-8" for name in theirs if name == "content-type"
    }
    if "location" in theirs:
        begin = _ARCHIVE if theirs["location"] == "url" else chain.location
        day = 10 + (number % chain.returns if chain.returns else number)
        headers["location"] = (
            f"{begin}/web/202603{day}000000id_/https://harbour.example/{day}"
        )
        return Response(status=302, headers=headers, content=b"")
    if chain.error:
        return Response(status=chain.status, headers=headers, content=b"<h1>Kelp</h1>")
    return replace(
        copy, headers={**headers, "memento-datetime": copy.headers["memento-datetime"]}
    )


def find_items(case: Case, body: Any) -> list[Any]:
    """Return the results of an answer; none of a page or an error."""
    return list(_find(body, case.facts.items)) if case.facts else []


def expect(case: Case, body: Any) -> dict[str, Any]:
    """Return what must come of an answer, as a cassette says it: by the paths of
    *case*, not by the adapter.
    """
    if case.error:
        return {"error": case.error}
    if case.page:
        return {
            "provider": case.provider,
            **{name: _beginning(_find(body, path)) for name, path in case.page.items()},
        }
    assert case.facts
    return {
        "provider": case.provider,
        "results": [
            _expect_result(case.facts, item) for item in find_items(case, body)
        ],
    }


def _expect_result(facts: Facts, item: Any) -> dict[str, Any]:
    expected = {"title": _beginning(_find(item, facts.title))}
    if facts.link:
        expected["url"] = facts.link.format(_find(item, facts.url))
    if facts.text and (text := _beginning(_find(item, facts.text))):
        expected["snippet"] = text
    if (
        facts.date
        and isinstance(date := _find(item, facts.date), str)
        and re.match(r"\d{4}-", date)
    ):
        expected["published"] = date[:10]
    return expected


def _beginning(text: Any) -> str:
    """Return the first words of a text, as everybody would read them: before its first
    mark.
    """
    return (
        re.split(r"[<&\n]", text)[0].strip()[:60].strip()
        if isinstance(text, str)
        else ""
    )


def find_problems(case: Case, body: Any, outcome: Outcome) -> list[str]:
    """Return what *outcome* has not of what must come of an answer, in words."""
    if isinstance(outcome, WebSearchError):
        return [] if outcome.code == case.error else [f"{outcome.code}: {outcome}"]
    wanted, found = expect(case, body), outcome.model_dump(mode="json")
    if isinstance(outcome, Page) or case.error:
        return [
            f"{name}: {value!r}"
            for name, value in wanted.items()
            if value not in str(found.get(name))
        ]
    if len(wanted["results"]) != len(found["results"]):
        return [f"{len(found['results'])} results, not {len(wanted['results'])}"]
    return [
        f"result {n}: {name} is {result[name]!r}, not {value!r}"
        for n, (item, result) in enumerate(
            zip(wanted["results"], found["results"], strict=True), 1
        )
        for name, value in item.items()
        if unescape(value) not in str(result[name])
    ]


def play(case: Case, body: Any, count: int = 0) -> Outcome:
    """Return what the adapter makes of an answer.

    Args:
        case: The case.
        body: The answer.
        count: How many results to ask for; by default, as many as it has.

    Raises:
        Exception: A bug of the adapter.
    """
    count = count or len(find_items(case, body)) or 5
    content = json.dumps(body).encode()
    response = Response(
        status=case.status,
        headers={"content-type": "application/json"},
        content=content,
    )
    provider = _make_provider(
        case.provider, {"base_url": _SEARX} if case.provider == "searxng" else {}
    )
    try:
        flow: Flow[Any] = (
            provider.read(READ)
            if case.reads
            else provider.search(SearchQuery.of(_QUERY, limit=count))
        )
        outcome: Outcome = drive(flow, response)
    except WebSearchError as error:
        return error
    return outcome


def _make_provider(name: str, options: Mapping[str, Any]) -> Any:
    cls = provider_class(name)
    keys = {
        field: SECRET for field, notes in field_notes(cls).items() if is_secret(notes)
    }
    return cls(**{**options, **keys})


@dataclass
class Trial:
    """What came of the mutations of an answer: how many there were, and each failure in
    words.
    """

    count: int
    failures: list[str]


def mutate(case: Case, body: Any) -> Trial:
    """Play an answer again and again, each time with one value missing or wrong, and
    once with all keys reversed.

    What must come of it is a response or one of our errors; a wrong value in a result
    leaves the others as they are.
    """
    whole, asked = play(case, body), len(find_items(case, body))
    count, failures = 1, list[str]()
    if _facts(play(case, _reverse(body))) != _facts(whole):
        failures.append("with its keys in another order it is another answer")
    for path, what, wrong in _corrupt(body):
        count += 1
        try:
            outcome = play(case, wrong, asked)
        except Exception as bug:  # noqa: BLE001 - whatever it is, it is what is looked for
            failures.append(f"{what}: {type(bug).__name__}: {bug}")
            continue
        if problem := _find_damage(case, path, whole, outcome):
            failures.append(f"{what}: {problem}")
    return Trial(count, failures)


def mutate_failure(tape: tapes.Tape, provider: str) -> Trial:
    """Play a cassette of a failure again and again, each time with one wrong value in
    its last answer.

    What must come of it is a response or one of our errors.
    """
    trial, verb, answers = Trial(0, []), tapes.role(tape), tapes.responses(tape)
    argument, more = tape[verb]
    *before, last = answers
    for _, what, wrong in _corrupt(json.loads(last.content)):
        trial.count += 1
        waiting = iter(
            [
                *before,
                *repeat(
                    replace(last, content=json.dumps(wrong).encode()), _MOST_REQUESTS
                ),
            ]
        )
        made = _make_provider(provider, tapes.options(tape, provider))
        try:
            flow = (
                made.search(SearchQuery.of(argument, **more))
                if verb == "search"
                else made.read(argument)
            )
            run(flow, partial(_next, waiting))
        except WebSearchError:
            continue
        except Exception as bug:  # noqa: BLE001 - as above
            trial.failures.append(f"{what}: {type(bug).__name__}: {bug}")
    return trial


def _next(answers: Iterator[Response], _: Request) -> Response:
    return next(answers)


def _corrupt(body: Any) -> Iterator[tuple[tuple[str | int, ...], str, Any]]:
    """Yield copies of an answer with one wrong value each: where it is, what is wrong,
    and the copy.
    """
    for path in list(_places(body))[:_MOST_PLACES]:
        for value in (MISSING, *_WRONG):
            what = (
                f"{'.'.join(map(str, path))} "
                f"{'missing' if value is MISSING else f'is {value!r}'}"
            )
            yield path, what, with_value(body, path, value)


def _find_damage(
    case: Case, path: tuple[str | int, ...], whole: Outcome, outcome: Outcome
) -> str:
    """Return what a wrong value did to results that it is not part of, or to the types
    of an answer.
    """
    if isinstance(outcome, WebSearchError):
        return ""
    outcome.model_validate(outcome.model_dump())  # the types of everything are right
    place = case.facts.items.split(".") if case.facts else []
    inside = len(path) > len(place) + 1 and list(path[: len(place)]) == place
    if (
        not inside
        or not isinstance(outcome, SearchResponse)
        or not isinstance(whole, SearchResponse)
    ):
        return ""
    number = path[len(place)]
    assert isinstance(number, int)
    others = [facts for n, facts in enumerate(_facts(whole)) if n != number]
    return (
        ""
        if all(facts in _facts(outcome) for facts in others)
        else "other results are lost or changed"
    )


def _facts(outcome: Outcome) -> list[Any]:
    if isinstance(outcome, SearchResponse):
        return [
            (one.title, one.url, one.snippet, one.published) for one in outcome.results
        ]
    return [outcome.content] if isinstance(outcome, Page) else [outcome.code]


def _find(value: Any, path: str) -> Any:
    """Return what is at a *path* such as ``results[0].title``; None if nothing is."""
    for name, number in _PART.findall(path):
        try:
            value = value[int(number)] if number else value[name]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _places(
    value: Any, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[str | int, ...]]:
    inner: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value[:2]))  # the others are like them
    for name, _ in inner:
        yield (*path, name)
    # the outer places first: the inner ones of a large answer may be too many
    for name, one in inner:
        yield from _places(one, (*path, name))


def _reverse(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _reverse(value[name]) for name in reversed(value)}
    return [_reverse(one) for one in value] if isinstance(value, list) else value


def play_headers(provider: str, names: list[str], location: str = "") -> bool:
    """Return whether our own answer means the same with the headers that a captured
    exchange had, and no others.

    Args:
        provider: The provider.
        names: The names of the headers.
        location: The type of the header ``Location``: then its service redirects once.
    """
    scenario = (
        "search" if (tapes.FOLDER / provider / "search.yaml").exists() else "read"
    )
    tape = tapes.find(provider, scenario)
    argument, more = tape[scenario]

    def run_with(answers: list[Response]) -> Any:
        made = _make_provider(provider, tapes.options(tape, provider))
        flow = (
            made.search(SearchQuery.of(argument, **more))
            if scenario == "search"
            else made.read(argument)
        )
        waiting = iter(answers)
        return _facts(run(flow, partial(_next, waiting)))

    def strip(answer: Response) -> Response:
        kept = {
            name: answer.headers[name]
            for name in answer.headers.keys() & {"content-type", *_NEEDED}
            if name in {*names, *_NEEDED}
        }
        added = {
            name: "3"
            for name in names
            if name not in {"content-type", "location", "content-encoding"}
        }
        return replace(answer, headers={**added, **kept})

    answers = tapes.responses(tape)
    expected, stripped = run_with(answers), [strip(answer) for answer in answers]
    if not location:
        return bool(run_with(stripped) == expected)
    path = "/web/20090305000000id_/https://harbour.example/gone"
    forms = (
        [f"https://web.archive.org{path}"]
        if location == "url"
        else [path, f"//web.archive.org{path}"]
    )
    redirects = [
        Response(
            status=302, headers={**stripped[0].headers, "location": form}, content=b""
        )
        for form in forms
    ]
    return all(
        run_with([stripped[0], redirect, *stripped[1:]]) == expected
        for redirect in redirects
    )
