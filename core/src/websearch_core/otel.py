"""Pass searches, pages and HTTP requests to OpenTelemetry, as spans and metrics.

::

    from websearch_core.otel import OpenTelemetry

    web = WebSearch(on_event=OpenTelemetry())

It needs ``pip install 'websearch-core[otel]'``, which is the API of OpenTelemetry
alone: the application chooses the SDK and where to send everything. Names follow the
semantic conventions 1.41: those for HTTP clients, which are stable
(https://opentelemetry.io/docs/specs/semconv/http/), and those for retrievals by
generative AI, which are in development
(https://opentelemetry.io/docs/specs/semconv/gen-ai/). What they have no name for begins
with ``websearch.``.
"""

from __future__ import annotations
import time
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .errors import ConfigurationError
from .events import (
    Charge,
    Event,
    Exchange,
    Failover,
    ReadEnd,
    ReadStart,
    SearchEnd,
    SearchStart,
    Wait,
)
from .events._hooks import describe_error
from .models import Page, SearchResponse

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Span, TracerProvider

__all__ = ["OpenTelemetry"]

_SCHEMA = "https://opentelemetry.io/schemas/1.41.0"
_METHODS = {
    "CONNECT",
    "DELETE",
    "GET",
    "HEAD",
    "OPTIONS",
    "PATCH",
    "POST",
    "PUT",
    "TRACE",
}
# as the HTTP conventions advise
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)
_PORTS = {"http": 80, "https": 443}


