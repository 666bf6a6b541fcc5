import { follow, inTime, type Player, videoElement } from './player.ts'

const ICE_CANDIDATES_TIMEOUT_MS = 2_000

/** Plays WebRTC over WHEP: posts an offer, applies the answer, and deletes the WHEP session at the end. */
export const playWhep: Player = async (url, hooks) => {
  const { signal, onEnd } = hooks
  const peer = new RTCPeerConnection()
  signal.addEventListener('abort', () => peer.close())
  const stream = new MediaStream()
  for (const kind of ['video', 'audio']) peer.addTransceiver(kind, { direction: 'recvonly' })
  peer.addEventListener('track', ({ track }) => stream.addTrack(track))
  peer.addEventListener('connectionstatechange', () => {
    if (peer.connectionState === 'failed') onEnd('the connection to the camera failed')
  })
  await peer.setLocalDescription(await peer.createOffer())
  await waitForIceCandidates(peer)
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/sdp' },
    body: peer.localDescription?.sdp ?? '',
    signal,
  })
  const resource = response.headers.get('Location')
  if (resource) releaseAtEnd(new URL(resource, response.url).href, signal)
  if (response.status !== 201) throw new Error(`the camera answered ${response.status}`)
  await peer.setRemoteDescription({ type: 'answer', sdp: await inTime(response.text(), signal) })
  const video = videoElement(hooks)
  video.srcObject = stream
  await follow(video, hooks)
  return { framesKnown: true }
}

/** Waits for ICE candidates to include them in the offer, because not all servers support trickle ICE. */
async function waitForIceCandidates(peer: RTCPeerConnection): Promise<void> {
  if (peer.iceGatheringState === 'complete') return
  const done = Promise.withResolvers<void>()
  const timer = setTimeout(done.resolve, ICE_CANDIDATES_TIMEOUT_MS)
  peer.addEventListener('icegatheringstatechange', () => {
    if (peer.iceGatheringState === 'complete') done.resolve()
  })
  await done.promise
  clearTimeout(timer)
}

/** Deletes the WHEP session when the signal aborts. Otherwise the server keeps it until a timeout. */
function releaseAtEnd(url: string, signal: AbortSignal): void {
  const release = () => void fetch(url, { method: 'DELETE', keepalive: true }).catch(() => undefined)
  if (signal.aborted) release()
  else signal.addEventListener('abort', release)
}
