"""Alter one thing in a sentence, in twelve languages: a scale, a unit, a number in
words, or whether it is denied.
"""

from __future__ import annotations
import re
from collections.abc import Iterator
from typing import NamedTuple

KINDS = (
    "figure altered",
    "scale altered",
    "unit altered",
    "word altered",
    "negation added",
    "negation removed",
)
_RAISED = 3  # what a figure is altered by: a year stays plausible
_FIGURE = re.compile(r"(?<![\d.,])\d+(?![\d.,]*\d)")


class _Words(NamedTuple):
    """What is altered in one language: pairs of words of which the first becomes the
    second.

    Args:
        scales: Names of scales.
        units: Names of units.
        numbers: Numbers in words.
        verbs: Verbs, and the same verbs denied.
    """

    scales: str
    units: str
    numbers: str
    verbs: str


_WORDS = {
    "en": _Words(
        "million>billion, billion>million, thousand>million",
        "kilometres>miles, kilometers>miles, km>miles, miles>km, mi>km, metres>feet, meters>feet, feet>metres, "
        "years>months, months>years, days>weeks, weeks>days, hours>minutes, minutes>hours, tonnes>kg, kg>tonnes",
        "two>five, three>seven, four>nine, five>two, six>eight, seven>three, eight>six, nine>four, ten>twelve, twelve>ten",
        "was>was not, were>were not, is>is not, are>are not, has>has not, had>had not, can>cannot, will>will not",
    ),
    "de": _Words(
        "Millionen>Milliarden, Milliarden>Millionen, Million>Milliarde, Milliarde>Million",
        "Kilometer>Meilen, km>Meilen, Meilen>Kilometer, Meter>Fuß, Fuß>Meter, Jahre>Monate, Jahren>Monaten, "
        "Monate>Jahre, Tage>Wochen, Tagen>Wochen, Wochen>Tage, Stunden>Minuten, Minuten>Stunden",
        "zwei>fünf, drei>sieben, vier>neun, fünf>zwei, sechs>acht, sieben>drei, acht>sechs, neun>vier, zehn>zwölf",
        "wurde>wurde nicht, wurden>wurden nicht, war>war nicht, waren>waren nicht, ist>ist nicht, sind>sind nicht, "
        "hat>hat nicht, kann>kann nicht",
    ),
    "es": _Words(
        "millones>billones, millón>billón, mil>millones de",
        "kilómetros>millas, km>millas, millas>km, metros>pies, pies>metros, años>meses, meses>años, días>semanas, "
        "semanas>días, horas>minutos, minutos>horas",
        "dos>cinco, tres>siete, cuatro>nueve, cinco>dos, seis>ocho, siete>tres, ocho>seis, nueve>cuatro, diez>doce",
        "fue>no fue, fueron>no fueron, era>no era, es>no es, son>no son, ha>no ha, tiene>no tiene, puede>no puede",
    ),
    "ro": _Words(
        "milioane>miliarde, miliarde>milioane, milion>miliard, miliard>milion, mii>milioane",
        "kilometri>mile, km>mile, mile>km, metri>picioare, picioare>metri, ani>luni, luni>ani, zile>săptămâni, "
        "săptămâni>zile, ore>minute, minute>ore",
        "două>cinci, doi>cinci, trei>șapte, patru>opt, cinci>două, șase>opt, șapte>trei, opt>șase, zece>trei",
        "a fost>nu a fost, au fost>nu au fost, este>nu este, sunt>nu sunt, era>nu era, are>nu are, poate>nu poate",
    ),
    "el": _Words(
        "εκατομμύρια>δισεκατομμύρια, δισεκατομμύρια>εκατομμύρια, εκατομμυρίων>δισεκατομμυρίων, "
        "δισεκατομμυρίων>εκατομμυρίων, χιλιάδες>εκατομμύρια",
        "χιλιόμετρα>μίλια, χλμ>μίλια, μίλια>χιλιόμετρα, μέτρα>πόδια, πόδια>μέτρα, χρόνια>μήνες, μήνες>χρόνια, "
        "ημέρες>εβδομάδες, εβδομάδες>ημέρες, ώρες>λεπτά, λεπτά>ώρες",
        "δύο>πέντε, τρεις>επτά, τρία>επτά, τέσσερις>εννέα, τέσσερα>εννέα, πέντε>δύο, έξι>οκτώ, επτά>τρία, δέκα>δώδεκα",
        "ήταν>δεν ήταν, είναι>δεν είναι, είχε>δεν είχε, έχει>δεν έχει, έγινε>δεν έγινε, μπορεί>δεν μπορεί",
    ),
    "ru": _Words(
        "миллионов>миллиардов, миллиардов>миллионов, миллиона>миллиарда, миллиарда>миллиона, тысяч>миллионов, млн>млрд, "
        "млрд>млн",
        "километров>миль, км>миль, миль>км, метров>футов, футов>метров, лет>месяцев, месяцев>лет, дней>недель, "
        "недель>дней, часов>минут, минут>часов",
        "два>пять, две>пять, три>семь, четыре>девять, пять>два, шесть>восемь, семь>три, восемь>шесть, десять>двенадцать",
        "был>не был, была>не была, было>не было, были>не были, является>не является, имеет>не имеет, может>не может",
    ),
    "tr": _Words(
        "milyon>milyar, milyar>milyon, bin>milyon",
        "kilometre>mil, km>mil, mil>km, metre>fit, fit>metre, yıl>ay, ay>yıl, gün>hafta, hafta>gün, saat>dakika, dakika>saat",
        "iki>beş, üç>sekiz, dört>dokuz, beş>iki, sekiz>üç, dokuz>dört",
        "vardır>yoktur, vardı>yoktu, oldu>olmadı, edildi>edilmedi, etti>etmedi, yapıldı>yapılmadı, verdi>vermedi, "
        "aldı>almadı, olan>olmayan, eder>etmez, olur>olmaz",
    ),
    "ar": _Words(
        "مليون>مليار, مليار>مليون, ملايين>مليارات, ألف>مليون",
        "كيلومتر>ميل, كم>ميل, ميل>كم, متر>قدم, قدم>متر, سنوات>أشهر, سنة>شهر, عام>شهر, أشهر>سنوات, أيام>أسابيع, "
        "ساعات>دقائق, ساعة>دقيقة, دقيقة>ساعة",
        "ثلاثة>سبعة, ثلاث>سبع, أربعة>تسعة, أربع>تسع, خمسة>ثلاثة, خمس>ثلاث, ستة>ثمانية, سبعة>ثلاثة, ثمانية>ستة",
        "كان>لم يكن, كانت>لم تكن, تم>لم يتم, يمكن>لا يمكن, يوجد>لا يوجد, يكون>لا يكون, تعتبر>لا تعتبر, يعتبر>لا يعتبر",
    ),
    "hi": _Words(
        "मिलियन>बिलियन, बिलियन>मिलियन, लाख>करोड़, करोड़>लाख, हजार>लाख",
        "किलोमीटर>मील, किमी>मील, मील>किमी, मीटर>फीट, फीट>मीटर, वर्ष>महीने, साल>महीने, महीने>साल, दिन>सप्ताह, "
        "सप्ताह>दिन, घंटे>मिनट, मिनट>घंटे",
        "दो>पांच, तीन>सात, चार>नौ, पांच>दो, पाँच>दो, छह>आठ, सात>तीन, आठ>छह, दस>बारह",
        "था>नहीं था, थी>नहीं थी, थे>नहीं थे, है>नहीं है, हैं>नहीं हैं, सकता>नहीं सकता",
    ),
    "vi": _Words(
        "triệu>tỷ, tỷ>triệu, nghìn>triệu, ngàn>triệu",
        "kilômét>dặm, km>dặm, dặm>km, mét>feet, feet>mét, năm>tháng, tháng>năm, ngày>tuần, tuần>ngày, giờ>phút, phút>giờ",
        "hai>sáu, bốn>tám, sáu>hai, bảy>bốn, tám>sáu, mười>bảy",
        "được>không được, là>không phải là, có>không có, đã>đã không, bị>không bị",
    ),
    "th": _Words(
        "ล้าน>พัน, พัน>ล้าน, แสน>ล้าน",
        "กิโลเมตร>ไมล์, ไมล์>กิโลเมตร, เมตร>ฟุต, ฟุต>เมตร, ปี>เดือน, เดือน>ปี, วัน>สัปดาห์, สัปดาห์>วัน, ชั่วโมง>นาที, นาที>ชั่วโมง",
        "สอง>ห้า, สาม>เจ็ด, สี่>เก้า, ห้า>สอง, หก>แปด, เจ็ด>สาม, แปด>หก, เก้า>สี่",
        "เป็น>ไม่ได้เป็น, มี>ไม่มี, ได้รับ>ไม่ได้รับ, สามารถ>ไม่สามารถ",
    ),
    "zh": _Words(
        "万>亿, 亿>万, 百万>十亿, 千>百万",
        "公里>英里, 千米>英里, 英里>公里, 英尺>米, 米>英尺, 年>个月, 个月>年, 天>周, 小时>分钟, 分钟>小时, 吨>公斤",
        "两>五, 三>七, 四>九, 五>三, 六>八, 七>三, 八>六, 九>四",
        "是>不是, 有>没有, 被>没有被, 可以>不可以, 能够>不能够",
    ),
}
# next to which a word is only a part of one
_LETTER = r"[\w\u0300-\u036f\u0900-\u0963]"
# Words in a sentence that is denied already, so that another negation would make
# nonsense of it.
_DENIALS = {
    "en": r"\b(?:not|no|never|neither|nor|without|none|cannot)\b|n't", "de": r"\b(?:nicht|kein\w*|nie|ohne|weder)\b",
    "es": r"\b(?:no|nunca|sin|ni|ningun\w*)\b", "ro": r"\b(?:nu|fără|nici\w*)\b|n-a",
    "el": r"\b(?:δεν|δε|μη|μην|χωρίς|ποτέ|ούτε|όχι)\b", "ru": r"\b(?:не|нет|без|ни\w*)\b",
    "tr": r"değil|\byok|m[ae](?:y|d|z|m)|m[ıiuü]yor", "ar": r"\b[وف]?(?:لا|لم|لن|ليس\w*|غير|دون|بدون)\b",
    "hi": "नहीं|बिना", "vi": r"\b(?:không|chưa|chẳng)\b", "th": "ไม่|มิ", "zh": "[不没沒无無未非]",
}  # fmt: skip
_UNSPACED = {"th", "zh"}
_COUNTED = {
    "zh": "(?=[个名位种年月天次座条])",
    "th": "(?= ?(?:คน|ปี|วัน|แห่ง|ครั้ง|เดือน|ประเภท|ส่วน|ทีม|ชนิด|กลุ่ม))",
}


