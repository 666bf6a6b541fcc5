"""The optional data channel of `robot.py`: commands over UDP, beside the WebSocket.

Needs `aiortc` 1.4 or newer (Debian: apt-get install python3-aiortc). docs/protocol-data-channel.md describes it.
"""
import asyncio
import json
import math
import random
import time

import aiortc

PROBE_S = 0.05  # interval of probes while frames are sent
TRUST_S = 0.15  # a channel whose last answer is older may not deliver: frames then use the WebSocket too
DEAD_S = 5  # a channel that has answered no probe for this time is replaced
OPEN_LIMIT_S = 10
MIN_RETRY_S, MAX_RETRY_S = 5, 120
MAX_UNSENT_BYTES = 16 * 1024  # above this many unsent bytes, frames are dropped
KNOWN_PROBES = 30  # answers to older probes do not count


class Refused(Exception):
    """The gateway does not accept the offer. `retry_after_s` is None if it will not accept a later one either."""

    def __init__(self, message, retry_after_ms):
        super().__init__(message)
        self.retry_after_s = None if retry_after_ms is None else retry_after_ms / 1000


class DataChannel:
    """The data channel of one WebSocket: opens it, opens it again after failures, and knows whether it delivers."""

    def __init__(self, send_offer, receive):
        """Takes two coroutine functions: one sends a frame over the WebSocket, one handles a message of the channel."""
        self.send_offer, self.receive = send_offer, receive
        self.task = self.answer = self.channel = None
        self.number, self.probed_at, self.answered_at, self.silent_since = 0, -math.inf, -math.inf, 0.0

    def on_frame(self, frame):
        """Handles a frame of the WebSocket about the channel."""
        kind, waiting = frame["type"], self.answer is not None and not self.answer.done()
        if kind == "channel_available" and self.task is None:
            self.task = asyncio.create_task(self.run())
        elif kind == "channel_answer" and waiting:
            self.answer.set_result(frame["sdp"])
        elif kind == "channel_refused" and waiting:
            self.answer.set_exception(Refused(frame["message"], frame.get("retry_after_ms")))

    def send(self, frame):
        """Sends a frame, which may be lost. Returns False if it must be sent over the WebSocket as well."""
        channel, now = self.channel, time.monotonic()
        if channel is None or channel.readyState != "open" or channel.bufferedAmount > MAX_UNSENT_BYTES:
            return False
        if now - self.probed_at >= PROBE_S:
            if now - self.probed_at > TRUST_S:
                self.silent_since = now  # without frames there were no probes, so nothing is known about the channel
            self.number, self.probed_at = self.number + 1, now
            channel.send(json.dumps({"type": "probe", "n": self.number}))
        channel.send(json.dumps(frame, allow_nan=False))
        return now - self.answered_at < TRUST_S

    def close(self):
        """Ends the channel together with its WebSocket. Ignores its messages from now on."""
        self.channel = None
        if self.task:
            self.task.cancel()

    async def run(self):
        """Offers a channel until the gateway refuses finally, and again when a channel has ended."""
        retry_s = MIN_RETRY_S
        while True:
            at_least_s = 0
            peer = aiortc.RTCPeerConnection(aiortc.RTCConfiguration(iceServers=[]))
            try:
                channel = await asyncio.wait_for(self.open(peer), OPEN_LIMIT_S)
                print("data channel open", flush=True)
                retry_s = MIN_RETRY_S
                while channel.readyState == "open" and self.probed_at - self.silent_since < DEAD_S:
                    await asyncio.sleep(PROBE_S)
                print("data channel lost", flush=True)
            except asyncio.TimeoutError:
                print("no data channel: it does not open", flush=True)
            except Refused as refusal:
                print("no data channel:", refusal, flush=True)
                if refusal.retry_after_s is None:
                    return
                at_least_s = refusal.retry_after_s
            except Exception as error:  # the robot continues over its WebSocket, whatever the library throws
                print("no data channel:", repr(error), flush=True)
            finally:
                self.channel = None
                await peer.close()
            await asyncio.sleep(at_least_s + random.uniform(0, retry_s))
            retry_s = min(MAX_RETRY_S, retry_s * 2)

    async def open(self, peer):
        """Offers one channel. Returns it when it is open."""
        channel = self.channel = peer.createDataChannel("control", ordered=False, maxRetransmits=0)
        opened = asyncio.Event()
        channel.on("open", opened.set)

        @channel.on("message")
        async def on_message(message):
            if self.channel is channel:  # otherwise it has ended
                await self.on_message(message)

        await peer.setLocalDescription(await peer.createOffer())
        self.answer = asyncio.get_running_loop().create_future()
        await self.send_offer({"type": "channel_offer", "sdp": peer.localDescription.sdp})
        await peer.setRemoteDescription(aiortc.RTCSessionDescription(await self.answer, "answer"))
        await opened.wait()
        self.answered_at, self.silent_since = -math.inf, time.monotonic()
        return channel

    async def on_message(self, message):
        kind, number = None, None
        if isinstance(message, str):
            try:
                frame = json.loads(message)
                kind, number = frame.get("type"), frame.get("n")
            except (ValueError, AttributeError):
                pass  # `receive` reports it
        if kind == "probe":
            self.channel.send(json.dumps({"type": "probe_answer", "n": number}))
        elif kind == "probe_answer":
            if isinstance(number, int) and self.number - KNOWN_PROBES < number <= self.number:
                self.answered_at = self.silent_since = time.monotonic()
        elif kind in ("control", "stop", None):  # all other frames travel over the WebSocket
            await self.receive(message)
