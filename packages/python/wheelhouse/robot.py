"""A robot on the platform: derive from `Robot`, say how it moves and how it stops, and run it."""
from __future__ import annotations

import asyncio
import json
import logging
import math
import os
import signal
import struct
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, NoReturn, TypeVar

from .camera import Camera
from .control import Command, FrameAge, FrameOrder, Guard, Limits, Session, Stop, read_limits
from .data_channel import DataChannel, load_library
from .episodes import EpisodeOutbox
from .errors import CommandError, FrameError, GatewayError, WheelhouseError
from .limits import ControlRules, MotionLimiter, is_finite, limit_speed
from .link import Connection, Link, Message, frame_text, non_finite
from .pairing import STORE, paired

logger = logging.getLogger("wheelhouse")

DEADMAN_MARGIN_MS = 100.0
"""How much later than the gateway's own deadman the robot's one is, so that the gateway's stop arrives first."""
BRAKE_LIMIT_S = 2.0
"""How long the end of a robot waits for `on_stop`."""
ERROR_REPEAT_LIMIT_S = 1.0
"""The default `on_error` logs the same error once in this time."""
MAX_STOP_REASON = 500
"""Longest reason of `stopped`, in UTF-16 code units."""
MAX_LOG_CHARACTERS = 4_000
"""Longest line of the robot's log. The rest is cut off."""

_BINARY_HEADER = struct.Struct(">BBHId")
_ORDER_HEADER = struct.Struct(">B3xII")
_BINARY_CONTROL, _BINARY_TELEMETRY, _BINARY_ORDERED = 1, 2, 3
_LEVELS = {"debug": "debug", "info": "info", "warn": "warn", "warning": "warn", "error": "error"}

AnyRobot = TypeVar("AnyRobot", bound="Robot")


