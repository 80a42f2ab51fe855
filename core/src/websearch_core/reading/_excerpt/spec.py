"""Which excerpt of a page to return: a window, the passages that answer a query, or the
places of a phrase.

The options are checked before a page is requested. What cuts the page is imported
later: most of it happens in another process.
"""

from __future__ import annotations
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypedDict

from ..._text.escaping import link_target
from ..._text.vocabulary import Responses
from ...errors import InvalidOption
from ...models import Page, Passage
from ...tokens import CHARACTERS_PER_TOKEN, TokenCounter, estimate_tokens
from .._links import Links
from .outline import find_parts, outline_of
from .window import OUTSIDE, Cut, check, cut_window, join_rest, without_targets

_TYPES = {
    "max_length": (int | None, "a whole number"),
    "max_tokens": (int | None, "a whole number"),
    "offset": (int, "a whole number"),
    "query": (str | None, "text"),
    "find": (str | None, "text"),
    "outline": (bool, "true or false"),
}
_TRIES = 8  # cuts to find the one that fills a budget of tokens
_BESIDE = 3  # what stands beside the main text may take a third
_ENOUGH = 0.95  # of a budget: good enough to stop looking for a better cut
_SHORT = 40_000  # characters; making them safe takes 70 ms, whatever they are
_MARKER = re.compile(r"\A[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")
# what a browser may show otherwise than our Markdown has it
_UNSURE = re.compile(r"[\\<>|\[\]$_~]|https?:")
_MIN_LENGTH = 12  # characters of a sentence that is worth going to
_TEXT_TYPES = ("", "text/html", "application/xhtml+xml", "text/plain", "text/markdown")


