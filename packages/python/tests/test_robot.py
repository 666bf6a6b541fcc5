"""What a robot does with the frames of a gateway. The loop and the threads are real, the connection is not."""
from __future__ import annotations

import asyncio
import importlib.util
import json
import math
import struct
import threading
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wheelhouse import CommandError, FrameError, GatewayError, Robot
from wheelhouse.link import frame_text

WAIT_LIMIT_S = 60.0
SESSION = {"session_id": "s", "status": "ACTIVE", "operator_name": "Ada"}
ARM = {
    "type": "object",
    "properties": {"joint": {"type": "number", "minimum": -3, "maximum": 3, "x-max-rate": 1}},
    "additionalProperties": False,
}
LEADER = Path(__file__).parents[3] / "examples" / "python" / "leader.py"


class FakeConnection:
    channel = None

    def __init__(self) -> None:
        self.frames: list[dict[str, Any]] = []

    def send(self, frame: Any, *, droppable: bool = True) -> bool:
        self.frames.append(json.loads(frame_text(frame)))
        return True

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [frame for frame in self.frames if frame["type"] == kind]


class FakeLink:
    def online(self, connection: Any, silence_s: float) -> None:
        pass


class Recorder(Robot):
    """Records what is called."""

    def __init__(self, **options: Any) -> None:
        super().__init__("ws://gateway/robots/r/control", "t", **options)
        self.calls: list[Any] = []
        self.errors: list[BaseException] = []
        self.sample: Any = None
        self.charge: Any = None
        self.obeys: Callable[[Any], Any] = lambda data: None

    def on_control(self, data: Any) -> Any:
        self.calls.append(("control", data))
        return self.obeys(data)

    def on_binary_control(self, payload: bytes) -> None:
        self.calls.append(("binary", payload))

    async def on_stop(self, reason: str) -> None:
        self.calls.append(("stop", reason))

    def telemetry(self) -> Any:
        return self.sample

    def battery(self) -> Any:
        return self.charge

    def measured(self) -> Any:
        return {"joint": 1.0}

    def on_error(self, error: BaseException) -> None:
        self.errors.append(error)


class RobotFixture(unittest.IsolatedAsyncioTestCase):
    """A robot of `robot_type` with a connection that only records."""

    robot_type = Recorder

    async def connect(self, welcome: dict[str, Any] | None = None, **options: Any) -> None:
        self.robot = self.robot_type(**options)
        self.core, self.connection, self.seq = self.robot._core, FakeConnection(), 0
        self.core._loop = asyncio.get_running_loop()
        self.core._link = FakeLink()  # type: ignore[assignment]
        self.core.guard.start(self.core._loop)
        self.addAsyncCleanup(asyncio.to_thread, self.core.guard.close, "end", WAIT_LIMIT_S)
        self.reconnect(welcome)
        self.addCleanup(lambda: self.core._beats and self.core._beats.cancel())

    def reconnect(self, welcome: dict[str, Any] | None = None) -> None:
        times = {"heartbeat_interval_ms": 20, "heartbeat_timeout_ms": 1_000, "deadman_ms": 3_600_000}
        self.receive({"type": "welcome", **times, "session": SESSION, "stop": None, **(welcome or {})})

    def receive(self, frame: Any) -> None:
        message = frame if isinstance(frame, (bytes, str)) else json.dumps(frame)
        self.core.received(self.connection, message)  # type: ignore[arg-type]

    def control(self, data: Any, **fields: Any) -> None:
        self.seq += 1
        t_ms = time.monotonic() * 1000
        self.receive({"type": "control", "session_id": "s", "seq": self.seq, "t": t_ms, "ttl_ms": 60_000, "data": data, **fields})

    async def obeyed(self, call: Any) -> None:
        """Waits until a call has returned, so that a stop after it needs no second one."""
        await self.until(lambda: call in self.robot.calls and self.core.guard._obeying is None)

    async def until(self, condition: Callable[[], Any]) -> None:
        until_s = time.monotonic() + WAIT_LIMIT_S
        while not condition():
            if time.monotonic() > until_s:
                self.fail(f"the condition did not come true; {self.robot.calls} {self.robot.errors} {self.connection.frames}")
            await asyncio.sleep(0.001)


