"""Search and reading as tools for LlamaIndex agents."""

# No `from __future__ import annotations` here: LlamaIndex makes schemas from the
# annotations, not from strings.

import inspect
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    ParamSpec,
    TypeVar,
    Unpack,
    cast,
    get_args,
)

from llama_index.core.llms import ChatMessage
from llama_index.core.tools import ToolMetadata
from llama_index.core.tools.tool_spec.base import SPEC_FUNCTION_TYPE, BaseToolSpec
from llama_index.core.workflow import Context
from pydantic import BaseModel

from websearch_core import WebSearch, WebSearchError
from websearch_core.client import CommonArguments
from websearch_core.errors import ConfigurationError
from websearch_core.models import SearchOptions
from websearch_core.provenance import Ledger, Provenance
from websearch_core.render import Format, render_error
from websearch_core.tools import (
    DESCRIPTIONS,
    Configurable,
    Output,
    PageArguments,
    Run,
    SearchDefaults,
    SiteArguments,
    WebTools,
    as_error,
    make_web,
    show_arguments,
    split_arguments,
)

from .conversations import Conversations, find_conversation, join_texts, store_urls
from .documents import ToolDocuments
from .events import report

if TYPE_CHECKING:  # it would import the parsers of pages
    from websearch_core.reading import ReadOptions

# The methods of other tool specs, and what to write instead.
_SEARCH = (
    "documents = spec.web_search(query, limit=5); [(one.metadata['url'], one.text) for "
    "one in documents]"
)
_READ = "documents = spec.open_page(url); documents[0].text"
_SEARCHES = """
    search asearch brave_search duckduckgo_full_search duckduckgo_instant_search
    google_search bing_web_search serper_search searxng_search jina_search search_web
    retrieve_documents search_and_retrieve_documents search_and_retrieve_highlights
    arxiv_query bing_news_search search_data search_engine run
"""
_READS = """
    extract read aread scrape scrape_as_markdown fetch get_contents read_page load_data
"""
_ELSEWHERE = {
    **dict.fromkeys(_SEARCHES.split(), _SEARCH),
    **dict.fromkeys(_READS.split(), _READ),
}
# The arguments besides those of `WebSearch`.
_OWN = {*WebTools.own_arguments, "site_tools"} - {"full_artifact"}
P = ParamSpec("P")
R = TypeVar("R")
TimeRange = Literal["all", "day", "week", "month", "year"]


class ToolError(Exception):
    """Raised by the tools; LlamaIndex passes its text to the model as the failed result
    of a call.

    The text begins with a stable code, ``ERROR [rate_limited] ...``, and never contains
    a key.

    Args:
        error: The error that programs get from the library.
        output_format: ``json`` for a text that is JSON, with ``status`` and ``error``.
    """

    def __init__(self, error: WebSearchError, output_format: str = "text") -> None:
        super().__init__(render_error(error, output_format))
        self.error = error
        self.output_format = output_format

    def __reduce__(self) -> tuple[type["ToolError"], tuple[WebSearchError, str]]:
        return type(self), (self.error, self.output_format)


