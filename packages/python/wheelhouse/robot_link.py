"""The connection of a robot to its gateway: which frame does what, and what the threads of the guard do for it."""
from __future__ import annotations

import asyncio
import json
import logging
import math
import struct
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from .autonomy import Autonomy, AutonomyReports, Goal, read_autonomy, read_goal, within
from .camera import Camera
from .control import FIRST_EPOCH, Command, FrameAge, FrameOrder, Guard, Lease, Limits, Session, Stop, read_epoch, read_lease, read_limits
from .episodes import EpisodeOutbox
from .errors import CommandError, FrameError, GatewayError, WheelhouseError
from .limits import ControlRules, MotionLimiter, is_finite, limit_speed
from .link import Connection, Link, frame_text, non_finite

if TYPE_CHECKING:
    from .robot import Robot

logger = logging.getLogger("wheelhouse")

ERROR_REPEAT_LIMIT_S = 1.0
"""The default `on_error` logs the same error once in this time."""
MAX_STOP_REASON = 500
"""Longest reason of `stopped`, in UTF-16 code units."""
BRAKE_LIMIT_S = 2.0
"""How long the end of a robot waits for `on_stop`."""

_BINARY_HEADER = struct.Struct(">BBHId")
_ORDER_HEADER = struct.Struct(">B3xII")
_BINARY_CONTROL, _BINARY_TELEMETRY, _BINARY_ORDERED = 1, 2, 3


def monotonic_ms() -> float:
    """Returns a time that runs evenly, in milliseconds."""
    return time.monotonic() * 1000


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_decode = json.JSONDecoder(parse_constant=_refuse_constant).decode


def _read_interval(welcome: dict[str, Any], name: str) -> float:
    value = welcome[name]
    if not is_finite(value) or value <= 0:
        raise ValueError(f"{name} is {value!r}")
    return float(value)


def _read_session(frame: dict[str, Any] | None) -> Session | None:
    if frame is None:
        return None
    schemas = (frame.get("control_schema"), frame.get("telemetry_schema"))
    return Session(str(frame["session_id"]), str(frame["status"]), str(frame["operator_name"]), *schemas)


def _motion_of(rules: ControlRules | None) -> tuple[ControlRules | None, MotionLimiter]:
    return rules, MotionLimiter(rules)


