"""Guess the encoding of a page that names none, and is not UTF-8.

Browsers do so too. The pairs of bytes identify East Asian encodings, the frequency of
letters other scripts, and the accents European languages.
"""

from __future__ import annotations
import codecs
import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain

DEFAULT = "cp1252"  # the guess of browsers where nothing says more
_SAMPLE_SIZE = 2**17  # bytes
_MIN_BYTES = 5  # that are not ASCII: fewer say nothing
_MIN_PAIRS = 8
_RUN = re.compile(rb"[\x80-\xff][\x40-\x7e\x80-\xff]*")  # of letters in any script
_PAIR = re.compile(rb"[\x81-\xfe][\x40-\x7e\x80-\xfe]")
_FOREIGN = re.compile(rb"[\x80-\xff]+")
_ESCAPE = re.compile(rb"\x1b\$[@B]")  # begins Japanese in ISO-2022-JP
_NO_CHARACTER = re.compile("[\ufffd\ue000-\uf8ff]")  # or one of private use
_MAX_ERRORS = 0.02  # share of the pairs
_KANA = 0.2  # share of the pairs of any Japanese text
_HANGUL = 0.85
_LOW_TRAILS = 0.1  # of Big5; GBK has few
_BIG5_LEADS = 0.9
_DIFFERENT = 0.25  # share of the pairs
_COMMON_LEADS = 0.85
_SPREAD = 0.4
_DENSE = 0.7  # share of the bytes of another script that stand beside each other
# The letters of a script, the most frequent first.
_SCRIPTS = {
    "cp1251": "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэф",
    "koi8-r": "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэф",
    "iso8859-5": "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэф",
    "cp866": "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэф",
    "cp1253": "αοιετσνηυρπκμλςωόάίέδγύήχθφώβξζψ",
    "cp1255": "יוהלאתרבשמםנחכדעפקגןטצסזךףץ",
    "cp1256": "ايلمونتربعدسفكهقحجشطصخضذثزغظأةإىءئ",
    "cp874": "านรอกเงมยลวดทสตะปบคหแจพชขใไผโถณธศภษ่้ิีึืุู์ัำ",
}
# The accents of languages, by their encoding: the default comes first.
_ACCENTS = {
    DEFAULT: "éèàêçùôîâûëïœ äöüß áéíóúñ¿¡ãõâêôà åäöæø ðþýáéíóúæö",
    "cp1250": "ąćęłńóśźż áčďéěíňóřšťúůýž áéíóöőúüű čćđšž ăâîşţ",
    "cp1254": "çğıöşü",
    "cp1257": "ąčęėįšųūž āčēģīķļņšūž",
}
_LETTERS = frozenset({*range(0xC0, 0x100), *"ŠŚŤŽŹšśťžźŁĄŞŻłąşĽľż".encode("cp1250")})
_COMMON = 8  # the rank of a letter that counts half as much as the first
_MARGIN = 0.1  # by which a language has to be better than those of the default


def guess_codec(data: bytes) -> str:
    """Return Python's name of the codec that a page is most likely in."""
    sample = data[:_SAMPLE_SIZE]
    if _ESCAPE.search(sample):
        return "iso2022_jp_ext"
    count = sum(byte >= 0x80 for byte in sample)
    if count < _MIN_BYTES:
        return DEFAULT
    return _guess_pairs(sample) or _guess_script(sample) or _guess_accents(sample)


def _guess_pairs(sample: bytes) -> str | None:
    """Return the encoding of East Asia that the pairs of bytes are in, if any."""
    runs = _RUN.findall(sample)
    pairs = [*chain.from_iterable(map(_PAIR.findall, runs))]
    if len(pairs) < _MIN_PAIRS:
        return None
    return _name_pairs(pairs, sample)


