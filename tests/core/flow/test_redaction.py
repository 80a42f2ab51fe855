"""Keys that a service repeats are taken out of its answer, in whatever spelling."""

from __future__ import annotations
import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_core.flow import Request
from websearch_core.flow._redaction import keys_in, redact_response, without_keys
from websearch_core.testing import reply

KEY = "sk/9+Q=='\"<tail>"
SPELLINGS = {
    "plain": KEY,
    "JSON": json.dumps(KEY)[1:-1],
    "JSON of PHP": json.dumps(KEY)[1:-1].replace("/", "\\/"),
    "JSON of .NET": "sk\\u002F9\\u002BQ\\u003D\\u003D\\u0027\\u0022\\u003Ctail\\u003E",
    "HTML": html.escape(KEY),
    "a path": quote(KEY),
    "a query": quote_plus(KEY),
    "a query in lower case": "sk%2f9%2bQ%3d%3d%27%22%3ctail%3e",
    "a query in a query": quote(quote(KEY, safe=""), safe=""),
    "the repr of bytes": repr(KEY.encode())[2:-1],
    "JSON with every letter escaped": "".join(
        f"\\u{ord(letter):04x}" for letter in KEY
    ),
    "JSON with one letter escaped": json.dumps(KEY)[1:-1].replace("k", "\\u006B", 1),
    "decimal entities": "".join(f"&#{ord(letter)};" for letter in KEY),
    "hexadecimal entities": "".join(f"&#x{ord(letter):X};" for letter in KEY),
    "named entities": KEY.replace("+", "&plus;").replace("/", "&sol;"),
    "HTML in JSON": html.escape(KEY).replace("&", "\\u0026"),
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=list(SPELLINGS))
def test_a_key_is_found_in_every_usual_spelling(spelling):
    assert without_keys(f"a {spelling} b", [KEY]) == "a [key] b"


@given(st.binary(max_size=5), st.binary(max_size=5))
def test_a_key_is_found_in_base64_wherever_it_begins(before, after):
    key = b"tvly-0123456789"
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        shown = without_keys(encode(before + key + after).decode(), [key.decode()])

        assert "[key]" in shown
        # no more of it than a letter at each end
        assert len(shown) <= len(encode(before + after)) + len("[key]") + 4


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"]
)
@pytest.mark.parametrize("escape", [False, True])
def test_a_key_is_found_in_json_of_every_encoding(encoding, escape):
    text = json.dumps({"a": f"the {KEY} of 世界"}, ensure_ascii=escape)

    answer = redact_response(
        reply(text.encode(encoding)), Request(url="", headers={"X-Api-Key": KEY})
    )

    assert answer.json() == {"a": "the [key] of 世界"}


def test_a_key_of_nothing_but_escapes_takes_no_exponential_time():
    for sign in "\\&%":
        assert without_keys(sign * 1_000, [sign * 60 + "x"]) == sign * 1_000


def test_a_short_key_does_not_eat_words():
    assert without_keys("blocked", ["key"]) == "blocked"
    assert without_keys("a 7letter b", ["7letter"]) == "a 7letter b"
    assert without_keys("a 8letters b", ["8letters"]) == "a [key] b"


@pytest.mark.parametrize(
    ("headers", "keys"),
    [
        ({"Authorization": "Bearer tvly-0123456789"}, ("tvly-0123456789",)),
        ({"X-Subscription-Token": "BSA0123456789"}, ("BSA0123456789",)),
        ({"x-api-key": "0123456789"}, ("0123456789",)),
        ({"Ocp-Apim-Subscription-Key": "0123456789"}, ("0123456789",)),
        (
            {"Authorization": "Basic dXNlcjpwYXNzd29yZDE="},
            ("dXNlcjpwYXNzd29yZDE=", "password1"),
        ),
        ({"Authorization": "Basic nonsense"}, ("nonsense",)),
        (
            {
                "Accept": "application/json",
                "Referer": "https://a.example/search",
                "X-Retain-Images": "alternative",
            },
            (),
        ),
        ({"Authorization": ""}, ()),
    ],
)
def test_keys_travel_in_headers_whose_names_say_so(headers, keys):
    assert keys_in(Request(url="", headers=headers)) == keys


def test_keys_travel_in_secret_parameters_too():
    assert keys_in(
        Request(url="", params={"q": "kelp"}, secret_params={"api_key": KEY})
    ) == (KEY,)


def test_a_response_loses_the_key_in_body_and_headers_and_stays_json():
    request = Request(url="https://api.example/", headers={"X-Api-Key": "0123456789"})
    answer = redact_response(
        reply({"url": "https://a.example/?k=0123456789"}, x_echo="is 0123456789"),
        request,
    )

    assert answer.json() == {"url": "https://a.example/?k=[key]"}
    assert answer.headers["x-echo"] == "is [key]"


def test_a_response_that_repeats_nothing_is_left_as_it_is():
    answer = reply({"results": []})

    assert (
        redact_response(
            answer,
            Request(url="https://api.example/", headers={"X-Api-Key": "0123456789"}),
        )
        is answer
    )
