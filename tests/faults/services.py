"""Faults 1 to 29: what goes wrong with a service that is asked to search."""

from __future__ import annotations
from collections.abc import Sequence
from email.utils import formatdate
from functools import partial
from typing import Any

from tests.faults.model import Case, Fault
from tests.server import Answer, endless, head, http, late, resetting

KEY = "tvly-SECRET-of-a-test-0123456789"
FOUND = http(
    {
        "results": [
            {"title": "Kelp", "url": "https://kelp.example/", "content": "Brown algae."}
        ]
    }
)
LOGIN = "<!doctype html><title>Sign in</title><p>Sign in to this network."
HTML = "Content-Type: text/html"

_Json, _Html, _Chain = (
    partial(Case, where=where) for where in ("json", "html", "chain")
)


def failed(status: str, *headers: str, body: Any = None) -> bytes:
    """Answer with an error that repeats the key."""
    return http({"error": f"no: {KEY}"} if body is None else body, status, *headers)


def _fails_everywhere(
    name: str,
    answer: Answer,
    code: str,
    requests: int,
    first: str,
    html: str = "",
    **more: Any,
) -> Sequence[Case]:
    return (
        _Json(name=name, answers=(answer,), expected=code, requests=requests, **more),
        _Html(
            name=name,
            answers=(answer,),
            expected=html or code,
            requests=requests,
            **more,
        ),
        _Chain(
            name=name,
            answers=(answer,),
            expected="ok",
            requests=requests,
            first=first,
            **more,
        ),
    )


def _results(*items: Any) -> bytes:
    return http({"results": list(items)})


_UNUSABLE = (
    "javascript:alert(1)",
    "data:text/html,hi",
    "file:///etc/passwd",
    "/relative",
    "https://a\x00b.example/",
    "",
)
_GARBAGE = ("in a while", "-5", "NaN", "\xb2", "1e400", "Sun, 99 Foo 2020 99:99:99 GMT")
_STORM = (
    "tests/core/layers/test_retry_budget.py::"
    "test_a_storm_of_calls_at_a_total_outage_sends_less_than_a_quarter_more_requests"
)
_LIMITS = "tests/core/layers/test_throttle.py::test_a_limit_that_the_service_says_is_used_up_is_waited_for"

