"""A connection to the gateway: it connects, reconnects with jitter, notices a silent peer, and bounds what is unsent.

Works with `websockets` from version 10.4: uses only what its old and its new interface have in common.
"""
from __future__ import annotations

import asyncio
import json
import math
import threading
from collections import deque
from collections.abc import Iterable
from typing import Any, Protocol

import websockets

from .backoff import Backoff, retry_after_s
from .data_channel import DataChannel, load_library
from .errors import FrameError, LinkEnded

MAX_FRAME_BYTES = 64 * 1024
"""Largest frame of the protocol."""
MAX_RECEIVED_BYTES = 2 * MAX_FRAME_BYTES
"""Largest frame to read: the gateway adds fields to an operator's frame of any allowed size."""
MAX_UNSENT_BYTES = 32 * 1024
"""Above this many unsent bytes, telemetry, acknowledgements and log lines are dropped: newer ones follow."""
MAX_VITAL_BYTES = 256 * 1024
"""Above this many unsent bytes the connection is broken: the network takes nothing, not even heartbeats."""
CONNECT_LIMIT_S = 10.0
"""Longest time from the dialling to the first frame."""
SESSION_ATTEMPTS = 60
"""So many attempts during a session wait a second at most, because robot and operator wait for each other."""
MAX_RETRY_AFTER_S = 300.0
"""Longest time that a server can ask a program to wait."""
MAX_PROBLEM_DEPTH = 64
"""How deep the search for the place of a number that is not finite goes."""

FINAL_STATUSES = frozenset({403, 404})
RECONNECT_CODES = frozenset({1006, 4008, 4009, 4408, 4500, 4503})


def frame_text(frame: dict[str, Any]) -> str:
    """Returns a frame as JSON, numpy arrays and numbers included.

    Raises FrameError for a number that is not finite, with its path as in `pose.x_m is NaN`, for a value that JSON does not have, and for
    a frame of more than 64 KiB.
    """
    try:
        text = json.dumps(frame, allow_nan=False, separators=(",", ":"), default=_plain)
    except (ValueError, TypeError, RecursionError) as error:
        # The place is that in the data, which is all that the program has written of a frame.
        inner = frame["data"] if "data" in frame else frame
        raise FrameError(non_finite(inner) or f"the {frame.get('type')} frame is no JSON: {error}") from error
    if len(text) > MAX_FRAME_BYTES:
        raise FrameError(f"the {frame.get('type')} frame has {len(text)} bytes, more than {MAX_FRAME_BYTES}")
    return text


def _plain(value: Any) -> Any:
    """Returns a value of numpy as one of Python."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def non_finite(value: Any, path: str = "", depth: int = 0) -> str | None:
    """Returns where a value has a number that is not finite, and which; None if there is none."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return f"{path or 'the value'} is {name}"
    items: Iterable[tuple[Any, Any]] = ()
    if depth < MAX_PROBLEM_DEPTH and isinstance(value, dict):
        items = value.items()
    elif depth < MAX_PROBLEM_DEPTH and isinstance(value, (list, tuple)):
        items = enumerate(value)
    for name, item in items:
        problem = non_finite(item, f"{path}.{name}" if path else str(name), depth + 1)
        if problem:
            return problem
    return None


