#!/usr/bin/env python3
"""Drives an arm with a leader arm, 50 times a second: leader.py <session id>. Replace `Leader` by yours.

The schema of the robot has `joints` with `x-max-rate` and `clutch` with `x-clutch`. While the clutch is released, the arm holds still. When it
engages, the arm follows the leader relative to where both are, so that it never jerks.
"""
import asyncio
import math
import os
import sys
import time

from wheelhouse import Api, Operator


class Leader:
    """A simulated leader arm, whose clutch is engaged two of three seconds."""

    def read(self):
        return [0.3 * math.sin(time.monotonic() + joint) for joint in range(5)], time.monotonic() % 3 < 2


class Follower(Operator):
    leader, offsets, goal = Leader(), None, None

    def command(self):
        joints, engaged = self.leader.read()
        if not engaged:
            self.offsets = None
        elif self.offsets is None:
            self.offsets = [present - joint for present, joint in zip(self.telemetry["joints"], joints)]
        if self.offsets is not None:
            self.goal = [joint + offset for joint, offset in zip(joints, self.offsets)]
        return {"clutch": engaged, "joints": self.goal or self.telemetry["joints"]}


async def main(session_id):
    api = Api(os.environ["WHEELHOUSE_URL"], os.environ["WHEELHOUSE_API_KEY"])
    async with Follower(api, session_id=session_id) as follower:
        await follower.wait_for(lambda: follower.telemetry is not None)
        await follower.drive(follower.command, rate_hz=50)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
