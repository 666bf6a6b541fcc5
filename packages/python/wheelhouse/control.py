"""What a robot may obey, and the threads that obey: the age and the order of frames, the deadman, goals, and the stop.

`Guard` has two threads. The *stop thread* does nothing but `on_stop` and the deadman, so that no other callback, no slow network and no
full buffer delays them. The *worker* runs all other callbacks, one after another; of commands, only the newest waits for it.
"""
from __future__ import annotations

import asyncio
import inspect
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from .limits import MIN_SPEED_SCALE

logger = logging.getLogger("wheelhouse")

CLOCK_DRIFT = 0.0002
"""A frame may be 0.2 ms per second slower than the fastest one and replace it, because clocks drift."""
RECALIBRATE_S = 2.0
"""When all frames of this time are late by the same amount, the clock or the network path has changed."""
RUN_GAP_S = 0.5
"""A longer gap between late frames starts a new run."""
MAX_WAITING_EVENTS = 128
"""Most events (sessions, limits, errors and others) that wait for the worker. The oldest one is dropped."""
HALTED_POLL_S = 0.02
"""How often a robot that was stopped is asked whether it has halted, in seconds."""
RETRY_STOP_S = 0.1
"""A brake that has failed is tried again after this time, in seconds."""


@dataclass(frozen=True)
class Session:
    """The open session of a robot."""

    session_id: str
    status: str
    """`ACTIVE` or `PAUSED`; `COMPLETED` once, in `on_session`, when it is over."""
    operator_name: str
    control_schema: dict[str, Any] | None = None
    telemetry_schema: dict[str, Any] | None = None


@dataclass(frozen=True)
class Stop:
    """The stop in force. A latched one lasts until a participant clears it, any other until the next command."""

    reason: str
    latched: bool


@dataclass(frozen=True)
class Limits:
    """The share of its speed that the robot is allowed at present, above 0 and up to 1, and why it is not 1."""

    speed_scale: float = 1.0
    reason: str | None = None


@dataclass(frozen=True)
class Holder:
    """Who controls a robot."""

    participant_id: str
    kind: str
    """`operator`, `supervisor`, `policy` or `owner`."""
    user_id: str
    name: str


@dataclass(frozen=True)
class Lease:
    """Who controls the robot of a session. Each change begins a new epoch, a number that only rises."""

    epoch: int
    holder: Holder | None
    """None: nobody controls the robot."""
    you: bool = False
    """Whether it is the receiver; False for a robot."""
    command: Any = None
    """For the new holder: the newest command that the robot was sent, if there was one."""
    telemetry: Any = None
    """For the new holder: the newest sample of the robot, if there was one."""


FIRST_EPOCH = 1
"""The epoch of a session in which control never changed hands. Its frames do not name it."""


def read_epoch(value: Any) -> int:
    """Returns an epoch of a frame. Raises ValueError if it is none."""
    if type(value) is not int or value < FIRST_EPOCH:
        raise ValueError(f"epoch is {value!r}")
    return value


def read_lease(frame: dict[str, Any]) -> Lease:
    """Returns the lease of a frame, or of the REST API. Raises an error if it cannot be read."""
    holder, last = frame["holder"], frame.get("last") or {}
    known = holder and Holder(*(str(holder[name]) for name in ("participant_id", "kind", "user_id", "name")))
    return Lease(read_epoch(frame["epoch"]), known or None, frame.get("you") is True, last.get("command"), last.get("telemetry"))


def read_limits(frame: dict[str, Any]) -> Limits:
    """Returns the limits of a frame; the lowest ones if it cannot be read."""
    scale, reason = frame.get("speed_scale"), frame.get("reason")
    if isinstance(scale, (int, float)) and scale is not True and 0 < scale <= 1:
        return Limits(float(scale), reason if isinstance(reason, str) else None)
    return Limits(MIN_SPEED_SCALE, "unreadable limits")