def _name_pairs(pairs: Sequence[bytes], sample: bytes) -> str | None:
    total = len(pairs)
    leads = Counter(pair[0] for pair in pairs)
    kana = sum(pair[0] in (0x82, 0x83) and pair[1] != 0x7F for pair in pairs)
    if kana > _KANA * total and _decodes(sample, "cp932"):
        return "cp932"
    low_trails = sum(pair[1] < 0x80 for pair in pairs)
    big5_leads = sum(leads[lead] for lead in range(0xA1, 0xC7))
    is_big5 = low_trails > _LOW_TRAILS * total and big5_leads > _BIG5_LEADS * total
    if is_big5 and _decodes(sample, "big5hkscs"):
        return "big5hkscs"
    if low_trails > _LOW_TRAILS * total:
        return None  # words of Latin letters with accents
    if not _are_pairs(pairs):
        return None
    if leads[0xA4] + leads[0xA5] > _KANA * total and _decodes(sample, "euc_jp"):
        return "euc_jp"
    hangul = sum(leads[lead] for lead in range(0xB0, 0xC9))
    if hangul > _HANGUL * total and _decodes(sample, "cp949"):
        return "cp949"
    if not _decodes(sample, "gb18030"):
        return None
    return "gb18030"


def _are_pairs(pairs: Sequence[bytes]) -> bool:
    """Return whether first and second bytes are of different kinds.

    In an encoding of one byte for each letter they are the same letters. In Chinese,
    first bytes are mostly those of common characters, and second ones anything.
    """
    leads = Counter(pair[0] >> 4 for pair in pairs)
    trails = Counter(pair[1] >> 4 for pair in pairs)
    different = sum(abs(leads[row] - trails[row]) for row in range(16))
    if different / 2 > _DIFFERENT * len(pairs):
        return True
    common = sum(leads[row] for row in (0xA, 0xB, 0xC, 0xD))
    spread = sum(trails[row] for row in (0xA, 0xB, 0xE, 0xF))
    return common > _COMMON_LEADS * len(pairs) and spread > _SPREAD * len(pairs)


def _decodes(sample: bytes, codec: str) -> bool:
    """Return whether nearly all bytes are characters in an encoding."""
    decoder = codecs.getincrementaldecoder(codec)("replace")
    text = decoder.decode(sample)
    foreign = sum(character > "\x7f" for character in text)
    return len(_NO_CHARACTER.findall(text)) <= _MAX_ERRORS * foreign


def _guess_script(sample: bytes) -> str | None:
    """Return the encoding of one byte for each letter of another script, if any."""
    runs = _FOREIGN.findall(sample)
    foreign = sum(map(len, runs))
    if sum(len(run) for run in runs if len(run) > 1) < _DENSE * foreign:
        return None
    scores = {codec: _rate_script(runs, codec) for codec in _SCRIPTS}
    return max(scores, key=lambda codec: scores[codec])


def _rate_script(runs: Sequence[bytes], codec: str) -> float:
    """Return how well words fit a script: common letters, capitals at the beginning."""
    ranks = {letter: rank for rank, letter in enumerate(_SCRIPTS[codec])}
    score = 0.0
    for run in runs:
        text = run.decode(codec, "replace")
        for before, letter in zip(" " + text, text, strict=False):
            rank = ranks.get(letter.lower())
            is_inner = letter.isupper() and before.islower()
            if rank is None or is_inner:
                score -= 1
            else:
                score += 1 / (1 + rank / _COMMON)
    return score


def _guess_accents(sample: bytes) -> str:
    """Return the encoding of the European language whose accents are used."""
    counts = Counter(byte for byte in sample if byte in _LETTERS)
    best = {codec: _rate_accents(counts, codec) for codec in _ACCENTS}
    codec = max(best, key=lambda codec: best[codec])
    if best[codec] > best[DEFAULT] + _MARGIN:
        return codec
    return DEFAULT


def _rate_accents(counts: Counter[int], codec: str) -> float:
    """Return the share of the letters that the language has which fits best."""
    total = max(1, counts.total())
    shares = [0.0]
    for accents in _ACCENTS[codec].split():
        letters = set((accents + accents.upper()).encode(codec, "ignore"))
        shares.append(sum(counts[letter] for letter in letters) / total)
    return max(shares)
