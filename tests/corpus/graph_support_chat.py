"""A support chat of three turns on one thread.

Each turn the desk hears the customer, answers in the customer's language, and writes a line for
the manager. The customer is greeted once, in the first answer; an angry customer gets an apology.
"""

import operator
from collections.abc import Sequence
from typing import Annotated, Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.graph import START, MessagesState, StateGraph


class Chat(MessagesState, total=False):
    turns: Annotated[int, operator.add]
    language: str
    mood: str
    summary: str
    spent: Annotated[int, operator.add]


def language_of(messages: Sequence[BaseMessage]) -> str:
    return "de" if "bitte" in messages[0].text else "en"


def hear(chat: Chat) -> dict[str, Any]:
    text = chat["messages"][-1].text
    language = chat.get("language") or language_of(chat["messages"])
    return {"turns": 1, "mood": "angry" if "!" in text else "calm", "language": language}


def reply(chat: Chat) -> dict[str, Any]:
    words = ["Welcome."] if chat["turns"] <= 1 else []
    words += ["We are sorry."] if chat["mood"] == "angry" else []
    language = chat.get("language") or language_of(chat["messages"])
    words.append(f"[{language}] You said: {chat['messages'][-1].text}")
    said = AIMessage(" ".join(words), id=f"ai-{len(chat['messages'])}")
    model = GenericFakeChatModel(messages=iter([said]))
    answer = model.invoke(chat["messages"])
    return {"messages": [answer], "spent": len(answer.text)}


def summarise(chat: Chat) -> dict[str, Any]:
    return {"summary": f"{len(chat['messages'])} messages, the last: {chat['messages'][-1].text}"}


def build() -> Any:
    builder: Any = StateGraph(Chat)
    builder.add_node("hear", hear)
    builder.add_node("reply", reply)
    builder.add_node("summarise", summarise)
    builder.add_edge(START, "hear")
    builder.add_edge("hear", "reply")
    builder.add_edge("reply", "summarise")
    return builder


INPUTS = [
    {"messages": [{"role": "user", "content": "Open my account, bitte", "id": "u1"}]},
    {"messages": [{"role": "user", "content": "It does not work!", "id": "u2"}]},
    {"messages": [{"role": "user", "content": "Now it does", "id": "u3"}]},
]
OUTPUT = ("messages",)
TRUTH = {
    "messages": "needed",
    "turns": "needed",
    "language": "not needed",
    "mood": "needed",
    "summary": "not needed",
    "spent": "not needed",
}
FIRST = {"messages": "__start__", "turns": "hear", "mood": "hear"}
WHY = {
    "messages": "hear and reply read the last one, and the caller reads all of them",
    "turns": "without it the second turn is counted as the first one, and greets again",
    "language": "who reads it makes it again from the first message where it is missing",
    "mood": "reply reads it for the apology, and only hear sets it",
    "summary": "no node reads it; each turn writes it anew from the messages",
    "spent": "a sum that nobody reads, neither a node nor the caller",
}