class FrameAge:
    """Measures how much later than the fastest frame of a link each one arrives, without synchronized clocks.

    The clock of another operator may be far behind the last one's, so that all frames seem late. Frames of a buffer arrive in a burst.
    Frames that are late by the same amount for two seconds therefore become the new measure.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begins again: the next frames have another clock, or another way."""
        self._smallest_ms, self._smallest_at_ms = math.inf, 0.0
        self._late: tuple[float, float, float, float] | None = None

    def age_ms(self, t_ms: float, limit_ms: float, now_ms: float) -> float:
        """Returns the age of a frame with the sender's time `t_ms` that arrives at `now_ms`. It is late above `limit_ms`."""
        offset_ms = now_ms - t_ms
        if offset_ms <= self._smallest_ms + (now_ms - self._smallest_at_ms) * CLOCK_DRIFT:
            self._smallest_ms, self._smallest_at_ms = offset_ms, now_ms
        age_ms = offset_ms - self._smallest_ms
        if age_ms <= limit_ms:
            self._late = None
            return age_ms
        since_ms, last_ms, low_ms, high_ms = self._late or (now_ms, now_ms, offset_ms, offset_ms)
        low_ms, high_ms = min(low_ms, offset_ms), max(high_ms, offset_ms)
        if now_ms - last_ms > RUN_GAP_S * 1000 or high_ms - low_ms > limit_ms:
            since_ms, low_ms, high_ms = now_ms, offset_ms, offset_ms
        self._late = (since_ms, now_ms, low_ms, high_ms)
        if now_ms - since_ms < RECALIBRATE_S * 1000:
            return age_ms
        self._smallest_ms, self._smallest_at_ms, self._late = low_ms, now_ms, None
        return 0.0


class FrameOrder:
    """Finds frames that a newer one has overtaken, and copies, when frames arrive over two transports. Without a data channel, frames
    have no number and are handled as they arrive."""

    def __init__(self) -> None:
        self._last = self._session = self._latch = self._limits = 0

    def may_handle(self, kind: str, order: int | None, after: int = 0, latched: bool = False) -> bool:
        """Returns whether to handle a frame of this type and number, `after` the session frame of that number."""
        if order is None:
            return True
        if kind in ("session", "lease"):
            self._session = order
        elif kind == "stop_cleared" or latched:
            # The end of a latched stop arrives over the WebSocket only, so a later stop may arrive before it.
            if order <= self._latch:
                return False
            self._latch = order
        elif kind == "limits":
            if order <= self._limits or after > self._session:
                return False
            self._limits = order
            return True
        elif order <= self._last or after > self._session:
            return False
        self._last = max(self._last, order)
        return True


@dataclass(frozen=True)
class Command:
    """A command or a goal that the robot may obey until `expires_s`, in seconds of the monotonic clock."""

    seq: int
    data: Any
    """The data of a JSON command; the payload of a binary one, as bytes; a `Goal`."""
    expires_s: float
    applied_scale: float = 1.0
    connection: Any = field(default=None, compare=False)
    goal_id: str | None = None
    """Of a goal."""


class GuardHandler(Protocol):
    """What the threads of a `Guard` call. All of it may block and may raise."""

    def obey(self, command: Command, after_halt: bool, begin: Callable[[], bool]) -> None:
        """Obeys a command, the first one after a halt or a later one. Calls `begin` right before the robot may move, and leaves it as it is
        when that returns False."""

    def brake(self, reason: str) -> Any:
        """Halts the robot."""

    def goal_canceled(self, goal_id: str, reason: str) -> Any:
        """Takes that the robot must give up its goal."""

    def is_halted(self) -> Any:
        """Returns whether the robot stands."""

    def stopped(self, reason: str) -> None:
        """Reports that the robot stands, as a stop has asked."""

    def periodic(self, now_s: float) -> float:
        """Does what is due, such as telemetry. Returns when it wants to be called again."""

    def report(self, error: BaseException) -> None:
        """Takes an error of a callback."""


