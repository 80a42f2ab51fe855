"""The encoding of pages that name none."""

from __future__ import annotations

import pytest

from websearch_core.reading import read_bytes
from websearch_core.reading._charset import decode

URL = "https://old.example/page.htm"
TEXTS = [
    ("windows-1251", "cp1251", "Библиотека закрыта по понедельникам; книги можно вернуть в ящик у входа."),
    ("windows-1251", "cp1251", "Музеят на морето е отворен от вторник, а билетът струва осем лева за ученици."),
    ("windows-1251", "cp1251", "Вода в озері тепла до вересня, тому човни дають напрокат щодня без перерви."),
    ("koi8-r", "koi8_r", "Библиотека закрыта по понедельникам; книги можно вернуть в ящик у входа."),
    ("koi8-r", "koi8_r", "Вода в озере тёплая до сентября, поэтому лодки дают напрокат каждый день."),
    ("windows-1253", "cp1253", "Η βιβλιοθήκη είναι κλειστή τη Δευτέρα και τα βιβλία επιστρέφονται στην είσοδο."),
    ("windows-1255", "cp1255", "הספרייה סגורה בימי שני ואפשר להחזיר ספרים בתיבה ליד הכניסה"),
    ("windows-1256", "cp1256", "المكتبة مغلقة أيام الاثنين ويمكن إعادة الكتب في الصندوق عند المدخل"),
    ("windows-874", "cp874", "ห้องสมุดปิดทุกวันจันทร์และสามารถคืนหนังสือได้ที่กล่องหน้าประตู"),
    ("shift_jis", "cp932", "図書館は月曜日が休みです。本は入口の箱に返すことができます。"),
    ("euc-jp", "euc_jp", "湖の水は九月まで暖かいので、ボートは毎日借りられます。"),
    ("gbk", "gb18030", "图书馆星期一闭馆，书可以放在门口的箱子里归还。湖水九月以前都很暖和。"),
    ("big5", "big5hkscs", "圖書館星期一閉館，書可以放在門口的箱子裡歸還。湖水九月以前都很暖和。"),
    ("euc-kr", "cp949", "도서관은 월요일에 쉬며 책은 입구의 상자에 돌려주면 됩니다."),
    ("iso-2022-jp", "iso2022_jp", "湖の水は九月まで暖かいので、ボートは毎日借りられます。"),
    ("windows-1250", "cp1250", "Biblioteka jest zamknięta w poniedziałki, a książki można oddać do skrzynki przy wejściu."),
    ("windows-1250", "cp1250", "Knihovna je v pondělí zavřená, knihy můžete vrátit do schránky u vchodu, řekl ředitel."),
    ("windows-1254", "cp1254", "Kütüphane pazartesi günleri kapalıdır, kitaplar girişteki kutuya bırakılabilir, dışarıda."),
]  # fmt: skip


@pytest.mark.parametrize(("label", "codec", "text"), TEXTS)
def test_a_page_that_names_no_encoding_is_read_in_the_one_that_it_looks_like(
    label, codec, text
):
    data = f"<html><head><title>Old</title></head><body><p>{text}</p></body></html>"
    page = read_bytes(data.encode(codec), URL, "text/html")

    assert text in page.content
    assert len(page.notes) >= 1
    assert page.notes[0].startswith("the page does not say its encoding: read as ")


@pytest.mark.parametrize(
    "text",
    [
        "La bibliothèque est fermée le lundi, où l’été a déjà commencé, et les élèves sont fâchés à Noël.",
        "Die Bücherei ist montags geschlossen; größere Bände können am Eingang zurückgegeben werden.",
        "A biblioteca está fechada às segundas; não há devolução, só o balcão das três às seis, amanhã.",
        "Biblioteket är stängt på måndagar, och böckerna lämnas i lådan vid ingången för återlämning.",
        "“Books” can’t be returned on “Mondays” – or can they? It’s 5 € … “well”",
    ],
)  # fmt: skip
def test_other_pages_are_read_in_that_of_western_europe_without_a_note(text):
    decoded = decode(f"<p>{text}</p>".encode("cp1252"))

    assert text in decoded.text
    assert decoded.note is None


@pytest.mark.parametrize(("label", "codec", "text"), TEXTS)
def test_an_encoding_that_is_stated_is_not_guessed(label, codec, text):
    decoded = decode(text.encode(codec), f"text/html; charset={label}")

    assert decoded.text == text
    assert decoded.note is None
