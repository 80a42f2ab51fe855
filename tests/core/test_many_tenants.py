"""Many tenants in one process: what those with the same key share, and what nobody
shares.
"""

from __future__ import annotations
import asyncio
import threading
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial

import pytest
import trustme

from tests.server import Server, http, receive
from websearch_core import WebSearch
from websearch_core._net import certificates, pool
from websearch_core._net.clients import MAX_CONCURRENT
from websearch_core._net.lookup import MAX_RUNNING, MAX_WAITING
from websearch_core.errors import AuthenticationError, BudgetExceeded, Unavailable
from websearch_core.layers import (
    Breaker,
    Budget,
    Cache,
    Robots,
    SingleFlight,
    Throttle,
    charge_to,
)
from websearch_core.layers._layer import parts
from websearch_core.provider._declare import environment, field_notes
from websearch_core.providers.brave import Brave
from websearch_core.settings._sources import user_file
from websearch_core.tools._tenants import Tenants

pytestmark = pytest.mark.enable_socket


class Service:
    """A service that speaks Tavily's JSON and keeps, for each connection, the keys that
    it was sent.
    """

    def __init__(self):
        self.connections = []
        self.free = threading.Event()  # until it is set, answers wait
        self.free.set()
        self.refused = None  # a key that is not known
        self.url = ""

    @property
    def keys(self):
        return [key for seen in self.connections for key in seen]

    def talk(self, connection):
        seen = []
        self.connections.append(seen)
        while request := receive(connection):
            key = request[1].get("authorization", "").removeprefix("Bearer ")
            seen.append(key)
            assert self.free.wait(60)
            hit = {
                "url": "https://sea.example/",
                "title": f"for {key}",
                "content": "tides",
                "score": 1,
            }
            is_refused = key and key == self.refused
            status = "401 Unauthorized" if is_refused else "200 OK"
            connection.sendall(http({"results": [hit]}, status))


@contextmanager
def serving(service):
    with Server(talk=service.talk) as server:
        service.url = server.url
        try:
            yield service
        finally:
            service.free.set()


@pytest.fixture
def service():
    with serving(Service()) as one:
        yield one


@pytest.fixture(params=["blocking", "async"])
def search(request):
    """Search with each `WebSearch` in turn, on one event loop if the calls are async;
    return the titles.
    """

    def blocking(*webs, query="tides"):
        return [web.search(query).results[0].title for web in webs]

    def in_loop(*webs, query="tides"):
        async def main():
            return [(await web.asearch(query)).results[0].title for web in webs]

        return asyncio.run(main())

    return blocking if request.param == "blocking" else in_loop


def make(service, key, **options):
    return WebSearch("tavily", api_key=key, base_url=service.url, **options)


def make_tenants(service, *configurable, **options):
    return Tenants(
        None,
        configurable,
        provider="tavily",
        api_key="ours",
        base_url=service.url,
        **options,
    )


def find_state(web):
    """Return what the layers of *web* remember, by name."""
    names = ("_circuit", "_pace", "_hosts", "_flights", "files")
    layers = [*parts(web.provider), *parts(web.reader)]
    return {
        name: getattr(layer, name)
        for layer in layers
        for name in names
        if hasattr(layer, name)
    }


def settings_file(content):
    """Write the settings file of the user, which is trusted."""
    path = user_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


