"""Operators and observers of a session: commands, telemetry, and the stop, over a ticket of the REST API."""
from __future__ import annotations

import asyncio
import inspect
import json
import logging
import struct
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .autonomy import Autonomy, read_autonomy, read_goal
from .control import Lease, Limits, read_lease, read_limits
from .errors import ApiError, GatewayError, LinkEnded, WheelhouseError
from .limits import is_finite, limit_speed, speeds_are_readable
from .link import Connection, Link, frame_text
from .rest import Api

logger = logging.getLogger("wheelhouse")

SILENCE_S = 5.0
"""Without a frame for this time, the connection is replaced. The gateway answers the pings of this side."""
PING_S = 1.0
"""Interval of pings, and of the repetitions of a stop that the platform has not recorded."""
MAX_TTL_MS = 65_535
"""Largest lifetime of a command, in milliseconds."""
MAX_STOP_REASON = 500
"""Longest reason of a stop. The rest is cut off."""
MAX_OUTSTANDING = 1_024
"""Most commands whose sending time is remembered until their answer."""
OFFLINE_PATIENCE_S = 300.0
"""How long a link tries while the platform refuses tickets because the robot is offline."""
CONFLICT = 409

_BINARY_HEADER = struct.Struct(">BBHId")
_BINARY_CONTROL, _BINARY_TELEMETRY = 1, 2
_FINAL_TICKET_STATUSES = frozenset({400, 401, 403, 404, 422})
_OPEN = ("ACTIVE", "PAUSED")


@dataclass(frozen=True)
class StopState:
    """The stop in force, as the gateway has it."""

    reason: str
    latched: bool
    """Lasts until a participant clears it; any other ends with the next command."""
    recorded: bool
    """The platform has stored it."""
    by_role: str | None = None
    clearable_by: str | None = None


@dataclass(frozen=True)
class SessionState:
    """The state of a session at its gateway."""

    status: str
    robot_connected: bool
    stop: StopState | None


