#!/usr/bin/env python3
"""A complete robot for Wheelhouse, to copy and change. Replace `Motors` with your own.

Needs Python 3.9 and `websockets` 10 or newer (Debian: apt-get install python3-websockets). With `aiortc`
(python3-aiortc) and `data_channel.py` beside this file, commands also arrive over UDP.
Reads CONTROL_URL and ROBOT_TOKEN from the environment. docs/protocol-robot.md describes every frame.
"""
import asyncio
import json
import math
import os
import random
import signal
import struct
import sys
import time

import websockets

try:
    from data_channel import DataChannel
except ImportError:
    DataChannel = None  # everything travels over the WebSocket

RECONNECT_CODES = {1006, 4008, 4009, 4500, 4503}  # close codes after which a robot should reconnect
FINAL_STATUSES = {401, 403, 404}  # refusals that another attempt would not change
WATCHDOG_MARGIN_MS = 100  # added to the gateway's deadman, so that the gateway's own stop arrives first
CLOCK_DRIFT = 0.0002  # a frame may be 0.2 ms per second slower than the fastest one and replace it, because clocks drift
MAX_UNSENT_BYTES = 32 * 1024  # above this many unsent bytes, samples and acknowledgements are dropped
STEP_S, TELEMETRY_S = 0.02, 0.1
MAX_LINEAR_MPS, MAX_ANGULAR_RADPS, MAX_CHANGE_PER_S = 1.0, 2.0, 4.0


def now_ms():
    """Returns a monotonic time; time.time() may jump."""
    return time.monotonic() * 1000


def clamp(value, limit):
    return max(-limit, min(limit, value))


class Motors:
    """Simulates hardware: two speeds that follow the requested ones, and the resulting pose."""

    def __init__(self):
        self.x = self.y = self.heading = self.linear = self.angular = 0.0
        self.battery = 0.9  # 0 to 1

    def step(self, linear, angular, seconds):
        limit = MAX_CHANGE_PER_S * seconds
        self.linear += clamp(linear - self.linear, limit)
        self.angular += clamp(angular - self.angular, limit)
        self.heading += self.angular * seconds
        self.x += math.cos(self.heading) * self.linear * seconds
        self.y += math.sin(self.heading) * self.linear * seconds
        self.battery = max(0.0, self.battery - (0.00001 if self.halted else 0.0003) * seconds)

    @property
    def halted(self):
        return abs(self.linear) < 0.001 and abs(self.angular) < 0.001

    def sample(self):
        x, y, heading, linear, angular = (
            round(value, 4) for value in (self.x, self.y, self.heading, self.linear, self.angular))
        return {"pose": {"x_m": x, "y_m": y, "heading_rad": heading},
                "velocity": {"linear_mps": linear, "angular_radps": angular}, "standing": self.halted}


class Freshness:
    """Measures how much later than usual a frame arrives. The clocks need the same speed, but not the same time."""

    def __init__(self):
        self.smallest, self.smallest_at, self.seq = math.inf, 0.0, -1

    def age_ms(self, seq, t):
        if seq <= self.seq:  # seq restarts with a new link of the operator, which may have another clock
            self.smallest = math.inf
        now, self.seq = now_ms(), seq
        if now - t <= self.smallest + (now - self.smallest_at) * CLOCK_DRIFT:
            self.smallest, self.smallest_at = now - t, now
        return now - t - self.smallest


class FrameOrder:
    """Finds frames that a newer one has overtaken, and copies. Without a data channel, frames have no `order`."""

    def __init__(self):
        self.last = self.newest_session = self.newest_latch = self.newest_limits = 0

    def may_handle(self, kind, order, after=0, latched=False):
        if order is None:
            return True
        if kind == "session":
            self.newest_session = order
        elif kind == "stop_cleared" or latched:
            # The end of a latched stop arrives over the WebSocket only, so a later stop may arrive before it.
            if order <= self.newest_latch:
                return False
            self.newest_latch = order
        elif kind == "limits":
            if order <= self.newest_limits or after > self.newest_session:
                return False
            self.newest_limits = order
            return True
        elif order <= self.last or after > self.newest_session:
            return False
        self.last = max(self.last, order)
        return True


