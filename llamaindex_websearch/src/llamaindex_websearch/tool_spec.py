"""Searching and reading as tools of a LlamaIndex agent."""

# No `from __future__ import annotations` here: LlamaIndex makes schemas of the annotations themselves.

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeVar, Unpack, get_args

from llama_index.core.schema import Document
from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.core.tools.tool_spec.base import SPEC_FUNCTION_TYPE, BaseToolSpec
from pydantic import ValidationError

from websearch_core import Page, SearchResponse, WebSearch, WebSearchError, tools
from websearch_core.client import WebSearchArguments, given
from websearch_core.errors import ConfigurationError, InvalidOption
from websearch_core.models import explain
from websearch_core.provenance import Ledger, Provenance
from websearch_core.render import Format, page_for_model, render_error

from .documents import of_page, of_result

P = ParamSpec("P")
R = TypeVar("R")

Since = Literal["all", "day", "week", "month", "year"]
_FACES: dict[str, tuple[type[tools.Arguments], str]] = {
    "web_search": (tools.SearchArguments, tools.SEARCH),
    "open_page": (tools.PageArguments, tools.READ),
}


class ToolError(Exception):
    """
    Raised by the tools, for LlamaIndex to hand to the model as the failed result of a call.

    Its text begins with a stable code, ``ERROR [rate_limited] ...``, and holds no key.

    Args:
        error: What went wrong, as the library tells it to programs.

    """

    def __init__(self, error: WebSearchError) -> None:
        super().__init__(render_error(error))
        self.error = error

    def __reduce__(self) -> tuple[type["ToolError"], tuple[WebSearchError]]:
        return type(self), (self.error,)


class Told(list[Document]):
    """
    The documents that a tool returns, with the text that tells a model of them.

    Args:
        documents: The documents.
        text: With every title and URL, and with what concerns no single document: notes, a direct answer, or that
            nothing was found.

    """

    def __init__(self, documents: Iterable[Document], text: str) -> None:
        super().__init__(documents)
        self.text = text