class Observer:
    """Follows a session, and may stop its robot. Derive from it, or read its attributes:

        async with Observer("https://hub.example", token, session_id) as observer:
            await observer.ended

    All methods belong to one loop. The `on_` methods run on it and must not block; what they raise goes to `on_error`.
    """

    part = "watch"

    def __init__(self, base_url: str | Api, token: str | None = None, session_id: str = "", *, data_channel: bool = True) -> None:
        """`base_url` is the origin of the platform, with a session token or an API key, or an `Api`."""
        self.api = base_url if isinstance(base_url, Api) else Api(base_url, token)
        if not session_id:
            raise ValueError("session_id is missing")
        self.session_id = session_id
        self.state: SessionState | None = None
        """The state as last received; None before the first one."""
        self.telemetry: Any = None
        """The newest sample."""
        self.battery: float | None = None
        """The charge of the robot, 0 to 1."""
        self.limits = Limits()
        """The allowed speed."""
        self.lease: Lease | None = None
        """Who controls the robot; None while control of it never changed hands and this side is its operator, and for a link that has not heard."""
        self.autonomy: Autonomy | None = None
        """What the robot does by itself; None before it has reported that, and while it is not connected."""
        self.latency_ms: tuple[float | None, float | None] = (None, None)
        """The last round trips between the gateway and the operator, and between the gateway and the robot."""
        self._connection: Connection | None = None
        self._link = Link(self, data_channel=data_channel and self.part == "control", max_unauthorized=3)
        self._task: asyncio.Task[None] | None = None
        self._waiting: list[tuple[Callable[[], bool], asyncio.Future[None]]] = []
        self._pings: asyncio.Task[None] | None = None
        self._stop = _StopRequest(self._send_stop)
        self._stop_number = 0
        self._offline_since_s: float | None = None

    # What a program may define

    def on_state(self, state: SessionState) -> None:
        """Takes the first state and each change."""

    def on_telemetry(self, data: Any) -> None:
        """Takes a sample of the robot."""

    def on_binary_telemetry(self, payload: bytes) -> None:
        """Takes a binary sample of the robot."""

    def on_log(self, level: str, message: str) -> None:
        """Takes a line of the robot's log."""

    def on_limits(self, limits: Limits) -> None:
        """Takes the allowed speed when it changes."""

    def on_lease(self, lease: Lease) -> None:
        """Takes who controls the robot when that changes, or is not this side. Commands pass while `lease.you`."""

    def on_autonomy(self, autonomy: Autonomy) -> None:
        """Takes what the robot does by itself and how its goal goes: after the first state if the robot reports it, then with each change."""

    def on_connection(self, state: str, close_code: int | None) -> None:
        """Takes `connecting`, `online`, `offline` (with the close code) or `closed`."""

    def on_error(self, error: BaseException) -> None:
        """Takes failures that are tried again, and what other methods raise."""
        logger.error("%s", error)

    # The life of the link

    async def __aenter__(self) -> Any:
        await self.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def connect(self) -> SessionState:
        """Connects, and keeps reconnecting with fresh tickets. Returns the first state. Raises LinkEnded if there is none."""
        if self._task is None:
            self._task = asyncio.ensure_future(self._run())
        await self.wait_for(lambda: self.state is not None)
        assert self.state is not None
        return self.state

    async def close(self) -> None:
        """Closes the link."""
        self._link.close()
        if self._task is not None:
            await asyncio.wait([self._task])
            if not self._task.cancelled():
                self._task.exception()  # of a link that had ended already

    @property
    def online(self) -> bool:
        """Whether the gateway has admitted this side."""
        return self._connection is not None

    @property
    def ended(self) -> asyncio.Future[None]:
        """Done when the link is closed; fails with LinkEnded, as when the session is over."""
        if self._task is None:
            raise WheelhouseError("connect first")
        return asyncio.shield(self._task)

    async def wait_for(self, condition: Callable[[], bool]) -> None:
        """Waits until a condition over the attributes is true, asked after each frame. Raises LinkEnded if the link ends before."""
        if self._task is None:
            raise WheelhouseError("connect first")

        if condition():
            return
        waiting: tuple[Callable[[], bool], asyncio.Future[None]] = (condition, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        try:
            await asyncio.wait([waiting[1], self._task], return_when=asyncio.FIRST_COMPLETED)
            if not waiting[1].done():
                await self._task
                raise LinkEnded("the link was closed")
            waiting[1].result()
        finally:
            self._waiting.remove(waiting)

    async def _run(self) -> None:
        try:
            await self._link.run()
        except BaseException as error:
            self._stop.end(error)
            raise
        self._stop.end(LinkEnded("the link was closed"))

    # Stops

    @property
    def stop_pending(self) -> bool:
        """Whether a stop is requested that the platform has not recorded yet."""
        return self._stop.pending

    def stop(self, reason: str | None = None) -> asyncio.Future[None]:
        """Requests a remote stop, which halts the robot until a participant clears it.

        It is sent at once, or as soon as the link is online, and repeated, also over new connections, until the platform has recorded it:
        then the future is done. You may ignore it; it fails when the link ends. The remote stop never replaces the robot's own emergency stop.
        """
        return self._stop.request(None if reason is None else reason[:MAX_STOP_REASON])

    def _send_stop(self, reason: str | None) -> float | None:
        """Sends a stop and then a ping. Returns the time of the ping; None if the link is offline."""
        connection = self._connection
        if connection is None:
            return None
        self._stop_number += 1
        frame: dict[str, Any] = {"type": "stop", "n": self._stop_number}
        if reason is not None:
            frame["reason"] = reason
        if connection.channel is not None:
            connection.channel.send(frame_text(frame))
        return self._ping(connection) if connection.send(frame, droppable=False) else None

    def _ping(self, connection: Connection) -> float | None:
        t_ms = time.monotonic() * 1000
        return t_ms if connection.send({"type": "ping", "t": t_ms}, droppable=False) else None

    async def _keep_pinging(self, connection: Connection) -> None:
        while True:
            self._stop.tick()
            self._ping(connection)
            await asyncio.sleep(PING_S)

    # What the link calls

    async def credentials(self) -> tuple[str, str]:
        try:
            ticket = await asyncio.to_thread(self.api.post_session_ticket, id=self.session_id, part=self.part)
        except ApiError as refusal:
            await self._check_refusal(refusal)
            raise
        self._offline_since_s = None
        self._stop.dialling()
        return str(ticket["url"]), str(ticket["ticket"])

    async def _check_refusal(self, refusal: ApiError) -> None:
        """Raises LinkEnded if another request for a ticket would be refused as well."""
        if refusal.status in _FINAL_TICKET_STATUSES:
            raise LinkEnded(refusal.message, status=refusal.status) from refusal
        if refusal.status != CONFLICT:
            return
        # Either the robot is offline, or the session is over.
        now_s = time.monotonic()
        self._offline_since_s = self._offline_since_s or now_s
        session = await asyncio.to_thread(self.api.get_session, id=self.session_id)
        if session["status"] not in _OPEN or now_s - self._offline_since_s > OFFLINE_PATIENCE_S:
            raise LinkEnded(refusal.message, status=CONFLICT) from refusal

    def is_awaited(self) -> bool:
        return self.state is not None and self.state.status in _OPEN

    def changed(self, state: str, close_code: int | None) -> None:
        self._call(self.on_connection, state, close_code)

    def report(self, error: BaseException) -> None:
        try:
            self.on_error(error)
        except Exception as second:
            logger.error("%r", second)

    def lost(self, connection: Connection) -> None:
        self._connection = None
        if self._pings is not None:
            self._pings.cancel()
        self._stop.offline()

    def received(self, connection: Connection, message: str | bytes) -> None:
        try:
            if isinstance(message, bytes):
                kind, *_ = _BINARY_HEADER.unpack_from(message)
                if kind == _BINARY_TELEMETRY and self._connection is connection:
                    self._call(self.on_binary_telemetry, message[_BINARY_HEADER.size :])
            else:
                frame = json.loads(message)
                if self._connection is None and frame["type"] == "state":
                    self._on_first_state(connection)
                if self._connection is connection:
                    self.handle(frame["type"], frame)
        except Exception as error:
            self.report(WheelhouseError(f"unreadable frame: {error!r}"))
        for condition, waiting in self._waiting:
            try:
                if not waiting.done() and condition():
                    waiting.set_result(None)
            except Exception as error:  # of the condition: its caller gets it
                waiting.set_exception(error)

    def _on_first_state(self, connection: Connection) -> None:
        self._connection = connection
        self._link.online(connection, SILENCE_S)
        self._change_limits(Limits())  # the gateway sends them after the first state
        self.autonomy = None  # and what the robot has reported
        self._pings = asyncio.ensure_future(self._keep_pinging(connection))

    def handle(self, kind: str, frame: dict[str, Any]) -> None:
        """Handles a frame of the gateway."""
        if kind == "telemetry":
            self.telemetry = frame["data"]
            self._call(self.on_telemetry, self.telemetry)
        elif kind == "state":
            stop = frame["stop"]
            known = stop and StopState(
                str(stop["reason"]), stop["latched"] is True, stop["recorded"] is True, stop.get("by_role"), stop.get("clearable_by")
            )
            self.state = SessionState(str(frame["status"]), frame["robot_connected"] is True, known)
            if not self.state.robot_connected:
                self.autonomy = None  # the robot reports it again
            self._stop.state(self.state)
            self._call(self.on_state, self.state)
        elif kind == "limits":
            self._change_limits(read_limits(frame))
        elif kind == "lease":
            self.lease = read_lease(frame)
            self._call(self.on_lease, self.lease)
        elif kind == "autonomy":
            self.autonomy = read_autonomy(frame)
            self._call(self.on_autonomy, self.autonomy)
        elif kind == "log":
            self._call(self.on_log, str(frame["level"]), str(frame["message"]))
        elif kind == "battery":
            self.battery = float(frame["battery"])
        elif kind == "latency":
            self.latency_ms = (frame["operator_ms"], frame["robot_ms"])
        elif kind == "pong":
            self._stop.pong(float(frame["t"]))
        elif kind == "error":
            self.report(GatewayError(str(frame["message"])))
        elif self._connection is not None and self._connection.channel is not None:
            self._connection.channel.on_frame(frame)

    def _change_limits(self, limits: Limits) -> None:
        if limits != self.limits:
            self.limits = limits
            self._call(self.on_limits, limits)

    def _call(self, callback: Callable[..., Any], *args: Any) -> None:
        try:
            callback(*args)
        except Exception as error:
            self.report(error)


class Operator(Observer):
    """Drives the robot of a session. Commands have to keep coming while the robot moves: silence halts it.

        async with Operator("https://hub.example", token, session_id) as operator:
            await operator.drive({"linear_mps": 0.3, "angular_radps": 0}, seconds=3)
    """

    part = "control"

    def __init__(self, base_url: str | Api, token: str | None = None, session_id: str = "", *, data_channel: bool = True) -> None:
        super().__init__(base_url, token, session_id, data_channel=data_channel)
        self._seq = 0
        self._sent_s: OrderedDict[int, float] = OrderedDict()

    def on_ack(self, seq: int, round_trip_ms: float | None) -> None:
        """Takes the number of a command that the robot has obeyed, and the time since it was sent."""

    def on_dropped(self, seq: int, why: str) -> None:
        """Takes the number of a command or a goal that did not reach the robot, and the reason."""

    def control(
        self,
        data: Any,
        *,
        ttl_ms: int | None = None,
        video_age_ms: float | None | bool = False,
        seen: Mapping[str, float] | None = None,
    ) -> int | None:
        """Sends one command of any JSON value, slowed down to the allowed speed.

        `ttl_ms`: its greatest age when the robot obeys it, by default the gateway's deadman. `video_age_ms`: how old the picture is by which
        the operator drives, None if that is unknown, False without a picture. `seen`: of each camera, when its newest shown frame was captured,
        in Unix milliseconds of the platform's clock, which its sender reports have. Returns its number; None if it was not sent: the link is
        offline, has too many unsent bytes, or a stop is pending. Raises FrameError for data that cannot be sent.
        """
        scale = self.limits.speed_scale
        fields: dict[str, Any] = {"data": data}
        if scale < 1 and speeds_are_readable(data):
            fields = {"speed_scale": scale, "data": limit_speed(data, 1.0, scale, None)}
        if video_age_ms is not False:
            fields["video_age_ms"] = max(0, round(video_age_ms)) if is_finite(video_age_ms) and video_age_ms is not None else None
        if seen:
            fields["seen"] = dict(seen)
        if _checked(ttl_ms) is not None:
            fields["ttl_ms"] = ttl_ms
        seq = self._seq + 1
        return self._transmit(frame_text({"type": "control", "seq": seq, "t": time.monotonic() * 1000, **fields}))

    def control_binary(self, payload: bytes, *, ttl_ms: int | None = None) -> int | None:
        """Sends opaque bytes as a command. Slow them down by `limits.speed_scale`, to see what the robot does."""
        header = _BINARY_HEADER.pack(_BINARY_CONTROL, 0, _checked(ttl_ms) or 0, self._seq + 1, time.monotonic() * 1000)
        return self._transmit(header + payload)

    def goal(
        self, frame: str, x: float, y: float, heading: float, *, ttl_ms: int | None = None, goal_id: str | None = None
    ) -> tuple[int, str] | None:
        """Sends the robot to a place: metres and radians, counter-clockwise from x, in the coordinate frame that `autonomy.goal_frame` names.

        The robot drives there by itself, and `on_autonomy` tells how it goes. The next command cancels the goal, and so do `cancel_goal`,
        every stop, and the end of this connection. `ttl_ms` is that of commands; `goal_id` names the goal, up to 64 characters, by default a
        UUID. Returns its number, for `on_dropped`, and its id; None if it was not sent, as a command. Raises ValueError for an invalid goal.
        """
        fields: dict[str, Any] = {"goal_id": goal_id or str(uuid.uuid4()), "frame": frame, "x": x, "y": y, "heading": heading}
        goal = read_goal({**fields, "seq": self._seq + 1})
        if _checked(ttl_ms) is not None:
            fields["ttl_ms"] = ttl_ms
        seq = self._send_goal(frame_text({"type": "goal", "seq": goal.seq, "t": time.monotonic() * 1000, **fields}))
        return None if seq is None else (seq, goal.goal_id)

    def _send_goal(self, message: str) -> int | None:
        if self._connection is None or self.stop_pending or not self._connection.send_message(message):
            return None
        self._seq += 1
        return self._seq

    def cancel_goal(self) -> bool:
        """Cancels the goal of the robot, which then halts. Returns False if the link is offline."""
        return self._connection is not None and self._connection.send({"type": "cancel_goal"}, droppable=False)

    def _transmit(self, message: str | bytes) -> int | None:
        connection = self._connection
        # Once a stop is requested, no command follows, even before the stop has arrived.
        if connection is None or self.stop_pending:
            return None
        sent = connection.channel.send(message) if connection.channel is not None else None
        if not sent and not connection.send_message(message) and sent is None:
            return None
        self._seq += 1
        self._sent_s[self._seq] = time.monotonic()
        if len(self._sent_s) > MAX_OUTSTANDING:
            self._sent_s.popitem(last=False)
        return self._seq

    async def drive(self, source: Any, *, rate_hz: float = 20.0, seconds: float | None = None, ttl_ms: int | None = None) -> None:
        """Sends commands at a rate, until `seconds` are over or `source` returns None.

        `source` is the data of a command, or a function that returns it, which runs in another thread, or a coroutine function. While it
        does not return, no command is sent, and the robot halts: what is not known any more is not repeated. Raises LinkEnded when the link
        ends, and what `source` raises.
        """
        if not 0 < rate_hz <= 200:
            raise ValueError("rate_hz must be above 0 and at most 200")
        loop = asyncio.get_running_loop()
        began_s = next_s = loop.time()
        while seconds is None or loop.time() - began_s < seconds:
            data = source
            if inspect.iscoroutinefunction(source):
                data = await source()
            elif callable(source):
                data = await asyncio.to_thread(source)
            if data is None:
                return
            self.control(data, ttl_ms=ttl_ms)
            if self._task is None or self._task.done():
                await self.ended
                raise LinkEnded("the link was closed")
            next_s = max(next_s + 1 / rate_hz, loop.time() - 1 / rate_hz)
            await asyncio.sleep(next_s - loop.time())

    def handle(self, kind: str, frame: dict[str, Any]) -> None:
        if kind == "ack":
            sent_s = self._sent_s.pop(frame["seq"], None)
            self._call(self.on_ack, frame["seq"], None if sent_s is None else (time.monotonic() - sent_s) * 1000)
        elif kind == "dropped":
            self._sent_s.pop(frame["seq"], None)
            self._call(self.on_dropped, frame["seq"], str(frame["why"]))
        else:
            super().handle(kind, frame)


def _checked(ttl_ms: int | None) -> int | None:
    if ttl_ms is not None and not 1 <= ttl_ms <= MAX_TTL_MS:
        raise ValueError(f"ttl_ms must be from 1 to {MAX_TTL_MS}")
    return ttl_ms


class _StopRequest:
    """Repeats a stop until the platform has recorded it.

    A state that the gateway sent before it received the stop may describe an earlier stop that has been cleared since. A state therefore
    counts only after the pong of a ping that followed the stop: the gateway handles the frames of a connection in order.
    """

    def __init__(self, send: Callable[[str | None], float | None]) -> None:
        self._send = send
        self._done: asyncio.Future[None] | None = None
        self._ended: BaseException | None = None
        self._reason: str | None = None
        self._state: SessionState | None = None
        self._ping_t: float | None = None
        self._confirmed = False

    @property
    def pending(self) -> bool:
        return self._done is not None

    def request(self, reason: str | None) -> asyncio.Future[None]:
        done = self._done or asyncio.get_running_loop().create_future()
        done.add_done_callback(lambda future: future.cancelled() or future.exception())  # the caller may ignore it
        if self._ended is not None:
            done.set_exception(self._ended)
            return done
        self._done, self._reason, self._ping_t, self._confirmed = done, reason, None, False
        if self._state is not None:
            self._transmit()
        return asyncio.shield(done)

    def dialling(self) -> None:
        """Notes a new connection, all of whose states are newer than the request."""
        self._confirmed = True

    def state(self, state: SessionState) -> None:
        first, self._state = self._state is None, state
        if self._done is not None and not self._complete() and first:
            self._transmit()

    def pong(self, t: float) -> None:
        if self._done is not None and self._ping_t is not None and t >= self._ping_t:
            self._confirmed = True
            self._complete()

    def tick(self) -> None:
        """Sends the stop again if it had no effect."""
        if self._done is not None and self._state is not None:
            latched = self._state.stop is not None and self._state.stop.latched
            if self._ping_t is None or (self._confirmed and not latched):
                self._transmit()

    def offline(self) -> None:
        self._state = self._ping_t = None

    def end(self, error: BaseException) -> None:
        self._ended = error if isinstance(error, Exception) else LinkEnded("the link was closed")
        if self._done is not None and not self._done.done():
            self._done.set_exception(self._ended)
        self._done = None

    def _complete(self) -> bool:
        stop = self._state.stop if self._state is not None else None
        if not self._confirmed or stop is None or not stop.latched or not stop.recorded:
            return False
        if self._done is not None and not self._done.done():
            self._done.set_result(None)
        self._done = None
        return True

    def _transmit(self) -> None:
        ping_t = self._send(self._reason)
        self._ping_t = ping_t if self._ping_t is None else self._ping_t
