"""First contact with services that our own server plays: as documented, with other
fields, refusing, slow, gone; and nothing of a key reaches a file or the terminal.
"""

from __future__ import annotations
import contextlib
import errno
import gzip
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.cassettes import first_contact, live, record
from tests.cassettes import tape as tapes
from tests.cassettes.allowance import (
    WORST_USD,
    Allowance,
    find_dearest_search,
    find_missing_prices,
)
from tests.cassettes.exchange import replay
from tests.cassettes.keys import Keys, secret_variables
from tests.models import VENDORS
from tests.server import Received, Server, http, say_nothing
from websearch_core._net.targets import Targets
from websearch_core.flow._redaction import without_keys
from websearch_core.providers import known, provider_class

KEY = "tvly-of-a-test-that-must-not-show"
REAL = tapes.FOLDER
# the variables of a service: its key, and where it is
SERVICES = {
    "tavily": ("TAVILY_API_KEY", "TAVILY_BASE_URL"),
    "brave": ("BRAVE_API_KEY", "BRAVE_BASE_URL"),
    "serpapi": ("SERPAPI_API_KEY", "SERPAPI_BASE_URL"),  # its key is in the URL
    "exa": ("EXA_API_KEY", "EXA_BASE_URL"),
}
Change = Callable[[dict[str, Any]], dict[str, Any]]


class Service:
    """A service that answers what its cassettes say, but for a *change*."""

    def __init__(self, name: str, change: Change = lambda body: body) -> None:
        self.change = change
        self.answer: Any = None  # instead of all others
        self._exchanges: dict[str, list[dict[str, Any]]] = {}
        for scenario in live.SCENARIOS:
            path = REAL / name / f"{scenario}.yaml"
            if path.exists():
                self._exchanges[scenario] = tapes.load(path)["interactions"]

    def reply(self, request: Received) -> Any:
        if self.answer is not None:
            return self.answer
        exchange = self._choose(request)
        status = exchange["response"]["status"]
        # our sites are those that the documentation has
        body = exchange["response"]["body"]["string"]
        body = body.replace("harbour.example", live.SITE)
        changed = json.dumps(self.change(json.loads(body)))
        headers = [
            f"{name}: {values[0]}"
            for name, values in exchange["response"]["headers"].items()
            if not name.lower().startswith("content-encoding")
        ]
        line = f"{status['code']} {status['message']}"
        return http(changed, line, *headers)

    def _choose(self, request: Received) -> dict[str, Any]:
        path, headers, body = request
        text = f"{path} {headers} {body.decode()}".replace("%3A", ":")
        if live.WRONG_KEY in text:
            return self._exchanges["wrong_key"][0]
        if live.NOTHING.split()[0] in text:
            return self._exchanges["nothing"][0]
        if live.PAGE.rstrip("/") in text:
            return self._exchanges["read"][0]
        documented = path.replace(live.SITE, "harbour.example")
        sent = _parameters(documented, body)
        candidates = [
            exchange
            for scenario in ("search", "page_2", "read_failed")
            for exchange in self._exchanges.get(scenario, ())
        ]
        return max(
            candidates,
            key=lambda exchange: len(
                sent
                & _parameters(
                    exchange["request"]["uri"], exchange["request"]["body"].encode()
                )
            ),
        )


def _parameters(url: str, body: bytes) -> set[tuple[str, str]]:
    parameters = {(name, str(value)) for name, value in parse_qsl(urlsplit(url).query)}
    if body:
        parameters |= {(name, str(value)) for name, value in json.loads(body).items()}
    return {("path", urlsplit(url).path.rpartition("/")[2]), *parameters}


