"""Measures LangGraph's embedded SQLite checkpoint saver.

Prints one JSON document to stdout; progress goes to stderr. The choices lean
to the peer: messages are bare strings, and the saver_* figures time nothing
but the saver's own calls, with the checkpoint already built and no state
loaded first. The graph_* figures are what a user of the library waits for.
"""

import argparse
import contextlib
import json
import operator
import os
import platform
import shutil
import sqlite3
import statistics
import sys
import tempfile
import threading
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Annotated, TypedDict

# A tracing setup inherited from the caller would add network calls.
os.environ["LANGSMITH_TRACING"] = "false"
os.environ["LANGCHAIN_TRACING_V2"] = "false"

from langgraph.channels import DeltaChannel
from langgraph.checkpoint.base import empty_checkpoint

# Private, but it is what the graph hands to the saver for a delta channel, so
# measuring the saver without the graph needs it.
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

PACKAGES = (
    "langgraph",
    "langgraph-checkpoint",
    "langgraph-checkpoint-sqlite",
    "langchain-core",
    "ormsgpack",
)
PRAGMAS = (
    "journal_mode",
    "synchronous",
    "busy_timeout",
    "wal_autocheckpoint",
    "page_size",
    "fullfsync",
)
SYNCHRONOUS_FULL = 2


def log(*words):
    print(*words, file=sys.stderr, flush=True)


# --- database ---------------------------------------------------------------


