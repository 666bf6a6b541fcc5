#!/usr/bin/env python3
"""Drives the robot of an open session as a policy, until the session is over: policy.py <session id>

It asks for control and drives while it has it. A person takes over at any time; when control comes back, it continues from the speed at
which the person drove. WHEELHOUSE_URL and WHEELHOUSE_API_KEY, of a service account with the scopes read and drive, are in the environment.
"""
import asyncio
import os
import sys

from wheelhouse import LinkEnded, Policy

TARGET_MPS = 0.3
STEP_MPS = 0.02


class Cruise(Policy):
    speed_mps = 0.0

    def on_hold(self, lease):
        self.speed_mps = (lease.command or {}).get("linear_mps", 0.0)
        print(f"I drive on from {self.speed_mps} m/s", flush=True)

    def on_yield(self, lease):
        print(f"{lease.holder.name if lease.holder else 'Nobody'} drives", flush=True)

    async def act(self):
        """The policy itself: a model would read `self.telemetry` here. On the loop, as `on_hold`, so that nothing comes between."""
        self.speed_mps += max(-STEP_MPS, min(STEP_MPS, TARGET_MPS - self.speed_mps))
        return {"linear_mps": round(self.speed_mps, 3), "angular_radps": 0.0}


async def main(session_id):
    url, key = os.environ["WHEELHOUSE_URL"], os.environ["WHEELHOUSE_API_KEY"]
    async with Cruise(url, key, session_id, shadow=True) as policy:
        if not policy.holds:
            await policy.request_control("I am ready to drive")
        try:
            await policy.drive(policy.act)
        except LinkEnded:
            print("the session is over", flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
