"""Plays a camera by WHEP with aiortc. Prints a line of JSON for each state of the connection and for each decoded frame."""
import asyncio
import json
import os
import time
import urllib.request

from aiortc import RTCConfiguration, RTCIceServer, RTCPeerConnection, RTCSessionDescription


def post(sdp):
    headers = {"Authorization": f"Bearer {os.environ['TICKET']}", "Content-Type": "application/sdp"}
    request = urllib.request.Request(os.environ["WHEP_URL"], data=sdp.encode(), headers=headers, method="POST")
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


async def main():
    servers = [RTCIceServer(**server) for server in json.loads(os.environ.get("ICE_SERVERS", "[]"))]
    peer = RTCPeerConnection(RTCConfiguration(iceServers=servers))
    peer.on("connectionstatechange", lambda: print(json.dumps({"state": peer.connectionState}), flush=True))
    peer.addTransceiver("video", direction="recvonly")
    await peer.setLocalDescription(await peer.createOffer())
    begun = time.monotonic()
    answer = await asyncio.to_thread(post, peer.localDescription.sdp)
    await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
    track = peer.getTransceivers()[0].receiver.track
    while True:
        frame = await track.recv()
        print(json.dumps({"width": frame.width, "after_s": time.monotonic() - begun}), flush=True)


asyncio.run(main())