class ReadOptions(TypedDict, total=False):
    """Which part of a page to read, and what belongs to it.

    Args:
        max_length: Most characters to return.
        max_tokens: Most tokens to return. If both limits are given, both apply.
        offset: Where to begin, in characters: 0, or the ``next_offset`` of the previous
            part. A query or phrase is searched for from this offset.
        query: Return the passages of the whole page that best answer this, instead of
            the text at the offset: 3,000 characters, unless the call has a limit. A
            mark says which of them stand outside the main text.
        find: Return the places around this phrase, in the whole page and with the same
            mark.
        outline: Return the headings of the page instead, as a list with the size of
            what is below each, and its offset: ``- Prices (1,200 characters; offset
            310)``, and below it ``  - Wholesale (400 characters; offset 1110)``.
        comments: ``drop`` or ``keep`` what readers wrote about an HTML page, for the
            readers that run here. By default, an article drops it, and other pages keep
            what belongs to them.
        reviews: The same for reviews. By default, what belongs to the page is kept.
        links: What to do with the links in the page, for every reader and type of page:
            ``keep`` them with their targets, keep only their ``text``, or ``drop`` them
            with their text.
        transcripts: ``keep`` adds the transcripts that a page or a feed names to its
            text: captions of its videos, and those of episodes. It is one more request
            for each, at most three, by the readers that run here. By default they are
            dropped, except by the tools.
        passages_by: Scores the passages of a page for a ``query``, instead of the words
            that they share with it: a function from the query and the texts of all
            passages to one number for each, such as the similarity of embeddings. The
            highest come first; 0 or less leaves a passage out. It is called once for a
            page, in this process, and its time counts as that of the page.
        token_counter: Counts the tokens of a text; by default
            `websearch_core.tokens.estimate_tokens`.
        ocr: Returns the text of an image, from its bytes and its media type, such as
            ``image/jpeg``: for scanned PDFs, and for images, by the readers that run
            here.
    """

    max_length: int | None
    max_tokens: int | None
    offset: int
    query: str | None
    find: str | None
    outline: bool
    comments: Responses | None
    reviews: Responses | None
    links: Links | None
    transcripts: Responses | None
    passages_by: Callable[[str, Sequence[str]], Sequence[float]] | None
    token_counter: TokenCounter | None
    ocr: Callable[[bytes, str], str] | None


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """An excerpt: one of three ways to choose text, or the outline, under one or two
    limits.

    The arguments are those of `ReadOptions`. Without a limit, the excerpt has any
    length. An empty *query* or *find* is none. *count* returns the number of tokens in
    a text. Unless *marks_offsets*, the marks between passages do not say at which
    offset the next one begins.

    Raises:
        InvalidOption: A limit or the offset is out of range, or two of *query*, *find*
            and *outline* are given.
    """

    max_length: int | None = None
    max_tokens: int | None = None
    offset: int = 0
    query: str | None = None
    find: str | None = None
    outline: bool = False
    passages_by: Callable[[str, Sequence[str]], Sequence[float]] | None = None
    count: TokenCounter = estimate_tokens
    marks_offsets: bool = True

    def __post_init__(self) -> None:
        """Check the options before anything is fetched."""
        for name, (kind, what) in _TYPES.items():
            value = getattr(self, name)
            is_truth = isinstance(value, bool) and kind is not bool
            if is_truth or not isinstance(value, kind):
                raise InvalidOption(
                    f"{name}: must be {what}, not {type(value).__name__}"
                )
        max_length = self.max_length
        if max_length is None:
            max_length = 1
        check(max_length, self.offset)
        if self.max_tokens is not None and self.max_tokens < 1:
            raise InvalidOption(
                f"max_tokens: must be at least 1, not {self.max_tokens}"
            )
        ways = [_has_words(self.query), _has_words(self.find), self.outline]
        if sum(ways) > 1:
            raise InvalidOption("give one of query, find and outline")

    def is_cheap(self, page: Page) -> bool:
        """Return whether cutting it from *page* is fast enough to do on an event
        loop.
        """
        if self.max_tokens is not None:
            return False
        if _has_words(self.query) or _has_words(self.find):
            return False
        return len(page.content) + len(page.rest) <= _SHORT

    def of(self, page: Page) -> Page:
        """Cut this excerpt from *page*, which must be a whole page.

        Raises:
            InvalidOption: The phrase has no characters to search for, or *max_tokens*
                is too small for any text.
        """
        text = join_rest(page)
        max_length = self.max_length
        if max_length is None:
            max_length = max(1, 2 * len(text))
        about = max_length
        if self.max_tokens is not None:
            about = min(max_length, CHARACTERS_PER_TOKEN * self.max_tokens)
        bare_cut = self._cut(page, about)
        cut = partial(_safely, bare_cut, page.content, text)
        if self.max_tokens is None:
            part = cut(max_length)
        else:
            part = _fit_tokens(cut, max_length, self.max_tokens, self.count)
        if not self.outline:
            outline = find_parts(page.content)
            part = part.model_copy(update={"outline": outline})
        if page.rest and self._is_beginning():
            part = _with_beside(part, page, about)
        if not part.passages:
            return part
        return link_passages(part, page, self.query or self.find or "")

    def _is_beginning(self) -> bool:
        """Return whether nothing was asked for but the beginning of the page."""
        if self.offset or self.outline:
            return False
        return not (_has_words(self.query) or _has_words(self.find))

    def _cut(self, page: Page, about: int) -> Cut:
        if _has_words(self.find):
            from .find import by_phrase

            return by_phrase(page, self.find or "", self.offset, about)
        if _has_words(self.query):
            from .passages import by_query

            return by_query(
                page,
                self.query or "",
                self.offset,
                about,
                self.passages_by,
                marks_offsets=self.marks_offsets,
            )
        if self.outline:
            return partial(outline_of, page)
        if page.rest and self.offset > len(page.content):
            page = page.model_copy(update={"content": join_rest(page)})
            page = page.with_notes(f"this is {OUTSIDE}")
        return partial(cut_window, page, offset=self.offset)


