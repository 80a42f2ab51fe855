"""The robots.txt of a site (RFC 9309), parsed by protego."""

from __future__ import annotations

from protego import Protego

_USER_AGENT = "websearch-core"
_MAX_DELAY = 30.0  # seconds


class Robots:
    """
    The rules of a site for our user agent.

    Args:
        text: The robots.txt; an empty one allows everything.

    """

    def __init__(self, text: str = "") -> None:
        self._rules = Protego.parse(text.lstrip("\ufeff"))

    @property
    def delay(self) -> float:
        """Seconds that the site asks for between two requests, at most 30."""
        return min(max(self._rules.crawl_delay(_USER_AGENT) or 0.0, 0.0), _MAX_DELAY)

    def allows(self, url: str) -> bool:
        """Return whether *url* may be read."""
        return bool(self._rules.can_fetch(url, _USER_AGENT))
