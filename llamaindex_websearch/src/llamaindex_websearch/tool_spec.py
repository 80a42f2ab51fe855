"""Search and reading as tools for LlamaIndex agents."""

# No `from __future__ import annotations` here: LlamaIndex makes schemas from the annotations, not from strings.

import inspect
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, Literal, ParamSpec, TypeVar, Unpack, get_args

from llama_index.core.llms import ChatMessage
from llama_index.core.schema import Document
from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.core.tools.tool_spec.base import SPEC_FUNCTION_TYPE, BaseToolSpec
from llama_index.core.workflow import Context
from pydantic import ValidationError

from websearch_core import Page, SearchResponse, WebSearch, WebSearchError, tools
from websearch_core._runtime.bugs import as_error
from websearch_core._text.suggestion import suggest_name
from websearch_core.client import CommonArguments
from websearch_core.client._arguments import check_number
from websearch_core.errors import ConfigurationError, InvalidOption, UnsafeURL
from websearch_core.layers import charge_to
from websearch_core.models import SearchOptions, describe_problems
from websearch_core.provenance import Ledger, Provenance
from websearch_core.render import Format, render_error
from websearch_core.tools._outputs import page_output, search_output

from .conversations import (
    Configured,
    acurrent_conversation,
    anumber_sources,
    conversation_of,
    current_conversation,
    current_run,
    number_sources,
    plain,
    text_of,
)
from .documents import ToolDocuments, page_document, result_document
from .events import report

P = ParamSpec("P")
R = TypeVar("R")

Since = Literal["all", "day", "week", "month", "year"]
_DESCRIPTIONS = {"web_search": tools.SEARCH, "open_page": tools.READ}


class ToolError(Exception):
    """
    Raised by the tools; LlamaIndex passes its text to the model as the failed result of a call.

    The text begins with a stable code, ``ERROR [rate_limited] ...``, and never contains a key.

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


def _validated(tool: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """
    Validate and convert the arguments of a method (LlamaIndex does neither), and raise its errors as `ToolError`.

    What a model is not shown is passed as keyword arguments that the signature does not have.
    """

    def decorate(method: Any) -> Any:
        signature = inspect.signature(method)
        shown = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]

        def bind(self: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
            given = {**signature.bind_partial(self, *args).arguments, **kwargs}
            del given["self"]
            return given

        def validate(self: Any, given: dict[str, Any]) -> dict[str, Any]:
            arguments = self.arguments[tool]
            try:
                return dict(arguments.model_validate(given))
            except ValidationError as error:
                names = ", ".join(name for name in arguments.model_fields if name not in arguments.hidden)
                raise InvalidOption(f"{describe_problems(error)}; the arguments are {names}") from error

        @wraps(method)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            given = bind(self, *args, **kwargs)
            with _as_tool_error(tool, self.output_format), charge_to(run=current_run()):
                return method(self, **validate(self, given))

        @wraps(method)
        async def acall(self: Any, *args: Any, **kwargs: Any) -> Any:
            given = bind(self, *args, **kwargs)
            with _as_tool_error(tool, self.output_format), charge_to(run=current_run()):
                return await method(self, **validate(self, given))

        made: Any = acall if inspect.iscoroutinefunction(method) else call
        made.__signature__ = signature.replace(parameters=shown)
        return made

    return decorate


@contextmanager
def _as_tool_error(tool: str, output_format: str) -> Iterator[None]:
    """Raise every error as `ToolError`; a bug in a provider too, or it would end the agent's run."""
    try:
        with report():
            yield
    except WebSearchError as error:
        raise ToolError(error, output_format) from error
    except Exception as bug:  # noqa: BLE001 - logged, and raised as an error that names it
        failure = as_error(bug, tool)
        raise ToolError(failure, output_format) from failure


