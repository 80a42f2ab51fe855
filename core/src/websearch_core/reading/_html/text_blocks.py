"""The elements of a page that a reader can see, and the blocks of their text."""

from __future__ import annotations
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property
from itertools import chain, compress, count
from typing import NamedTuple, TypeVar

from .._element import Attributes

Blocks = set[int]  # some of the blocks of a page

# Being inside one of these says something about a text; a bit for each.
TELLING_TAGS = {
    name: 1 << place
    for place, name in enumerate("a article main nav header footer aside".split())
}
IN_LINK = TELLING_TAGS["a"]
T = TypeVar("T")
NO_ATTRIBUTES: dict[str, str | None] = {}


class Control(NamedTuple):
    """The element with the words of a control, and the one that it opens."""

    label: int
    panel: int


class TextBlocks:
    """Elements by number, in the order of the page, so that each comes after its
    parent; number 0 is the body.

    Runs of text are numbered too, and so are blocks: each is the text of one or more
    runs that belong together.
    """

    def __init__(self) -> None:
        self.names = ["body"]
        self.parents = [-1]
        self.attributes: list[Attributes] = [NO_ATTRIBUTES]
        self.marks = [""]  # class, id and role
        self.described: list[int] = []  # elements with more attributes than a class
        # of these, those that an attribute may hide, or make a control
        self.telling: list[int] = []
        self.around = [0]  # bits of the `TELLING_TAGS` that it is in, including itself
        self.stream: list[int] = []  # elements as they open, and each run r as ~r
        self.run_texts: list[str] = []
        self.run_elements: list[int] = []
        self.run_blocks: list[int] = []
        # the block element that contains each block
        self.block_elements: list[int] = []
        self.block_texts: list[str] = []
        self.block_linked: list[int] = []  # how many characters of each are in links
        # the choices of controls, which are not blocks, by the block before them
        self.choices: dict[int, list[str]] = {}
        self.hidden = 0  # hidden passages that were left out
        self.hidden_length = 0  # their characters
        # hidden passages that are read although people may never see them
        self.unasked = 0
        # texts that are read although their style may hide them
        self.doubted = 0
        self.invisible = 0  # invisible characters that were removed
        # places that scripts would fill, such as ``{{title}}``, which were left out
        self.unfilled = 0
        self.scriptless = False  # True if the text is from ``<noscript>``
        # the controls of the page that name what they open
        self.controls: list[Control] = []
        self.cut = False  # True if the page is too large to be read to its end
        self._inside: dict[tuple[str, ...], list[int]] = {}

    def is_linked(self, element: int) -> bool:
        """Return whether an element is a link or in one."""
        return self.around[element] & IN_LINK > 0

    def around_all(self, elements: Iterable[int]) -> bytearray:
        """Return for each element 1 if it is the body, or is or contains one of
        *elements*.
        """
        around = bytearray(len(self.names))
        around[0] = 1
        for within in elements:
            element = within
            while not around[element]:
                around[element] = 1
                element = self.parents[element]
        return around

    def above(self, element: int, levels: int) -> Iterator[int]:
        """Yield an element and those around it, the nearest ones, but not the body: at
        most so many.
        """
        for _ in range(levels):
            if element <= 0:
                return
            yield element
            element = self.parents[element]

    @cached_property
    def block_names(self) -> list[str]:
        """The name of the element of each block."""
        return self.by_block(self.names)

    def by_block(self, values: Sequence[T]) -> list[T]:
        """Return for each block the one of the *values* of all elements that its
        element has.
        """
        return [*map(values.__getitem__, self.block_elements)]

    def blocks_in(self, elements: Iterable[int]) -> Blocks:
        """Return the blocks in some elements, other than the body."""
        holders = self.by_block(self.holders(elements))
        return set(compress(count(), holders))

    def length(self, blocks: Iterable[int]) -> int:
        """Return the characters of some blocks."""
        return sum(len(self.block_texts[block]) for block in blocks)

    def part(self, blocks: Sequence[int]) -> TextBlocks:
        """Return the same page with some of its blocks, in order, for what looks at
        elements and blocks only.
        """
        if len(blocks) == len(self.block_texts):
            return self
        some = copy(self)
        some.block_names = [self.block_names[block] for block in blocks]
        some.block_elements = [self.block_elements[block] for block in blocks]
        some.block_texts = [self.block_texts[block] for block in blocks]
        some.block_linked = [self.block_linked[block] for block in blocks]
        return some

    def holders(self, some: Iterable[int]) -> list[int]:
        """Return for each element the innermost of *some* that it is, or is in; 0, the
        body, if there is none.
        """
        holders = [0] * len(self.names)
        ends = self.ends
        for element in sorted(some):  # those inside others come after them
            end = ends[element]
            holders[element:end] = [element] * (end - element)
        return holders

    def inside(self, *names: str) -> list[int]:
        """Return for each element the innermost one with one of *names* that it is, or
        is in; 0 if there is none.
        """
        if names not in self._inside:
            self._inside[names] = self.holders(self.named(*names))
        return self._inside[names]

    def runs_in(self, some: Collection[int]) -> dict[int, list[int]]:
        """Return for each of *some* elements, other than the body, the runs of text of
        which it is the innermost one around them.
        """
        holders = self.holders(some)
        inside = [*map(holders.__getitem__, self.run_elements)]
        runs: dict[int, list[int]] = {element: [] for element in some}
        for run in compress(count(), inside):
            runs[inside[run]].append(run)
        return runs

    @cached_property
    def _by_name(self) -> defaultdict[str, list[int]]:
        """The elements of each name, as a page is asked for many names."""
        by_name: defaultdict[str, list[int]] = defaultdict(list)
        for element, name in enumerate(self.names):
            by_name[name].append(element)
        return by_name

    def named(self, *names: str) -> list[int]:
        """Return the elements with one of *names*."""
        return sorted(chain.from_iterable(map(self._by_name.__getitem__, names)))

    def marked(self, marks: Collection[str]) -> Iterator[int]:
        """Yield the elements with one of *marks*."""
        if not marks:
            return iter(())
        return compress(count(), map(marks.__contains__, self.marks))

    @cached_property
    def attribute_names(self) -> frozenset[str]:
        """The names of all attributes of the page, for quick checks; ``class`` may be
        missing.
        """
        return frozenset().union(*map(self.attributes.__getitem__, self.described))

    @cached_property
    def ends(self) -> list[int]:
        """For each element, the number after the last one inside."""
        parents = self.parents
        ends = [*range(1, len(parents) + 1)]
        for element in range(len(parents) - 1, 0, -1):
            parent = parents[element]
            end = ends[element]
            if end > ends[parent]:  # noqa: PLR1730 - twice as fast
                ends[parent] = end
        return ends

    @cached_property
    def child_counts(self) -> Counter[int]:
        """How many elements are right inside of each."""
        return Counter(self.parents)

    @cached_property
    def _lower_marks(self) -> tuple[dict[str, str], str]:
        """The marks in lower case, and all of them in one text."""
        lower_marks = {mark: mark.lower() for mark in set(self.marks)}
        return lower_marks, "\n".join(lower_marks.values())

    def find_marks(self, pattern: re.Pattern[str], hints: Iterable[str]) -> set[str]:
        """Return the marks that *pattern* finds in lower case; only those with one of
        the *hints* are searched.
        """
        lower_marks, together = self._lower_marks
        marks: set[str] = set()
        for hint in hints:
            if hint in together:
                hinted = [mark for mark, lower in lower_marks.items() if hint in lower]
                marks.update(
                    mark for mark in hinted if pattern.search(lower_marks[mark])
                )
        return marks

    def links(self) -> Iterator[str]:
        """Yield the targets of the links, as written in the page."""
        for link in self.named("a"):
            href = self.attributes[link].get("href")
            if href:
                yield href
