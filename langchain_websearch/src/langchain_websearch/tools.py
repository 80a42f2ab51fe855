"""Tools for an agent: `WebSearchTool` finds pages, `OpenPageTool` reads one, and
`ListPagesTool` lists those of a site. `WebSearchToolkit` has them.

The model gets text with numbered sources, in which data from the web has marked
boundaries. The program also gets the artifact: the facts as plain JSON, which any
checkpointer can store. A failure neither crashes the run nor looks like a success: it
is a tool message of status ``error`` whose text begins with a stable code, since not
every model is shown the status.
"""

# No `from __future__ import annotations`: LangChain resolves the annotations of `_run`
# in each call, and would compile each text again. They are short for the same reason.
import inspect
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    Self,
    TypeAlias,
    Unpack,
    cast,
)
from weakref import WeakSet

from langchain_core.callbacks import (
    AsyncCallbackManagerForToolRun,
    BaseCallbackHandler,
    CallbackManagerForToolRun,
    Callbacks,
)
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.tools import BaseTool, BaseToolkit, ToolException
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    field_serializer,
    model_validator,
)

from websearch_core import WebSearch, WebSearchError
from websearch_core.client import CommonArguments
from websearch_core.errors import ConfigurationError, InvalidOption, UnsafeURL
from websearch_core.models import SearchOptions, describe_problems
from websearch_core.provenance import Ledger, Provenance
from websearch_core.tools import (
    DESCRIPTIONS,
    Configurable,
    OptionMapping,
    Output,
    OutputFormat,
    PageArguments,
    Run,
    SearchArguments,
    SearchDefaults,
    SiteArguments,
    WebTools,
    as_error,
    output_schema,
    show_arguments,
    split_arguments,
)

from ._progress import areport, report
from .conversations import (
    KEYS,
    Root,
    UserURLs,
    find_context,
    find_conversation,
    find_run,
    find_tenant,
)
from .sources import (
    Injected,
    find_messages,
    find_state_sources,
    shown_numbers,
    stored_sources,
)

if TYPE_CHECKING:  # it would import the parsers of pages
    from websearch_core.reading import ReadOptions

_NO_ID = "the run has no thread_id, so it does not know what other runs found"
_NO_MESSAGES = (
    "the tool was given no messages of this conversation, so what other processes "
    "found is unknown"
)
_log = logging.getLogger(__name__)
_warned: WeakSet[Ledger] = WeakSet()  # the ledgers that have had their warning
Content: TypeAlias = str | list[dict[str, Any]]
_failures: ContextVar[list[WebSearchError] | None] = ContextVar(
    "websearch_failures", default=None
)
OnError: TypeAlias = bool | str | Callable[[ToolException], Any] | None


class SharedOptions(CommonArguments, total=False):
    """The arguments of both tools and the toolkit besides ``web``."""

    search_options: SearchOptions | SearchDefaults | None
    read_options: "ReadOptions | None"
    output_format: OutputFormat
    full_artifact: bool
    max_uses: int | None
    configurable: Configurable
    require: Sequence[str]
    handle_tool_error: OnError
    provenance: Provenance | Ledger
    conversation: Sequence[str]


class ToolkitOptions(SharedOptions, total=False):
    """The arguments of the toolkit besides ``web``."""

    limit: int | None
    multi_query: bool
    site_tools: bool
    extras: dict[str, Any] | None


class PageToolOptions(SharedOptions, total=False):
    """The arguments of `OpenPageTool` besides ``web``: the shared ones, and those of
    every LangChain tool.
    """

    name: str
    description: str
    args_schema: Any
    handle_validation_error: bool | str | Callable[[Any], str] | None
    return_direct: bool
    verbose: bool
    callbacks: Callbacks
    tags: list[str] | None
    metadata: dict[str, Any] | None
    extras: dict[str, Any] | None


class SearchToolOptions(PageToolOptions, total=False):
    """The arguments of `WebSearchTool` besides ``web``."""

    limit: int | None
    multi_query: bool


