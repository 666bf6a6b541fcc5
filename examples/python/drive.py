#!/usr/bin/env python3
"""Starts a session with a robot, drives it for three seconds, and ends the session: drive.py <robot id>

WHEELHOUSE_URL and WHEELHOUSE_API_KEY, of an operator, are in the environment.
"""
import asyncio
import os
import sys

from wheelhouse import Api, Operator


class Driver(Operator):
    def on_telemetry(self, data):
        print("robot:", data, flush=True)

    def on_dropped(self, seq, why):
        print(f"command {seq} was dropped: {why}", flush=True)


async def main(robot_id):
    api = Api(os.environ["WHEELHOUSE_URL"], os.environ["WHEELHOUSE_API_KEY"])
    session_id = api.post_sessions(robotId=robot_id)["sessionId"]
    try:
        async with Driver(api, session_id=session_id) as driver:
            await driver.drive({"linear_mps": 0.3, "angular_radps": 0.2}, seconds=3)
            await driver.drive({"linear_mps": 0.0, "angular_radps": 0.0}, seconds=0.5)
    finally:
        api.patch_session(id=session_id, action="end")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
