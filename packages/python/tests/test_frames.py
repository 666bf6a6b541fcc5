"""What is sent, and what is not: frames, episodes, credentials."""
from __future__ import annotations

import json
import math
import os
import stat
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from wheelhouse import EpisodeRefused, FrameError, Robot, WheelhouseError
from wheelhouse.episodes import EpisodeOutbox
from wheelhouse._http import Response
from wheelhouse.backoff import Backoff
from wheelhouse.link import frame_text
from wheelhouse.pairing import paired


class Arm(Robot):
    def on_stop(self, reason: str) -> None:
        pass


class FrameTextTest(unittest.TestCase):
    def test_a_number_that_is_not_finite_is_refused_with_its_path(self) -> None:
        for data, problem in (
            ({"pose": {"x_m": math.nan}}, "pose.x_m is NaN"),
            ({"joints": [0.0, math.inf]}, "joints.1 is Infinity"),
            (-math.inf, "the value is -Infinity"),
        ):
            with self.subTest(problem=problem), self.assertRaisesRegex(FrameError, f"^{problem}$"):
                frame_text({"type": "telemetry", "data": data})

    def test_what_json_does_not_have_and_what_is_too_large_is_refused(self) -> None:
        loop: list[Any] = []
        loop.append(loop)
        for data, problem in (({1, 2}, "set is not a JSON value"), (loop, "Circular"), ("x" * 65_536, "more than 65536")):
            with self.subTest(problem=problem), self.assertRaisesRegex(FrameError, problem):
                frame_text({"type": "telemetry", "data": data})

    def test_numbers_and_arrays_of_numpy_are_sent(self) -> None:
        try:
            import numpy  # type: ignore[import-not-found, unused-ignore]
        except ImportError:
            self.skipTest("numpy is not installed")
        data = {"x": numpy.float32(0.5), "scan": numpy.array([1, 2])}
        self.assertEqual(frame_text({"type": "telemetry", "data": data}), '{"type":"telemetry","data":{"x":0.5,"scan":[1,2]}}')
        with self.assertRaisesRegex(FrameError, "scan.1 is NaN"):
            frame_text({"type": "telemetry", "data": {"scan": numpy.array([1.0, math.nan])}})


class RobotTest(unittest.TestCase):
    def test_a_robot_needs_credentials_and_a_brake(self) -> None:
        with mock.patch.dict(os.environ, clear=True):
            for arguments in ({}, {"url": "http://x", "token": "t"}, {"url": "ws://x", "token": "a b"}):
                with self.subTest(arguments=arguments), self.assertRaises(ValueError):
                    Arm(**arguments)  # type: ignore[arg-type]
            with self.assertRaises(ValueError):
                Arm("ws://x", "t", control_schema={"type": "object"})
            with self.assertRaisesRegex(TypeError, "on_stop"):
                Robot("ws://x", "t")
        with mock.patch.dict(os.environ, {"CONTROL_URL": "ws://x", "ROBOT_TOKEN": "t"}):
            self.assertFalse(Arm().online)

    def test_frames_of_an_offline_robot_are_dropped(self) -> None:
        arm = Arm("ws://x", "t")
        self.assertFalse(arm.log("info", "hello"))
        self.assertFalse(arm.send_telemetry({}))


EPISODE = {"episode_id": "one", "started_at": 1.0, "ended_at": 2.0, "size_bytes": 3, "task": None}


