"""The models of vendors, through their packages for both frameworks: for the tests of
what each is sent, and for real.

Where there is no key in the arguments, the vendor's package takes the one of the
environment. No package tries a request again: who asks counts requests.
"""

from __future__ import annotations
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

TIMEOUT = 60.0  # seconds
_MAX_TOKENS = 2_000  # of an answer, with what a model thinks before it


class Vendor(NamedTuple):
    """A vendor of models.

    Args:
        model: The name of a small model.
        variables: The environment variables that may hold its key.
        langchain: Makes the model for LangChain, of its name, a key and a URL.
        llamaindex: The same for LlamaIndex.
    """

    model: str
    variables: tuple[str, ...]
    langchain: Callable[[str, str | None, str | None], Any]
    llamaindex: Callable[[str, str | None, str | None], Any]


def _make(place: str, **options: Any) -> Any:
    """Make a model of a class in ``module:Class``, without the options that are None.

    Raises:
        ImportError: The vendor's package is not installed.
    """
    module, name = place.split(":")
    options = {name: value for name, value in options.items() if value is not None}
    return getattr(import_module(module), name)(**options)


def _package(
    place: str,
    *,
    model: str = "model",
    key: str = "api_key",
    url: str = "base_url",
    path: str = "",
    max_tokens: str = "max_tokens",
    retries: int = 0,
    seconds: Callable[[float], float] = float,
) -> Callable[[str, str | None, str | None], Any]:
    """Return what makes a vendor's model, of a class and the names of its options.

    Args:
        path: What follows the vendor's host in the option *url*.
        retries: What the class calls a single try: some count retries, some tries.
        seconds: The type of its time limit: some classes want an integer.
    """

    def make(name: str, secret: str | None, host: str | None) -> Any:
        options: dict[str, Any] = {model: name, max_tokens: _MAX_TOKENS, key: secret}
        if host is not None:
            options[url] = f"{host}{path}"
        timeout = seconds(TIMEOUT)  # as it is now: a test has a shorter one
        return _make(place, max_retries=retries, timeout=timeout, **options)

    return make


def _gemini_for_llamaindex(model: str, key: str | None, url: str | None) -> Any:
    types = import_module("google.genai.types")
    return _make(
        "llama_index.llms.google_genai:GoogleGenAI",
        model=model,
        api_key=key,
        http_options=types.HttpOptions(base_url=url, timeout=int(TIMEOUT * 1000)),
        context_window=100_000,
        max_tokens=_MAX_TOKENS,
        max_retries=1,  # attempts
    )


def _bedrock(
    place: str, config: str, model: str, key: str | None, url: str | None
) -> Any:
    options = {
        config: _make(
            "botocore.config:Config",
            retries={"total_max_attempts": 1},
            read_timeout=TIMEOUT,
            connect_timeout=TIMEOUT,
        )
    }
    return _make(
        place,
        model=model,
        aws_access_key_id=key,
        aws_secret_access_key=key,
        region_name="us-east-1",
        endpoint_url=url,
        max_tokens=_MAX_TOKENS,
        **options,
    )


VENDORS: Mapping[str, Vendor] = {
    "openai": Vendor(
        "gpt-5-mini",
        ("OPENAI_API_KEY",),
        _package("langchain_openai:ChatOpenAI", path="/v1"),
        _package("llama_index.llms.openai:OpenAI", url="api_base", path="/v1"),
    ),
    "anthropic": Vendor(
        "claude-haiku-4-5",
        ("ANTHROPIC_API_KEY",),
        _package("langchain_anthropic:ChatAnthropic"),
        _package("llama_index.llms.anthropic:Anthropic"),
    ),
    "gemini": Vendor(
        "gemini-2.5-flash",
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        _package(
            "langchain_google_genai:ChatGoogleGenerativeAI",
            key="google_api_key",
            max_tokens="max_output_tokens",
            retries=1,
        ),
        _gemini_for_llamaindex,
    ),
    "mistral": Vendor(
        "mistral-small-latest",
        ("MISTRAL_API_KEY",),
        _package(
            "langchain_mistralai:ChatMistralAI",
            model="model_name",
            url="endpoint",
            path="/v1",
            retries=1,
            seconds=int,
        ),
        _package(
            "llama_index.llms.mistralai:MistralAI",
            url="endpoint",
            seconds=int,
        ),
    ),
    "bedrock": Vendor(
        "us.amazon.nova-pro-v1:0",
        ("AWS_SECRET_ACCESS_KEY", "AWS_BEARER_TOKEN_BEDROCK"),
        partial(_bedrock, "langchain_aws:ChatBedrockConverse", "config"),
        partial(
            _bedrock,
            "llama_index.llms.bedrock_converse:BedrockConverse",
            "botocore_config",
        ),
    ),
    "groq": Vendor(
        "llama-3.3-70b-versatile",
        ("GROQ_API_KEY",),
        _package("langchain_groq:ChatGroq"),
        _package("llama_index.llms.groq:Groq", url="api_base", path="/v1"),
    ),
}