class _Options(BaseModel):
    """The options of the tools and the toolkit, as fields; they cannot be changed
    later.
    """

    # Nobody makes one of this class or of `_WebTool`: those derived from them build
    # what validates.
    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", arbitrary_types_allowed=True, defer_build=True
    )

    web: WebSearch = Field(exclude=True, frozen=True)
    search_options: OptionMapping = Field(default_factory=dict, frozen=True)
    read_options: OptionMapping = Field(default_factory=dict, frozen=True)
    output_format: OutputFormat = Field(default="text", frozen=True)
    full_artifact: bool = Field(default=False, frozen=True)
    max_uses: int | None = Field(default=None, frozen=True)
    configurable: Configurable = Field(default=(), frozen=True)
    require: Sequence[str] = Field(default=(), frozen=True)
    provenance: Ledger = Field(exclude=True, repr=False, frozen=True)
    conversation: tuple[str, ...] = KEYS
    _tools: WebTools = PrivateAttr()

    def __init__(
        self, *, web: WebSearch | WebTools | None = None, **options: Any
    ) -> None:
        fields = type(self).model_fields
        arguments, own = split_arguments(options, fields.keys() - {"web"})
        names = [name for name in WebTools.own_arguments if name in fields]
        tool_arguments = {name: own.pop(name) for name in names if name in own}
        if isinstance(web, WebTools):
            if arguments or tool_arguments:
                raise ConfigurationError(
                    f"give web=WebTools(...) or its arguments, not both: "
                    f"{', '.join(options)}"
                )
            tools = web
        else:
            defaults = {  # which a subclass may change
                name: fields[name].get_default(call_default_factory=True)
                for name in names
                if name != "provenance"
            }
            tools = WebTools(web, **{**defaults, **tool_arguments}, **arguments)
        values = {name: getattr(tools, name) for name in names}
        super().__init__(web=tools.web, **values, **own)
        self._tools = tools


def _render_validation_error(
    error: ValidationError, form: OutputFormat = "text"
) -> str:
    """Say which argument is wrong, in the format of all other errors."""
    failure = InvalidOption(describe_problems(error))
    _keep(failure)
    return _render(failure, form)


def _validation_error_as_json(error: ValidationError) -> str:
    return _render_validation_error(error, "json")


def _render(error: WebSearchError, form: OutputFormat) -> str:
    # imported here: making a tool does not need it
    from websearch_core.render import render_error

    return render_error(error, form)


@contextmanager
def _catch_failures() -> Iterator[list[WebSearchError]]:
    """Yield a list to which a call of a tool adds the error that it ends in; LangChain
    keeps only its text.
    """
    failures: list[WebSearchError] = []
    token = _failures.set(failures)
    try:
        yield failures
    finally:
        _failures.reset(token)


def _keep(failure: WebSearchError) -> None:
    failures = _failures.get()
    if failures is not None:
        failures.append(failure)


def _with_artifact(answer: Any, failures: list[WebSearchError]) -> Any:
    """Return the message of a call with what is known about its error as the
    artifact.
    """
    if not failures or not isinstance(answer, ToolMessage):
        return answer
    if answer.status == "error" and answer.artifact is None:
        answer.artifact = Output.of_error(failures[-1]).artifact
    return answer


# What code for other search tools calls, and what to write instead.
_METHODS = {
    "api_wrapper",
    "aresults",
    "raw_results",
    "results",
    "search",
    "search_wrapper",
}
_DATA = "tool.web.search(query, limit=5).results, or tool.run(query) for the text"


