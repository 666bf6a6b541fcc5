"""What a robot does by itself: the goals to which it drives, and its reports of them."""
from __future__ import annotations

import asyncio
import math
import threading
import time
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .limits import is_finite

MODES = ("manual", "autonomous", "assisted")
GOAL_STATUSES = ("active", "reached", "failed", "canceled")
MAX_FRAME_NAME = 100
"""Longest name of a coordinate frame, in characters."""
MAX_GOAL_ID = 64
"""Longest id of a goal, in characters."""
MAX_GOAL_MESSAGE = 500
"""Longest message about a goal, in UTF-16 code units. The rest is cut off."""
PROGRESS_S = 0.2
"""Shortest time between two reports of mere progress, in seconds."""

_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


@dataclass(frozen=True)
class Goal:
    """A place to which the robot is to drive by itself, in a coordinate frame of the robot."""

    goal_id: str
    frame: str
    x: float
    """In metres, as `y`."""
    y: float
    heading: float
    """In radians, counter-clockwise from x."""
    seq: int
    """Counts together with the numbers of commands."""


@dataclass(frozen=True)
class GoalState:
    """The present goal of a robot, or how its last one ended."""

    goal_id: str
    status: str
    """`active`, `reached`, `failed` or `canceled`."""
    x: float
    y: float
    heading: float
    progress: float | None = None
    """Share of the way that is done, 0 to 1."""
    distance_m: float | None = None
    """Distance to go."""
    message: str | None = None
    """For people."""


@dataclass(frozen=True)
class Autonomy:
    """What a robot does by itself."""

    mode: str
    """`manual`, `autonomous`, or `assisted`: it helps a person who drives."""
    goal_frame: str | None = None
    """The coordinate frame in which it accepts goals, that of the pose in its telemetry. None: it accepts none."""
    goal: GoalState | None = None


def read_goal(frame: dict[str, Any]) -> Goal:
    """Returns the goal of a frame. Raises an error if it cannot be read."""
    x, y, heading = (_number(frame[name], name) for name in ("x", "y", "heading"))
    goal_id, name = _printable(frame["goal_id"], "goal_id", MAX_GOAL_ID), _printable(frame["frame"], "frame", MAX_FRAME_NAME)
    return Goal(goal_id, name, x, y, heading, frame["seq"])


def read_autonomy(frame: Mapping[str, Any]) -> Autonomy:
    """Returns what a frame reports. Raises ValueError if it is not valid."""
    mode, goal_frame, goal = frame.get("mode"), frame.get("goal_frame"), frame.get("goal")
    if mode not in MODES:
        raise ValueError(f"mode must be one of {', '.join(MODES)}, not {mode!r}")
    if goal_frame is not None:
        _printable(goal_frame, "goal_frame", MAX_FRAME_NAME)
    return Autonomy(mode, goal_frame, None if goal is None else _read_state(goal))


def _read_state(goal: Mapping[str, Any]) -> GoalState:
    status, message = goal.get("status"), goal.get("message")
    if status not in GOAL_STATUSES:
        raise ValueError(f"status must be one of {', '.join(GOAL_STATUSES)}, not {status!r}")
    shares = {"progress": 1.0, "distance_m": math.inf}
    return GoalState(
        _printable(goal.get("goal_id"), "goal_id", MAX_GOAL_ID),
        status,
        *(_number(goal.get(name), name) for name in ("x", "y", "heading")),
        *(None if goal.get(name) is None else _number(goal[name], name, 0.0, most) for name, most in shares.items()),
        None if message is None else within(str(message), MAX_GOAL_MESSAGE),
    )


def _number(value: Any, name: str, least: float = -math.inf, most: float = math.inf) -> float:
    number = value.item() if hasattr(value, "item") else value
    if not is_finite(number) or not least <= number <= most:
        raise ValueError(f"{name} is {value!r}")
    return float(number)


def _printable(text: Any, name: str, limit: int) -> str:
    if not isinstance(text, str) or not 1 <= len(text) <= limit or any(unicodedata.category(character) in _UNPRINTABLE for character in text):
        raise ValueError(f"{name} must be 1 to {limit} printable characters, not {text!r}")
    return text


def within(text: str, units: int) -> str:
    """Cuts a text to a number of UTF-16 code units."""
    return text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "ignore")


def _frame_of(report: Autonomy) -> dict[str, Any]:
    goal = report.goal and {name: value for name, value in asdict(report.goal).items() if value is not None}
    return {"type": "autonomy", "mode": report.mode, "goal_frame": report.goal_frame, "goal": goal}


def _kind_of(report: Autonomy | None) -> Any:
    """Returns what of a report is more than progress."""
    return report and (report.mode, report.goal_frame, report.goal and (report.goal.goal_id, report.goal.status))


class AutonomyReports:
    """Sends the reports of a robot: a change at once, mere progress at most five times a second, and the newest one again over each new
    connection. Callable in any thread."""

    def __init__(self, send: Callable[[dict[str, Any]], bool]) -> None:
        self._send = send
        self._lock = threading.Lock()
        self._newest: Autonomy | None = None
        self._sent: Autonomy | None = None
        self._sent_at_s = -math.inf
        self._waits = False

    def report(self, report: Autonomy, loop: asyncio.AbstractEventLoop | None) -> None:
        """Sends a report now or, on the loop, later."""
        with self._lock:
            self._newest = report
            wait_s = self._sent_at_s + PROGRESS_S - time.monotonic()
            if loop is None or wait_s <= 0 or _kind_of(report) != _kind_of(self._sent):
                self._transmit()
            elif not self._waits:
                self._waits = True
                try:
                    loop.call_soon_threadsafe(loop.call_later, wait_s, self._send_late)
                except RuntimeError:
                    pass  # the loop has ended

    def send(self) -> None:
        """Sends the newest report. Call it after each welcome."""
        with self._lock:
            self._transmit()

    def _send_late(self) -> None:
        with self._lock:
            self._waits = False
            if self._newest is not self._sent:
                self._transmit()

    def _transmit(self) -> None:
        if self._newest is not None and self._send(_frame_of(self._newest)):
            self._sent, self._sent_at_s = self._newest, time.monotonic()
