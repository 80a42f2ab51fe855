"""Test agents without the web, and providers without a server.

`FakeWeb` is a web of your own: it searches and reads, and remembers each query::

    web = FakeWeb(results=[{"title": "Kelp", "url": "https://sea.example/kelp"}],
                  pages={"https://sea.example/kelp": "A brown alga of cold seas."})
    toolkit = WebSearchToolkit(provider=web)
    ...
    assert web.queries == ["kelp"]

pytest has it as the fixture ``fake_web``; another fixture, ``cassette``, records and
replays what a test sends.

A provider is a generator, so a test needs neither a network nor patches::

    outcome = play(provider.search(query), reply({"results": []}))
    assert outcome.requests[0].params["q"] == "kelp"
    assert outcome.result.results == ()

`play` passes the next of the *answers* to the flow for each effect: a `Response` for a
`Request`, an exception to raise there, anything for a `Call` or a `Gather`. The keys of
a `Request` are removed from its `Response`, as in production. Pauses take no time, and
are recorded.

A text for a model ends its first line with the date: `stop_clock` sets it.

`search_checks` and `read_checks` return the checks that every provider must pass::

    checks = search_checks(Lighthouse(api_key=SECRET), some=..., none=...)

    @pytest.mark.parametrize("check", checks, ids=str)
    def test_lighthouse_keeps_its_promises(check):
        check()
"""

from .._runtime.clock import stop_clock
from ._contract import Check, read_checks, search_checks
from ._fake import FakeWeb
from ._play import SECRET, Outcome, play, reply

__all__ = [
    "SECRET",
    "Check",
    "FakeWeb",
    "Outcome",
    "play",
    "read_checks",
    "reply",
    "search_checks",
    "stop_clock",
]
