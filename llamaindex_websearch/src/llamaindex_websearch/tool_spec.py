"""Searching and reading as tools of a LlamaIndex agent."""

# No `from __future__ import annotations` here: LlamaIndex makes schemas of the annotations themselves.

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeVar, Unpack, get_args

from llama_index.core.llms import ChatMessage
from llama_index.core.schema import Document
from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.core.tools.tool_spec.base import SPEC_FUNCTION_TYPE, BaseToolSpec
from llama_index.core.workflow import Context
from pydantic import ValidationError

from websearch_core import Page, SearchResponse, WebSearch, WebSearchError, tools
from websearch_core._bugs import as_error
from websearch_core.client import WebSearchArguments
from websearch_core.errors import ConfigurationError, InvalidOption, UnsafeURL
from websearch_core.models import describe_problems
from websearch_core.provenance import Ledger, Provenance
from websearch_core.render import Format, page_for_model, render_error

from .conversations import acurrent_conversation, conversation_of, current_conversation, text_of
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


class ToolDocuments(list[Document]):
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


def _validated(arguments: type[tools.Arguments]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Check and convert what a method is called with (LlamaIndex does neither), and turn what it raises into text."""
    tool = next(name for name, (schema, _) in _TOOLS.items() if schema is arguments)

    def decorate(method: Any) -> Any:
        face = inspect.signature(method)

        def bound(self: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
            said = {**face.bind_partial(self, *args).arguments, **kwargs}
            del said["self"]
            return said

        def asked(said: dict[str, Any]) -> dict[str, Any]:
            try:
                return dict(arguments.model_validate(said))
            except ValidationError as error:
                takes = ", ".join(arguments.model_fields)
                raise InvalidOption(f"{describe_problems(error)}; the arguments are {takes}") from error

        @wraps(method)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            said = bound(self, *args, **kwargs)
            with _as_tool_error(tool):
                return method(self, **asked(said))

        @wraps(method)
        async def acall(self: Any, *args: Any, **kwargs: Any) -> Any:
            said = bound(self, *args, **kwargs)
            with _as_tool_error(tool):
                return await method(self, **asked(said))

        return acall if inspect.iscoroutinefunction(method) else call

    return decorate


@contextmanager
def _as_tool_error(tool: str) -> Iterator[None]:
    """Raise every failure as text for a model; a bug in a provider as well, or it would end the agent's run."""
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
        provenance: Which URLs may be opened: ``any``; ``seen``, those that a search of the same conversation returned
            or that `allow_text` named; or ``seen+links``. In a workflow, each `Context` is a conversation: give every
            turn the same one. A sub-agent has a context of its own. What is searched for outside of workflows, or
            named by ``spec.ledger.allow_text(text)``, may be opened in all conversations of this spec.
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
        response = self.web.search(query, **self._options(limit, allowed_domains, time_range))
        return self._found(response, current_conversation() if self._is_strict else None)

    @_validated(tools.SearchArguments)
    async def aweb_search(
        self, query: str, limit: int = 5, allowed_domains: Sequence[str] = (), time_range: Since = "all"
    ) -> list[Document]:
        """Do as `web_search` does, on the running event loop."""
        response = await self.web.asearch(query, **self._options(limit, allowed_domains, time_range))
        return self._found(response, await acurrent_conversation() if self._is_strict else None)

    @_validated(tools.PageArguments)
    def open_page(
        self, url: str, max_length: int = 0, offset: int = 0, query: str = "", find: str = ""
    ) -> list[Document]:
        """
        Read a page, or a part of it.

        Args:
            url: Absolute http(s) URL.
            max_length: Characters to return at most; 0 for as many as configured.
            offset: Where to begin, in characters.
            query: Return the passages that answer this, instead of the text from the offset on.
            find: Return the places around this phrase, likewise.

        Returns:
            One document: the text as Markdown, with ``url``, ``title`` and whatever else is known as metadata.

        Raises:
            ToolError: The URL may not be opened, or the page cannot be read.

        """
        conversation = current_conversation() if self._is_strict else None
        self._check(url, conversation)
        return self._read(
            self.web.read(url, **tools.page_options(self.web, max_length, offset, query, find)), conversation
        )

    @_validated(tools.PageArguments)
    async def aopen_page(
        self, url: str, max_length: int = 0, offset: int = 0, query: str = "", find: str = ""
    ) -> list[Document]:
        """Do as `open_page` does, on the running event loop."""
        conversation = await acurrent_conversation() if self._is_strict else None
        self._check(url, conversation)
        page = await self.web.aread(url, **tools.page_options(self.web, max_length, offset, query, find))
        return self._read(page, conversation)

    async def allow_text(self, message: str | ChatMessage, ctx: Context) -> None:
        """
        Let the URLs in *message*, which the user wrote, be opened in the conversation of *ctx*.

        ::

            ctx = Context(agent)
            await spec.allow_text(question, ctx)
            await agent.run(question, ctx=ctx)

        Args:
            message: What the user said: the ``user_msg`` of a run. What the user pastes into it counts. Never give it
                what a model wrote, such as the task of a sub-agent.
            ctx: The context that the agent or workflow is then run with.

        Raises:
            ConfigurationError: The state of the workflow is of a type of its own, and has no room for the name of the
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
            spec_functions: Which ones, such as ``["web_search"]``; all if left out.
            func_to_metadata_mapping: Other names, descriptions or schemas for them.

        """
        faces = {
            prefix + name: ToolMetadata(name=name, description=description, fn_schema=arguments)
            for name, (arguments, description) in _TOOLS.items()
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
        """What was found or named outside of workflows may be opened in all of them."""
        try:
            self.ledger.check(url)
        except UnsafeURL:
            self.ledger.check(url, conversation)

    def _found(self, response: SearchResponse, conversation: str | None) -> ToolDocuments:
        self.ledger.allow_results(response, conversation)
        return ToolDocuments(
            map(result_document, response.results), tools.render_search_text(self.web, response, self.output_format)
        )

    def _read(self, page: Page, conversation: str | None) -> ToolDocuments:
        self.ledger.allow_links(page, conversation)
        return ToolDocuments([page_document(page)], page_for_model(page, self.output_format))


def _shown(returned: Any) -> str | None:
    """None leaves it to LlamaIndex: a subclass may have tools that return something else."""
    return returned.text if isinstance(returned, ToolDocuments) else None


async def _ashown(returned: Any) -> str | None:
    return _shown(returned)