def _takes(arguments: type[tools.Arguments]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Check and convert what a method is called with (LlamaIndex does neither), and turn what it raises into text."""

    def decorate(method: Any) -> Any:
        face = inspect.signature(method)

        def asked(self: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
            said = {**face.bind_partial(self, *args).arguments, **kwargs}
            del said["self"]
            try:
                return dict(arguments.model_validate(said))
            except ValidationError as error:
                takes = ", ".join(arguments.model_fields)
                raise InvalidOption(f"{explain(error)}; the arguments are {takes}") from error

        @wraps(method)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            with _spoken():
                return method(self, **asked(self, *args, **kwargs))

        @wraps(method)
        async def acall(self: Any, *args: Any, **kwargs: Any) -> Any:
            with _spoken():
                return await method(self, **asked(self, *args, **kwargs))

        return acall if inspect.iscoroutinefunction(method) else call

    return decorate


@contextmanager
def _spoken() -> Iterator[None]:
    try:
        yield
    except WebSearchError as error:
        raise ToolError(error) from error


class WebSearchToolSpec(BaseToolSpec):
    """
    The tools ``web_search`` and ``open_page``.

    ::

        agent = FunctionAgent(tools=WebSearchToolSpec(provider="brave").to_tool_list(), llm=llm)

    Called as tools, they show the model a numbered text in which every source has its title and URL, fenced off as
    data from the web; ``ToolOutput.raw_output`` keeps the documents. A failure is raised as `ToolError`, which an
    agent takes for a failed call and goes on. Options that a provider cannot express are left out, and the text
    says so.

    Args:
        web: Whom to ask.
        output_format: How the model is shown what was found: ``text``, ``markdown`` or ``json``.
        read_top: How many results of a search to read, side by side: the model gets the passages of their pages that
            answer its query, in the place of their snippets.
        passage_length: Characters of those passages, at most, for each page.
        provenance: Which URLs may be opened: ``any``; ``seen``, those that a search by this spec returned or that
            ``spec.ledger.name(message_of_the_user)`` named; or ``seen+links``. One spec is one conversation.
        arguments: The arguments of `WebSearch`, instead of *web*.

    Raises:
        ConfigurationError: Both *web* and arguments of its own were given, or the arguments are wrong.

    """

    spec_functions: list[SPEC_FUNCTION_TYPE] = [("web_search", "aweb_search"), ("open_page", "aopen_page")]  # noqa: RUF012 - as LlamaIndex has it

    def __init__(
        self,
        *,
        web: WebSearch | None = None,
        output_format: Format = "text",
        read_top: int = 0,
        passage_length: int = 1_500,
        provenance: Provenance | Ledger = "any",
        **arguments: Unpack[WebSearchArguments],
    ) -> None:
        if output_format not in get_args(Format):
            raise ConfigurationError(f"output_format: {output_format!r} is none of {', '.join(get_args(Format))}")
        if read_top < 0 or passage_length < 1:
            raise ConfigurationError("read_top: must be at least 0; passage_length: at least 1")
        self.web: WebSearch = given(web, arguments)
        self.read_top: int = read_top
        self.passage_length: int = passage_length
        self.output_format: Format = output_format
        self.ledger: Ledger = provenance if isinstance(provenance, Ledger) else Ledger(provenance)

    @_takes(tools.SearchArguments)
    def web_search(
        self, query: str, limit: int = 5, allowed_domains: Sequence[str] = (), time_range: Since = "all"
    ) -> list[Document]:
        """
        Search the web.

        Args:
            query: What to look for.
            limit: How many results at most, 1 to 20.
            allowed_domains: Only results from these domains and their subdomains; empty means anywhere.
            time_range: Only results of the last day, week, month or year.

        Returns:
            A document for each result: the snippet, or with ``read_top`` what the page says to the query. Its metadata
            are ``url``, ``title`` and whatever else is known.

        Raises:
            ToolError: An argument makes no sense, or the service failed.

        """
        return self._found(self.web.search(query, **self._options(limit, allowed_domains, time_range)))

    @_takes(tools.SearchArguments)
    async def aweb_search(
        self, query: str, limit: int = 5, allowed_domains: Sequence[str] = (), time_range: Since = "all"
    ) -> list[Document]:
        """Do as `web_search` does, on the running event loop."""
        return self._found(await self.web.asearch(query, **self._options(limit, allowed_domains, time_range)))

    @_takes(tools.PageArguments)
    def open_page(
        self, url: str, max_length: int = tools.WINDOW, offset: int = 0, query: str = "", find: str = ""
    ) -> list[Document]:
        """
        Read a page, or a part of it.

        Args:
            url: Absolute http(s) URL.
            max_length: Characters to return at most.
            offset: Where to begin, in characters.
            query: Return the passages that answer this, instead of the text from the offset on.
            find: Return the places around this phrase, likewise.

        Returns:
            One document: the text as Markdown, with ``url``, ``title`` and whatever else is known as metadata.

        Raises:
            ToolError: The URL may not be opened, or the page cannot be read.

        """
        self.ledger.check(url)
        return self._read(self.web.read(url, **tools.part(self.web, max_length, offset, query, find)))

    @_takes(tools.PageArguments)
    async def aopen_page(
        self, url: str, max_length: int = tools.WINDOW, offset: int = 0, query: str = "", find: str = ""
    ) -> list[Document]:
        """Do as `open_page` does, on the running event loop."""
        self.ledger.check(url)
        return self._read(await self.web.aread(url, **tools.part(self.web, max_length, offset, query, find)))

    def to_tool_list(
        self,
        spec_functions: list[SPEC_FUNCTION_TYPE] | None = None,
        func_to_metadata_mapping: dict[str, ToolMetadata] | None = None,
    ) -> list[FunctionTool]:
        """
        Return the tools.

        Args:
            spec_functions: Which ones, such as ``["web_search"]``; all if left out.
            func_to_metadata_mapping: Other names, descriptions or schemas for them.

        """
        faces = {
            prefix + name: ToolMetadata(name=name, description=description, fn_schema=arguments)
            for name, (arguments, description) in _FACES.items()
            for prefix in ("", "a")
        }
        tools = super().to_tool_list(spec_functions, {**faces, **(func_to_metadata_mapping or {})})
        # By itself LlamaIndex shows a model the bare text of documents, without URL and title, and of no documents
        # an empty message; the text of a callback takes the place of that.
        return [
            FunctionTool(
                fn=tool.fn, async_fn=tool.async_fn, metadata=tool.metadata, callback=_shown, async_callback=_ashown
            )
            for tool in tools
        ]

    def _options(self, limit: int, allowed_domains: Sequence[str], time_range: Since) -> dict[str, Any]:
        return {
            "limit": limit,
            "allowed_domains": allowed_domains,
            "time_range": time_range,
            "read_top": self.read_top,
            "passage_length": self.passage_length,
            "unsupported": "note",
        }

    def _found(self, response: SearchResponse) -> Told:
        self.ledger.found(response)
        return Told(map(of_result, response.results), tools.search_text(self.web, response, self.output_format))

    def _read(self, page: Page) -> Told:
        self.ledger.opened(page)
        return Told([of_page(page)], page_for_model(page, self.output_format))


def _shown(returned: Any) -> str | None:
    """None leaves it to LlamaIndex: a subclass may have tools that return something else."""
    return returned.text if isinstance(returned, Told) else None


async def _ashown(returned: Any) -> str | None:
    return _shown(returned)
