"""A robot on the platform: derive from `Robot`, say how it moves and how it stops, and run it."""
from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import asdict
from typing import Any, TypeVar

from .autonomy import Goal, GoalState, read_autonomy
from .camera import Camera
from .control import Lease, Limits, Session, Stop
from .pairing import STORE, paired
from .robot_link import RobotLink

logger = logging.getLogger("wheelhouse")

DEADMAN_MARGIN_MS = 100.0
"""How much later than the gateway's own deadman the robot's one is, so that the gateway's stop arrives first."""
MAX_LOG_CHARACTERS = 4_000
"""Longest line of the robot's log. The rest is cut off."""

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
        self._core = RobotLink(self, Robot, url, token, telemetry_hz, deadman_margin_ms, control_schema, data_channel)

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

    def on_goal(self, goal: Goal) -> Any:
        """Begins to drive by itself to a place, and returns soon. Keep its speed below `limits.speed_scale` times the maximum, and tell with
        `autonomy` how it goes. Called only for a goal that may be obeyed, and only if `autonomy` has named a `goal_frame`."""

    def on_goal_canceled(self, goal_id: str, reason: str) -> Any:
        """Gives up a goal whose end the robot has not reported. `reason`: `control` or `replaced`, and a command or another goal follows; else
        `canceled`, `stopped`, `session_paused`, `control_transferred` or `link_lost`, between two calls of `on_stop`, in its thread. Once more
        if `on_goal` was running meanwhile."""

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

    def on_lease(self, lease: Lease) -> Any:
        """Takes who controls the robot when that changes. It has halted for it, and obeys no command of an earlier holder."""

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

    def autonomy(self, mode: str, goal_frame: str | None = None, goal: GoalState | Mapping[str, Any] | None = None) -> None:
        """Reports what the robot does by itself: always the whole state, and with every change. It is kept, and sent again over each new
        connection; mere progress is sent five times a second. Callable in any thread.

        `mode`: `manual`, `autonomous` or `assisted`. `goal_frame`: the coordinate frame in which it accepts goals, that of the pose in its
        telemetry; None for none. `goal`: the present goal, or how the last one ended. Raises ValueError for an invalid report.
        """
        state = asdict(goal) if isinstance(goal, GoalState) else goal
        self._core.report_autonomy(read_autonomy({"mode": mode, "goal_frame": goal_frame, "goal": state}))

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
