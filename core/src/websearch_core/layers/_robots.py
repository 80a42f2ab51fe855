"""Read only what robots.txt allows."""

from __future__ import annotations
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

from .._runtime.bugs import contain_bugs
from ..errors import ConfigurationError, WebSearchError
from ..flow import Flow, Gather
from ..models import Page
from ..provider._ports import Provider, needs_network
from ._layer import Layer, ProviderWrapper, Rank, check_numbers, leaves, parts, rank_of, reader
from ._robots_files import DAY, USER_AGENT, RobotsFiles

_TOKEN = re.compile(r"[A-Za-z_-]+")  # RFC 9309, 2.2.1


@dataclass(frozen=True)
class Robots(Layer):
    """Read only pages that the ``robots.txt`` of their site allows; others are the error `DisallowedByRobots`.

    It follows RFC 9309 (https://www.rfc-editor.org/rfc/rfc9309). Each redirect of a page is checked before it is
    followed; where a service or a browser follows redirects itself, the last URL is checked afterwards. A file that
    does not exist (4xx) allows everything, one that cannot be fetched allows nothing: `Unavailable` or `TimedOut`.
    The files are fetched like pages, from public addresses only, and each is kept for all pages of its site. A
    ``Crawl-delay``, up to 30 seconds, is kept by `Throttle`.

    Args:
        user_agent: The product token that the rules are looked up for, else those for ``*`` apply. Set it to yours if
            you change the ``user_agent`` of `websearch_core.providers.Direct`.
        max_age: Maximum seconds for which a file is kept; a shorter ``max-age`` of the site wins.

    Raises:
        ConfigurationError: A value is invalid.
    """

    rank: ClassVar[int] = Rank.ROBOTS

    user_agent: str = USER_AGENT
    max_age: float = DAY

    def __post_init__(self) -> None:
        check_numbers(self, "max_age", minimum=0)
        if not isinstance(self.user_agent, str) or not _TOKEN.fullmatch(self.user_agent):
            raise ConfigurationError("Robots: user_agent: must be a product token: letters, - and _, such as AcmeBot")

    @classmethod
    def of(cls, short: Any, /) -> Self:
        """Return the layer that *short* stands for: True, or the ``user_agent``."""
        return cls() if short is True else super().of(short)

    def start(self) -> Callable[[Provider], Provider]:
        """Return a function that puts this around a reader; all of them have the same files."""
        return partial(_RobotsProvider, self, RobotsFiles(self.user_agent, self.max_age))


class _RobotsProvider(ProviderWrapper[Robots]):
    def __init__(self, layer: Robots, files: RobotsFiles, inner: Provider) -> None:
        super().__init__(layer, inner)
        self.files = files
        if any(rank_of(part) == Rank.THROTTLE for part in parts(inner)):
            raise ConfigurationError(
                "Robots: a Throttle inside sees no Crawl-delay: write Throttle()(Robots()(reader))"
            )

    def read(self, url: str, /) -> Flow[Page]:
        if not any(map(needs_network, leaves(self.inner))):
            return (yield from super().read(url))
        return (yield from self.files.read(reader(self.inner), url))

    def read_many(self, urls: Sequence[str], /) -> Flow[list[Page | WebSearchError]]:
        checks = [contain_bugs(partial(self.files.check, url), self.name) for url in urls]
        checked: list[float | WebSearchError] = yield Gather(checks)
        answers = {url: one for url, one in zip(urls, checked, strict=True) if isinstance(one, WebSearchError)}
        allowed = [url for url in urls if url not in answers]
        pages = (yield from super().read_many(allowed)) if allowed else []
        ended = yield Gather([self.files.check_end(url, page) for url, page in zip(allowed, pages, strict=True)])
        answers |= zip(allowed, ended, strict=True)
        return [answers[url] for url in urls]
