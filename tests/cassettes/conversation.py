"""Let real models use the tools, in both frameworks: does a model choose the tool, are
its arguments valid, does it cite, and does it understand ``ERROR [...]``?

It asks for a fact that no model knows. In the first conversation the search finds it;
in the second, every search fails. The web is ours, so only the model costs anything.
"""

from __future__ import annotations
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from tests.cassettes.allowance import Allowance
from tests.models import VENDORS
from websearch_core.citations import check_citations
from websearch_core.errors import BudgetExceeded, QuotaExhausted
from websearch_core.render import find_error_code
from websearch_core.testing import FakeWeb

Framework = Literal["langchain", "llamaindex"]
Verdict = Literal["as documented", "differs", "refused", "not asked"]
FRAMEWORKS: tuple[Framework, ...] = ("langchain", "llamaindex")
QUESTION = (
    "At what time does the lock gate of the harbour of Ellersund close today? Search "
    "the web, and answer in one sentence."
)
TIME = "21:47"
_FACT = f"The lock gate of the harbour of Ellersund closes at {TIME} today."
_URL = "https://harbour.example/gate"
_MAX_TURNS = 3
_REFUSED_ARGUMENTS = {"invalid_option", "unsupported_option"}
# where the services of vendors are, if not where their packages say
PLACES: dict[str, str] = {}
# words in an error of a vendor that say that the account is empty
_EMPTY = ("quota", "credit", "billing", "balance")
_MAY_BE_EMPTY = {400, 403, 429}
_REASONS = {
    401: "wrong key",
    402: "quota",
    403: "wrong key",
    404: "no such model",
    429: "too fast",
}


@dataclass
class Transcript:
    """What a model did in a conversation."""

    calls: list[tuple[str, str]] = field(default_factory=list)  # tool and arguments
    refusals: list[str] = field(default_factory=list)  # of arguments
    answer: str = ""


class Choice(NamedTuple):
    """A model to meet."""

    vendor: str
    model: str


class Chat(NamedTuple):
    """A model with tools in a framework: *ask* goes on with the conversation, and
    returns the calls of tools and the text; *tell* adds the result of a call.
    """

    ask: Callable[[], tuple[list[Any], str]]
    tell: Callable[[Any, Transcript], None]


@dataclass(frozen=True)
class Report:
    """How a model gets on with the tools in a framework."""

    choice: Choice
    framework: Framework
    verdict: Verdict
    reason: str = ""
    findings: Mapping[str, bool] = field(default_factory=dict)

    def describe(self) -> Iterator[str]:
        """Yield a row, and what the model did not do below it."""
        name = f"{self.choice.vendor}/{self.framework}"
        yield f"{name:<28} {self.verdict:<14} {self.reason or self.choice.model}"
        for finding, is_so in self.findings.items():
            if not is_so:
                yield f"  not so: {finding}"


def choose(names: Sequence[str], *, only: bool) -> list[Choice]:
    """Return the models that are named, or those of all vendors with a key, unless
    *only* services are named.

    Raises:
        ValueError: There is no such vendor.
    """
    if names:
        return [_parse_choice(name) for name in names]
    if only:
        return []
    choices: list[Choice] = []
    for name, vendor in VENDORS.items():
        if any(map(os.environ.get, vendor.variables)):
            choices.append(Choice(name, vendor.model))
    return choices


def _parse_choice(text: str) -> Choice:
    parts = text.partition("=")
    vendor = VENDORS.get(parts[0])
    if vendor is None:
        raise ValueError(f"{parts[0]!r} is none of {', '.join(VENDORS)}")
    return Choice(parts[0], parts[2] or vendor.model)


def meet_models(choices: Sequence[Choice], allowance: Allowance) -> Iterator[Report]:
    """Have both conversations with each model in each framework."""
    for choice in choices:
        for framework in FRAMEWORKS:
            yield _meet(choice, framework, allowance)


def _meet(choice: Choice, framework: Framework, allowance: Allowance) -> Report:
    try:
        make = getattr(VENDORS[choice.vendor], framework)
        model = make(choice.model, None, PLACES.get(choice.vendor))
    except ImportError:
        reason = "its package is not installed: make test-models does that"
        return Report(choice, framework, "not asked", reason)
    except Exception as error:  # whatever a vendor's package raises
        return Report(choice, framework, "refused", f"settings ({_name(error)})")
    result = {"title": "The harbour", "url": _URL, "snippet": _FACT}
    failure = QuotaExhausted("no credit is left", provider="fake")
    start = _START[framework]
    try:
        some = converse(start(model, FakeWeb(results=[result])), choice, allowance)
        none = converse(start(model, FakeWeb(errors={"*": failure})), choice, allowance)
    except BudgetExceeded:
        return Report(choice, framework, "refused", "the limit")
    except Exception as error:  # whatever a vendor's package raises
        return Report(choice, framework, "refused", find_reason(error))
    findings = judge(some, none)
    verdict: Verdict = "as documented" if all(findings.values()) else "differs"
    return Report(choice, framework, verdict, findings=findings)


