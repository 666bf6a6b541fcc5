"""Drives a robot in a session, stops it, and clears the stop: package_session.py <platform> <hub> <API key> <robot id>

Prints what it has seen as one line of JSON.
"""
import asyncio
import json
import sys

from wheelhouse import Api, ApiError, Hub, Observer, Operator

PLATFORM, HUB, KEY, ROBOT = sys.argv[1:]
LIMIT_S = 120


class Driver(Operator):
    acks, why, lines = 0, None, 0

    def on_ack(self, seq, round_trip_ms):
        self.acks += round_trip_ms is not None

    def on_dropped(self, seq, why):
        self.why = why

    def on_log(self, level, message):
        self.lines += 1

    def command(self):
        return None if self.telemetry and self.telemetry["x_m"] > 0.1 else {"linear_mps": 0.5, "angular_radps": 0}


async def main():
    api = Api(PLATFORM, KEY)
    session_id = api.post_sessions(robotId=ROBOT)["sessionId"]
    seen = []

    async def watch(hub):
        async for event in hub.watch(session_id):
            seen.append((event["seq"], event["type"]))
            if event["type"] == "session.ended":
                return

    async with Hub(HUB, KEY) as hub:
        watching = asyncio.ensure_future(watch(hub))
        message = await hub.send_chat(session_id, "hello")
        async with Observer(api, session_id=session_id) as observer, Driver(api, session_id=session_id) as driver:
            await asyncio.wait_for(driver.drive(driver.command, rate_hz=25), LIMIT_S)
            await asyncio.wait_for(observer.wait_for(lambda: (observer.telemetry or {}).get("x_m", 0) > 0.1), LIMIT_S)
            await asyncio.wait_for(driver.stop("a test"), LIMIT_S)
            await asyncio.wait_for(driver.wait_for(lambda: driver.telemetry["stop"] == "a test"), LIMIT_S)
            stop = driver.state.stop
            driver.control({"linear_mps": 0.5})
            await asyncio.wait_for(driver.wait_for(lambda: driver.why is not None), LIMIT_S)
            await hub.action(session_id, "clear_stop")
            await hub.action(session_id, "resume")
            await asyncio.wait_for(driver.wait_for(lambda: driver.state.status == "ACTIVE" and driver.lines > 0), LIMIT_S)
            await asyncio.wait_for(driver.drive({"linear_mps": 0.0}, seconds=0.2), LIMIT_S)
            api.patch_session(id=session_id, action="end")
            await asyncio.wait_for(watching, LIMIT_S)
        try:
            await hub.action(session_id, "pause")
        except ApiError as refusal:
            refused = refusal.status
    try:
        api.get_session(id="00000000-0000-4000-8000-000000000000")
    except ApiError as refusal:
        unknown = [refusal.status, refusal.code]
    print(json.dumps({
        "acks": driver.acks, "why": driver.why, "stop": [stop.reason, stop.latched, stop.recorded], "battery": driver.battery,
        "seen": seen, "chat": message["body"], "refused": refused, "unknown": unknown,
    }))


asyncio.run(main())