@pytest.fixture
def meet(monkeypatch, tmp_path, capsys):
    """Return a function that meets services, whose cassettes are copies, and returns
    the end and what was printed.
    """
    for vendor in VENDORS.values():
        for variable in vendor.variables:
            monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(tapes, "FOLDER", tmp_path)
    monkeypatch.setattr(first_contact, "PAUSE", 0)
    monkeypatch.setattr(first_contact.signal, "signal", lambda *_: None)
    # the name of a page that a server on this machine is to open would be looked up
    monkeypatch.setattr(Targets, "judge", lambda *_, **__: None)
    with contextlib.ExitStack() as servers:

        def start(name: str, service: Service, key: str = KEY) -> Server:
            variable, place = SERVICES[name]
            shutil.copytree(REAL / name, tmp_path / name, dirs_exist_ok=True)
            server = servers.enter_context(Server(reply=service.reply))
            monkeypatch.setenv(variable, key)
            monkeypatch.setenv(place, server.url)
            return server

        def run(*arguments: str) -> tuple[int, list[str]]:
            try:
                end = first_contact.main([*arguments, "--folder", str(tmp_path)])
            finally:
                logging.disable(logging.NOTSET)
            shown = capsys.readouterr()
            assert shown.err == ""
            return end, shown.out.splitlines()

        run.start = start
        run.folder = tmp_path
        yield run


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def rows(lines: list[str]) -> dict[str, str]:
    """Return the verdict of each cassette, with the note beside it."""
    return {
        line.split()[0]: " ".join(line.split()[1:])
        for line in lines
        if "/" in line.partition(" ")[0]
    }


@pytest.mark.enable_socket
@pytest.mark.parametrize("name", SERVICES)
def test_a_service_that_answers_as_documented_is_checked_and_nothing_else_changes(
    meet, name
):
    meet.start(name, Service(name))
    before = contents(meet.folder)
    end, lines = meet()

    assert end == 0
    asked = [each for each in live.SCENARIOS if (REAL / name / f"{each}.yaml").exists()]
    assert rows(lines) == {f"{name}/{each}": "as documented" for each in asked}
    after = contents(meet.folder)
    dates = json.loads(after.pop("checked.json"))
    assert after == before
    assert list(dates) == [name]


def add_field(body):
    return {**body, "request_cost": 3}


@pytest.mark.enable_socket
@pytest.mark.parametrize("name", ["tavily", "serpapi", "exa"])
def test_cassettes_that_differ_are_replaced_and_replay(meet, name, monkeypatch):
    meet.start(name, Service(name, add_field))
    before = contents(meet.folder)
    end, lines = meet()

    assert end == 0
    assert set(rows(lines).values()) == {"differs recorded"}
    assert lines.count("  request_cost is new (number)") == len(rows(lines))
    for variable in SERVICES[name]:
        monkeypatch.delenv(variable)
    for cassette in rows(lines):
        path = meet.folder / f"{cassette}.yaml"
        text = path.read_text("utf-8")
        assert before[f"{cassette}.yaml"] != text.encode()
        assert text.startswith("# recorded 20"), text[:60]
        assert "127.0.0.1" not in text
        tape = tapes.load(path)
        assert tape["interactions"][0]["request"]["uri"].startswith("https://")
        assert tapes.find_mismatch(tape["expect"], tapes.facts(replay(tape))) == ""


@pytest.mark.enable_socket
def test_what_is_another_type_or_missing_is_said_field_by_field(meet):
    def change(body):
        for result in body.get("results", ()):
            result["score"] = "high"
        body.pop("response_time", None)
        return body

    meet.start("tavily", Service("tavily", change))
    _, lines = meet("--scenario", "search")

    assert lines[2:5] == [
        "tavily/search                differs        recorded",
        "  results[].score is text, not number",
        "  response_time is missing",
    ]


@pytest.mark.enable_socket
def test_what_the_terms_forbid_is_compared_and_never_written(meet):
    meet.start("brave", Service("brave", add_field))
    before = contents(meet.folder)
    end, lines = meet()

    assert end == 0
    terms = "its terms do not allow keeping its results"
    assert set(rows(lines).values()) == {f"differs not recorded: {terms}"}
    after = contents(meet.folder)
    assert list(json.loads(after.pop("checked.json"))) == ["brave"]
    assert after == before


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    ("answer", "reason", "other"),
    [
        (http({"detail": {"error": "Unauthorized", "trace": 1}}, "401 Unauthorized"), "wrong key", "wrong_key"),
        (http({"detail": {"error": "usage limit", "plan": "free"}}, "432 Full"), "quota", "quota"),
        (http({"detail": {"error": "excessive"}}, "429 Slow"), "too fast", "rate_limited"),
        (http("Oh no", "503 Unavailable"), "down (503)", ""),
        (say_nothing, "slow", ""),
        (lambda connection: connection.close(), "unreachable", ""),
    ],
)  # fmt: skip
def test_refusals_are_told_apart_and_end_the_calls_of_a_service(
    meet, monkeypatch, answer, reason, other
):
    monkeypatch.setenv("WEBSEARCH_TIMEOUT", "0.5")
    service = Service("tavily")
    service.answer = answer
    server = meet.start("tavily", service)
    before = contents(meet.folder)
    end, lines = meet()

    verdicts = rows(lines)
    assert verdicts["tavily/search"] == f"refused {reason}"
    assert verdicts["tavily/nothing"] == "not asked"
    assert len(server.requests) == 1
    assert end == (0 if other else 2)
    # what was learned is how it refuses
    changed = [
        name for name, data in contents(meet.folder).items() if before[name] != data
    ]
    assert changed == ([f"tavily/{other}.yaml"] if other else [])
    if other:
        assert verdicts[f"tavily/{other}"] == "differs recorded"


