"""Goals: what a robot does with them and reports of itself, and what operators send and learn."""
from __future__ import annotations

import json
import math
import threading
import time
import unittest
from typing import Any

from wheelhouse import Autonomy, Goal, GoalState, Operator, Policy
from wheelhouse.autonomy import AutonomyReports, read_autonomy

from .test_robot import SESSION, WAIT_LIMIT_S, Recorder, RobotFixture

HOLDER = {"participant_id": "p", "kind": "operator", "user_id": "u", "name": "Olga"}


class Rover(Recorder):
    def on_goal(self, goal: Goal) -> None:
        self.calls.append(("goal", goal.goal_id))

    def on_goal_canceled(self, goal_id: str, reason: str) -> None:
        self.calls.append(("canceled", goal_id, reason))


class RobotGoalTest(RobotFixture):
    robot_type = Rover

    def goal(self, name: str, **fields: Any) -> None:
        self.seq += 1
        stamp = {"session_id": "s", "seq": self.seq, "t": time.monotonic() * 1000, "ttl_ms": 60_000}
        self.receive({"type": "goal", **stamp, "goal_id": name, "frame": "map", "x": 1, "y": -2.5, "heading": 0.5, **fields})

    async def drive_to(self, goal_id: str, **fields: Any) -> None:
        self.goal(goal_id, **fields)
        await self.obeyed(("goal", goal_id))

    async def test_each_duty_cancels_the_goal_and_halts_the_robot(self) -> None:
        other = {**SESSION, "session_id": "other"}
        for reason, stop, act in (
            ("canceled", "goal_canceled", lambda: self.receive({"type": "cancel_goal", "goal_id": "a"})),
            ("stopped", "deadman", lambda: self.receive({"type": "stop", "reason": "deadman", "latched": False})),
            ("stopped", "unreadable_frame", lambda: self.receive("{")),
            ("session_paused", "session_paused", lambda: self.receive({"type": "session", **SESSION, "status": "PAUSED"})),
            ("session_paused", "session_over", lambda: self.receive({"type": "session", **SESSION, "status": "COMPLETED"})),
            ("session_paused", "session_paused", lambda: self.receive({"type": "session", **other})),
            ("control_transferred", "control_transferred", lambda: self.receive({"type": "lease", "epoch": 2, "holder": HOLDER})),
            ("control_transferred", "control_transferred", lambda: self.control(1, epoch=2, ttl_ms=-1)),
            ("link_lost", "link_lost", lambda: self.core.lost(self.connection)),  # type: ignore[arg-type]
        ):
            with self.subTest(reason=reason, stop=stop):
                await self.connect()
                await self.drive_to("a")
                act()
                # The goal may have moved the robot after the first brake.
                ended = [("goal", "a"), ("stop", stop), ("canceled", "a", reason), ("stop", stop)]
                await self.until(lambda: self.robot.calls == ended)

    async def test_a_command_and_a_newer_goal_replace_it_without_a_halt(self) -> None:
        await self.connect()
        await self.drive_to("a")
        await self.drive_to("b")
        self.control(1)
        await self.obeyed(("control", 1))
        await self.drive_to("c")
        expected = [("goal", "a"), ("canceled", "a", "replaced"), ("goal", "b"), ("canceled", "b", "control"), ("control", 1), ("goal", "c")]
        self.assertEqual(self.robot.calls, expected)

    async def test_a_goal_that_is_canceled_while_it_replaces_another_does_not_begin(self) -> None:
        await self.connect()
        await self.drive_to("a")
        told = self.robot.on_goal_canceled

        def cancel_the_next(goal_id: str, reason: str) -> None:
            told(goal_id, reason)
            self.core.guard.cancel_goal("b")

        self.robot.on_goal_canceled = cancel_the_next  # type: ignore[method-assign]
        self.goal("b")
        await self.until(lambda: ("stop", "goal_canceled") in self.robot.calls and not self.core.guard.moving)
        self.assertNotIn(("goal", "b"), self.robot.calls)

    async def test_a_goal_needs_no_commands_and_the_command_after_it_does(self) -> None:
        await self.connect({"deadman_ms": 1}, deadman_margin_ms=0)
        await self.drive_to("a")
        beats = len(self.connection.of("heartbeat"))
        await self.until(lambda: len(self.connection.of("heartbeat")) > beats + 3)
        self.control(1)
        await self.until(lambda: ("stop", "watchdog") in self.robot.calls)
        self.assertEqual(self.robot.calls, [("goal", "a"), ("canceled", "a", "control"), ("control", 1), ("stop", "watchdog")])

    async def test_goals_that_must_not_be_obeyed_are_refused(self) -> None:
        await self.connect()
        self.control(0)
        self.control(1)
        await self.obeyed(("control", 1))
        self.goal("late", t=time.monotonic() * 1000 - 100_000)
        self.goal("of another session", session_id="other")
        self.goal("before the command", seq=2)
        self.receive({"type": "stop", "reason": "a person", "latched": True})
        self.goal("under a latched stop")
        self.receive({"type": "stop_cleared"})
        self.receive({"type": "session", **SESSION, "status": "PAUSED"})
        self.goal("in a paused session")
        self.receive({"type": "session", **SESSION})
        self.receive({"type": "lease", "epoch": 3, "holder": HOLDER})
        self.goal("of an earlier holder", epoch=2)
        self.goal("of the first epoch")
        self.goal("good", epoch=3)
        await self.obeyed(("goal", "good"))
        self.assertEqual([call for call in self.robot.calls if call[0] == "goal"], [("goal", "good")])

    async def test_a_goal_that_cannot_be_read_halts_it(self) -> None:
        for change in ({"x": None}, {"y": "1"}, {"heading": 1e999}, {"goal_id": ""}, {"frame": "a\nb"}, {"seq": "1"}, {"t": None}):
            with self.subTest(change=change):
                await self.connect()
                await self.drive_to("a")
                self.goal("b", **change)
                await self.until(lambda: ("stop", "unreadable_frame") in self.robot.calls)
                self.assertNotIn(("goal", "b"), self.robot.calls)

    async def test_a_goal_that_ended_is_not_canceled_and_the_next_connection_of_the_operator_may_send_one(self) -> None:
        await self.connect()
        self.seq = 100
        await self.drive_to("a")
        self.robot.autonomy("manual", "map", GoalState("other", "reached", 0, 0, 0))
        self.assertTrue(self.core.guard.moving)
        self.robot.autonomy("manual", "map", GoalState("a", "reached", 1, -2.5, 0.5))
        self.assertFalse(self.core.guard.moving)
        self.receive({"type": "cancel_goal", "goal_id": "a"})
        self.seq = 0
        await self.drive_to("b")
        self.assertEqual(self.robot.calls, [("goal", "a"), ("goal", "b")])

    async def test_after_a_cancellation_the_next_connection_of_the_operator_may_send_a_goal(self) -> None:
        await self.connect()
        self.seq = 100
        await self.drive_to("a")
        self.receive({"type": "cancel_goal", "goal_id": "a"})
        await self.until(lambda: ("canceled", "a", "canceled") in self.robot.calls)
        self.seq = 0
        await self.drive_to("b")

    async def test_a_goal_that_on_goal_begins_during_its_cancellation_is_canceled_again(self) -> None:
        began, may_go_on = threading.Event(), threading.Event()
        self.addCleanup(may_go_on.set)
        await self.connect()

        def on_goal(goal: Goal) -> None:
            began.set()
            may_go_on.wait(WAIT_LIMIT_S)
            self.robot.calls.append(("goal", goal.goal_id))

        self.robot.on_goal = on_goal  # type: ignore[method-assign]
        self.goal("a")
        await self.until(began.is_set)
        self.receive({"type": "cancel_goal", "goal_id": "a"})
        first = [("stop", "goal_canceled"), ("canceled", "a", "canceled"), ("stop", "goal_canceled")]
        await self.until(lambda: self.robot.calls == first)
        may_go_on.set()
        await self.until(lambda: self.robot.calls == [*first, ("goal", "a"), *first])

    async def test_what_raises_halts_it(self) -> None:
        await self.connect()
        await self.drive_to("a")
        self.robot.on_goal_canceled = lambda goal_id, reason: 1 / 0  # type: ignore[method-assign]
        self.control(1)
        await self.until(lambda: ("stop", "callback_failed") in self.robot.calls)
        self.robot.on_goal = lambda goal: 1 / 0  # type: ignore[method-assign]
        self.robot.calls.clear()
        self.goal("b")
        await self.until(lambda: ("stop", "callback_failed") in self.robot.calls)
        self.assertNotIn(("control", 1), self.robot.calls)

    async def test_the_state_is_sent_with_each_change_and_again_after_each_welcome(self) -> None:
        await self.connect()
        self.robot.autonomy("manual", "map")
        self.reconnected()
        sent = {"type": "autonomy", "mode": "manual", "goal_frame": "map", "goal": None}
        self.assertEqual(self.connection.of("autonomy"), [sent, sent])

    def reconnected(self) -> None:
        self.core.lost(self.connection)  # type: ignore[arg-type]
        self.reconnect()