class _WebTool(_Options, BaseTool):
    """Base of both tools.

    They are not "LangChain serializable": ``dumps`` writes only their names, because a
    `WebSearch` depends on keys, clients and its environment. Use pickle or deepcopy
    instead.
    """

    _kind: ClassVar[str]  # its name, unless the developer gives it another
    response_format: Literal["content_and_artifact"] = "content_and_artifact"  # pyright: ignore[reportIncompatibleVariableOverride] - no other value works
    handle_tool_error: OnError = True
    handle_validation_error: bool | str | Callable[[Any], str] | None = (
        _render_validation_error
    )
    metadata: dict[str, Any] | None = Field(default_factory=lambda: {"read_only": True})

    @property
    def tool_call_schema(self) -> type[BaseModel]:
        """The arguments that a model is shown; LangChain would make its own from the
        fields, with all that they hide.
        """
        return cast("type[BaseModel]", self.args_schema)

    def get_output_schema(self, config: RunnableConfig | None = None) -> Any:
        """Return the schema of what the tool returns; as JSON, that of the JSON."""
        if self.output_format != "json":
            return super().get_output_schema(config)
        multi_query: bool = getattr(self, "multi_query", False)
        return output_schema(self._kind, multi_query=multi_query)

    @field_serializer("args_schema", when_used="json")
    def _dump_schema(self, schema: Any) -> Any:
        if isinstance(schema, type) and issubclass(schema, BaseModel):
            return schema.model_json_schema()
        return schema

    @field_serializer("handle_tool_error", "handle_validation_error", when_used="json")
    def _dump_handler(self, handler: Any) -> Any:
        if inspect.isroutine(handler):
            return f"{handler.__module__}.{handler.__qualname__}"
        return handler

    def run(
        self, *args: Any, config: RunnableConfig | None = None, **options: Any
    ) -> Any:
        """Run the tool; without a *config*, with that of the run around it, as `invoke`
        does.
        """
        if config is None:
            config = ensure_config()
        with _catch_failures() as failures:
            answer = super().run(*args, config=config, **options)
        return _with_artifact(answer, failures)

    async def arun(
        self, *args: Any, config: RunnableConfig | None = None, **options: Any
    ) -> Any:
        """Do the same as `run` on the running event loop."""
        if config is None:
            config = ensure_config()
        with _catch_failures() as failures:
            answer = await super().arun(*args, config=config, **options)
        return _with_artifact(answer, failures)

    def _find_run(self, config: RunnableConfig, runtime: Any) -> Run:
        conversation = find_conversation(config, self.conversation)
        options: Mapping[str, Any] = {}
        if self.configurable:
            options = self._tools.read_run_options(
                config.get("configurable") or {}, find_context(config)
            )
        messages = find_messages(runtime, config)
        sources = list(find_state_sources(runtime, config))
        numbers: set[int] = set()
        if messages:
            names = self._find_names(runtime)
            sources += stored_sources(messages, names)
            numbers = shown_numbers(messages, names)
        is_alone = isinstance(conversation, Root)
        forgets = ""
        if is_alone:
            forgets = _NO_ID
        elif messages is None:
            forgets = _NO_MESSAGES
        return Run(
            name=find_run(config, conversation),
            conversation=conversation,
            tenant=find_tenant(config),
            options=options,
            sources=sources,
            numbers=numbers,
            shares=is_alone,
            forgets=forgets,
        )

    def _find_names(self, runtime: Any) -> set[str]:
        """Return the names of our tools here, by which the model calls them."""
        names = {*DESCRIPTIONS, self.name}
        for tool in getattr(runtime, "tools", None) or ():
            if isinstance(tool, _WebTool):
                names.add(tool.name)
            else:
                names.discard(tool.name)
        return names

    @model_validator(mode="after")
    def _report_invalid_arguments_as_json(self) -> Self:
        if (
            self.output_format == "json"
            and self.handle_validation_error is _render_validation_error
        ):
            self.handle_validation_error = _validation_error_as_json
        return self

    @contextmanager
    def _as_tool_exception(self) -> Iterator[None]:
        """Raise errors as `ToolException`, which LangChain shows to models; bugs too,
        unless errors are not handled.
        """
        try:
            yield
        except Exception as error:
            if not self.handle_tool_error and not isinstance(error, WebSearchError):
                raise
            failure = as_error(error, self.name)
            _keep(failure)
            self._warn_of_refusal(failure)
            raise ToolException(_render(failure, self.output_format)) from failure

    def _warn_of_refusal(self, failure: WebSearchError) -> None:
        """Log once that a URL was refused where nobody passes on what users write: a
        model is told why, and the developer would not know.
        """
        ledger = self.provenance
        if ledger.mode == "any" or ledger.has_user_text:
            return
        if isinstance(failure, UnsafeURL) and ledger not in _warned:
            _warned.add(ledger)
            _log.warning(
                "provenance=%r: a URL was refused, and no message of a user was passed "
                "on: use WebSearchMiddleware, the callback toolkit.user_urls or "
                "toolkit.allow_text",
                ledger.mode,
            )


class SearchToolArguments(SearchArguments):
    """The arguments of ``web_search``, and the runtime that LangGraph injects and no
    model sees.
    """

    hidden: ClassVar[frozenset[str]] = SearchArguments.hidden | {"runtime"}
    injected: ClassVar[frozenset[str]] = frozenset({"runtime"})

    runtime: Injected = None


class PageToolArguments(PageArguments):
    """The arguments of ``open_page``, and the runtime that LangGraph injects and no
    model sees.
    """

    hidden: ClassVar[frozenset[str]] = PageArguments.hidden | {"runtime"}
    injected: ClassVar[frozenset[str]] = frozenset({"runtime"})

    runtime: Injected = None


