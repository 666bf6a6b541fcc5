"""Cameras of a robot, published over WebRTC (WHIP, RFC 9725). docs/video.md describes the requests.

Needs the packages `aiortc` and `numpy` (`pip install wheelhouse[video]`). Each camera has a thread and a loop of its own, so that neither
encoding nor the network delays the robot.
"""
from __future__ import annotations

import asyncio
import fractions
import logging
import re
import threading
import time
import urllib.parse
from collections.abc import Callable
from typing import Any

from ._http import send_request
from .backoff import Backoff
from .errors import ApiError, WheelhouseError

logger = logging.getLogger("wheelhouse")

CLOCK_RATE = 90_000
"""Ticks a second of the timestamps of a video."""
MAX_PAUSE_S = 3600
"""Two pictures that are farther apart than this are a clock that was set, in seconds."""
NTP_EPOCH_S = 2_208_988_800
"""Seconds from 1900, where the time of NTP begins, to 1970."""
CONNECT_LIMIT_S = 15.0
"""An attempt that lasted longer has been a success: the next one follows soon."""
ATTEMPT_LIMIT_S = 10.0
"""An attempt that is not connected after this time ends, and the next one uses a TURN server. The platform gives it up at the same time."""
CLOSE_LIMIT_S = 1.0
"""Longest wait for the end of a connection, whose TURN server may not be reached any more."""
REQUEST_LIMIT_S = 10.0
"""Longest time of a request."""
SILENT_S = 1.1
"""The platform reports four times a second about a camera that it receives. Without a report for this time, the camera connects again."""
CHECK_S = 0.1
"""How often the reports of the platform are read, in seconds."""
ADDRESS_POLL_S = 0.25
"""How often a camera of a robot that was never online looks for its address, in seconds."""

_FINAL_STATUSES = frozenset({400, 401, 403, 404})
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
_MONO = "gray"
_TURN_LINK = re.compile(r"<(turns?:[^>]+)>([^<]*)")


