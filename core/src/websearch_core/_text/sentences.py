"""Find the ends of sentences, in any language that marks them."""

from __future__ import annotations
import re
from collections.abc import Iterator

_ABBREVIATIONS = (
    r"[^\W\d_]",
    r"\d mil",
    *"dr mr mrs prof sr sra st mt nr vs ca approx mio mrd tsd εκατ δισ".split(),
)
# and no initial
_NOT_ABBREVIATED = "".join(rf"(?<!\b{word}\.)" for word in _ABBREVIATIONS)
# as in "am 5. Mai"
_NO_ORDINAL = (
    r"(?!(?<=\d\.)\s(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Jahrhundert))"
)
SENTENCE_END = re.compile(
    # quotation marks, and the full stops of Urdu, Chinese and Japanese
    rf"""[.!?…؟।۔](?i:{_NOT_ABBREVIATED}){_NO_ORDINAL}"""  # noqa: RUF001
    r"""[)\]"'»”’*_`]{0,4}\s++(?![a-z])"""  # noqa: RUF001
    r"""|[。！？；][」』）”]{0,2}\s*"""  # noqa: RUF001
)
_LINES = re.compile(r"[^\n]+")


def split_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each sentence begins and ends; a line ends one too."""
    for line in _LINES.finditer(text):
        position = line.start()
        for mark in SENTENCE_END.finditer(text, *line.span()):
            if text[position : mark.end()].strip():
                yield position, mark.end()
            position = mark.end()
        if text[position : line.end()].strip():
            yield position, line.end()
