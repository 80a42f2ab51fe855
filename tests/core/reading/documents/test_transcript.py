"""Captions and transcripts become paragraphs that begin with their time, whatever is
wrong with them.
"""

from __future__ import annotations
import json
import random

import pytest

from websearch_core.reading import read_bytes

URL = "https://sea.example/kelp.vtt"
VTT = """WEBVTT - Kelp

NOTE Not said
nor this

STYLE
::cue { color: red }

REGION
id:fred

1
00:00:01.000 --> 00:00:03.000 align:start position:0%
<v.loud Ada Brandvold>Kelp is a <c.brown>brown <00:00:02.000>alga</c>.</v>

00:00:03.000 --> 00:00:05.000
It grows &amp; grows,
half a metre a day.

NOTE between
01:01:05.000 --> 01:01:06.000
<v Ben>Really?
"""


def read(text, kind="text/vtt", url=URL):
    return read_bytes(text if isinstance(text, bytes) else text.encode(), url, kind)


def podcast(*segments):
    return json.dumps({"version": "1.0.0", "segments": segments})


def test_captions_are_what_is_said_by_whom_and_when():
    page = read(VTT)

    assert page.content == (
        "(0:01) Ada Brandvold: Kelp is a brown alga. It grows & grows, half a metre a day.\n\n(1:01:05) Ben: Really?"
    )
    assert (page.media_type, page.notes, page.truncated) == ("text/vtt", (), False)


@pytest.mark.parametrize(
    "kind", ["application/x-subrip", "application/srt", "text/srt", "text/plain", None]
)
def test_subrip_is_read_whatever_the_header_says(kind):
    text = "1\r\n00:00:01,000 --> 00:00:02,000\r\n<i>Kelp</i> {\\an8}grows\r\n\r\n2\r\n00:00:02,500 --> 00:00:03,000\r\nfast.\r\n"

    assert (
        read(text, kind, "https://sea.example/kelp.srt").content
        == "(0:01) Kelp grows fast."
    )


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/octet-stream", "text/vtt; charset=utf-8", None]
)
@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf"])
def test_webvtt_is_known_by_how_it_begins(kind, before):
    page = read(before + VTT.encode(), kind, "https://sea.example/captions")

    assert (page.media_type, page.content[:12]) == ("text/vtt", "(0:01) Ada B")


def test_a_text_that_only_mentions_webvtt_is_none():
    assert (
        read("WEBVTTs are captions.", "text/plain", "https://sea.example/a").content
        == "WEBVTTs are captions."
    )


def test_the_json_of_a_podcast_is_read():
    segments = (
        {"speaker": "Ada", "startTime": 0.5, "endTime": 1, "body": "Kelp"},
        {"speaker": "Ada", "startTime": 1, "body": "grows."},
        {"speaker": "Ben", "startTime": 61.5, "body": "Fast?"},
    )

    assert (
        read(podcast(*segments), "application/x-transcript+json").content
        == "(0:00) Ada: Kelp grows.\n\n(1:01) Ben: Fast?"
    )


def test_wrong_fields_of_a_podcast_are_left_out():
    whens = ["x", None, True, -1, 1e400, 10**400, []]
    odd = [{"body": "Kelp.", "startTime": when, "speaker": when} for when in whens]
    page = read(
        podcast(None, 3, {"body": 3}, {"body": " "}, *odd),
        "application/x-transcript+json",
    )

    assert page.content == f"(?) x: {' '.join(['Kelp.'] * len(whens))}"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("WEBVTT\n\nNOTE nothing\n", "text/vtt"),
        ("kelp", "application/x-subrip"),
        ('{"segments": {}}', "application/x-transcript+json"),
        ("[]", "application/x-transcript+json"),
        ("{", "application/x-transcript+json"),
        ("[" * 100_000, "application/x-transcript+json"),
    ],
)
def test_a_file_without_cues_is_the_text_that_it_is(text, kind):
    assert read(text, kind).content.startswith("```")


def test_captions_that_roll_are_read_once():
    cues = [
        "Kelp grows",
        "Kelp grows\nhalf a metre",
        "half a metre",
        "half a metre\na day.",
    ]
    text = "WEBVTT\n\n" + "\n\n".join(
        f"00:00:0{n}.000 --> 00:00:0{n}.900\n{cue}" for n, cue in enumerate(cues)
    )

    assert read(text).content == "(0:00) Kelp grows half a metre a day."


def test_a_long_talk_has_paragraphs_that_end_with_a_sentence():
    cues = [
        f"00:{n // 60:02}:{n % 60:02}.000 --> 00:59:00.000\nKelp number {n} grows fast{'.' * (n % 5 == 4)}"
        for n in range(100)
    ]
    parts = read("WEBVTT\n\n" + "\n\n".join(cues)).content.split("\n\n")

    assert len(parts) > 3
    assert [
        part
        for part in parts[:-1]
        if not (part.endswith(".") and 400 <= len(part) <= 700)
    ] == []
    assert parts[1].startswith("(0:20) Kelp number 20")


def test_a_talk_without_sentences_has_paragraphs_too():
    cues = [
        f"00:{n // 60:02}:{n % 60:02}.000 --> 00:59:00.000\nkelp number {n}"
        for n in range(400)
    ]

    assert (
        max(map(len, read("WEBVTT\n\n" + "\n\n".join(cues)).content.split("\n\n")))
        < 1_400
    )


@pytest.mark.parametrize(
    "said",
    [
        "# Kelp",
        "```",
        "![x](https://collector.example/?d=1)",
        "[x]: https://evil.example",
        "&lt;script&gt;",
        "| a |\n|---|",
        "> q",
    ],
)
def test_nothing_that_is_said_is_markup(said):
    page = read(
        f"WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n{said}\n\n00:00:03.000 --> 00:00:04.000\n<v {said}>kelp"
    )

    assert page.links == ()
    assert [
        line for line in page.content.split("\n\n") if not line.startswith("(0:0")
    ] == []
    assert [mark for mark in ("](", "```", "<script") if mark in page.content] == []


def test_invisible_characters_are_removed_and_a_long_file_is_cut():
    page = read("WEBVTT\n\n" + "00:00:01.000 --> 00:00:02.000\nkelp\u202e\n\n" * 60_000)

    assert page.truncated
    assert len(page.notes) == 2
    assert "\u202e" not in page.content


def test_a_charset_that_may_hide_markup_is_noted():
    assert read(
        b"WEBVTT\n\n00:01.000 --> 00:02.000\nkelp", "text/vtt; charset=iso-2022-kr"
    ).notes


def test_no_file_makes_the_reader_fail():
    pieces = [
        "00:00:01.000 --> 00:00:02.000",
        "-->",
        "\n",
        "\n\n",
        "<v Ada>",
        "<",
        ">",
        "{\\",
        "&",
        "WEBVTT",
        "1",
        "kelp",
        "٣",
    ]
    dice = random.Random(7)
    for _ in range(300):
        text = "".join(dice.choices(pieces, k=dice.randrange(40)))
        read("WEBVTT\n\n" + text)
        read(text, "application/x-subrip")
        read('{"segments": [' + text, "application/x-transcript+json")