@pytest.mark.enable_socket
def test_a_call_that_ends_otherwise_replaces_nothing(meet):
    meet.start("tavily", Service("tavily", lambda _: {"results": 3}))
    before = contents(meet.folder)
    _, lines = meet("--scenario", "search", "wrong_key")

    assert rows(lines)["tavily/search"] == (
        "differs the call fails: tavily search failed: the response has an unexpected "
        "format; "
        "not recorded: it is not what the cassette is about"
    )
    after = contents(meet.folder)
    assert after["tavily/search.yaml"] == before["tavily/search.yaml"]
    assert "checked.json" not in after


@pytest.mark.enable_socket
def test_a_search_that_finds_nothing_has_changed_and_one_that_should_not_is_not_seen(
    meet,
):
    service = Service("tavily")
    meet.start("tavily", service)
    nothing = service._exchanges["nothing"]
    service._exchanges["nothing"] = service._exchanges["search"]
    service._exchanges["search"] = nothing
    before = contents(meet.folder)
    _, lines = meet("--scenario", "search", "nothing")

    verdicts = rows(lines)
    assert verdicts["tavily/search"].startswith(
        "differs nothing is found; not recorded"
    )
    assert verdicts["tavily/nothing"].startswith("not seen it finds something even")
    assert contents(meet.folder) == before


@pytest.mark.enable_socket
def test_limits_are_enforced_before_a_call(meet):
    servers = [meet.start(name, Service(name)) for name in ("tavily", "brave", "exa")]

    for limit in (("--usd", "0"), ("--requests", "0")):
        end, lines = meet(*limit)
        assert end == 2
        assert {note for note in rows(lines).values() if "refused" in note} == {
            "refused the limit"
        }
        assert [server.requests for server in servers] == [[], [], []]
    meet("--requests", "4")
    assert sum(len(server.requests) for server in servers) == 4
    # a search of brave costs .005, so that of exa, .007, and of tavily, .008, do not fit
    meet("--usd", "0.006", "--scenario", "search")
    assert len(servers[0].requests) == 0
    assert servers[1].paths[-1].startswith("/")
    assert sum(len(server.requests) for server in servers) == 5


def test_a_service_without_a_price_counts_the_worst_case():
    providers = [
        type(name, (), {"name": name, "search": lambda *_: None, "base_url": "x"})()
        for name in ("beacon",)
    ]
    assert find_missing_prices(providers) == {"beacon.search": f"{WORST_USD} USD"}
    assert find_dearest_search() == WORST_USD


def test_an_allowance_says_what_it_was_spent_on():
    allowance = Allowance(1, 3)
    allowance.charge_model("openai")

    assert allowance.describe() == (
        "0.02 USD by the lists of prices, 1 requests; of 1 USD and 3 requests"
    )


@pytest.mark.enable_socket
@pytest.mark.parametrize("moment", ["call", "write"])
def test_an_interrupt_leaves_each_cassette_old_or_new(meet, monkeypatch, moment):
    requests = []

    def change(body):
        requests.append(body)
        if moment == "call" and len(requests) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return add_field(body)

    writes = []
    replacing = record.replacing

    @contextlib.contextmanager
    def interrupted(path):
        with replacing(path) as file:
            writes.append(path.name)
            if moment == "write" and len(writes) == 2:
                file.write(b"# half a cas")
                raise KeyboardInterrupt
            yield file

    monkeypatch.setattr(record, "replacing", interrupted)
    meet.start("tavily", Service("tavily", change))
    before = contents(meet.folder)
    end, lines = meet()

    assert end == 130
    assert "interrupted; each cassette is the old one or the new one" in lines
    after = contents(meet.folder)
    assert after.keys() == before.keys()
    assert [name for name in after if after[name] != before[name]] == [
        "tavily/search.yaml"
    ]
    assert tapes.load(meet.folder / "tavily" / "search.yaml")["interactions"]


