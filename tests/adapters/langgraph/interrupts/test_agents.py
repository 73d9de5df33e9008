"""An agent that asks a human before it calls a tool."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.types import Command

from tests.adapters.langgraph.graph.deploys import Compiled, Deploys


@tool
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


def agent(amount: int, **options: Any) -> Any:
    calls = [{"name": "pay", "args": {"amount": amount}, "id": "call-1"}]
    messages = iter([AIMessage("", tool_calls=calls), AIMessage("done")])

    class Model(GenericFakeChatModel):
        def bind_tools(self, *_: Any, **__: Any) -> Any:
            return self

    return Compiled(create_agent(Model(messages=messages), [pay], **options))


def test_an_agent_that_asks_before_it_calls_a_tool_gets_its_answer(deploys: Deploys) -> None:
    human = {"middleware": [HumanInTheLoopMiddleware({"pay": True})]}
    deploys.call(deploys.deploy(agent(100, **human)), {"messages": [("user", "pay!")]})
    answer: Any = Command(resume={"decisions": [{"type": "approve"}]})
    out = deploys.call(deploys.deploy(agent(100, **human)), answer)
    assert "paid 100" in [message.content for message in out["messages"]]
