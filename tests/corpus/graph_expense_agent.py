"""An agent pays two expenses with a tool, which writes into a ledger outside of the graph.

The tool refuses what would go over the limit, by what was spent so far. The model says what comes
next by counting what the tool has answered.
"""

from pathlib import Path
from typing import Any, NotRequired

from langchain.agents import AgentState, create_agent
from langchain.tools import ToolRuntime, tool
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.types import Command

BILLS = [("taxi", 40), ("hotel", 70), ("bar", 30)]


class Desk(AgentState[Any]):
    limit: NotRequired[int]
    spent: NotRequired[int]
    audit: NotRequired[list[str]]
    purpose: NotRequired[str]


@tool
def pay(what: str, amount: int, runtime: ToolRuntime) -> Command[Any]:
    """Pay a bill."""
    spent = runtime.state.get("spent", 0)
    fits = spent + amount <= runtime.state["limit"]
    if fits:
        with Path("ledger.txt").open("a") as ledger:
            ledger.write(f"{what} {amount}\n")
        spent += amount
    said = ToolMessage(
        "paid" if fits else "over the limit",
        tool_call_id=str(runtime.tool_call_id),
        id=f"tool-{what}",
    )
    return Command(update={"messages": [said], "spent": spent, "audit": [f"{what} {fits}"]})


class Clerk(BaseChatModel):
    """Pays the bills one after the other, then says how many were paid."""

    @property
    def _llm_type(self) -> str:
        return "clerk"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        del tools, kwargs
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        del stop, run_manager, kwargs
        answers = [str(message.text) for message in messages if isinstance(message, ToolMessage)]
        said = AIMessage(f"{answers.count('paid')} bills are paid.", id="ai-end")
        if len(answers) < len(BILLS):
            what, amount = BILLS[len(answers)]
            arguments = {"what": what, "amount": amount}
            call = {"name": "pay", "args": arguments, "id": f"call-{what}"}
            said = AIMessage("", tool_calls=[call], id=f"ai-{len(answers)}")
        return ChatResult(generations=[ChatGeneration(message=said)])


def build() -> Any:
    return create_agent(Clerk(), [pay], state_schema=Desk)


def observe() -> list[str]:
    return Path("ledger.txt").read_text().split("\n") if Path("ledger.txt").exists() else []


INPUT = {
    "messages": [{"role": "user", "content": "Pay my bills", "id": "u1"}],
    "limit": 100,
    "purpose": "the fair in Lyon",
}
OUTPUT = ("messages",)
TRUTH = {
    "messages": "needed",
    "limit": "needed",
    "spent": "needed",
    "audit": "not needed",
    "purpose": "not needed",
    "jump_to": "not needed",
    "structured_response": "not needed",
}
FIRST = {"messages": "__start__", "limit": "__start__", "spent": "tools"}
WHY = {
    "messages": "the model counts the tool's answers in them",
    "limit": "the tool reads it at each payment",
    "spent": "without it the tool begins at 0 and pays the hotel, which goes over the limit",
    "audit": "the tool writes it and nothing reads it",
    "purpose": "no node, tool or model reads it",
    "jump_to": "only middleware sets it, and there is none",
    "structured_response": "never set, as no format is asked for",
}
