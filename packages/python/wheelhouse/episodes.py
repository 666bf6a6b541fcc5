"""Episodes of a robot: reports of its own recordings, each sent until the platform has stored it."""
from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from .errors import EpisodeRefused, WheelhouseError
from .link import frame_text

MAX_EPISODES = 1_000
"""Most episodes without an acknowledgement in memory. A further one is refused."""
MAX_UNANSWERED_EPISODES = 32
"""Most episodes that were sent and have no answer. The gateway accepts 100 of one robot at a time."""
ANSWER_LIMIT_S = 15.0
"""An episode without an answer on an open connection is sent again after this time."""


class _Entry:
    def __init__(self, frame: dict[str, Any]) -> None:
        self.frame = frame
        self.answer: Future[None] = Future()
        self.answer.set_running_or_notify_cancel()  # a caller that waits no longer does not cancel the report
        self.sent = False
        self.due_s = 0.0


class EpisodeOutbox:
    """Keeps each episode until it is acknowledged. The platform detects repetitions by `episode_id`."""

    def __init__(self, send: Callable[[dict[str, Any]], bool]) -> None:
        """Takes a function that sends a frame and returns whether the connection took it."""
        self._send = send
        self._lock = threading.RLock()
        self._entries: dict[str, _Entry] = {}
        self._closed = False

    def add(self, episode: dict[str, Any]) -> Future[None]:
        """Takes an episode; a known `episode_id` returns the same future. Raises FrameError for values that cannot be sent, ValueError
        for times in the wrong order, WheelhouseError for too many episodes."""
        frame = {"type": "episode", **{name: value for name, value in episode.items() if value is not None}}
        frame_text({**frame, "t": time.time() * 1000})
        if frame["ended_at"] < frame["started_at"]:
            raise ValueError("ended_at must not be before started_at")
        with self._lock:
            known = self._entries.get(frame["episode_id"])
            if known is not None:
                return known.answer
            if self._closed or len(self._entries) >= MAX_EPISODES:
                raise WheelhouseError("the robot is closed" if self._closed else "too many episodes wait for their acknowledgement")
            entry = self._entries[frame["episode_id"]] = _Entry(frame)
        self.tick()
        return entry.answer

    def online(self) -> None:
        """Sends all episodes again: their answers may be lost."""
        with self._lock:
            for entry in self._entries.values():
                entry.sent, entry.due_s = False, 0.0
        self.tick()

    def tick(self) -> None:
        """Sends the episodes that are due, oldest first. Call it periodically."""
        now_s = time.monotonic()
        with self._lock:
            unanswered = sum(entry.sent for entry in self._entries.values())
            for entry in self._entries.values():
                if now_s < entry.due_s:
                    continue
                if not entry.sent and unanswered >= MAX_UNANSWERED_EPISODES:
                    return
                # With the robot's own time, so that the gateway can convert the times of a robot whose clock is wrong.
                if not self._send({**entry.frame, "t": time.time() * 1000}):
                    return
                unanswered += not entry.sent
                entry.sent, entry.due_s = True, now_s + ANSWER_LIMIT_S

    def acknowledged(self, episode_id: Any) -> None:
        """Handles an `episode_ack`."""
        with self._lock:
            entry = self._entries.pop(episode_id, None)
        if entry is not None:
            entry.answer.set_result(None)
            self.tick()

    def refused(self, frame: dict[str, Any]) -> None:
        """Handles an `error` frame, if it is about an episode: tries it again later, or gives it up."""
        retry_ms = frame.get("retry_after_ms")
        with self._lock:
            entry = self._entries.get(frame.get("episode_id", ""))
            if entry is None:
                return
            if retry_ms is not None:
                entry.sent, entry.due_s = False, time.monotonic() + float(retry_ms) / 1000
                return
            del self._entries[entry.frame["episode_id"]]
        entry.answer.set_exception(EpisodeRefused(str(frame.get("message"))))

    def close(self) -> None:
        """Gives all episodes up."""
        with self._lock:
            self._closed = True
            entries = list(self._entries.values())
            self._entries.clear()
        for entry in entries:
            entry.answer.set_exception(WheelhouseError("the robot was closed before the platform has stored the episode"))
