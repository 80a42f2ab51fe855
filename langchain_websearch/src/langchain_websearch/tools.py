"""
Two tools for an agent: `WebSearchTool` finds pages, `OpenPageTool` reads one. `WebSearchToolkit` has both.

The model gets text with numbered sources, in which data from the web has marked boundaries. The program also gets the
artifact: the facts as plain JSON, which any checkpointer can store. A failure neither crashes the run nor looks like a
success: it
is a tool message of status ``error`` whose text begins with a stable code, since not every model is shown the status.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, TypedDict, TypeVar, Unpack, cast

from langchain_core.callbacks import (
    AsyncCallbackManagerForToolRun,
    BaseCallbackHandler,
    CallbackManagerForToolRun,
    Callbacks,
)
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.tools import BaseTool, BaseToolkit, ToolException
from langchain_core.tools.base import FILTERED_ARGS
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from websearch_core import Page, SearchResponse, WebSearch, WebSearchError, tools
from websearch_core._runtime.bugs import as_error
from websearch_core.client import CommonArguments
from websearch_core.errors import InvalidOption
from websearch_core.layers import charge_to
from websearch_core.models import SearchOptions, describe_problems
from websearch_core.provenance import Ledger, Provenance
from websearch_core.render import render_error
from websearch_core.tools import Configurable, Pinned, Tenants, Uses
from websearch_core.tools._outputs import ToolFormat, page_output, search_output

from ._progress import areport, report
from ._resolve import resolve_search, resolve_tenants
from .conversations import KEYS, UserURLs, conversation_of, run_of, tenant_of
from .sources import NAMES, Injected, stored_sources

Content: TypeAlias = str | list[dict[str, Any]]
_Method = TypeVar("_Method", bound=Callable[..., Any])
OnError: TypeAlias = bool | str | Callable[[ToolException], Any] | None


class SharedOptions(CommonArguments, total=False):
    """The arguments of the tools and the toolkit besides ``web``."""

    output_format: ToolFormat
    full_artifact: bool
    max_uses: int | Uses | None
    configurable: Configurable | Tenants
    handle_tool_error: OnError
    provenance: Provenance | Ledger
    conversation: Sequence[str]


class SearchSettings(TypedDict, total=False):
    """The arguments about what is searched, and about reading the first results."""

    search_options: SearchOptions | Pinned | None
    read_top: int
    passage_length: int


class PageSettings(TypedDict, total=False):
    """The arguments about reading a page."""

    max_length: int | None


class ToolkitOptions(SharedOptions, SearchSettings, PageSettings, total=False):
    """The arguments of the toolkit besides ``web``."""


class ToolOptions(SharedOptions, total=False):
    """The arguments of a tool besides ``web``: the shared ones, and those of every LangChain tool."""

    name: str
    description: str
    handle_validation_error: bool | str | Callable[[Any], str] | None
    return_direct: bool
    verbose: bool
    callbacks: Callbacks
    tags: list[str] | None
    metadata: dict[str, Any] | None
    extras: dict[str, Any] | None


class SearchToolOptions(ToolOptions, SearchSettings, total=False):
    """The arguments of `WebSearchTool` besides ``web``."""


class PageToolOptions(ToolOptions, PageSettings, total=False):
    """The arguments of `OpenPageTool` besides ``web``."""


def _hint_config(method: _Method) -> _Method:
    """
    Leave only the type of ``config`` for LangChain to find, and the signature ready.

    It works out both for ``_run`` or ``_arun`` again in each call, and looks for this type alone.
    """
    method.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
    method.__annotations__ = {"config": RunnableConfig}
    return method


@lru_cache(maxsize=256)
def _find_arguments(schema: type[BaseModel], own: type[BaseModel]) -> list[str] | None:
    """Return the names of the arguments of *schema*, if all are among those of *own*; else None."""
    is_ours = issubclass(schema, own) and schema.model_fields.keys() <= own.model_fields.keys()
    return list(schema.model_fields) if is_ours else None


def _render_validation_error(error: ValidationError) -> str:
    """Say which argument is wrong, in the format of all other errors."""
    return render_error(InvalidOption(describe_problems(error)))


def _validation_error_as_json(error: ValidationError) -> str:
    return render_error(InvalidOption(describe_problems(error)), "json")


def _as_ledger(value: Provenance | Ledger) -> Ledger:
    return value if isinstance(value, Ledger) else Ledger(value)


def _as_uses(value: int | Uses | None) -> Uses:
    return value if isinstance(value, Uses) else Uses(value)


class _WebTool(BaseTool):
    """
    Base of both tools.

    They are not "LangChain serializable": ``dumps`` writes only their names, because a `WebSearch` depends on keys,
    clients and its environment. Use pickle or deepcopy instead.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    web: WebSearch = Field(exclude=True)
    output_format: ToolFormat = "text"
    full_artifact: bool = False
    provenance: Annotated[Ledger, BeforeValidator(_as_ledger)] = Field(default_factory=Ledger, exclude=True, repr=False)
    conversation: tuple[str, ...] = KEYS
    max_uses: Annotated[Uses, BeforeValidator(_as_uses)] = Field(default_factory=Uses, exclude=True, repr=False)
    configurable: Tenants = Field(exclude=True, repr=False)
    response_format: Literal["content_and_artifact"] = "content_and_artifact"  # pyright: ignore[reportIncompatibleVariableOverride] - no other value works
    handle_tool_error: OnError = True
    handle_validation_error: bool | str | Callable[[Any], str] | None = _render_validation_error
    metadata: dict[str, Any] | None = Field(default_factory=lambda: {"read_only": True})
    _own_arguments: ClassVar[type[BaseModel]]
    _hidden: tuple[type, AbstractSet[str]] | None = PrivateAttr(default=None)

    @property
    def tool_call_schema(self) -> type[BaseModel]:
        """The arguments that a model is shown; LangChain would make its own from the fields, with all that they hide."""
        return cast("type[BaseModel]", self.args_schema)

    def run(self, *args: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Run the tool; without a *config*, with that of the run around it, as `invoke` does."""
        return super().run(*args, config=ensure_config() if config is None else config, **options)

    async def arun(self, *args: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """Do the same as `run` on the running event loop."""
        return await super().arun(*args, config=ensure_config() if config is None else config, **options)

    def _filter_injected_args(self, tool_input: dict[str, Any]) -> dict[str, Any]:
        """Leave out the arguments that callbacks do not see. LangChain would look for them again in each call."""
        schema, known = self.args_schema, self._hidden
        if known is None or known[0] is not schema:
            if not isinstance(schema, type) or not issubclass(schema, BaseModel):  # the developer's own
                return super()._filter_injected_args(tool_input)
            names = dict.fromkeys([*schema.model_fields, *FILTERED_ARGS, *self._injected_args_keys])
            known = self._hidden = schema, names.keys() - super()._filter_injected_args(names).keys()
        return {name: value for name, value in tool_input.items() if name not in known[1]}

    def _parse_input(self, tool_input: str | dict[str, Any], tool_call_id: str | None) -> str | dict[str, Any]:
        """Validate the arguments. LangChain would look for fields that ours do not have, again in each call."""
        schema = cast("type[BaseModel] | dict[str, Any] | None", self.args_schema)
        if not isinstance(tool_input, dict) or not isinstance(schema, type):
            return super()._parse_input(tool_input, tool_call_id)
        names = _find_arguments(schema, self._own_arguments)
        if names is None:  # the developer has added some
            return super()._parse_input(tool_input, tool_call_id)
        given = schema.model_validate(tool_input)
        injected = {name: tool_input[name] for name in self._injected_args_keys if name in tool_input}
        return {name: getattr(given, name) for name in names} | injected

    def _begin(self, config: RunnableConfig) -> tuple[WebSearch, dict[str, Any]]:
        """Count this call, and return the `WebSearch` and the options of its run."""
        run, is_name = run_of(config, self.conversation)
        self.max_uses.count(run, is_name=is_name)
        options = self.configurable.read(config.get("configurable") or {})
        return self.configurable.find(options), options

    def _charge(self, config: RunnableConfig) -> AbstractContextManager[None]:
        """Charge the calls in this block to the tenant and the run."""
        return charge_to(tenant_of(config), run=run_of(config, self.conversation)[0])

    def _stored_sources(self, runtime: Any) -> Iterator[Mapping[str, Any]]:
        """Yield what our tools found in this conversation before, whatever they are called here."""
        names = {*NAMES, self.name}
        for one in getattr(runtime, "tools", None) or ():
            (names.add if isinstance(one, _WebTool) else names.discard)(one.name)
        return stored_sources(runtime, names)

    @model_validator(mode="after")
    def _report_invalid_arguments_as_json(self) -> Self:
        if self.output_format == "json" and self.handle_validation_error is _render_validation_error:
            self.handle_validation_error = _validation_error_as_json
        return self

    @contextmanager
    def _as_tool_exception(self) -> Iterator[None]:
        """Raise errors as `ToolException`, which LangChain shows to models; bugs too, unless errors are not handled."""
        try:
            yield
        except WebSearchError as error:
            raise ToolException(render_error(error, self.output_format)) from error
        except Exception as bug:
            if not self.handle_tool_error:
                raise
            failure = as_error(bug, self.name)
            raise ToolException(render_error(failure, self.output_format)) from failure


class SearchToolArguments(tools.SearchArguments):
    """The arguments of ``web_search``, and the runtime that LangGraph injects and no model sees."""

    runtime: Injected = None


class PageToolArguments(tools.PageArguments):
    """The arguments of ``open_page``, and the runtime that LangGraph injects and no model sees."""

    runtime: Injected = None


class WebSearchTool(_WebTool):
    """
    Searches the web for an agent: ``web_search(query, limit, allowed_domains, time_range)``.

    ::

        WebSearchTool()                          # the provider that the environment has a key for
        WebSearchTool(provider="brave", timeout=10)
        WebSearchTool(web=web)                   # shares its connections with other users of web

    Options that the provider does not support are ignored and noted in the text.

    Args:
        web: The `WebSearch` to search with; or pass its arguments instead.
        search_options: Fields of `SearchQuery` for every search, such as ``{"topic": "news", "limit": 3}``. A model is
            not shown them and cannot change them, except that it can ask for fewer results than ``limit``, for some of
            the ``allowed_domains``, and for more ``blocked_domains``. An option that the provider does not support is
            noted; with ``"unsupported": "raise"`` it is an error.
        max_uses: Maximum number of calls in one run: an ``invoke`` or ``stream`` of a LangGraph graph, or elsewhere the
            conversation. Then each call is an error that tells the model to finish.
        configurable: The options that a run may set in ``configurable`` of its config: ``api_key``, ``provider``,
            ``reader``, ``timeout``, ``allowed_domains``, ``blocked_domains``, ``search_options``, ``read_options``,
            ``max_length``, ``read_top``; or a mapping from each to the key that it has there, or of ``provider`` and ``reader`` to those that a run may choose among. A key that is a
            ``SecretStr``, or has two underscores before its name, is kept out of checkpoints and traces.
        output_format: The format for the model: ``text``, ``markdown``, ``json``, or ``search_result``, content blocks
            for models of Anthropic, which cite them by themselves.
        full_artifact: Keep everything in the artifact: snippets, the text of a page and its links. By default it holds
            only the facts beside the text, since every checkpoint of a conversation stores it.
        read_top: How many of the first results to read, in parallel: instead of their snippets, the model gets the
            passages of their pages that answer its query.
        passage_length: Maximum number of characters of these passages per page.
        handle_tool_error: What to do with errors. True: return a tool message of status ``error`` that begins with a
            stable code, ``ERROR [rate_limited] ...``; a bug in a provider too, which is also logged with its traceback.
            False: raise a ``ToolException``, whose ``__cause__`` is the `WebSearchError`, for middleware to catch; a
            bug is raised unchanged.
        provenance: The `Ledger` to record the results in, shared with the tool that opens them.
        conversation: The keys of a run's config that distinguish conversations, as with `WebSearchToolkit`.

    Raises:
        InvalidOption: One of the search options is unknown or wrong.
        ConfigurationError: The arguments are invalid, or *web* was given together with its arguments.

    """

    name: str = "web_search"
    description: str = tools.SEARCH
    _own_arguments: ClassVar[type[BaseModel]] = SearchToolArguments
    args_schema: type[BaseModel] = SearchToolArguments  # pyright: ignore[reportIncompatibleVariableOverride] - as in LangChain
    search_options: Pinned = Field(default_factory=Pinned, exclude=True, repr=False)
    read_top: int = Field(default=0, ge=0)
    passage_length: int = Field(default=1_500, ge=1)

    def __init__(self, *, web: WebSearch | None = None, **options: Unpack[SearchToolOptions]) -> None:
        resolved = resolve_search(type(self), web, options)
        arguments = resolved["search_options"].arguments(SearchToolArguments)
        super().__init__(**{"args_schema": arguments, **resolved})

    @_hint_config
    def _run(
        self,
        query: str,
        *,
        config: RunnableConfig,
        runtime: Any = None,
        run_manager: CallbackManagerForToolRun | None = None,
        **sent: Any,
    ) -> tuple[Content, dict[str, Any]]:
        with self._as_tool_exception(), report(run_manager), self._charge(config):
            web, options = self._begin(config)
            call = self._call(web, options, sent)
            return self._render(call.finish(web.search(query, **call.options)), config, runtime, web, call)

    @_hint_config
    async def _arun(
        self,
        query: str,
        *,
        config: RunnableConfig,
        runtime: Any = None,
        run_manager: AsyncCallbackManagerForToolRun | None = None,
        **sent: Any,
    ) -> tuple[Content, dict[str, Any]]:
        with self._as_tool_exception(), self._charge(config):
            async with areport(run_manager):
                web, options = self._begin(config)
                call = self._call(web, options, sent)
                response = call.finish(await web.asearch(query, **call.options))
            return self._render(response, config, runtime, web, call)

    def _call(self, web: WebSearch, options: Mapping[str, Any], sent: dict[str, Any]) -> tools.SearchCall:
        """Combine what the model *sent* with the developer's options, and with the *options* of the run."""
        if sent.get("limit") == self.search_options.usual:  # the default, for all that we can see here
            sent = {**sent, "limit": None}
        return self.search_options.of_run(web.settings.domains, options.get("search_options")).call(
            **sent, read_top=options.get("read_top", self.read_top), passage_length=self.passage_length
        )

    def _render(
        self, response: SearchResponse, config: RunnableConfig, runtime: Any, web: WebSearch, call: tools.SearchCall
    ) -> tuple[Content, dict[str, Any]]:
        conversation = conversation_of(config, self.conversation)
        self.provenance.allow_results(response, conversation)
        numbered = self.provenance.number_results(response, conversation, self._stored_sources(runtime))
        most = call.options.get("max_snippet_chars")
        output = search_output(web, numbered, self.output_format, full=self.full_artifact, max_snippet_chars=most)
        return output.content, output.artifact


class OpenPageTool(_WebTool):
    """
    Reads a page or a part of it for an agent: ``open_page(url, max_length, offset, query, find)``.

    Pages of this machine and its network are refused, also behind host names and redirects, except those in ``internal``:
    ``OpenPageTool(internal=["https://wiki.corp:8443"])``.

    Args:
        web: The `WebSearch` to read with; or pass its arguments instead.
        output_format: The format for the model: ``text``, ``markdown``, ``json``, or ``search_result``, content blocks
            for models of Anthropic, which cite them by themselves.
        full_artifact: Keep everything in the artifact: snippets, the text of a page and its links. By default it holds
            only the facts beside the text, since every checkpoint of a conversation stores it.
        max_length: Maximum characters of a page, unless the model asks for another number.
        max_uses: Maximum number of calls in one run, as with `WebSearchTool`.
        configurable: The options that a run may set, as with `WebSearchTool`.
        handle_tool_error: What to do with errors, as with `WebSearchTool`.
        provenance: Which URLs may be opened: ``any``, ``seen`` or ``seen+links``, as `Ledger` explains, or a `Ledger`
            shared with the tool that searches.
        conversation: The keys of a run's config that distinguish conversations, as with `WebSearchToolkit`.

    Raises:
        InvalidOption: One of the search options is unknown or wrong.
        ConfigurationError: The arguments are invalid, or *web* was given together with its arguments.

    """

    name: str = "open_page"
    description: str = tools.READ
    _own_arguments: ClassVar[type[BaseModel]] = PageToolArguments
    args_schema: type[BaseModel] = PageToolArguments  # pyright: ignore[reportIncompatibleVariableOverride] - as in LangChain
    max_length: int | None = Field(default=None, ge=1)

    def __init__(self, *, web: WebSearch | None = None, **options: Unpack[PageToolOptions]) -> None:
        super().__init__(**resolve_tenants(type(self), web, options))

    @_hint_config
    def _run(
        self,
        url: str,
        max_length: int = 0,
        offset: int = 0,
        query: str = "",
        find: str = "",
        *,
        config: RunnableConfig,
        runtime: Any = None,
        run_manager: CallbackManagerForToolRun | None = None,
    ) -> tuple[Content, dict[str, Any]]:
        with self._as_tool_exception(), report(run_manager), self._charge(config):
            web, options = self._begin(config)
            url = self._find_url(url, config, runtime)
            default = options.get("max_length", self.max_length)
            part = tools.page_options(web, max_length, offset, query, find, default=default)
            return self._render(web.read(url, **part), config, runtime)

    @_hint_config
    async def _arun(
        self,
        url: str,
        max_length: int = 0,
        offset: int = 0,
        query: str = "",
        find: str = "",
        *,
        config: RunnableConfig,
        runtime: Any = None,
        run_manager: AsyncCallbackManagerForToolRun | None = None,
    ) -> tuple[Content, dict[str, Any]]:
        with self._as_tool_exception(), self._charge(config):
            async with areport(run_manager):
                web, options = self._begin(config)
                url = self._find_url(url, config, runtime)
                default = options.get("max_length", self.max_length)
                part = tools.page_options(web, max_length, offset, query, find, default=default)
                page = await web.aread(url, **part)
            return self._render(page, config, runtime)

    def _find_url(self, url: str, config: RunnableConfig, runtime: Any) -> str:
        conversation = conversation_of(config, self.conversation)
        return self.provenance.check(url, conversation, self._stored_sources(runtime))

    def _render(self, page: Page, config: RunnableConfig, runtime: Any) -> tuple[Content, dict[str, Any]]:
        conversation = conversation_of(config, self.conversation)
        self.provenance.allow_links(page, conversation)
        numbered = self.provenance.number_page(page, conversation, self._stored_sources(runtime))
        output = page_output(numbered, self.output_format, full=self.full_artifact)
        return output.content, output.artifact


class WebSearchToolkit(BaseToolkit):
    """
    Both tools, over one `WebSearch` and one `Ledger`.

    ::

        toolkit = WebSearchToolkit(provider="tavily", provenance="seen")
        agent = create_agent(model, toolkit.get_tools())
        agent.invoke(question, config={"callbacks": [toolkit.user_urls], "configurable": {"thread_id": "1"}})

    Args:
        web: The `WebSearch` to share; or pass its arguments instead.
        output_format: The format for the model, as with `WebSearchTool`.
        full_artifact: Whether to keep everything in the artifacts, as with `WebSearchTool`.
        read_top: How many results of a search to read, as with `WebSearchTool`.
        passage_length: Maximum number of characters of their passages, as with `WebSearchTool`.
        search_options: Fields of `SearchQuery` for every search, as with `WebSearchTool`.
        max_length: Maximum characters of a page, unless the model asks for another number.
        max_uses: Maximum number of calls of both tools together in one run, as with `WebSearchTool`.
        configurable: The options that a run may set, as with `WebSearchTool`.
        handle_tool_error: What to do with errors, as with `WebSearchTool`.
        provenance: Which URLs may be opened: ``any``; ``seen``, those that a search of the same conversation returned
            or that the user wrote; or ``seen+links``.
        conversation: The keys of a run's config, in ``configurable`` or else in ``metadata``, that distinguish
            conversations: a tenant, a user, a thread. Runs without any of them share one conversation of this toolkit.

    Raises:
        InvalidOption: One of the search options is unknown or wrong.
        ConfigurationError: The arguments are invalid, or *web* was given together with its arguments.

    """

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    web: WebSearch = Field(exclude=True)
    output_format: ToolFormat = "text"
    full_artifact: bool = False
    read_top: int = Field(default=0, ge=0)
    passage_length: int = Field(default=1_500, ge=1)
    handle_tool_error: OnError = True
    provenance: Annotated[Ledger, BeforeValidator(_as_ledger)] = Field(default_factory=Ledger, exclude=True, repr=False)
    conversation: tuple[str, ...] = KEYS
    max_uses: Annotated[Uses, BeforeValidator(_as_uses)] = Field(default_factory=Uses, exclude=True, repr=False)
    max_length: int | None = Field(default=None, ge=1)
    configurable: Tenants = Field(exclude=True, repr=False)
    search_options: Pinned = Field(default_factory=Pinned, exclude=True, repr=False)

    def __init__(self, *, web: WebSearch | None = None, **options: Unpack[ToolkitOptions]) -> None:
        super().__init__(**resolve_search(type(self), web, options))

    def get_tools(self) -> list[BaseTool]:
        """Return ``web_search`` and ``open_page``."""
        shared = SharedOptions(
            output_format=self.output_format,
            full_artifact=self.full_artifact,
            handle_tool_error=self.handle_tool_error,
            provenance=self.provenance,
            conversation=self.conversation,
            max_uses=self.max_uses,
            configurable=self.configurable,
        )
        search = SearchSettings(
            search_options=self.search_options, read_top=self.read_top, passage_length=self.passage_length
        )
        page = PageSettings(max_length=self.max_length)
        return [WebSearchTool(**shared, **search), OpenPageTool(**shared, **page)]

    @property
    def user_urls(self) -> BaseCallbackHandler:
        """
        A callback for the config of a run that allows the URLs in the user's messages to be opened.

        The user's messages are the human messages in the input of the root run: those in ``messages``, or the input
        itself if it is a string or messages. Text that the user pastes into them counts. Messages that a model or
        middleware writes during the run do not, whether they go to the same agent or to a sub-agent.

        There are three things it cannot see; use `allow_text` for them: other fields of your own state; the input of a
        streamed chain that is not a LangGraph graph; and models and tools called outside a run. It cannot know who
        wrote the input of a root run: do not give it to a run that you start, in its own thread, with text of a model.
        """
        return UserURLs(self.provenance, self.conversation)

    def allow_text(self, text: str, config: RunnableConfig | None = None) -> None:
        """
        Allow the URLs in *text*, which the user wrote, to be opened.

        Args:
            text: What the user wrote, such as a field of your graph's state.
            config: The config of the run, which determines the conversation; None for that of the current run.

        """
        self.provenance.allow_text(text, conversation_of(ensure_config(config), self.conversation))