class RobotTest(RobotFixture):
    async def test_a_command_is_obeyed_and_acknowledged_unless_it_returns_false(self) -> None:
        await self.connect()
        self.robot.obeys = lambda data: False if data == "refused" else None
        for data in ("refused", {"linear_mps": 1}):
            self.control(data)
            await self.obeyed(("control", data))
        await self.until(lambda: self.connection.of("ack"))
        self.assertEqual(self.connection.of("ack"), [{"type": "ack", "seq": 2}])

    async def test_commands_of_other_sessions_paused_sessions_and_late_ones_are_ignored(self) -> None:
        await self.connect()
        self.control(0)
        await self.obeyed(("control", 0))
        self.control(1, session_id="other")
        self.control(2, t=time.monotonic() * 1000 - 100_000)
        self.receive({"type": "session", **SESSION, "status": "PAUSED"})
        self.control(3)
        self.receive({"type": "session", **SESSION})
        self.control(4)
        await self.obeyed(("control", 4))
        self.assertEqual(self.robot.calls, [("control", 0), ("stop", "session_paused"), ("control", 4)])

    async def test_a_change_of_control_halts_it_and_earlier_holders_are_not_obeyed(self) -> None:
        leases: list[Any] = []
        await self.connect()
        self.robot.on_lease = lambda lease: leases.append((lease.epoch, lease.holder and lease.holder.kind))  # type: ignore[method-assign]
        holder = {"participant_id": "p", "kind": "supervisor", "user_id": "u", "name": "Olga", "since": "2026-11-20T09:31:00.000Z"}
        self.control(1)
        await self.obeyed(("control", 1))
        self.receive({"type": "lease", "epoch": 3, "holder": holder})
        self.control(2)
        self.control(3, epoch=2)
        self.receive({"type": "lease", "epoch": 2, "holder": None})
        self.control(4, epoch=3)
        await self.obeyed(("control", 4))
        self.assertEqual(self.robot.calls, [("control", 1), ("stop", "control_transferred"), ("control", 4)])
        self.assertEqual(leases, [(3, "supervisor")])
        self.reconnect()
        self.control(5)
        self.receive({"type": "session", **SESSION, "session_id": "other"})
        self.control(6, session_id="other")
        await self.obeyed(("control", 6))
        self.assertNotIn(("control", 5), self.robot.calls)

    async def test_the_first_command_of_a_new_holder_may_overtake_the_lease(self) -> None:
        leases: list[Any] = []
        await self.connect()
        self.robot.on_lease = lambda lease: leases.append(lease.epoch)  # type: ignore[method-assign]
        self.control(1)
        await self.obeyed(("control", 1))
        self.control(2, epoch=2)
        await self.obeyed(("control", 2))
        self.control(3)
        for _ in range(2):
            self.receive({"type": "lease", "epoch": 2, "holder": None})
        await self.until(lambda: leases)
        self.control(4, epoch=2)
        await self.obeyed(("control", 4))
        self.assertEqual(self.robot.calls, [("control", 1), ("stop", "control_transferred"), ("control", 2), ("control", 4)])
        self.assertEqual(leases, [2])

    async def test_a_lease_that_cannot_be_read_halts_it(self) -> None:
        await self.connect()
        self.control(1)
        await self.obeyed(("control", 1))
        self.receive({"type": "lease", "epoch": "2", "holder": None})
        await self.until(lambda: ("stop", "unreadable_frame") in self.robot.calls)

    async def test_a_latched_stop_is_answered_and_lasts_until_it_is_cleared(self) -> None:
        await self.connect()
        self.receive({"type": "stop", "reason": "a person 😀", "latched": True})
        await self.until(lambda: self.connection.of("stopped"))
        self.assertEqual(self.connection.of("stopped"), [{"type": "stopped", "reason": "a person 😀"}])
        self.control(1)
        self.assertTrue(self.robot.stop_in_force and self.robot.stop_in_force.latched)
        self.receive({"type": "stop_cleared"})
        self.control(2)
        await self.obeyed(("control", 2))
        self.assertNotIn(("control", 1), self.robot.calls)

    async def test_a_stop_of_the_welcome_is_in_force_and_a_welcome_without_one_ends_it(self) -> None:
        await self.connect({"stop": {"reason": "before", "latched": True}})
        await self.until(lambda: self.connection.of("stopped"))
        self.core.lost(self.connection)  # type: ignore[arg-type]
        self.reconnect()
        self.control(1)
        await self.obeyed(("control", 1))

    async def test_a_welcome_that_cannot_be_read_does_not_let_a_robot_move(self) -> None:
        stop = {"reason": "before", "latched": True}
        for change in ({"limits": "x"}, {"session": {}}, {"stop": {}}, {"deadman_ms": 1e999}, {"deadman_ms": None}, {"heartbeat_interval_ms": 0}):
            with self.subTest(change=change):
                await self.connect({"stop": stop, **change})
                await self.until(lambda: self.robot.errors)
                self.assertFalse(self.robot.online)
                self.assertIsNone(self.robot.session)
                self.receive({"type": "session", **SESSION})
                self.control(1)
                self.assertFalse(self.core.guard.moving)

    async def test_empty_limits_are_the_lowest(self) -> None:
        await self.connect({"limits": {}})
        self.assertEqual(self.robot.limits.speed_scale, 0.05)

    async def test_a_lost_connection_halts_a_moving_robot_without_an_answer(self) -> None:
        await self.connect()
        self.control(1)
        await self.until(lambda: self.connection.of("ack"))
        self.core.lost(self.connection)  # type: ignore[arg-type]
        await self.until(lambda: ("stop", "link_lost") in self.robot.calls)
        self.assertEqual(self.connection.of("stopped"), [])

    async def test_what_cannot_be_read_halts_a_moving_robot(self) -> None:
        for message in ("{", "[]", "{}", b"", b"\x03\x00", '{"type":"control"}', '{"type":"control","x":NaN}', "[" * 100_000, '{"type":["x"]}'):
            with self.subTest(message=message[:30]):
                await self.connect()
                self.control(1)
                await self.until(lambda: self.connection.of("ack"))
                self.receive(message)
                if message != '{"type":["x"]}':  # a type of a later version
                    await self.until(lambda: ("stop", "unreadable_frame") in self.robot.calls and self.robot.errors)

    async def test_an_unreadable_stop_is_latched_and_unreadable_limits_are_the_lowest(self) -> None:
        await self.connect()
        self.receive({"type": "limits", "speed_scale": "fast"})
        self.assertEqual(self.robot.limits.speed_scale, 0.05)
        self.receive({"type": "stop"})
        self.assertTrue(self.robot.stop_in_force and self.robot.stop_in_force.latched)

    async def test_a_command_that_is_not_declared_halts_the_robot(self) -> None:
        await self.connect({"session": {**SESSION, "control_schema": ARM}})
        self.control({"joint": 1.0})
        await self.until(lambda: self.connection.of("ack"))
        self.control({"joint": 4.0})
        await self.until(lambda: ("stop", "invalid_command") in self.robot.calls and self.robot.errors)
        self.assertIsInstance(self.robot.errors[0], CommandError)
        self.assertIn("joint: must be at most 3", str(self.robot.errors[0]))

    async def test_without_a_schema_a_number_that_is_not_finite_is_refused(self) -> None:
        await self.connect()
        self.receive('{"type":"control","session_id":"s","seq":1,"t":1,"ttl_ms":250,"data":{"linear_mps":1e999}}')
        await self.until(lambda: self.robot.errors)
        self.assertIn("linear_mps is Infinity", str(self.robot.errors[0]))

    async def test_after_a_halt_an_arm_begins_where_it_is(self) -> None:
        await self.connect({"session": {**SESSION, "control_schema": ARM}})
        self.control({"joint": 3.0})
        await self.until(lambda: self.robot.calls)
        self.assertAlmostEqual(self.robot.calls[0][1]["joint"], 1.1)

    async def test_commands_are_slowed_down_to_the_allowed_speed(self) -> None:
        await self.connect({"limits": {"speed_scale": 0.5, "reason": "latency"}})
        self.control({"linear_mps": 1.0, "lamp": 1})
        self.control({"linear_mps": 0.5}, speed_scale=0.5)
        await self.obeyed(("control", {"linear_mps": 0.5}))
        self.assertLessEqual(max(data["linear_mps"] for kind, data in self.robot.calls if kind == "control"), 0.5)

    async def test_binary_commands_reach_the_robot_as_they_are(self) -> None:
        await self.connect()
        command = struct.pack(">BBHId", 1, 0, 0, 7, time.monotonic() * 1000) + b"\x01\x02"
        self.receive(struct.pack(">B3xII", 3, 1, 0) + command)
        await self.until(lambda: self.connection.of("ack"))
        self.assertEqual(self.robot.calls, [("binary", b"\x01\x02")])
        self.assertEqual(self.connection.of("ack")[0]["seq"], 7)

    async def test_numbers_that_are_not_finite_are_not_sent_and_heartbeats_go_on(self) -> None:
        await self.connect(telemetry_hz=200)
        self.robot.sample, self.robot.charge = {"pose": {"x_m": math.nan}}, math.nan
        self.core.guard.wake()
        await self.until(lambda: {"pose.x_m is NaN", "battery is NaN, not a number from 0 to 1"} <= {str(e) for e in self.robot.errors})
        self.assertTrue(all(isinstance(error, FrameError) for error in self.robot.errors))
        beats = len(self.connection.of("heartbeat"))
        await self.until(lambda: len(self.connection.of("heartbeat")) > beats + 2)
        self.assertEqual(self.connection.of("telemetry"), [])
        self.robot.sample, self.robot.charge = {"x": 1}, 0.5
        await self.until(lambda: self.connection.of("telemetry") and self.connection.of("heartbeat")[-1].get("battery") == 0.5)

    async def test_without_a_session_no_telemetry_is_sent(self) -> None:
        await self.connect({"session": None}, telemetry_hz=200)
        self.robot.sample = 1
        await self.until(lambda: len(self.connection.of("heartbeat")) > 3)
        self.assertEqual(self.connection.of("telemetry"), [])
        self.receive({"type": "session", **SESSION, "status": "PAUSED"})
        await self.until(lambda: self.connection.of("telemetry"))

    async def test_a_method_that_blocks_delays_neither_the_stop_nor_the_heartbeats(self) -> None:
        await self.connect()
        release = threading.Event()
        self.addCleanup(release.set)
        self.robot.obeys = lambda data: release.wait(WAIT_LIMIT_S)
        self.control(1)
        await self.until(lambda: self.robot.calls)
        self.receive({"type": "stop", "reason": "now", "latched": True})
        await self.until(lambda: ("stop", "now") in self.robot.calls)
        beats = len(self.connection.of("heartbeat"))
        await self.until(lambda: len(self.connection.of("heartbeat")) > beats + 2)
        self.assertEqual(self.connection.of("stopped"), [])
        release.set()
        await self.until(lambda: self.connection.of("stopped"))
        self.assertEqual(self.robot.calls.count(("stop", "now")), 2)

    async def test_errors_of_the_gateway_and_of_methods_are_told(self) -> None:
        await self.connect()
        self.receive({"type": "error", "message": "too many"})
        self.robot.obeys = lambda data: data["missing"]
        self.control({})
        await self.until(lambda: ("stop", "callback_failed") in self.robot.calls and len(self.robot.errors) == 2)
        self.assertEqual([type(error) for error in self.robot.errors], [GatewayError, KeyError])


class LeaderTest(unittest.TestCase):
    """The example of a leader arm."""

    def test_the_arm_follows_relative_to_where_it_is_when_the_clutch_engages(self) -> None:
        spec = importlib.util.spec_from_file_location("leader", LEADER)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        follower = module.Follower("http://hub", "t", "s")
        follower.telemetry = {"joints": {"a": 1.0}}
        follower.travel = {"a": {"minimum": -1, "maximum": 1.15}}
        angles = [(5.0, False), (5.0, True), (5.2, True), (9.0, False), (9.0, True), (8.9, True)]
        readings = iter([({"a": angle}, engaged) for angle, engaged in angles])
        follower.leader = type("Leader", (), {"read": lambda self, names: next(readings)})()
        commands = []
        for _ in range(6):
            commands.append(follower.command())
            if commands[-1]["clutch"]:
                follower.telemetry = {"joints": commands[-1]["joints"]}
        self.assertEqual([round(command["joints"]["a"], 6) for command in commands], [1.0, 1.0, 1.15, 1.15, 1.15, 1.05])
        self.assertEqual([command["clutch"] for command in commands], [False, True, True, False, True, True])


if __name__ == "__main__":
    unittest.main()
