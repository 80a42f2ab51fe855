"""
Two tools for an agent: `WebSearchTool` finds pages, `OpenPageTool` reads one. `WebSearchToolkit` is both.

What a model gets is text that numbers its sources and says where data from the web begins and ends; what a program
gets beside it is the artifact: plain JSON, so that any checkpointer can keep it. A failing search neither crashes
the run nor passes for a success: it is a tool message of status ``error`` whose text begins with a stable code, since
not every model is shown the status.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypedDict, Unpack

from langchain_core.callbacks import BaseCallbackHandler, Callbacks
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, BaseToolkit, ToolException
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from websearch_core import Page, SearchResponse, WebSearch, WebSearchError, tools
from websearch_core.client import WebSearchArguments
from websearch_core.errors import InvalidOption
from websearch_core.models import explain
from websearch_core.provenance import Ledger, Provenance
from websearch_core.render import (
    Format,
    page_as_json,
    page_for_model,
    render_error,
    search_as_json,
)

from .web import with_web

OnError: TypeAlias = bool | str | Callable[[ToolException], Any] | None


class SharedOptions(WebSearchArguments, total=False):
    """What the tools and the toolkit take besides ``web``."""

    output_format: Format
    handle_tool_error: OnError
    provenance: Provenance | Ledger


class ReadTop(TypedDict, total=False):
    """What there is to say about reading the first results."""

    read_top: int
    passage_length: int


class ToolkitOptions(SharedOptions, ReadTop, total=False):
    """What the toolkit takes besides ``web``."""


class ToolOptions(SharedOptions, total=False):
    """What a tool takes besides ``web``: the above, and what every LangChain tool takes."""

    name: str
    description: str
    handle_validation_error: bool | str | Callable[[Any], str] | None
    return_direct: bool
    verbose: bool
    callbacks: Callbacks
    tags: list[str] | None
    metadata: dict[str, Any] | None
    extras: dict[str, Any] | None


class SearchToolOptions(ToolOptions, ReadTop, total=False):
    """What the tool that searches takes besides ``web``."""


def _wrong_arguments(error: ValidationError) -> str:
    """Tell a model which of its arguments is wrong, in the form of all other failures."""
    return render_error(InvalidOption(explain(error)))


def _ledger(given: Provenance | Ledger) -> Ledger:
    return given if isinstance(given, Ledger) else Ledger(given)


def _conversation(config: RunnableConfig | None) -> str | None:
    """LangGraph's name for the conversation, where there is one."""
    thread = (config or {}).get("configurable", {}).get("thread_id")
    return None if thread is None else str(thread)


