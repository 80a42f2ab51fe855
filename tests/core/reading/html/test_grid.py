"""The things that a page shows as a grid: their names, prices and links."""

from __future__ import annotations
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.profiling import count_lines
from websearch_core._text.money import (
    AMOUNT,
    find_amounts,
    has_amount,
    may_be_in,
    parse_number,
)
from websearch_core.reading import read_html
from websearch_core.reading._html.blocks import find_blocks
from websearch_core.reading._html.grid import (
    MAX_ITEMS,
    Elements,
    find_items,
    find_prices,
)
from websearch_core.reading._html.parse import parse

BASE = "https://shop.example/lamps/"


def items(markup, base=BASE):
    elements = Elements(find_blocks(parse(markup.encode()).body))
    return find_items(elements, find_prices(elements), base)


def prices(markup):
    return [
        (price.text, price.is_former)
        for price in find_prices(Elements(find_blocks(parse(markup.encode()).body)))
    ]


def card(n, price, inside=""):
    return f'<li><a href="lamp-{n}"><h3>Lamp {"ABCDEFGH"[n]}</h3></a>{inside}<p>{price}</p><button>Add to cart</button></li>'


def test_each_card_has_its_name_price_and_link():
    found = items(f"<ul>{''.join(card(n, f'${n}9.50') for n in range(1, 6))}</ul>")

    assert [(one.name, one.price, one.list_price, one.url) for one in found[:2]] == [
        ("Lamp B", "$19.50", None, f"{BASE}lamp-1"),
        ("Lamp C", "$29.50", None, f"{BASE}lamp-2"),
    ]
    assert len(found) == 5


def test_names_are_what_differs_between_cards_not_what_repeats():
    cards = "".join(
        f'<div><span>New in</span><a href="/{n}">Chair {name}</a><span>€{n}0,00</span><a href="/{n}">Quick view</a></div>'
        for n, name in enumerate(("Ash", "Birch", "Cedar", "Elm"), 1)
    )

    assert [one.name for one in items(f"<main>{cards}</main>")] == [
        "Chair Ash",
        "Chair Birch",
        "Chair Cedar",
        "Chair Elm",
    ]


def test_a_card_may_be_a_link_as_a_whole():
    cards = "".join(
        f'<a href="/{n}"><div>Mug {n}a</div><div>£{n}.00</div></a>' for n in range(1, 6)
    )

    assert next((one.name, one.price, one.url) for one in items(f"<div>{cards}</div>")) == (
        "Mug 1a", "£1.00", "https://shop.example/1",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("inside", "now", "before"),
    [
        ("<del>$60</del> <ins>$48.99</ins>", "$48.99", "$60"),
        ("<p><del>$60</del></p><p>$48.99</p>", "$48.99", "$60"),
        (
            (
                '<div class="price--on-sale"><div><span class="regular">$48.99</span></div>'
                '<div><span><s class="regular">$60</s></span><span class="sale">$48.99</span></div></div>'
            ),
            "$48.99",
            "$60",
        ),
        ('<span class="old-price">$60</span><span>$48.99</span>', "$48.99", "$60"),
        ("<b>Now $48.99</b><i>Was $60</i>", "Now $48.99", "Was $60"),
        ("<b>$48.99</b><i>Save $11.01</i>", "$48.99", None),
        ("<del>$48.99</del>", "$48.99", None),
        ("$48.99 – $60.00", "$48.99 – $60.00", None),
        ("<span>$</span><span>48</span><sup>99</sup>", "$48.99", None),
    ],
)
def test_the_price_before_a_reduction_is_told_from_the_price(inside, now, before):
    found = items(f"<ul>{''.join(card(n, inside) for n in range(4))}</ul>")

    assert {(one.price, one.list_price) for one in found} == {(now, before)}


@pytest.mark.parametrize(
    "markup",
    [
        "",
        "<p>It costs $5.</p>" * 9,  # no links
        "<ul>" + "".join(card(n, "$5") for n in range(3)) + "</ul>",  # too few
        "<ul>" + "".join(card(n, "5 stars") for n in range(6)) + "</ul>",
        f"<div>{'<a href=/x></a>'}<p>$5</p></div>" * 6,  # no names
        "".join(
            f"<div><a href=/{n}>Post {n}</a><p>{'It was a long day. ' * 200}</p><p>$5</p></div>"
            for n in range(6)
        ),
    ],
)
def test_anything_else_is_no_grid(markup):
    assert items(markup) == []