class Pilot:
    """Decides which motion is allowed: only a fresh command of an ACTIVE session over an open link."""

    def __init__(self):
        self.session, self.latched, self.unanswered = None, False, None
        self.command, self.commanded_at, self.deadman_ms = (0.0, 0.0), -math.inf, 0
        self.speed_scale = 1.0  # the allowed share of the robot's speed
        self.freshness = Freshness()

    def brake(self):
        self.command, self.commanded_at = (0.0, 0.0), -math.inf

    def speeds(self):
        # The watchdog: the network may have lost the gateway's stop.
        if now_ms() - self.commanded_at > self.deadman_ms + WATCHDOG_MARGIN_MS:
            self.brake()
        # A command may be older than the limit, and nobody but this robot can slow a binary one down.
        linear, angular = self.command
        return (clamp(linear, MAX_LINEAR_MPS * self.speed_scale),
                clamp(angular, MAX_ANGULAR_RADPS * self.speed_scale))

    def on_session(self, session):
        if (session or {}).get("session_id") != (self.session or {}).get("session_id"):
            self.freshness = Freshness()
            self.speed_scale = 1.0  # the gateway sends the limits of the session after it
        self.session = session
        if not session or session["status"] != "ACTIVE":
            self.brake()

    def on_stop(self, reason, latched):
        self.brake()
        self.latched = self.latched or latched
        self.unanswered = reason

    def on_control(self, seq, t, ttl_ms, linear, angular):
        """Returns whether the robot obeys the command."""
        if not (math.isfinite(t) and math.isfinite(ttl_ms)):  # its age is unknown
            self.brake()
            return False
        age = self.freshness.age_ms(seq, t)
        if self.latched or not self.session or self.session["status"] != "ACTIVE":
            return False
        if age > (ttl_ms or self.deadman_ms):
            return False  # it was delayed, so the command is stale
        if not (math.isfinite(linear) and math.isfinite(angular)):
            self.brake()
            return False
        self.command = clamp(linear, MAX_LINEAR_MPS), clamp(angular, MAX_ANGULAR_RADPS)
        self.commanded_at, self.unanswered = now_ms(), None
        return True


motors, pilot = Motors(), Pilot()


async def drive():
    """Steps the motors until the program ends. Never waits for the network."""
    last = now_ms()
    while True:
        await asyncio.sleep(STEP_S)
        now = now_ms()
        motors.step(*pilot.speeds(), (now - last) / 1000)
        last = now


class Link:
    """One connection to the gateway: the WebSocket, and beside it the data channel if that is possible."""

    def __init__(self, socket):
        self.socket, self.order = socket, FrameOrder()
        self.channel = DataChannel(self.send, self.receive) if DataChannel else None

    async def send(self, frame, droppable=False):
        if droppable and self.socket.transport.get_write_buffer_size() > MAX_UNSENT_BYTES:
            return  # a newer frame follows
        await self.socket.send(json.dumps(frame, allow_nan=False))

    async def log(self, level, message):
        """Adds a line to the robot's log on the platform."""
        await self.send({"type": "log", "level": level, "message": message}, droppable=True)

    async def acknowledge(self, seq):
        frame = {"type": "ack", "seq": seq}
        if not (self.channel and self.channel.send(frame)):
            await self.send(frame, droppable=True)

    async def receive(self, message):
        """Handles a message of either transport."""
        try:
            await on_frame(self, message)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            pilot.brake()  # the frame may have been a stop
            print("malformed frame:", error, flush=True)
        except websockets.ConnectionClosed:
            pass  # `connection` learns of it too


async def report(link, heartbeat_s):
    """Sends heartbeats, telemetry, and the answer to a stop when the motors have halted."""
    seq, next_beat = 0, 0.0
    while True:
        if time.monotonic() >= next_beat:
            seq, next_beat = seq + 1, time.monotonic() + heartbeat_s
            await link.send({"type": "heartbeat", "seq": seq, "battery": round(motors.battery, 4)})
        if pilot.unanswered is not None and motors.halted:
            reason, pilot.unanswered = pilot.unanswered, None
            await link.send({"type": "stopped", "reason": reason[:500]})
        await link.send({"type": "telemetry", "data": motors.sample()}, droppable=True)
        await asyncio.sleep(TELEMETRY_S)


async def on_binary_frame(link, message):
    if len(message) > 12 and message[0] == 3:  # with its order before it
        _, order, after = struct.unpack(">B3xII", message[:12])
        if not link.order.may_handle("control", order, after):
            return
        message = message[12:]
    # kind, flags, ttl_ms, seq, t; then the payload of this robot: two floats. Ignores all other frames.
    if len(message) != 24 or message[0] != 1:
        return
    _, _, ttl_ms, seq, t, linear, angular = struct.unpack(">BBHIdff", message)
    if pilot.on_control(seq, t, ttl_ms, linear, angular):
        await link.acknowledge(seq)


