"""The models of vendors, through their packages for both frameworks: for the tests of
what each is sent, and for real.

Where there is no key in the arguments, the vendor's package takes the one of the
environment. No package tries a request again: who asks counts requests.
"""

from __future__ import annotations
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

TIMEOUT = 60.0  # seconds
_MAX_TOKENS = 2_000  # of an answer, with what a model thinks before it
_REGION = "us-east-1"


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


def _join(url: str | None, path: str) -> str | None:
    return f"{url}{path}" if url else None


def _openai(model: str, key: str | None, url: str | None) -> Any:
    return _make(
        "langchain_openai:ChatOpenAI",
        model=model,
        api_key=key,
        base_url=_join(url, "/v1"),
        max_tokens=_MAX_TOKENS,
        max_retries=0,
        timeout=TIMEOUT,
    )


def _openai_for_llamaindex(model: str, key: str | None, url: str | None) -> Any:
    return _make(
        "llama_index.llms.openai:OpenAI",
        model=model,
        api_key=key,
        api_base=_join(url, "/v1"),
        max_tokens=_MAX_TOKENS,
        max_retries=0,
        timeout=TIMEOUT,
    )


def _anthropic(model: str, key: str | None, url: str | None) -> Any:
    return _make(
        "langchain_anthropic:ChatAnthropic",
        model=model,
        api_key=key,
        base_url=url,
        max_tokens=_MAX_TOKENS,
        max_retries=0,
        timeout=TIMEOUT,
    )


def _anthropic_for_llamaindex(model: str, key: str | None, url: str | None) -> Any:
    return _make(
        "llama_index.llms.anthropic:Anthropic",
        model=model,
        api_key=key,
        base_url=url,
        max_tokens=_MAX_TOKENS,
        max_retries=0,
        timeout=TIMEOUT,
    )


def _gemini(model: str, key: str | None, url: str | None) -> Any:
    return _make(
        "langchain_google_genai:ChatGoogleGenerativeAI",
        model=model,
        google_api_key=key,
        base_url=url,
        max_output_tokens=_MAX_TOKENS,
        max_retries=1,  # attempts
        timeout=TIMEOUT,
    )


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


def _mistral(model: str, key: str | None, url: str | None) -> Any:
    return _make(
        "langchain_mistralai:ChatMistralAI",
        model_name=model,
        api_key=key,
        endpoint=_join(url, "/v1"),
        max_tokens=_MAX_TOKENS,
        max_retries=1,  # attempts
        timeout=int(TIMEOUT),
    )


def _mistral_for_llamaindex(model: str, key: str | None, url: str | None) -> Any:
    return _make(
        "llama_index.llms.mistralai:MistralAI",
        model=model,
        api_key=key,
        endpoint=url,
        max_tokens=_MAX_TOKENS,
        max_retries=0,
        timeout=int(TIMEOUT),
    )


def _bedrock(model: str, key: str | None, url: str | None) -> Any:
    return _make(
        "langchain_aws:ChatBedrockConverse",
        model=model,
        provider="amazon",
        aws_access_key_id=key,
        aws_secret_access_key=key,
        region_name=_REGION,
        endpoint_url=url,
        max_tokens=_MAX_TOKENS,
        config=_configure_bedrock(),
    )


def _bedrock_for_llamaindex(model: str, key: str | None, url: str | None) -> Any:
    return _make(
        "llama_index.llms.bedrock_converse:BedrockConverse",
        model=model,
        aws_access_key_id=key,
        aws_secret_access_key=key,
        region_name=_REGION,
        endpoint_url=url,
        max_tokens=_MAX_TOKENS,
        botocore_config=_configure_bedrock(),
    )


def _configure_bedrock() -> Any:
    return _make(
        "botocore.config:Config",
        retries={"total_max_attempts": 1},
        read_timeout=TIMEOUT,
        connect_timeout=TIMEOUT,
    )


def _groq(model: str, key: str | None, url: str | None) -> Any:
    return _make(
        "langchain_groq:ChatGroq",
        model=model,
        api_key=key,
        base_url=url,
        max_tokens=_MAX_TOKENS,
        max_retries=0,
        timeout=TIMEOUT,
    )


def _groq_for_llamaindex(model: str, key: str | None, url: str | None) -> Any:
    return _make(
        "llama_index.llms.groq:Groq",
        model=model,
        api_key=key,
        api_base=_join(url, "/v1"),
        max_tokens=_MAX_TOKENS,
        max_retries=0,
        timeout=TIMEOUT,
    )


VENDORS: Mapping[str, Vendor] = {
    "openai": Vendor(
        "gpt-5-mini", ("OPENAI_API_KEY",), _openai, _openai_for_llamaindex
    ),
    "anthropic": Vendor(
        "claude-haiku-4-5",
        ("ANTHROPIC_API_KEY",),
        _anthropic,
        _anthropic_for_llamaindex,
    ),
    "gemini": Vendor(
        "gemini-2.5-flash",
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        _gemini,
        _gemini_for_llamaindex,
    ),
    "mistral": Vendor(
        "mistral-small-latest",
        ("MISTRAL_API_KEY",),
        _mistral,
        _mistral_for_llamaindex,
    ),
    "bedrock": Vendor(
        "us.amazon.nova-pro-v1:0",
        ("AWS_SECRET_ACCESS_KEY", "AWS_BEARER_TOKEN_BEDROCK"),
        _bedrock,
        _bedrock_for_llamaindex,
    ),
    "groq": Vendor(
        "llama-3.3-70b-versatile", ("GROQ_API_KEY",), _groq, _groq_for_llamaindex
    ),
}
