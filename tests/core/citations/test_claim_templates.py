"""No check supports a wrong figure: thousands of claims in twelve languages, each with
one thing that its source does not say, and the same without it.
"""

from __future__ import annotations
import random
from typing import NamedTuple

import pytest

from websearch_core.citations import check_citations
from websearch_core.citations._figures import UNITS, find_figures
from websearch_core.citations._notation import find_notation


class Language(NamedTuple):
    """Sentences of one language: {n} is a number, {u} its unit, {d} a date."""

    length: str
    denied: str  # the same, with a negation
    dated: str
    units: tuple[str, ...]  # km, m, miles, tonnes, hours
    months: tuple[str, ...]
    date: str  # from the day and the month
    mark: str  # between groups of three digits
    abbreviations: tuple[str, ...]  # with the word after them


LANGUAGES = {
    "en": Language(
        "The wall around the old market is {n} {u} long and has {g} gates.",
        "The wall around the old market is not {n} {u} long and has {g} gates.",
        "The new market hall was opened on {d} by the mayor.",
        ("km", "m", "miles", "tonnes", "hours"),
        ("January", "May", "August", "December"),
        "{day} {month} 2024",
        ",",
        ("Sgt. Moss", "Lichen Corp. Hall", "Sec. 4", "Sen. Moss", "Moss Bros. Hall", "Oct. 9", "Mt. Moss", "Blvd. Moss"),
    ),
    "de": Language(
        "Die Mauer um den alten Markt ist {n} {u} lang und hat {g} Tore.",
        "Die Mauer um den alten Markt ist nicht {n} {u} lang und hat {g} Tore.",
        "Die neue Markthalle wurde am {d} von der Stadt eröffnet.",
        ("km", "m", "Meilen", "Tonnen", "Stunden"),
        ("Januar", "Mai", "August", "Dezember"),
        "{day}. {month} 2024",
        ".",
        ("Nr. 4", "Prof. Moos", "Bd. 7", "Ing. Moos", "Kap. 3", "Hrsg. Moos"),
    ),
    "es": Language(
        "La muralla del mercado viejo mide {n} {u} y tiene {g} puertas.",
        "La muralla del mercado viejo no mide {n} {u} y tiene {g} puertas.",
        "El nuevo mercado se inauguró el {d} con una fiesta.",
        ("km", "m", "millas", "toneladas", "horas"),
        ("enero", "mayo", "agosto", "diciembre"),
        "{day} de {month} de 2024",
        ".",
        ("pág. 9", "Avda. Musgo", "Dra. Musgo", "art. 6", "Gral. Musgo"),
    ),
    "ro": Language(
        "Zidul din jurul pieței vechi are {n} {u} lungime și are {g} porți.",
        "Zidul din jurul pieței vechi nu are {n} {u} lungime și are {g} porți.",
        "Noua hală a pieței a fost deschisă pe {d} de către primar.",
        ("km", "m", "mile", "tone", "ore"),
        ("ianuarie", "mai", "august", "decembrie"),
        "{day} {month} 2024",
        ".",
        ("nr. 4", "Bd. Mușchi", "Dl. Mușchi", "cap. 3"),
    ),
    "el": Language(
        "Το τείχος γύρω από την παλιά αγορά έχει μήκος {n} {u} και έχει {g} πύλες.",
        "Το τείχος γύρω από την παλιά αγορά δεν έχει μήκος {n} {u} και έχει {g} πύλες.",
        "Η νέα αγορά άνοιξε στις {d} από τον δήμαρχο της πόλης.",
        ("χλμ", "μ", "μίλια", "τόνους", "ώρες"),
        ("Ιανουαρίου", "Μαΐου", "Αυγούστου", "Δεκεμβρίου"),
        "{day} {month} 2024",
        ".",
        ("σελ. 4", "Λεωφ. Βρύου", "αρ. 7", "καθ. Βρύος"),
    ),
    "ru": Language(
        "Стена вокруг старого рынка имеет длину {n} {u} и имеет {g} ворот.",
        "Стена вокруг старого рынка не имеет длину {n} {u} и имеет {g} ворот.",
        "Новый рынок был открыт {d} года мэром города.",
        ("км", "м", "миль", "тонн", "часов"),
        ("января", "мая", "августа", "декабря"),
        "{day} {month} 2024",
        "\u00a0",
        ("просп. Мохова", "рис. 4", "акад. Мохов", "стр. 7"),
    ),
    "tr": Language(
        "Eski çarşının etrafındaki sur {n} {u} uzunluğundadır ve {g} kapısı vardır.",
        "Eski çarşının etrafındaki sur {n} {u} uzunluğunda değildir ve {g} kapısı vardır.",
        "Yeni çarşı {d} günü belediye başkanı tarafından açıldı.",
        ("km", "m", "mil", "ton", "saat"),
        ("Ocak", "Mayıs", "Ağustos", "Aralık"),
        "{day} {month} 2024",
        ".",
        ("Cad. 5", "Doç. Yosun", "Mah. Yosun"),
    ),
    "ar": Language(
        "السور حول السوق القديم طوله {n} {u} وفيه {g} أبواب.",
        "السور حول السوق القديم ليس طوله {n} {u} وفيه {g} أبواب.",
        "افتتح السوق الجديد في {d} رئيس البلدية.",
        ("كم", "متر", "ميل", "طن", "ساعة"),
        ("يناير", "مايو", "أغسطس", "ديسمبر"),
        "{day} {month} 2024",
        ",",
        (),
    ),
    "hi": Language(
        "पुराने बाज़ार के चारों ओर की दीवार {n} {u} लंबी है और इसमें {g} द्वार हैं।",
        "पुराने बाज़ार के चारों ओर की दीवार {n} {u} लंबी नहीं है और इसमें {g} द्वार हैं।",
        "नया बाज़ार {d} को महापौर द्वारा खोला गया था।",
        ("किमी", "मीटर", "मील", "टन", "घंटे"),
        ("जनवरी", "मई", "अगस्त", "दिसंबर"),
        "{day} {month} 2024",
        ",",
        ("डॉ. काई", "प्रो. काई"),
    ),
    "vi": Language(
        "Bức tường quanh chợ cũ dài {n} {u} và có {g} cổng.",
        "Bức tường quanh chợ cũ không dài {n} {u} và có {g} cổng.",
        "Khu chợ mới được mở cửa vào ngày {d} bởi thị trưởng.",
        ("km", "m", "dặm", "tấn", "giờ"),
        ("1", "5", "8", "12"),
        "{day} tháng {month} năm 2024",
        ".",
        ("PGS. Rêu", "ThS. Rêu", "TP. Huế"),
    ),
    "th": Language(
        "กำแพงรอบตลาดเก่ายาว {n} {u} และมี {g} ประตู",
        "กำแพงรอบตลาดเก่าไม่ยาว {n} {u} และมี {g} ประตู",
        "ตลาดใหม่เปิดเมื่อวันที่ {d} โดยนายกเทศมนตรี",
        ("กม.", "เมตร", "ไมล์", "ตัน", "ชั่วโมง"),
        ("มกราคม", "พฤษภาคม", "สิงหาคม", "ธันวาคม"),
        "{day} {month} 2024",
        ",",
        ("ดร. มอส", "พ.ศ. 2497"),
    ),
    "zh": Language(
        "旧市场周围的城墙长{n}{u}，有{g}座门。",
        "旧市场周围的城墙不长{n}{u}，有{g}座门。",
        "新市场于{d}由市长开放。",
        ("公里", "米", "英里", "吨", "小时"),
        ("1", "5", "8", "12"),
        "2024年{month}月{day}日",
        ",",
        (),
    ),
}  # fmt: skip
MONTHS = (1, 5, 8, 12)


