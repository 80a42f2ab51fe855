"""What an icon says stands in words beside the text that it is about."""

from __future__ import annotations

import pytest

from websearch_core.reading import read_bytes

STORY = (
    "<p>The hut above the glacier has forty beds, and is open from June to the first "
    "snow. Whoever comes on foot from the valley needs about three hours.</p>"
)


def read(body: str) -> str:
    source = f"<title>The hut</title><main><h1>The hut</h1>{STORY}{body}{STORY}</main>"
    page = read_bytes(source.encode(), "https://hut.example/beds", "text/html")
    return page.content


TICK = "<i class='fa fa-check' aria-hidden=true></i>"
CROSS = "<i class='fa fa-times' aria-hidden=true></i>"


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (
            "<ul><li><svg aria-label='Not included'></svg> Soap</ul>",
            "- Not included: Soap",
        ),
        ("<ul><li><img src=n.png alt=Nein> Dusche</ul>", "- Nein: Dusche"),
        ("<ul><li>Savon <i title='Non compris'></i></ul>", "- Savon: Non compris"),
        (
            "<div><div><img alt='No incluido'></div><div>Jabón</div></div>",
            "\nNo incluido: Jabón\n",
        ),
        (
            "<div><b>Soap</b><i><svg aria-label=No></svg></i><i><svg aria-label=Yes></svg></i></div>",
            "**Soap: No, Yes**",
        ),
        (f"<p>{TICK} Tea<br>{CROSS} Soap</p>", "✓ Tea\n✗ Soap"),
        (
            "<ul><li><svg><use href='#tick'></use></svg>Tea<li><svg><use href='#cross'></use></svg>Soap</ul>",
            "- ✓ Tea\n- ✗ Soap",
        ),
        (
            "<ul><li><i class=material-icons>check</i>Tea<li><i class=material-icons>close</i>Soap</ul>",
            "- ✓ Tea\n- ✗ Soap",
        ),
        ("<ul><li><i class=material-icons>wifi</i> Radio</ul>", "- Radio"),
        (
            "<ul><li><b class=c></b>Tea<li><i class=x></i><span class=sr-only>Not available:</span> Soap</ul>",
            "- Not available: Soap",
        ),
        ("<ul><li>Tea<li class=unavailable>Soap</ul>", "- Tea\n- ✗ Soap"),
        (
            "<ul><li class=row--included>Tea<li class=row--excluded>Soap</ul>",
            "- Tea\n- ✗ Soap",
        ),
        ("<ul><li class=yes>Tea<li class=no>Soap</ul>", "- ✓ Tea\n- ✗ Soap"),
        (
            "<ul><li><i aria-hidden=true>✅</i> Tea<li><img alt='❌'> Soap</ul>",
            "- ✓ Tea\n- ✗ Soap",
        ),
        (
            "<dl><dt>Tea<dd><i class=icon-ok></i><dt>Soap<dd><i class=icon-x></i></dl>",
            "Tea\n: ✓\n\nSoap\n: ✗",
        ),
        ("<ul><li style='text-decoration:line-through'>Soap</ul>", "- ~~Soap~~"),
        (
            "<ul><li><span class=sr-only>Fehlt</span>Seife<li>Tee im Zimmer</ul>",
            "Fehlt Seife",
        ),
        (
            "<ul><li><p><span class=sr-only>No</span> tea<li>Soap, two bars</ul>",
            "No tea",
        ),
        ("<p>Now <span class=line-through>9 €</span> 7 €</p>", "Now ~~9 €~~ 7 €"),
        (
            "<ul><li><img src=v.png alt=Visa><li><i title=Maestro></i></ul>",
            "- Visa\n- Maestro",
        ),
    ],
)
def test_a_text_says_what_its_icon_shows(body: str, line: str) -> None:
    assert line in read(body)


@pytest.mark.parametrize(
    "body",
    [
        f"<ul><li>{CROSS}Soap<li>{CROSS}Tea</ul>",  # nothing to compare with
        f"<ul><li><i class=icon-no-smoking></i>Soap<li>{TICK}Tea</ul>",
        f"<ul><li>Soap <button aria-label=No>{CROSS}</button><li>{TICK}Tea</ul>",
        "<ul><li><svg aria-label=Bubbles></svg>Soap<li><img alt=Cup>Tea</ul>",
    ],
)
def test_other_icons_say_nothing(body: str) -> None:
    content = read(body)

    assert "- Soap\n" in content
    assert "- Tea\n" in content


def test_a_text_has_only_some_of_many_icons() -> None:
    icons = "".join(f"<i aria-label='not part of {n}'></i>" for n in range(100))
    content = read(f"<ul><li>Soap {icons}<li>Tea</ul>")

    assert 0 < content.count("not part of") < 20
