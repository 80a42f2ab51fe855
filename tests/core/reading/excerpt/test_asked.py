"""What a question asks for, in many languages, and what a text states."""

from __future__ import annotations

import pytest

from websearch_core import Page
from websearch_core.reading import Excerpt
from websearch_core.reading._excerpt.asked import (
    kinds_asked,
    kinds_stated,
    words_aside,
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
    "address": [
        "What is the address of the shop?", "Wie ist die Adresse?", "¿Cuál es la dirección?", "Care este adresa?",
        "Ποια είναι η διεύθυνση;", "Какой адрес?", "Adresi nedir?", "ما هو عنوان المتجر؟", "दुकान का पता क्या है?",
        "Địa chỉ là gì?", "ที่อยู่ของร้าน", "地址是什么？",
    ],
    "phone": [
        "What is their phone number?", "Wie ist die Telefonnummer?", "¿Cuál es el teléfono?", "Care este numărul de telefon?",
        "Ποιο είναι το τηλέφωνο;", "Какой номер телефона?", "Telefon numarası nedir?", "ما هو رقم الهاتف؟",
        "फ़ोन नंबर क्या है?", "Số điện thoại là gì?", "เบอร์โทรอะไร", "电话是多少？",
    ],
    "email": [
        "What is the e-mail of the shop?", "Wie lautet die E-Mail?", "¿Cuál es el correo?", "Care este emailul?",
        "Ποια είναι η ηλεκτρονική διεύθυνση;", "Какая электронная почта?", "E-posta nedir?", "ما هو البريد الإلكتروني؟",
        "ईमेल क्या है?", "Email của họ là gì?", "อีเมลอะไร", "邮箱是什么？",
    ],
    "code": [
        "Which command lights it?", "Welcher Befehl zündet sie an?", "¿Qué comando la enciende?", "Ce comandă o aprinde?",
        "Ποια εντολή την ανάβει;", "Какая команда её зажигает?", "Hangi komut yakar?", "ما هو الأمر؟", "कौन सा कमांड है?",
        "Lệnh nào bật đèn?", "คำสั่งอะไร", "哪个命令可以点灯？",
    ],
    "hours": [
        "What are the opening hours?", "Wann ist geöffnet?", "¿Cuál es el horario?", "Care este programul?",
        "Ποιο είναι το ωράριο;", "Какие часы работы?", "Çalışma saatleri nedir?", "ما هي مواعيد العمل؟", "समय क्या है?",
        "Giờ mở cửa?", "เปิดกี่โมง", "营业时间是什么？",
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
    ("kind", "questions"),
    [
        ("money", ["Combien coûte la lampe ?", "Quanto costa?", "Wat is de prijs?"]),
        ("money", ["Qual é o preço?", "いくらですか", "얼마예요?", "Ile kosztuje?"]),
        ("time", ["Quand est-ce ?", "Wanneer is het?", "いつですか", "언제 와요?"]),
        ("number", ["Combien de pièces ?", "Quante stanze?", "Hoeveel mensen?"]),
        ("address", ["Where is the shop?", "Qual è l'indirizzo?", "住所は?"]),
        ("phone", ["Is there a hotline?", "Qual o telefone?", "電話番号は?"]),
        ("hours", ["When can I come on weekdays?", "Quels horaires ?", "営業時間は?"]),
    ],
)
def test_so_do_common_questions_in_other_languages(kind, questions):
    assert [one for one in questions if kind not in kinds_asked(one)] == []


@pytest.mark.parametrize(
    "question",
    [
        "Who keeps the lamp?",
        "Warum ist sie erloschen?",
        "brass lamps by the sea",
        "candle makers",
        "pretty lamps of the program",
        "центр города",
        "",
    ],
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
    ("kind", "texts"),
    [
        (
            "address",
            [
                "5 Main Street",
                "Hafenstraße 12",
                "ул. Садовая, 5",
                "10115 Berlin",
                "EC1A 1BB",
                "Calle Mayor 3",
                "40 Old Harbour Rd",
                "Boston, MA 02108",
            ],
        ),
        (
            "phone",
            [
                "+47 22 33 44 55",
                "(020) 7946 0958",
                "030/123 45 67",
                "01 23 45 67 89",
                "+4912345678",
                "555-010-9999",
                "072-5550199",
                "(030) 5550199",
                "+91-5550199123",
            ],
        ),
        ("email", ["ada@harbour.example", "post.kontor@by.example"]),
        (
            "hours",
            [
                "9:00-17:30",
                "10 am to 4 pm",
                "10–18 Uhr",
                "Mo-Fr 9.00 bis 12.30",
                "с 9:00 до 18:00",
            ],
        ),
    ],
)
def test_contacts_are_stated_in_the_forms_of_many_countries(kind, texts):
    assert [text for text in texts if not kinds_stated(f"x {text} x", [kind])] == []


@pytest.mark.parametrize(
    "text",
    [
        "In 1866 to 1870 it was 5,199.00",
        "Chapter 4.5.2026",
        "14.05.2026, at 9.30",
        "2026-05-14",
        "5 of the old St Bees",
        "2 to 3 lamps",
        "a@b",
        "ISBN x",
        "1-2",
    ],
)
def test_other_numbers_are_no_contacts(text):
    assert kinds_stated(text, ["address", "phone", "email", "hours"]) == []


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the phone number of the lamp shop?", "+47 22 33 44 55"),
        ("What is the address of the lamp shop?", "Hafenstraße 12, 10115 Berlin"),
        ("When does the lamp shop open? opening hours", "9:00-17:30"),
    ],
)
def test_a_contact_comes_before_prose_about_it(question, answer):
    prose = (
        "The lamp shop is happy to hear from you, and it has been for a hundred years. "
    )
    content = "\n\n".join([*[prose * 4] * 4, f"Post: {answer}", *[prose * 4] * 4])
    page = Page(url="https://shop.example/", content=content)

    excerpt = Excerpt(query=question, max_length=900).of(page)

    assert answer in excerpt.content


