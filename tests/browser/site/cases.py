"""The pages of the site, and the text that a reader sees on each: the truth that
readers are measured against.
"""

from __future__ import annotations
import json
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
TEXTS = json.loads((HERE / "texts.json").read_text("utf-8"))
MOST_ROWS = 48
_NAMES = "Alva Brim Corse Dunmore Ellersund Fenwick Garth Holm Iver Jarrow Kelso Lorne".split()
_KINDS = ("Haven", "Quay", "Sound", "Point", "Mole")


class Case(NamedTuple):
    """A page.

    Args:
        name: Its name; a page of a framework begins with that of the framework.
        way: In which way it fails a reader that does not wait, scroll, click, or know
            what is hidden.
        truth: What a reader sees; None if the page shows nothing, so that an error is
            the right answer.

    """

    name: str
    way: str
    truth: str | None

    @property
    def path(self) -> str:
        """Return where it is on the site."""
        return (
            f"/{self.name}"
            if self.name.startswith(("react-", "vue-", "svelte-"))
            else f"/plain/{self.name}"
        )


def make_row(number: int) -> dict[str, str]:
    """Return a row of the list that some pages show."""
    name = f"{_NAMES[number % 12]} {_KINDS[number // 12 % 5]}"
    text = (
        f"Visitors find {7 + number * 5 % 31} berths at a depth of {2 + number % 6} metres; the office answers on "
        f"channel {10 + number * 3 % 60}, and fuel is sold at the {'inner' if number % 2 else 'outer'} pier until "
        f"{16 + number % 5} hours."
    )
    return {"name": name, "text": text}


def _text(*names: str, title: str = "", titles: bool = True) -> str:
    parts = [title] if title else []
    for name in names:
        parts += [TEXTS[name]["title"]] if titles else []
        parts += TEXTS[name]["paragraphs"]
    return "\n\n".join(parts)


def _rows(count: int) -> str:
    rows = [make_row(number) for number in range(count)]
    return "\n\n".join(
        ["Harbours of the north", *(f"{row['name']}\n{row['text']}" for row in rows)]
    )


_MOVING = (
    "This article cannot be shown\n\nThe archive of the Harbour Review is being moved to another building this week, so "
    "its older articles cannot be shown here until Monday. Subscribers may order a printed copy from the office by "
    "telephone, and will get it within three working days."
)

CASES = (
    Case("react-fetch", "late data", _text("tide-tables")),
    Case("react-chain", "three requests in a row", _text("tide-tables")),
    Case("react-suspense", "skeleton screen", _text("sourdough")),
    Case("react-tabs", "tabs, of which one exists", _text("lighthouse", "clock-repair", "night-trains")),
    Case("react-accordion", "accordion that adds what it opens", _text("kelp-farm", "salt-pans", "lighthouse", title="Questions about the coast")),
    Case("react-infinite", "scrolls on for ever", _rows(MOST_ROWS)),
    Case("react-virtual", "list that shows some rows at a time", _rows(MOST_ROWS)),
    Case("react-router", "client-side route", _text("map-paper")),
    Case("react-hydration", "hydration that differs", _text("library-heat")),
    Case("react-crash", "error that leaves the page empty", None),
    Case("react-error", "error that the page shows", _MOVING),
    Case("vue-fetch", "skeleton screen", _text("kelp-farm")),
    Case("vue-timer", "a lone timer after 1.5 s", _text("sourdough")),
    Case("vue-transition", "text that fades in", _text("bee-hotel")),
    Case("vue-tabs", "tabs that are hidden", _text("salt-pans", "sourdough")),
    Case("vue-more", "a button for the rest", _text("night-trains")),
    Case("vue-hash", "client-side route in the fragment", _text("clock-repair")),
    Case("vue-async", "component that is loaded late", _text("lighthouse")),
    Case("vue-clock", "a clock and a ticker beside late data", _text("map-paper")),
    Case("vue-polling", "requests for ever", _text("tide-tables")),
    Case("vue-load-more", "a button for more rows", _rows(27)),
    Case("svelte-await", "late data", _text("clock-repair")),
    Case("svelte-infinite", "scrolls on, by the position of the window", _rows(60)),
    Case("svelte-typing", "text typed word by word", _text("map-paper")),
    Case("svelte-details", "details that load when opened", _text("bee-hotel", "sourdough", "kelp-farm", title="Help for members\n\nWhere do I hang a bee hotel?\n\nWhy does my dough not rise?\n\nWhen is kelp cut?", titles=False)),
    Case("svelte-modal", "a window above the text", _text("salt-pans")),
    Case("svelte-hidden", "text hidden by style sheets", _text("library-heat")),
    Case("custom-element", "custom element with a shadow root", _text("kelp-farm")),
    Case("shadow-nested", "nested shadow roots with slots", _text("clock-repair")),
    Case("shadow-declared", "declared shadow root", _text("night-trains")),
    Case("frame-same-origin", "frame", _text("lighthouse")),
    Case("frame-srcdoc", "frame without an address", _text("map-paper")),
    Case("consent-onetrust", "consent wall: OneTrust", _text("tide-tables")),
    Case("consent-cookiebot", "consent wall: Cookiebot", _text("sourdough")),
    Case("consent-usercentrics", "consent wall in a shadow root: Usercentrics", _text("bee-hotel")),
    Case("consent-sourcepoint", "consent wall in a frame: Sourcepoint", _text("salt-pans")),
    Case("consent-unknown", "consent wall that nobody can decline", _text("clock-repair")),
    Case("chunked", "HTML that arrives in parts", _text("kelp-farm", "bee-hotel")),
    Case("fetch-stream", "answer that is streamed", _text("bee-hotel", title="How do bees use a hotel?", titles=False)),
    Case("observer", "parts that appear when scrolled to", _text("tide-tables", "kelp-farm", "salt-pans")),
    Case("meta-refresh", "meta refresh", _text("night-trains")),
    Case("location", "another location", _text("night-trains")),
    Case("trusted-types", "content security policy, trusted types", _text("tide-tables")),
    Case("script-error", "script errors beside the text", _text("lighthouse")),
    Case("worker", "text from a worker", _text("library-heat")),
    Case("document-write", "document.write", _text("salt-pans")),
)  # fmt: skip