class SiteToolArguments(SiteArguments):
    """The arguments of ``list_pages``, and the runtime that LangGraph injects and no
    model sees.
    """

    hidden: ClassVar[frozenset[str]] = SiteArguments.hidden | {"runtime"}
    injected: ClassVar[frozenset[str]] = frozenset({"runtime"})

    runtime: Injected = None


class WebSearchTool(_WebTool, defer_build=False):
    """Searches the web for an agent: ``web_search(query, limit, allowed_domains,
    time_range)``.

    ::

        WebSearchTool()  # with the provider that has a key in the environment
        WebSearchTool(provider="brave", limit=3, timeout=10)
        WebSearchTool(web=web)  # shares the connections of *web*

    Options that the provider does not support are ignored and noted in the text. Its
    arguments are those of `WebSearch` and of every LangChain tool, and these:

    Args:
        web: The `WebSearch` to search with; or pass its arguments instead. `WebTools`
            shares everything with another tool.
        limit: The number of results of a search, and the maximum that a model can ask
            for; by default the ``limit`` in ``search_options`` of the `WebSearch`, else
            5 and 20.
        multi_query: Take up to five queries in one search, as ``queries`` instead of
            ``query``, for models that plan them. Their results are numbered together.
            If one fails, its error takes the place of its results.
        search_options: The options of every search, such as ``{"topic": "news",
            "read_top": 3}``, as `websearch_core.tools.SearchDefaults` explains. Models
            neither see nor change them; they can only choose from the
            ``allowed_domains`` and add ``blocked_domains``. An option that the provider
            does not support is an error at once; with ``"unsupported": "note"``,
            searches leave it out and say so.
        read_options: The options of every page, such as ``{"max_tokens": 3_000}``,
            which also limits the text of a search.
        max_uses: Maximum number of calls in one run: an ``invoke`` or ``stream`` of a
            LangGraph graph, or elsewhere the conversation. Each query of a search
            counts. Later calls fail with an error that tells the model to finish.
        configurable: The options that a run may set in ``configurable`` of its config,
            or in the ``context`` of an agent: ``api_key``, ``credentials``,
            ``provider``, ``reader``, ``timeout``, ``allowed_domains``,
            ``blocked_domains``, ``search_options``, ``read_options``; or a mapping from
            each to the key that it has there, or of ``provider`` and ``reader`` to
            those that a run may choose from. An API key that is a ``SecretStr``, or
            whose name begins with two underscores, is kept out of checkpoints and
            traces.
        require: The options of ``configurable`` that every run must set; ``tenant_id``
            if every run must have a tenant. Without one of them, calls fail with
            ``ERROR [missing_key]`` and never use your key or policy instead.
        output_format: The format for the model: ``text``, ``markdown``, ``json``, or
            ``search_result``, content blocks for Anthropic's models, which cite them on
            their own.
        full_artifact: Keep everything in the artifact: snippets, the text of a page and
            its links. By default it holds only the facts beside the text, since every
            checkpoint of a conversation stores it.
        handle_tool_error: What to do with errors. True: return a tool message of status
            ``error`` that begins with a stable code, ``ERROR [rate_limited] ...``, for
            a bug in a provider too, whose traceback is logged. False: raise a
            ``ToolException``, whose ``__cause__`` is the `WebSearchError`, for
            middleware to catch; a bug is raised unchanged.
        provenance: The `Ledger` to record the results in, shared with the tool that
            opens them.
        conversation: The keys of a run's config that distinguish conversations, as with
            `WebSearchToolkit`.

    Raises:
        InvalidOption: One of the options is unknown or wrong.
        ConfigurationError: An argument is invalid, or *web* is combined with arguments
            of `WebSearch`.
    """

    _kind: ClassVar[str] = "web_search"
    name: str = "web_search"
    description: str = DESCRIPTIONS["web_search"]
    args_schema: type[BaseModel] = SearchToolArguments  # pyright: ignore[reportIncompatibleVariableOverride] - as in LangChain
    limit: int | None = Field(default=None, frozen=True)
    multi_query: bool = Field(default=False, frozen=True)

    @show_arguments(WebTools)
    def __init__(
        self,
        *,
        web: WebSearch | WebTools | None = None,
        **options: Unpack[SearchToolOptions],
    ) -> None:
        super().__init__(**{"web": web, **options})
        if "args_schema" not in self.model_fields_set:
            self.args_schema = self._tools.search_arguments(SearchToolArguments)  # pyright: ignore[reportIncompatibleVariableOverride] - as above

    # hidden from type checkers: with it, they would accept any name
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in _METHODS:
                raise AttributeError(
                    f"{type(self).__name__!r} has no attribute {name!r}: write {_DATA}"
                )
            return super().__getattr__(name)

    def _run(
        self,
        query: str = "",
        *,
        config: RunnableConfig,
        runtime: Any = None,
        run_manager: CallbackManagerForToolRun | None = None,
        **sent: Any,
    ) -> tuple[Any, Any]:
        with self._as_tool_exception(), report(run_manager, config):
            arguments = self._make_arguments(query, sent)
            output = self._tools.search(arguments, self._find_run(config, runtime))
        return output.content, output.artifact

    async def _arun(
        self,
        query: str = "",
        *,
        config: RunnableConfig,
        runtime: Any = None,
        run_manager: AsyncCallbackManagerForToolRun | None = None,
        **sent: Any,
    ) -> tuple[Any, Any]:
        with self._as_tool_exception():
            async with areport(run_manager, config):
                arguments = self._make_arguments(query, sent)
                run = self._find_run(config, runtime)
                output = await self._tools.asearch(arguments, run)
        return output.content, output.artifact

    def _make_arguments(self, query: str, sent: Mapping[str, Any]) -> SearchArguments:
        """Return the arguments of a search, which LangChain has validated; those of a
        text alone, as it was sent.
        """
        if not sent:
            return self._tools.search_arguments().model_validate({"query": query})
        return SearchArguments.model_construct(query=query, **sent)