def converse(chat: Chat, choice: Choice, allowance: Allowance) -> Transcript:
    """Let a model talk with the tools, for a few turns.

    Raises:
        BudgetExceeded: The next turn would pass a limit.
    """
    transcript = Transcript()
    for _ in range(_MAX_TURNS):
        allowance.charge_model(choice.vendor)
        calls, transcript.answer = chat.ask()
        if not calls:
            break
        for call in calls:
            chat.tell(call, transcript)
    return transcript


def judge(some: Transcript, none: Transcript) -> dict[str, bool]:
    """Return what a model did: *some* was found in one conversation, *none* in the
    other.
    """
    sources = [{"id": 1, "title": "The harbour", "url": _URL, "text": _FACT}]
    checks = check_citations(some.answer, sources)
    has_citation = any(check.verdict == "supported" for check in checks)
    is_repeated = len(none.calls) > len(set(none.calls))
    is_invented = TIME in none.answer or bool(check_citations(none.answer, sources))
    has_answer = bool(none.answer.strip())
    return {
        "it chooses the tool": bool(some.calls) and bool(none.calls),
        "its arguments are valid": not some.refusals and not none.refusals,
        "it cites": TIME in some.answer and has_citation,
        "it understands ERROR [...]": has_answer
        and not is_repeated
        and not is_invented,
    }


def find_reason(error: BaseException) -> str:
    """Return why a vendor refused, in words of our own: an error may quote a key."""
    status = None
    texts: list[str] = []
    cause: BaseException | None = error
    while cause is not None:
        status = status or _find_status(cause)
        texts.append(f"{_name(cause)} {cause}".lower())
        cause = cause.__cause__ or cause.__context__
    text = " ".join(texts)
    if status is not None:
        return _describe_status(status, text)
    if "timeout" in text or "timed out" in text:
        return "slow"
    if "connect" in text:
        return "unreachable"
    return _name(error)


def _describe_status(status: int, text: str) -> str:
    """Return what a status means, beside the *text* of an error in small letters."""
    if status in _MAY_BE_EMPTY and any(word in text for word in _EMPTY):
        return "quota"
    if status == 400 and "api key" in text:
        return "wrong key"
    if status in _REASONS:
        return _REASONS[status]
    if status >= 500:
        return f"down ({status})"
    return f"it refuses the request ({status})"


def _find_status(error: BaseException) -> int | None:
    """Return the HTTP status in an error of any vendor's package."""
    response: Any = getattr(error, "response", None)
    if isinstance(response, Mapping):  # of boto
        response = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    for status in (
        getattr(error, "status_code", None),
        getattr(response, "status_code", response),
        getattr(error, "code", None),
    ):
        if isinstance(status, int) and status >= 400:
            return status
    return None


def _name(error: BaseException) -> str:
    return type(error).__name__


def _start_langchain(model: Any, web: FakeWeb) -> Chat:
    from langchain_core.messages import HumanMessage, ToolMessage

    from langchain_websearch import WebSearchToolkit

    tools = {tool.name: tool for tool in WebSearchToolkit(provider=web).get_tools()}
    bound = model.bind_tools(list(tools.values()))
    messages: list[Any] = [HumanMessage(QUESTION)]

    def ask() -> tuple[list[Any], str]:
        reply = bound.invoke(messages)
        messages.append(reply)
        return [*reply.tool_calls, *reply.invalid_tool_calls], reply.text

    def tell(call: Any, transcript: Transcript) -> None:
        name = call["name"]
        transcript.calls.append((name, str(call["args"])))
        if name not in tools or not isinstance(call["args"], dict):
            transcript.refusals.append(name)
            messages.append(ToolMessage("no such call", tool_call_id=call["id"]))
            return
        message = tools[name].invoke({**call, "type": "tool_call"})
        if find_error_code(message.content) in _REFUSED_ARGUMENTS:
            transcript.refusals.append(name)
        messages.append(message)

    return Chat(ask, tell)


def _start_llamaindex(model: Any, web: FakeWeb) -> Chat:
    from llama_index.core.llms import ChatMessage

    from llamaindex_websearch import WebSearchToolSpec
    from llamaindex_websearch.tool_spec import ToolError

    tools = {
        tool.metadata.name: tool
        for tool in WebSearchToolSpec(provider=web).to_tool_list()
    }
    messages = [ChatMessage(role="user", content=QUESTION)]

    def ask() -> tuple[list[Any], str]:
        reply = model.chat_with_tools(list(tools.values()), chat_history=messages)
        messages.append(reply.message)
        calls = model.get_tool_calls_from_response(reply, error_on_no_tool_call=False)
        return list(calls), reply.message.content or ""

    def tell(call: Any, transcript: Transcript) -> None:
        transcript.calls.append((call.tool_name, str(call.tool_kwargs)))
        text = "no such tool"
        if call.tool_name in tools:
            try:
                text = tools[call.tool_name].call(**call.tool_kwargs).content
            except ToolError as error:
                text = str(error)
        is_refused = find_error_code(text) in _REFUSED_ARGUMENTS
        if is_refused or call.tool_name not in tools:
            transcript.refusals.append(call.tool_name)
        more = {"tool_call_id": call.tool_id}
        messages.append(ChatMessage(role="tool", content=text, additional_kwargs=more))

    return Chat(ask, tell)


_START: dict[Framework, Callable[[Any, FakeWeb], Chat]] = {
    "langchain": _start_langchain,
    "llamaindex": _start_llamaindex,
}
