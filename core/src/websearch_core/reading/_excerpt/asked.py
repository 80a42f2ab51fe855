"""Find out whether a question asks for an amount of money, a time or a number, and whether a text states one.

Questions are understood in the twelve languages of the tests: Arabic, Chinese, English, German, Greek, Hindi, Romanian,
Russian, Spanish, Thai, Turkish and Vietnamese.
"""

from __future__ import annotations
import re
from functools import cache

from ..._text.money import AMOUNT
from ..._text.terms import fold, query_terms

# Words as `fold` returns them, most of them only their beginning; those of scripts without spaces anywhere.
_ASKING = {
    "money": (
        (
            r"how much|pric|cost|fees?\b|tuition|wie ?viel|preis|kost|gebuhr|teuer|cuesta|cuanto vale|precio|tarif"
            r"|pret|taxa|cat costa|ποσο|τιμη|κοστ|сколько стоит|цен|стои|ne kadar|fiyat|ucret|kac (?:para|lira|tl)"
            r"|(?:ب|ال)?(?:كم|سعر|ثمن|تكلف)|कीमत|क़ीमत|दाम|मूल्य|कितने का|लागत|शुल्क|bao nhieu tien|gia\b|chi phi"
        ),
        r"ราคา|เท่าไ|ค่าใช้จ่าย|多少钱|价|费用",
    ),
    "time": (
        (
            r"when|(?:what|which|in what) (?:year|date|day|month|time|century)|date|deadline|hours|wann"
            r"|welche[mnrs]? (?:jahr|tag|monat)|datum|uhrzeit|cuando|(?:que|cual) (?:ano|dia|fecha|mes)|fecha|cand"
            r"|ce (?:an|zi|data)|ποτε|(?:ποια|ποιο) (?:χρονια|ετος|ημερομηνια)|ημερομηνια|когда|как\w+ год|дат"
            r"|ne zaman|hangi (?:yil|tarih|gun)|tarih"
            r"|مت[يى]|(?:اي|أي) (?:عام|سنة|يوم)|تاريخ|कब|किस (?:वर्ष|साल|दिन)|तारीख|khi nao|(?:nam|ngay) nao|ngay\b"
        ),
        r"เมื่อใด|เมื่อไ|ปีใด|ปีไหน|วันที่|什么时候|何时|哪年|哪一年|几年|日期|几点",
    ),
    "number": (
        (
            r"how (?:many|much|long|old|far|tall|big|large|heavy|high|fast|often|wide|deep)|number|percent|weight|size"
            r"|length|rating|score|wie ?(?:viele?|lange|alt|weit|hoch|gross|schwer|schnell|oft|breit|tief)|anzahl|zahl"
            r"|prozent|nummer|cuant|numero|porcentaje|cat[ie]?\b|cate\b|numar|procent|ποσ|αριθμ|сколько|числ|процент|номер"
            r"|kac|ne kadar|sayi|yuzde|كم|عدد|نسبة|رقم|कितन|संख्या|प्रतिशत|bao (?:nhieu|lau|xa)|so luong|phan tram|may\b"
        ),
        r"กี่|จำนวน|เท่าไ|เปอร์เซ็นต์|多少|几|多(?:大|长|久|高|远|重)|百分|数量",
    ),
}
_STATING = {
    "money": AMOUNT,
    "time": re.compile(
        r"(?<!\d)(?:1\d|20)\d\d(?!\d)|(?<!\d)\d{1,2}(?::\d{2}|[./]\d{1,2}[./]\d{2})"
        r"|\d{1,2}(?:st|nd|rd|th|\.|º)? [^\W\d_]{3}|[^\W\d_]{3,12}\.? \d{1,2}(?!\d)|\d[年月日]|\d ?[ap]\.?m\b"
    ),
    "number": re.compile(r"\d"),
}


def kinds_asked(query: str) -> list[str]:
    """Return what *query* asks for: ``money``, ``time``, ``number``; or nothing of these."""
    folded = fold(query)
    return [kind for kind, pattern in _patterns().items() if pattern.search(folded)]


def words_asking(query: str) -> frozenset[str]:
    """Return the terms of *query* that only say what it asks for: ``how``, ``much``."""
    folded = fold(query)
    found = [found[0] for pattern in _patterns().values() for found in pattern.finditer(folded)]
    return frozenset(query_terms(" ".join(found)))


def kinds_stated(text: str, kinds: list[str]) -> list[str]:
    """Return those of *kinds* that *text* states."""
    return [kind for kind in kinds if _STATING[kind].search(text)]


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    return {kind: re.compile(rf"(?<![^\W\d_])(?:{spaced})|{unspaced}") for kind, (spaced, unspaced) in _ASKING.items()}