def verdict(claim, source):
    """Return the verdict on *claim*, or "none" if it is divided so that not all of it
    is checked.
    """
    text = claim.rstrip(".।。")
    sources = [{"id": 1, "title": "", "url": "https://a.example/", "text": source}]
    checks = check_citations(f"{text} [1].", sources)
    if len(checks) != 1 or len(checks[0].claim) < len(text) - 1:
        return "none"
    return checks[0].verdict


def write(number, language, chance):
    """Return *number* as people write it in a language: with groups, or without."""
    if number < 1000 or chance.random() < 0.4:
        return str(number)
    return f"{number:,}".replace(",", language.mark)


def lengths(language, chance):
    """Yield claims about a length, their source, and whether it supports them."""
    number = chance.choice(
        [chance.randrange(10, 99), chance.randrange(100, 999), chance.randrange(1000, 99999)]
    )  # fmt: skip
    unit = chance.randrange(5)
    gates = chance.randrange(3, 9)

    def say(sentence, number, unit, gates=gates):
        return sentence.format(
            n=write(number, language, chance), u=language.units[unit], g=gates
        )

    source = say(language.length, number, unit)
    denied = say(language.denied, number, unit)
    other_unit = chance.choice([n for n in range(5) if n != unit])
    yield source, source, True
    yield say(language.length, number, unit), source, True
    wrong = number + chance.choice([1, 3, 9, number])
    yield say(language.length, wrong, unit), source, False
    yield say(language.length, number, other_unit), source, False
    if number >= 1000:  # 1,234 m, and 1,234 km
        yield say(language.length, number, 1), say(language.length, number, 0), False
        yield say(language.length, number, 0), say(language.length, number, 1), False
    metres = chance.randrange(2, 90)
    kilometres = say(language.length, metres, 0)
    yield say(language.length, metres * 1000, 1), kilometres, True
    yield say(language.length, number, unit, gates + 1), source, False
    yield denied, source, False
    yield source, denied, False
    yield denied, denied, True


