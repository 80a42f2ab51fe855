"""Make the requests that most services take: JSON sent to an endpoint below ``base_url``."""

from __future__ import annotations

from typing import Any

from pydantic import SecretStr

from ..flow import Request
from ._declare import is_vendor


def post_json(
    provider: Any,
    endpoint: str,
    payload: dict[str, Any],
    *,
    headers: dict[str, str],
    target: str | tuple[str, ...] | None = None,
) -> Request:
    """
    Make a request that sends *payload* as JSON.

    Args:
        provider: The provider; its ``base_url`` says where its service is.
        endpoint: Path below the ``base_url``.
        payload: The body.
        headers: The headers, with the key.
        target: The URL of a page that the service should open, or several; the guard checks them, and their names too
            unless the server is the vendor's own.

    """
    if isinstance(target, tuple) and len(target) == 1:
        (target,) = target
    judge = target is not None and not is_vendor(provider)
    url = f"{provider.base_url}/{endpoint}"
    return Request(method="POST", url=url, json=payload, headers=headers, target=target, judge_target=judge)


def bearer(key: SecretStr) -> dict[str, str]:
    """Return the header that carries *key* as a bearer token (RFC 6750)."""
    return {"Authorization": f"Bearer {key.get_secret_value()}"}
