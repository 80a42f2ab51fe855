"""What a reader returns beside the main content, and what it never returns."""

from __future__ import annotations

import pytest

from websearch_core.reading import read_html
from websearch_core.reading._html.blocks import find_blocks
from websearch_core.reading._html.parse import parse
from websearch_core.reading._html.rest import write_rest

STORY = (
    "<p>The Ember lamp is made in a small workshop by the sea, from brass that is cast, turned and polished by hand, "
    "and each of them takes its maker the better part of a week.</p>"
) * 4
EXTRAS = {
    "a price": '<div class="buy"><span>Ember lamp</span><div class="price">$48.99</div></div>',
    "a biography": '<footer><div class="about-author"><p>Ada Holm keeps bees in Varra.</p></div></footer>',
    "a review date": '<footer><div class="meta"><p>Next review due: 4 May 2027</p></div></footer>',
    "a row": "<aside><table><tr><td>Weight</td><td>2.4 kg</td></tr></table></aside>",
    "choices": "<form><label>Shade<select><option>Linen<option>Glass</select></label></form>",
    "choices that name themselves": (
        "<form><p>Order</p><select><option>Plug ...<option>UK<option>EU</select></form>"
    ),
    "a table marked as navigation": (
        '<div class="side-bar" role="navigation"><table><tr><th></th><th>All</th></tr>'
        "<tr><td><a href=/s>Sold</a></td><td>1204</td></tr></table></div>"
    ),
    "a number to call in navigation": "<nav><a href=tel:1>Call 020 7946 0958</a></nav>",
    "an address to write to among links": (
        "<nav><a href=/a>Kettles</a></nav><ul class=top-nav><li><a href=/b>Stoves</a>"
        "<li><a href=/c>Irons</a><li><a href=mailto:a>ada@ember.example</a></ul>"
    ),
    "opening hours in navigation": (
        "<nav><a href=/a>Kettles</a><p>Monday to Friday 9:00 - 17:30</p></nav>"
    ),
    "a list with pagination around it": (
        "<div class=ajax-pagination><h3>The bell</h3><p>Rung on 4 May 2027</p></div>"
    ),
}
FOREIGN = {
    "navigation": "<nav><a href=/a>Kettles 99</a></nav>",
    "a cart in navigation": "<nav><p>Kettles 0</p></nav>",
    "pagination": "<div class=pagination><p>Kettles</p><a href=/2>2</a></div>",
    "a menu of links": "<div><a href=/a>Kettles</a></div><div><a href=/b>Stoves</a></div><div><a href=/c>Irons</a></div>",
    "a cookie wall": '<div class="cookie-banner"><p>We use Kettles to improve 7 things.</p></div>',
    "sharing": '<div class="share-buttons"><p>Post Kettles to 3 friends</p></div>',
    "hidden text": "<div hidden><p>Kettles cost $1.</p></div>",
    "a button": "<button>Kettles</button>",
    "a table of cookies": (
        '<div class="cookie-settings"><table><tr><th>Name</th></tr><tr><td>Kettles</td>'
        "</tr></table></div>"
    ),
    "a menu in a table": (
        '<div class="navigation"><table><tr><td>Kettles</td></tr></table></div>'
    ),
    "a long list of choices": (
        f"<select>{''.join(f'<option>Kettles {n}' for n in range(99))}</select>"
    ),
    "choices that are hidden": (
        "<div style='display:none'><select><option>Kettles<option>Stoves</select></div>"
    ),
    "a control that is hidden": (
        "<select style='display:none'><option>Kettles<option>Stoves</select>"
    ),
    "a choice that is hidden": (
        "<p>Fuel</p><select><option>Gas<option>Oil<option hidden>Kettles</select>"
    ),
}


def rest(extra: str, *, linked: bool = True) -> str:
    """Return what is beside a content that has the headline and the story."""
    page = parse(
        f"<body><article><h1>Ember</h1>{STORY}</article><main>{extra}</main></body>".encode()
    )
    blocks = find_blocks(page.body)
    kept = {
        block
        for block, text in enumerate(blocks.block_texts)
        if text == "Ember" or text in STORY
    }
    everything = set(range(len(blocks.block_texts)))
    return write_rest(blocks, kept, everything, linked=linked)


@pytest.mark.parametrize(
    ("extra", "fact"),
    list(
        zip(
            EXTRAS.values(),
            [
                "$48.99",
                "Ada Holm keeps bees",
                "4 May 2027",
                "Weight | 2.4 kg",
                "Shade\nLinen | Glass",
                "Order\nPlug ... | UK | EU",
                "Sold | 1204",
                "Call 020 7946 0958",
                "ada@ember.example",
                "Monday to Friday 9:00 - 17:30",
                "Rung on 4 May 2027",
            ],
            strict=True,
        )
    ),
    ids=list(EXTRAS),
)
def test_what_a_person_sees_is_beside_the_content(extra, fact):
    assert fact in rest(extra)


@pytest.mark.parametrize("extra", FOREIGN.values(), ids=list(FOREIGN))
def test_what_belongs_to_no_page_is_not_beside_it(extra):
    assert "Kettles" not in rest(f"{extra}<footer><p>Imprint 2026</p></footer>")


def test_the_choices_of_a_control_in_the_content_are_beside_it():
    page = parse(
        b"<body><article><h1>Ember</h1><p>Shade</p><select><option>Linen<option>Glass"
        b"</select><p>Ships in a week.</p></article>"
    )
    blocks = find_blocks(page.body)
    everything = set(range(len(blocks.block_texts)))

    assert "Shade\nLinen | Glass" in write_rest(blocks, everything, everything)