class EpisodeOutboxTest(unittest.TestCase):
    def setUp(self) -> None:
        self.frames: list[dict[str, Any]] = []
        self.online = True

    def send(self, frame: dict[str, Any]) -> bool:
        if self.online:
            self.frames.append(frame)
        return self.online

    def test_an_episode_is_sent_on_each_connection_until_it_is_acknowledged(self) -> None:
        outbox = EpisodeOutbox(self.send)
        self.online = False
        answer = outbox.add(EPISODE)
        self.assertIs(outbox.add(EPISODE), answer)
        self.online = True
        outbox.online()
        outbox.tick()
        outbox.online()
        self.assertEqual([frame["episode_id"] for frame in self.frames], ["one", "one"])
        self.assertNotIn("task", self.frames[0])
        self.assertGreater(self.frames[0]["t"], 1e12)
        outbox.acknowledged("one")
        self.assertIsNone(answer.result(0))
        outbox.online()
        self.assertEqual(len(self.frames), 2)

    def test_a_caller_that_waits_no_longer_does_not_disturb_the_link(self) -> None:
        outbox = EpisodeOutbox(self.send)
        self.assertFalse(outbox.add(EPISODE).cancel())
        outbox.acknowledged("one")
        outbox.add({**EPISODE, "episode_id": "two"}).cancel()
        outbox.close()

    def test_a_full_platform_is_asked_later_and_a_refusal_is_final(self) -> None:
        outbox = EpisodeOutbox(self.send)
        answer = outbox.add(EPISODE)
        outbox.refused({"message": "full", "episode_id": "one", "retry_after_ms": 60_000})
        outbox.tick()
        self.assertEqual(len(self.frames), 1)
        outbox.refused({"message": "invalid", "episode_id": "one"})
        with self.assertRaisesRegex(EpisodeRefused, "invalid"):
            answer.result(0)

    def test_waiting_and_unanswered_episodes_are_bounded(self) -> None:
        outbox = EpisodeOutbox(self.send)
        answers = [outbox.add({**EPISODE, "episode_id": str(number)}) for number in range(1_000)]
        self.assertEqual(len(self.frames), 32)
        with self.assertRaisesRegex(WheelhouseError, "too many"):
            outbox.add({**EPISODE, "episode_id": "more"})
        outbox.close()
        self.assertTrue(all(answer.exception(0) for answer in answers))

    def test_an_invalid_episode_is_refused_at_once(self) -> None:
        outbox = EpisodeOutbox(self.send)
        with self.assertRaisesRegex(FrameError, "ended_at is NaN"):
            outbox.add({**EPISODE, "ended_at": math.nan})
        with self.assertRaisesRegex(ValueError, "before started_at"):
            outbox.add({**EPISODE, "ended_at": 0})


class PairingTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.store = Path(folder.name, "robot.json")
        self.exchanged: list[str] = []
        patched = mock.patch("wheelhouse.rest.send_request", self.exchange)
        patched.start()
        self.addCleanup(patched.stop)

    def exchange(self, method: str, url: str, *, content: bytes, **_: Any) -> Response:
        self.exchanged.append(f"{method} {url} {json.loads(content)['code']}")
        answer = {"name": "Rover", "control_url": "ws://hub/robots/1/control", "robot_token": f"token {len(self.exchanged)}"}
        return Response(200, url, {"content-type": "application/json"}, json.dumps(answer).encode())

    def test_a_code_is_exchanged_once_and_the_credentials_are_private(self) -> None:
        first = paired("http://hub/", "ABCD-EFGH", self.store)
        self.assertEqual(paired("http://hub", "ABCD-EFGH", self.store), first)
        self.assertEqual(paired("http://hub", None, self.store), first)
        self.assertEqual(self.exchanged, ["POST http://hub/api/pairing ABCD-EFGH"])
        self.assertEqual(stat.S_IMODE(self.store.stat().st_mode), 0o600)
        self.assertNotIn("ABCD", self.store.read_text())

    def test_another_code_pairs_again(self) -> None:
        paired("http://hub", "ABCD-EFGH", self.store)
        self.assertEqual(paired("http://hub", "WXYZ-EFGH", self.store).token, "token 2")

    def test_without_a_code_and_a_readable_file_it_says_so(self) -> None:
        with self.assertRaisesRegex(ValueError, "pass a pairing code"):
            paired("http://hub", None, self.store)
        self.store.write_text("[]")
        with self.assertRaisesRegex(ValueError, "pair again"):
            paired("http://hub", None, self.store)
        self.assertEqual(paired("http://hub", "ABCD-EFGH", self.store).name, "Rover")


class BackoffTest(unittest.TestCase):
    def test_delays_grow_to_their_limit_and_begin_again(self) -> None:
        backoff = Backoff()
        with mock.patch("random.uniform", lambda low, high: high):
            self.assertEqual([backoff.next_s() for _ in range(8)], [0.25, 0.5, 1, 2, 4, 8, 10, 10])
            self.assertEqual(backoff.next_s(5, 1), 6)
            backoff.reset()
            self.assertEqual(backoff.next_s(), 0.25)


if __name__ == "__main__":
    unittest.main()
