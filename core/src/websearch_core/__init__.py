"""Search the web and read pages: one typed interface over many services, safe by
default.

::

    from websearch_core import WebSearch

    web = WebSearch()
    for result in web.search("rotate a key", limit=3).results:
        print(result.title, result.url)
    print(web.read("https://docs.python.org/3/").content)

Submodules: `websearch_core.errors` has the errors, `websearch_core.providers` the
built-in providers, `websearch_core.provider` the tools to write one, and
`websearch_core.testing` those to test it. `websearch_core.layers` composes providers,
and `websearch_core.render` shows results to a model. ``docs/api.md`` lists the whole
public API.
"""

import typing

if typing.TYPE_CHECKING:
    from . import citations as citations
    from . import events as events
    from . import flow as flow
    from . import index as index
    from . import keys as keys
    from . import layers as layers
    from . import provenance as provenance
    from . import provider as provider
    from . import providers as providers
    from . import reading as reading
    from . import render as render
    from . import settings as settings
    from . import testing as testing
    from . import tokens as tokens
    from . import tools as tools
    from ._registry import register
    from .client import WebSearch
    from .errors import ServiceError, WebSearchError
    from .keys import Credentials
    from .models import Page, SearchQuery, SearchResponse, SearchResult
    from .settings import Http, Timeout

    __version__: str

__all__ = [
    "Credentials", "Http", "Page", "SearchQuery", "SearchResponse", "SearchResult",
    "ServiceError", "Timeout",
    "WebSearch", "WebSearchError", "register",
]  # fmt: skip

_HOMES = {
    "Credentials": "keys",
    "Http": "settings",
    "Page": "models",
    "SearchQuery": "models",
    "SearchResponse": "models",
    "SearchResult": "models",
    "ServiceError": "errors",
    "Timeout": "settings",
    "WebSearch": "client",
    "WebSearchError": "errors",
    "register": "_registry",
}
_MODULES = frozenset(
    "citations client errors events flow index keys layers mcp models otel provenance "
    "provider providers ray reading "
    "render settings testing tokens tools".split()
)

# type checkers see the imports above; with this function, they would accept any name
if not typing.TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import a name or a public module, or look up the version, on first access."""
        if name == "__version__":
            from importlib.metadata import version

            globals()[name] = version("websearch-core")
            return globals()[name]
        if name in _MODULES:
            from importlib import import_module

            return import_module(f"{__name__}.{name}")
        from ._runtime.lazy import importer

        return importer(__name__, _HOMES)(name)


def __dir__() -> list[str]:
    return ["__version__", *__all__]
