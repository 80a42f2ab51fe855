"""Which transcripts a page names."""

from __future__ import annotations

import pytest

from websearch_core.reading import find_transcripts
from websearch_core.reading._documents.transcript import Transcript

URL = "https://sea.example/films/kelp"
SRT = "application/x-subrip"


def find(text, url=URL):
    return find_transcripts(
        text.encode(), url, "text/html; charset=utf-8", is_feed=False
    )


def of_feed(*entries, url="https://sea.example/feed"):
    items = "".join(f"<item>{entry}</item>" for entry in entries)
    text = f'<rss xmlns:podcast="https://podcastindex.org/namespace/1.0"><channel><title>Sea</title>{items}</channel></rss>'
    return find_transcripts(text.encode(), url, "application/rss+xml", is_feed=True)


@pytest.mark.parametrize(
    ("html", "tracks", "found"),
    [
        ("en", "<track src=a.vtt srclang=de><track src=b.vtt srclang=en>", "b"),
        (
            "en",
            "<track src=a.vtt srclang=en><track kind=captions src=b.vtt srclang=en-GB>",
            "b",
        ),
        (
            "en",
            "<track kind=captions src=a.vtt srclang=en><track src=b.vtt srclang=en default>",
            "b",
        ),
        ("fr", "<track src=a.vtt srclang=de><track src=b.vtt srclang=en default>", "b"),
        ("fr", "<track src=a.vtt srclang=de><track src=b.vtt srclang=en>", "a"),
        (
            "en",
            "<track kind=chapters src=a.vtt srclang=en><track kind=SUBTITLES src=b.vtt>",
            "b",
        ),
        (
            "en",
            "<track kind=metadata src=a.vtt><track kind=descriptions src=b.vtt><track kind=x src=c.vtt>",
            "",
        ),
        (
            "en",
            "<track><track src=''><track src='javascript:x'><track src=http://sea.example/a.vtt>",
            "",
        ),
        ("en", "<track src=a.vtt><track src=//u:p@sea.example/b.vtt>", "a"),
    ],
)
def test_a_video_has_one_transcript_the_one_to_read(html, tracks, found):
    urls = [one.url for one in find(f"<html lang={html}><video>{tracks}</video>")]

    assert urls == ([f"https://sea.example/films/{found}.vtt"] if found else [])


def test_each_video_has_its_own_with_its_label():
    first, second = (
        "<track src=1.vtt label=' The  sea '>",
        "<track src=2.vtt srclang=no>",
    )

    assert find(
        f"<base href=/c/><video>{first}</video><audio>{second}</audio><p>{first}"
    ) == [
        Transcript("https://sea.example/c/1.vtt", "text/vtt", "The sea"),
        Transcript("https://sea.example/c/2.vtt", "text/vtt", "no"),
    ]


@pytest.mark.parametrize(
    ("links", "found"),
    [
        (
            "<link rel=transcript href=t.json type=application/json>",
            ("t.json", "application/x-transcript+json"),
        ),
        (
            "<link rel='x TRANSCRIPT' href=t.html type='text/html; charset=utf-8'>",
            ("t.html", "text/html"),
        ),
        ("<link rel=alternate href=t.srt type=application/srt>", ("t.srt", SRT)),
        (
            "<link rel=transcript href=t.html type=text/html><link rel=transcript href=t.vtt type=text/vtt>",
            ("t.vtt", "text/vtt"),
        ),
        ("<link rel=transcript href=t.pdf type=application/pdf>", None),
        ("<link rel=transcript href=t>", None),
        ("<link rel=alternate href=t.json type=application/json>", None),
        ("<link rel=alternate href=/feed type=application/rss+xml>", None),
        (f"<link rel=transcript href={URL} type=text/html>", None),
    ],
)
def test_the_head_of_a_page_names_its_transcript(links, found):
    expected = (
        [Transcript(f"https://sea.example/films/{found[0]}", found[1])] if found else []
    )

    assert find(f"<head>{links}</head><p>Kelp") == expected


def test_a_page_without_encryption_may_name_both():
    assert (
        len(
            find(
                "<video><track src=https://b.example/a.vtt></video>",
                "http://sea.example/",
            )
        )
        == 1
    )
    assert len(find("<video><track src=a.vtt></video>", "http://sea.example/")) == 1


def test_an_episode_has_one_transcript_and_its_title():
    several = "".join(
        f'<podcast:transcript url="{n}.x" type="{kind}" />'
        for n, kind in enumerate(["text/plain", "application/json", "text/html", "x/y"])
    )
    found = of_feed(
        f"{several}<title>Kelp &amp;amp; more</title>",
        f"<title><![CDATA[<b>Tides</b>]]></title>{several.replace('.x', '.y')}",
        "<title>None</title>",
        "<podcast:transcript type='application/srt' url='https://cdn.example/3.srt?a=1&amp;b=2'/>",
        "<podcast:transcript url='4.vtt'/><podcast:transcript type='text/vtt'/>",
    )

    assert found == [
        Transcript(
            "https://sea.example/1.x", "application/x-transcript+json", "Kelp & more"
        ),
        Transcript("https://sea.example/1.y", "application/x-transcript+json", "Tides"),
        Transcript("https://cdn.example/3.srt?a=1&b=2", SRT, ""),
    ]


@pytest.mark.parametrize(
    "unit",
    ["<podcast:transcript ", "<item>", "<title>", "<title ", "url='", "<![CDATA["],
)
def test_a_hostile_feed_takes_no_longer_than_its_length(unit):
    assert of_feed(unit * (1_000_000 // len(unit))) == []