class _URLTool(_WebTool):
    """Base of the tools whose first argument is a URL, and whose calls `WebTools` has
    under their names. Each has a constructor of its own: type checkers would make one
    of its fields.
    """

    _arguments: ClassVar[type[PageArguments | SiteArguments]]

    def _run(
        self,
        url: str,
        *,
        config: RunnableConfig,
        runtime: Any = None,
        run_manager: CallbackManagerForToolRun | None = None,
        **sent: Any,
    ) -> tuple[Any, Any]:
        with self._as_tool_exception(), report(run_manager, config):
            call = getattr(self._tools, self._kind)
            arguments = self._make_arguments(url, sent)
            output = call(arguments, self._find_run(config, runtime))
        return output.content, output.artifact

    async def _arun(
        self,
        url: str,
        *,
        config: RunnableConfig,
        runtime: Any = None,
        run_manager: AsyncCallbackManagerForToolRun | None = None,
        **sent: Any,
    ) -> tuple[Any, Any]:
        with self._as_tool_exception():
            async with areport(run_manager, config):
                call = getattr(self._tools, f"a{self._kind}")
                arguments = self._make_arguments(url, sent)
                output = await call(arguments, self._find_run(config, runtime))
        return output.content, output.artifact

    def _make_arguments(self, url: str, sent: Mapping[str, Any]) -> Any:
        """Return the arguments of a page, as `WebSearchTool` does those of a search."""
        if not sent:
            return self._arguments.model_validate({"url": url})
        return self._arguments.model_construct(url=url, **sent)


class OpenPageTool(_URLTool, defer_build=False):
    """Reads a page or a part of it for an agent: ``open_page(url, max_length, offset,
    query, find)``.

    Pages of this machine and its network are refused, also behind host names and
    redirects, except those in ``internal``:
    ``OpenPageTool(internal=["https://wiki.corp:8443"])``. Its arguments are those of
    `WebSearchTool` without ``limit``:

    Args:
        read_options: The options of every page, such as ``{"max_length": 8_000}``, as
            `websearch_core.reading.ReadOptions` explains; a model can ask for another
            length.
        provenance: Which URLs may be opened: ``any``, ``seen`` or ``seen+links``, as
            `Ledger` explains, or a `Ledger` shared with the tool that searches.
    """

    _kind: ClassVar[str] = "open_page"
    _arguments: ClassVar[type[PageArguments | SiteArguments]] = PageArguments
    name: str = "open_page"
    description: str = DESCRIPTIONS["open_page"]
    args_schema: type[BaseModel] = PageToolArguments  # pyright: ignore[reportIncompatibleVariableOverride] - as in LangChain

    @show_arguments(WebTools, without=("limit", "multi_query"))
    def __init__(
        self,
        *,
        web: WebSearch | WebTools | None = None,
        **options: Unpack[PageToolOptions],
    ) -> None:
        super().__init__(**{"web": web, **options})