class RobotLink:
    """The connection of a robot, and what it may obey at present. Its own methods run on the loop unless they say otherwise."""

    def __init__(
        self,
        robot: Robot,
        base: type[Robot],
        url: str,
        token: str,
        telemetry_hz: float,
        deadman_margin_ms: float,
        control_schema: str | Mapping[str, Any] | None,
        data_channel: bool,
    ) -> None:
        self.robot, self._base, self.token = robot, base, token
        self.guard = Guard(self)
        self.episodes = EpisodeOutbox(lambda frame: self.send(frame, droppable=True))
        self.session: Session | None = None
        self.limits = Limits()
        self.connection: Connection | None = None
        self.whip_url: str | None = None
        self._url = url
        self._uses_data_channel = data_channel
        self._link: Link | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._margin_ms = deadman_margin_ms
        self._follows_platform = control_schema == "platform"
        if isinstance(control_schema, str) and not self._follows_platform:
            raise ValueError("control_schema must be 'platform', a schema or None")
        own = None if control_schema is None or isinstance(control_schema, str) else ControlRules(control_schema)
        self._declared: Any = None
        self._motion = _motion_of(own)
        self._age, self._order, self._last_seq = FrameAge(), FrameOrder(), -1
        self._obeyed_seq = -1
        """The newest number of a command or goal since the last stop or end of a goal: until then, all are of one operator's connection. -1
        after it."""
        self._epoch = FIRST_EPOCH
        """The newest epoch of the session's lease: commands of earlier holders do not move the robot."""
        self._lease: Lease | None = None
        self._autonomy = AutonomyReports(lambda frame: self.send(frame, droppable=False))
        self._deadman_ms = 0.0
        self._beats: asyncio.Task[None] | None = None
        self._telemetry_s = 1 / telemetry_hz if telemetry_hz > 0 and self._defines("telemetry") else math.inf
        self._telemetry_at_s = 0.0
        self._beat_s = math.inf
        self._battery: float | None = None
        self._battery_at_s = 0.0
        self._binary_seq = 0
        self._cameras: list[Camera] = []
        self._logged: tuple[str, float] = ("", -math.inf)

    def _defines(self, method: str) -> bool:
        return getattr(type(self.robot), method) is not getattr(self._base, method)

    # The life of the link

    async def serve(self) -> None:
        if self._loop is not None:
            raise WheelhouseError("serve can be called once")
        self._loop = asyncio.get_running_loop()
        self._link = Link(self, data_channel=self._uses_data_channel)
        self.guard.start(self._loop)
        try:
            await self._link.run()
        finally:
            await self._loop.run_in_executor(None, self.guard.close, "closed", BRAKE_LIMIT_S)
            self.episodes.close()
            for camera in self._cameras:
                await self._loop.run_in_executor(None, camera.close)

    def close(self) -> None:
        """Ends the link. Callable in any thread."""
        if self._loop is not None and self._link is not None:
            try:
                self._loop.call_soon_threadsafe(self._link.close)
            except RuntimeError:
                pass  # the loop has ended

    async def credentials(self) -> tuple[str, str]:
        return self._url, self.token

    def is_awaited(self) -> bool:
        return self.session is not None

    def changed(self, state: str, close_code: int | None) -> None:
        self.guard.event(self.robot_callback, "on_connection", state, close_code)

    def report(self, error: BaseException) -> None:
        """Hands an error to `on_error`. Callable in any thread."""
        self.guard.event(self._tell_error, error)

    def _tell_error(self, error: BaseException) -> None:
        try:
            self.robot_callback("on_error", error)
        except Exception as second:  # it could only be told to `on_error` again
            self.log_error(second)

    def log_error(self, error: BaseException) -> None:
        """Logs an error; the same one at most once a second."""
        now_s, text = time.monotonic(), repr(error)
        known, at_s = self._logged
        if text == known and now_s - at_s < ERROR_REPEAT_LIMIT_S:
            return
        self._logged = (text, now_s)
        ours = isinstance(error, (WheelhouseError, OSError, asyncio.TimeoutError))
        logger.error("%s", error if ours else text, exc_info=None if ours else error)

    def robot_callback(self, method: str, *args: Any) -> Any:
        """Runs a method of the robot. For the threads of the guard."""
        return self.guard.call(getattr(self.robot, method), *args)

    def lost(self, connection: Connection) -> None:
        self.connection = None
        if self.guard.moving:
            self.guard.stop("link_lost", canceled="link_lost")
        self.guard.forget_answer()
        if self._beats is not None:
            self._beats.cancel()
            self._beats = None

    async def _beat(self, connection: Connection) -> None:
        seq = 0
        while True:
            seq += 1
            frame: dict[str, Any] = {"type": "heartbeat", "seq": seq}
            if self._battery is not None:
                frame["battery"] = self._battery
            connection.send(frame, droppable=False)
            self.episodes.tick()
            await asyncio.sleep(self._beat_s)

    def publish_camera(self, name: str, source: Any, options: dict[str, Any]) -> Camera:
        """Starts a camera. Callable in any thread."""

        def address() -> tuple[str, str] | None:
            return None if self.whip_url is None else (self.whip_url, self.token)

        camera = Camera(name, source, address=address, on_error=self.report, **options)
        self._cameras = [*(known for known in self._cameras if known.state != "closed"), camera]
        return camera.start()

    def send(self, frame: dict[str, Any] | bytes, *, droppable: bool) -> bool:
        """Sends a frame, if the robot is online. Callable in any thread."""
        connection = self.connection
        return connection is not None and connection.send(frame, droppable=droppable)

    def send_telemetry(self, data: Any) -> bool:
        """Sends a sample. Callable in any thread."""
        now_ms = monotonic_ms()
        if isinstance(data, (bytes, bytearray, memoryview)):
            self._binary_seq = (self._binary_seq + 1) % 2**32
            header = _BINARY_HEADER.pack(_BINARY_TELEMETRY, 0, 0, self._binary_seq, now_ms)
            return self.send(header + bytes(data), droppable=True)
        return self.send({"type": "telemetry", "data": data, "t": round(now_ms, 3)}, droppable=True)

    def report_autonomy(self, report: Autonomy) -> None:
        """Sends what the robot does by itself, and keeps it for the next connections. Callable in any thread."""
        self._autonomy.report(report, self._loop)
        if report.goal is not None and report.goal.status != "active" and self.guard.goal_ended(report.goal.goal_id):
            self._obeyed_seq = -1

    # Frames of the gateway

    def received(self, connection: Connection, message: str | bytes) -> None:
        """Handles a message of either transport. A frame that cannot be read may have been a stop, so it halts the robot."""
        try:
            if isinstance(message, bytes):
                if self.connection is connection:
                    self._on_binary(message)
            else:
                frame = _decode(message)
                kind = frame["type"]
                if kind == "welcome" and self.connection is None:
                    self._on_welcome(connection, frame)
                elif self.connection is connection:
                    self._on_frame(kind, frame)
        except Exception as error:
            if self.guard.moving:
                self.guard.stop("unreadable_frame")
            self.report(WheelhouseError(f"unreadable frame: {error!r}"))

    def _on_welcome(self, connection: Connection, frame: dict[str, Any]) -> None:
        # A welcome that cannot be read changes nothing: all that may fail comes first.
        assert self._link is not None
        deadman_ms, beat_ms, silence_ms = (_read_interval(frame, f"{name}_ms") for name in ("deadman", "heartbeat_interval", "heartbeat_timeout"))
        session, stop = _read_session(frame["session"]), frame["stop"]
        if stop is not None:
            stop = Stop(str(stop["reason"]), stop["latched"] is not False)
        limits = Limits() if frame.get("limits") is None else read_limits(frame["limits"])
        self._deadman_ms, self._beat_s = deadman_ms, beat_ms / 1000
        self.guard.set_deadman((deadman_ms + self._margin_ms) / 1000)
        self.whip_url = frame.get("whip_url")
        self._age.forget()  # the way through the network may be another
        self._order, self._last_seq, self._obeyed_seq = FrameOrder(), -1, -1
        self.connection = connection
        if stop is not None:
            self.guard.stop(stop.reason, latched=stop.latched, answer=True)
        else:
            self.guard.clear_stop()  # a participant may have cleared it while this robot was offline
        self._link.online(connection, silence_ms / 1000)
        self._change_session(session)
        self._change_limits(limits)
        self._beats = asyncio.ensure_future(self._beat(connection))
        self.episodes.online()
        self._autonomy.send()

    def _on_frame(self, kind: Any, frame: dict[str, Any]) -> None:
        if kind == "stop" and not (isinstance(frame.get("reason"), str) and isinstance(frame.get("latched"), bool)):
            frame = {**frame, "reason": "unreadable stop", "latched": True}
        latched = frame.get("latched") is True
        if not self._order.may_handle(kind, frame.get("order"), frame.get("after", 0), latched):
            return
        if kind == "control":
            self._on_control(frame)
        elif kind == "goal":
            self._on_goal(frame)
        elif kind == "cancel_goal":
            if self.guard.cancel_goal(frame["goal_id"]):
                self._obeyed_seq = -1  # no stop follows, and the operator may connect again
        elif kind == "stop":
            self._obeyed_seq = -1
            self.guard.stop(frame["reason"], latched=latched, answer=True)
        elif kind == "stop_cleared":
            self.guard.clear_stop()
        elif kind == "session":
            self._change_session(_read_session(frame))
        elif kind == "lease":
            self._change_lease(read_lease(frame))
        elif kind == "limits":
            self._change_limits(read_limits(frame))
        elif kind == "episode_ack":
            self.episodes.acknowledged(frame.get("episode_id"))
        elif kind == "error":
            self.report(GatewayError(str(frame.get("message"))))
            self.episodes.refused(frame)
        elif self.connection is not None and self.connection.channel is not None:
            self.connection.channel.on_frame(frame)

    def _change_session(self, session: Session | None) -> None:
        is_open = session is not None and session.status in ("ACTIVE", "PAUSED")
        is_other = (session and session.session_id) != (self.session and self.session.session_id)
        if is_other:
            self._age.forget()  # another operator may have another clock
            self._epoch, self._lease, self._obeyed_seq = FIRST_EPOCH, None, -1
            self._change_limits(Limits())  # the gateway sends those of the new session after it
        if (is_other or session is None or session.status != "ACTIVE") and self.guard.moving:
            self.guard.stop("session_paused" if is_open else "session_over", canceled="session_paused")
        self.session = session if is_open else None
        if session is not None and is_open and self._follows_platform and session.control_schema != self._declared:
            self._follow(session.control_schema)
        self.guard.event(self.robot_callback, "on_session", session)
        self.guard.wake()

    def _follow(self, declared: dict[str, Any] | None) -> None:
        """Applies the schema that the platform has declared. One that this version does not understand has no rules."""
        self._declared, rules = declared, None
        try:
            rules = None if declared is None else ControlRules(declared)
        except ValueError as error:
            self.report(error)
        self._motion = _motion_of(rules)

    def _change_lease(self, lease: Lease) -> None:
        if lease.epoch < self._epoch:
            return
        self._begin_epoch(lease.epoch)
        if lease != self._lease:
            self._lease = lease
            self.guard.event(self.robot_callback, "on_lease", lease)

    def _begin_epoch(self, epoch: int) -> None:
        """Halts a moving robot: every change of the holder goes through a halt, also if the stop before it was lost. The first command of
        the new holder may overtake the lease."""
        if epoch <= self._epoch:
            return
        self._epoch, self._obeyed_seq = epoch, -1
        self._age.forget()  # the new holder has another clock
        if self.guard.moving:
            self.guard.stop("control_transferred", canceled="control_transferred")

    def _change_limits(self, limits: Limits) -> None:
        if limits != self.limits:
            self.limits = limits
            self.guard.event(self.robot_callback, "on_limits", limits)

    def _is_current(self, frame: dict[str, Any]) -> bool:
        """Returns whether a command or a goal is of the ACTIVE session, and of who holds control or has just got it."""
        session, epoch = self.session, read_epoch(frame.get("epoch", FIRST_EPOCH))
        if session is None or session.status != "ACTIVE" or frame["session_id"] != session.session_id or epoch < self._epoch:
            return False
        self._begin_epoch(epoch)
        return True

    def _on_goal(self, frame: dict[str, Any]) -> None:
        goal = read_goal(frame)
        if self._is_current(frame) and goal.seq > self._obeyed_seq:
            self._hand_over(goal.seq, frame["t"], frame["ttl_ms"], goal, 1.0)

    def _on_control(self, frame: dict[str, Any]) -> None:
        if not self._is_current(frame):
            return
        data, rules = frame["data"], self._motion[0]
        problem = rules.problem_of(data) if rules else non_finite(data)
        if problem is not None:
            if self.guard.moving:
                self.guard.stop("invalid_command")
            self.report(CommandError(f"command {frame['seq']} was not obeyed: {problem}"))
            return
        scale = frame.get("speed_scale", 1.0)
        self._hand_over(frame["seq"], frame["t"], frame["ttl_ms"], data, scale if is_finite(scale) and 0 < scale <= 1 else 1.0)

    def _on_binary(self, message: bytes) -> None:
        if message[0] == _BINARY_ORDERED:
            _, order, after = _ORDER_HEADER.unpack_from(message)
            if not self._order.may_handle("control", order, after):
                return
            message = message[_ORDER_HEADER.size :]
        kind, _, ttl_ms, seq, t = _BINARY_HEADER.unpack_from(message)
        if kind == _BINARY_CONTROL and self.session is not None and self.session.status == "ACTIVE":
            self._hand_over(seq, t, ttl_ms, message[_BINARY_HEADER.size :], 1.0)

    def _hand_over(self, seq: Any, t_ms: Any, ttl_ms: Any, data: Any, applied_scale: float) -> None:
        if type(seq) is not int or not is_finite(t_ms) or not is_finite(ttl_ms):
            raise ValueError("malformed control frame")
        if seq <= self._last_seq:
            self._age.forget()  # of another link of the operator, which may have another clock
        self._last_seq = seq
        limit_ms, now_ms = ttl_ms or self._deadman_ms, monotonic_ms()
        age_ms = self._age.age_ms(t_ms, limit_ms, now_ms)
        if age_ms <= limit_ms:
            self._obeyed_seq = seq
            expires_s = (now_ms + limit_ms - age_ms) / 1000
            goal_id = data.goal_id if isinstance(data, Goal) else None
            self.guard.command(Command(seq, data, expires_s, applied_scale, self.connection, goal_id))

    def acknowledge(self, connection: Connection, seq: int) -> None:
        frame = {"type": "ack", "seq": seq}
        if self.connection is connection and not (connection.channel is not None and connection.channel.send(frame_text(frame))):
            connection.send(frame)

    # What the threads of the guard call

    def brake(self, reason: str) -> Any:
        return self.robot_callback("on_stop", reason)

    def goal_canceled(self, goal_id: str, reason: str) -> Any:
        return self.robot_callback("on_goal_canceled", goal_id, reason)

    def is_halted(self) -> Any:
        return self.robot_callback("halted")

    def stopped(self, reason: str) -> None:
        self.send({"type": "stopped", "reason": within(reason, MAX_STOP_REASON)}, droppable=False)

    def obey(self, command: Command, after_halt: bool, begin: Callable[[], bool]) -> None:
        data = command.data
        if isinstance(data, Goal):
            if begin():
                self.robot_callback("on_goal", data)
            return
        if isinstance(data, bytes):
            if not begin():
                return
            result = self.robot_callback("on_binary_control", data)
        else:
            (rules, limiter), scale = self._motion, self.limits.speed_scale
            # A robot that had halted may have been moved since.
            measured = self.robot_callback("measured") if limiter and after_halt else None
            if not begin():
                return
            if measured is not None:
                limiter.reset(measured)
            data = limit_speed(data, command.applied_scale, scale, rules)
            result = self.robot_callback("on_control", limiter.limit(data, scale, time.monotonic()))
        if result is not False and self._loop is not None:
            self._loop.call_soon_threadsafe(self.acknowledge, command.connection, command.seq)

    def periodic(self, now_s: float) -> float:
        """Sends telemetry and asks for the charge when they are due. Returns when the next one is."""
        if self.connection is None:
            return math.inf
        if now_s >= self._battery_at_s:
            self._battery_at_s = now_s + self._beat_s if self._defines("battery") else math.inf
            self._read_battery()
        if self.session is None:
            return self._battery_at_s
        if now_s >= self._telemetry_at_s:
            next_s = self._telemetry_at_s + self._telemetry_s
            self._telemetry_at_s = next_s if next_s > now_s else now_s + self._telemetry_s  # what was missed is not made up for
            self._sample()
        return min(self._telemetry_at_s, self._battery_at_s)

    def _sample(self) -> None:
        data = self.robot_callback("telemetry")
        try:
            if data is not None:
                self.send_telemetry(data)
        except FrameError as error:
            self.report(error)

    def _read_battery(self) -> None:
        charge = self.robot_callback("battery")
        if charge is not None and hasattr(charge, "item"):
            charge = charge.item()
        self._battery = None
        if is_finite(charge) and 0 <= charge <= 1:
            self._battery = charge
        elif charge is not None:
            shown = "NaN" if charge != charge else repr(charge)
            self.report(FrameError(f"battery is {shown}, not a number from 0 to 1"))