@dataclass(frozen=True)
class _Run:
    """The `WebSearch`, the options and the conversation of the run that a tool is called in."""

    web: WebSearch
    options: Mapping[str, Any]
    conversation: str | None


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
        search_options: Fields of `SearchQuery` for every search, such as ``{"topic": "news", "limit": 3}``. A model is
            not shown them and cannot change them, except that it can ask for fewer results than ``limit``, for some of
            the ``allowed_domains``, and for more ``blocked_domains``. An option that the provider does not support is
            noted; with ``"unsupported": "raise"`` it is an error.
        max_length: Maximum characters of a page, unless the model asks for another number.
        max_uses: Maximum number of calls of both tools together in one run of an agent or workflow; outside of any, of
            this spec. Then each call is an error that tells the model to finish.
        configurable: The options that `configure` may set for the conversation of a `Context`: ``api_key``,
            ``provider``, ``reader``, ``timeout``, ``allowed_domains``, ``blocked_domains``, ``search_options``,
            ``read_options``, ``max_length``, ``read_top``; or a mapping, of ``provider`` and ``reader`` to those that
            may be chosen.
        arguments: The arguments of `WebSearch`, instead of *web*.

    Raises:
        InvalidOption: One of the search options is unknown or wrong.
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
        search_options: SearchOptions | None = None,
        max_length: int | None = None,
        max_uses: int | None = None,
        configurable: tools.Configurable = (),
        **arguments: Unpack[CommonArguments],
    ) -> None:
        if output_format not in get_args(Format):
            raise ConfigurationError(f"output_format: {output_format!r} is not one of {', '.join(get_args(Format))}")
        check_number("read_top", read_top, 0)
        check_number("passage_length", passage_length, 1)
        if max_length is not None:
            check_number("max_length", max_length, 1)
        self.tenants: tools.Tenants = tools.Tenants(web, arguments, configurable)
        self.web: WebSearch = self.tenants.web
        usual: Any = self.web.settings.search_options
        options = {**usual, **(search_options or {})} if isinstance(search_options, Mapping | None) else search_options
        self.search_options: tools.Pinned = tools.Pinned.of(options, self.web.settings.domains)
        self.web.check_options(self.search_options.options)
        self.arguments: dict[str, type[tools.Arguments]] = {
            "web_search": self.search_options.arguments(),
            "open_page": tools.PageArguments,
        }
        self.max_length: int | None = max_length
        self.uses: tools.Uses = tools.Uses(max_uses)
        self.configured: Configured = Configured()
        self.read_top: int = read_top
        self.passage_length: int = passage_length
        self.output_format: Format = output_format
        self.ledger: Ledger = provenance if isinstance(provenance, Ledger) else Ledger(provenance)

    @_validated("web_search")
    def web_search(
        self,
        query: str,
        limit: int = 5,
        allowed_domains: Sequence[str] = (),
        time_range: Since = "all",
        **unseen: Any,
    ) -> ToolDocuments:
        """
        Search the web.

        Args:
            query: What to search for.
            limit: Maximum number of results, 1 to 20; that of ``search_options`` by default, if it is set.
            allowed_domains: Only results from these domains and their subdomains; empty means anywhere.
            time_range: Only results of the last day, week, month or year.
            unseen: What a model is not shown and may send all the same, such as ``blocked_domains``.

        Returns:
            A document for each result: the snippet, or with ``read_top`` the passages of the page that answer the
            query. Its metadata has ``url``, ``title`` and everything else known. As a string, they are the text for a
            model.

        Raises:
            ToolError: An argument is invalid, or the service failed.

        """
        run = self._begin(current_conversation(marked=True) if self._needs_conversation else None)
        sent = {"limit": limit, "allowed_domains": allowed_domains, "time_range": time_range, **unseen}
        call = self._call(run, sent)
        response = call.finish(run.web.search(query, **call.options))
        self.ledger.allow_results(response, run.conversation)
        numbered = number_sources(self.ledger, partial(self.ledger.number_results, response))
        return self._show_results(numbered, run.web, call)

    @_validated("web_search")
    async def aweb_search(
        self,
        query: str,
        limit: int = 5,
        allowed_domains: Sequence[str] = (),
        time_range: Since = "all",
        **unseen: Any,
    ) -> ToolDocuments:
        """Async version of `web_search`."""
        run = self._begin(await acurrent_conversation(marked=True) if self._needs_conversation else None)
        sent = {"limit": limit, "allowed_domains": allowed_domains, "time_range": time_range, **unseen}
        call = self._call(run, sent)
        response = call.finish(await run.web.asearch(query, **call.options))
        self.ledger.allow_results(response, run.conversation)
        numbered = await anumber_sources(self.ledger, partial(self.ledger.number_results, response))
        return self._show_results(numbered, run.web, call)

    @_validated("open_page")
    def open_page(
        self, url: str, max_length: int = 0, offset: int = 0, query: str = "", find: str = ""
    ) -> ToolDocuments:
        """
        Read a page, or a part of it.

        Args:
            url: Absolute http(s) URL.
            max_length: Maximum number of characters to return; 0 for the configured number.
            offset: Where to start, in characters.
            query: Return the passages that answer this, instead of the text from the offset.
            find: Return the places around this phrase, instead of the text from the offset.

        Returns:
            One document: the text as Markdown, with ``url``, ``title`` and everything else known as metadata. As a
            string, it is the text for a model.

        Raises:
            ToolError: The URL may not be opened, or the page cannot be read.

        """
        run = self._begin(current_conversation(marked=True) if self._needs_conversation else None)
        url = number_sources(self.ledger, partial(self._check, url))
        page = run.web.read(url, **self._part(run, max_length, offset, query, find))
        self.ledger.allow_links(page, run.conversation)
        return self._show_page(number_sources(self.ledger, partial(self.ledger.number_page, page)))

    @_validated("open_page")
    async def aopen_page(
        self, url: str, max_length: int = 0, offset: int = 0, query: str = "", find: str = ""
    ) -> ToolDocuments:
        """Async version of `open_page`."""
        run = self._begin(await acurrent_conversation(marked=True) if self._needs_conversation else None)
        url = await anumber_sources(self.ledger, partial(self._check, url))
        page = await run.web.aread(url, **self._part(run, max_length, offset, query, find))
        self.ledger.allow_links(page, run.conversation)
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

    async def configure(self, ctx: Context, **options: Any) -> None:
        """
        Set options for the conversation of *ctx*, such as the key of a tenant.

        ::

            spec = WebSearchToolSpec(provider="tavily", configurable=["api_key", "search_options"])
            ctx = Context(agent)
            await spec.configure(ctx, api_key=tenant.key, search_options={"country": "GB"})
            await agent.run(question, ctx=ctx)

        They are kept in this spec, in memory, and never in the context, whose saved form would contain the key. Call it
        again for a context that was restored in another process: until then, its tools fail.

        Args:
            ctx: The context with which the agent or workflow is run next.
            options: The options, of those in ``configurable``. They replace all that were set before.

        Raises:
            ConfigurationError: An option is not configurable, or its value is wrong; the message shows no key. Or the
                state of the workflow has its own type, without a field for the name of the conversation.

        """
        if unknown := sorted(set(options) - set(self.tenants.places)):
            hint = suggest_name(unknown[0], self.tenants.places)
            raise ConfigurationError(f"configure: {unknown[0]}: not in `configurable` of this spec{hint}")
        web = self.tenants.find(options)
        self.search_options.of_run(web.settings.domains, options.get("search_options"))
        self.configured.set(await conversation_of(ctx, configured=True), options)

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
            prefix + name: ToolMetadata(name=name, description=description, fn_schema=self.arguments[name])
            for name, description in _DESCRIPTIONS.items()
            for prefix in ("", "a")
        }
        return super().to_tool_list(spec_functions, {**metadata, **(func_to_metadata_mapping or {})})

    def _begin(self, conversation: str | None) -> _Run:
        """Count this call, and return the `WebSearch` and the options of its run."""
        self.uses.count(current_run() or conversation)
        options = self.configured.get(conversation)
        return _Run(self.tenants.find(options), options, plain(conversation))

    def _call(self, run: _Run, sent: dict[str, Any]) -> tools.SearchCall:
        """Combine what the model *sent* with the developer's options, and with those of the conversation."""
        if sent["limit"] == self.search_options.usual:  # the default, for all that we can see here
            sent["limit"] = None
        pinned = self.search_options.of_run(run.web.settings.domains, run.options.get("search_options"))
        top = run.options.get("read_top", self.read_top)
        return pinned.call(**sent, read_top=top, passage_length=self.passage_length)

    def _part(self, run: _Run, max_length: int, offset: int, query: str, find: str) -> Any:
        default = run.options.get("max_length", self.max_length)
        return tools.page_options(run.web, max_length, offset, query, find, default=default)

    @property
    def _is_strict(self) -> bool:
        return self.ledger.mode != "any"

    @property
    def _needs_conversation(self) -> bool:
        return self._is_strict or bool(self.tenants.places) or (self.uses.most is not None and current_run() is None)

    def _check(self, url: str, conversation: Hashable, known: Iterable[Mapping[str, Any]]) -> str:
        """Return the URL to open; what was found or allowed outside workflows may be opened in all of them."""
        try:
            return self.ledger.check(url, conversation, known)
        except UnsafeURL:
            return self.ledger.check(url)

    def _show_results(self, response: SearchResponse, web: WebSearch, call: tools.SearchCall) -> ToolDocuments:
        most = call.options.get("max_snippet_chars")
        output = search_output(web, response, self.output_format, max_snippet_chars=most)
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
