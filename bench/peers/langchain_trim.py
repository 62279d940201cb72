"""Measures LangChain's trim_messages on a conversation that is in memory.

Prints one JSON document to stdout. The messages are built before the clock
runs, and nothing is read, rendered or kept: what is timed is the choice alone.
"""

import argparse
import json
import os
import platform
import statistics
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

# A tracing setup inherited from the caller would add network calls.
os.environ["LANGSMITH_TRACING"] = "false"
os.environ["LANGCHAIN_TRACING_V2"] = "false"

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    trim_messages,
)
from langchain_core.messages.utils import count_tokens_approximately

SYSTEM = "You are a software engineer who goes on with work that was begun in an earlier session."


def message_of(said):
    """Turns a message of Anthropic's API, of one block or a text, into LangChain's."""
    content = said["content"]
    if isinstance(content, str):
        return HumanMessage(content) if said["role"] == "user" else AIMessage(content)
    (block,) = content
    if block["type"] == "tool_use":
        call = {"id": block["id"], "name": block["name"], "args": block["input"]}
        return AIMessage("", tool_calls=[call])
    return ToolMessage(block["content"], tool_call_id=block["tool_use_id"])


def read_messages(path):
    messages = [SystemMessage(SYSTEM)]
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            messages.extend(message_of(said) for said in json.loads(line))
    return messages


def characters_by_four(messages: list[BaseMessage]) -> int:
    return sum(len(message.content) for message in messages) // 4


COUNTERS = {
    "characters / 4": characters_by_four,
    "its own approximation": count_tokens_approximately,
}


def trim(messages, counter, max_tokens):
    return trim_messages(
        messages,
        max_tokens=max_tokens,
        token_counter=counter,
        strategy="last",
        start_on="human",
        include_system=True,
    )


def measure(options):
    messages = read_messages(options.turns)
    micros = {}
    for name, counter in COUNTERS.items():
        kept = trim(messages, counter, options.max_tokens)
        tokens = counter(kept)
        if not 0.9 * options.max_tokens <= tokens <= options.max_tokens:
            raise RuntimeError(f"{name}: {tokens} tokens were kept of {options.max_tokens}")
        seconds = []
        for _ in range(options.rounds):
            started = perf_counter()
            trim(messages, counter, options.max_tokens)
            seconds.append(perf_counter() - started)
        micros[name] = statistics.median(seconds) * 1e6
    return {
        "versions": {
            "langchain-core": version("langchain-core"),
            "python": platform.python_version(),
        },
        "messages": len(messages),
        "micros": micros,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=Path, required=True, help="an array of messages per line")
    parser.add_argument("--max-tokens", type=int, required=True)
    parser.add_argument("--rounds", type=int, default=15)
    print(json.dumps(measure(parser.parse_args()), indent=2))
