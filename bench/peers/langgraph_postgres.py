"""Measures LangGraph's PostgreSQL checkpoint saver on a server that the caller started.

Takes one measurement, once, in each way in which the library can be used well:
the caller repeats it and lets the fastest way count. Prints one JSON document
to stdout; progress goes to stderr. The choices lean to the peer as those of
langgraph_saver.py do.
"""

import argparse
import asyncio
import contextlib
import functools
import platform
import statistics
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from urllib.parse import quote

# Before the libraries, for it keeps them from the network.
from langgraph_saver import (
    SaverDelta,
    SaverLatest,
    SaverPlain,
    durable_append,
    extend,
    latency,
    log,
    print_report,
    read_payloads,
    write_in_threads,
)

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool

PACKAGES = (
    "langgraph",
    "langgraph-checkpoint",
    "langgraph-checkpoint-postgres",
    "psycopg",
    "psycopg-pool",
)
# As the library's own from_conn_string connects.
CONNECTION = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
# What is kept of a conversation, and what writes it.
KEPT = {"newest_only": SaverLatest, "conversation": SaverDelta}
# A delta channel is loaded from its newest snapshot, what was written since,
# and a page of 1,024 checkpoints. A thread that begins with a snapshot this
# far from its end has all of that.
GROWN = 1100


# --- database ---------------------------------------------------------------


@contextlib.contextmanager
def fresh_tables(server):
    """The saver's tables in a schema of their own; returns the URL that finds them."""
    url = f"{server}?options={quote('-csearch_path=measured')}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA measured")
        with PostgresSaver.from_conn_string(url) as saver:
            saver.setup()
        try:
            yield url
        finally:
            connection.execute("DROP SCHEMA measured CASCADE")


def settle(server):
    """Does what the server would do by itself some time after many writes."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")


def check(url, written):
    """Reads each conversation back on a connection that wrote nothing of it."""
    with PostgresSaver.from_conn_string(url) as saver:
        for conversation, texts in written:
            conversation.saver = saver
            if conversation.read_back() != texts:
                raise RuntimeError("the database does not hold what was written")


# --- one writer -------------------------------------------------------------


async def append(conversation, text):
    """What `conversation.append` does, through the saver's asynchronous methods."""
    calls = conversation.calls(text)
    started = perf_counter()
    for method, arguments in calls:
        config = await getattr(conversation.saver, f"a{method}")(*arguments)
    seconds = perf_counter() - started
    conversation.config = config
    return seconds


def alone(open_saver):
    def write(url, kind, texts):
        with open_saver(url) as saver:
            conversation = kind(saver, "conversation")
            return conversation, [conversation.append(text) for text in texts]

    return write


def alone_in_asyncio(open_saver):
    async def write(url, kind, texts):
        async with open_saver(url) as saver:
            conversation = kind(saver, "conversation")
            return conversation, [await append(conversation, text) for text in texts]

    return lambda *arguments: asyncio.run(write(*arguments))


@contextlib.asynccontextmanager
async def saver_on_pool(url):
    async with pool_of(AsyncConnectionPool, 1, url) as pool:
        yield AsyncPostgresSaver(pool)


def pool_of(kind, connections, url):
    return kind(url, min_size=connections, max_size=connections, kwargs=CONNECTION, open=False)


def in_pipeline(saver):
    return functools.partial(saver.from_conn_string, pipeline=True)


ALONE = {
    "a connection": alone(PostgresSaver.from_conn_string),
    "a pipeline": alone(in_pipeline(PostgresSaver)),
    "asyncio, a connection": alone_in_asyncio(AsyncPostgresSaver.from_conn_string),
    "asyncio, a pipeline": alone_in_asyncio(in_pipeline(AsyncPostgresSaver)),
    "asyncio, a pool": alone_in_asyncio(saver_on_pool),
}


def single_writer(kind, payloads, options):
    """Microseconds of one write, at the median."""
    texts = payloads[: options.single]
    for way, write in ALONE.items():
        with fresh_tables(options.url) as url:
            conversation, seconds = write(url, kind, texts)
            check(url, [(conversation, texts)])
        yield way, latency(seconds)["p50_us"]


# --- many writers -----------------------------------------------------------


def in_threads(open_savers):
    def write(url, kind, shares, options):
        with open_savers(url, len(shares)) as savers:
            conversations = converse_on(savers, kind)
            texts = [text for own in shares for text in own]
            _, elapsed, failed = write_in_threads(conversations, texts, options, psycopg.Error)
        if failed:
            raise RuntimeError(f"{failed} writes failed")
        return conversations, elapsed

    return write


def in_asyncio(open_savers):
    async def write(url, kind, shares, _options):
        async def converse(conversation, texts):
            for text in texts:
                await append(conversation, text)

        async with open_savers(url, len(shares)) as savers:
            conversations = converse_on(savers, kind)
            started = perf_counter()
            await asyncio.gather(*map(converse, conversations, shares))
            return conversations, perf_counter() - started

    return lambda *arguments: asyncio.run(write(*arguments))


def converse_on(savers, kind):
    return [kind(saver, f"writer-{number}") for number, saver in enumerate(savers)]


@contextlib.contextmanager
def pool_for_threads(url, writers):
    with pool_of(ConnectionPool, writers, url) as pool:
        pool.wait()
        yield [PostgresSaver(pool) for _ in range(writers)]


@contextlib.asynccontextmanager
async def pool_for_tasks(url, writers):
    async with pool_of(AsyncConnectionPool, writers, url) as pool:
        await pool.wait()
        yield [AsyncPostgresSaver(pool) for _ in range(writers)]


@contextlib.asynccontextmanager
async def one_saver(url, writers):
    """A saver holds a lock as long as it uses a connection of its pool, however large that is."""
    async with pool_for_tasks(url, writers) as savers:
        yield savers[:1] * writers


@contextlib.contextmanager
def connection_per_thread(url, writers, pipeline=False):
    with contextlib.ExitStack() as opened:
        each = [PostgresSaver.from_conn_string(url, pipeline=pipeline) for _ in range(writers)]
        yield [opened.enter_context(saver) for saver in each]


TOGETHER = {
    "asyncio, one saver on a pool": in_asyncio(one_saver),
    "asyncio, a pool": in_asyncio(pool_for_tasks),
    "threads, a pool": in_threads(pool_for_threads),
    "threads, a connection each": in_threads(connection_per_thread),
    "threads, a pipeline each": in_threads(functools.partial(connection_per_thread, pipeline=True)),
}


def concurrent(kind, payloads, options):
    """Writes a second, of all writers together."""
    firsts = range(0, options.writers * options.per_writer, options.per_writer)
    shares = [payloads[first : first + options.per_writer] for first in firsts]
    for way, write in TOGETHER.items():
        with fresh_tables(options.url) as url:
            conversations, elapsed = write(url, kind, shares, options)
            check(url, zip(conversations, shares, strict=True))
        yield way, sum(map(len, shares)) / elapsed


# --- loading ----------------------------------------------------------------


def load(kind, payloads, options):
    """Megabytes of messages a second, loading a whole conversation."""
    with fresh_tables(options.url) as url:
        with PostgresSaver.from_conn_string(url) as saver:
            if kind is SaverLatest:
                # One checkpoint that holds them all, as the newest of a plain channel does.
                conversation, grown = SaverPlain(saver, "conversation"), 1
            else:
                conversation, grown = SaverDelta(saver, "conversation"), GROWN
            conversation.messages = payloads[:-grown]
            for text in payloads[-grown:]:
                conversation.append(text)
            check(url, [(conversation, payloads)])
        settle(options.url)
        megabytes = sum(len(text.encode()) for text in payloads) / 1e6
        for way, read in LOADING.items():
            yield way, megabytes / statistics.median(read(url, conversation, options.loads))


def load_on_connection(url, conversation, loads):
    with PostgresSaver.from_conn_string(url) as saver:
        conversation.saver = saver
        return [timed(conversation.read_back) for _ in range(loads)]


def timed(action):
    started = perf_counter()
    action()
    return perf_counter() - started


async def load_in_asyncio(url, conversation, loads):
    async with AsyncPostgresSaver.from_conn_string(url) as saver:
        seconds = []
        for _ in range(loads):
            started = perf_counter()
            await read_back(saver, conversation.config)
            seconds.append(perf_counter() - started)
        return seconds


async def read_back(saver, config):
    """What `read_back` of a conversation does, through the saver's asynchronous methods."""
    newest = (await saver.aget_tuple(config)).checkpoint["channel_values"]
    if "messages" in newest:
        return newest["messages"]
    channels = await saver.aget_delta_channel_history(config=config, channels=["messages"])
    history = channels["messages"]
    return extend(history["seed"].value, [value for _, _, value in history["writes"]])


LOADING = {
    "a connection": load_on_connection,
    "asyncio, a connection": lambda *arguments: asyncio.run(load_in_asyncio(*arguments)),
}


# --- report -----------------------------------------------------------------


MEASUREMENTS = {"single_writer": single_writer, "concurrent": concurrent, "load": load}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measurement", choices=MEASUREMENTS)
    parser.add_argument("--url", required=True, help="a database that is the peer's own")
    parser.add_argument("--payloads", type=Path, required=True, help="a JSON string per line")
    parser.add_argument("--dir", type=Path, required=True, help="scratch, on the server's disk")
    parser.add_argument("--single", type=int, default=500)
    parser.add_argument("--writers", type=int, default=64)
    parser.add_argument("--per-writer", type=int, default=50)
    parser.add_argument("--loads", type=int, default=9)
    parser.add_argument("--seconds-cap", type=float, default=600, help="for writers in threads")
    return parser.parse_args()


def measure(options):
    payloads = read_payloads(options.payloads)
    figures = {}
    for kept, kind in KEPT.items():
        figures[kept] = {}
        for way, figure in MEASUREMENTS[options.measurement](kind, payloads, options):
            # The disk's own price right after tells whether somebody else kept it busy.
            disk = durable_append(options.dir)
            log(f"{options.measurement}, {kept}, {way}: {figure:.0f}; append + fdatasync {disk:.0f} µs")
            figures[kept][way] = figure
    versions = {name: version(name) for name in PACKAGES}
    return {"versions": {**versions, "python": platform.python_version()}, **figures}


if __name__ == "__main__":
    print_report(measure, parse_arguments())