class Robot:
    """A robot. Derive from it and define at least `on_control` and `on_stop`.

    `on_stop` has a thread of its own, which also watches the time since the last command: nothing that another method does delays it. All
    other methods run in one worker thread, one after another, so that they need no locks between them; of commands, only the newest one
    waits for it. Any of them may be a coroutine function, which then runs on the loop of `serve` and must not block it.

    An exception in a method goes to `on_error` and halts the robot. It never ends the robot.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        telemetry_hz: float = 10.0,
        deadman_margin_ms: float = DEADMAN_MARGIN_MS,
        control_schema: str | Mapping[str, Any] | None = "platform",
        data_channel: bool = True,
    ) -> None:
        """
        `url` and `token` are those of the registration, by default CONTROL_URL and ROBOT_TOKEN of the environment.
        `telemetry_hz`: samples per second during a session.
        `deadman_margin_ms`: the robot halts by itself when no command follows for the gateway's `deadman_ms` and this margin.
        `control_schema`: the commands that are accepted: `platform` for those that the platform has declared for this robot, a schema, or
        None for all. JSON commands are limited to the allowed speed in any case.
        `data_channel`: takes commands over UDP too, if `aiortc` is installed and the gateway offers it.

        Raises ValueError for a missing or invalid `url` or `token`, or for an invalid schema, and TypeError without `on_stop`.
        """
        url, token = url or os.environ.get("CONTROL_URL", ""), token or os.environ.get("ROBOT_TOKEN", "")
        if not url.startswith(("ws://", "wss://")):
            raise ValueError("url must be the control_url of the robot, ws:// or wss:// (or set CONTROL_URL)")
        if not token or not all("!" <= character <= "~" for character in token):
            raise ValueError("token must be printable, without spaces (or set ROBOT_TOKEN)")
        if not 0 <= telemetry_hz <= 200 or not deadman_margin_ms >= 0:
            raise ValueError("telemetry_hz must be from 0 to 200, and deadman_margin_ms at least 0")
        if type(self).on_stop is Robot.on_stop:
            raise TypeError(f"{type(self).__name__} must define on_stop, which halts it")
        self._core = _Core(self, url, token, telemetry_hz, deadman_margin_ms, control_schema, data_channel)

    @classmethod
    def pair(
        cls: type[AnyRobot],
        platform: str,
        code: str | None = None,
        *,
        store: str | os.PathLike[str] = STORE,
        **options: Any,
    ) -> AnyRobot:
        """Returns a robot with the credentials of a pairing code of the console, which `store` keeps for the next start.

        `options` go to the constructor. Raises as `paired` of `wheelhouse.pairing`.
        """
        found = paired(platform, code, store)
        return cls(url=found.url, token=found.token, **options)

    # What a robot defines

    def on_control(self, data: Any) -> Any:
        """Obeys a command, whose form is that of the control schema. Return soon: the next command waits.

        The operator receives an acknowledgement when it returns, unless it returns False.
        """
        return False

    def on_stop(self, reason: str) -> Any:
        """Halts the robot. Called for every stop of the gateway, when commands cease, when the connection is lost, after an error, at the
        end of the program, and once more if `on_control` was running meanwhile. Called again if it raises."""

    def telemetry(self) -> Any:
        """Returns a sample of any JSON value, with numpy numbers and arrays, or None for none."""

    def on_binary_control(self, payload: bytes) -> Any:
        """Obeys a binary command. Clamp its speeds to `limits.speed_scale` times their maximum: nobody else can."""
        return False

    def halted(self) -> Any:
        """Returns whether the robot stands. Asked after `on_stop` returned, until it is True: only then is a stop answered."""
        return True

    def measured(self) -> Any:
        """Returns the present positions in the form of a command, or None. The motion limiter begins with them after each halt, so that the
        first command cannot make an arm jump. Asked only if the schema has rates (`x-max-rate`); if it raises, the robot does not move."""

    def battery(self) -> Any:
        """Returns the charge, 0 to 1, or None."""

    def on_session(self, session: Session | None) -> Any:
        """Takes the session when it begins or changes, and once with the status COMPLETED when it is over. None: there is none."""

    def on_limits(self, limits: Limits) -> Any:
        """Takes the allowed speed when it changes. JSON commands are slowed down already."""

    def on_connection(self, state: str, close_code: int | None) -> Any:
        """Takes `connecting`, `online`, `offline` (with the close code) or `closed`."""
        logger.info("%s%s", state, f" ({close_code})" if close_code else "")

    def on_error(self, error: BaseException) -> Any:
        """Takes what went wrong: exceptions of other methods, refused commands, and failures that are tried again."""
        self._core.log_error(error)

    # What a robot uses

    @property
    def session(self) -> Session | None:
        """The open session, None without one."""
        return self._core.session

    @property
    def stop_in_force(self) -> Stop | None:
        """The stop in force, of the gateway or of the robot itself; None while it may obey."""
        return self._core.guard.in_force

    @property
    def limits(self) -> Limits:
        """The allowed speed."""
        return self._core.limits

    @property
    def online(self) -> bool:
        """Whether the gateway has admitted the robot."""
        return self._core.connection is not None

    def log(self, level: str, text: str) -> bool:
        """Adds a line to the robot's log on the platform; `level` is `debug`, `info`, `warn` or `error`. Returns False if it was dropped.

        The platform records up to 20 lines a second, with bursts of 100. Callable in any thread.
        """
        if level not in _LEVELS:
            raise ValueError(f"level must be debug, info, warn or error, not {level!r}")
        frame = {"type": "log", "level": _LEVELS[level], "message": text[:MAX_LOG_CHARACTERS]}
        return self._core.send(frame, droppable=True)

    def send_telemetry(self, data: Any) -> bool:
        """Sends a sample besides those of `telemetry`, of JSON or as bytes. Returns False if it was dropped. Callable in any thread.

        Raises FrameError for a sample that cannot be sent.
        """
        return self._core.send_telemetry(data)

    def send_episode(
        self,
        episode_id: str,
        started_at_ms: float,
        ended_at_ms: float,
        size_bytes: int,
        *,
        success: bool | None = None,
        uri: str | None = None,
        task: str | None = None,
    ) -> Future[None]:
        """Reports a recording of the robot, which the platform counts in the dataset. Times are Unix milliseconds.

        It is repeated, also over new connections, until the platform has stored it: keep the recording until the future is done. It fails
        with EpisodeRefused if the platform does not want it. Up to 1,000 episodes wait in memory. Callable in any thread.
        """
        times = {"started_at": started_at_ms, "ended_at": ended_at_ms, "size_bytes": size_bytes}
        return self._core.episodes.add({"episode_id": episode_id, **times, "success": success, "uri": uri, "task": task})

    def publish_camera(self, name: str, source: Any = None, **options: Any) -> Camera:
        """Publishes a camera: a device as `/dev/video0`, an address as `rtsp://…`, a function that returns pictures of numpy, or None, if the
        program calls `send` of the result. Until it or the robot is closed. `options` are those of `wheelhouse.camera.Camera`."""
        return self._core.publish_camera(name, source, options)

    def run(self) -> None:
        """Serves until SIGINT or SIGTERM, which halt the robot and end it in order. Logs to stderr if the program has set up no logging.

        Raises LinkEnded when the platform refuses the robot for good.
        """
        logging.basicConfig(level=logging.INFO, format="%(message)s")
        logging.getLogger("websockets").setLevel(logging.WARNING)
        asyncio.run(self._run())

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                try:
                    loop.add_signal_handler(number, self.close)
                except NotImplementedError:  # Windows: Ctrl+C cancels `serve`, which brakes as well
                    break
        await self.serve()

    async def serve(self) -> None:
        """Connects and reconnects until `close`, or until the platform refuses the robot for good (LinkEnded). Call it once."""
        await self._core.serve()

    def close(self) -> None:
        """Halts the robot and ends `serve`. Callable in any thread."""
        self._core.close()


def monotonic_ms() -> float:
    """Returns a time that runs evenly, in milliseconds."""
    return time.monotonic() * 1000


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_decode = json.JSONDecoder(parse_constant=_refuse_constant).decode


def _within(text: str, units: int) -> str:
    """Cuts a text to a number of UTF-16 code units."""
    return text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "ignore")


def _motion_of(rules: ControlRules | None) -> tuple[ControlRules | None, MotionLimiter]:
    return rules, MotionLimiter(rules)


class _Core:
    """The connection of a robot, and what it may obey at present. Its own methods run on the loop unless they say otherwise."""

    def __init__(
        self,
        robot: Robot,
        url: str,
        token: str,
        telemetry_hz: float,
        deadman_margin_ms: float,
        control_schema: str | Mapping[str, Any] | None,
        data_channel: bool,
    ) -> None:
        self.robot, self.token = robot, token
        self.guard = Guard(self)
        self.episodes = EpisodeOutbox(lambda frame: self.send(frame, droppable=True))
        self.session: Session | None = None
        self.limits = Limits()
        self.connection: Connection | None = None
        self.whip_url: str | None = None
        self._url = url
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
        self._uses_data_channel = data_channel
        self._channels: Any = None
        """The library of data channels; None without one."""
        self._channel: DataChannel | None = None

    def _defines(self, method: str) -> bool:
        return getattr(type(self.robot), method) is not getattr(Robot, method) or method in vars(self.robot)

    # The life of the link

    async def serve(self) -> None:
        if self._loop is not None:
            raise WheelhouseError("serve can be called once")
        self._loop = asyncio.get_running_loop()
        self._link = Link(self)
        if self._uses_data_channel:
            self._channels = await self._loop.run_in_executor(None, load_library)
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

    def opened(self, connection: Connection) -> None:
        self._order, self._last_seq = FrameOrder(), -1
        if self._channels is not None:
            self._channel = DataChannel(
                self._channels,
                lambda frame: connection.send(frame, droppable=False),
                lambda message: self.received(connection, message),
            )

    def lost(self, connection: Connection) -> None:
        self.connection = None
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self.guard.moving:
            self.guard.stop("link_lost")
        self.guard.forget_answer()
        if self._beats is not None:
            self._beats.cancel()
            self._beats = None

    async def _beat(self, connection: Connection, interval_s: float) -> None:
        seq = 0
        while True:
            seq += 1
            frame: dict[str, Any] = {"type": "heartbeat", "seq": seq}
            if self._battery is not None:
                frame["battery"] = self._battery
            connection.send(frame, droppable=False)
            self.episodes.tick()
            await asyncio.sleep(interval_s)

    def publish_camera(self, name: str, source: Any, options: dict[str, Any]) -> Camera:
        """Starts a camera. Callable in any thread."""

        def address() -> tuple[str, str] | None:
            return None if self.whip_url is None else (self.whip_url, self.token)

        camera = Camera(name, source, address=address, on_error=self.report, **options)
        self._cameras.append(camera)
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

    # Frames of the gateway

    def received(self, connection: Connection, message: Message) -> None:
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
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError, struct.error, RecursionError) as error:
            if self.guard.moving:
                self.guard.stop("unreadable_frame")
            self.report(WheelhouseError(f"unreadable frame: {error!r}"))

    def _on_welcome(self, connection: Connection, frame: dict[str, Any]) -> None:
        assert self._link is not None
        self._deadman_ms = float(frame["deadman_ms"])
        self.guard.set_deadman((self._deadman_ms + self._margin_ms) / 1000)
        beat_s, silence_s = float(frame["heartbeat_interval_ms"]) / 1000, float(frame["heartbeat_timeout_ms"]) / 1000
        session, stop = frame["session"], frame["stop"]
        self.whip_url = frame.get("whip_url")
        self._age.forget()  # the way through the network may be another
        self.connection = connection
        self._link.online(connection, silence_s)
        self._change_session(session)
        self._change_limits(read_limits(frame["limits"]) if frame.get("limits") else Limits())
        if stop:
            self.guard.stop(str(stop["reason"]), latched=stop["latched"] is not False, answer=True)
        else:
            self.guard.clear_stop()  # a participant may have cleared it while this robot was offline
        self._beat_s = beat_s
        self._beats = asyncio.ensure_future(self._beat(connection, beat_s))
        self.episodes.online()
        self.guard.wake()

    def _on_frame(self, kind: Any, frame: dict[str, Any]) -> None:
        if kind == "stop" and not (isinstance(frame.get("reason"), str) and isinstance(frame.get("latched"), bool)):
            frame = {**frame, "reason": "unreadable stop", "latched": True}
        latched = frame.get("latched") is True
        if not self._order.may_handle(kind, frame.get("order"), frame.get("after", 0), latched):
            return
        if kind == "control":
            self._on_control(frame)
        elif kind == "stop":
            self.guard.stop(frame["reason"], latched=latched, answer=True)
        elif kind == "stop_cleared":
            self.guard.clear_stop()
        elif kind == "session":
            self._change_session(frame)
        elif kind == "limits":
            self._change_limits(read_limits(frame))
        elif kind == "episode_ack":
            self.episodes.acknowledged(frame.get("episode_id"))
        elif kind == "error":
            self.report(GatewayError(str(frame.get("message"))))
            self.episodes.refused(frame)
        elif kind in ("channel_available", "channel_answer", "channel_refused") and self._channel is not None:
            self._channel.on_frame(frame)

    def _change_session(self, frame: dict[str, Any] | None) -> None:
        session = None
        if frame is not None:
            schemas = (frame.get("control_schema"), frame.get("telemetry_schema"))
            session = Session(str(frame["session_id"]), str(frame["status"]), str(frame["operator_name"]), *schemas)
        is_open = session is not None and session.status in ("ACTIVE", "PAUSED")
        is_other = (session and session.session_id) != (self.session and self.session.session_id)
        if is_other:
            self._age.forget()  # another operator may have another clock
            self._change_limits(Limits())  # the gateway sends those of the new session after it
        if (is_other or session is None or session.status != "ACTIVE") and self.guard.moving:
            self.guard.stop("session_paused" if is_open else "session_over")
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

    def _change_limits(self, limits: Limits) -> None:
        if limits != self.limits:
            self.limits = limits
            self.guard.event(self.robot_callback, "on_limits", limits)

    def _on_control(self, frame: dict[str, Any]) -> None:
        session = self.session
        if session is None or session.status != "ACTIVE" or frame["session_id"] != session.session_id:
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
            expires_s = (now_ms + limit_ms - age_ms) / 1000
            self.guard.command(Command(seq, data, expires_s, applied_scale, self.connection))

    def acknowledge(self, connection: Connection, seq: int) -> None:
        frame = {"type": "ack", "seq": seq}
        if self.connection is connection and not (self._channel is not None and self._channel.send(frame_text(frame))):
            connection.send(frame)

    # What the threads of the guard call

    def brake(self, reason: str) -> Any:
        return self.robot_callback("on_stop", reason)

    def is_halted(self) -> Any:
        return self.robot_callback("halted")

    def stopped(self, reason: str) -> None:
        self.send({"type": "stopped", "reason": _within(reason, MAX_STOP_REASON)}, droppable=False)

    def obey(self, command: Command, after_halt: bool, begin: Callable[[], bool]) -> None:
        data = command.data
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