FAULTS = (
    Fault(
        number=1,
        name="the connection is refused",
        injected="a port that nobody listens on",
        promise="`unavailable`; with several providers, the next answers",
        cases=(
            _Json(expected="unavailable", requests=0, base="http://127.0.0.1:{closed}"),
            _Html(expected="unavailable", requests=0, base="http://127.0.0.1:{closed}"),
            _Chain(
                expected="ok",
                requests=0,
                first="failed",
                base="http://127.0.0.1:{closed}",
            ),
        ),
    ),
    Fault(
        number=2,
        name="connections lead nowhere",
        injected="a port that drops every SYN",
        promise="`timed_out` at the end of the time; each of several providers gets its share of it",
        cases=(
            _Json(
                expected="timed_out",
                requests=0,
                limit=0.5,
                base="http://127.0.0.1:{silent}",
            ),
            _Chain(
                expected="ok",
                requests=0,
                first="timeout",
                limit=6.0,
                base="http://127.0.0.1:{silent}",
            ),
        ),
    ),
    Fault(
        number=3,
        name="the first of several addresses is dead",
        injected="a resolver with two addresses, the first of which drops every SYN",
        promise="async: the second is tried beside it after 0.25 s (RFC 8305); blocking: after a fair share of the time",
        proven_by=(
            "tests/faults/test_connections.py::test_a_dead_address_does_not_use_up_the_time_of_the_next",
            "tests/core/net/test_sender.py::test_a_second_address_is_tried_when_the_first_refuses",
        ),
    ),
    Fault(
        number=4,
        name="the name does not exist",
        injected="a resolver that says so",
        promise="`unavailable`, not temporary, and no retry; the next provider answers",
        cases=(
            _Json(
                expected="unavailable",
                temporary=False,
                requests=0,
                base="http://nowhere.example:{port}",
            ),
            _Chain(
                expected="ok",
                first="failed",
                requests=0,
                base="http://nowhere.example:{port}",
            ),
        ),
    ),
    Fault(
        number=5,
        name="the name is looked up for ever",
        injected="a resolver that hangs",
        promise="`timed_out`, blocking too, with at most 16 stuck threads for each `WebSearch`",
        cases=(
            _Json(
                expected="timed_out",
                requests=0,
                limit=0.5,
                base="http://hang.example:{port}",
                peers=False,
            ),
            _Chain(
                expected="ok",
                first="timeout",
                limit=6.0,
                base="http://hang.example:{port}",
            ),
        ),
        proven_by=(
            "tests/core/net/test_lookup.py::test_names_that_hang_hold_up_neither_a_service_nor_another_tenant",
            "tests/core/net/test_lookup.py::test_blocking_calls_do_not_hold_each_other_up_either",
        ),
    ),
    Fault(
        number=6,
        name="a certificate that is not good",
        injected="servers whose certificate is for another name, expired, self-signed or of an unknown authority",
        promise="`unavailable`, not temporary; nothing is sent, and never over http",
        cases=tuple(
            _Json(
                name=kind,
                answers=(FOUND,),
                expected="unavailable",
                temporary=False,
                requests=0,
                base="https://127.0.0.1:{port}",
                certificate=kind,
            )
            for kind in ("other name", "expired", "self-signed", "unknown")
        ),
    ),
    Fault(
        number=7,
        name="a TLS handshake without an answer",
        injected="a port that takes connections and says nothing",
        promise="`timed_out`",
        cases=(
            _Json(
                answers=(endless(b"", b"", 0.05),),
                expected="timed_out",
                requests=0,
                limit=0.5,
                base="https://127.0.0.1:{mute}",
            ),
        ),
        proven_by=(
            "tests/faults/test_connections.py::test_a_handshake_that_ends_too_late_leaves_no_connection",
        ),
    ),
    Fault(
        number=8,
        name="500, 502, 503, 504",
        injected="these answers",
        promise="`unavailable` after three attempts; then the next provider",
        cases=tuple(
            case
            for status in ("500 Oops", "502 Bad Gateway", "503 Busy", "504 Late")
            for case in _fails_everywhere(
                status[:3], failed(status), "unavailable", 3, "failed"
            )
        ),
    ),
    Fault(
        number=9,
        name="429 with `Retry-After: 1`",
        injected="that answer, then results",
        promise="waits so long if there is time, else the next provider; further requests wait, too",
        cases=(
            _Json(
                name="there is time",
                answers=(failed("429 Slow", "Retry-After: 1"), FOUND),
                expected="ok",
                requests=2,
                shortest=0.9,
            ),
            _Chain(
                name="there is none",
                answers=(failed("429 Slow", "Retry-After: 8"),),
                expected="ok",
                first="rate_limited",
                requests=1,
                limit=10.0,
            ),
        ),
        proven_by=(_LIMITS,),
    ),
    Fault(
        number=10,
        name="429 with `Retry-After: 99999999999`",
        injected="that answer",
        promise="`rate_limited` at once, without waiting; the next provider; the breaker rests for at most 300 s",
        cases=tuple(
            _fails_everywhere(
                "",
                failed("429 Slow", "Retry-After: 99999999999"),
                "rate_limited",
                1,
                "rate_limited",
            )
        ),
        proven_by=(
            "tests/core/layers/test_breaker.py::test_the_service_may_ask_for_a_longer_rest_but_not_for_a_day",
        ),
    ),
    Fault(
        number=11,
        name="a `Retry-After` that makes no sense",
        injected="text, a negative number, NaN, other digits, a date that is past or none",
        promise="as if it were missing, or 0; never another error",
        cases=tuple(
            _Json(
                name=value.encode("ascii", "backslashreplace").decode(),
                answers=(failed("429 Slow", f"Retry-After: {value}"), FOUND),
                expected="ok",
                requests=2,
            )
            for value in (*_GARBAGE, formatdate(1_000_000_000, usegmt=True))
        ),
    ),
    Fault(
        number=12,
        name="401 and 403, repeating the key",
        injected="these answers",
        promise="`authentication_failed` (DuckDuckGo's 403 is `blocked`), one request; the key shows nowhere",
        cases=(
            *_fails_everywhere(
                "401", failed("401 No"), "authentication_failed", 1, "auth"
            ),
            *_fails_everywhere(
                "403",
                failed("403 No"),
                "authentication_failed",
                1,
                "auth",
                html="blocked",
            ),
        ),
    ),
    Fault(
        number=13,
        name="the quota is used up",
        injected="402; Tavily's 432; a 429 whose headers name a used-up month; 200 with an error",
        promise="`quota_exhausted`, one request; the next provider",
        cases=(
            *_fails_everywhere("402", failed("402 Pay"), "quota_exhausted", 1, "quota"),
            _Json(
                name="432",
                answers=(failed("432 Plan"),),
                expected="quota_exhausted",
                requests=1,
            ),
            _Json(
                name="429 of a month",
                answers=(
                    failed(
                        "429 Slow",
                        'RateLimit-Policy: "month";q=1000;w=2592000',
                        'RateLimit: "month";r=0;t=9',
                    ),
                ),
                expected="quota_exhausted",
                requests=1,
            ),
            _Json(
                name="200 with an error",
                answers=(
                    http(
                        {
                            "error": {
                                "code": "daily_cap_reached",
                                "message": "no more today",
                            }
                        }
                    ),
                ),
                expected="quota_exhausted",
                requests=1,
                peers=False,
            ),
        ),
    ),
    Fault(
        number=14,
        name="400",
        injected="that answer",
        promise="`bad_request`, one request, not counted by the breaker",
        cases=tuple(
            _fails_everywhere("", failed("400 Bad Request"), "bad_request", 1, "failed")
        ),
        proven_by=(
            "tests/core/layers/test_breaker.py::test_what_is_not_the_fault_of_the_service_does_not_count",
        ),
    ),
    Fault(
        number=15,
        name="200, but not the format",
        injected="invalid JSON, JSON that is cut or is not an object; the sign-in page of a network; nothing",
        promise="`bad_response`, one request; the next provider",
        cases=tuple(
            case
            for name, answer in (
                (
                    "no JSON",
                    http("{'a': 1}", "200 OK", "Content-Type: application/json"),
                ),
                (
                    "cut",
                    http(
                        '{"results": [{"ti', "200 OK", "Content-Type: application/json"
                    ),
                ),
                ("a list", http("[]", "200 OK", "Content-Type: application/json")),
                ("a sign-in page", http(LOGIN, "200 OK", HTML)),
                ("nothing", http(b"")),
                (
                    "no UTF-8",
                    http(b"\xff\xfe\xff", "200 OK", "Content-Type: application/json"),
                ),
            )
            for case in _fails_everywhere(name, answer, "bad_response", 1, "parse")
        ),
    ),
    Fault(
        number=16,
        name="200, and the format has changed",
        injected="fields that are missing, null, of another type or new; results recorded and made unlike themselves",
        promise="a result with a usable URL is kept, any other left out; no list at all is an empty answer with a note",
        cases=(
            _Json(
                name="missing, null, new",
                answers=(
                    _results(
                        {"url": "https://a.example/", "new": {}},
                        {"url": None, "title": 3},
                        None,
                        7,
                    ),
                ),
                expected="ok",
                text="https://a.example/",
            ),
            _Json(
                name="another type",
                answers=(http({"results": "none"}),),
                expected="bad_response",
                requests=1,
            ),
            _Json(
                name="renamed",
                answers=(_results({"link": "https://a.example/"}),),
                expected="bad_response",
                requests=1,
            ),
        ),
        proven_by=(
            "tests/core/test_contract.py::test_every_provider_keeps_its_promises",
        ),
    ),
    Fault(
        number=17,
        name="results that lead nowhere good",
        injected="`javascript:`, `data:`, `file:`, relative, with control characters",
        promise="left out before anybody sees them; what leads inside is refused when it is opened",
        cases=(
            _Json(
                answers=(
                    _results(
                        *({"url": url, "title": "bad"} for url in _UNUSABLE),
                        {"url": "https://a.example/"},
                    ),
                ),
                expected="ok",
                text="https://a.example/",
                without="javascript:",
            ),
        ),
    ),
    Fault(
        number=18,
        name="an answer without end",
        injected="JSON that goes on for ever",
        promise="`too_large` after 10 MiB, one request",
        cases=(
            _Json(
                answers=(
                    endless(
                        b"[" + b"0," * 32_768,
                        head("200 OK", "Content-Type: application/json"),
                    ),
                ),
                expected="too_large",
                requests=1,
            ),
        ),
    ),
    Fault(
        number=19,
        name="the service stops in the middle, or drips",
        injected="no answer; no body; a body of one byte every 20 ms; the same for the head",
        promise="`timed_out`, blocking too; the next provider answers in its share of the time",
        cases=tuple(
            case
            for name, answer in (
                ("silence", endless(b"", b"", 0.05)),
                (
                    "half a body",
                    endless(b"", head("200 OK", "Content-Length: 100"), 0.05),
                ),
                (
                    "a dripping body",
                    endless(b" ", head("200 OK", "Content-Length: 1000000"), 0.02),
                ),
                ("a dripping head", endless(b"a", b"HTTP/1.1 200 OK\r\nX: ", 0.02)),
            )
            for case in (
                _Json(name=name, answers=(answer,), expected="timed_out", limit=0.5),
                _Chain(
                    name=name,
                    answers=(answer,),
                    expected="ok",
                    first="timeout",
                    requests=1,
                    limit=6.0,
                ),
            )
        ),
    ),
    Fault(
        number=20,
        name="the connection is reset in the middle",
        injected="a reset, at once or after half of the body; the next answer is good",
        promise="tried again, up to three attempts",
        cases=(
            *(
                _Json(
                    name=name,
                    answers=(resetting(data), FOUND),
                    expected="ok",
                    requests=2,
                )
                for name, data in (("at once", b""), ("half-way", FOUND[:-10]))
            ),
            *_fails_everywhere(
                "again and again", resetting(FOUND[:-10]), "unavailable", 3, "failed"
            ),
        ),
    ),
    Fault(
        number=21,
        name="a kept connection that the server has closed",
        injected="a server that hangs up after, or during, its second request",
        promise="a new connection, no error",
        proven_by=(
            "tests/faults/test_connections.py::test_a_connection_that_the_server_closed_is_replaced",
        ),
    ),
    Fault(
        number=22,
        name="every provider is down",
        injected="three ports that nobody listens on",
        promise="`all_providers_failed` names each and its reason, in time; retries have a budget",
        proven_by=(
            "tests/faults/test_connections.py::test_when_all_are_down_the_error_names_each_in_time",
            _STORM,
        ),
    ),
    Fault(
        number=23,
        name="a provider that is slow",
        injected="an answer that takes longer than its share of the time",
        promise="the next provider answers in time; with `hedge`, it is asked beside the first, in at most one call of twenty",
        cases=(
            _Chain(
                answers=(late(FOUND, 9.0),),
                expected="ok",
                first="timeout",
                requests=1,
                limit=6.0,
            ),
        ),
        proven_by=(
            "tests/core/layers/test_fuse.py::test_a_slow_provider_is_not_waited_for_until_the_whole_time_is_over",
            "tests/core/layers/test_hedging.py::test_the_next_is_asked_when_one_is_late_and_the_loser_is_cancelled",
            "tests/core/layers/test_hedging.py::test_at_most_one_call_in_twenty_and_one_more_is_hedged",
            "tests/core/layers/test_hedging.py::test_the_connection_of_the_loser_is_closed",
        ),
    ),
    Fault(
        number=24,
        name="a provider that flaps",
        injected="a simulated outage with 3,000 calls",
        promise="at most 1.21 times as many requests as calls",
        proven_by=(_STORM,),
    ),
    Fault(
        number=25,
        name="a breaker that tries again, and 20 callers at once",
        injected="20 threads after the rest",
        promise="exactly one request",
        proven_by=(
            "tests/core/layers/test_breaker.py::test_of_many_threads_one_probes",
        ),
    ),
    Fault(
        number=26,
        name="the caller gives up",
        injected="a cancelled task; Ctrl-C in a blocking call",
        promise="the socket is closed, the place in the queue and the probe are given back, nothing counts as a failure",
        proven_by=(
            "tests/faults/test_connections.py::test_a_cancelled_call_closes_its_connection_and_gives_its_place_back",
            "tests/faults/test_connections.py::test_an_interrupt_closes_the_connection_and_gives_the_place_back",
            "tests/core/net/test_sender.py::test_cancelling_closes_the_connection",
            "tests/core/layers/test_throttle.py::test_whoever_is_cancelled_while_the_service_answers_gives_the_place_back",
            "tests/core/layers/test_breaker.py::test_a_call_that_is_cancelled_does_not_count_and_gives_the_probe_back",
        ),
    ),
    Fault(
        number=27,
        name="many identical searches at once",
        injected="1,000 callers, in threads and on an event loop",
        promise="one request for all threads, and one for each loop",
        proven_by=(
            "tests/core/layers/test_single_flight.py::test_a_thousand_identical_searches_on_a_loop_send_one_request",
            "tests/core/layers/test_single_flight.py::test_a_thousand_identical_searches_in_threads_send_one_request",
        ),
    ),
    Fault(
        number=28,
        name="the first of several identical calls is cancelled",
        injected="a cancelled task; an interrupt",
        promise="the others get their answer",
        proven_by=(
            "tests/core/layers/test_single_flight.py::test_cancelling_the_first_caller_does_not_disturb_the_others",
            "tests/core/layers/test_single_flight.py::test_an_interrupt_is_for_one_caller_alone",
        ),
    ),
    Fault(
        number=29,
        name="the clock jumps",
        injected="a wall clock that moves by days during a call and between calls",
        promise="deadlines do not notice; what is cached is at worst fetched again",
        proven_by=(
            "tests/faults/test_clock.py::test_a_deadline_does_not_follow_the_wall_clock",
            "tests/faults/test_clock.py::test_a_cache_survives_a_clock_that_jumps",
        ),
    ),
)