def _with_beside(part: Page, page: Page, about: int) -> Page:
    """Return the beginning of a page with what the page states beside its main text: it
    gets what the beginning leaves of *about* so many characters, at least a third.
    """
    from .beside import MAX_LENGTH, choose_beside

    room = max(about - len(part.content), about // _BESIDE)
    main = f"{page.title}\n{part.content}"
    rest = choose_beside(main, page.rest, min(room, MAX_LENGTH))
    return part.model_copy(update={"rest": rest})


def _safely(
    cut: Cut,
    content: str,
    whole: str,
    max_length: int,
) -> Page:
    """Cut a part out of *whole*, a page's *content* and what is beside it, that is as
    safe to render as the whole.

    A cut can divide a code block. Its second half is code only if the fence is written
    again.
    """
    bare = cut(max_length)
    if bare.content == content:
        return bare
    part = _sealed(bare, whole)
    if part.content_length <= max_length:
        return part
    longer = part.content_length - bare.content_length
    shorter = cut(max(1, max_length - longer))
    return _sealed(shorter, whole)


def _sealed(part: Page, whole: str) -> Page:
    from .._markdown.sanitizer import is_safe, opening_of, sanitize

    opening = None
    if not part.passages:
        opening = opening_of(whole, part.offset)
    if opening is None and is_safe(part.content):
        return part
    begun = part.content
    if opening:
        begun = f"{opening}\n{begun}"
    content, _ = sanitize(begun, close=False)
    if content == part.content:
        return part
    update = {"content": content, "content_length": len(content)}
    return part.model_copy(update=update)


def _has_words(words: str | None) -> bool:
    return bool(words and words.strip())


def _fit_tokens(
    cut: Cut,
    max_length: int,
    max_tokens: int,
    count: TokenCounter,
) -> Page:
    """Cut a page so that its content fills a budget of tokens, which *count* is asked
    for a few times.

    *cut* returns the page cut to at most so many characters, *max_length* at most.
    """
    best: Page | None = None
    best_tokens = 0
    tokens = 0
    tries = 0
    low = 0  # characters that fit
    high = max_length + 1  # characters that do not
    length = min(max_length, max_tokens * CHARACTERS_PER_TOKEN)
    while high - low > 1:
        is_enough = tries >= _TRIES or best_tokens >= _ENOUGH * max_tokens
        if best is not None and is_enough:
            break
        tries += 1
        page = cut(length)
        if best is None or page.content != best.content:
            tokens = count(page.content)
        if tokens <= max_tokens:
            best = page
            best_tokens = tokens
            low = length
        else:
            high = length
        length = len(page.content) * max_tokens // max(tokens, 1)
        if tries >= _TRIES or not low < length < high:
            halfway = min((low + high) // 2, 2 * low or high)
            length = max(halfway, low + 1)
    if best is None:
        raise InvalidOption(f"max_tokens={max_tokens} is too small")
    return best


def link_passages(part: Page, whole: Page, words: str) -> Page:
    """Return *part* with a ``link`` for each passage that has a sentence which occurs
    only once in the *whole* page.

    The link leads to the sentence with most of the *words* of the query, or of the
    phrase that was sought.
    """
    url = link_target(whole.final_url or whole.url)
    if url is None or whole.media_type not in _TEXT_TYPES:
        return part
    if len(part.content) == len(whole.content):
        return part
    from ..._text.terms import list_terms, query_terms
    from ...citations import link_to_text
    from .find import Folded

    visible = Folded(whole.content, seen=True).form
    terms = {term.removesuffix("*") for term in query_terms(words)}
    content = whole.content

    def count(text: str) -> int:
        return visible.count(Folded(text).form.strip())

    def rate(sentence: _Sentence) -> int:
        return len(terms.intersection(list_terms(sentence.text)))

    def link(passage: Passage) -> str | None:
        end = passage.offset + passage.length
        text = content[passage.offset : end]
        best = max(_sentences(text), key=rate, default=None)
        if best is None:
            return None
        return link_to_text(url, best.text, count, before=best.before, after=best.after)

    passages: list[Passage] = []
    for passage in part.passages:
        update = {"link": link(passage)}
        passages.append(passage.model_copy(update=update))
    return part.model_copy(update={"passages": tuple(passages)})


class _Sentence(NamedTuple):
    """A sentence, and what stands before and after it in its paragraph."""

    before: str
    text: str
    after: str


def _sentences(text: str) -> Iterator[_Sentence]:
    """Yield each sentence that a browser shows as it is."""
    from .pieces import pieces

    parts: list[str] = []
    for piece in pieces(text):
        if not piece.leads and not piece.frame:
            parts.append(text[piece.start : piece.end])
    for n, part in enumerate(parts):
        plain = _plain(part)
        if len(plain) < _MIN_LENGTH or "\n" in part.strip():
            continue
        before = ""
        if n and not parts[n - 1].endswith("\n"):
            before = _plain(parts[n - 1])
        after = ""
        if n + 1 < len(parts) and not part.endswith("\n"):
            after = _plain(parts[n + 1])
        yield _Sentence(before, plain, after)


def _plain(part: str) -> str:
    """Return the text of *part* as a person sees it, or nothing if that is not
    certain.
    """
    bare = without_targets(_MARKER.sub("", part))
    for mark in "*`":
        bare = bare.replace(mark, "")
    bare = " ".join(bare.split())
    if _UNSURE.search(bare):
        return ""
    return bare