def open_saver(path, busy_seconds):
    connection = sqlite3.connect(path, timeout=busy_seconds, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    saver = SqliteSaver(connection)
    saver.setup()
    return saver


def close_saver(saver):
    """Returns the pragmas that were in force, read from the connection that wrote."""
    in_force = {
        name: saver.conn.execute(f"PRAGMA {name}").fetchone()[0] for name in PRAGMAS
    }
    if (in_force["journal_mode"], in_force["synchronous"]) != ("wal", SYNCHRONOUS_FULL):
        raise RuntimeError(f"the writes were not durable as asked: {in_force}")
    saver.conn.close()
    return in_force


def disk_bytes(path):
    """Sizes while the connection is open: closing it would fold the WAL away."""
    wal = Path(f"{path}-wal")
    database = path.stat().st_size
    pending = wal.stat().st_size if wal.exists() else 0
    return {"db": database, "wal": pending, "total": database + pending}


@contextlib.contextmanager
def fresh_database(scratch):
    directory = Path(tempfile.mkdtemp(dir=scratch))
    try:
        yield directory / "checkpoints.sqlite"
    finally:
        shutil.rmtree(directory)


# --- conversations ----------------------------------------------------------
# Each appends one message per checkpoint; `append` returns the seconds spent
# inside the peer, `read_back` the messages the database holds.


class SaverConversation:
    """Calls the saver directly with what the graph would hand to it.

    `calls` names the saver's methods in their order, with their arguments. The
    last is `put`, which returns where the conversation is now.
    """

    def __init__(self, saver, thread_id):
        self.saver = saver
        self.config = {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}
        self.channel_version = None
        self.step = -1

    def next_checkpoint(self, channel, value=None):
        self.step += 1
        self.channel_version = self.saver.get_next_version(self.channel_version, None)
        checkpoint = empty_checkpoint()
        checkpoint["channel_versions"] = {channel: self.channel_version}
        if value is not None:
            checkpoint["channel_values"] = {channel: value}
        return checkpoint

    def put(self, checkpoint, metadata=None):
        metadata = {"source": "update", "step": self.step, "parents": {}, **(metadata or {})}
        return "put", (self.config, checkpoint, metadata, checkpoint["channel_versions"])

    def append(self, text):
        calls = self.calls(text)
        started = perf_counter()
        for method, arguments in calls:
            config = getattr(self.saver, method)(*arguments)
        seconds = perf_counter() - started
        self.config = config
        return seconds


class SaverLatest(SaverConversation):
    """Each checkpoint holds only the newest payload: the least a write can be."""

    def calls(self, text):
        return [self.put(self.next_checkpoint("payload", text))]

    def read_back(self):
        # With a checkpoint id in its config, list returns that one alone.
        thread_id = self.config["configurable"]["thread_id"]
        newest_first = self.saver.list({"configurable": {"thread_id": thread_id}})
        return [one.checkpoint["channel_values"]["payload"] for one in newest_first][::-1]


class SaverPlain(SaverConversation):
    """Each checkpoint holds every message so far."""

    def __init__(self, saver, thread_id):
        super().__init__(saver, thread_id)
        self.messages = []

    def calls(self, text):
        self.messages.append(text)
        return [self.put(self.next_checkpoint("messages", self.messages))]

    def read_back(self):
        return self.saver.get_tuple(self.config).checkpoint["channel_values"]["messages"]


class SaverDelta(SaverConversation):
    """A message is a write on the parent checkpoint; every so many, a snapshot."""

    def __init__(self, saver, thread_id):
        super().__init__(saver, thread_id)
        self.messages = []
        self.snapshot_every = DeltaChannel(extend).snapshot_frequency
        self.since_snapshot = 0

    def calls(self, text):
        self.messages.append(text)
        first = self.step < 0
        self.since_snapshot += 1
        # The graph snapshots the first checkpoint too: it has no parent to
        # carry the write.
        if first or self.since_snapshot >= self.snapshot_every:
            self.since_snapshot = 0
            checkpoint = self.next_checkpoint("messages", _DeltaSnapshot(self.messages))
            metadata = {}
        else:
            checkpoint = self.next_checkpoint("messages")
            counters = (self.since_snapshot, self.since_snapshot)
            metadata = {"counters_since_delta_snapshot": {"messages": counters}}
        put = self.put(checkpoint, metadata)
        if first:
            return [put]
        task_id = checkpoint["id"]
        return [("put_writes", (self.config, [("messages", [text])], task_id)), put]

    def read_back(self):
        newest = self.saver.get_tuple(self.config).checkpoint["channel_values"]
        if "messages" in newest:
            return newest["messages"].value
        history = self.saver.get_delta_channel_history(
            config=self.config, channels=["messages"]
        )["messages"]
        return extend(history["seed"].value, [value for _, _, value in history["writes"]])


class GraphConversation:
    """What a user calls: load the state, apply the update, save a checkpoint."""

    def __init__(self, graph, thread_id, channel="messages"):
        self.graph = graph
        self.channel = channel
        self.config = {"configurable": {"thread_id": thread_id}}

    def append(self, text):
        update = {self.channel: text if self.channel == "payload" else [text]}
        started = perf_counter()
        self.graph.update_state(self.config, update, as_node="agent")
        return perf_counter() - started

    def read_back(self):
        return self.graph.get_state(self.config).values["messages"]


def extend(state, writes):
    """A delta reducer takes a batch of writes, unlike an ordinary reducer."""
    return state + [message for write in writes for message in write]


class PlainState(TypedDict):
    messages: Annotated[list, operator.add]


class DeltaState(TypedDict):
    messages: Annotated[list, DeltaChannel(extend)]


class LatestState(TypedDict):
    payload: str


def compile_graph(schema, saver):
    builder = StateGraph(schema)
    builder.add_node("agent", lambda state: {})
    builder.add_edge(START, "agent")
    builder.add_edge("agent", END)
    return builder.compile(checkpointer=saver)


CONVERSATIONS = {
    "saver_latest": SaverLatest,
    "saver_plain": SaverPlain,
    "saver_delta": SaverDelta,
    "graph_plain": lambda saver, thread: GraphConversation(
        compile_graph(PlainState, saver), thread
    ),
    "graph_delta": lambda saver, thread: GraphConversation(
        compile_graph(DeltaState, saver), thread
    ),
}


# --- statistics -------------------------------------------------------------


def percentile(ordered, share):
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def latency(seconds):
    ordered = sorted(seconds)
    figures = {
        "p50_us": percentile(ordered, 0.50),
        "p90_us": percentile(ordered, 0.90),
        "p99_us": percentile(ordered, 0.99),
        "mean_us": statistics.fmean(ordered),
        "max_us": ordered[-1],
    }
    return {name: round(value * 1e6, 1) for name, value in figures.items()}


# --- measurements -----------------------------------------------------------


def durable_append(scratch, count=200):
    """The disk's own price for 4 KiB made durable, in microseconds at the median.

    Taken right before and after each measurement, so that one made while
    somebody else kept the disk busy can be told and thrown away.
    """
    block = os.urandom(4096)
    seconds = []
    with tempfile.TemporaryFile(dir=scratch, buffering=0) as file:
        for _ in range(count):
            started = perf_counter()
            file.write(block)
            os.fdatasync(file.fileno())
            seconds.append(perf_counter() - started)
    return latency(seconds)["p50_us"]


def converse(kind, payloads, count, options):
    """One conversation, one message per checkpoint, until `count` or a cap."""
    disk = {"before": durable_append(options.dir)}
    with fresh_database(options.dir) as path:
        saver = open_saver(path, options.seconds_cap)
        conversation = CONVERSATIONS[kind](saver, "conversation")
        seconds = []
        stopped_by = None
        deadline = perf_counter() + options.seconds_cap
        while len(seconds) < count and stopped_by is None:
            text = payloads[len(seconds) % len(payloads)]
            seconds.append(conversation.append(text))
            # Full state per checkpoint takes space by the square of the depth.
            if path.stat().st_size > options.bytes_cap:
                stopped_by = "bytes_cap"
            elif perf_counter() > deadline:
                stopped_by = "seconds_cap"
        disk["after"] = durable_append(options.dir)
        sizes = disk_bytes(path)
        expected = [payloads[index % len(payloads)] for index in range(len(seconds))]
        if conversation.read_back() != expected:
            raise RuntimeError(f"{kind}: the database does not hold what was written")
        pragmas = close_saver(saver)
    run = {
        "requested": count,
        "n": len(seconds),
        "stopped_by": stopped_by,
        "ops_per_second": round(len(seconds) / sum(seconds), 1),
        **latency(seconds),
        "disk_bytes": sizes,
        "durable_append_4k_p50_us": disk,
        "pragmas": pragmas,
    }
    return run, seconds


def single_writer(payloads, options):
    results = {}
    for kind in CONVERSATIONS:
        log("single_writer", kind)
        results[kind], _ = converse(kind, payloads, options.single, options)
    return results


def growth(payloads, options):
    results = {}
    for kind in CONVERSATIONS:
        log("growth", kind)
        run, seconds = converse(kind, payloads, max(options.depths), options)
        points = []
        # Stopped early, the deepest point reached stands in for those missed.
        for depth in sorted({min(depth, len(seconds)) for depth in options.depths}):
            # A tenth of the depth keeps the state's size nearly level inside
            # a window, and from depth 1000 it spans a whole snapshot cycle.
            window = seconds[max(0, depth - max(5, depth // 10)) : depth]
            points.append({"depth": depth, "window": len(window), **latency(window)})
        results[kind] = {**run, "points": points}
    return results


def write_in_threads(conversations, payloads, options, refusal):
    """A thread per conversation; returns the seconds of each write, of all, and the failures."""
    barrier = threading.Barrier(len(conversations))
    seconds = [[] for _ in conversations]
    spans = [None] * len(conversations)
    failed = [0] * len(conversations)

    def write(number, conversation):
        barrier.wait()
        started = perf_counter()
        deadline = started + options.seconds_cap
        for index in range(options.per_writer):
            text = payloads[(number * options.per_writer + index) % len(payloads)]
            try:
                seconds[number].append(conversation.append(text))
            except refusal as error:
                failed[number] += 1
                log("write failed:", error)
            if perf_counter() > deadline:
                break
        spans[number] = (started, perf_counter())

    threads = [
        threading.Thread(target=write, args=pair) for pair in enumerate(conversations)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # The writers' own clocks: the main thread may be scheduled long after the
    # barrier opens, and would start the clock late.
    elapsed = max(end for _, end in spans) - min(start for start, _ in spans)
    return [one for own in seconds for one in own], elapsed, sum(failed)


def write_concurrently(path, savers, conversations, payloads, options):
    disk = {"before": durable_append(options.dir)}
    every, elapsed, failed = write_in_threads(
        conversations, payloads, options, sqlite3.OperationalError
    )
    disk["after"] = durable_append(options.dir)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        stored = connection.execute("SELECT count(*) FROM checkpoints").fetchone()[0]
    if stored != len(every):
        raise RuntimeError(f"{len(every)} writes returned, {stored} rows stored")
    return {
        "requested": len(conversations) * options.per_writer,
        "n": len(every),
        "failed": failed,
        "seconds": round(elapsed, 3),
        "ops_per_second": round(len(every) / elapsed, 1),
        **latency(every),
        "disk_bytes": disk_bytes(path),
        "durable_append_4k_p50_us": disk,
        "pragmas": [close_saver(saver) for saver in savers][0],
    }


def concurrent(payloads, options):
    names = [f"writer-{number}" for number in range(options.writers)]
    results = {"writers": options.writers, "per_writer": options.per_writer}

    def run(kind, saver_count, conversations_over):
        log("concurrent", kind)
        with fresh_database(options.dir) as path:
            savers = [open_saver(path, options.seconds_cap) for _ in range(saver_count)]
            results[kind] = write_concurrently(
                path, savers, conversations_over(savers), payloads, options
            )

    def on_the_one(conversation):
        return lambda savers: [conversation(savers[0], name) for name in names]

    def on_its_own(conversation):
        return lambda savers: [conversation(saver, name) for saver, name in zip(savers, names)]

    def through_one_graph(savers):
        graph = compile_graph(LatestState, savers[0])
        return [GraphConversation(graph, name, "payload") for name in names]

    # Newest only: a checkpoint holds one payload and the conversation before it is not kept.
    run("latest_shared", 1, on_the_one(SaverLatest))
    run("latest_per_writer", options.writers, on_its_own(SaverLatest))
    run("plain_shared", 1, on_the_one(SaverPlain))
    run("plain_per_writer", options.writers, on_its_own(SaverPlain))
    run("delta_shared", 1, on_the_one(SaverDelta))
    run("delta_per_writer", options.writers, on_its_own(SaverDelta))
    run("graph_latest_shared", 1, through_one_graph)

    def best(*channels):
        kinds = [f"{channel}_{sharing}" for channel in channels for sharing in ("shared", "per_writer")]
        kind = max(kinds, key=lambda kind: results[kind]["ops_per_second"])
        return {"kind": kind, "ops_per_second": results[kind]["ops_per_second"]}

    results["best_newest_only"] = best("latest")
    results["best_conversation"] = best("plain", "delta")
    return results


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--payloads", type=Path, required=True, help="a JSON string per line")
    parser.add_argument("--dir", type=Path, required=True, help="scratch, on the disk to measure")
    parser.add_argument("--writers", type=int, default=64)
    parser.add_argument("--per-writer", type=int, default=50)
    parser.add_argument("--single", type=int, default=500)
    parser.add_argument("--depths", type=int, nargs="+", default=[10, 100, 1000, 2000])
    parser.add_argument("--seconds-cap", type=float, default=60, help="for each measurement")
    parser.add_argument("--bytes-cap", type=int, default=10 << 30, help="for each database")
    return parser.parse_args()


def read_payloads(path):
    # Not splitlines: it would also cut at line separators inside a string.
    lines = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def measure(options):
    payloads = read_payloads(options.payloads)
    options.dir.mkdir(parents=True, exist_ok=True)
    return {
        "peer": "langgraph SqliteSaver",
        "versions": {
            **{name: version(name) for name in PACKAGES},
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
        },
        "delta_snapshot_frequency": DeltaChannel(extend).snapshot_frequency,
        "seconds_cap": options.seconds_cap,
        "bytes_cap": options.bytes_cap,
        "payloads": {
            "count": len(payloads),
            "mean_bytes": round(statistics.fmean(len(text.encode()) for text in payloads)),
        },
        "single_writer": single_writer(payloads, options),
        "concurrent": concurrent(payloads, options),
        "growth": growth(payloads, options),
    }


def print_report(measure, options):
    # Anything a library prints must not end up inside the JSON.
    with contextlib.redirect_stdout(sys.stderr):
        report = measure(options)
    json.dump(report, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    print_report(measure, parse_arguments())