class OpenTelemetry:
    """A hook for ``WebSearch(on_event=...)`` that makes spans and metrics.

    A search is a span ``retrieval PROVIDER``, a page a span ``read PROVIDER``, both
    below the span of the caller, and each HTTP request a client span inside them. No
    span has a key or the query of a URL.

    Args:
        record_query: Also record the words of a search, as
            ``gen_ai.retrieval.query.text``, and the address of a page without its
            query, as ``url.full``: they may be personal.
        tracer_provider: Who makes the spans; by default, the global one.
        meter_provider: Who makes the metrics; by default, the global one.

    Raises:
        ConfigurationError: The package ``opentelemetry-api`` is not installed.
    """

    def __init__(
        self,
        *,
        record_query: bool = False,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
    ) -> None:
        try:
            from opentelemetry import metrics, trace
        except ImportError as error:
            raise ConfigurationError(
                "OpenTelemetry needs: pip install 'websearch-core[otel]'"
            ) from error
        self._trace = trace
        self._record_query = record_query
        self._tracer = trace.get_tracer(
            "websearch_core", tracer_provider=tracer_provider, schema_url=_SCHEMA
        )
        meter = metrics.get_meter(
            "websearch_core", meter_provider=meter_provider, schema_url=_SCHEMA
        )
        durations = partial(
            meter.create_histogram,
            unit="s",
            explicit_bucket_boundaries_advisory=_BUCKETS,
        )
        self._requests = durations(
            "http.client.request.duration",
            description="Duration of HTTP client requests.",
        )
        self._operations = durations(
            "websearch.operation.duration",
            description="Duration of searches and of reading pages.",
        )
        self._cost = meter.create_counter(
            "websearch.cost",
            "{USD}",
            "US dollars that services say they charged, or their lists of prices.",
        )
        self._charged = meter.create_counter(
            "websearch.budget.charged",
            "{USD}",
            "US dollars that budgets counted, estimates included.",
        )
        self._open: ContextVar[tuple[Span, ...]] = ContextVar(
            "websearch_spans", default=()
        )

    def __deepcopy__(self, _: object) -> OpenTelemetry:
        return self  # spans and instruments belong to the process

    def __reduce__(self) -> tuple[Any, ...]:
        # with the global providers
        return partial(OpenTelemetry, record_query=self._record_query), ()

    def __call__(self, event: Event) -> None:
        """Record *event*."""
        match event:
            case SearchStart(provider=provider):
                query = (
                    {"gen_ai.retrieval.query.text": event.query.text}
                    if self._record_query
                    else {}
                )
                operation = {
                    "gen_ai.operation.name": "retrieval",
                    "gen_ai.request.top_k": float(event.query.limit),
                }
                caller = _describe_caller(event)
                self._start(
                    f"retrieval {provider}",
                    {"gen_ai.data_source.id": provider, **operation, **query, **caller},
                )
            case ReadStart(provider=provider):
                url = {"url.full": _strip(event.url)} if self._record_query else {}
                caller = _describe_caller(event)
                self._start(
                    f"read {provider}",
                    {"websearch.provider": provider, **url, **caller},
                )
            case SearchEnd() | ReadEnd():
                self._end(event)
            case Exchange():
                self._exchange(event)
            case Charge(provider=provider, usd=usd):
                self._charged.add(usd, {"websearch.provider": provider})
            case Wait(provider=provider) | Failover(provider=provider):
                facts = {
                    name: value
                    for name, value in event.as_json().items()
                    if value is not None
                }
                self._current().add_event(f"websearch.{event.name}", facts)
            case _:
                self._current().add_event(f"websearch.{event.name}")

    def _current(self) -> Span:
        spans = self._open.get()
        if spans and spans[-1].is_recording():
            return spans[-1]
        return self._trace.get_current_span()

    def _start(self, name: str, attributes: dict[str, Any]) -> None:
        self._open.set((*self._open.get(), self._make_span(name, attributes)))

    def _make_span(
        self, name: str, attributes: dict[str, Any], started: int | None = None
    ) -> Span:
        around = self._trace.set_span_in_context(self._current())
        kind = self._trace.SpanKind.CLIENT
        return self._tracer.start_span(
            name, around, kind, attributes=attributes, start_time=started
        )

    def _end(self, event: SearchEnd | ReadEnd) -> None:
        if not self._open.get():  # the call was abandoned, and ends in another context
            return
        *others, span = self._open.get()
        self._open.set(tuple(others))
        verb = "search" if isinstance(event, SearchEnd) else "read"
        answer = event.response if isinstance(event, SearchEnd) else event.page
        labels = {"websearch.operation": verb, "websearch.provider": event.provider}
        if event.error is not None:
            code = describe_error(event.error)
            labels["error.type"] = code
            span.set_attribute("error.type", code)
            span.set_status(self._trace.StatusCode.ERROR, code)
        span.set_attribute("websearch.provider", event.provider)
        if answer is not None:
            self._note_answer(span, event.provider, answer)
        self._operations.record(event.seconds, labels)
        span.end()

    def _note_answer(
        self, span: Span, provider: str, answer: SearchResponse | Page
    ) -> None:
        if answer.cost is not None:
            span.set_attribute("websearch.cost", answer.cost)
            self._cost.add(max(answer.cost, 0), {"websearch.provider": provider})
        if isinstance(answer, SearchResponse):
            span.set_attribute("websearch.results", len(answer.results))
        for unit, amount in answer.usage.items():
            span.set_attribute(f"websearch.usage.{unit}", amount)

    def _exchange(self, event: Exchange) -> None:
        parts = urlsplit(event.url)
        method = event.method if event.method in _METHODS else "_OTHER"
        labels: dict[str, Any] = {
            "http.request.method": method,
            "server.address": parts.hostname or "",
            "server.port": parts.port or _PORTS.get(parts.scheme, 0),
        }
        if event.status is not None:
            labels["http.response.status_code"] = event.status
        if event.error is not None:
            labels["error.type"] = describe_error(event.error)
        elif event.status is not None and event.status >= 400:
            labels["error.type"] = str(event.status)
        ended = time.time_ns()
        url = {"url.full": _strip(event.url)} if self._record_query else {}
        name = method if method != "_OTHER" else "HTTP"
        span = self._make_span(
            name,
            {**labels, **url, **_describe_caller(event)},
            ended - int(event.seconds * 1e9),
        )
        if "error.type" in labels:
            span.set_status(self._trace.StatusCode.ERROR)
        span.end(ended)
        self._requests.record(event.seconds, labels)


def _describe_caller(event: Event) -> dict[str, str]:
    """Return the tenant and the run, for spans: metrics would get too many labels."""
    facts = {"websearch.tenant": event.tenant, "websearch.run": event.run}
    return {name: value for name, value in facts.items() if value}


def _strip(url: str) -> str:
    """Return *url* without user, query and fragment."""
    parts = urlsplit(url)
    return parts._replace(
        netloc=parts.netloc.rpartition("@")[2], query="", fragment=""
    ).geturl()
