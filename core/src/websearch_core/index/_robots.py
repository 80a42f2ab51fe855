"""What a site asks of robots: its robots.txt, as RFC 9309 has it and protego reads it."""

from __future__ import annotations

from protego import Protego

_US = "websearch-core"
_MAX_DELAY = 30.0  # seconds


class Robots:
    """
    The rules that hold for us.

    Args:
        text: The robots.txt; nothing in it allows all.

    """

    def __init__(self, text: str = "") -> None:
        self._rules = Protego.parse(text.lstrip("\ufeff"))

    @property
    def delay(self) -> float:
        """Seconds that the site wants between two requests, within reason."""
        return min(max(self._rules.crawl_delay(_US) or 0.0, 0.0), _MAX_DELAY)

    def allows(self, url: str) -> bool:
        """Tell whether *url* may be read."""
        return bool(self._rules.can_fetch(url, _US))
