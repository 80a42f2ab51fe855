"""What OpenTelemetry is shown of a call."""

from __future__ import annotations
import asyncio
import copy
import math
import pickle

import pytest

pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed")

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from websearch_core import WebSearch
from websearch_core.errors import ConfigurationError, RateLimited, ServiceError
from websearch_core.flow import Request
from websearch_core.layers import Retry, charge_to
from websearch_core.models import Page, SearchResponse
from websearch_core.otel import OpenTelemetry
from websearch_core.testing import SECRET, reply


class Sea:
    name = "sea"

    def search(self, query, /):
        response = yield Request(
            url="https://api.example/search?q=hush",
            secret_params={"key": SECRET},
            headers={"X-Api-Key": SECRET},
        )
        if response.status == 429:
            raise RateLimited("sea search failed", provider="sea", retry_after=0)
        return SearchResponse(
            query=query.text, provider=self.name, cost=0.005, usage={"credits": 2.0}
        )

    def read(self, url, /):
        yield Request(url="https://api.example:8443/read")
        return Page(url=url, provider=self.name)


class Watched:
    def __init__(self, **options):
        self.exporter, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        meters = MeterProvider(metric_readers=[self.reader])
        self.hook = OpenTelemetry(
            tracer_provider=self.tracers, meter_provider=meters, **options
        )
        self.web = WebSearch(
            Sea(), on_event=self.hook, retry=Retry(wait_initial=0), throttle=math.inf
        )

    @property
    def spans(self):
        return {span.name: span for span in self.exporter.get_finished_spans()}

    @property
    def metrics(self):
        data = self.reader.get_metrics_data()
        scopes = [
            scope
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
        ]
        return {
            one.name: list(one.data.data_points)
            for scope in scopes
            for one in scope.metrics
        }


@pytest.fixture
def statuses(monkeypatch):
    """The statuses of the next answers; 200 after that."""
    left = []

    def send(self, request):
        return reply({}, status=left.pop(0) if left else 200)

    async def asend(self, request):
        return send(self, request)

    monkeypatch.setattr("websearch_core._net.sender.Sender.send", send)
    monkeypatch.setattr("websearch_core._net.sender.Sender.asend", asend)
    return left


@pytest.mark.parametrize("is_async", [False, True])
def test_a_search_is_a_retrieval_with_its_requests_inside(statuses, is_async):
    watched = Watched()
    with watched.tracers.get_tracer("app").start_as_current_span("turn"):
        if is_async:
            asyncio.run(watched.web.asearch("kelp", limit=3))
        else:
            watched.web.search("kelp", limit=3)

    turn, search, request = (
        watched.spans[name] for name in ("turn", "retrieval sea", "GET")
    )
    assert search.parent.span_id == turn.context.span_id
    assert request.parent.span_id == search.context.span_id
    assert dict(search.attributes) == {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.data_source.id": "sea",
        "gen_ai.request.top_k": 3.0,
        "websearch.provider": "sea",
        "websearch.cost": 0.005,
        "websearch.results": 0,
        "websearch.usage.credits": 2.0,
    }
    assert request.kind is SpanKind.CLIENT
    assert dict(request.attributes) == {
        "http.request.method": "GET",
        "server.address": "api.example",
        "server.port": 443,
        "http.response.status_code": 200,
    }


def test_what_is_measured(statuses):
    watched = Watched()
    watched.web.search("kelp")
    watched.web.search("dulse")

    (requests,) = watched.metrics["http.client.request.duration"]
    (operations,) = watched.metrics["websearch.operation.duration"]
    (cost,) = watched.metrics["websearch.cost"]
    assert (requests.count, requests.attributes["server.address"]) == (2, "api.example")
    assert (operations.count, operations.attributes["websearch.operation"]) == (
        2,
        "search",
    )
    assert cost.value == pytest.approx(0.01)


def test_a_failure_has_its_code_and_a_retry_is_an_event(statuses):
    statuses += [429, 429, 429]
    watched = Watched()
    with pytest.raises(ServiceError):
        watched.web.search("kelp")

    search = watched.spans["retrieval sea"]
    assert search.status.status_code is StatusCode.ERROR
    assert search.attributes["error.type"] == "rate_limited"
    assert [event.name for event in search.events] == [
        "websearch.wait",
        "websearch.wait",
    ]
    assert watched.spans["GET"].attributes["error.type"] == "429"


def test_pages_that_are_read_at_once_keep_their_requests_apart(statuses):
    watched = Watched()
    watched.web.read_many(["https://a.example/", "https://b.example/"])

    spans = watched.exporter.get_finished_spans()
    reads = {span.context.span_id for span in spans if span.name == "read sea"}
    assert len(reads) == 2
    assert {span.parent.span_id for span in spans if span.name == "GET"} == reads
    assert {span.attributes["server.port"] for span in spans if span.name == "GET"} == {
        8443
    }


@pytest.mark.parametrize("record_query", [False, True])
def test_words_are_recorded_only_on_request_and_secrets_never(statuses, record_query):
    watched = Watched(record_query=record_query)
    watched.web.search("bull kelp")
    watched.web.read("https://sea.example/kelp?session=hush#top")

    recorded = repr(
        [
            (span.name, dict(span.attributes), span.events)
            for span in watched.spans.values()
        ]
    )
    assert (
        ("bull kelp" in recorded)
        is ("https://sea.example/kelp" in recorded)
        is record_query
    )
    assert SECRET not in recorded
    assert "hush" not in recorded


def test_spans_name_the_tenant_and_the_run_and_metrics_do_not(statuses):
    statuses[:] = [200]
    watched = Watched()
    with charge_to("acme", run="r-1"):
        watched.web.search("kelp")

    spans = watched.exporter.get_finished_spans()
    names = [
        (span.attributes["websearch.tenant"], span.attributes["websearch.run"])
        for span in spans
    ]
    assert names == [("acme", "r-1")] * 2
    assert "acme" not in watched.reader.get_metrics_data().to_json()


def test_the_hook_can_be_copied_and_pickled():
    hook = Watched(record_query=True).hook

    assert copy.deepcopy(hook) is hook
    assert isinstance(pickle.loads(pickle.dumps(hook)), OpenTelemetry)


def test_a_missing_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry", None)
    with pytest.raises(ConfigurationError, match=r"websearch-core\[otel\]"):
        OpenTelemetry()
