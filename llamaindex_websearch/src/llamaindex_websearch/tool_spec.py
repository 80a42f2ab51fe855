"""Search and reading as tools for LlamaIndex agents."""

# No `from __future__ import annotations` here: LlamaIndex makes schemas from the annotations, not from strings.

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any, Literal, ParamSpec, TypeVar, Unpack, get_args

from llama_index.core.llms import ChatMessage
from llama_index.core.schema import Document
from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.core.tools.tool_spec.base import SPEC_FUNCTION_TYPE, BaseToolSpec
from llama_index.core.workflow import Context
from pydantic import ValidationError

from websearch_core import Page, SearchResponse, WebSearch, WebSearchError, tools
from websearch_core._bugs import as_error
from websearch_core._outputs import page_output, search_output
from websearch_core.client import WebSearchArguments
from websearch_core.errors import ConfigurationError, InvalidOption, UnsafeURL
from websearch_core.models import describe_problems
from websearch_core.provenance import Ledger, Provenance
from websearch_core.render import Format, render_error

from .conversations import (
    acurrent_conversation,
    anumber_sources,
    conversation_of,
    current_conversation,
    number_sources,
    text_of,
)
from .documents import page_document, result_document

P = ParamSpec("P")
R = TypeVar("R")

Since = Literal["all", "day", "week", "month", "year"]
_TOOLS: dict[str, tuple[type[tools.Arguments], str]] = {
    "web_search": (tools.SearchArguments, tools.SEARCH),
    "open_page": (tools.PageArguments, tools.READ),
}


class ToolError(Exception):
    """
    Raised by the tools; LlamaIndex passes its text to the model as the failed result of a call.

    The text begins with a stable code, ``ERROR [rate_limited] ...``, and never contains a key.

    Args:
        error: The error that programs get from the library.

    """

    def __init__(self, error: WebSearchError) -> None:
        super().__init__(render_error(error))
        self.error = error

    def __reduce__(self) -> tuple[type["ToolError"], tuple[WebSearchError]]:
        return type(self), (self.error,)


class ToolDocuments(list[Document]):
    """
    A tool's documents, plus the text shown to the model.

    Args:
        documents: The documents.
        text: The text, with every title and URL, and with what does not belong to a single document: notes, a direct
            answer, or that nothing was found.

    """

    def __init__(self, documents: Iterable[Document], text: str) -> None:
        super().__init__(documents)
        self.text = text