class ListPagesTool(_URLTool, defer_build=False):
    """Lists the pages of a site for an agent: ``list_pages(url, contains, limit)``.

    They come from its sitemaps, its ``llms.txt`` and the links of the start, as far as
    its robots.txt allows. ``WebSearchToolkit(site_tools=True)`` has it beside the
    others; its arguments are those of `OpenPageTool`.
    """

    _kind: ClassVar[str] = "list_pages"
    _arguments: ClassVar[type[PageArguments | SiteArguments]] = SiteArguments
    name: str = "list_pages"
    description: str = DESCRIPTIONS["list_pages"]
    args_schema: type[BaseModel] = SiteToolArguments  # pyright: ignore[reportIncompatibleVariableOverride] - as in LangChain

    @show_arguments(WebTools, without=("limit", "multi_query"))
    def __init__(
        self,
        *,
        web: WebSearch | WebTools | None = None,
        **options: Unpack[PageToolOptions],
    ) -> None:
        super().__init__(**{"web": web, **options})


class WebSearchToolkit(_Options, BaseToolkit, defer_build=False):
    """The tools, over one `WebSearch` and one `Ledger`.

    ::

        toolkit = WebSearchToolkit(provider="tavily", provenance="seen")
        agent = create_agent(model, toolkit.get_tools())
        config = {
            "callbacks": [toolkit.user_urls],
            "configurable": {"thread_id": "1"},
        }
        agent.invoke(question, config=config)

    Its arguments are those of `WebSearch` and those that `WebSearchTool` adds, of which
    five are about all tools:

    Args:
        extras: What the package of a model vendor knows about tools besides the schema,
            such as ``{"defer_loading": True}`` of Anthropic.
        max_uses: Maximum number of calls in one run, of all tools together.
        site_tools: Also give ``list_pages``, for agents that look around a site.
        provenance: Which URLs may be opened: ``any``; ``seen``, those that a search of
            the same conversation returned or that the user wrote; or ``seen+links``.
        conversation: The keys of a run's config that distinguish conversations: a
            tenant, a user, a thread. They are looked up in ``configurable``, then in
            the ``context``, then in ``metadata``. A run without any of them is a
            conversation of its own.
    """

    limit: int | None = Field(default=None, frozen=True)
    multi_query: bool = Field(default=False, frozen=True)
    site_tools: bool = Field(default=False, frozen=True)
    handle_tool_error: OnError = True
    extras: dict[str, Any] | None = None

    @show_arguments(WebTools)
    def __init__(
        self, *, web: WebSearch | None = None, **options: Unpack[ToolkitOptions]
    ) -> None:
        super().__init__(web=web, **options)

    def get_tools(self) -> list[BaseTool]:
        """Return ``web_search`` and ``open_page``; with ``site_tools``, also
        ``list_pages``.
        """
        tools: list[Any] = [WebSearchTool, OpenPageTool]
        if self.site_tools:
            tools.append(ListPagesTool)
        return [
            tool(
                web=self._tools,
                handle_tool_error=self.handle_tool_error,
                conversation=self.conversation,
                extras=self.extras,
            )
            for tool in tools
        ]

    @property
    def user_urls(self) -> BaseCallbackHandler:
        """A callback for the config of a run that allows the URLs in the user's
        messages to be opened.

        The user's messages are the human messages in the input of the root run: those
        in ``messages``, or the input itself if it is a string or messages. Text that
        the user pastes into them counts. Messages that a model or middleware writes
        during the run do not, whether they go to the same agent or to a sub-agent.

        There are three things it cannot see; use `allow_text` for them: other fields of
        your own state; the input of a streamed chain that is not a LangGraph graph; and
        models and tools called outside a run. It cannot know who wrote the input of a
        root run: do not give it to a run that you start, in its own thread, with text
        that a model wrote.
        """
        return UserURLs(self.provenance, self.conversation)

    def allow_text(self, text: str, config: RunnableConfig | None = None) -> None:
        """Allow the URLs in *text*, which the user wrote, to be opened.

        Args:
            text: What the user wrote, such as a field of your graph's state.
            config: The config of the run, which determines the conversation; None for
                that of the current run.
        """
        self.provenance.allow_text(
            text, find_conversation(ensure_config(config), self.conversation)
        )