class ReportsTest(unittest.IsolatedAsyncioTestCase):
    def report(self, reports: AutonomyReports, progress: float, status: str = "active") -> None:
        reports.report(Autonomy("autonomous", "map", GoalState("a", status, 0, 0, 0, progress)), self.loop)  # type: ignore[arg-type]

    async def test_mere_progress_waits_for_its_turn_and_the_newest_one_is_sent(self) -> None:
        sent: list[Any] = []
        later: list[Any] = []

        class Loop:
            def call_soon_threadsafe(self, call: Any, *args: Any) -> None:
                call(*args)

            def call_later(self, seconds: float, call: Any) -> None:
                later.append(call)

        self.loop = Loop()
        reports = AutonomyReports(lambda frame: sent.append(frame["goal"].get("progress")) is None)
        for progress in (0.1, 0.2, 0.3):
            self.report(reports, progress)
        reports._sent_at_s = math.inf  # time stands still
        self.report(reports, 0.4)
        self.assertEqual((sent, len(later)), ([0.1], 1))
        later[0]()
        self.assertEqual(sent, [0.1, 0.4])
        reports._sent_at_s = math.inf
        self.report(reports, 1.0, "reached")
        self.assertEqual(sent, [0.1, 0.4, 1.0])

    def test_an_invalid_report_is_refused(self) -> None:
        goal = {"goal_id": "a", "status": "active", "x": 0, "y": 0, "heading": 0}
        for change in (
            {"mode": "automatic"},
            {"goal_frame": ""},
            {"goal_frame": "m\u200bap"},
            {"goal_frame": "m" * 101},
            {"goal": {}},
            {"goal": {**goal, "status": "done"}},
            {"goal": {**goal, "x": math.nan}},
            {"goal": {**goal, "progress": 1.1}},
            {"goal": {**goal, "distance_m": -1}},
            {"goal": {**goal, "goal_id": "a" * 65}},
        ):
            with self.subTest(change=change), self.assertRaises(ValueError):
                read_autonomy({"mode": "autonomous", "goal_frame": "map", **change})
        report = read_autonomy({"mode": "assisted", "goal": {**goal, "message": "m" * 501}})
        self.assertEqual(report, Autonomy("assisted", None, GoalState("a", "active", 0, 0, 0, message="m" * 500)))