@pytest.mark.apart
@pytest.mark.enable_socket
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_program_that_is_stopped_leaves_whole_cassettes(meet, number, monkeypatch):
    requests = []

    def change(body):
        requests.append(body)
        if len(requests) == 3:
            program.send_signal(number)
        return add_field(body)

    meet.start("tavily", Service("tavily", change))
    before = contents(meet.folder)
    command = "from tests.cassettes import first_contact as f; f.PAUSE = .1; "
    command += f"raise SystemExit(f.main(['--folder', {str(meet.folder)!r}]))"
    program = subprocess.Popen(
        [sys.executable, "-c", command],
        stdout=subprocess.PIPE,
        text=True,
        cwd=REAL.parent,
    )
    shown = program.communicate(timeout=120)[0]

    assert program.returncode == (-9 if number == signal.SIGKILL else 130)
    assert "tavily/search                differs        recorded" in shown
    after = contents(meet.folder)
    assert after["tavily/search.yaml"] != before["tavily/search.yaml"]
    for path in meet.folder.rglob("*.yaml"):
        assert tapes.load(path)["interactions"], path
    assert KEY.encode() not in b"".join(after.values())


@pytest.mark.enable_socket
def test_a_full_disk_ends_it_with_a_message_and_asks_nothing_more(meet, monkeypatch):
    @contextlib.contextmanager
    def full(path):
        with replacing(path) as file:
            file.write(b"# half a cas")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            yield file

    replacing = record.replacing
    monkeypatch.setattr(record, "replacing", full)
    server = meet.start("tavily", Service("tavily", add_field))
    before = contents(meet.folder)
    end, lines = meet()

    assert end == 1
    assert (
        "stopped, and what was there is still there: search.yaml: "
        "No space left on device"
    ) in lines
    assert contents(meet.folder) == before
    assert len(server.requests) == 1


@pytest.mark.enable_socket
def test_a_key_of_a_service_that_is_gone_is_not_used_and_not_written(meet, monkeypatch):
    gone = "key-of-a-service-that-is-gone"
    monkeypatch.setenv("BING_API_KEY", gone)
    (meet.folder / "bing").mkdir()
    (meet.folder / "bing" / "search.yaml").write_text("web: {provider: bing}\n")
    (meet.folder / record.CHECKED).write_text('{"bing": "2026-01-01"}')
    meet.start("tavily", Service("tavily", lambda body: {**body, "echo": gone}))
    end, lines = meet()

    assert end == 0
    assert not any(row.startswith("bing") for row in rows(lines))
    after = contents(meet.folder)
    assert list(json.loads(after[record.CHECKED])) == ["tavily"]
    assert gone.encode() not in b"".join(after.values())
    assert b'"echo": "[key]"' in after["tavily/search.yaml"]

    end, lines = meet("bing")
    assert end == 2
    assert lines[0].startswith("nothing was asked: ")
    assert "bing" in lines[0]


def test_no_key_and_nothing_named_asks_nothing(meet, monkeypatch):
    for variable in secret_variables():
        monkeypatch.delenv(variable, raising=False)
    end, lines = meet()

    assert end == 2
    assert rows(lines) == {}


ODD_KEYS = [
    "a%2Fb%3Dc%26d-percent",
    "dHZseS1vZi1hLXRlc3Q+/w==",
    "127.0.0.1",
    "https://api.tavily.com/search",
    "api.tavily.com",
    "application/json",
    "tavily",
    "results",
    "e",
    "[key]",
    "key",
    '<b>"&amp;\\u0041\\"',
    "tvly-" + "x" * 300,
    "schlüssel-von-einem-test",
    "键键键键键键键键键",
]


@pytest.mark.enable_socket
@pytest.mark.parametrize("name", ["tavily", "serpapi"])
@pytest.mark.parametrize("key", ODD_KEYS, ids=lambda key: key[:12])
def test_a_service_that_repeats_an_odd_key_leaves_nothing_of_it(
    meet, name, key, caplog
):
    caplog.set_level("DEBUG")
    check_that_nothing_shows(meet, name, key, caplog)