class Guard:
    """Lets a robot move on fresh commands only, and stops it at once. Its methods never wait for a callback, except `close`.

    A goal is a command without a deadman. A stop cancels it; so does the next command or goal.
    """

    def __init__(self, handler: GuardHandler) -> None:
        self._handler = handler
        self._lock = threading.RLock()
        self._stops = threading.Condition(self._lock)
        """Wakes the stop thread."""
        self._work = threading.Condition(self._lock)
        """Wakes the worker, and `close`."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._deadman_s = 0.0
        # Guarded by the lock:
        self._closed = False
        self._command: Command | None = None
        self._obeyed_at_s: float | None = None
        """When the robot began to obey its last command; None if it has been stopped since."""
        self._obeying: Command | None = None
        self._goal: str | None = None
        """The goal that the robot has begun to obey."""
        self._begun_goal: str | None = None
        """The goal that is being obeyed for the first time: `on_goal` may not have returned."""
        self._canceled: tuple[str, str] | None = None
        """A goal that a stop has canceled, and why. No other one begins before that is told."""
        self._in_force: Stop | None = None
        self._stop: str | None = None
        """The reason for which `brake` is to be called, at `_stop_at_s`."""
        self._stop_at_s = 0.0
        self._stopping = False
        self._stop_again: tuple[str, str] | None = None
        """A stop arrived while a command was being obeyed, which may move the robot after it: brakes again at its end."""
        self._unanswered: str | None = None
        self._ask_at_s = 0.0
        self._events: deque[tuple[Callable[..., Any], tuple[Any, ...]]] = deque(maxlen=MAX_WAITING_EVENTS)
        self._due_s = math.inf

    @property
    def in_force(self) -> Stop | None:
        """The stop in force."""
        return self._in_force

    @property
    def moving(self) -> bool:
        """Whether the robot may be moving: it has obeyed a command since it was last stopped, or is about to."""
        with self._lock:
            return self._obeyed_at_s is not None or self._obeying is not None or self._command is not None

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Starts the threads. Coroutines of callbacks run on this loop."""
        self._loop = loop
        for name, run in (("stop", self._run_stops), ("worker", self._run_worker)):
            threading.Thread(target=run, name=f"wheelhouse-{name}", daemon=True).start()

    def close(self, reason: str, limit_s: float) -> None:
        """Stops the robot, waits up to `limit_s` until it is stopped for good, and ends the threads once their callbacks return. A command
        that is being obeyed even longer is followed by one more brake."""
        self.stop(reason)
        until_s = time.monotonic() + limit_s
        with self._lock:
            while (self._obeying or not self._at_rest()) and time.monotonic() < until_s:
                self._work.wait(until_s - time.monotonic())
            self._closed = True
            self._stops.notify()
            self._work.notify_all()

    def set_deadman(self, deadman_s: float) -> None:
        """Sets how long the robot may move after it began to obey a command."""
        self._deadman_s = deadman_s

    def command(self, command: Command) -> None:
        """Hands over a command, which replaces the one that waits. Drops it while a stop is latched."""
        with self._lock:
            if self._in_force is None or not self._in_force.latched:
                self._command = command
                self._work.notify_all()

    def stop(self, reason: str, *, latched: bool = False, answer: bool = False, canceled: str = "stopped") -> None:
        """Halts the robot, forgets the command that waits, and cancels its goal for the reason `canceled`. `answer`: reports when the robot
        stands."""
        with self._lock:
            self._request_stop(reason, latched, canceled)
            if answer:
                self._unanswered = reason

    def cancel_goal(self, goal_id: str) -> bool:
        """Halts the robot if it obeys this goal, or is about to. Returns whether it does."""
        with self._lock:
            about_to = [command.goal_id for command in (self._command, self._obeying) if command is not None]
            if goal_id not in (self._goal, *about_to):
                return False
            self._request_stop("goal_canceled", canceled="canceled")
            return True

    def goal_ended(self, goal_id: str) -> bool:
        """Notes that the robot has reported the end of a goal, and stands. Returns whether it was its goal."""
        with self._lock:
            if goal_id != self._goal:
                return False
            self._goal = self._begun_goal = self._obeyed_at_s = None
            return True

    def clear_stop(self) -> None:
        """Ends the stop in force. The robot stays at rest until the next command."""
        with self._lock:
            self._in_force = None

    def forget_answer(self) -> None:
        """Reports no halt any more: the connection has ended, and the gateway repeats a stop that is still in force."""
        with self._lock:
            self._unanswered = None

    def event(self, callback: Callable[..., Any], *args: Any) -> None:
        """Runs a callback in the worker, before commands that are handed over later."""
        with self._lock:
            self._events.append((callback, args))
            self._work.notify_all()

    def wake(self) -> None:
        """Lets the worker call `periodic` now."""
        with self._lock:
            self._due_s = 0.0
            self._work.notify_all()

    def call(self, callback: Callable[..., Any], *args: Any) -> Any:
        """Runs a callback of the user in this thread, or on the loop if it is a coroutine function. Returns its result."""
        result = callback(*args)
        if not inspect.isawaitable(result):
            return result
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(_awaited(result), self._loop).result()

    def _request_stop(self, reason: str, latched: bool = False, canceled: str = "stopped") -> None:
        # A stop of the robot itself does not release a latched one.
        self._in_force = Stop(reason, latched or (self._in_force is not None and self._in_force.latched))
        self._command = None
        self._obeyed_at_s = None
        if self._goal is not None:
            self._canceled, self._goal = (self._goal, canceled), None
        self._stop, self._stop_at_s, self._ask_at_s = reason, 0.0, 0.0
        if self._obeying is not None:
            self._stop_again = (reason, canceled)
        self._stops.notify()

    def _safely(self, callback: Callable[..., Any], *args: Any) -> tuple[bool, Any]:
        """Runs a callback. Returns whether it succeeded, and its result. Reports what it raises."""
        try:
            return True, callback(*args)
        except BaseException as error:  # also `sys.exit` of a callback: the thread has to go on
            if not self._closed:
                self._handler.report(error)
            return False, None

    # The stop thread

    def _run_stops(self) -> None:
        while True:
            with self._lock:
                reason = self._next_stop()
                if reason is None:
                    return
                self._stop, self._stopping = None, True
                canceled, self._canceled = self._canceled, None
            succeeded, _ = self._safely(self._handler.brake, reason)
            if canceled is not None:
                self._safely(self._handler.goal_canceled, *canceled)
                succeeded, _ = self._safely(self._handler.brake, reason)  # the goal may have moved the robot meanwhile
            with self._lock:
                self._stopping = False
                if not succeeded and self._stop is None and not self._closed:
                    self._stop, self._stop_at_s = reason, time.monotonic() + RETRY_STOP_S
                self._work.notify_all()

    def _next_stop(self) -> str | None:
        """Waits for a stop or for the deadman. Returns the reason; None at the end."""
        while not self._closed or self._obeying is not None or self._stop is not None:
            now_s, due_s = time.monotonic(), math.inf
            if self._stop is not None:
                due_s = self._stop_at_s
                if now_s >= due_s:
                    return self._stop
            elif self._obeyed_at_s is not None and self._goal is None:
                due_s = self._obeyed_at_s + self._deadman_s
                if now_s >= due_s:
                    self._request_stop("watchdog")
                    continue
            self._stops.wait(None if due_s == math.inf else due_s - now_s)
        return None

    # The worker

    def _run_worker(self) -> None:
        while True:
            with self._lock:
                self._wait_for_work()
                if self._closed:
                    return
                events = list(self._events)
                self._events.clear()
            for callback, args in events:
                self._attempt(callback, *args)
            self._obey()
            with self._lock:
                due = time.monotonic() >= self._due_s
                if due:
                    self._due_s = math.inf
            if due:
                succeeded, due_s = self._attempt(self._handler.periodic, time.monotonic())
                with self._lock:
                    self._due_s = min(self._due_s, due_s if succeeded else time.monotonic() + RETRY_STOP_S)
            self._answer()

    def _attempt(self, callback: Callable[..., Any], *args: Any) -> tuple[bool, Any]:
        """Runs a callback that halts the robot if it fails."""
        succeeded, result = self._safely(callback, *args)
        if not succeeded and self.moving:
            self.stop("callback_failed")
        return succeeded, result

    def _wait_for_work(self) -> None:
        while not self._closed and not self._events and not (self._command and self._at_rest()):
            now_s = time.monotonic()
            due_s = min(self._due_s, self._ask_at_s) if self._may_answer() else self._due_s
            if now_s >= due_s:
                return
            self._work.wait(None if due_s == math.inf else due_s - now_s)

    def _at_rest(self) -> bool:
        """Whether no stop is being carried out."""
        return self._stop is None and not self._stopping

    def _may_answer(self) -> bool:
        return self._unanswered is not None and self._at_rest()

    def _obey(self) -> None:
        with self._lock:
            command = self._command
            if command is None or not self._at_rest():
                return
            self._command = None
            self._obeying = command
            after_halt = self._obeyed_at_s is None
        succeeded, _ = self._safely(self._handler.obey, command, after_halt, self._begin)
        with self._lock:
            begun, self._obeying, self._begun_goal = self._begun_goal, None, None
            again, self._stop_again = self._stop_again, None
            if again is not None or not succeeded:
                self._goal = begun or self._goal  # `on_goal` may have begun to drive after the cancellation was told
                reason, canceled = again or ("callback_failed", "stopped")
                self._request_stop(reason, canceled=canceled)
            self._stops.notify()
            self._work.notify_all()  # `close` may wait

    def _begin(self) -> bool:
        """Returns whether the robot may obey its command now. If so, its goal is canceled, and the deadman of a command runs from now on."""
        with self._lock:
            now_s, command = time.monotonic(), self._obeying
            if command is None or self._stop_again is not None or self._closed or now_s > command.expires_s:
                return False  # it may have waited for a slow callback
            if self._obeyed_at_s is None or self._goal is not None:
                self._stops.notify()
            self._obeyed_at_s = now_s
            self._unanswered = self._in_force = None
            canceled, self._goal = self._goal, None
        if canceled is not None:
            self._handler.goal_canceled(canceled, "control" if command.goal_id is None else "replaced")
        with self._lock:
            if self._stop_again is not None:
                return False
            self._goal = self._begun_goal = command.goal_id
        return True

    def _answer(self) -> None:
        with self._lock:
            asked = self._unanswered
            if asked is None or not self._at_rest() or time.monotonic() < self._ask_at_s:
                return
        succeeded, halted = self._safely(self._handler.is_halted)
        with self._lock:
            self._ask_at_s = time.monotonic() + HALTED_POLL_S
            if not succeeded or halted is not True or not self._at_rest() or self._unanswered is not asked:
                return
            self._unanswered = None
        self._handler.stopped(asked)


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable
