"""Limits on simultaneous requests and connections, and on how long the server waits for a client."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from threading import Event
from typing import Any, cast

import pytest
from starlette.exceptions import HTTPException
from uvicorn.server import ServerState

from qa.web import protocol
from qa.web.access import Access
from qa.web.serve import create_app, server_config
from qa.web.service.limits import Lane
from qa.web.service.service import Service

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class BlockedCollection:
    """A collection whose answers all wait for an event."""

    generation = 7

    def __init__(self) -> None:
        self.released = Event()

    @contextmanager
    def reading(self) -> Iterator[None]:
        self.released.wait(60)
        raise HTTPException(418)
        yield


@asynccontextmanager
async def listening(app: Any, proxies: Sequence[str] = ()) -> AsyncIterator[tuple[int, ServerState]]:
    """A server in this process, with the connection handling of `qa serve`: its port and state."""
    config = server_config(app, proxies)
    config.load()
    state = ServerState()
    server = await asyncio.get_running_loop().create_server(
        lambda: protocol.LimitedProtocol(config=config, server_state=state, app_state={}), "127.0.0.1", 0
    )
    try:
        yield server.sockets[0].getsockname()[1], state
    finally:
        server.close()
        for connection in list(state.connections):
            connection.transport.abort()
        await asyncio.sleep(0.05)


Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[], Awaitable[Stream]]


@asynccontextmanager
async def serving(collection: BlockedCollection | None = None, proxies: Sequence[str] = ()) -> AsyncIterator[Connect]:
    """A function that opens connections, closed at the end, to a server in this process."""
    collection = collection or BlockedCollection()
    service = Service(cast("Any", collection))
    streams: list[Stream] = []
    async with listening(create_app(service, Access()), proxies) as (port, _):

        async def connect() -> Stream:
            streams.append(await asyncio.open_connection("127.0.0.1", port))
            return streams[-1]

        try:
            async with asyncio.timeout(30):
                yield connect
        finally:
            collection.released.set()
            service.close()
    for _, writer in streams:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


QUESTION = b"GET /api/v1/ask?question=ferry HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def test_a_client_has_at_most_64_requests_in_progress() -> None:
    """The 65th is refused with a time to retry, and accepted once another is answered; health always is."""
    collection = BlockedCollection()
    async with serving(collection) as connect:
        streams = [await connect() for _ in range(65)]
        for _, writer in streams[:64]:
            writer.write(QUESTION)
        await asyncio.sleep(0.2)
        reader, writer = streams[64]
        writer.write(QUESTION)
        refused = await reader.readuntil(b"}")
        assert refused.startswith(b"HTTP/1.1 429 ")
        assert b"\r\nretry-after: 1\r\n" in refused
        assert b"you have 64 requests in progress." in refused
        writer.write(QUESTION.replace(b"ask?question=ferry", b"health"))
        assert (await reader.readuntil(b"}")).endswith(b'{"status":"ok","generation":7}')
        collection.released.set()
        for other_reader, _ in streams[:64]:
            assert (await other_reader.readuntil(b"}")).startswith(b"HTTP/1.1 418 ")
        writer.write(QUESTION)
        assert (await reader.readuntil(b"}")).startswith(b"HTTP/1.1 418 ")


@pytest.mark.parametrize(
    ("proxies", "clients", "status"),
    [
        pytest.param(["127.0.0.1"], "192.0.2.{}", 418, id="of several clients"),
        pytest.param(["127.0.0.1"], "192.0.2.{}, 192.0.2.1", 429, id="of one client, who invents others"),
        pytest.param(["192.0.2.1"], "192.0.2.{}", 429, id="not by a proxy"),
        pytest.param([], "192.0.2.{}", 429, id="without a proxy"),
    ],
)
async def test_the_clients_of_a_proxy_are_counted_one_by_one(proxies: list[str], clients: str, status: int) -> None:
    collection = BlockedCollection()
    async with serving(collection, proxies) as connect:
        streams = [await connect() for _ in range(65)]
        for number, (_, writer) in enumerate(streams):
            writer.write(QUESTION[:-2] + f"X-Forwarded-For: {clients.format(number)}\r\n\r\n".encode())
        await asyncio.sleep(0.2)
        collection.released.set()
        assert (await streams[64][0].readuntil(b"}")).startswith(f"HTTP/1.1 {status} ".encode())


async def test_a_full_lane_refuses_requests() -> None:
    released = Event()
    lane = Lane("test", workers=1, capacity=3, per_client=2, seconds=30)
    taken = [asyncio.create_task(lane.run(client, lambda: released.wait(60))) for client in ("a", "a", "b")]
    await asyncio.sleep(0)
    for client, status in (("a", 429), ("b", 503), ("c", 503)):
        with pytest.raises(HTTPException) as refused:
            await lane.run(client, lambda: released.wait(60))
        assert refused.value.status_code == status
    released.set()
    assert await asyncio.gather(*taken) == [True] * 3
    assert await lane.run("c", lambda: "room") == "room"
    lane.close()


async def test_a_timed_out_request_occupies_its_place_until_its_work_is_done() -> None:
    released = Event()
    lane = Lane("test", workers=1, capacity=1, per_client=1, seconds=0.05)
    for status in (503, 429):
        with pytest.raises(HTTPException) as refused:
            await lane.run("a", lambda: released.wait(60))
        assert refused.value.status_code == status
    released.set()
    while True:
        with contextlib.suppress(HTTPException):
            assert await lane.run("a", lambda: "room") == "room"
            break
        await asyncio.sleep(0.01)
    lane.close()


async def test_a_closed_lane_refuses_requests_and_counts_none() -> None:
    lane = Lane("test", workers=1, capacity=1, per_client=1, seconds=30)
    lane.close()
    for _ in range(2):
        with pytest.raises(HTTPException, match="the server is stopping") as refused:
            await lane.run("a", lambda: "never")
        assert refused.value.status_code == 503


def test_work_may_end_after_the_event_loop(caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is logged if the server is stopped while a question runs."""
    released = Event()
    lane = Lane("outlives", workers=1, capacity=1, per_client=1, seconds=0.01)
    with pytest.raises(HTTPException, match="no answer within"):
        asyncio.run(lane.run("a", lambda: released.wait(60)))
    released.set()
    lane.close()
    for thread in threading.enumerate():
        if thread.name.startswith("qa-outlives"):
            thread.join(60)
    assert caplog.records == []


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"GET /api/v1/health HTTP/1.1\r\nHost: loc", id="half a header"),
        pytest.param(b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\ntok", id="half a body"),
    ],
)
@pytest.mark.parametrize("trickle", [b"", b"a"], ids=["silent", "a byte at a time"])
async def test_an_incomplete_request_times_out(sent: bytes, trickle: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """It does even if a byte arrives now and then (Slowloris)."""
    monkeypatch.setattr(protocol, "_REQUEST_SECONDS", 0.3)

    async with serving() as connect:
        reader, writer = await connect()
        writer.write(sent)
        ended = asyncio.create_task(reader.read())
        while not ended.done():
            writer.write(trickle)
            await asyncio.wait([ended], timeout=0.05)
        with contextlib.suppress(ConnectionResetError):
            assert b" 200 " not in ended.result()


async def test_surplus_connections_are_refused_with_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "_MAX_CONNECTIONS", 3)

    async with serving() as connect:
        open_connections = [await connect() for _ in range(3)]
        reader, _ = await connect()
        refused = await reader.read()
        assert refused.startswith(b"HTTP/1.1 503 ")
        assert b"Retry-After: 1" in refused
        open_connections[0][1].close()
        await asyncio.sleep(0.1)
        reader, writer = await connect()
        writer.write(b"GET /api/v1/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await reader.readuntil(b"}")).startswith(b"HTTP/1.1 404 ")


async def test_a_response_that_is_not_read_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that stops reading does not keep the response in memory forever."""
    monkeypatch.setattr(protocol, "_FETCH_SECONDS", 0.3)

    async with listening(_large) as (port, state):
        _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        for _ in range(200):
            await asyncio.sleep(0.05)
            if state.total_requests and not state.connections:
                break
        assert (state.total_requests, len(state.connections)) == (1, 0)
        writer.close()


async def _large(_scope: Any, _receive: Any, send: Any) -> None:
    """Respond with more than the buffers of two sockets hold."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"a" * 50_000_000})
