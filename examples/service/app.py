"""A FastAPI service for many tenants, each with its own token, key, policy and budget.

uvicorn --app-dir examples/service app:app

Every path needs the token of a tenant, also those that you add: it is a dependency of
the whole app. FastAPI's pages of documentation, which need none, are switched off.
"""

import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse

from websearch_core import WebSearch
from websearch_core.client import preload
from websearch_core.errors import (
    BudgetExceeded,
    InvalidOption,
    PageNotFound,
    RateLimited,
    UnsafeURL,
    UnsupportedOption,
    WebSearchError,
)
from websearch_core.layers import charge_to
from websearch_core.settings import Settings

MIN_TOKEN = 16  # characters

# The status for each kind of error; the first that fits counts.
STATUS: tuple[tuple[type[WebSearchError], int], ...] = (
    (BudgetExceeded, 402),
    (RateLimited, 429),
    (UnsafeURL, 403),
    (InvalidOption, 422),
    (UnsupportedOption, 422),
    (PageNotFound, 404),
    (WebSearchError, 502),
)


@dataclass(frozen=True)
class Tenant:
    """A customer, and the `WebSearch` that is theirs alone.

    A budget for a day or a month must be *per tenant*, since one file counts those of
    the whole service.

    Its key is required: otherwise, ``TAVILY_API_KEY`` of the server would pay for a
    tenant who has none. `Settings` leaves out the settings files and the variables of
    the server.
    """

    name: str
    api_key: str = field(repr=False)
    budget: str = "100 calls"
    provider: str = "tavily"
    base_url: str | None = None
    allowed_domains: list[str] = field(default_factory=list)

    @cached_property
    def web(self) -> WebSearch:
        """Made for the first request: it takes about a millisecond, and opens no
        connection yet.
        """
        return WebSearch(
            self.provider,
            api_key=self.api_key,
            base_url=self.base_url,
            settings=Settings(budget=self.budget, allowed_domains=self.allowed_domains),
        )


def load_tenants(path: Path) -> dict[str, Tenant]:
    """Return the tenants by the token of their requests."""
    return {
        token: Tenant(**row)
        for token, row in json.loads(path.read_text("utf-8")).items()
    }


async def find_tenant(request: Request) -> Tenant:
    """Return the tenant whose token the request has; without one, the answer is 401."""
    scheme, _, sent = request.headers.get("Authorization", "").partition(" ")
    tenants: dict[str, Tenant] = request.app.state.tenants
    for token, tenant in tenants.items():
        if (
            secrets.compare_digest(token.encode(), sent.encode())
            and scheme.lower() == "bearer"
        ):
            return tenant
    raise HTTPException(
        401, "a token is needed, and this is none", {"WWW-Authenticate": "Bearer"}
    )


def make_app(tenants: dict[str, Tenant]) -> FastAPI:
    """Return the service for *tenants*.

    Raises:
        ValueError: One of the tokens is short enough to be guessed, or empty.
    """
    for token, tenant in tenants.items():
        if len(token) < MIN_TOKEN:
            raise ValueError(
                f"the token of {tenant.name} has fewer than {MIN_TOKEN} characters: "
                "python -c 'import secrets; print(secrets.token_urlsafe())' makes one"
            )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        preload()  # so that no request imports anything
        yield
        for tenant in tenants.values():
            if "web" in vars(tenant):
                await tenant.web.aclose()

    app = FastAPI(
        lifespan=lifespan, dependencies=[Depends(find_tenant)], openapi_url=None
    )
    app.state.tenants = tenants

    @app.exception_handler(WebSearchError)
    async def explain(_: Request, error: WebSearchError) -> JSONResponse:
        status = next(status for kind, status in STATUS if isinstance(error, kind))
        wait = getattr(error, "retry_after", None)
        headers = {"Retry-After": str(ceil(wait))} if wait else None
        # no key is ever in a message
        return JSONResponse({"error": str(error)}, status, headers)

    @app.get("/search")
    async def search(
        q: str, tenant: Annotated[Tenant, Depends(find_tenant)], limit: int = 5
    ) -> list[dict[str, Any]]:
        with charge_to(tenant.name):
            response = await tenant.web.asearch(q, limit=limit)
        return [
            result.model_dump(include={"url", "title", "snippet"})
            for result in response.results
        ]

    @app.get("/read")
    async def read(
        url: str, tenant: Annotated[Tenant, Depends(find_tenant)]
    ) -> dict[str, Any]:
        with charge_to(tenant.name):
            page = await tenant.web.aread(url)
        return {"url": page.url, "title": page.title, "content": page.content}

    return app


app = make_app(load_tenants(Path(__file__).with_name("tenants.json")))
