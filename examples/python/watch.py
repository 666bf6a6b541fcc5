#!/usr/bin/env python3
"""Watches a session: its log from the hub without gaps, and the telemetry of its robot from the gateway: watch.py <session id>

WHEELHOUSE_URL and WHEELHOUSE_API_KEY are in the environment.
"""
import asyncio
import os
import sys

from wheelhouse import Api, Hub, Observer

URL, KEY = os.environ["WHEELHOUSE_URL"], os.environ["WHEELHOUSE_API_KEY"]


class Watcher(Observer):
    def on_telemetry(self, data):
        print("robot:", data, flush=True)


async def main(session_id):
    async with Hub(URL, KEY) as hub, Watcher(Api(URL, KEY), session_id=session_id):
        async for event in hub.watch(session_id):
            print(event["seq"], event["type"], event["data"], flush=True)
            if event["type"] in ("session.ended", "session.cancelled"):
                break


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
