#!/usr/bin/env python3
"""Drives an arm with a leader arm, 50 times a second: leader.py <session id>. Replace `Leader` by yours.

The robot's schema has `joints` by name, with `x-max-rate`, and `clutch`. While the clutch is released, the arm holds still. When it
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

    def read(self, names):
        return {name: 0.3 * math.sin(time.monotonic() + i) for i, name in enumerate(names)}, time.monotonic() % 3 < 2


class Follower(Operator):
    leader, travel, offsets, goal = Leader(), {}, None, None

    def within(self, name, angle):
        limit = self.travel.get(name, {})
        return min(max(angle, limit.get("minimum", -math.inf)), limit.get("maximum", math.inf))

    def command(self):
        present = self.telemetry["joints"]
        joints, engaged = self.leader.read(present)
        if not engaged or self.offsets is None:
            self.offsets = {name: present[name] - joints[name] for name in joints} if engaged else None
        if engaged:
            self.goal = {name: self.within(name, joints[name] + self.offsets[name]) for name in joints}
        return {"clutch": engaged, "joints": self.goal or present}


async def main(session_id):
    api = Api(os.environ["WHEELHOUSE_URL"], os.environ["WHEELHOUSE_API_KEY"])
    async with Follower(api, session_id=session_id) as follower:
        follower.travel = api.get_session(id=session_id)["control_schema"]["properties"]["joints"]["properties"]
        await follower.wait_for(lambda: follower.telemetry is not None)
        await follower.drive(follower.command, rate_hz=50)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
