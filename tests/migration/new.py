"""Run the new side of the pairs, with our packages."""

from __future__ import annotations
import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock
from urllib.parse import urlencode, urlsplit

from docs.generators.pairs import Pair
from tests.migration.outcome import ENVIRONMENT, describe, execute
from websearch_core.flow import Request, Response


@contextmanager
def send_here(port: int) -> Iterator[None]:
    """Send what our packages request to *port* of this machine during the block."""

    def send(_: Any, request: Request, *__: Any) -> Response:
        parts = urlsplit(request.url)
        asked = {
            **(request.params or {}),
            **{k: str(v) for k, v in (request.secret_params or {}).items()},
        }
        query = "&".join(filter(None, (parts.query, urlencode(asked, doseq=True))))
        headers, body = {**(request.headers or {}), "Host": parts.netloc}, None
        if request.json is not None:
            body, headers["Content-Type"] = json.dumps(request.json), "application/json"
        elif request.form is not None:
            body, headers["Content-Type"] = (
                urlencode(request.form),
                "application/x-www-form-urlencoded",
            )
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request(
            request.method,
            f"{parts.path or '/'}?{query}" if query else parts.path or "/",
            body,
            headers,
        )
        answer = connection.getresponse()
        names = {name.lower(): value for name, value in answer.getheaders()}
        try:
            return Response(status=answer.status, headers=names, content=answer.read())
        finally:
            connection.close()

    async def asend(_: Any, request: Request, *others: Any) -> Response:
        return send(_, request, *others)

    sender = "websearch_core._net.sender.Sender"
    with (
        mock.patch(f"{sender}.send", send),
        mock.patch(f"{sender}.asend", asend),
        mock.patch.dict("os.environ", ENVIRONMENT),
    ):
        yield


def run_pair(pair: Pair) -> dict[str, Any]:
    """Run the new side of *pair*, within `send_here`."""
    return describe(execute(pair.imports(), pair.now))
