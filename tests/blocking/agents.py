"""Run an agent inside a running event loop: its tools read the messages of their
conversation, as the first thing that they do.
"""

import asyncio
import sys
from pathlib import Path

# langchain.py of this folder would be taken for the package
sys.path.remove(str(Path(__file__).parent))

from blockbuster import blockbuster_ctx
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage

from langchain_websearch import WebSearchToolkit

sys.path.append(str(Path(__file__).parent))

from site_of_test import arguments


class Model(GenericFakeChatModel):
    """Sends the messages that it was given."""

    def bind_tools(self, tools: object, **_: object) -> "Model":
        return self


async def main() -> None:
    call = {"name": "web_search", "args": {"query": "kelp"}, "id": "1"}
    messages = iter([AIMessage("", tool_calls=[call]), AIMessage("Half a metre [1].")])
    agent = create_agent(
        Model(messages=messages), WebSearchToolkit(**arguments).get_tools()
    )
    question = HumanMessage("How fast does kelp grow? See [7].")
    state = await agent.ainvoke({"messages": [question]})
    assert "About kelp" in state["messages"][2].text


with blockbuster_ctx():
    asyncio.run(main())