@pytest.mark.enable_socket
def test_a_service_that_repeats_any_key_leaves_nothing_of_it(meet, caplog):
    letters = st.characters(min_codepoint=33, max_codepoint=126)

    @settings(max_examples=12, deadline=None)
    @given(st.text(letters, min_size=1, max_size=40))
    @example("%41%42%43%44%45")
    def run(key: str) -> None:
        check_that_nothing_shows(meet, "tavily", key, caplog)

    run()


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    ("encode", "headers"),
    [
        (lambda text: gzip.compress(text.encode()), ["Content-Encoding: gzip"]),
        (lambda text: text.encode("utf-16"), []),
        (lambda text: b"\xff\xfe\xfd" + text.encode(), []),
    ],
)
def test_a_key_in_bytes_of_any_encoding_is_removed(meet, encode, headers):
    hit = {"title": KEY, "url": f"https://{live.SITE}/{KEY}", "content": KEY}
    body = encode(
        json.dumps({"results": [hit], "echo": b64encode(KEY.encode()).decode()})
    )
    service = Service("tavily")
    kind = "Content-Type: application/json"
    service.answer = http(body, "200 OK", kind, *headers)
    meet.start("tavily", service)
    before = contents(meet.folder)
    _, lines = meet("--scenario", "search")

    assert KEY not in "".join(lines)
    for path, data in contents(meet.folder).items():
        text = data.decode()
        assert without_keys(text, [KEY]) == text, path
        if before.get(path) == data or not path.endswith(".yaml"):
            continue
        for exchange in tapes.load(meet.folder / path)["interactions"]:
            raw = exchange["response"]["body"]["string"]
            assert KEY.encode() not in (raw.encode() if isinstance(raw, str) else raw)


def check_that_nothing_shows(meet, name, key, caplog) -> None:
    def repeat(body):
        spellings = [key, json.dumps(key), quote(key), b64encode(key.encode()).decode()]
        return {**body, "you_sent": spellings, "note": f"wrong key {key}?"}

    meet.start(name, Service(name, repeat), key)
    before = contents(meet.folder)
    caplog.clear()
    _, lines = meet("--scenario", "search", "wrong_key")

    shown = "\n".join(lines)
    assert key not in caplog.text
    if len(key) >= 8:
        assert without_keys(shown, [key]) == shown
    assert key not in shown
    for path, data in contents(meet.folder).items():
        if before.get(path) == data:
            continue
        text = data.decode()
        assert key not in text, path
        if len(key) >= 8:
            assert without_keys(text, [key]) == text, path
            tape = yaml.safe_load(text)
            assert without_keys(str(tape), [key]) == str(tape), path


def test_a_key_in_bytes_or_inside_others_is_removed():
    keys = Keys(["abcdefgh", "abcdefghij", "x"], ["other-key"])

    assert keys.remove({"a": [b"\xff abcdefghij", "other-key", 3, None]}) == {
        "a": [b"\xff [key]", "[key]", 3, None]
    }
    assert keys.redact("x abcdefghij") == "[key] [key]"
    assert not keys.are_in("nothing of it")


def test_a_gateway_does_not_reach_a_cassette(monkeypatch):
    monkeypatch.setenv("TAVILY_BASE_URL", "http://gateway.corp:8080/")
    tape = tapes.load(REAL / "tavily" / "search.yaml")

    assert live.find_places("tavily", tape) == {
        "http://gateway.corp:8080": "https://api.tavily.com"
    }


@pytest.mark.parametrize("name", known())
def test_what_is_asked_names_no_host_that_is_reserved_and_has_no_key(name):
    for scenario in live.SCENARIOS:
        path = REAL / name / f"{scenario}.yaml"
        if not path.exists():
            continue
        call = live.prepare(tapes.load(path), scenario)
        argument, options = call[tapes.role(call)]
        assert "SECRET" not in str(call["web"])
        assert (live.WRONG_KEY in str(call["web"])) is (scenario == "wrong_key")
        assert not any(map(live.is_reserved, options.get("allowed_domains", ())))
        if scenario != "read_failed":
            assert not live.is_reserved(str(argument))


def test_the_days_are_of_services_that_there_are():
    dates = json.loads((REAL / record.CHECKED).read_text("utf-8"))

    assert dates.keys() <= set(known())
    for name in dates:
        assert hasattr(provider_class(name), "about"), name


def test_the_page_lists_the_services_that_are_never_written_with_the_reason():
    page = (REAL.parent / "FIRST-CONTACT.md").read_text("utf-8")
    terms = {name: tapes.why_not_recorded(name) for name in known()}

    assert [line for line in page.splitlines() if line.startswith("- `")] == [
        f"- `{name}`: {reason}" for name, reason in terms.items() if reason
    ]
