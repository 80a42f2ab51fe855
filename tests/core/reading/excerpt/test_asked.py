"""What a question asks for, in twelve languages, and what a text states."""

from __future__ import annotations

import pytest

from websearch_core import Page
from websearch_core.reading import Excerpt
from websearch_core.reading._excerpt.passages import (
    kinds_asked,
    kinds_stated,
    words_asking,
)

QUESTIONS = {
    "money": [
        "How much does it cost?", "Was kostet die Lampe?", "¿Cuánto cuesta la lámpara?", "Cât costă lampa?",
        "Πόσο κοστίζει;", "Сколько стоит лампа?", "Lambanın fiyatı ne kadar?", "كم سعر المصباح؟", "दीपक की कीमत क्या है?",
        "Giá của đèn là bao nhiêu?", "โคมไฟราคาเท่าไร", "这盏灯多少钱？",
    ],
    "time": [
        "When was it lit?", "Wann wurde es gebaut?", "¿Cuándo se construyó?", "Când a fost construit?",
        "Πότε χτίστηκε;", "Когда он построен?", "Ne zaman yapıldı?", "متى بني؟", "यह कब बना?", "Nó được xây khi nào?",
        "สร้างเมื่อไร", "它是什么时候建的？",
    ],
    "number": [
        "How many people live there?", "Wie viele Menschen leben dort?", "¿Cuántas personas viven allí?",
        "Câți oameni trăiesc acolo?", "Πόσοι ζουν εκεί;", "Сколько людей там живёт?", "Orada kaç kişi yaşıyor?",
        "كم عدد السكان؟", "वहाँ कितने लोग रहते हैं?", "Có bao nhiêu người sống ở đó?", "มีคนอยู่กี่คน", "那里住着多少人？",
    ],
}  # fmt: skip
CASES = [
    (kind, question) for kind, questions in QUESTIONS.items() for question in questions
]


@pytest.mark.parametrize(
    ("kind", "question"), CASES, ids=[question for _, question in CASES]
)
def test_a_question_asks_for_its_kind_of_answer_in_each_language(kind, question):
    assert kind in kinds_asked(question)


@pytest.mark.parametrize(
    "question",
    ["Who keeps the lamp?", "Warum ist sie erloschen?", "brass lamps by the sea", ""],
)
def test_other_questions_ask_for_none(question):
    assert kinds_asked(question) == []


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Ember lamp\n$48.99", ["money", "number"]),
        ("It was lit on 4 November 1866.", ["time", "number"]),
        ("Open until 18:30", ["time", "number"]),
        ("Eleven masons and a cook", []),
        ("two or 168", ["number"]),
        ("建于2019年", ["time", "number"]),
    ],
)
def test_a_text_states_the_kinds_that_a_person_would_see(text, kinds):
    assert kinds_stated(text, ["money", "time", "number"]) == kinds


@pytest.mark.parametrize(
    "price",
    ["฿1,299", "5 199 руб.", "48 Euro", "49 TL", "199.000đ", "499 ريال", "499 रुपये"],
)
def test_prices_are_money_in_the_currencies_of_many_countries(price):
    aside = f"The lamp is made of brass.\n\n{'Lamps cost a lot of time. ' * 40}\n\nEmber, black: {price}"
    page = Page(url="https://shop.example/", content=aside)

    assert kinds_stated(aside, ["money"]) == ["money"]
    assert price in Excerpt(query="What does it cost?", max_length=300).of(page).content


def test_the_words_that_only_ask_are_known():
    assert words_asking("How much is the lamp?") == {"how", "much"}
