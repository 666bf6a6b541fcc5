"""The optional data channel of a link: frames over UDP, by WebRTC, beside the WebSocket. docs/protocol-data-channel.md describes it.

Needs `aiortc` 1.4 or newer; without it, everything travels over the WebSocket.
"""
from __future__ import annotations

import asyncio
import json
import logging
import math
import time
from collections.abc import Callable
from typing import Any

from .backoff import Backoff
from .errors import GatewayError

logger = logging.getLogger("wheelhouse")

PROBE_S = 0.05
"""Interval of probes while frames are sent."""
TRUST_S = 0.15
"""A channel whose last answer is older may not deliver: frames then use the WebSocket too."""
DEAD_S = 5.0
"""A channel that has answered no probe for this time is replaced: the network has changed."""
OPEN_LIMIT_S = 10.0
"""A channel that is not open after this time is given up: the network blocks UDP."""
CLOSE_LIMIT_S = 2.0
"""Longest wait for the end of a connection whose network is gone."""
MAX_CHANNEL_UNSENT_BYTES = 16 * 1024
"""Above this many unsent bytes, frames are not sent over the channel: newer ones replace them."""
MAX_CHANNEL_MESSAGE_BYTES = 16 * 1024
"""Larger frames use the WebSocket: each lost packet of a message loses all of it."""
MAX_UNANSWERED_PROBES = 60
"""Answers to older probes do not count."""


class _Refused(GatewayError):
    def __init__(self, message: str, retry_after_ms: float | None) -> None:
        super().__init__(message)
        self.retry_after_s = None if retry_after_ms is None else retry_after_ms / 1000


def load_library() -> Any:
    """Returns the module `aiortc`; None if it is not installed. Takes up to a second the first time: call it in another thread."""
    try:
        import aiortc
    except ImportError:
        return None
    except Exception as error:  # of its native parts: the link does without
        logger.warning("no data channel: aiortc cannot be imported: %r", error)
        return None
    return aiortc


class DataChannel:
    """The data channel of one WebSocket: opens it, opens it again after failures, and knows whether it delivers. For one loop only."""

    def __init__(self, library: Any, send_offer: Callable[[dict[str, Any]], bool], receive: Callable[[str | bytes], None]) -> None:
        """`send_offer` sends a frame over the WebSocket, `receive` handles a message of the channel."""
        self._library, self._send_offer, self._receive = library, send_offer, receive
        self._task: asyncio.Task[None] | None = None
        self._answer: asyncio.Future[str] | None = None
        self._channel: Any = None
        self._number = 0
        self._probed_at_s = self._answered_at_s = -math.inf
        self._silent_since_s = 0.0

    def on_frame(self, frame: dict[str, Any]) -> None:
        """Handles a frame of the WebSocket about the channel."""
        kind, waiting = frame["type"], self._answer is not None and not self._answer.done()
        if kind == "channel_available" and self._task is None:
            self._task = asyncio.ensure_future(self._run())
        elif kind == "channel_answer" and waiting and self._answer is not None:
            self._answer.set_result(str(frame["sdp"]))
        elif kind == "channel_refused" and waiting and self._answer is not None:
            self._answer.set_exception(_Refused(str(frame["message"]), frame.get("retry_after_ms")))

    def send(self, message: str | bytes) -> bool | None:
        """Sends a frame, which may be lost. Returns True if the channel delivers, False if that is not known, so that the frame has to use
        the WebSocket as well, and None if it was not sent."""
        channel, now_s = self._channel, time.monotonic()
        if channel is None or channel.readyState != "open" or channel.bufferedAmount > MAX_CHANNEL_UNSENT_BYTES:
            return None
        # A character has up to three bytes.
        if len(message) * (1 if isinstance(message, bytes) else 3) > MAX_CHANNEL_MESSAGE_BYTES:
            return None
        if now_s - self._probed_at_s >= PROBE_S:
            if now_s - self._probed_at_s > TRUST_S:
                self._silent_since_s = now_s  # without frames there were no probes, so nothing is known about the channel
            self._number, self._probed_at_s = self._number + 1, now_s
            channel.send(json.dumps({"type": "probe", "n": self._number}))
        channel.send(message)
        return now_s - self._answered_at_s < TRUST_S

    def close(self) -> None:
        """Ends the channel together with its WebSocket. Ignores its messages from now on."""
        self._channel = None
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        """Offers a channel until the gateway refuses for good, and again when a channel has ended."""
        backoff = Backoff(5.0, 120.0)
        while True:
            at_least_s = 0.0
            peer = self._library.RTCPeerConnection(self._library.RTCConfiguration(iceServers=[]))
            try:
                channel = await asyncio.wait_for(self._open(peer), OPEN_LIMIT_S)
                logger.info("data channel open")
                backoff.reset()
                while channel.readyState == "open" and self._probed_at_s - self._silent_since_s < DEAD_S:
                    await asyncio.sleep(PROBE_S)
                logger.info("data channel lost")
            except asyncio.TimeoutError:
                logger.info("no data channel: it does not open")
            except _Refused as refusal:
                logger.info("no data channel: %s", refusal)
                if refusal.retry_after_s is None:
                    return
                at_least_s = refusal.retry_after_s
            except Exception as error:  # the link continues over its WebSocket, whatever the library throws
                logger.info("no data channel: %r", error)
            finally:
                self._channel = None
                await _end(peer)
            await asyncio.sleep(backoff.next_s(at_least_s))

    async def _open(self, peer: Any) -> Any:
        """Offers one channel. Returns it when it is open."""
        channel = self._channel = peer.createDataChannel("control", ordered=False, maxRetransmits=0)
        opened = asyncio.Event()
        channel.on("open", opened.set)

        def on_message(message: str | bytes) -> None:
            if self._channel is channel:  # otherwise it has ended
                self._on_message(message)

        channel.on("message", on_message)
        await peer.setLocalDescription(await peer.createOffer())
        answer = self._answer = asyncio.get_running_loop().create_future()
        self._send_offer({"type": "channel_offer", "sdp": peer.localDescription.sdp})
        await peer.setRemoteDescription(self._library.RTCSessionDescription(await answer, "answer"))
        await opened.wait()
        self._answered_at_s, self._silent_since_s = -math.inf, time.monotonic()
        return channel

    def _on_message(self, message: str | bytes) -> None:
        kind: Any = None
        number: Any = None
        if isinstance(message, str):
            try:
                frame = json.loads(message)
                kind, number = frame.get("type"), frame.get("n")
            except (ValueError, AttributeError, RecursionError):
                pass  # `receive` reports it
        if kind == "probe":
            self._channel.send(json.dumps({"type": "probe_answer", "n": number}))
        elif kind == "probe_answer":
            if isinstance(number, int) and self._number - MAX_UNANSWERED_PROBES < number <= self._number:
                self._answered_at_s = self._silent_since_s = time.monotonic()
        elif kind in ("control", "stop", "limits", "ack", "dropped", None):  # all other frames travel over the WebSocket
            self._receive(message)


async def _end(peer: Any) -> None:
    try:
        await asyncio.wait_for(peer.close(), CLOSE_LIMIT_S)
    except Exception as error:
        logger.debug("the data channel did not close: %r", error)
