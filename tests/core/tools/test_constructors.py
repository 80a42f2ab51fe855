"""The constructors that take the arguments of a `WebSearch`: they show each of them."""

from __future__ import annotations
import inspect
import pydoc
from inspect import Parameter

import pytest
from langchain_core.tools import BaseTool

import langchain_websearch as langchain
import llamaindex_websearch as llamaindex
from langchain_websearch.tools import PageToolOptions, SearchToolOptions, ToolkitOptions
from websearch_core import WebSearch
from websearch_core.client import CommonArguments, WebSearchOptions
from websearch_core.errors import ConfigurationError
from websearch_core.tools import WebTools, make_web, show_arguments

pytestmark = pytest.mark.repository
OPTIONS = {"search_options", "read_options"}
OF_WEB_TOOLS = {
    "limit", "output_format", "full_artifact", "multi_query", "max_uses", "configurable", "require", "provenance",
    *OPTIONS,
}  # fmt: skip
# What each class takes besides `web` and the arguments of a `WebSearch`.
OWN = {
    WebTools: OF_WEB_TOOLS,
    langchain.WebSearchTool: SearchToolOptions.__annotations__.keys()
    | {"response_format"},
    langchain.OpenPageTool: PageToolOptions.__annotations__.keys()
    | {"response_format"},
    langchain.WebSearchToolkit: ToolkitOptions.__annotations__.keys(),
    langchain.WebSearchRetriever: OPTIONS
    | {"k", "content", "text_splitter", "name", "tags", "metadata"},
    langchain.WebPageLoader: {"urls", "read_options", "crawl", "on_error"},
    langchain.WebPageCompressor: {"read_options"},
    llamaindex.WebSearchToolSpec: OF_WEB_TOOLS - {"full_artifact"} | {"site_tools"},
    llamaindex.WebSearchRetriever: OPTIONS
    | {"k", "content", "node_parser", "callback_manager", "verbose"},
    llamaindex.WebPageReader: {"read_options", "crawl", "on_error", "is_remote"},
    llamaindex.WebPagePostprocessor: {"read_options", "callback_manager"},
}
CLASSES = pytest.mark.parametrize(
    "cls", OWN, ids=lambda cls: f"{cls.__module__}.{cls.__name__}"
)


def parameters_of(function):
    """Return the parameters that a call can name."""
    return {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind not in (Parameter.VAR_KEYWORD, Parameter.POSITIONAL_ONLY)
    }


@CLASSES
def test_a_signature_has_the_arguments_of_the_table_and_those_of_the_class(cls):
    names = {"web", *OWN[cls], *CommonArguments.__annotations__}

    assert parameters_of(cls).keys() == names


@CLASSES
def test_an_argument_has_the_type_and_the_default_that_web_search_says(cls):
    ours = parameters_of(cls)

    for name, parameter in parameters_of(WebSearch).items():
        if name not in OPTIONS:
            assert ours[name] == parameter.replace(kind=Parameter.KEYWORD_ONLY)


@CLASSES
def test_every_argument_has_a_type_and_help_shows_it(cls):
    text = pydoc.plain(pydoc.render_doc(cls))

    for name, parameter in parameters_of(cls).items():
        assert parameter.annotation is not Parameter.empty, name
        assert f"{name}: " in text


@pytest.mark.parametrize("tool", [langchain.WebSearchTool, langchain.OpenPageTool])
def test_the_options_of_a_tool_are_shown_as_those_of_web_tools(tool):
    ours = parameters_of(tool)

    for name, parameter in parameters_of(WebTools).items():
        if name in ours and name != "web":
            assert ours[name] == parameter
    assert ours.keys() >= BaseTool.model_fields.keys()


def test_the_table_of_arguments_is_that_of_web_search():
    assert (
        CommonArguments.__annotations__.keys() - {"provider", "rate_limiter"}
        == WebSearchOptions.__annotations__.keys() - OPTIONS
    )