class Camera:
    """Publishes a camera, and again after each failure, until it is closed. `Robot.publish_camera` starts one."""

    def __init__(
        self,
        name: str,
        source: Any = None,
        *,
        address: Callable[[], tuple[str, str] | None],
        rate_hz: float = 25.0,
        format: str = "bgr24",
        options: dict[str, str] | None = None,
        on_error: Callable[[BaseException], None] | None = None,
    ) -> None:
        """
        `name`: 1 to 32 lower-case letters, digits, `-` and `_`.
        `source`: a device as `/dev/video0`, an address as `rtsp://…` or a file; a function that returns the next picture, called `rate_hz`
        times a second; or None, if the program calls `send`.
        `address`: returns `whip_url` of the welcome and the robot token, None while they are not known.
        `format`: the order of the colours of pictures, `bgr24` as in OpenCV, or `rgb24`.
        `options`: those of ffmpeg for the source, as `{"video_size": "640x480"}`.

        Raises ValueError for an invalid name, WheelhouseError without aiortc.
        """
        if not _NAME.fullmatch(name):
            raise ValueError("the name of a camera has 1 to 32 lower-case letters, digits, - and _, and begins with a letter or digit")
        try:
            import aiortc
            import av
        except ImportError as error:
            raise WheelhouseError("a camera needs the packages aiortc and numpy: pip install 'wheelhouse[video]'") from error
        self.name = name
        self.state = "connecting"
        """`connecting`, `connected`, `offline` or `closed`."""
        self._aiortc, self._av = aiortc, av
        self._source, self._address, self._format = source, address, format
        self._period_s, self._options = 1 / rate_hz, dict(options or {})
        self._report = on_error or (lambda error: logger.error("camera %s: %s", name, error))
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending: asyncio.Event | None = None
        self._closed = threading.Event()
        self._newest: tuple[Any, float] | None = None
        self._fresh: asyncio.Event | None = None
        self._relays = Relays()
        self._closings: set[asyncio.Future[None]] = set()
        self._threads = [threading.Thread(target=self._run, name=f"wheelhouse-camera-{name}", daemon=True)]
        if source is not None:
            read = self._call_source if callable(source) else self._read_source
            self._threads.append(threading.Thread(target=read, name=f"wheelhouse-source-{name}", daemon=True))

    def start(self) -> Camera:
        """Starts to publish."""
        for thread in self._threads:
            thread.start()
        return self

    def send(self, picture: Any, captured_at_s: float | None = None) -> None:
        """Sends a picture: an array of numpy, height × width × 3 (`format`) or height × width (grey), of bytes. Callable in any thread.

        `captured_at_s`: when it was taken, in seconds of `time.time()`, by default now: viewers learn its age. Never waits: a picture that the
        encoder has not taken yet is replaced.
        """
        captured_at_s = time.time() if captured_at_s is None else captured_at_s
        frame = picture
        if not isinstance(picture, self._av.VideoFrame):
            frame = self._av.VideoFrame.from_ndarray(picture, format=_MONO if picture.ndim == 2 else self._format)
        self._newest = (frame, captured_at_s)
        loop, fresh = self._loop, self._fresh
        if loop is not None and fresh is not None:
            try:
                loop.call_soon_threadsafe(fresh.set)
            except RuntimeError:
                pass  # closed

    def close(self, limit_s: float = 3.0) -> None:
        """Ends the camera, and waits for it up to `limit_s`. Callable in any thread."""
        self._closed.set()
        if self._loop is not None and self._ending is not None:
            try:
                self._loop.call_soon_threadsafe(self._ending.set)
            except RuntimeError:
                pass  # it has ended
        if self._threads[0].is_alive() and threading.current_thread() not in self._threads:
            self._threads[0].join(limit_s)

    # The sources

    def _call_source(self) -> None:
        next_s = time.monotonic()
        while not self._closed.wait(max(0.0, next_s - time.monotonic())):
            next_s = max(next_s + self._period_s, time.monotonic())
            try:
                picture = self._source()
                if picture is not None:
                    self.send(picture)
            except Exception as error:
                self._report(error)

    def _read_source(self) -> None:
        """Reads a device or a stream, and opens it again when it has ended."""
        backoff = Backoff(0.5, 10.0)
        while not self._closed.is_set():
            try:
                self._decode(backoff)
                raise WheelhouseError(f"{self._source} has ended")
            except Exception as error:  # whatever the library raises
                self._report(error)
            self._closed.wait(backoff.next_s(0.1))

    def _decode(self, backoff: Backoff) -> None:
        name, options, format = str(self._source), dict(self._options), None
        if name.startswith("/dev/video"):
            format = "v4l2"
        elif name.startswith("rtsp"):
            # Pictures that wait in a buffer would be old.
            options = {"rtsp_transport": "tcp", "fflags": "nobuffer", "flags": "low_delay", **options}
        with self._av.open(name, format=format, options=options, timeout=CONNECT_LIMIT_S) as container:
            for frame in container.decode(video=0):
                if self._closed.is_set():
                    return
                backoff.reset()
                self.send(frame)

    # The connection

    def _run(self) -> None:
        try:
            asyncio.run(self._publish_until_closed())
        except Exception as error:
            self._report(error)
        self._closed.set()  # a source is not read for a camera that was refused
        self._change("closed")

    async def _publish_until_closed(self) -> None:
        self._loop, self._ending, self._fresh = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
        if self._newest is not None:
            self._fresh.set()
        backoff = Backoff(0.25, 5.0)
        while not self._closed.is_set():
            address, began_s = self._address(), time.monotonic()
            if address is None:
                await self._pause(ADDRESS_POLL_S)
                continue
            url, token = address
            try:
                await self._publish(f"{url}/{self.name}", token)
            except ApiError as error:
                self._report(error)
                if error.status in _FINAL_STATUSES:
                    return
            except Exception as error:  # whatever the library raises
                self._report(error)
                if self.state != "connected":
                    self._relays.failed()
            if time.monotonic() - began_s > CONNECT_LIMIT_S:
                backoff.reset()
            self._change("offline")
            await self._pause(backoff.next_s())

    async def _pause(self, seconds: float) -> None:
        assert self._ending is not None
        try:
            await asyncio.wait_for(self._ending.wait(), seconds)
        except asyncio.TimeoutError:
            pass

    def _change(self, state: str) -> None:
        if state != self.state:
            self.state = state
            logger.info("camera %s %s", self.name, state)

    async def _publish(self, url: str, token: str) -> None:
        """Publishes until the connection fails or the camera is closed."""
        assert self._ending is not None
        relay = self._relays.current
        servers = [self._aiortc.RTCIceServer(*relay)] if relay else []
        peer = self._aiortc.RTCPeerConnection(self._aiortc.RTCConfiguration(iceServers=servers))
        over = asyncio.Event()

        def changed() -> None:
            if peer.connectionState == "connected":
                self._change("connected")
            elif peer.connectionState in ("failed", "closed"):
                over.set()

        peer.on("connectionstatechange", changed)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/sdp"}
        resource = None
        try:
            track = self._create_track()
            _report_captures(peer.addTrack(track), track)
            await asyncio.wait_for(peer.setLocalDescription(await peer.createOffer()), ATTEMPT_LIMIT_S)
            offer = peer.localDescription.sdp.encode()
            answer = await asyncio.to_thread(send_request, "POST", url, content=offer, headers=headers, limit_s=REQUEST_LIMIT_S)
            resource = urllib.parse.urljoin(url, answer.headers.get("location", ""))
            self._relays.update(answer.headers.get("link", ""))
            await peer.setRemoteDescription(self._aiortc.RTCSessionDescription(answer.content.decode(), "answer"))
            waits = [asyncio.ensure_future(wait) for wait in (over.wait(), self._ending.wait(), _end_when_silent(peer))]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for wait in waits:
                wait.cancel()
            if self.state != "connected" and not self._ending.is_set():
                raise WheelhouseError(f"no connection for the video in {ATTEMPT_LIMIT_S:.0f} s; the next attempt takes another way")
        finally:
            await self._close(peer)
            if resource is not None:
                try:
                    await asyncio.to_thread(send_request, "DELETE", resource, headers=headers, limit_s=REQUEST_LIMIT_S)
                except ApiError as error:
                    logger.debug("camera %s: %s", self.name, error)  # the platform removes a camera that has gone

    async def _close(self, peer: Any) -> None:
        """Closes a connection; in the background after the limit. The library gives up after a minute."""
        closing = asyncio.ensure_future(peer.close())
        self._closings.add(closing)
        closing.add_done_callback(self._closings.discard)
        await asyncio.wait({closing}, timeout=CLOSE_LIMIT_S)

    async def _next(self) -> tuple[Any, float]:
        assert self._fresh is not None
        while True:
            await self._fresh.wait()
            self._fresh.clear()
            newest, self._newest = self._newest, None
            if newest is not None:
                return newest

    def _create_track(self) -> Any:
        camera = self

        class Track(self._aiortc.MediaStreamTrack):  # type: ignore[name-defined, misc]
            """The pictures of the camera, each with the time of its capture."""

            kind = "video"

            def __init__(self) -> None:
                super().__init__()
                self.pts, self.taken_s = 0, time.time()
                self.captures: list[tuple[float, float]] = []
                """When the last two pictures were handed to the encoder, and when they were taken; the newest last."""

            async def recv(self) -> Any:
                frame, captured_at_s = await camera._next()
                ticks, self.taken_s = round((captured_at_s - self.taken_s) * CLOCK_RATE), captured_at_s
                self.pts += ticks if 0 < ticks < MAX_PAUSE_S * CLOCK_RATE else 1  # the clock may have been set
                frame.pts = self.pts
                frame.time_base = fractions.Fraction(1, CLOCK_RATE)
                self.captures = [*self.captures[-1:], (time.time(), captured_at_s)]
                return frame

        return Track()