class TestConnections:
    def test_tenants_with_the_same_key_use_the_same_connection(self, service, search):
        tenants = make_tenants(service, "api_key", "allowed_domains", "timeout")
        policies = [{}, {"allowed_domains": ["sea.example"]}, {"timeout": 9}]
        own = [tenants.find(policy) for policy in policies]
        theirs = [tenants.find({"api_key": "ann", **policy}) for policy in policies]

        assert (
            search(*own, *theirs, *own, *theirs)
            == [*["for ours"] * 3, *["for ann"] * 3] * 2
        )
        assert sorted(map(set, service.connections), key=str) == [{"ann"}, {"ours"}]

    def test_the_key_of_one_tenant_never_travels_on_the_connection_of_another(
        self, service, search
    ):
        tenants = make_tenants(service, "api_key")
        webs = [tenants.find({"api_key": key}) for key in ("ann", "bob", "eve")]

        assert search(*webs, *webs) == ["for ann", "for bob", "for eve"] * 2
        assert [len(set(seen)) for seen in service.connections] == [1, 1, 1]

    def test_neither_does_one_that_a_function_returns(self, service, search):
        whose = ContextVar("whose")
        web = make(service, whose.get)
        titles = []
        for key in ("ann", "bob", "ann"):
            whose.set(key)
            titles += search(web, web)

        assert titles == ["for ann"] * 2 + ["for bob"] * 2 + ["for ann"] * 2
        assert [
            len(set(seen)) for seen in service.connections if len(set(seen)) != 1
        ] == []

    async def test_nor_when_calls_of_both_are_in_flight(self, service):
        whose = ContextVar("whose")
        web = make(service, whose.get, layers=None)

        async def call(number):
            whose.set(f"key-{number % 3}")
            return (await web.asearch(f"tides {number}")).results[0].title

        assert await asyncio.gather(*map(call, range(60))) == [
            f"for key-{number % 3}" for number in range(60)
        ]
        assert [
            len(set(seen)) for seen in service.connections if len(set(seen)) != 1
        ] == []
        await web.aclose()

    def test_a_tenant_who_closes_takes_the_connections_of_nobody_else(self, service):
        tenants = make_tenants(service, "timeout")
        tenants.web.search("tides")
        with tenants.find({"timeout": 9}) as other:
            other.search("tides")
        tenants.web.search("more tides")
        assert len(service.connections) == 1

    def test_connections_outlive_the_tenant_who_opened_them(self, service):
        tenants = make_tenants(service, "api_key", "timeout")
        tenants.find({"api_key": "ann"}).search("tides")
        other = tenants.find({"api_key": "ann", "timeout": 9})
        tenants._made.clear()
        other.search("tides")
        assert service.connections == [["ann", "ann"]]

    async def test_a_tenant_who_searches_no_more_holds_no_connection(
        self, service, monkeypatch
    ):
        monkeypatch.setattr(pool, "KEPT", 0.1)
        made, make_pool = [], pool.AsyncPool.__init__
        monkeypatch.setattr(
            pool.AsyncPool,
            "__init__",
            lambda one, *args: (made.append(one), make_pool(one, *args))[1],
        )
        web = make(service, "ann")
        await web.asearch("tides")
        (own,) = made
        while own._idle or own._closing:
            await asyncio.sleep(0.01)
        assert own._timer is None
        monkeypatch.undo()
        assert (await web.asearch("more tides")).results
        assert service.connections == [["ann"], ["ann"]]
        await web.aclose()

    def test_connections_to_pages_are_never_shared(self, service):
        tenants = make_tenants(service, "timeout", internal=["127.0.0.0/8"])
        for web in (tenants.web, tenants.find({"timeout": 9})):
            web.read(service.url + "/page")
        assert service.connections == [[""], [""]]


class TestLayers:
    def test_tenants_with_the_same_key_share_the_cache_and_others_do_not(
        self, service, search, tmp_path
    ):
        cached = partial(make, service, cache=Cache(tmp_path / "cache.db"))
        titles = search(cached("ann"), cached("ann"), cached("bob"), cached("bob"))
        assert titles == ["for ann", "for ann", "for bob", "for bob"]
        assert service.keys == ["ann", "bob"]

    async def test_one_flight_carries_one_key(self, service):
        whose = ContextVar("whose")
        web = make(service, whose.get)
        service.free.clear()

        async def call(key):
            whose.set(key)
            return (await web.asearch("tides")).results[0].title

        calls = [asyncio.create_task(call(key)) for key in ("ann", "bob", "ann", "bob")]
        while len(service.keys) < 2:
            await asyncio.sleep(0.005)
        service.free.set()
        assert await asyncio.gather(*calls) == [
            "for ann",
            "for bob",
            "for ann",
            "for bob",
        ]
        assert sorted(service.keys) == ["ann", "bob"]
        await web.aclose()

    def test_one_budget_has_an_account_for_each_tenant(self, service, tmp_path):
        web = make(
            service,
            "ours",
            budget=Budget(
                limit="1 call/day per tenant", usage_file=tmp_path / "usage.db"
            ),
        )
        for tenant in ("ann", "bob"):
            with charge_to(tenant):
                web.search("tides")
        with charge_to("ann"), pytest.raises(BudgetExceeded):
            web.search("more tides")
        with charge_to("eve"):
            web.search("tides")
        assert len(service.keys) == 3

    def test_limits_for_a_day_are_apart_for_tenants_with_a_web_search_each(
        self, service, tmp_path
    ):
        layer = Budget(limit="1 call/day per tenant", usage_file=tmp_path / "usage.db")
        webs = {name: make(service, name, budget=layer) for name in ("ann", "bob")}
        for name, web in webs.items():
            with charge_to(name):
                assert web.search("tides").results
                with pytest.raises(BudgetExceeded):
                    web.search("more tides")

    def test_layers_that_are_given_to_two_tenants_are_one_for_each(self, service):
        layers, own = (
            [Breaker(failures=1), SingleFlight()],
            {"throttle": Throttle(0.1), "robots": Robots(), "cache": Cache()},
        )
        ann, bob = (
            find_state(make(service, key, layers=layers, **own))
            for key in ("ann", "bob")
        )
        assert (
            ann.keys()
            == bob.keys()
            == {"_circuit", "_pace", "_hosts", "_flights", "files"}
        )
        assert [name for name in ann if ann[name] is bob[name]] == []

    def test_a_key_that_a_service_refuses_opens_no_breaker(self, service):
        service.refused = "ann"
        ann, bob = (
            make(service, key, layers=[Breaker(failures=1)]) for key in ("ann", "bob")
        )
        for _ in range(3):
            with pytest.raises(AuthenticationError):
                ann.search("tides")
        assert service.keys == ["ann"] * 3
        assert bob.search("tides").results

    def test_a_page_that_one_policy_allows_is_not_given_under_another(
        self, service, tmp_path
    ):
        policies = [
            {"internal": ["127.0.0.0/8"]},
            {"internal": ["127.0.0.0/8"], "blocked_domains": ["sea.example"]},
        ]
        for policy in policies:
            make(
                service, "ann", cache=Cache(location=tmp_path / "cache.db"), **policy
            ).read(service.url + "/page")
        assert service.keys == ["", ""]

    def test_a_budget_that_is_used_up_stops_one_tenant_only(self, service):
        ann, bob = (make(service, key, budget="1 call") for key in ("ann", "bob"))
        ann.search("tides")
        with pytest.raises(BudgetExceeded):
            ann.search("more tides")
        assert bob.search("tides").results

    def test_a_service_that_asks_one_tenant_to_wait_holds_up_no_other(self, service):
        tenants = make_tenants(service, "api_key")
        ann, bob = (tenants.find({"api_key": key}) for key in ("ann", "bob"))
        queues = [
            part._pace
            for web in (ann, bob)
            for part in parts(web.provider)
            if hasattr(part, "_pace")
        ]
        assert len(queues) == len({id(queue) for queue in queues}) == 2

    def test_hosts_of_pages_have_other_queues_for_each_tenant(self, service):
        tenants = make_tenants(service, "timeout", robots=Robots())
        readers = [web.reader for web in (tenants.web, tenants.find({"timeout": 9}))]
        hosts = [
            part._hosts
            for reader in readers
            for part in parts(reader)
            if hasattr(part, "_hosts")
        ]
        assert len(hosts) == len({id(one) for one in hosts}) == 2


def fill(line, ended):
    """Ask for more names that hang than *line* accepts."""
    for _ in range(2 * (MAX_RUNNING + MAX_WAITING)):
        line.look_up(lambda: ended.wait(60) and [])