def test_an_argument_that_a_function_does_not_pass_on_is_not_shown():
    def source(first, /, second=2, *, third: int = 3, fourth: int = 4, **others): ...

    @show_arguments(source, without=["fourth"])
    def function(own, **arguments): ...

    assert str(inspect.signature(function)) == (
        "(own, *, second=2, third: 'int' = 3, **others)"
    )


def test_a_web_search_or_its_arguments_are_taken_and_not_both():
    web = WebSearch("duckduckgo")

    assert make_web(web, ()) is web
    assert (
        make_web(None, (), provider="duckduckgo", timeout=3).settings.timeout.read == 3
    )
    with pytest.raises(ConfigurationError, match="not both: provider, timeout"):
        make_web(web, (), provider="duckduckgo", timeout=3)
    with pytest.raises(ConfigurationError, match="web: must be a WebSearch, not str"):
        make_web("ddg", ())


def test_an_unknown_argument_is_answered_with_the_one_to_write():
    with pytest.raises(ConfigurationError, match='search_options={"time_range": .'):
        make_web(None, ["limit", "search_options"], freshness="week")
    with pytest.raises(ConfigurationError, match="provder; did you mean provider?"):
        make_web(None, (), provder="brave")


NAMED = pytest.mark.parametrize(
    "cls",
    [cls for cls in OWN if cls not in (WebTools, langchain.WebPageLoader)],
    ids=lambda cls: f"{cls.__module__}.{cls.__name__}",
)


@NAMED
def test_an_argument_without_a_name_is_answered_with_the_line_to_write(cls):
    name = cls.__name__

    with pytest.raises(ConfigurationError, match=rf'{name}\(provider="tavily"\)$'):
        cls("tavily")
    with pytest.raises(ConfigurationError, match=rf"{name}\(web=\.\.\.\)$"):
        cls(WebSearch("duckduckgo"))


@NAMED
def test_a_text_without_a_name_is_not_shown_as_it_may_be_a_key(cls):
    with pytest.raises(ConfigurationError) as caught:
        cls("tvly-SECRET")

    assert str(caught.value).endswith(f"{cls.__name__}(provider=...)")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("doc_content_chars_max", 'read_options={"max_length": 4_000}'),
        ("get_full_documents", 'read_many([each.url.replace("/abs/", "/pdf/") for '),
        ("include_generated_answer", "WebSearch(Tavily(include_answer=True)).search("),
    ],
)
@pytest.mark.parametrize(
    "cls",
    [
        langchain.WebSearchTool,
        langchain.WebSearchRetriever,
        llamaindex.WebSearchToolSpec,
        llamaindex.WebSearchRetriever,
    ],
)
def test_an_option_of_another_retriever_is_answered_with_the_line_to_write(
    cls, name, line
):
    with pytest.raises(ConfigurationError) as caught:
        cls(**{name: True})

    assert str(caught.value).startswith(f"{name}: write {line}")


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (
            lambda splitter: langchain.WebPageLoader([], text_splitter=splitter),
            "WebPageLoader(urls).load_and_split(text_splitter)",
        ),
        (
            lambda splitter: llamaindex.WebPageReader(text_splitter=splitter),
            "text_splitter.get_nodes_from_documents(documents)",
        ),
        (
            lambda splitter: llamaindex.WebSearchRetriever(text_splitter=splitter),
            (
                "WebSearchRetriever(text_splitter=...), in LlamaIndex "
                "WebSearchRetriever(node_parser=...)"
            ),
        ),
    ],
)
def test_a_text_splitter_is_answered_with_what_splits(make, line):
    with pytest.raises(ConfigurationError) as caught:
        make(object())

    assert str(caught.value) == f"text_splitter: write {line}"


def test_a_rate_limiter_is_the_throttle_under_another_name():
    with pytest.raises(ConfigurationError, match="which are the same, not both"):
        make_web(None, (), throttle=3, rate_limiter=object())