def dates(language, chance):
    """Yield claims about a date, their source, and whether it supports them."""

    def say(day, month):
        date = language.date.format(day=day, month=language.months[month])
        return language.dated.format(d=date)

    month = chance.randrange(4)
    day = chance.choice([n for n in range(1, 29) if n != MONTHS[month]])
    other = chance.choice([n for n in range(1, 29) if n != day])
    source = say(day, month)
    number = MONTHS[month]
    in_digits = f"{language.dated.format(d=f'2024-{number:02}-{day:02}')}"
    yield source, source, True
    yield source, in_digits, True
    yield in_digits, source, True
    yield say(number, month), source, False  # the day is that of the month
    yield say(other, month), source, False
    yield say(day, (month + 1) % 4), source, False
    yield language.dated.format(d=f"2024-{number:02}-{other:02}"), source, False
    yield say(other, month), in_digits, False


def abbreviations(language, chance):
    """Yield claims with an abbreviation in the middle, of which the first half is
    wrong.
    """
    for words in language.abbreviations:
        gates = chance.randrange(10, 99)
        start, _, rest = language.length.partition("{n}")
        end = rest.partition("{u}")[2].format(g=1954)
        sentence = f"{start}{gates} {words}{end}"
        yield sentence, sentence, True
        yield f"{start}{gates + 1} {words}{end}", sentence, False


@pytest.mark.parametrize("code", LANGUAGES)
def test_what_a_source_says_is_supported_and_nothing_else(code):
    language = LANGUAGES[code]
    wrong = []
    count = 0
    for seed in range(15):
        chance = random.Random(f"{code} {seed}")
        for make in (lengths, dates, abbreviations):
            for claim, source, is_right in make(language, chance):
                count += 1
                if (verdict(claim, source) == "supported") != is_right:
                    wrong.append((is_right, claim, source))

    assert wrong == []
    assert count >= 250  # 3,000 in twelve languages


@pytest.mark.parametrize(
    ("source", "claim", "is_right"),
    [
        ("The plant shuts from 4 to 9 May.", "The plant shuts on 4 May", True),
        ("The plant shuts on May 4, 6 and 9, 2026.", "It shuts on 6 May 2026", True),
        ("The plant shuts on May 4, 6 and 9, 2026.", "It shuts on 5 May 2026", False),
        ("Der Betrieb ruht vom 4. bis 9. Mai.", "Er ruht bis zum 9. Mai", True),
        ("The plant shut on 14.5.2026 for good.", "The plant shut on 14 May 2026", True),
        ("The plant shut on 14.5.2026 for good.", "The plant shut on 5 May 2026", False),
        ("The plant shut on 5/14/2026 for good.", "The plant shut on May 14, 2026", True),
        ("The plant shut on 4/5/2026 for good.", "The plant shut on 5 April 2026", True),
        ("The plant shut on Jan. 14, 2026.", "The plant shut on January 14, 2026", True),
        ("The plant shut on Jan. 14, 2026.", "The plant shut on January 1, 2026", False),
        ("The plant has had 9 owners since May 2026.", "It has had 5 owners since May 2026", False),
        ("The plant has had 9 owners since May 2026.", "It has had owners since 9 May 2026", False),
        ("On May 14 the plant shut.", "The plant shut on 14 May", True),
        ("In May 12 people left the plant.", "12 people left the plant in May", True),
        ("The share of peat is 5%.", "The share of peat is 5 tonnes", False),
        ("The share of peat is 5%, 7% and 12%.", "The share of peat is 5, 7 and 12 percent", True),
        ("The plant burns 5% peat.", "The plant burns 5 peat", False),
    ],
)  # fmt: skip
def test_days_and_percentages_count_only_as_such(source, claim, is_right):
    assert (verdict(claim, source) == "supported") == is_right