def _validated(arguments: type[tools.Arguments]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Validate and convert the arguments of a method (LlamaIndex does neither), and raise its errors as `ToolError`."""
    tool = next(name for name, (schema, _) in _TOOLS.items() if schema is arguments)

    def decorate(method: Any) -> Any:
        signature = inspect.signature(method)

        def bind(self: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
            given = {**signature.bind_partial(self, *args).arguments, **kwargs}
            del given["self"]
            return given

        def validate(given: dict[str, Any]) -> dict[str, Any]:
            try:
                return dict(arguments.model_validate(given))
            except ValidationError as error:
                names = ", ".join(arguments.model_fields)
                raise InvalidOption(f"{describe_problems(error)}; the arguments are {names}") from error

        @wraps(method)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            given = bind(self, *args, **kwargs)
            with _as_tool_error(tool):
                return method(self, **validate(given))

        @wraps(method)
        async def acall(self: Any, *args: Any, **kwargs: Any) -> Any:
            given = bind(self, *args, **kwargs)
            with _as_tool_error(tool):
                return await method(self, **validate(given))

        return acall if inspect.iscoroutinefunction(method) else call

    return decorate


@contextmanager
def _as_tool_error(tool: str) -> Iterator[None]:
    """Raise every error as `ToolError`; a bug in a provider too, or it would end the agent's run."""
    try:
        yield
    except WebSearchError as error:
        raise ToolError(error) from error
    except Exception as bug:  # noqa: BLE001 - logged, and raised as an error that names it
        failure = as_error(bug, tool)
        raise ToolError(failure) from failure


class WebSearchToolSpec(BaseToolSpec):
    """
    The tools ``web_search`` and ``open_page``.

    ::

        agent = FunctionAgent(tools=WebSearchToolSpec(provider="brave").to_tool_list(), llm=llm)

    The tools show the model a text with numbered sources, each with its title and URL, fenced off as data from the web;
    ``ToolOutput.raw_output`` has the documents. An error is raised as `ToolError`, which an agent treats as a failed
    call, and then continues. Options that a provider does not support are ignored and noted in the text.

    Args:
        web: The `WebSearch` to search and read with.
        output_format: The format of the text: ``text``, ``markdown`` or ``json``.
        read_top: How many of the first results to read, in parallel: instead of their snippets, the model gets the
            passages of their pages that answer its query.
        passage_length: Maximum number of characters of these passages per page.
        provenance: Which URLs may be opened: ``any``; ``seen``, those that a search of the same conversation returned
            or that `allow_text` allowed; or ``seen+links``. In a workflow, each `Context` is a conversation: give every
            turn the same one. A sub-agent has its own context. Results of searches outside workflows, and URLs allowed
            by ``spec.ledger.allow_text(text)``, may be opened in all conversations of this spec.
        arguments: The arguments of `WebSearch`, instead of *web*.

    Raises:
        ConfigurationError: The arguments are invalid, or *web* was given together with its arguments.

    """

    spec_functions: list[SPEC_FUNCTION_TYPE] = [("web_search", "aweb_search"), ("open_page", "aopen_page")]  # noqa: RUF012 - as in LlamaIndex

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
            raise ConfigurationError(f"output_format: {output_format!r} is not one of {', '.join(get_args(Format))}")
        if read_top < 0 or passage_length < 1:
            raise ConfigurationError("read_top: must be at least 0; passage_length: at least 1")
        self.web: WebSearch = WebSearch.resolve(web, arguments)
        self.read_top: int = read_top
        self.passage_length: int = passage_length
        self.output_format: Format = output_format
        self.ledger: Ledger = provenance if isinstance(provenance, Ledger) else Ledger(provenance)

    @_validated(tools.SearchArguments)
    def web_search(
        self, query: str, limit: int = 5, allowed_domains: Sequence[str] = (), time_range: Since = "all"
    ) -> list[Document]:
        """
        Search the web.

        Args:
            query: What to search for.
            limit: Maximum number of results, 1 to 20.
            allowed_domains: Only results from these domains and their subdomains; empty means anywhere.
            time_range: Only results of the last day, week, month or year.

        Returns:
            A document for each result: the snippet, or with ``read_top`` the passages of the page that answer the
            query. Its metadata has ``url``, ``title`` and everything else known.

        Raises:
            ToolError: An argument is invalid, or the service failed.

        """
        response = self.web.search(query, **self._options(limit, allowed_domains, time_range))
        self.ledger.allow_results(response, current_conversation() if self._is_strict else None)
        return self._show_results(number_sources(self.ledger, partial(self.ledger.number_results, response)))

    @_validated(tools.SearchArguments)
    async def aweb_search(
        self, query: str, limit: int = 5, allowed_domains: Sequence[str] = (), time_range: Since = "all"
    ) -> list[Document]:
        """Async version of `web_search`."""
        response = await self.web.asearch(query, **self._options(limit, allowed_domains, time_range))
        self.ledger.allow_results(response, await acurrent_conversation() if self._is_strict else None)
        return self._show_results(await anumber_sources(self.ledger, partial(self.ledger.number_results, response)))

    @_validated(tools.PageArguments)
    def open_page(
        self, url: str, max_length: int = 0, offset: int = 0, query: str = "", find: str = ""
    ) -> list[Document]:
        """
        Read a page, or a part of it.

        Args:
            url: Absolute http(s) URL.
            max_length: Maximum number of characters to return; 0 for the configured number.
            offset: Where to start, in characters.
            query: Return the passages that answer this, instead of the text from the offset.
            find: Return the places around this phrase, instead of the text from the offset.

        Returns:
            One document: the text as Markdown, with ``url``, ``title`` and everything else known as metadata.

        Raises:
            ToolError: The URL may not be opened, or the page cannot be read.

        """
        conversation = current_conversation() if self._is_strict else None
        self._check(url, conversation)
        page = self.web.read(url, **tools.page_options(self.web, max_length, offset, query, find))
        self.ledger.allow_links(page, conversation)
        return self._show_page(number_sources(self.ledger, partial(self.ledger.number_page, page)))

    @_validated(tools.PageArguments)
    async def aopen_page(
        self, url: str, max_length: int = 0, offset: int = 0, query: str = "", find: str = ""
    ) -> list[Document]:
        """Async version of `open_page`."""
        conversation = await acurrent_conversation() if self._is_strict else None
        self._check(url, conversation)
        page = await self.web.aread(url, **tools.page_options(self.web, max_length, offset, query, find))
        self.ledger.allow_links(page, conversation)
        return self._show_page(await anumber_sources(self.ledger, partial(self.ledger.number_page, page)))

    async def allow_text(self, message: str | ChatMessage, ctx: Context) -> None:
        """
        Allow the URLs in *message*, which the user wrote, to be opened in the conversation of *ctx*.

        ::

            ctx = Context(agent)
            await spec.allow_text(question, ctx)
            await agent.run(question, ctx=ctx)

        Args:
            message: What the user wrote: the ``user_msg`` of a run, including text that the user pasted into it. Never
                pass text that a model wrote, such as the task of a sub-agent.
            ctx: The context with which the agent or workflow is run next.

        Raises:
            ConfigurationError: The state of the workflow has its own type, without a field for the name of the
                conversation; the message says which field to add.

        """
        if self._is_strict:
            self.ledger.allow_text(text_of(message), await conversation_of(ctx))

    def to_tool_list(
        self,
        spec_functions: list[SPEC_FUNCTION_TYPE] | None = None,
        func_to_metadata_mapping: dict[str, ToolMetadata] | None = None,
    ) -> list[FunctionTool]:
        """
        Return the tools.

        Args:
            spec_functions: The tools to return, such as ``["web_search"]``; None for all.
            func_to_metadata_mapping: Other names, descriptions or schemas for them.

        """
        metadata = {
            prefix + name: ToolMetadata(name=name, description=description, fn_schema=arguments)
            for name, (arguments, description) in _TOOLS.items()
            for prefix in ("", "a")
        }
        tools = super().to_tool_list(spec_functions, {**metadata, **(func_to_metadata_mapping or {})})
        # By default LlamaIndex shows a model only the text of documents, without URL and title, and an empty message if
        # there are none; the text of a callback replaces that.
        return [
            FunctionTool(
                fn=tool.fn,
                async_fn=tool.async_fn,
                metadata=tool.metadata,
                callback=_text_for_model,
                async_callback=_atext_for_model,
            )
            for tool in tools
        ]

    def _options(self, limit: int, allowed_domains: Sequence[str], time_range: Since) -> dict[str, Any]:
        return tools.search_options(
            limit=limit,
            allowed_domains=allowed_domains,
            time_range=time_range,
            read_top=self.read_top,
            passage_length=self.passage_length,
        )

    @property
    def _is_strict(self) -> bool:
        return self.ledger.mode != "any"

    def _check(self, url: str, conversation: str | None) -> None:
        """Check *url*; URLs that were found or allowed outside workflows may be opened in all of them."""
        try:
            self.ledger.check(url)
        except UnsafeURL:
            self.ledger.check(url, conversation)

    def _show_results(self, response: SearchResponse) -> ToolDocuments:
        output = search_output(self.web, response, self.output_format)
        return ToolDocuments(
            (_mark(result_document(result), read=result.content is not None) for result in output.shown),
            str(output.content),
        )

    def _show_page(self, page: Page) -> ToolDocuments:
        return ToolDocuments(
            [_mark(page_document(page), read=True)], str(page_output(page, self.output_format).content)
        )


def _mark(document: Document, *, read: bool) -> Document:
    """Say in the metadata whether the page was read, or only a snippet of it was seen."""
    document.metadata["read"] = read
    return document


def _text_for_model(returned: Any) -> str | None:
    """Return the text to show; None, the LlamaIndex default, for tools of a subclass that return something else."""
    return returned.text if isinstance(returned, ToolDocuments) else None


async def _atext_for_model(returned: Any) -> str | None:
    return _text_for_model(returned)