def alter(sentence: str, code: str) -> Iterator[tuple[str, str]]:
    """Yield the kinds of alterations that a *sentence* in the language *code* allows,
    and the altered sentence.
    """
    words = _WORDS[code]
    if figures := list(_FIGURE.finditer(sentence)):
        last = figures[-1]
        yield (
            KINDS[0],
            f"{sentence[: last.start()]}{int(last[0]) + _RAISED}{sentence[last.end() :]}",
        )
    for kind, pairs, is_after, after in (
        (KINDS[1], words.scales, True, ""),
        (KINDS[2], words.units, True, ""),
        (KINDS[3], words.numbers, False, _COUNTED.get(code, "")),
    ):
        if altered := _replace(
            sentence,
            _pairs(pairs),
            after,
            is_after_figure=is_after,
            is_spaced=code not in _UNSPACED,
        ):
            yield kind, altered
    verbs, is_spaced = _pairs(words.verbs), code not in _UNSPACED
    if altered := _replace(
        sentence, {denied: verb for verb, denied in verbs.items()}, is_spaced=is_spaced
    ):
        yield KINDS[5], altered
    elif not re.search(_DENIALS[code], sentence, re.IGNORECASE) and (
        altered := _replace(sentence, verbs, is_spaced=is_spaced)
    ):
        yield KINDS[4], altered


def _pairs(listed: str) -> dict[str, str]:
    return dict(pair.split(">") for pair in listed.split(", "))


def _replace(
    sentence: str,
    pairs: dict[str, str],
    after: str = "",
    *,
    is_spaced: bool,
    is_after_figure: bool = False,
) -> str:
    """Replace the first of the words that occurs; return nothing if none does."""
    names = "|".join(sorted(map(re.escape, pairs), key=len, reverse=True))
    before = (
        r"(?<=\d)[ \u00a0-]?"
        if is_after_figure
        else f"(?<!{_LETTER})"
        if is_spaced
        else ""
    )
    found = re.search(
        rf"{before}(?P<name>{names}){f'(?!{_LETTER})' if is_spaced else ''}{after}",
        sentence,
    )
    if found is None:
        return ""
    return f"{sentence[: found.start('name')]}{pairs[found['name']]}{sentence[found.end('name') :]}"