@pytest.mark.parametrize(
    ("source", "claim", "is_right"),
    [
        ("The pond is 1.5 km from the mill.", "The pond is 1,500 m from the mill", True),
        ("The pond is 1.234 km from the mill.", "The pond is 1234 m from the mill", True),
        ("The pond is 1,234 m from the mill.", "The pond is 1.234 km from the mill", True),
        ("The pond is 1,234 m from the mill.", "The pond is 1234 km from the mill", False),
        ("The pond is 1,234 m from the mill.", "The pond is 123 cm from the mill", False),
        ("Der Teich ist 1.234 m von der Mühle.", "Der Teich ist 1,234 km von der Mühle", True),
        ("Der Teich ist 1.234 m von der Mühle.", "Der Teich ist 123 cm von der Mühle", False),
        ("Teich: 1,234 m", "Teich: 1,234 km", False),
        ("Teich: 35 908 km", "Teich: 35.908 m", False),
        ("La laguna está a 408 mil metros del molino.", "La laguna está a 408 km del molino", True),
        ("La laguna está a 408 km del molino.", "La laguna está a 408 mil km del molino", False),
        ("Gölet değirmenden 408 mil uzaktadır.", "Gölet değirmenden 656 km uzaktadır", True),
        ("水塘离磨坊5千克。", "水塘离磨坊5000克", True),
        ("这座磨坊的功率为7兆瓦。", "这座磨坊的功率为7000千瓦", True),
    ],
)  # fmt: skip
def test_a_figure_in_another_unit_is_read_as_its_text_writes_numbers(
    source, claim, is_right
):
    assert (verdict(claim, source) == "supported") == is_right


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        ("The mill does not grind barley.", "The mill grinds barley"),
        ("The mill did not close.", "The mill closed"),
        ("The mill is 30 metres high and does not grind barley.", "It grinds barley"),
        ("The dam doesn't hold water.", "The dam holds water"),
        ("Peat does not float.", "Peat floats"),
        ("The mill has not carried passengers.", "The mill carries passengers"),
        ("Die Mühle mahlt keine Gerste.", "Die Mühle mahlt Gerste"),
        ("El molino no muele cebada.", "El molino muele cebada"),
        ("Değirmen arpa öğütmez.", "Değirmen arpa öğütür"),
    ],
)
def test_a_verb_that_changes_with_its_negation_is_still_denied(source, claim):
    assert verdict(claim, source) != "supported"
    assert verdict(source, claim + ".") != "supported"
    assert verdict(source, source) == "supported"


@pytest.mark.parametrize("name", sorted(UNITS))
def test_no_unit_is_taken_for_a_scale_or_a_month(name):
    written = name.rstrip("*")
    turkish = "Değirmenin yanında"  # where "mil" are miles
    figures = find_figures(
        f"{turkish} 7 {written} " if "mil" in name else f"7 {written}"
    )

    (figure,) = [one for one in figures if one.text in {"7", "-7"}]
    assert (figure.kind, figure.factor, figure.scale) == (*UNITS[name], 1)


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ("the height of the dam", "."),
        ("die Höhe der Mauer und des Damms", ","),
        ("Высота плотины", ","),
        ("水坝的高度", "."),
        ("3.5 kg, 2.25 kg", "."),
        ("3,5 kg", ","),
        ("Kelp", ""),
    ],
)
def test_the_words_of_a_text_tell_how_it_writes_fractions(text, decimal):
    assert find_notation(text).decimal == decimal


def test_a_full_stop_after_a_usual_word_ends_a_claim():
    answer = "Nobody has measured the old dam. It is 30 metres high [1]."
    (check,) = check_citations(
        answer, [{"id": 1, "text": "The dam is 30 metres high."}]
    )

    assert check.claim == "It is 30 metres high."


@pytest.mark.parametrize("text", ["etc. ", "Sen. ", "(a. ", "No. 5 "])
def test_a_claim_that_goes_on_and_on_costs_no_more(text):
    checks = check_citations(text * 20_000 + "[1].", [{"id": 1, "text": "Dam."}])

    assert len(checks) <= 1
