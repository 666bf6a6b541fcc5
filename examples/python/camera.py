#!/usr/bin/env python3
"""Publishes a camera of a robot to Wheelhouse over WebRTC (WHIP, RFC 9725). docs/video.md describes the requests.

Needs Python 3.9 and `aiortc` (Debian: apt-get install python3-aiortc). Run it beside robot.py:

    WHIP_URL=https://hub.example.com/api/robots/<robot id>/whip ROBOT_TOKEN=... ./camera.py front /dev/video0

WHIP_URL is in the robot's welcome (`whip_url`). Without a device, the program sends a moving pattern.
"""
import asyncio
import fractions
import os
import random
import signal
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import av
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription, VideoStreamTrack
from aiortc.contrib.media import MediaPlayer

WIDTH, HEIGHT, FRAMES_PER_S = 640, 360, 25
CLOCK_RATE = 90_000
CONNECT_LIMIT_S, REQUEST_LIMIT_S, MAX_WAIT_S = 15, 10, 5
SILENT_S, CHECK_S = 1.1, 0.1  # the platform reports four times a second about a camera that it receives
FINAL_STATUSES = {400, 401, 403, 404}  # refusals that another attempt would not change


class Pattern(VideoStreamTrack):
    """Draws a bar that moves across the picture."""

    def __init__(self):
        super().__init__()
        self.started = time.monotonic()
        self.count = 0

    async def recv(self):
        self.count += 1
        await asyncio.sleep(max(0, self.started + self.count / FRAMES_PER_S - time.monotonic()))
        left = self.count * 8 % (WIDTH - 80)
        row = bytes(90 if left <= x < left + 80 else 200 for x in range(WIDTH))
        frame = av.VideoFrame(WIDTH, HEIGHT, "yuv420p")
        frame.planes[0].update(row.ljust(frame.planes[0].line_size, b"\0") * HEIGHT)
        for plane in frame.planes[1:]:
            plane.update(bytes([128]) * plane.buffer_size)
        frame.pts = int((time.monotonic() - self.started) * CLOCK_RATE)
        frame.time_base = fractions.Fraction(1, CLOCK_RATE)
        return frame


def request(method, url, token, body=None):
    """Sends one request; returns the address of the resource and the body of the answer."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/sdp"}
    message = urllib.request.Request(url, data=body and body.encode(), headers=headers, method=method)
    with urllib.request.urlopen(message, timeout=REQUEST_LIMIT_S) as answer:
        location = urllib.parse.urljoin(url, answer.headers.get("Location", ""))
        return location, answer.read().decode()


async def end_when_silent(peer, over):
    """Sets `over` when the platform no longer reports: ICE notices its end after half a minute only."""
    reports, changed = [], time.monotonic()
    while True:
        await asyncio.sleep(CHECK_S)
        stats = (await peer.getStats()).values()
        newest = [item.timestamp for item in stats if item.type == "remote-inbound-rtp"]
        if newest != reports:
            reports, changed = newest, time.monotonic()
        if reports and time.monotonic() - changed > SILENT_S:
            return over.set()


async def publish(url, token, track, ending):
    """Publishes until the connection fails or `ending` is set."""
    peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    over = asyncio.Event()

    @peer.on("connectionstatechange")
    def changed():
        print(f"camera {peer.connectionState}", flush=True)
        if peer.connectionState in ("failed", "closed"):
            over.set()

    resource = None
    try:
        peer.addTrack(track)
        await peer.setLocalDescription(await peer.createOffer())
        resource, answer = await asyncio.to_thread(request, "POST", url, token, peer.localDescription.sdp)
        await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
        waits = [asyncio.ensure_future(event.wait()) for event in (over, ending)]
        waits.append(asyncio.ensure_future(end_when_silent(peer, over)))
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
    finally:
        await peer.close()
        if resource is not None:
            try:
                await asyncio.to_thread(request, "DELETE", resource, token)
            except OSError:
                pass  # the platform removes a camera that has gone


async def main(name, device):
    url, token = f"{os.environ['WHIP_URL']}/{name}", os.environ["ROBOT_TOKEN"]
    ending = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ending.set)
    wait_s = 0.25
    while not ending.is_set():
        track = MediaPlayer(device).video if device else Pattern()
        begun = time.monotonic()
        try:
            await publish(url, token, track, ending)
        except urllib.error.HTTPError as error:
            print(f"refused with {error.code}: {error.read(300).decode(errors='replace')}", file=sys.stderr)
            if error.code in FINAL_STATUSES:
                return 1
        except OSError as error:
            print(f"failed: {error}", file=sys.stderr)
        wait_s = 0.25 if time.monotonic() - begun > CONNECT_LIMIT_S else min(MAX_WAIT_S, 2 * wait_s)
        try:
            await asyncio.wait_for(ending.wait(), random.uniform(0, wait_s))
        except asyncio.TimeoutError:
            pass
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "front", sys.argv[2] if len(sys.argv) > 2 else None)))