class FakeConnection:
    channel = None

    def __init__(self) -> None:
        self.frames: list[Any] = []

    def send_message(self, message: str, *, droppable: bool = True) -> bool:
        self.frames.append(json.loads(message))
        return True

    def send(self, frame: Any, *, droppable: bool = True) -> bool:
        self.frames.append(frame)
        return True


class OperatorGoalTest(unittest.IsolatedAsyncioTestCase):
    def connect(self, operator: Operator) -> None:
        self.connection = FakeConnection()
        operator._connection = self.connection  # type: ignore[assignment]

    async def test_goals_share_the_numbers_of_commands(self) -> None:
        operator = Operator("http://hub", "t", "s", data_channel=False)
        self.assertIsNone(operator.goal("map", 1, 2, 3))
        self.assertFalse(operator.cancel_goal())
        self.connect(operator)
        operator.control({})
        self.assertEqual(operator.goal("map", 1, -2.5, 0.5, ttl_ms=500, goal_id="a"), (2, "a"))
        self.assertTrue(operator.cancel_goal())
        _, goal, cancel = self.connection.frames
        self.assertEqual(goal.pop("t") > 0, True)
        self.assertEqual(goal, {"type": "goal", "seq": 2, "goal_id": "a", "frame": "map", "x": 1, "y": -2.5, "heading": 0.5, "ttl_ms": 500})
        self.assertEqual(cancel, {"type": "cancel_goal"})
        for arguments in ((("map", math.nan, 0, 0)), (("", 0, 0, 0))):
            with self.assertRaises(ValueError):
                operator.goal(*arguments)
        operator.stop("x")
        self.assertIsNone(operator.goal("map", 0, 0, 0))

    async def test_the_report_of_the_robot_is_known_until_the_robot_is_gone(self) -> None:
        told: list[Any] = []
        operator = Operator("http://hub", "t", "s", data_channel=False)
        operator.on_autonomy = told.append  # type: ignore[method-assign]
        goal = {"goal_id": "a", "status": "active", "x": 1, "y": 2, "heading": 0, "progress": 0.5, "distance_m": 3}
        operator.handle("autonomy", {"type": "autonomy", "mode": "autonomous", "goal_frame": "map", "goal": goal})
        self.assertEqual(told, [Autonomy("autonomous", "map", GoalState("a", "active", 1, 2, 0, 0.5, 3))])
        self.assertEqual(operator.autonomy, told[0])
        operator.handle("state", {"status": "ACTIVE", "robot_connected": False, "stop": None})
        self.assertIsNone(operator.autonomy)

    async def test_a_policy_sends_goals_only_while_it_holds_control(self) -> None:
        policy = Policy("http://hub", "t", "s", data_channel=False, shadow=True)
        self.connect(policy)
        self.assertIsNone(policy.goal("map", 0, 0, 0))
        policy.holds = True
        self.assertIsNotNone(policy.goal("map", 0, 0, 0))