def test_a_long_grid_is_cut():
    assert len(
        items(
            "<ul>"
            + "".join(
                f'<li><a href="/{n}">Lamp no. {n}</a> ${n}.00</li>' for n in range(300)
            )
            + "</ul>"
        )
    ) == (MAX_ITEMS)


def test_texts_and_links_are_inert():
    hostile = "![x](https://evil.example/?d=1) <script>\u200b```"
    cards = "".join(
        f'<li><a href="{href}">{hostile.replace("<", "&lt;")}{n}</a> $5</li>'
        for n, href in enumerate(
            [
                "javascript:alert(1)",
                "data:text/html,x",
                "//cdn.example/a",
                "#top",
                "/ok",
            ]
        )
    )
    found = items(f"<ul>{cards}</ul>")

    assert [one.url for one in found] == [
        None,
        None,
        "https://cdn.example/a",
        None,
        "https://shop.example/ok",
    ]
    assert all(
        "![" not in one.name and "<script" not in one.name and "\u200b" not in one.name
        for one in found
    )


def test_prices_are_found_in_many_forms():
    markup = "<p>1.299,00 €</p><p>CHF 49.90</p><p>incl. VAT $5</p><p>from 12 kr</p><p>In 2024 it was 5 km</p>"

    assert [text for text, _ in prices(markup)] == [
        "1.299,00 €",
        "CHF 49.90",
        "incl. VAT $5",
        "from 12 kr",
    ]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("$1,299.00", "1299"),
        ("1.299,50 €", "1299.5"),
        ("49", "49"),
        ("1'299.5", "1299.5"),
        ("1.299", "1299"),
        ("x", None),
    ],
)
def test_numbers_are_read_in_the_forms_of_many_countries(text, number):
    assert parse_number(text) == (None if number is None else Decimal(number))


AMOUNTS = {
    "en": "$48.99 | 48 dollars | GBP 20 | 500 yen", "de": "48 Euro | 1.299,00 € | 48 US-Dollar | CHF 49",
    "es": "48 euros | 1.500 pesos | 20 dólares", "ro": "150 lei | 49,99 RON", "el": "48 ευρώ | 48,99€",
    "ru": "5 199 руб | 199 р | 199р | 2000 рублей | 5\u00a0199 ₽ | 48 евро | RUB 500", "tr": "5.199,00 TL | 49 TL | ₺49",
    "ar": "499 ريال | 50 درهم | AED 50 | 50 SAR | 120 EGP | 50 ر.س", "hi": "499 रुपये | ₹1,23,456 | 499 रु | Rs. 499",
    "vi": "199.000₫ | 199.000 đ | 199.000đ | 10.000 đồng | VND 199.000", "th": "฿1,299 | 1,299 บาท | 1,299บาท | THB 1,299",
    "zh": "￥199 | 199元 | 48美元 | RMB 199", "others": "kr. 499 | 5\u202f199 kr | 1 299,50 zł | 1’299 CHF",
}  # fmt: skip


@pytest.mark.parametrize(
    "written", [one for some in AMOUNTS.values() for one in some.split(" | ")]
)
def test_amounts_are_found_in_the_currencies_of_many_countries(written):
    for text in (written, f"Now {written}.", f"({written})"):
        assert has_amount(text)
        assert AMOUNT.findall(text) == [written]


@pytest.mark.parametrize(
    "text",
    [
        "5 km", "room 12", "", "USD", "5 TL;DR", "2024 TL;DR", "2 TL Zucker", "1/2 TL Salz", "TL 5", "р. 5",
        "у 1899 р. народився", "у 2024 р.", "по 1 таб. 3 р. в день", "3 р/день", "5 рубашек", "Euro 2024",
        "the 2024 Euros", "In 2024", "5 krona", "3 Eurovision", "5 रुकना", "3 đèn", "Page 5 lire la suite", "COP 27",
    ],
)  # fmt: skip
def test_anything_else_is_no_amount(text):
    assert not has_amount(text)
    assert not AMOUNT.search(text)


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("1 299,00 € 1 449,00 €", ["1 299,00 €", "1 449,00 €"]),
        ("in 2024 199 kr", ["199 kr"]),  # a year does not belong to the number after it
        ("Watch 2 $149 now", ["$149"]),
        ("299 €217,37 €", ["299 €", "217,37 €"]),
        ("MSRP $120.00. 10% off", ["$120.00"]),
        ("5 1999 kr", ["1999 kr"]),
    ],
)
def test_numbers_beside_an_amount_are_no_part_of_it(text, amounts):
    assert AMOUNT.findall(text) == amounts