def _leave_checks_to_tools(method: Callable[P, R]) -> Callable[P, R]:
    """Let a call leave out any argument and add others: `WebTools` says what is wrong,
    in words for a model.

    LlamaIndex does not validate arguments. Those that a model is not shown are keyword
    arguments that are missing in the signature for LlamaIndex. One that the model
    leaves out is None, which means the default of the spec.
    """
    signature = inspect.signature(method)
    parameters = [
        parameter
        for parameter in signature.parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    run: Any = method

    def bind(args: Any, kwargs: Any) -> dict[str, Any]:
        defaults = dict.fromkeys(parameter.name for parameter in parameters)
        return {**defaults, **signature.bind_partial(*args).arguments, **kwargs}

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        return run(**bind(args, kwargs))

    @wraps(method)
    async def acall(*args: Any, **kwargs: Any) -> Any:
        return await run(**bind(args, kwargs))

    wrapper: Any = acall if inspect.iscoroutinefunction(method) else call
    wrapper.__signature__ = signature.replace(parameters=parameters)
    return cast("Callable[P, R]", wrapper)


class WebSearchToolSpec(BaseToolSpec):
    """The tools ``web_search`` and ``open_page``.

    ::

        spec = WebSearchToolSpec(provider="brave")
        agent = FunctionAgent(tools=spec.to_tool_list(), llm=llm)

    The tools show the model a text with numbered sources, each with its title and URL,
    fenced off as data from the web; ``ToolOutput.raw_output`` has the documents. An
    error is raised as `ToolError`, which an agent treats as a failed call, and then
    continues. Options that a provider does not support are ignored and noted in the
    text. Its arguments are those of `WebSearch`, and these:

    Args:
        web: The `WebSearch` to search and read with.
        limit: The number of results of a search, and the maximum that a model can ask
            for; by default the ``limit`` in ``search_options`` of the `WebSearch`, else
            5 and 20.
        search_options: The options of every search, such as ``{"topic": "news",
            "read_top": 3}``, as `websearch_core.tools.SearchDefaults` explains. Models
            neither see nor change them; they can only choose from the
            ``allowed_domains`` and add ``blocked_domains``. An option that the provider
            does not support is an error at once; with ``"unsupported": "note"``,
            searches leave it out and say so.
        read_options: The options of every page, such as ``{"max_length": 8_000}``, as
            `websearch_core.reading.ReadOptions` explains; a model can ask for another
            length.
        output_format: The format of the text: ``text``, ``markdown`` or ``json``.
        provenance: Which URLs may be opened: ``any``; ``seen``, those that a search of
            the same conversation returned or that `allow_text` allowed; or
            ``seen+links``. In a workflow, each `Context` is a conversation: give every
            turn the same one. A sub-agent has its own context. Results of searches
            outside workflows, and URLs allowed by ``spec.ledger.allow_text(text)``, may
            be opened in all conversations of this spec.
        max_uses: Maximum number of calls in one run of an agent or workflow, of both
            tools together; outside of any run, of this spec. Later calls fail with an
            error that tells the model to finish.
        configurable: The options that `configure` may set for the conversation of a
            `Context`: ``api_key``, ``credentials``, ``provider``, ``reader``,
            ``timeout``, ``allowed_domains``, ``blocked_domains``, ``search_options``,
            ``read_options``; or a mapping, of ``provider`` and ``reader`` to those that
            a conversation may choose from.
        require: The options of ``configurable`` that `configure` must have set. In
            another conversation, or outside of any, calls fail and never use your key
            or policy instead.
        multi_query: Take up to five queries in one search, as ``queries`` instead of
            ``query``, for models that plan them. Their results are numbered together.
            If one fails, its error takes the place of its results. Each counts for
            ``max_uses``.
        site_tools: Also return ``list_pages`` from `to_tool_list`.
        arguments: The arguments of `WebSearch`, instead of *web*.

    Raises:
        InvalidOption: One of the options is unknown or wrong.
        ConfigurationError: An argument is invalid, or *web* is combined with arguments
            of `WebSearch`.
    """

    spec_functions: list[SPEC_FUNCTION_TYPE] = [  # noqa: RUF012
        ("web_search", "aweb_search"),
        ("open_page", "aopen_page"),
    ]

    @show_arguments(make_web)
    def __init__(  # noqa: PLR0913 - a keyword for each option
        self,
        *,
        web: WebSearch | None = None,
        limit: int | None = None,
        search_options: SearchOptions | SearchDefaults | None = None,
        read_options: "ReadOptions | None" = None,
        output_format: Format = "text",
        provenance: Provenance | Ledger = "any",
        max_uses: int | None = None,
        configurable: Configurable = (),
        require: Sequence[str] = (),
        multi_query: bool = False,
        site_tools: bool = False,
        **arguments: Unpack[CommonArguments],
    ) -> None:
        if output_format not in get_args(Format):
            raise ConfigurationError(
                f"output_format: {output_format!r} is not one of "
                f"{', '.join(get_args(Format))}"
            )
        if "tenant_id" in require:
            raise ConfigurationError("require: tenant_id: a Context has no tenant")
        split_arguments(arguments, _OWN)  # which raises for one that is unknown
        self._tools = WebTools(
            web,
            limit=limit,
            search_options=search_options,
            read_options=read_options,
            output_format=output_format,
            provenance=provenance,
            max_uses=max_uses,
            configurable=configurable,
            require=require,
            multi_query=multi_query,
            **arguments,
        )
        if site_tools:
            self.spec_functions = [*self.spec_functions, ("list_pages", "alist_pages")]
        self.conversations: Conversations = Conversations(self._tools)
        self.web: WebSearch = self._tools.web
        self.ledger: Ledger = self._tools.provenance

    # hidden from type checkers: with it, they would accept any name
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            line = f": write {_ELSEWHERE[name]}" if name in _ELSEWHERE else ""
            raise AttributeError(
                f"{type(self).__name__!r} has no attribute {name!r}{line}"
            )

    @_leave_checks_to_tools
    def web_search(  # noqa: D417 - a model reads this, which is not shown the rest
        self,
        query: str,
        limit: int = 5,
        allowed_domains: Sequence[str] = (),
        time_range: TimeRange = "all",
        **unseen: Any,
    ) -> ToolDocuments:
        """Search the web.

        Args:
            query: What to search for.
            limit: Maximum number of results, 1 to 20; usually 5.
            allowed_domains: Only results from these domains and their subdomains; empty
                means anywhere.
            time_range: Only results of the last day, week, month or year.

        Returns:
            A document for each result: the snippet, or the passages of the page that
            answer the query. Its metadata has ``url``, ``title`` and everything else
            known. As a string, the documents are the text for a model.

        Raises:
            ToolError: An argument is invalid, or the service failed.
        """
        sent = {
            "query": query,
            "limit": limit,
            "allowed_domains": allowed_domains,
            "time_range": time_range,
            **unseen,
        }
        return self._call("web_search", self._tools.search, sent)

    @_leave_checks_to_tools
    async def aweb_search(
        self,
        query: str,
        limit: int = 5,
        allowed_domains: Sequence[str] = (),
        time_range: TimeRange = "all",
        **unseen: Any,
    ) -> ToolDocuments:
        """Async version of `web_search`."""
        sent = {
            "query": query,
            "limit": limit,
            "allowed_domains": allowed_domains,
            "time_range": time_range,
            **unseen,
        }
        return await self._acall("web_search", self._tools.asearch, sent)

    @_leave_checks_to_tools
    def open_page(  # noqa: D417 - a model reads this, which is not shown the rest
        self,
        url: str,
        max_length: int = 0,
        offset: int = 0,
        query: str = "",
        find: str = "",
        *,
        outline: bool = False,
        **unseen: Any,
    ) -> ToolDocuments:
        """Read a page, or a part of it.

        Args:
            url: Absolute http(s) URL, or the number of a source, such as ``[3]``.
            max_length: Maximum number of characters to return; 0 for the default.
            offset: Where to start, in characters.
            query: Return the passages that answer this, instead of the text from the
                offset.
            find: Return the text around each occurrence of this phrase, instead of the
                text from the offset.
            outline: Return the headings of the page, with sizes and offsets, instead.

        Returns:
            One document: the text as Markdown, with ``url``, ``title`` and everything
            else known as metadata. As a string, it is the text for a model.

        Raises:
            ToolError: The URL may not be opened, or the page cannot be read.
        """
        sent = {
            "url": url,
            "max_length": max_length,
            "offset": offset,
            "query": query,
            "find": find,
            "outline": outline,
            **unseen,
        }
        return self._call("open_page", self._tools.open_page, sent)

    @_leave_checks_to_tools
    async def aopen_page(
        self,
        url: str,
        max_length: int = 0,
        offset: int = 0,
        query: str = "",
        find: str = "",
        *,
        outline: bool = False,
        **unseen: Any,
    ) -> ToolDocuments:
        """Async version of `open_page`."""
        sent = {
            "url": url,
            "max_length": max_length,
            "offset": offset,
            "query": query,
            "find": find,
            "outline": outline,
            **unseen,
        }
        return await self._acall("open_page", self._tools.aopen_page, sent)

    @_leave_checks_to_tools
    def list_pages(  # noqa: D417 - a model reads this, which is not shown the rest
        self, url: str, contains: str = "", limit: int = 50, **unseen: Any
    ) -> ToolDocuments:
        """List the pages of a site, or of a folder of it.

        Args:
            url: Where to start: the URL of the site or folder, or the number of a
                source, such as ``[3]``.
            contains: Only pages with these words in their URL.
            limit: Maximum number of pages, 1 to 200; usually 50.

        Returns:
            A document for each page, with ``url`` as metadata and no text. As a string,
            the documents are the text for a model.

        Raises:
            ToolError: The URL may not be opened, or the site cannot be read.
        """
        sent = {"url": url, "contains": contains, "limit": limit, **unseen}
        return self._call("list_pages", self._tools.list_pages, sent)

    @_leave_checks_to_tools
    async def alist_pages(
        self, url: str, contains: str = "", limit: int = 50, **unseen: Any
    ) -> ToolDocuments:
        """Async version of `list_pages`."""
        sent = {"url": url, "contains": contains, "limit": limit, **unseen}
        return await self._acall("list_pages", self._tools.alist_pages, sent)

    async def allow_text(self, user_msg: str | ChatMessage, ctx: Context) -> None:
        """Allow the URLs in *user_msg*, which the user wrote, to be opened in the
        conversation of *ctx*.

        ::

            ctx = Context(agent)
            await spec.allow_text(question, ctx)
            await agent.run(question, ctx=ctx)

        Args:
            user_msg: What the user wrote, including text that the user pasted into it.
                Never pass text that a model wrote, such as the task of a sub-agent.
            ctx: The context with which the agent or workflow is run next.

        Raises:
            ConfigurationError: The state of the workflow has its own type, without a
                field for the name of the conversation; the message says which field to
                add.
        """
        if self.ledger.mode != "any":
            conversation = await find_conversation(ctx)
            await store_urls(
                ctx, self.ledger.allow_text(join_texts(user_msg), conversation)
            )

    async def configure(self, ctx: Context, **options: Any) -> None:
        """Set options for the conversation of *ctx*, such as the key of a tenant.

        ::

            spec = WebSearchToolSpec(
                provider="tavily", configurable=["api_key", "search_options"]
            )
            ctx = Context(agent)
            options = {"country": "GB"}
            await spec.configure(ctx, api_key=tenant.key, search_options=options)
            await agent.run(question, ctx=ctx)

        They are kept in this spec, in memory, and never in the context, whose saved
        form would contain the key. Call it again for a context that was restored in
        another process: until then, its tools fail.

        Args:
            ctx: The context with which the agent or workflow is run next.
            options: The options, of those in ``configurable``. They replace all that
                were set before.

        Raises:
            ConfigurationError: An option is not configurable, or its value is wrong;
                the message shows no key. Or the state of the workflow has its own type,
                without a field for the name of the conversation.
        """
        self._tools.check_run_options(options)
        self.conversations.options.set(
            await find_conversation(ctx, configured=True), options
        )

    def to_tool_list(
        self,
        spec_functions: list[SPEC_FUNCTION_TYPE] | None = None,
        func_to_metadata_mapping: dict[str, ToolMetadata] | None = None,
    ) -> list[Any]:
        """Return the tools.

        Each is a `FunctionTool`; type checkers would not take a list of these for the
        ``tools`` of an agent.

        Args:
            spec_functions: The tools to return, such as ``["web_search"]``; None for
                all.
            func_to_metadata_mapping: Other names, descriptions or schemas for them.
        """
        schemas: dict[str, type[BaseModel]] = {
            "web_search": self._tools.search_arguments(),
            "open_page": PageArguments,
            "list_pages": SiteArguments,
        }
        metadata: dict[str, ToolMetadata] = {}
        for name, description in DESCRIPTIONS.items():
            entry = ToolMetadata(
                name=name, description=description, fn_schema=schemas[name]
            )
            metadata[name] = entry
            metadata[f"a{name}"] = entry  # of the async method
        metadata.update(func_to_metadata_mapping or {})
        return super().to_tool_list(spec_functions, metadata)

    def _call(
        self,
        tool: str,
        call: Callable[[dict[str, Any], Run], Output],
        sent: dict[str, Any],
    ) -> ToolDocuments:
        with self._as_tool_error(tool), self.conversations.enter() as run:
            return ToolDocuments.of(call(sent, run))

    async def _acall(
        self,
        tool: str,
        call: Callable[[dict[str, Any], Run], Awaitable[Output]],
        sent: dict[str, Any],
    ) -> ToolDocuments:
        with self._as_tool_error(tool):
            async with self.conversations.aenter() as run:
                return ToolDocuments.of(await call(sent, run))

    @contextmanager
    def _as_tool_error(self, tool: str) -> Iterator[None]:
        """Raise every error as `ToolError`; a bug in a provider too, or it would end
        the agent's run.
        """
        try:
            with report():
                yield
        except Exception as error:  # noqa: BLE001 - a bug is logged, and raised as an error that names it
            failure = as_error(error, tool)
            raise ToolError(failure, self._tools.output_format) from failure