def test_the_rest_of_a_page_does_not_repeat_its_long_content():
    assert "polished by hand" not in rest(EXTRAS["a price"])


def test_a_name_and_its_price_are_one_passage():
    cards = "".join(
        f"<div class=card><h3>Lamp {n}</h3><p>From ${n}9.50</p></div>"
        for n in range(1, 40)
    )
    found = rest(f"<aside>{cards}</aside>")

    assert "Lamp 7\nFrom $79.50" in found


def test_a_passage_that_a_page_shows_twice_is_there_once():
    phone = "<div><p>Call +44 20 7977 7048 today</p></div>"
    between = "".join(
        f"<p>Wipe it with a dry cloth, once in {n} weeks, and never with soap.</p>"
        for n in range(9)
    )

    assert rest(phone + between + phone).count("7977") == 1


def test_without_links_the_rest_has_none_of_their_text():
    extra = "<aside><p>See <a href=/x>the Kettles of 1911</a></p><p>Weight 2.4 kg</p></aside>"

    assert "Kettles" in rest(extra)
    assert "Kettles" not in rest(extra, linked=False)
    assert "2.4 kg" in rest(extra, linked=False)


def test_a_heading_that_nothing_follows_is_left_out():
    care = "".join(
        f"<p>Wipe it with a dry cloth, once in {n} weeks, and never with soap or with sand.</p>"
        for n in range(9)
    )
    found = rest(f"<aside><h2>Empty</h2><h2>Care</h2>{care}</aside>").splitlines()

    assert "## Care" in found
    assert "## Empty" not in found


def test_a_footer_is_under_no_heading_of_the_page():
    def paragraphs(text: str) -> str:
        return "".join(f"<p>{n}. {text * 6}</p>" for n in range(4))

    prices = f"<h2>Prices</h2>{paragraphs('Ember lamp, with a shade, for $48.99. ')}"
    found = rest(
        f"{prices}<footer><h4>Contact</h4>{paragraphs('Call +44 20 7977 7048. ')}</footer>"
    ).splitlines()

    assert "## Prices" in found
    assert "## Contact" in found


SHORT = [
    ("Kettles", "It boils a litre in four minutes.", "<p>Bay Kettles, Varra</p>"),
    ("Opening a shop", "Ask for a permit first.", "<div>Copyright Office</div>"),
    ("Rundweg am See", "Im Winter ist er gesperrt.", "<ul><li>Gemeinde</li></ul>"),
]


@pytest.mark.parametrize(("title", "text", "footer"), SHORT)
def test_the_footer_of_a_short_page_repeats_nothing_of_its_content(title, text, footer):
    page = parse(
        f"<body><main><h1>{title}</h1><h2>More</h2><p>{text}</p></main>"
        f"<footer>{footer}</footer></body>".encode()
    )
    blocks = find_blocks(page.body)
    everything = set(range(len(blocks.block_texts)))
    found = write_rest(blocks, {0, 1, 2}, everything)

    assert found == blocks.block_texts[3]


def test_the_footer_of_a_card_keeps_the_name_of_the_card():
    cards = "".join(
        f"<article><h3>Lamp {n}</h3><footer>From ${n}9.50</footer></article>"
        for n in range(1, 40)
    )

    assert "Lamp 7\nFrom $79.50" in rest(cards)


SUBJECTS = [
    "category-social-security",
    "tag-cookies",
    "h-[calc(100vh-var(--nav-height))]",
    "skip-item",
]


@pytest.mark.parametrize("mark", SUBJECTS)
def test_what_a_class_says_of_the_subject_or_the_style_is_not_what_the_part_is_for(
    mark,
):
    assert "24 March 2025" in rest(
        f'<aside class="post {mark}"><h3>Kettles</h3><p>24 March 2025</p></aside>'
    )
    assert not rest(
        f'<aside class="{mark} social"><h3>Kettles</h3><p>24 March 2025</p></aside>'
    )


def test_comments_that_are_dropped_are_not_beside_the_content():
    comments = "<section id=comments><h3>2 comments</h3><p>Mine broke after 3 days.</p><p>Mine did not.</p></section>"
    page = f"<title>Ember</title><body><article><h1>Ember</h1>{STORY}</article>{comments}</body>".encode()

    assert (
        "broke"
        not in read_html(page, "https://lamps.example/ember.html", comments="drop").rest
    )


FORM = "<form><p>Your address will not be published.</p><label>Name</label></form>"
MINE = "<p>Mine broke after 3 days.</p>"


@pytest.mark.parametrize(
    ("comments", "is_beside"),
    [
        (f"<section id=comments>{MINE}{FORM}</section>", True),
        (
            f"<form><p>Search</p><section id=comments>{MINE}<p>It will not be published.</p></section></form>",
            False,
        ),
    ],
    ids=["a form in the section", "a form around it"],
)
def test_the_form_for_a_comment_is_beside_the_content_but_not_the_comments(
    comments, is_beside
):
    page = f"<title>Ember</title><body><article><h1>Ember</h1>{STORY}</article>{comments}</body>".encode()
    found = read_html(page, "https://lamps.example/ember.html", comments="drop").rest

    assert ("will not be published" in found) is is_beside
    assert "broke" not in found
