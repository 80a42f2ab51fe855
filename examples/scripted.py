"""Models that need no network: they use two tools as a good model would, and no answer
is written in advance.

The script searches for the question, opens the result whose words match it best, and
answers with the sentence of the page that matches it best, citing the result by its
number. All it knows about the web comes from the tools. Without tools, it plans,
reports and answers from what a prompt contains: examples/research_graph.py and its
neighbours.
"""

from __future__ import annotations
import re
import uuid
from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from llama_index.core.base.llms.types import ChatMessage, MessageRole, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM

_RESULT = re.compile(r"^(\d+)\. (.+) — (\S+)(?:\n {3}(.*))?", re.MULTILINE)


def _words(text: str) -> set[str]:
    return {word[:5] for word in re.findall(r"\w{3,}", text.lower())}


def best_result(question: str, found: str) -> tuple[str, str]:
    """Return the number and the URL of the result that shares the most words with
    *question*.
    """
    results = _RESULT.findall(found)
    if not results:
        raise LookupError(f"no result to open in: {found[:200]}")
    number, _, url, _ = max(
        results,
        key=lambda result: len(_words(question) & _words(f"{result[1]} {result[3]}")),
    )
    return number, url


def best_sentence(question: str, page: str) -> str:
    """Return the sentence of *page* that shares the most words with *question*,
    preferring short ones.
    """
    lines = [
        line
        for line in page.splitlines()
        if line and not line.startswith(("#", "|", "[", "(", "URL:", "Title:"))
    ]
    sentences = [
        sentence.strip("*-> ")
        for line in lines
        for sentence in re.split(r"(?<=[.!?]) ", line)
    ]
    return max(
        sentences,
        key=lambda sentence: (
            len(_words(question) & _words(sentence)) / (8 + len(sentence.split()))
        ),
    )


def answer_prompt(prompt: str) -> str | None:
    """Return the plan, the report or the answer from a context that *prompt* asks for;
    None for a question.
    """
    if "One a line" in prompt:
        return "\n".join(re.findall(r"\w[^.?!]+\?", prompt.partition("\n\n")[2]))
    if context := re.search(
        r"-{21}\n(.*)\n-{21}.*^Query: (.*)$", prompt, re.DOTALL | re.MULTILINE
    ):
        # without metadata
        return best_sentence(
            context[2], re.sub(r"^\w+: .*$", "", context[1], flags=re.MULTILINE)
        )
    return prompt.partition("Findings:\n")[2] or None


def next_step(
    question: str, answers: Sequence[str]
) -> tuple[str, dict[str, str]] | str:
    """Return the next tool and its arguments, or the final answer, given the *answers*
    of the tools so far.
    """
    if text := answer_prompt(question):
        return text
    match answers:
        case []:
            return "web_search", {"query": question}
        case [found]:
            return "open_page", {"url": best_result(question, found)[1]}
        case [found, page, *_]:
            return (
                f"{best_sentence(question, page)} [{best_result(question, found)[0]}]"
            )
    raise AssertionError("a sequence is empty, or has one item, or more")


class ScriptedChat(BaseChatModel):
    """The script as a LangChain chat model."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> ScriptedChat:
        """Accept the tools that an agent offers."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        question = next(
            str(message.content)
            for message in messages
            if isinstance(message, HumanMessage)
        )
        step = next_step(
            question,
            [
                str(message.content)
                for message in messages
                if isinstance(message, ToolMessage)
            ],
        )
        if isinstance(step, str):
            reply = AIMessage(step)
        else:
            tool, arguments = step
            reply = AIMessage(
                "",
                tool_calls=[{"name": tool, "args": arguments, "id": uuid.uuid4().hex}],
            )
        return ChatResult(generations=[ChatGeneration(message=reply)])


def scripted_llm() -> MockFunctionCallingLLM:
    """Return the script as a LlamaIndex function-calling LLM."""

    def respond(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        question = next(
            str(message.content)
            for message in messages
            if message.role == MessageRole.USER
        )
        step = next_step(
            question,
            [
                str(message.content)
                for message in messages
                if message.role == MessageRole.TOOL
            ],
        )
        if isinstance(step, str):
            return ChatMessage(role=MessageRole.ASSISTANT, content=step)
        tool, arguments = step
        call = ToolCallBlock(
            tool_call_id=uuid.uuid4().hex, tool_name=tool, tool_kwargs=arguments
        )
        return ChatMessage(role=MessageRole.ASSISTANT, blocks=[call])

    return MockFunctionCallingLLM(response_generator=respond, is_chat_model=True)
