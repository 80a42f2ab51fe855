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
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.tools import BaseTool, BaseToolkit, ToolException
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from websearch_core import Page, SearchResponse, WebSearch, WebSearchError, tools
from websearch_core._bugs import as_error
from websearch_core.client import WebSearchArguments
from websearch_core.errors import InvalidOption
from websearch_core.models import describe_problems
from websearch_core.provenance import Ledger, Provenance
from websearch_core.render import Format, page_as_json, page_for_model, render_error, search_as_json

from ._resolve import resolve_web
from .conversations import KEYS, UserURLs, conversation_of

OnError: TypeAlias = bool | str | Callable[[ToolException], Any] | None


class SharedOptions(WebSearchArguments, total=False):
    """What the tools and the toolkit take besides ``web``."""

    output_format: Format
    handle_tool_error: OnError
    provenance: Provenance | Ledger
    conversation: Sequence[str]


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
    return render_error(InvalidOption(describe_problems(error)))


def _ledger(given: Provenance | Ledger) -> Ledger:
    return given if isinstance(given, Ledger) else Ledger(given)


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
    conversation: tuple[str, ...] = KEYS
    response_format: Literal["content_and_artifact"] = "content_and_artifact"  # pyright: ignore[reportIncompatibleVariableOverride] - no other value works
    handle_tool_error: OnError = True
    handle_validation_error: bool | str | Callable[[Any], str] | None = _wrong_arguments
    metadata: dict[str, Any] | None = Field(default_factory=lambda: {"read_only": True})

    @contextmanager
    def _failures_told(self) -> Iterator[None]:
        """Raise what LangChain knows how to tell a model; a bug raises as it is where no model is to be told."""
        try:
            yield
        except WebSearchError as error:
            raise ToolException(render_error(error)) from error
        except Exception as bug:
            if not self.handle_tool_error:
                raise
            failure = as_error(bug, self.name)
            raise ToolException(render_error(failure)) from failure


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
            stable code, ``ERROR [rate_limited] ...``; a bug in a provider is told in the same way, and logged with its
            traceback. False: a ``ToolException``, whose ``__cause__`` is the `WebSearchError`, for middleware to catch;
            a bug raises as it is.
        provenance: The `Ledger` to keep the results in, shared with the tool that opens them.
        conversation: Which keys of a run's config tell conversations apart, as with `WebSearchToolkit`.

    Raises:
        ConfigurationError: The arguments are wrong, or both kinds were given.

    """

    name: str = "web_search"
    description: str = tools.SEARCH
    args_schema: type[BaseModel] = tools.SearchArguments  # pyright: ignore[reportIncompatibleVariableOverride] - as in LangChain
    read_top: int = Field(default=0, ge=0)
    passage_length: int = Field(default=1_500, ge=1)

    def __init__(self, *, web: WebSearch | None = None, **options: Unpack[SearchToolOptions]) -> None:
        super().__init__(**resolve_web(web, options))

    def _run(
        self,
        query: str,
        limit: int = 5,
        allowed_domains: Sequence[str] = (),
        time_range: Any = "all",
        *,
        config: RunnableConfig,
    ) -> tuple[str, dict[str, Any]]:
        with self._failures_told():
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
        with self._failures_told():
            response = await self.web.asearch(query, **self._options(limit, allowed_domains, time_range))
            return self._shown(response, config)

    def _options(self, limit: int, allowed_domains: Sequence[str], time_range: Any) -> dict[str, Any]:
        return tools.search_options(
            limit=limit,
            allowed_domains=allowed_domains,
            time_range=time_range,
            read_top=self.read_top,
            passage_length=self.passage_length,
        )

    def _shown(self, response: SearchResponse, config: RunnableConfig) -> tuple[str, dict[str, Any]]:
        self.provenance.allow_results(response, conversation_of(config, self.conversation))
        return tools.render_search_text(self.web, response, self.output_format), search_as_json(response)


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
        conversation: Which keys of a run's config tell conversations apart, as with `WebSearchToolkit`.

    Raises:
        ConfigurationError: The arguments are wrong, or both kinds were given.

    """

    name: str = "open_page"
    description: str = tools.READ
    args_schema: type[BaseModel] = tools.PageArguments  # pyright: ignore[reportIncompatibleVariableOverride] - as in LangChain

    def __init__(self, *, web: WebSearch | None = None, **options: Unpack[ToolOptions]) -> None:
        super().__init__(**resolve_web(web, options))

    def _run(
        self,
        url: str,
        max_length: int = 0,
        offset: int = 0,
        query: str = "",
        find: str = "",
        *,
        config: RunnableConfig,
    ) -> tuple[str, dict[str, Any]]:
        with self._failures_told():
            self.provenance.check(url, conversation_of(config, self.conversation))
            page = self.web.read(url, **tools.page_options(self.web, max_length, offset, query, find))
            return self._shown(page, config)

    async def _arun(
        self,
        url: str,
        max_length: int = 0,
        offset: int = 0,
        query: str = "",
        find: str = "",
        *,
        config: RunnableConfig,
    ) -> tuple[str, dict[str, Any]]:
        with self._failures_told():
            self.provenance.check(url, conversation_of(config, self.conversation))
            page = await self.web.aread(url, **tools.page_options(self.web, max_length, offset, query, find))
            return self._shown(page, config)

    def _shown(self, page: Page, config: RunnableConfig) -> tuple[str, dict[str, Any]]:
        self.provenance.allow_links(page, conversation_of(config, self.conversation))
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
        provenance: Which URLs may be opened: ``any``; ``seen``, those that a search of the same conversation returned
            or the user named; or ``seen+links``.
        conversation: Which keys of a run's config, in ``configurable`` or else in ``metadata``, tell conversations
            apart: a tenant, a user, a thread. Runs without any of them share one conversation of this toolkit.

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
    conversation: tuple[str, ...] = KEYS

    def __init__(self, *, web: WebSearch | None = None, **options: Unpack[ToolkitOptions]) -> None:
        super().__init__(**resolve_web(web, options))

    def get_tools(self) -> list[BaseTool]:
        """Return ``web_search`` and ``open_page``."""
        shared = SharedOptions(
            output_format=self.output_format,
            handle_tool_error=self.handle_tool_error,
            provenance=self.provenance,
            conversation=self.conversation,
        )
        top = ReadTop(read_top=self.read_top, passage_length=self.passage_length)
        return [WebSearchTool(web=self.web, **shared, **top), OpenPageTool(web=self.web, **shared)]

    @property
    def user_urls(self) -> BaseCallbackHandler:
        """
        A callback that lets the URLs in the messages of the user be opened, for the config of a run.

        The user's are the human messages in the input of the root run: those in ``messages``, or the input itself if
        it is a string or messages. What the user pastes into them counts. Messages that a model or middleware writes
        during the run do not, whether they go to the same agent or to a sub-agent.

        Three things it cannot see, for which there is `allow_text`: other fields of a state of your own; the input of
        a chain that is no LangGraph graph and is streamed; and models and tools called outside any run. It cannot tell
        who wrote the input of a root run: do not hand it to a run that you start, in a thread of its own, with the
        words of a model.
        """
        return UserURLs(self.provenance, self.conversation)

    def allow_text(self, text: str, config: RunnableConfig | None = None) -> None:
        """
        Let the URLs in *text*, which the user wrote, be opened.

        Args:
            text: Such as a field of your graph's state.
            config: The config of the run, which says in which conversation; left out, that of the current run.

        """
        self.provenance.allow_text(text, conversation_of(ensure_config(config), self.conversation))
