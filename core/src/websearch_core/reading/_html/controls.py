"""Pair the controls of a page with what they open: tabs and their panels, the headers
of accordions, summaries.

Pages say so by ids (``aria-controls``, ``aria-labelledby``, ``<label for>``), by the
order of tabs and panels, or by what stands next to each other.
"""

from __future__ import annotations
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import chain, islice

from .._element import HEADINGS
from .hidden import TOGGLES, find_targets
from .text_blocks import Control, TextBlocks

# a page without these has no controls, summaries and buttons excepted
_TELLING = frozenset(
    {"aria-controls", "aria-expanded", "data-toggle", "for", "href", "role"}
)
_MARKS = TOGGLES | {"role"}
_MAX_LENGTH = 200  # characters of a label
_MIN_TOGGLES = 3  # controls that say the same besides their names
_MAX_CONTROLS = 300  # of a page
_MIN_TABS = 2
_MAX_MENUS = 100  # lists of links
_MAX_BEFORE_HEADING = 5  # elements from a part to the heading that it begins with
_PANELS = frozenset({"dd", "div", "p", "section"})
_SWITCHES = re.compile(r"(?<![a-z])(?:tabs?|switcher|pills)(?![a-z])")
_MAX_LISTS = 50  # of tabs, or of buttons of which one is on
_MAX_LEVELS = 4  # from a control, or a list of tabs, to what has the panels too


def find_controls(outline: TextBlocks) -> list[Control]:
    """Return the controls that name what comes after them, in the order of the page.

    What different controls open has no name, such as pictures with "Previous" and
    "Next"; and a control that says the same as another names nothing.
    """
    has_label = not {"summary", "button"}.isdisjoint(outline.names)
    if not has_label and outline.attribute_names.isdisjoint(_TELLING):
        return []
    panels: dict[int, int] = {}  # by label
    for label, panel in _Finder(outline).find():
        if panel >= outline.ends[label]:
            panels.setdefault(label, panel)
    _drop_inner(outline, panels)
    if not panels:
        return []
    texts = _read_labels(outline, panels)
    names: defaultdict[int, set[str]] = defaultdict(set)
    for label, panel in panels.items():
        names[panel].add(texts[label])
    times = Counter(texts.values())
    controls: dict[int, Control] = {}  # by panel
    for label, panel in panels.items():
        if len(names[panel]) > 1 or not _is_name(texts[label]):
            continue
        if times[texts[label]] == 1 or outline.names[label] == "summary":
            controls.setdefault(panel, Control(label, panel))
    return sorted(controls.values())[:_MAX_CONTROLS]


def _drop_inner(outline: TextBlocks, panels: dict[int, int]) -> None:
    """Drop the labels inside others with the same panel: a link in a tab is that."""
    outer = 0
    for label in sorted(panels):
        is_inner = label < outline.ends[outer] and outer > 0
        if is_inner and panels[label] == panels[outer]:
            del panels[label]
        elif not is_inner:
            outer = label


def _is_name(text: str) -> bool:
    return len(text) <= _MAX_LENGTH and any(map(str.isalnum, text))


def blank_toggles(outline: TextBlocks) -> None:
    """Remove what several controls say besides their names, such as "Show"."""
    labels = [control.label for control in outline.controls]
    if len(labels) < _MIN_TOGGLES:
        return
    runs = outline.runs_in(labels)
    texts: dict[int, set[str]] = {}
    for label in labels:
        texts[label] = {outline.run_texts[run] for run in runs[label]}
    times = Counter(chain.from_iterable(texts.values()))
    toggles = {text for text, count in times.items() if count >= _MIN_TOGGLES}
    for label in labels:
        names = "".join(texts[label] - toggles)
        if not any(map(str.isalnum, names)):
            continue
        for run in runs[label]:
            if outline.run_texts[run] in toggles:
                outline.run_texts[run] = " "


def _read_labels(outline: TextBlocks, labels: Collection[int]) -> dict[int, str]:
    """Return the text of each label."""
    texts: dict[int, str] = {}
    for label, runs in outline.runs_in(labels).items():
        text = "".join(outline.run_texts[run] for run in runs)
        texts[label] = " ".join(text.split())
    return texts