class _WebTool(BaseTool):
    """
    What both tools share.

    They are not "LangChain serializable": ``dumps`` names them and no more, for a `WebSearch` is made of keys, clients
    and the environment it was made in. Pickle and deepcopy them instead.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    web: WebSearch = Field(exclude=True)
    output_format: Format = "text"
    provenance: Annotated[Ledger, BeforeValidator(_ledger)] = Field(default_factory=Ledger, exclude=True, repr=False)
    response_format: Literal["content_and_artifact"] = "content_and_artifact"  # pyright: ignore[reportIncompatibleVariableOverride] - no other value works
    handle_tool_error: OnError = True
    handle_validation_error: bool | str | Callable[[Any], str] | None = _wrong_arguments
    metadata: dict[str, Any] | None = Field(default_factory=lambda: {"read_only": True})


class WebSearchTool(_WebTool):
    """
    Searches the web for an agent: ``web_search(query, limit, allowed_domains, time_range)``.

    ::

        WebSearchTool()                          # whatever the environment has a key for
        WebSearchTool(provider="brave", timeout=10)
        WebSearchTool(web=web)                   # shares connections with whatever else uses web

    A wish that the provider cannot express is done without, and the text says so.

    Args:
        web: The `WebSearch` to search with; or else the arguments of one.
        output_format: What the text looks like: ``text``, ``markdown`` or ``json``.
        read_top: How many of the first results to read, side by side: the model gets the passages of their pages that
            answer its query, in the place of their snippets.
        passage_length: Characters of those passages, at most, for each page.
        handle_tool_error: What becomes of a failure. True: a tool message of status ``error`` that begins with a
            stable code, ``ERROR [rate_limited] ...``. False: a ``ToolException``, whose ``__cause__`` is the
            `WebSearchError`, for middleware to catch.
        provenance: The `Ledger` to keep the results in, shared with the tool that opens them.

    Raises:
        ConfigurationError: The arguments are wrong, or both kinds were given.

    """

    name: str = "web_search"
    description: str = tools.SEARCH
    args_schema: type[BaseModel] = tools.SearchArguments  # pyright: ignore[reportIncompatibleVariableOverride] - as in LangChain
    read_top: int = Field(default=0, ge=0)
    passage_length: int = Field(default=1_500, ge=1)

    def __init__(self, *, web: WebSearch | None = None, **options: Unpack[SearchToolOptions]) -> None:
        super().__init__(**with_web(web, options))

    def _run(
        self,
        query: str,
        limit: int = 5,
        allowed_domains: Sequence[str] = (),
        time_range: Any = "all",
        *,
        config: RunnableConfig,
    ) -> tuple[str, dict[str, Any]]:
        with _failures_told():
            response = self.web.search(query, **self._options(limit, allowed_domains, time_range))
        return self._shown(response, config)

    async def _arun(
        self,
        query: str,
        limit: int = 5,
        allowed_domains: Sequence[str] = (),
        time_range: Any = "all",
        *,
        config: RunnableConfig,
    ) -> tuple[str, dict[str, Any]]:
        with _failures_told():
            response = await self.web.asearch(query, **self._options(limit, allowed_domains, time_range))
        return self._shown(response, config)

    def _options(self, limit: int, allowed_domains: Sequence[str], time_range: Any) -> dict[str, Any]:
        return {
            "limit": limit,
            "allowed_domains": allowed_domains,
            "time_range": time_range,
            "read_top": self.read_top,
            "passage_length": self.passage_length,
            "unsupported": "note",
        }

    def _shown(self, response: SearchResponse, config: RunnableConfig) -> tuple[str, dict[str, Any]]:
        self.provenance.found(response, _conversation(config))
        return tools.search_text(self.web, response, self.output_format), search_as_json(response)


class OpenPageTool(_WebTool):
    """
    Reads a page for an agent, or the part of it that answers: ``open_page(url, max_length, offset, query, find)``.

    Pages of this machine and its network are refused, wherever a name or a redirect leads, except for what ``allow``
    names: ``OpenPageTool(allow=["https://wiki.corp:8443"])``.

    Args:
        web: The `WebSearch` to read with; or else the arguments of one.
        output_format: What the text looks like: ``text``, ``markdown`` or ``json``.
        handle_tool_error: What becomes of a failure, as with `WebSearchTool`.
        provenance: Which URLs may be opened: ``any``, ``seen`` or ``seen+links``, as `Ledger` explains, or a `Ledger`
            shared with the tool that searches.

    Raises:
        ConfigurationError: The arguments are wrong, or both kinds were given.

    """

    name: str = "open_page"
    description: str = tools.READ
    args_schema: type[BaseModel] = tools.PageArguments  # pyright: ignore[reportIncompatibleVariableOverride] - as in LangChain

    def __init__(self, *, web: WebSearch | None = None, **options: Unpack[ToolOptions]) -> None:
        super().__init__(**with_web(web, options))

    def _run(
        self,
        url: str,
        max_length: int = tools.WINDOW,
        offset: int = 0,
        query: str = "",
        find: str = "",
        *,
        config: RunnableConfig,
    ) -> tuple[str, dict[str, Any]]:
        with _failures_told():
            self.provenance.check(url, _conversation(config))
            page = self.web.read(url, **tools.part(self.web, max_length, offset, query, find))
        return self._shown(page, config)

    async def _arun(
        self,
        url: str,
        max_length: int = tools.WINDOW,
        offset: int = 0,
        query: str = "",
        find: str = "",
        *,
        config: RunnableConfig,
    ) -> tuple[str, dict[str, Any]]:
        with _failures_told():
            self.provenance.check(url, _conversation(config))
            page = await self.web.aread(url, **tools.part(self.web, max_length, offset, query, find))
        return self._shown(page, config)

    def _shown(self, page: Page, config: RunnableConfig) -> tuple[str, dict[str, Any]]:
        self.provenance.opened(page, _conversation(config))
        return page_for_model(page, self.output_format), page_as_json(page)


class WebSearchToolkit(BaseToolkit):
    """
    Both tools, over one `WebSearch` and one `Ledger`.

    ::

        toolkit = WebSearchToolkit(provider="tavily", provenance="seen")
        agent = create_agent(model, toolkit.get_tools())
        agent.invoke(question, config={"callbacks": [toolkit.user_urls], "configurable": {"thread_id": "1"}})

    Args:
        web: The `WebSearch` to share; or else the arguments of one.
        output_format: What the texts look like: ``text``, ``markdown`` or ``json``.
        read_top: How many results of a search to read, as with `WebSearchTool`.
        passage_length: Characters of their passages, likewise.
        handle_tool_error: What becomes of a failure, as with `WebSearchTool`.
        provenance: Which URLs may be opened: ``any``; ``seen``, those that a search of the same conversation (its
            ``thread_id``; without one, this toolkit's) returned or the user named; or ``seen+links``.

    Raises:
        ConfigurationError: The arguments are wrong, or both kinds were given.

    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    web: WebSearch = Field(exclude=True)
    output_format: Format = "text"
    read_top: int = Field(default=0, ge=0)
    passage_length: int = Field(default=1_500, ge=1)
    handle_tool_error: OnError = True
    provenance: Annotated[Ledger, BeforeValidator(_ledger)] = Field(default_factory=Ledger, exclude=True, repr=False)

    def __init__(self, *, web: WebSearch | None = None, **options: Unpack[ToolkitOptions]) -> None:
        super().__init__(**with_web(web, options))

    def get_tools(self) -> list[BaseTool]:
        """Return ``web_search`` and ``open_page``."""
        shared = SharedOptions(
            output_format=self.output_format, handle_tool_error=self.handle_tool_error, provenance=self.provenance
        )
        top = ReadTop(read_top=self.read_top, passage_length=self.passage_length)
        return [WebSearchTool(web=self.web, **shared, **top), OpenPageTool(web=self.web, **shared)]

    @property
    def user_urls(self) -> BaseCallbackHandler:
        """A callback for a run that lets the URLs in the messages of the user be opened."""
        return _UserURLs(self.provenance)


class _UserURLs(BaseCallbackHandler):
    """Reads what the user wrote where a model gets to read it: tools are not shown the messages."""

    run_inline = True  # before the model answers

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002 - LangChain's signature
        messages: list[list[BaseMessage]],
        *,
        metadata: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        conversation = _conversation({"configurable": metadata or {}})
        for message in (message for batch in messages for message in batch):
            if isinstance(message, HumanMessage):
                self._ledger.name(str(message.content), conversation)


@contextmanager
def _failures_told() -> Iterator[None]:
    """Raise what LangChain knows how to tell a model. Anything else is a bug of ours, and should look like one."""
    try:
        yield
    except WebSearchError as error:
        raise ToolException(render_error(error)) from error
