"""The hub: the log of sessions without gaps, chat, actions, notifications and the status of robots, over Socket.IO."""
from __future__ import annotations

import asyncio
import json
import logging
import time
import urllib.parse
import uuid
from collections.abc import AsyncIterator
from typing import Any

import websockets

from .backoff import Backoff
from .errors import ApiError

logger = logging.getLogger("wheelhouse")

MAX_BUFFERED_EVENTS = 1_000
"""Most live entries of one log that wait for their reader. Beyond that they are read from the log again."""
MAX_WATCHES = 100
"""Most sessions that one connection may watch."""
MAX_CALLS = 2_000
"""Most commands that wait for their answers."""
MAX_MESSAGE_BYTES = 4 * 1024 * 1024
"""Largest message of the hub."""
CONNECT_LIMIT_S = 10.0
CALL_LIMIT_S = 10.0
"""Longest wait for the answer of a command."""
CHAT_LIMIT_S = 30.0
"""Longest wait until a chat message is acknowledged."""

_FINAL_STATUSES = frozenset({401, 403})


class Hub:
    """A client of the hub, which reconnects by itself.

        async with Hub("https://hub.example", token) as hub:
            async for event in hub.watch(session_id):
                print(event["seq"], event["type"], event["data"])

    All methods belong to one loop. They raise ApiError: for a refusal with its status, and with the status 0 and the code `not_connected`
    (nothing was sent) or `unacknowledged` (it may or may not have taken effect).
    """

    def __init__(self, url: str, token: str) -> None:
        """`url` is the origin of the hub, `token` a session token or an API key."""
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https"):
            raise ValueError("url must begin with http:// or https://")
        scheme = "wss" if parts.scheme == "https" else "ws"
        self._url = f"{scheme}://{parts.netloc}/socket.io/?EIO=4&transport=websocket"
        self._token = token
        self._socket: Any = None
        self._task: asyncio.Task[None] | None = None
        self._connected = asyncio.Event()
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._number = 0
        self._feeds: dict[tuple[str, str | None], _Feed] = {}
        self._failure: ApiError | None = None

    async def __aenter__(self) -> Hub:
        await self.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def connected(self) -> bool:
        """Whether the hub has accepted the credential on the present connection."""
        return self._connected.is_set()

    async def connect(self) -> None:
        """Connects, and stays connected until `close`. Raises ApiError if the hub does not accept the credential."""
        if self._task is None:
            self._task = asyncio.ensure_future(self._run())
        await self._when_connected(None)

    async def close(self) -> None:
        """Closes the connection and ends what is watched."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def call(self, command: str, payload: dict[str, Any], *, limit_s: float = CALL_LIMIT_S) -> dict[str, Any]:
        """Sends a command once and returns the fields of its answer."""
        if not self.connected:
            raise self._failure or ApiError(0, "not_connected", f"{command} was not sent: no connection to the hub")
        if len(self._answers) >= MAX_CALLS:
            raise ApiError(429, "", f"{command} was not sent: too many commands wait for their answers")
        self._number += 1
        number, answered = self._number, asyncio.get_running_loop().create_future()
        self._answers[number] = answered
        text = f"42{number}{json.dumps([command, payload], allow_nan=False)}"
        try:
            await asyncio.wait_for(self._socket.send(text), limit_s)
            answer = await asyncio.wait_for(answered, limit_s)
        except (asyncio.TimeoutError, websockets.ConnectionClosed) as error:
            raise ApiError(0, "unacknowledged", f"{command} was not acknowledged") from error
        finally:
            self._answers.pop(number, None)
        if answer.get("ok") is not True:
            raise ApiError(int(answer.get("status", 500)), "", str(answer.get("error", "refused")))
        return dict(answer)

    async def send_chat(self, session_id: str, body: str, *, limit_s: float = CHAT_LIMIT_S) -> dict[str, Any]:
        """Sends a chat message, repeatedly until the hub has stored it, once. Returns the message."""
        payload = {"session_id": session_id, "body": body, "client_message_id": str(uuid.uuid4())}
        until_s = time.monotonic() + limit_s
        while True:
            try:
                await self._when_connected(until_s - time.monotonic())
                message: dict[str, Any] = (await self.call("chat:send", payload))["message"]
                return message
            except ApiError as error:
                if error.status != 0 or self._failure is not None or time.monotonic() >= until_s:
                    raise

    async def action(self, session_id: str, action: str, reason: str | None = None) -> dict[str, Any]:
        """Acts on a session: `start`, `pause`, `resume`, `end`, `emergency_stop`, `clear_stop` and others. Returns the session."""
        payload = {"session_id": session_id, "action": action, **({} if reason is None else {"reason": reason})}
        session: dict[str, Any] = (await self.call("session:action", payload))["session"]
        return session

    def watch(self, session_id: str, *, after: int = 0) -> AsyncIterator[dict[str, Any]]:
        """Yields every entry of a session's log above `after`, once and in order, now and as they happen.

        Begins at 1 again if the log is shorter than what was read.
        """
        return self._follow("session:watch", {"session_id": session_id}, "events", "seq", after)

    def notifications(self, *, after: int = 0) -> AsyncIterator[dict[str, Any]]:
        """Yields every notification above `after`, once and in order, now and as they happen."""
        return self._follow("notifications:since", {}, "notifications", "id", after)

    async def robots(self) -> AsyncIterator[list[dict[str, Any]]]:
        """Yields the status of all visible robots, and then those that have changed. All again after each reconnect."""
        feed = self._subscribe(("robots:watch", None))
        backoff = Backoff()
        try:
            while True:
                if feed.is_stale:
                    feed.is_stale = False
                    feed.items.clear()
                    answer = await self._read("robots:watch", {}, backoff)
                    if answer is None:
                        feed.is_stale = True
                        continue
                    yield answer["robots"]
                elif feed.items:
                    changed = list(feed.items.values())
                    feed.items.clear()
                    yield changed
                else:
                    await feed.wait()
        finally:
            del self._feeds[("robots:watch", None)]

    async def _follow(
        self, command: str, payload: dict[str, Any], field: str, number: str, after: int
    ) -> AsyncIterator[dict[str, Any]]:
        key = (command, payload.get("session_id"))
        feed, last, empty_pages = self._subscribe(key), after, 0
        backoff = Backoff()
        try:
            while True:
                if (entry := feed.items.pop(last + 1, None)) is not None:
                    last += 1
                    yield entry
                    continue
                for earlier in [known for known in feed.items if known <= last]:
                    del feed.items[earlier]
                if not feed.items and not feed.is_stale:
                    await feed.wait()
                    continue
                # After a connect, or an entry is missing.
                feed.is_stale = False
                answer = await self._read(command, {**payload, "after": last}, backoff)
                if answer is None:
                    feed.is_stale = True
                    continue
                head, before = int(answer["head"]), last
                if head < last:
                    last, feed.is_stale = 0, True
                    feed.items.clear()
                    continue
                for entry in answer[field]:
                    if entry[number] <= last:
                        continue
                    if entry[number] != last + 1:
                        raise ApiError(0, "gap", f"the log skips from {last} to {entry[number]}")
                    last += 1
                    yield entry
                feed.is_stale = feed.is_stale or head > last
                # One empty page: a live entry has overtaken the answer. Two: the hub withholds a part of its log.
                empty_pages = 0 if last > before or head <= last else empty_pages + 1
                if empty_pages > 1:
                    raise ApiError(0, "gap", f"the hub does not return the entries after {last}")
        finally:
            del self._feeds[key]
            if command == "session:watch" and self.connected:
                await self._unwatch(payload)

    async def _unwatch(self, payload: dict[str, Any]) -> None:
        try:
            await self.call("session:unwatch", payload)
        except ApiError as error:
            logger.debug("%s", error)  # the hub forgets a connection that has ended

    def _subscribe(self, key: tuple[str, str | None]) -> _Feed:
        if key in self._feeds:
            raise ValueError(f"{key[0]} {key[1] or ''} is followed already".replace("  ", " "))
        if len(self._feeds) >= MAX_WATCHES + 2:
            raise ValueError(f"a connection can watch at most {MAX_WATCHES} sessions")
        feed = self._feeds[key] = _Feed()
        return feed

    async def _read(self, command: str, payload: dict[str, Any], backoff: Backoff) -> dict[str, Any] | None:
        """Sends a command; None if it is to be sent again. Raises ApiError for a refusal that would be repeated."""
        await self._when_connected(None)
        try:
            answer = await self.call(command, payload)
        except ApiError as error:
            if 400 <= error.status < 500 and error.status not in (408, 429):
                raise
            logger.info("%s", error)
            await asyncio.sleep(backoff.next_s(error.retry_after_s or 0.0))
            return None
        backoff.reset()
        return answer

    async def _when_connected(self, limit_s: float | None) -> None:
        if self._task is None:
            raise ApiError(0, "not_connected", "connect first")
        waiting = asyncio.ensure_future(self._connected.wait())
        try:
            await asyncio.wait([waiting, self._task], timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                raise self._failure or ApiError(0, "not_connected", "no connection to the hub")
        finally:
            waiting.cancel()

    # The connection

    async def _run(self) -> None:
        backoff = Backoff()
        try:
            while True:
                began_s = time.monotonic()
                try:
                    await self._connect_once()
                except ApiError as refusal:
                    if refusal.status in _FINAL_STATUSES:
                        self._failure = refusal
                        return
                    logger.info("%s", refusal)
                except Exception as error:  # whatever a server answers, or the library raises
                    logger.info("hub: %r", error)
                if time.monotonic() - began_s > CONNECT_LIMIT_S:
                    backoff.reset()
                await asyncio.sleep(backoff.next_s())
        finally:
            self._failure = self._failure or ApiError(0, "not_connected", "the connection to the hub is closed")
            for feed in self._feeds.values():
                feed.end(self._failure)

    async def _connect_once(self) -> None:
        """Runs one connection to its end."""
        socket = await websockets.connect(
            self._url, compression=None, max_size=MAX_MESSAGE_BYTES, ping_interval=None, open_timeout=CONNECT_LIMIT_S, close_timeout=1
        )
        try:
            opened = json.loads(str(await asyncio.wait_for(socket.recv(), CONNECT_LIMIT_S))[1:])
            silence_s = (opened["pingInterval"] + opened["pingTimeout"]) / 1000
            await socket.send("40" + json.dumps({"token": self._token}))
            self._accept(str(await asyncio.wait_for(socket.recv(), CONNECT_LIMIT_S)))
            self._socket = socket
            self._connected.set()
            for feed in self._feeds.values():
                feed.renew()
            while True:
                message = await asyncio.wait_for(socket.recv(), silence_s)
                if message == "2":
                    await socket.send("3")
                elif message == "41":
                    return  # the credential has ended, or the hub does; the next handshake tells
                elif isinstance(message, str):
                    self._on_message(message)
        finally:
            self._connected.clear()
            for answered in self._answers.values():
                if not answered.done():
                    answered.set_exception(ApiError(0, "unacknowledged", "the connection to the hub has ended before the answer"))
            await socket.close()

    def _accept(self, message: str) -> None:
        if message.startswith("44"):
            refusal = json.loads(message[2:])
            data = refusal.get("data") or {}
            raise ApiError(int(data.get("status", 503)), "", f"the hub refused the connection: {refusal.get('message')}")
        if not message.startswith("40"):
            raise ValueError(f"unexpected message {message[:40]!r}")

    def _on_message(self, message: str) -> None:
        """Handles an event (`42["name",payload]`) or an answer (`43<number>[answer]`)."""
        kind, start = message[:2], message.find("[")
        if kind not in ("42", "43") or start < 0:
            return
        items = json.loads(message[start:])
        if kind == "43":
            answered = self._answers.get(int(message[2:start]))
            if answered is not None and not answered.done():
                answered.set_result(items[0])
            return
        name, payload = items[0], items[1]
        if name == "session:event":
            self._push(("session:watch", payload["session_id"]), payload["seq"], payload)
        elif name == "notification":
            self._push(("notifications:since", None), payload["id"], payload)
        elif name == "robot:status":
            self._push(("robots:watch", None), payload["robot_id"], payload)

    def _push(self, key: tuple[str, str | None], number: Any, entry: dict[str, Any]) -> None:
        feed = self._feeds.get(key)
        if feed is not None:
            feed.push(number, entry)


class _Feed:
    """Live entries that wait for their reader, by their number."""

    def __init__(self) -> None:
        self.items: dict[Any, dict[str, Any]] = {}
        self.is_stale = True
        """Entries may have been missed."""
        self._failure: ApiError | None = None
        self._changed = asyncio.Event()

    def push(self, number: Any, entry: dict[str, Any]) -> None:
        if len(self.items) >= MAX_BUFFERED_EVENTS:
            self.items.clear()
            self.is_stale = True
        self.items[number] = entry
        self._changed.set()

    def renew(self) -> None:
        self.is_stale = True
        self._changed.set()

    def end(self, failure: ApiError) -> None:
        self._failure = failure
        self._changed.set()

    async def wait(self) -> None:
        if self._failure is not None:
            raise self._failure
        await self._changed.wait()
        self._changed.clear()
        if self._failure is not None:
            raise self._failure