class _Finder:
    """Finds the controls of a page and what they open."""

    def __init__(self, outline: TextBlocks) -> None:
        self._outline = outline
        self._by_role: defaultdict[str, list[int]] = defaultdict(list)
        self._toggles: list[int] = []
        for element in outline.telling:
            attributes = outline.attributes[element]
            if _MARKS.isdisjoint(attributes):
                continue
            role = attributes.get("role")
            if role:
                self._by_role[role.lower()].append(element)
            if not TOGGLES.isdisjoint(attributes):
                self._toggles.append(element)

    @cached_property
    def _places(self) -> dict[str, int]:
        """The elements with an id, by that; the first of several."""
        outline = self._outline
        places = {
            outline.attributes[element].get("id") or "": element
            for element in reversed(outline.described)
        }
        places.pop("", None)
        return places

    def find(self) -> Iterator[tuple[int, int]]:
        """Yield each control with what it opens."""
        outline = self._outline
        for element in sorted({*self._toggles, *self._by_role["tab"]}):
            attributes = outline.attributes[element]
            if "aria-haspopup" in attributes or outline.names[element] == "details":
                continue
            panels = self._targets(element)
            yield from ((element, panel) for panel in panels)
            if not panels and "aria-expanded" in attributes:
                yield from self._beside(element)
        for summary in outline.named("summary"):
            panel = self._next(summary)
            if panel:
                yield summary, panel
        yield from self._find_labels()
        yield from self._pair_tabs()
        yield from self._pair_radios()
        yield from self._pair_links()
        yield from self._pair_buttons()

    def _targets(self, element: int) -> list[int]:
        """Return the elements that a control names by their ids."""
        outline = self._outline
        targets = find_targets(outline.names[element], outline.attributes[element])
        places = [self._places.get(target, 0) for target in targets]
        return [place for place in places if place > 0]

    def _find_labels(self) -> Iterator[tuple[int, int]]:
        """Yield the tabs that panels name."""
        for panel in self._by_role["tabpanel"]:
            attributes = self._outline.attributes[panel]
            for identity in (attributes.get("aria-labelledby") or "").split():
                label = self._places.get(identity, 0)
                if label > 0:
                    yield label, panel

    def _pair_tabs(self) -> Iterator[tuple[int, int]]:
        """Yield the tabs of each list with as many panels after it, in their order."""
        outline = self._outline
        for tablist in self._by_role["tablist"][:_MAX_LISTS]:
            end = outline.ends[tablist]
            tabs = [tab for tab in self._by_role["tab"] if tablist < tab < end]
            for around in outline.above(outline.parents[tablist], _MAX_LEVELS):
                panels = self._outermost("tabpanel", end, outline.ends[around])
                if panels:
                    if len(panels) == len(tabs):
                        yield from zip(tabs, panels, strict=True)
                    break

    def _outermost(self, role: str, begin: int, end: int) -> list[int]:
        """Return the elements of a role in a range, without those inside others."""
        outermost: list[int] = []
        for element in self._by_role[role]:
            if begin <= element < end:
                outermost.append(element)
                begin = self._outline.ends[element]
        return outermost

    def _pair_radios(self) -> Iterator[tuple[int, int]]:
        """Yield the labels of buttons of which one is on, with what they show: the
        element after each, or those of a list of as many.
        """
        outline = self._outline
        groups: defaultdict[str, list[int]] = defaultdict(list)  # labels, by name
        for element in outline.named("label"):
            target = outline.attributes[element].get("for") or ""
            radio = self._places.get(target, 0)
            choice = outline.attributes[radio]
            if (choice.get("type") or "").lower() == "radio":
                groups[choice.get("name") or ""].append(element)
        for labels in islice(groups.values(), _MAX_LISTS):
            panels = self._find_panels(labels)
            if len(panels) == len(labels):
                yield from zip(labels, panels, strict=True)

    def _find_panels(self, labels: Sequence[int]) -> list[int]:
        """Return the element after each label, or those of the list after them."""
        outline = self._outline
        panels = [self._next(label) for label in labels]
        if all(outline.names[panel] == "div" for panel in panels):
            return panels
        parents = {outline.parents[label] for label in labels}
        if len(parents) > 1:
            return []
        return self._children(self._next(parents.pop()))

    def _pair_links(self) -> Iterator[tuple[int, int]]:
        """Yield the links of a list that lead to as many parts right after each other,
        which do not say by headings what they are.
        """
        outline = self._outline
        for menu, links in islice(self._find_menus().items(), _MAX_MENUS):
            if outline.child_counts[menu] != len(links) or len(links) < _MIN_TABS:
                continue
            panels = [*chain.from_iterable(map(self._targets, links))]
            if len(panels) != len(links):
                panels = self._switched(menu)
            if len(panels) != len(links) or panels[0] < outline.ends[menu]:
                continue
            is_row = [*map(self._next, panels[:-1])] == panels[1:]
            if is_row and not any(map(self._has_heading, panels)):
                yield from zip(links, panels, strict=True)

    def _find_menus(self) -> dict[int, list[int]]:
        """Return the links to parts of the page, by what has them alone or as items."""
        outline = self._outline
        menus: defaultdict[int, list[int]] = defaultdict(list)
        for link in outline.named("a"):
            if (outline.attributes[link].get("href") or "#")[0] != "#":
                continue
            item = outline.parents[link]
            if outline.names[item] != "li":
                menus[item].append(link)
            elif outline.ends[item] == outline.ends[link]:
                menus[outline.parents[item]].append(link)
        return menus

    def _switched(self, menu: int) -> list[int]:
        """Return the parts of the element after a list of tabs, if its class says that
        it has those.
        """
        panels = self._next(menu)
        marks = f"{self._outline.marks[menu]} {self._outline.marks[panels]}".lower()
        is_named = panels > 0 and _SWITCHES.search(marks) is not None
        if not is_named:
            return []
        return self._children(panels)

    def _has_heading(self, panel: int) -> bool:
        """Return whether an element begins with a heading."""
        end = min(self._outline.ends[panel], panel + _MAX_BEFORE_HEADING)
        return not HEADINGS.isdisjoint(self._outline.names[panel:end])

    def _pair_buttons(self) -> Iterator[tuple[int, int]]:
        """Yield the buttons that are alike and each have a text right after them, in
        elements that are alike, too.
        """
        outline = self._outline
        buttons = {*outline.named("button"), *self._by_role["button"]}
        if len(buttons) < _MIN_TABS:
            return
        forms: defaultdict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
        candidates = sorted(buttons)[:_MAX_CONTROLS]
        panels = [self._next(button) for button in candidates]
        if _PANELS.isdisjoint(map(outline.names.__getitem__, panels)):
            return
        inside = outline.inside("form", "nav", "header", "footer", "a")
        for button, panel in zip(candidates, panels, strict=True):
            if inside[button] or outline.names[panel] not in _PANELS:
                continue
            if panel in buttons or "a" in outline.names[button : outline.ends[button]]:
                continue
            look = [outline.names[button], outline.marks[button]]
            look += [outline.names[panel], outline.marks[panel]]
            forms[tuple(look)].append((button, panel))
        for pairs in forms.values():
            if len(pairs) >= _MIN_TABS:
                yield from pairs

    def _beside(self, control: int) -> Iterator[tuple[int, int]]:
        """Yield a control with what comes next to it, or to what has nothing else."""
        around = self._outline.above(control, _MAX_LEVELS)
        for panel in islice(filter(None, map(self._next, around)), 1):
            yield control, panel

    def _next(self, element: int) -> int:
        """Return the element after another, of the same parent; 0 if there is none."""
        outline = self._outline
        after = outline.ends[element]
        if element <= 0 or after >= len(outline.parents):
            return 0
        is_sibling = outline.parents[after] == outline.parents[element]
        if not is_sibling:
            return 0
        return after

    def _children(self, element: int) -> list[int]:
        children: list[int] = []
        child = element + 1
        while 0 < child < self._outline.ends[element]:
            children.append(child)
            child = self._outline.ends[child]
        return children