async def on_frame(link, message):
    if isinstance(message, bytes):
        return await on_binary_frame(link, message)
    frame = json.loads(message)
    kind, latched = frame.get("type"), frame.get("latched") is True
    if not link.order.may_handle(kind, frame.get("order"), frame.get("after", 0), latched):
        return
    if kind == "control":
        if frame["session_id"] != (pilot.session or {}).get("session_id"):
            return
        data = frame["data"] if isinstance(frame["data"], dict) else {}
        speeds = [data.get(name, 0) for name in ("linear_mps", "angular_radps")]
        # A malformed command must not extend the last motion, so it becomes NaN, which brakes.
        linear, angular = [float(v) if type(v) in (int, float) else math.nan for v in speeds]
        if pilot.on_control(frame["seq"], frame["t"], frame["ttl_ms"], linear, angular):
            await link.acknowledge(frame["seq"])
    elif kind == "session":
        pilot.on_session(frame)
        await link.log("info", f"session {frame['status']} with {frame['operator_name']}")
    elif kind == "limits":
        pilot.speed_scale = float(frame["speed_scale"])
    elif kind == "stop":
        repeated = pilot.latched  # the gateway repeats a latched stop until the robot answers
        pilot.on_stop(frame["reason"], frame["latched"])
        if frame["latched"] and not repeated:
            await link.log("warn", f"stopped: {frame['reason']}")
    elif kind == "stop_cleared":
        pilot.latched = False  # the robot stays halted until the next control frame
    elif kind in ("channel_available", "channel_answer", "channel_refused"):
        if link.channel:
            link.channel.on_frame(frame)
    elif kind == "error":
        print("gateway:", frame["message"], flush=True)


async def connection(url, token):
    """Runs one connection, from the handshake to its end. Raises the reason of the end."""
    # Sends the token as a subprotocol, like a browser: the API for headers differs between versions of the library.
    protocols = ["wheelhouse.v1", f"bearer.{token}"]
    async with websockets.connect(url, subprotocols=protocols, compression=None, max_size=2**18) as socket:
        def hang_up_after(seconds):
            return asyncio.get_running_loop().call_later(seconds, socket.transport.abort)

        silence, link = hang_up_after(10), Link(socket)
        welcome = json.loads(await socket.recv())
        pilot.deadman_ms, stop = welcome["deadman_ms"], welcome["stop"]
        pilot.latched = False  # a participant may have cleared the stop while this robot was offline
        pilot.freshness = Freshness()  # the network path may be another
        pilot.on_session(welcome["session"])
        pilot.speed_scale = float((welcome.get("limits") or {}).get("speed_scale", 1))
        if stop:
            pilot.on_stop(stop["reason"], stop["latched"])
        print("online, connection", welcome["epoch"], flush=True)
        reporting = asyncio.create_task(report(link, welcome["heartbeat_interval_ms"] / 1000))
        try:
            while True:
                # The gateway acknowledges heartbeats, so a silent gateway is gone.
                silence.cancel()
                silence = hang_up_after(welcome["heartbeat_timeout_ms"] / 1000)
                await link.receive(await socket.recv())
        finally:
            silence.cancel()
            if link.channel:
                link.channel.close()  # before the brakes: no command arrives after them
            pilot.brake()
            pilot.unanswered = None  # the gateway repeats a stop that is still in force
            reporting.cancel()
            ending = [reporting, link.channel.task] if link.channel and link.channel.task else [reporting]
            await asyncio.gather(*ending, return_exceptions=True)


async def main():
    driving = asyncio.create_task(drive())
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, asyncio.current_task().cancel)
    failures = 0
    while not driving.done():
        began, at_least = time.monotonic(), 0
        try:
            await connection(os.environ["CONTROL_URL"], os.environ["ROBOT_TOKEN"])
        except websockets.ConnectionClosed as closed:
            code = closed.rcvd.code if closed.rcvd else 1006
            print("closed", code, flush=True)
            if code not in RECONNECT_CODES:
                return code
        except websockets.InvalidHandshake as refused:  # newer versions have the status in `response`
            status = getattr(refused, "status_code", getattr(getattr(refused, "response", None), "status_code", 0))
            print("refused", status, flush=True)
            if status in FINAL_STATUSES:
                return status
            headers = getattr(refused, "headers", getattr(getattr(refused, "response", None), "headers", None)) or {}
            wait = headers.get("Retry-After") or ""  # set for a robot that connects too often
            at_least = min(300, int(wait)) if wait.isdigit() else 0
        except (OSError, asyncio.TimeoutError) as error:
            print("lost:", error, flush=True)
        failures = 0 if time.monotonic() - began > 10 else failures + 1
        # Full jitter spreads the reconnects of a fleet that lost its gateway.
        await asyncio.sleep(at_least + random.uniform(0, min(10, 0.25 * 2 ** min(failures, 10))))


if __name__ == "__main__":
    try:
        final = asyncio.run(main())
        sys.exit(f"given up after {final}" if final else 0)
    except asyncio.CancelledError:
        pass  # ended by a signal
