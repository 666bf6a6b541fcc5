"""Measures a robot on this machine: the way of a stop to `on_stop`, the lateness of the deadman, and what 50 commands and 30 samples a
second cost. Run `python3 -m tests.measure` in this folder.

The gateway is another process. Times begin when it hands a frame to its kernel, so they contain the way over the loopback interface.
"""
from __future__ import annotations

import asyncio
import json
import multiprocessing
import threading
import time
from typing import Any

import websockets

from wheelhouse import Robot, Session
from wheelhouse.link import Connection

SESSION = {"session_id": "s", "status": "ACTIVE", "operator_name": "Ada"}
WELCOME = {
    "type": "welcome", "robot_id": "r", "epoch": 1, "heartbeat_interval_ms": 1000, "heartbeat_timeout_ms": 10_000,
    "deadman_ms": 250, "whip_url": "", "session": SESSION, "stop": None,
}  # fmt: skip
STOPS, DEADMANS = 300, 20


async def serve_robot(socket: Any) -> None:
    seq = 0

    async def drive(seconds: float) -> None:
        nonlocal seq
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            seq += 1
            now_ms = time.monotonic() * 1000
            data = {"linear_mps": 0.5, "angular_radps": 0.1, "sent_ms": now_ms}
            await socket.send(json.dumps({"type": "control", "session_id": "s", "seq": seq, "t": now_ms, "ttl_ms": 250, "data": data}))
            await asyncio.sleep(0.02)

    async def read() -> None:
        async for message in socket:
            frame = json.loads(message)
            if frame["type"] == "heartbeat":
                await socket.send(json.dumps({"type": "heartbeat_ack", "seq": frame["seq"], "t": 1}))

    reading = asyncio.ensure_future(read())
    await socket.send(json.dumps(WELCOME))
    for _ in range(STOPS):
        await drive(0.05)
        await socket.send(json.dumps({"type": "stop", "reason": str(time.monotonic() * 1000), "latched": False}))
    for _ in range(DEADMANS):
        await drive(0.1)
        await asyncio.sleep(0.5)
    await socket.close(4403)
    reading.cancel()


def gateway(port: Any) -> None:
    async def main() -> None:
        async with websockets.serve(serve_robot, "127.0.0.1", 0, subprotocols=["wheelhouse.v1"], compression=None) as server:  # type: ignore
            port.send(next(iter(server.sockets)).getsockname()[1])
            await asyncio.Future()

    asyncio.run(main())


class Measured(Robot):
    def __init__(self, work_s: float, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.work_s = work_s
        self.stops_ms: list[float] = []
        self.own_ms: list[float] = []
        """From the socket that is readable to `on_stop`."""
        self.deadmans_ms: list[float] = []
        self.commands_ms: list[float] = []
        self.obeyed_ms = self.readable_ms = 0.0
        welcome = self._core._on_welcome

        def watch(connection: Connection, frame: dict[str, Any]) -> None:
            receive = connection._socket.data_received

            def data_received(data: bytes) -> None:
                self.readable_ms = time.monotonic() * 1000
                receive(data)

            connection._socket.data_received = data_received
            welcome(connection, frame)

        self._core._on_welcome = watch  # type: ignore[method-assign]

    def on_control(self, data: Any) -> None:
        self.obeyed_ms = time.monotonic() * 1000
        self.commands_ms.append(self.obeyed_ms - data["sent_ms"])
        until = time.monotonic() + self.work_s
        while time.monotonic() < until:  # work in Python, which holds the interpreter
            pass

    def on_stop(self, reason: str) -> None:
        now_ms = time.monotonic() * 1000
        if reason == "watchdog":
            self.deadmans_ms.append(now_ms - self.obeyed_ms - 350)
        elif reason[0].isdigit():
            self.stops_ms.append(now_ms - float(reason))
            self.own_ms.append(now_ms - self.readable_ms)

    def telemetry(self) -> Any:
        return {"pose": {"x_m": 1.0, "y_m": 2.0, "heading_rad": 0.5}, "joints": [0.1] * 7}

    def on_session(self, session: Session | None) -> None:
        pass


def shares(values: list[float]) -> str:
    ordered = sorted(values)
    return ", ".join(f"{name} {ordered[min(len(ordered) - 1, int(len(ordered) * share))]:.2f}" for name, share in (("p50", 0.5), ("p99", 0.99), ("max", 1)))


def measure(work_s: float) -> None:
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=gateway, args=(there,), daemon=True)
    process.start()
    robot = Measured(work_s, f"ws://127.0.0.1:{here.recv()}/robots/r/control", "t", telemetry_hz=30)
    began_s, began_cpu_s = time.monotonic(), time.process_time()
    try:
        robot.run()
    except Exception as end:
        print(f"  {end}")
    cpu = (time.process_time() - began_cpu_s) / (time.monotonic() - began_s)
    process.terminate()
    print(f"on_control works for {work_s * 1000:g} ms, {threading.active_count()} threads at the end")
    print(f"  stop to on_stop, ms:       {shares(robot.stops_ms)} of {len(robot.stops_ms)}")
    print(f"  of it in the robot, ms:    {shares(robot.own_ms)}")
    print(f"  command to on_control, ms: {shares(robot.commands_ms)} of {len(robot.commands_ms)}")
    print(f"  deadman later by, ms:      {shares(robot.deadmans_ms)} of {len(robot.deadmans_ms)}")
    print(f"  share of one core:         {cpu:.1%}")


if __name__ == "__main__":
    for work in (0.0, 0.015):
        measure(work)
