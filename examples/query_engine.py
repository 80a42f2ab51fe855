"""Answer a question from the web with a LlamaIndex query engine: no agent, one search,
one answer with its sources.

    python examples/query_engine.py                               # offline
    python examples/query_engine.py "Who maintains PEP 8 today?"  # live

Offline, it uses the example site, and a script as model. Live, it needs OPENAI_API_KEY,
and a key for a search.

A node is the passages of a page that answer the question, marked for the model as data
from the web.
"""

from __future__ import annotations
import sys
from typing import Any

from demo import open_demo_web
from llama_index.core import Settings
from llama_index.core.query_engine import RetrieverQueryEngine
from scripted import scripted_llm

from llamaindex_websearch import WebSearchRetriever

QUESTION = "Which ferry runs on Sundays?"


def answer(question: str, llm: Any, retriever: WebSearchRetriever) -> str:
    """Return the answer to *question*, and the pages that it was made of."""
    engine = RetrieverQueryEngine.from_args(retriever, llm=llm)
    response = engine.query(question)
    return "\n".join(
        [
            f"{response}\n",
            *(f"- {source.node.metadata['url']}" for source in response.source_nodes),
        ]
    )


def main() -> None:
    """Answer the question of the command line, or without one a question about the
    example site.
    """
    if questions := sys.argv[1:]:
        retriever = WebSearchRetriever(k=3, content="passages")
        # of OpenAI: pip install llama-index-llms-openai
        print(answer(" ".join(questions), Settings.llm, retriever))
        return
    with open_demo_web() as (web, _):
        print(
            answer(
                QUESTION,
                scripted_llm(),
                WebSearchRetriever(web=web, k=3, content="passages"),
            )
        )


if __name__ == "__main__":
    main()
