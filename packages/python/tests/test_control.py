"""What a robot may obey, and when it is stopped."""
from __future__ import annotations

import math
import threading
import time
import unittest
from collections.abc import Callable
from typing import Any

from wheelhouse.control import Command, FrameAge, FrameOrder, Guard, Limits, read_limits

WAIT_LIMIT_S = 60.0
"""Only ends a hang."""


class FakeRobot:
    """Records what a guard calls. `blocks` names the calls that wait for `release`."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.errors: list[str] = []
        self.changed = threading.Condition()
        self.release = threading.Event()
        self.blocks: set[str] = set()
        self.fails: set[str] = set()
        self.halted = True
        self.guard = Guard(self)
        self.guard.set_deadman(math.inf)

    def note(self, call: str) -> None:
        with self.changed:
            self.calls.append(call)
            self.changed.notify_all()
        if call in self.blocks:
            self.release.wait(WAIT_LIMIT_S)
        if call in self.fails:
            raise RuntimeError(f"{call} failed")

    def until(self, condition: Callable[[], Any]) -> None:
        with self.changed:
            if not self.changed.wait_for(condition, WAIT_LIMIT_S):
                raise AssertionError(f"the condition did not come true; {self.calls} {self.errors}")

    def obey(self, command: Command, after_halt: bool, begin: Callable[[], bool]) -> None:
        if begin():
            self.note(f"obey {command.seq}")

    def brake(self, reason: str) -> None:
        self.note(f"brake {reason}")

    def is_halted(self) -> bool:
        self.note("halted?")
        return self.halted

    def stopped(self, reason: str) -> None:
        self.note(f"stopped {reason}")

    def periodic(self, now_s: float) -> float:
        self.note("periodic")
        return math.inf

    def report(self, error: BaseException) -> None:
        with self.changed:
            self.errors.append(str(error))
            self.changed.notify_all()


def command(seq: int, valid_s: float = 3600.0) -> Command:
    return Command(seq, None, time.monotonic() + valid_s)


class GuardTest(unittest.TestCase):
    def setUp(self) -> None:
        self.robot = FakeRobot()
        self.guard = self.robot.guard
        self.guard.start(None)  # type: ignore[arg-type]
        self.addCleanup(self.guard.close, "end", 0.0)
        self.addCleanup(self.robot.release.set)

    def until_called(self, call: str, times: int = 1) -> None:
        self.robot.until(lambda: self.robot.calls.count(call) >= times)

    def test_a_stop_is_carried_out_while_a_command_blocks_and_once_more_after_it(self) -> None:
        self.robot.blocks.add("obey 1")
        self.guard.command(command(1))
        self.until_called("obey 1")
        self.guard.command(command(2))
        self.guard.stop("a person fell", latched=True, answer=True)
        self.until_called("brake a person fell")
        self.assertNotIn("stopped a person fell", self.robot.calls)
        self.robot.release.set()
        self.until_called("stopped a person fell")
        self.assertEqual(
            self.robot.calls,
            ["obey 1", "brake a person fell", "brake a person fell", "halted?", "stopped a person fell"],
        )

    def test_a_stop_is_answered_only_when_the_brake_has_returned_and_the_robot_stands(self) -> None:
        self.robot.halted = False
        self.robot.blocks.add("brake stop")
        self.guard.stop("stop", answer=True)
        self.until_called("brake stop")
        self.assertEqual(self.robot.calls, ["brake stop"])
        self.robot.release.set()
        self.until_called("halted?", 3)
        self.assertNotIn("stopped stop", self.robot.calls)
        self.robot.halted = True
        self.until_called("stopped stop")

    def test_no_command_is_obeyed_while_a_brake_works(self) -> None:
        self.robot.blocks.add("brake stop")
        self.guard.stop("stop")
        self.until_called("brake stop")
        self.guard.command(command(1))
        self.guard.event(self.robot.note, "event")
        self.until_called("event")
        self.assertNotIn("obey 1", self.robot.calls)
        self.robot.release.set()
        self.until_called("obey 1")

    def test_the_deadman_halts_a_robot_whose_command_blocks(self) -> None:
        self.guard.set_deadman(0.02)
        self.robot.blocks.add("obey 1")
        self.guard.command(command(1))
        self.until_called("brake watchdog")
        self.assertEqual(self.robot.calls, ["obey 1", "brake watchdog"])
        stop = self.guard.in_force
        assert stop is not None
        self.assertEqual((stop.reason, stop.latched), ("watchdog", False))

    def test_a_robot_that_has_obeyed_nothing_has_no_deadman(self) -> None:
        self.guard.set_deadman(0.0)
        self.guard.event(self.robot.note, "event")
        self.until_called("event")
        self.assertEqual(self.robot.calls, ["event"])

    def test_only_the_newest_command_waits_and_an_expired_one_is_dropped(self) -> None:
        self.robot.blocks.add("event")
        self.guard.event(self.robot.note, "event")
        self.until_called("event")
        for seq in (1, 2, 3):
            self.guard.command(command(seq))
        self.robot.release.set()
        self.until_called("obey 3")
        self.robot.release.clear()
        self.guard.event(self.robot.note, "event")
        self.until_called("event", 2)
        self.guard.command(command(4, valid_s=-1))
        self.robot.release.set()
        self.guard.event(self.robot.note, "later")
        self.until_called("later")
        self.guard.command(command(5))
        self.until_called("obey 5")
        self.assertEqual([call for call in self.robot.calls if call.startswith("obey")], ["obey 3", "obey 5"])

    def test_a_latched_stop_refuses_commands_until_it_is_cleared(self) -> None:
        self.guard.stop("person", latched=True, answer=True)
        self.guard.stop("watchdog")
        self.until_called("stopped person")
        self.guard.command(command(1))
        for turn in ("first", "second"):  # after the first event, the worker looks for a command
            self.guard.event(self.robot.note, turn)
            self.until_called(turn)
        self.assertNotIn("obey 1", self.robot.calls)
        self.assertTrue(self.guard.in_force and self.guard.in_force.latched)
        self.guard.clear_stop()
        self.guard.command(command(2))
        self.until_called("obey 2")
        self.assertNotIn("obey 1", self.robot.calls)
        self.assertIsNone(self.guard.in_force)

    def test_a_failed_command_halts_the_robot_and_the_next_one_is_obeyed(self) -> None:
        self.robot.fails.add("obey 1")
        self.guard.command(command(1))
        self.until_called("brake callback_failed")
        self.guard.command(command(2))
        self.until_called("obey 2")
        self.assertEqual(self.robot.errors, ["obey 1 failed"])

    def test_a_failed_event_halts_a_moving_robot(self) -> None:
        self.robot.fails.add("event")
        self.guard.command(command(1))
        self.until_called("obey 1")
        self.guard.event(self.robot.note, "event")
        self.until_called("brake callback_failed")

    def test_a_brake_that_fails_is_tried_again_and_not_answered(self) -> None:
        self.robot.fails.add("brake stop")
        self.guard.stop("stop", answer=True)
        self.until_called("brake stop", 2)
        self.assertNotIn("stopped stop", self.robot.calls)
        self.robot.fails.clear()
        self.until_called("stopped stop")

    def test_a_callback_that_ends_its_thread_ends_nothing(self) -> None:
        self.guard.event(exit)
        self.robot.until(lambda: self.robot.errors)
        self.guard.command(command(1))
        self.until_called("obey 1")

    def test_a_lost_connection_is_owed_no_answer(self) -> None:
        self.robot.blocks.add("brake stop")
        self.guard.stop("stop", answer=True)
        self.until_called("brake stop")
        self.guard.forget_answer()
        self.robot.release.set()
        self.guard.event(self.robot.note, "event")
        self.until_called("event")
        self.assertNotIn("halted?", self.robot.calls)

    def test_closing_waits_for_the_brake(self) -> None:
        self.guard.close("closed", WAIT_LIMIT_S)
        self.assertEqual(self.robot.calls, ["brake closed"])

    def test_closing_brakes_once_more_after_a_command_that_was_being_obeyed(self) -> None:
        for limit_s in (WAIT_LIMIT_S, 0.0):
            with self.subTest(limit_s=limit_s):
                robot = FakeRobot()
                robot.guard.start(None)  # type: ignore[arg-type]
                robot.blocks.add("obey 1")
                robot.guard.command(command(1))
                robot.until(lambda: "obey 1" in robot.calls)
                closing = threading.Thread(target=robot.guard.close, args=("closed", limit_s))
                closing.start()
                robot.until(lambda: "brake closed" in robot.calls)
                if limit_s == 0.0:  # the end is not waited for, and the brake follows all the same
                    closing.join(WAIT_LIMIT_S)
                    robot.release.set()
                    robot.until(lambda: robot.calls.count("brake closed") == 2)
                robot.release.set()
                closing.join(WAIT_LIMIT_S)
                self.assertEqual(robot.calls, ["obey 1", "brake closed", "brake closed"])

    def test_events_are_bounded(self) -> None:
        self.robot.blocks.add("event")
        self.guard.event(self.robot.note, "event")
        self.until_called("event")
        for number in range(1_000):
            self.guard.event(self.robot.note, str(number))
        self.robot.release.set()
        self.until_called("999")
        self.assertEqual(len(self.robot.calls), 129)


class FrameAgeTest(unittest.TestCase):
    def test_the_age_is_the_delay_beyond_the_fastest_frame(self) -> None:
        age = FrameAge()
        self.assertEqual([age.age_ms(t, 250, now) for t, now in ((0, 5_000), (40, 5_040), (80, 5_380), (120, 5_125))], [0, 0, 300, 5])

    def test_a_drift_of_the_clocks_makes_no_frame_younger(self) -> None:
        age = FrameAge()
        age.age_ms(0, 250, 0)
        self.assertAlmostEqual(age.age_ms(10_000, 250, 10_001.9), 0)
        self.assertAlmostEqual(age.age_ms(20_000, 250, 20_010), 8.1)

    def test_frames_that_are_late_by_the_same_amount_become_the_measure(self) -> None:
        age = FrameAge()
        age.age_ms(0, 250, 0)
        ages = [age.age_ms(t, 250, t + 60_000) for t in range(100, 2_300, 40)]
        self.assertEqual((ages[0], ages[-1]), (60_000, 0))

    def test_frames_of_a_buffer_that_drains_stay_late(self) -> None:
        age = FrameAge()
        age.age_ms(0, 250, 0)
        self.assertTrue(all(age.age_ms(t, 250, 60_000 + t / 10) > 250 for t in range(0, 50_000, 400)))


class FrameOrderTest(unittest.TestCase):
    def test_frames_are_handled_once_and_in_their_order(self) -> None:
        order = FrameOrder()
        steps: list[tuple[Any, ...]] = [
            ("control", None, 0, False, True),
            ("control", 1, 0, False, True),
            ("control", 1, 0, False, False),
            ("stop", 2, 0, True, True),
            ("stop", 4, 0, False, True),
            ("stop_cleared", 3, 0, False, True),
            ("stop", 2, 0, True, False),
            ("control", 6, 5, False, False),
            ("limits", 7, 5, False, False),
            ("session", 5, 0, False, True),
            ("limits", 7, 5, False, True),
            ("control", 6, 5, False, True),
        ]
        for kind, number, after, latched, expected in steps:
            with self.subTest(kind=kind, number=number):
                self.assertEqual(order.may_handle(kind, number, after, latched), expected)


class LimitsFrameTest(unittest.TestCase):
    def test_unreadable_limits_are_the_lowest(self) -> None:
        self.assertEqual(read_limits({"speed_scale": 0.5, "reason": "latency"}), Limits(0.5, "latency"))
        for scale in (0, 2, True, "1", None):
            self.assertEqual(read_limits({"speed_scale": scale}).speed_scale, 0.05)


if __name__ == "__main__":
    unittest.main()