class TestIsolation:
    def test_places_for_requests_and_look_ups_belong_to_one_tenant(self, service):
        tenants = make_tenants(service, "timeout")
        ann, bob = (web._sender for web in (tenants.web, tenants.find({"timeout": 9})))
        assert bob._services is ann
        for guarded in (True, False):
            assert ann._slots[guarded] is not bob._slots[guarded]
            assert ann._lines[guarded] is not bob._lines[guarded]

    def test_a_tenant_who_waits_in_every_place_keeps_no_other_waiting(self, service):
        tenants = make_tenants(service, "timeout")
        slow, quick = tenants.web, tenants.find({"timeout": 9})
        for guarded in (True, False):
            for place in range(MAX_CONCURRENT):
                slow._sender._slots[guarded]._queue(place, threading.Lock(), 1)
            assert slow._sender._slots[guarded].held == MAX_CONCURRENT
        assert quick.search("tides").results

    def test_names_that_hang_hold_up_their_own_tenant_only(self, service):
        tenants = make_tenants(service, "timeout")
        slow, quick = (
            tenants.web._sender._lines[True],
            tenants.find({"timeout": 9})._sender._lines[True],
        )
        ended = threading.Event()
        try:
            hanging = [
                slow.look_up(lambda: ended.wait(60) and []) for _ in range(MAX_RUNNING)
            ]
            behind: Future = slow.look_up(lambda: ["192.0.2.1"])
            assert quick.look_up(lambda: ["192.0.2.2"]).result(60) == ["192.0.2.2"]
            assert not behind.done()
            assert [one for one in hanging if one.done()] == []
        finally:
            ended.set()

    def test_a_tenant_with_too_many_names_is_refused_alone(self, service):
        tenants = make_tenants(service, "timeout")
        slow, quick = (
            tenants.web._sender._lines[True],
            tenants.find({"timeout": 9})._sender._lines[True],
        )
        ended = threading.Event()
        try:
            with pytest.raises(Unavailable, match="too many host names"):
                fill(slow, ended)
            assert quick.look_up(lambda: ["192.0.2.2"]).result(60)
        finally:
            ended.set()


class TestWhatIsConstant:
    def test_the_declarations_of_a_provider_are_read_once_and_cannot_be_changed(self):
        assert field_notes(Brave) is field_notes(Brave)
        for declared in (field_notes(Brave), environment(Brave)):
            with pytest.raises(TypeError):
                declared["api_key"] = ()

    @pytest.mark.parametrize("library", ["httpx", "httpx2"])
    def test_clients_share_their_certificates_until_those_change(
        self, library, tmp_path, monkeypatch
    ):
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        pages = partial(certificates.trusted, library, trust_env=False)
        services = partial(certificates.trusted, library, trust_env=True)
        first, others = pages(), services()
        assert pages() is first
        assert services() is others is not first

        own, some = (
            tmp_path / "own.pem",
            [trustme.CA().cert_pem.bytes() for _ in range(2)],
        )
        own.write_bytes(some[0])
        monkeypatch.setenv("SSL_CERT_FILE", str(own))
        assert len(services().get_ca_certs()) == 1
        own.write_bytes(b"".join(some))
        assert len(services().get_ca_certs()) == 2
        assert pages() is first  # the environment must not affect pages

    def test_a_settings_file_that_changed_is_read_again(self):
        settings_file("read_options.max_length = 700")
        assert WebSearch("duckduckgo").settings.read_options["max_length"] == 700
        settings_file("read_options.max_length = 800")
        assert WebSearch("duckduckgo").settings.read_options["max_length"] == 800

    def test_what_one_makes_of_a_settings_file_does_not_reach_another(self):
        settings_file('[layers.relax]\nunsupported = "note"')
        for _ in range(2):
            table = WebSearch("duckduckgo").settings.layers["relax"]
            assert table == {"unsupported": "note"}
            table["unsupported"] = "raise"
