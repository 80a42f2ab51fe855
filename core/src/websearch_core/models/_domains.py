"""Which domains may be searched and read."""

from __future__ import annotations
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

from pydantic import AfterValidator, BeforeValidator

from .._text.lists import Texts, split_list
from .._text.urls import find_origin, to_ascii
from ..errors import DomainNotAllowed

_PREFIX = re.compile(r"^(https?://)?(\*\.|www\.(?=[^./]+\.[^./])|\.)?", re.IGNORECASE)
_MAX_NAMED = 5  # domains that an error lists
_MAX_LENGTH = 300  # characters: a name has at most 253 (RFC 1035)


def parse_domain(value: str) -> str:
    """Return the domain, such as ``python.org`` for ``https://www.Python.org/``.

    A path is an error: without it, the filter would be wider.
    """
    if len(value) > _MAX_LENGTH:
        raise ValueError(f"a domain has at most {_MAX_LENGTH} characters")
    host = to_ascii(_PREFIX.sub("", value.strip()).removesuffix("/").removesuffix("."))
    if not re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", host):
        raise ValueError(f"{value!r} is not a domain such as 'python.org'")
    return host


if TYPE_CHECKING:
    DomainNames: TypeAlias = Texts
else:
    DomainNames = Annotated[
        tuple[Annotated[str, AfterValidator(parse_domain)], ...],
        BeforeValidator(split_list),
    ]


@dataclass(frozen=True)
class Domains:
    """A filter of domains; a domain includes its subdomains."""

    # only these, as `parse_domain` returns them; empty means any
    allowed: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()  # none of these

    def __bool__(self) -> bool:
        return bool(self.allowed or self.blocked)

    def permits(self, url: str) -> bool:
        """Return whether *url* is inside. A URL without a host, such as a file, is only
        outside of ``allowed``.
        """
        if not self:
            return True
        origin = find_origin(url)
        if origin is None:
            return url.startswith("file:") and not self.allowed
        host = origin[1]
        if _within_any(host, self.blocked):
            return False
        return not self.allowed or _within_any(host, self.allowed)

    def check(self, url: str) -> None:
        """Check that *url* is inside.

        Raises:
            DomainNotAllowed: It is not. The message has no word of the URL, which a
                page may have chosen.
        """
        if self.permits(url):
            return
        if not self.allowed:
            raise DomainNotAllowed("pages of this domain are blocked here")
        names = ", ".join(self.allowed[:_MAX_NAMED])
        if len(self.allowed) > _MAX_NAMED:
            names += ", ..."
        raise DomainNotAllowed(
            f"only pages of these domains may be opened here: {names}"
        )

    def narrow(
        self, allowed: Sequence[str] = (), blocked: Sequence[str] = ()
    ) -> Domains | None:
        """Return what is inside both filters, or None if no domain of *allowed* is
        inside this one.
        """
        blocked = tuple(dict.fromkeys((*self.blocked, *blocked)))
        if not allowed:
            return Domains(self.allowed, blocked)
        both = _intersect(allowed, self.allowed) if self.allowed else list(allowed)
        inside = tuple(domain for domain in both if not _within_any(domain, blocked))
        return Domains(inside, blocked) if inside else None


ANYWHERE = Domains()


def _intersect(some: Iterable[str], others: Sequence[str]) -> list[str]:
    """Return the narrower domain of each pair that overlaps."""
    some = list(some)
    pairs = [domain for domain in some if _within_any(domain, others)]
    pairs += [domain for domain in others if _within_any(domain, some)]
    return list(dict.fromkeys(pairs))


def _within_any(host: str, domains: Iterable[str]) -> bool:
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)