@pytest.mark.parametrize(
    "price",
    ["฿1,299", "5 199 руб.", "48 Euro", "49 TL", "199.000đ", "499 ريال", "499 रुपये"],
)
def test_prices_are_money_in_the_currencies_of_many_countries(price):
    aside = f"The lamp is made of brass.\n\n{'Lamps cost a lot of time. ' * 40}\n\nEmber, black: {price}"
    page = Page(url="https://shop.example/", content=aside)

    assert kinds_stated(aside, ["money"]) == ["money"]
    assert price in Excerpt(query="What does it cost?", max_length=300).of(page).content


def test_words_that_only_ask_and_function_words_say_little_of_what_is_asked():
    assert {"how", "much", "is", "the"} <= words_aside("How much is the lamp?")
    assert "lamp" not in words_aside("How much is the lamp?")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the shade made of?", "| Shade | Brass, hammered |"),
        ("Welches Gewicht hat die Leuchte?", "| Gewicht | Zwei Pfund |"),
        (
            "What is planned for the second night?",
            "| second night | Lighting the fire |",
        ),
    ],
)
def test_a_row_comes_before_texts_that_share_function_words_with_the_question(
    question, answer
):
    label = " ".join(question.split()[:3])
    prose = f"{label} for a keeper of the lights, and of the sea, is a long story. "
    rows = f"| Name | Ember |\n| --- | --- |\n{answer}\n| Place | Harbour |"
    content = "\n\n".join([*[prose * 3] * 4, rows, *[prose * 3] * 4])
    page = Page(url="https://shop.example/", content=content)

    excerpt = Excerpt(query=question, max_length=600).of(page)

    assert answer in excerpt.content


@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_code_comes_before_prose_about_a_command(fence):
    prose = "The keeper sends a letter with a command about the lamp to the harbour. "
    code = f"{fence}\nharbour send --lamp\n{fence}"
    content = "\n\n".join([*[prose * 4] * 4, code, *[prose * 4] * 4])
    page = Page(url="https://docs.example/", content=content)

    question = "Which command sends a lamp?"
    assert code in Excerpt(query=question, max_length=700).of(page).content


def test_a_word_says_little_only_in_the_language_of_the_question():
    assert "commen" in words_aside("comment est la lampe et où")
    assert "commen" not in words_aside("how many comments does the lamp have")
