"""The tools, before a framework gets them: from the arguments of a model to what
the model is shown.
"""

from __future__ import annotations
import threading
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import count
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    NamedTuple,
    TypeAlias,
    TypeVar,
    Unpack,
    cast,
    get_args,
)

from .._runtime.bugs import as_error as report_bug
from .._runtime.deadline import time_limit
from .._runtime.scope import ByRun, Patience, WantedContent, find_account, scope
from .._runtime.threads import in_thread
from .._text.urls import describe_url
from .._text.vocabulary import Format
from ..client import CommonArguments, WebSearch
from ..client._arguments import CALL_OPTIONS, check_number, choose_limits, merge_options
from ..errors import (
    BudgetExceeded,
    ConfigurationError,
    InvalidOption,
    UnsafeURL,
    WebSearchError,
)
from ..layers._layer import options_of
from ..models import Page, SearchOptions, SearchResponse
from ..provenance import Ledger, Provenance
from ..provenance._memory import Memory, Recall
from ..tokens import estimate_tokens
from ._arguments import Arguments, PageArguments, SearchArguments, SiteArguments
from ._constructors import make_web, show_arguments
from ._fixed import FixedOptions, SearchCall, SearchDefaults, check_search_options
from ._outputs import Output, OutputFormat, join_outputs, page_output, search_output
from ._sources import collect_texts, current_record
from ._tenants import OWN_ARGUMENTS, Configurable, Tenants

if TYPE_CHECKING:
    from ..reading import ReadOptions

_A = TypeVar("_A", bound=Arguments)
_Answers: TypeAlias = list[SearchResponse | WebSearchError]
# seconds for the list of a site; what is known by then is shown
_LISTING_TIME = 60.0
# seconds; a model that waits longer for a service could have answered, or asked another
_PATIENCE = 5.0


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a framework knows about the run that a tool is called in.

    Args:
        name: What identifies the run, for ``max_uses`` and for the budget of a run: a
            name, or a hashable object that lives as long as the run.
        conversation: What identifies the conversation, for the numbers of its sources
            and for ``provenance``.
        tenant: Whose budget is charged.
        options: The options that the run sets, by their names: those of
            ``configurable``.
        sources: The sources that the conversation has numbers for already, as stored by
            the program.
        numbers: The numbers that the messages of the conversation show, as
            `find_numbers` finds them. Those that no source has are not given again.
        shares: Whether what was found outside of any conversation may be opened in this
            one, too.
        forgets: Why what the conversation found may be unknown here, for the refusal of
            a URL: a part of a sentence.
    """

    name: Hashable = None
    conversation: Hashable = None
    tenant: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    sources: Sequence[Mapping[str, Any]] = ()
    numbers: Collection[int] = ()
    shares: bool = False
    forgets: str = ""


_NO_RUN = Run()


class Uses:
    """Counts the calls of each run, of one tool or of several together.

    *max_uses* is the maximum number of calls; None allows any number.
    """

    def __init__(self, max_uses: int | None = None) -> None:
        if max_uses is not None:
            check_number("max_uses", max_uses, 1)
        self.max_uses = max_uses
        self._lock = threading.Lock()
        self._counts: ByRun[Iterator[int]] = ByRun(count)

    def __reduce__(self) -> tuple[Any, ...]:
        return Uses, (self.max_uses,)

    def count(self, run: Hashable) -> None:
        """Count a call of *run*; one that fails later counts, too. If it has no more,
        `BudgetExceeded` says so.

        The run is its name, or an object that lives as long as the run, and is not kept
        if it need not be.
        """
        if self.max_uses is None:
            return
        with self._lock:
            used = next(self._counts.find(run))
        if used >= self.max_uses:
            calls = f"all {self.max_uses} calls"
            if self.max_uses == 1:
                calls = "the one call"
            raise BudgetExceeded(
                f"{calls} of the web tools that this run may make are used up; do not "
                f"call them again, and answer with "
                "what you have found so far"
            )


class _Setup(NamedTuple):
    """What holds for the calls of a run."""

    web: WebSearch
    fixed: FixedOptions
    read: Mapping[str, Any]  # the options of a page, those of *web* included
    content: WantedContent


# what a model may ask for, if a provider supports it
_FILTERS = frozenset({"allowed_domains", "time_range"})


class WebTools:
    """The tools ``web_search``, ``open_page`` and ``list_pages``, for any framework.

    ::

        tools = WebTools(provider="brave", limit=5)
        output = tools.search({"query": "rotate a key"}, Run(conversation="1"))
        output.content    # for the model
        output.artifact   # for the program

    Args:
        web: The `WebSearch` to search and read with; or pass its arguments instead.
        limit: The number of results of a search, and the maximum that a model can ask
            for; by default the ``limit`` in ``search_options`` of the `WebSearch`, else
            5 and 20.
        search_options: The options of every search, such as ``{"topic": "news",
            "read_top": 3}``. A model is not shown them and cannot change them, except
            that it can ask for some of the ``allowed_domains``, and for more
            ``blocked_domains``.
        read_options: The options of every page, such as ``{"max_length": 8_000}``; a
            model can ask for another length.
        output_format: The format for the model: ``text``, ``markdown``, ``json``, or
            ``search_result``, content blocks for models of Anthropic, which cite them
            by themselves.
        full_artifact: Keep everything in the artifact: snippets, the text of a page and
            its links.
        multi_query: Take up to five queries in one search, as ``queries`` instead of
            ``query``. Their results are numbered together, and what fails for one is
            said in its place.
        max_uses: Maximum number of calls of all tools together in one run; each query
            of a search counts.
        configurable: The options that a run may set: their names, or a mapping from
            each to the key that it has there, or of ``provider`` and ``reader`` to
            those that a run may choose among.
        require: Those of ``configurable`` that each run must set, and ``tenant_id`` if
            each must have a tenant. A call of a run that does not is an error, and
            never uses your key or policy instead.
        provenance: Which URLs may be opened: ``any``, ``seen`` or ``seen+links``, or a
            `Ledger` to share.
        arguments: The arguments of `WebSearch`, instead of *web*.

    Raises:
        InvalidOption: One of the options is unknown or wrong.
        UnsupportedOption: The provider does not support one, and ``unsupported`` is not
            ``note``.
        ConfigurationError: An argument is invalid, or *web* was given together with its
            arguments.
    """

    # besides those of a `WebSearch`
    own_arguments: ClassVar[tuple[str, ...]] = OWN_ARGUMENTS

    @show_arguments(make_web)
    def __init__(
        self,
        web: WebSearch | None = None,
        *,
        limit: int | None = None,
        search_options: SearchOptions | SearchDefaults | None = None,
        read_options: ReadOptions | None = None,
        output_format: OutputFormat = "text",
        full_artifact: bool = False,
        multi_query: bool = False,
        max_uses: int | None = None,
        configurable: Configurable = (),
        require: Sequence[str] = (),
        provenance: Provenance | Ledger = "any",
        **arguments: Unpack[CommonArguments],
    ) -> None:
        formats = (*get_args(Format), "search_result")
        if output_format not in formats:
            raise ConfigurationError(
                f"output_format: {output_format!r} is not one of {', '.join(formats)}"
            )
        if limit is not None:
            check_number("limit", limit, 1, InvalidOption)
        self.configurable: Configurable = configurable
        self.require: Sequence[str] = require
        self.limit: int | None = limit
        self.search_options: Mapping[str, Any] = check_search_options(
            search_options, limit="limit"
        )
        self.output_format: OutputFormat = output_format
        self.full_artifact: bool = full_artifact
        self.multi_query: bool = multi_query
        self.max_uses: int | None = max_uses
        if not isinstance(provenance, Ledger):
            provenance = Ledger(provenance)
        self.provenance: Ledger = provenance
        self._memory = Memory()
        self._uses = Uses(max_uses)
        self._tenants = Tenants(web, configurable, require, **arguments)
        self.web: WebSearch = self._tenants.web
        settings = self.web.settings
        defaults = FixedOptions(settings.search_options, domains=settings.domains)
        search = merge_options({"limit": limit}, self.search_options)
        self._fixed = FixedOptions.of(search, read_options, defaults=defaults)
        self._fixed.check_support(self.web)
        self.read_options: Mapping[str, Any] = self._fixed.read
        self._setup = self._prepare(self.web, {})
        self._schemas: dict[type[SearchArguments], type[SearchArguments]] = {}

    def search_arguments(
        self, base: type[SearchArguments] = SearchArguments
    ) -> type[SearchArguments]:
        """Return the arguments of ``web_search``, or the more special *base*, without
        what is fixed, and without what no provider supports.
        """
        schema = self._schemas.get(base)
        if schema is None:
            without_effect = _FILTERS - options_of(self.web.provider)
            if "provider" in self.configurable:  # that of a run may support them
                without_effect = frozenset()
            schema = self._fixed.arguments(
                base, multi_query=self.multi_query, without_effect=without_effect
            )
            self._schemas[base] = schema
        return schema

    def search(
        self, arguments: SearchArguments | Mapping[str, Any], run: Run = _NO_RUN
    ) -> Output:
        """Search the web for a model.

        Args:
            arguments: What the model sent, validated or not.
            run: The run that it belongs to.

        Raises:
            WebSearchError: An argument is wrong, the run has no more calls, or the
                service failed. `as_error` and `websearch_core.render.render_error` make
                a text for the model from it.
        """
        request = _parse(self.search_arguments(), arguments)
        setup = self._admit(run)
        with self._scope(run, setup):
            call = self._make_call(request, setup)
            if not self.multi_query:
                answers: _Answers = [setup.web.search(request.query, **call.options)]
            else:
                queries, errors = self._count_queries(request, run)
                answers = [*setup.web.search_many(queries, **call.options), *errors]
        return self._show_results(map(call.finish, answers), run, setup, request)

    async def asearch(
        self, arguments: SearchArguments | Mapping[str, Any], run: Run = _NO_RUN
    ) -> Output:
        """Do the same as `search` on the running event loop."""
        request = _parse(self.search_arguments(), arguments)
        setup = self._admit(run)
        web = setup.web
        with self._scope(run, setup):
            call = self._make_call(request, setup)
            if not self.multi_query:
                answers: _Answers = [await web.asearch(request.query, **call.options)]
            else:
                queries, errors = self._count_queries(request, run)
                answers = [*await web.asearch_many(queries, **call.options), *errors]
        return self._show_results(map(call.finish, answers), run, setup, request)

    def open_page(
        self, arguments: PageArguments | Mapping[str, Any], run: Run = _NO_RUN
    ) -> Output:
        """Read a page for a model, with the arguments of `search`.

        Raises:
            WebSearchError: As in `search`; or the URL may not be opened, or the page
                cannot be read.
        """
        request = _parse(PageArguments, arguments)
        setup = self._admit(run)
        options = setup.fixed.page_options(request, setup.web)
        with self._scope(run, setup, request):
            url = self._check_url(request.url, run)
            page = setup.web.read(url, **options)
        page = page.with_notes(*request.notes)
        return self._show_page(page, run, setup, options)

    async def aopen_page(
        self, arguments: PageArguments | Mapping[str, Any], run: Run = _NO_RUN
    ) -> Output:
        """Do the same as `open_page` on the running event loop."""
        request = _parse(PageArguments, arguments)
        setup = self._admit(run)
        options = setup.fixed.page_options(request, setup.web)
        with self._scope(run, setup, request):
            url = self._check_url(request.url, run)
            page = await setup.web.aread(url, **options)
        page = page.with_notes(*request.notes)
        return self._show_page(page, run, setup, options)

    def list_pages(
        self, arguments: SiteArguments | Mapping[str, Any], run: Run = _NO_RUN
    ) -> Output:
        """List the pages of a site for a model, with the arguments of `search`.

        The output is that of a search whose results are pages; they can be opened.

        Raises:
            WebSearchError: As in `open_page`; `DisallowedByRobots` if the robots.txt of
                the site says so.
        """
        from ._site import Listing

        request = _parse(SiteArguments, arguments)
        setup = self._admit(run)
        with self._scope(run, setup), time_limit(_LISTING_TIME):
            url = self._check_url(request.url, run)
            response = Listing(setup.web, url, request).read()
        return self._show_results([response], run, setup)

    async def alist_pages(
        self, arguments: SiteArguments | Mapping[str, Any], run: Run = _NO_RUN
    ) -> Output:
        """Do the same as `list_pages` on the running event loop."""
        # importing reads files
        module = await in_thread(partial(import_module, f"{__package__}._site"))
        request = _parse(SiteArguments, arguments)
        setup = self._admit(run)
        with self._scope(run, setup), time_limit(_LISTING_TIME):
            url = self._check_url(request.url, run)
            response = await module.Listing(setup.web, url, request).aread()
        return self._show_results([response], run, setup)

    def read_run_options(
        self, config: Mapping[str, Any], context: object = None
    ) -> dict[str, Any]:
        """Return the options that a run sets, by their names.

        Args:
            config: What a framework keeps under their keys.
            context: Where those are looked up that are not there: a mapping, or an
                object with fields of these names.
        """
        return self._tenants.read(config, context)

    def check_run_options(self, options: Mapping[str, Any]) -> None:
        """Check the options that a run is to set, before it begins.

        Raises:
            ConfigurationError: One is not in ``configurable``, or its value is wrong;
                the message shows no key.
            InvalidOption: An option of a search or of a page is wrong.
            MissingKey: The run chose a provider without a key for it.
        """
        self._tenants.check_names(options)
        self._prepare(self._tenants.find(options), options)

    def _prepare(self, web: WebSearch, options: Mapping[str, Any]) -> _Setup:
        """Return what holds for the calls of runs that set these *options*."""
        fixed = self._fixed.of_run(web.settings.domains, options)
        read = fixed.read_within(web)
        # For the pages that a search reads, too: they are the same pages if they are
        # opened later.
        names = read.keys() & set(WantedContent._fields)
        content = WantedContent(**{name: read[name] for name in names})
        return _Setup(web, fixed, read, content)

    def _admit(self, run: Run) -> _Setup:
        """Count a call of *run*, and return what holds for it."""
        if self.require:
            self._tenants.check_required(run.options, run.tenant)
        self._uses.count(run.name)
        if not run.options:
            return self._setup
        return self._prepare(self._tenants.find(run.options), run.options)

    def _scope(
        self, run: Run, setup: _Setup, page: PageArguments | None = None
    ) -> scope:
        """Return the block of a call: who pays for it, and what it wants.

        Outside of any conversation, only the parts of a page belong together.
        """
        gives = run.conversation is not None
        if page is not None and any(getattr(page, name) for name in CALL_OPTIONS):
            gives = True
        return scope(
            account=find_account(run.tenant, run.name),
            content=setup.content,
            memory=Recall(self._memory, run.conversation, gives),
            patience=Patience(_PATIENCE),
        )

    def _make_call(self, request: SearchArguments, setup: _Setup) -> SearchCall:
        """Return the search that a model requested, with the limit of its run if the
        model seems to have left it out.
        """
        own = self._fixed.default_limit
        limit = setup.fixed.default_limit
        if request.limit == own != limit:
            request = request.model_copy(update={"limit": limit})
        return setup.fixed.search_call(request, setup.web)

    def _count_queries(
        self, request: SearchArguments, run: Run
    ) -> tuple[list[str], list[WebSearchError]]:
        """Return the queries that the run still has calls for, and an error for each of
        the others.
        """
        queries = _list_queries(request)
        for number in range(1, len(queries)):  # the first is counted already
            try:
                self._uses.count(run.name)
            except BudgetExceeded as error:
                return queries[:number], [error] * (len(queries) - number)
        return queries, []

    def _check_url(self, url: str, run: Run) -> str:
        """Return the URL to open."""
        try:
            sources = _list_sources(run)
            return self.provenance.check(url, run.conversation, sources, run.forgets)
        except UnsafeURL as error:
            if run.shares:
                with suppress(UnsafeURL):
                    return self.provenance.check(url)
            error.locate(url=describe_url(url))
            raise

    def _show_results(
        self,
        answers: Iterable[SearchResponse | WebSearchError],
        run: Run,
        setup: _Setup,
        request: SearchArguments | None = None,
    ) -> Output:
        """Return the output for the answers to the queries of a *request*, or for the
        pages of a site; if all are errors, raise the first.
        """
        answers = list(answers)
        if all(isinstance(answer, WebSearchError) for answer in answers):
            raise cast("WebSearchError", answers[0])
        max_tokens = setup.read.get("max_tokens")
        if max_tokens:
            max_tokens //= len(answers)
        sources = _list_sources(run)
        outputs: list[Output] = []
        for answer in answers:
            if isinstance(answer, WebSearchError):
                outputs.append(Output.of_error(answer, self.output_format))
                continue
            self.provenance.allow_results(answer, run.conversation)
            numbered = self.provenance.number_results(
                answer, run.conversation, sources, run.numbers
            )
            output = search_output(
                numbered,
                self.output_format,
                full=self.full_artifact,
                max_tokens=max_tokens,
                count=setup.read.get("token_counter", estimate_tokens),
                max_snippet_chars=setup.fixed.search.get("max_snippet_chars"),
            )
            outputs.append(output)
        output = outputs[0]
        if self.multi_query and request is not None:
            queries = _list_queries(request)
            output = join_outputs(queries, outputs, self.output_format)
        _record_output(run, output)
        return output

    def _show_page(
        self, page: Page, run: Run, setup: _Setup, options: ReadOptions
    ) -> Output:
        self.provenance.allow_links(page, run.conversation)
        sources = _list_sources(run)
        numbered = self.provenance.number_page(
            page, run.conversation, sources, run.numbers
        )
        output = page_output(
            numbered,
            self.output_format,
            full=self.full_artifact,
            **choose_limits(options, setup.web.settings.read_options),
        )
        _record_output(run, output)
        return output


def _list_sources(run: Run) -> Sequence[Mapping[str, Any]]:
    """Return the sources that a run, or the block around it, has numbers for."""
    record = current_record()
    if record is None:
        return run.sources
    return [*record.list_sources(run.conversation), *run.sources]


def _record_output(run: Run, output: Output) -> None:
    record = current_record()
    if record is not None:
        sources = collect_texts(output.content, output.artifact)
        record.add(run.conversation, sources)


def _parse(schema: type[_A], arguments: _A | Mapping[str, Any]) -> _A:
    """Return *arguments*, which the caller may have parsed."""
    return arguments if isinstance(arguments, Arguments) else schema.parse(arguments)


def _list_queries(request: SearchArguments) -> list[str]:
    return request.queries or [request.query]  # a program may have sent only one


def as_error(error: Exception, what: str) -> WebSearchError:
    """Return *error* if it is one of this library; for a bug, log its traceback and
    return an error in its place.

    Neither repeats the text of the exception, which may quote a key. *what* failed is
    named, such as ``web_search``.
    """
    if isinstance(error, WebSearchError):
        return error
    return report_bug(error, what)