def _report_captures(sender: Any, track: Any) -> None:
    """Lets the reports of a sender contain the time of capture, so that viewers know the age of the picture. Those of aiortc contain the
    time of sending, which is later by the time of the encoder."""
    send = getattr(sender, "_send_rtcp", None)
    if send is None:
        return

    async def send_rtcp(packets: list[Any]) -> None:
        for packet in packets:
            info = getattr(packet, "sender_info", None)
            if info is not None and info.ntp_timestamp:
                sent_s = info.ntp_timestamp / 2**32 - NTP_EPOCH_S
                # The newest picture may still be with the encoder.
                taken_s = next((taken_s for handed_s, taken_s in reversed(track.captures) if handed_s <= sent_s), None)
                if taken_s is not None:
                    info.ntp_timestamp = int((taken_s + NTP_EPOCH_S) * 2**32)
        await send(packets)

    sender._send_rtcp = send_rtcp


class Relays:
    """The ways to the platform: directly at first, then over each of its TURN servers, one at a time because aiortc uses one only."""

    def __init__(self) -> None:
        self._servers: list[tuple[str, str, str]] = []
        self._choice = 0

    @property
    def current(self) -> tuple[str, str, str] | None:
        """The address, the user name and the credential of the TURN server to use; None for none."""
        return self._servers[self._choice - 1] if 0 < self._choice <= len(self._servers) else None

    def update(self, links: str) -> None:
        """Takes the servers with their newest credentials from the Link headers of an answer (RFC 9725, section 4.6)."""
        self._servers = turn_servers_of(links)

    def failed(self) -> None:
        """Chooses the next way. The one that works is kept."""
        self._choice = (self._choice + 1) % (len(self._servers) + 1)


def turn_servers_of(links: str) -> list[tuple[str, str, str]]:
    """Returns the address, the user name and the credential of each TURN server in Link headers."""
    servers = []
    for url, parameters in _TURN_LINK.findall(links):
        name, credential = re.search(r'username="([^"]*)"', parameters), re.search(r'credential="([^"]*)"', parameters)
        if name and credential and re.search(r'rel="?ice-server\b', parameters):
            servers.append((url, name[1], credential[1]))
    return servers


async def _end_when_silent(peer: Any) -> None:
    """Returns when the platform no longer reports: ICE notices its end after half a minute only."""
    reports: list[Any] = []
    changed_s = time.monotonic()
    while time.monotonic() - changed_s <= (SILENT_S if reports else ATTEMPT_LIMIT_S):
        await asyncio.sleep(CHECK_S)
        stats = (await peer.getStats()).values()
        newest = [item.timestamp for item in stats if item.type == "remote-inbound-rtp"]
        if newest != reports:
            reports, changed_s = newest, time.monotonic()