class Connection:
    """One open WebSocket. `send` may be called in any thread and never waits."""

    def __init__(self, socket: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._socket, self._loop = socket, loop
        self._lock = threading.Lock()
        self._unsent: deque[str | bytes] = deque()
        self._unsent_bytes = 0
        self._has_unsent = asyncio.Event()
        self._closed = False
        self._silence_s = CONNECT_LIMIT_S
        self._heard_at_s = loop.time()
        self._timer = loop.call_later(CONNECT_LIMIT_S, self._check_silence)
        self.is_online = False
        self.channel: DataChannel | None = None
        """Its data channel; None where this side uses none."""

    def online(self, silence_s: float) -> None:
        """Notes the first frame of the gateway. From now on, a silence of `silence_s` ends the connection."""
        self.is_online, self._silence_s = True, silence_s
        self.heard()
        self._check_silence()

    def heard(self) -> None:
        """Notes a frame of the gateway."""
        self._heard_at_s = self._loop.time()

    @property
    def unsent_bytes(self) -> int:
        """Bytes that are not on the network yet."""
        return self._unsent_bytes + int(self._socket.transport.get_write_buffer_size())

    def send(self, frame: dict[str, Any] | bytes, *, droppable: bool = True) -> bool:
        """Sends a frame. Returns False if it was dropped: the connection is closed, or has too much unsent.

        Raises FrameError for a frame that cannot be sent.
        """
        return self.send_message(frame if isinstance(frame, bytes) else frame_text(frame), droppable=droppable)

    def send_message(self, message: str | bytes, *, droppable: bool = True) -> bool:
        """Sends a frame as it is on the network; otherwise as `send`."""
        if len(message) > MAX_FRAME_BYTES:
            raise FrameError(f"the frame has {len(message)} bytes, more than {MAX_FRAME_BYTES}")
        with self._lock:
            if self._closed:
                return False
            full = self.unsent_bytes > (MAX_UNSENT_BYTES if droppable else MAX_VITAL_BYTES)
            if not full:
                self._unsent.append(message)
                self._unsent_bytes += len(message)
                if len(self._unsent) == 1:
                    self._call_soon(self._has_unsent.set)
        if full and not droppable:
            self._call_soon(self.abort)
        return not full

    def abort(self) -> None:
        """Breaks the connection at once. Call it on the loop."""
        self._socket.transport.abort()

    def _call_soon(self, callback: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(callback)
        except RuntimeError:
            pass  # the loop is closed, and the connection with it

    def _check_silence(self) -> None:
        self._timer.cancel()
        left_s = self._heard_at_s + self._silence_s - self._loop.time()
        if left_s <= 0:
            self.abort()
        else:
            self._timer = self._loop.call_later(left_s, self._check_silence)

    async def write(self) -> None:
        """Sends what is unsent, until it is cancelled."""
        while True:
            await self._has_unsent.wait()
            self._has_unsent.clear()
            while True:
                with self._lock:
                    if not self._unsent:
                        break
                    message = self._unsent.popleft()
                await self._socket.send(message)
                with self._lock:
                    self._unsent_bytes -= len(message)

    async def read(self) -> str | bytes:
        """Returns the next message. Raises websockets.ConnectionClosed at the end."""
        message: str | bytes = await self._socket.recv()
        self.heard()
        return message

    def end(self) -> None:
        """Sends no frames from now on."""
        with self._lock:
            self._closed = True
            self._unsent.clear()
        self._timer.cancel()
        if self.channel is not None:
            self.channel.close()

    async def close(self) -> None:
        """Closes the WebSocket in order, or breaks it after a second."""
        self.end()
        await self._socket.close()


class LinkHandler(Protocol):
    """What a link calls, all of it on its loop. None of it may block."""

    async def credentials(self) -> tuple[str, str]:
        """Returns the address and the credential of the next connection. Raises LinkEnded when there is none, another error to retry."""

    def received(self, connection: Connection, message: str | bytes) -> None:
        """Handles a message of the WebSocket or of its data channel."""

    def lost(self, connection: Connection) -> None:
        """Handles the end of a connection."""

    def changed(self, state: str, close_code: int | None) -> None:
        """Takes the state `connecting`, `online`, `offline` or `closed`."""

    def is_awaited(self) -> bool:
        """Returns whether another party waits for the reconnect."""

    def report(self, error: BaseException) -> None:
        """Takes a failure that the link retries."""


class Link:
    """Runs the connections to the gateway, one after another, and ends once."""

    def __init__(self, handler: LinkHandler, *, data_channel: bool, max_unauthorized: int = 1) -> None:
        """After `max_unauthorized` credentials in a row that the gateway did not accept, another one would not help."""
        self._handler = handler
        self._uses_channel = data_channel
        self._library: Any = None
        self._unauthorized_left = self._max_unauthorized = max_unauthorized
        self._backoff = Backoff()
        self._connection: Connection | None = None
        self._closing = asyncio.Event()

    async def run(self) -> None:
        """Connects and reconnects until `close`. Raises LinkEnded when another attempt would not change the answer."""
        try:
            if self._uses_channel:
                self._library = await asyncio.to_thread(load_library)
            while not self._closing.is_set():
                self._handler.changed("connecting", None)
                delay_s = await self._connect_once()
                try:
                    await asyncio.wait_for(self._closing.wait(), delay_s)
                except asyncio.TimeoutError:
                    pass
        finally:
            self._handler.changed("closed", None)

    def close(self) -> None:
        """Ends the link. Call it on the loop."""
        self._closing.set()

    def online(self, connection: Connection, silence_s: float) -> None:
        """Notes that the gateway has admitted a connection."""
        self._backoff.reset()
        self._unauthorized_left = self._max_unauthorized
        connection.online(silence_s)
        self._handler.changed("online", None)

    def _next_delay_s(self, at_least_s: float = 0.0) -> float:
        awaited = self._handler.is_awaited() and self._backoff.attempts < SESSION_ATTEMPTS
        return self._backoff.next_s(at_least_s, 1.0 if awaited else math.inf)

    async def _connect_once(self) -> float:
        """Runs one connection to its end. Returns the delay until the next one, in seconds."""
        try:
            socket = await self._dial()
        except LinkEnded:
            raise
        except websockets.InvalidHandshake as refusal:
            return self._refused(refusal)
        except Exception as error:  # whatever a server answers, or a library raises
            self._handler.report(error)
            return self._next_delay_s()
        if socket is None:
            return 0.0
        code, reason = await self._serve(socket)
        self._handler.changed("offline", code)
        if code is not None and code not in RECONNECT_CODES:
            raise LinkEnded(f"closed with {code} {reason}".rstrip(), close_code=code)
        return self._next_delay_s()

    async def _dial(self) -> Any:
        """Opens a WebSocket; None if the link is closed meanwhile."""

        async def open_socket() -> Any:
            url, credential = await self._handler.credentials()
            # The credential as a subprotocol, as in browsers: the two interfaces of the library differ in their argument for headers.
            protocols = ["wheelhouse.v1", f"bearer.{credential}"]
            return await websockets.connect(
                url,
                subprotocols=protocols,  # type: ignore[arg-type]
                compression=None,
                max_size=MAX_RECEIVED_BYTES,
                ping_interval=None,
                open_timeout=CONNECT_LIMIT_S,
                close_timeout=1,
            )

        dialling = asyncio.ensure_future(open_socket())
        closing = asyncio.ensure_future(self._closing.wait())
        try:
            await asyncio.wait([dialling, closing], return_when=asyncio.FIRST_COMPLETED)
            return dialling.result() if dialling.done() else None
        finally:
            dialling.cancel()
            closing.cancel()

    def _refused(self, refusal: BaseException) -> float:
        # The old interface has `status_code` and `headers`, the new one `response`.
        response = getattr(refusal, "response", refusal)
        status = getattr(response, "status_code", None)
        self._unauthorized_left -= status == 401
        if status in FINAL_STATUSES or self._unauthorized_left <= 0:
            raise LinkEnded(f"refused with {status}", status=status)
        self._handler.report(refusal)
        return self._next_delay_s(min(MAX_RETRY_AFTER_S, retry_after_s(getattr(response, "headers", None)) or 0.0))

    async def _serve(self, socket: Any) -> tuple[int | None, str]:
        """Reads a connection to its end. Returns its close code, None if this side has closed it, and the reason."""
        connection = Connection(socket, asyncio.get_running_loop())
        if self._library is not None:
            connection.channel = DataChannel(
                self._library,
                lambda frame: connection.send(frame, droppable=False),
                lambda message: self._handler.received(connection, message),
            )
        tasks = [asyncio.ensure_future(work) for work in (self._read(connection), connection.write(), self._closing.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            connection.end()
            for task in tasks:
                task.cancel()
            self._handler.lost(connection)
            results = await asyncio.gather(*tasks, return_exceptions=True)
            if self._closing.is_set():
                await connection.close()
        if self._closing.is_set():
            return None, ""
        for error in results:
            if isinstance(error, Exception) and not isinstance(error, websockets.ConnectionClosed):
                self._handler.report(error)
        closed = next((error for error in results if isinstance(error, websockets.ConnectionClosed)), None)
        frame = closed.rcvd if closed else None
        if closed is None:
            connection.abort()
        return (frame.code, frame.reason) if frame else (1006, "")

    async def _read(self, connection: Connection) -> None:
        while True:
            self._handler.received(connection, await connection.read())