@pytest.mark.parametrize(
    ("amount", "currency", "may_be"),
    [
        ("48,99 €", "EUR", True),
        ("48,99 €", "USD", False),
        ("$48.99", "CAD", True),  # a dollar is one of many
        ("$48.99", "EUR", False),
        ("¥48", "CNY", True),
        ("48.99 AED", "EUR", False),
        ("48 kr", "SEK", True),
        ("500 ₽", "RUR", True),  # its former code
        ("RMB 48", "CNY", True),
        ("48,99 €", "", True),
        ("48,99 €", "dollars", True),
    ],
)
def test_an_amount_has_its_currency(amount, currency, may_be):
    assert may_be_in(currency, amount) is may_be


@pytest.mark.parametrize(
    "price",
    [
        "5 199 руб.",
        "฿1,299",
        "199.000₫",
        "499 रुपये",
        "499 ريال",
        "5 199 kr",
        "48 Euro",
        "49 TL",
    ],
)
def test_a_grid_has_prices_in_the_currencies_of_many_countries(price):
    assert {
        one.price
        for one in items(f"<ul>{''.join(card(n, price) for n in range(4))}</ul>")
    } == {price}


@pytest.mark.parametrize(
    "other",
    [
        "€9 delivery", "Sie sparen 9 €", "zzgl. 9 € Versand", "ahorras 9 €", "envío 9 €", "economisiți 9 lei", "livrare 9 lei",
        "έκπτωση 9 €", "доставка 9 ₽", "kargo 90 TL", "indirim 90 TL", "خصم 9 ريال", "₹9 छूट", "giảm 9 ₫", "ส่วนลด ฿9", "立减¥9", "运费¥9",
    ],
)  # fmt: skip
def test_the_cost_of_a_delivery_and_what_is_saved_are_no_price(other):
    found = items(
        f"<ul>{''.join(card(n, '€5', f'<p>{other}</p>') for n in range(4))}</ul>"
    )

    assert {one.price for one in found} == {"€5"}


@pytest.mark.parametrize(
    "unit",
    [
        "<p>$5</p>",
        "<a href=/x>$5",
        '<li><a href="/x">Lamp</a> $5',
        "<div><a href=/x>L</a>$5",
        "<b>$</b><b>5</b>",
        "$1 ",
    ],
)
@pytest.mark.no_cover
def test_the_cost_grows_with_the_page(unit):
    def count(times):
        blocks = find_blocks(parse((unit * times).encode()).body)

        def find():
            elements = Elements(blocks)
            find_items(elements, find_prices(elements), BASE)

        return count_lines(find)

    short = count(500)
    assert count(2_000) <= 5 * short


def test_a_category_page_keeps_its_grid_beside_its_text():
    intro = (
        "<p>Lamps for every room, chosen by people who know what light can do for a home in winter.</p>"
        * 3
    )
    cards = "".join(card(n, f"${n}9.50") for n in range(8))
    page = read_html(
        f'<title>Lamps</title><link rel="next" href="?page=2"><main><h1>Lamps</h1>{intro}<p>312 products</p><ul>{cards}</ul>'
        "</main>".encode(),
        BASE,
    )

    assert page.data is not None
    assert (page.data.kind, page.data.name, len(page.data.items)) == (
        "list",
        "Lamps",
        8,
    )
    assert (page.data.count, page.data.next_url) == (312, f"{BASE}?page=2")
    assert {*page.data.links} <= {*page.links}


_PIECES = st.sampled_from(
    ["$", "€", "EUR", "CHF", "5", "1.299,00", "19.99", "kr", " ", "kelp", ".", "5 kg"]
)


@given(st.lists(st.lists(_PIECES, max_size=4).map("".join), max_size=6))
def test_one_search_finds_the_same_amounts_as_one_for_each_line(lines):
    assert [*find_amounts(lines)] == [
        place for place, line in enumerate(lines) if has_amount(line)
    ]
