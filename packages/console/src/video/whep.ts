import { t } from '../texts/texts.ts'
import {
  createFigureReader,
  follow,
  inTime,
  type Player,
  type PlayerHooks,
  type Playing,
  type SoundLine,
  videoElement,
} from './player.ts'

const ICE_CANDIDATES_TIMEOUT_MS = 2_000
const CHECK_MS = 250

/** The credential and the servers of a WHEP endpoint. */
export interface WhepOptions {
  /** Returns the Bearer credential of an attempt. */
  readonly getToken?: () => Promise<string>
  readonly iceServers?: RTCIceServer[]
  readonly canSpeak?: boolean
  /** Without packets for this time, the connection is opened again. Default: no limit. */
  readonly silentLimitMs?: number
  /** Whether requests carry the cookie of the page. Default: to its own origin, for endpoints of the platform. */
  readonly credentials?: RequestCredentials
}

/**
 * Returns a player of WebRTC over WHEP: posts an offer, applies the answer, and deletes the resource at the end. If an offer with
 * sound fails, it offers the picture alone.
 */
export const createWhepPlayer =
  (options: WhepOptions = {}): Player =>
  async (url, hooks) => {
    const withSound = new AbortController()
    const signal = AbortSignal.any([hooks.signal, withSound.signal])
    try {
      return await play(url, { ...hooks, signal }, { ...options, hasSound: true })
    } catch (cause) {
      if (!(cause instanceof OfferFailedError)) throw cause
      withSound.abort()
      return await play(url, hooks, { ...options, hasSound: false })
    }
  }

/** The server does not accept an offer, or the browser its answer. */
class OfferFailedError extends Error {}

async function play(
  url: string,
  hooks: PlayerHooks,
  options: WhepOptions & { readonly hasSound: boolean },
): Promise<Playing> {
  const { getToken, iceServers = [], silentLimitMs, credentials = 'same-origin' } = options
  const { signal, onEnd } = hooks
  const token = await getToken?.()
  const peer = new RTCPeerConnection({ iceServers })
  signal.addEventListener('abort', () => peer.close())
  const picture = peer.addTransceiver('video', { direction: 'recvonly' })
  const direction = options.canSpeak ? 'sendrecv' : 'recvonly'
  const sound = options.hasSound ? peer.addTransceiver('audio', { direction }) : undefined
  peer.addEventListener('connectionstatechange', () => {
    if (peer.connectionState === 'failed') onEnd(t('video.problem.connectionFailed'))
  })
  await peer.setLocalDescription(withRoundTripFeedback(await peer.createOffer()))
  await waitForIceCandidates(peer)
  const answer = await postOffer({ url, peer, token, credentials, signal })
  await applyAnswer(peer, answer)
  const video = videoElement(hooks)
  // The video is muted. It takes the sound all the same: sound that nothing takes waits in the browser, and would be heard late.
  video.srcObject = new MediaStream([picture, sound].flatMap((line) => line?.receiver.track ?? []))
  const latency = measureLatency(video, signal)
  await follow(video, hooks)
  if (silentLimitMs !== undefined) endWhenSilent(peer, silentLimitMs, hooks)
  const readFigures = createFigureReader(peer, () => latency.ms)
  return {
    framesKnown: true,
    behindS: () => (latency.ms === undefined ? undefined : latency.ms / 1_000),
    capturedMs: () => latency.capturedMs,
    readFigures,
    ...(sound && { sound: soundLineOf(sound, signal) }),
  }
}

async function applyAnswer(peer: RTCPeerConnection, answer: string): Promise<void> {
  try {
    await peer.setRemoteDescription({ type: 'answer', sdp: withOwnSoundStream(answer) })
  } catch (cause) {
    if (peer.signalingState === 'closed') throw cause // the viewer has left
    throw new OfferFailedError(t('video.problem.unplayable'))
  }
}

function soundLineOf(
  { currentDirection, receiver, sender }: RTCRtpTransceiver,
  ended: AbortSignal,
): SoundLine {
  const line = { track: receiver.track, ended }
  const isTaken = currentDirection === 'sendrecv' || currentDirection === 'sendonly'
  return isTaken ? { ...line, send: (microphone) => sender.replaceTrack(microphone) } : line
}

/**
 * Puts the sound of an answer into a stream of its own: browsers show the picture of a stream as late as its sound arrives, so that both
 * fit, but a picture to drive by must not wait.
 */
export const withOwnSoundStream = (sdp: string): string =>
  sdp
    .split(/^(?=m=)/m)
    .map((line) => (line.startsWith('m=audio') ? line.replace(/\bmsid:\S+/g, 'msid:sound') : line))
    .join('')

/**
 * Plays WebRTC of any WHEP server. Its address comes from the owner of a robot, and may be one of the platform: without the cookie, a
 * request to it has no permission.
 */
export const playWhep: Player = createWhepPlayer({ credentials: 'omit' })

/** Statuses with which servers reject what is offered. */
const OFFER_STATUSES: ReadonlySet<number> = new Set([400, 406, 415, 422])

/** Posts the offer and returns the answer. @throws OfferFailedError */
async function postOffer(request: {
  url: string
  peer: RTCPeerConnection
  token: string | undefined
  credentials: RequestCredentials
  signal: AbortSignal
}): Promise<string> {
  const { url, peer, token, credentials, signal } = request
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/sdp',
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    },
    body: peer.localDescription?.sdp ?? '',
    credentials,
    signal,
  })
  const resource = URL.parse(response.headers.get('location') ?? '', response.url)
  // A server cannot have the page delete a resource of another one.
  const isOurs = response.status === 201 && resource?.origin === new URL(response.url).origin
  if (resource && isOurs) releaseAtEnd(resource.href, credentials, signal)
  const code = response.headers.get('Wheelhouse-Error')
  if (code === 'camera_offline') throw new Error(t('video.problem.cameraOffline'))
  if (code === 'camera_undecodable') throw new Error(t('video.problem.cameraUndecodable'))
  const problem = t('video.problem.answered', { status: response.status })
  if (OFFER_STATUSES.has(response.status)) throw new OfferFailedError(problem)
  if (response.status !== 201) throw new Error(problem)
  return await inTime(response.text(), signal)
}

/** Asks for the feedback with which a browser that only receives measures the round trip (RFC 3611). */
function withRoundTripFeedback({
  type,
  sdp = '',
}: RTCSessionDescriptionInit): RTCLocalSessionDescriptionInit {
  const edited = sdp.replace(/^a=rtpmap:(\d+) (?:VP8|H264)\/90000\r\n/gm, '$&a=rtcp-fb:$1 rrtr\r\n')
  return { type, sdp: edited }
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

type PictureLatency = ReturnType<typeof createPictureLatency>

/** Measures the time from the capture of a frame to its display. */
function measureLatency(video: HTMLVideoElement, signal: AbortSignal): PictureLatency {
  const latency = createPictureLatency()
  const next = (nowMs: number, { captureTime, expectedDisplayTime }: VideoFrameCallbackMetadata) => {
    if (signal.aborted) return
    latency.frame(Math.max(nowMs, expectedDisplayTime), captureTime)
    video.requestVideoFrameCallback(next)
  }
  video.requestVideoFrameCallback(next)
  return latency
}

/** Ends a video whose packets no longer arrive. Hidden pages show no frames, so packets count. */
function endWhenSilent(peer: RTCPeerConnection, limitMs: number, { signal, onEnd }: PlayerHooks): void {
  let received = 0
  let changedMs = performance.now()
  const check = async () => {
    const report = await peer.getStats()
    const packets = [...report.values()]
      .filter(({ type, kind }) => type === 'inbound-rtp' && kind === 'video')
      .reduce((sum, { packetsReceived }) => sum + packetsReceived, 0)
    const nowMs = performance.now()
    if (packets !== received) changedMs = nowMs
    received = packets
    if (nowMs - changedMs > limitMs && !signal.aborted) onEnd(t('video.problem.interrupted'))
  }
  const timer = setInterval(() => void check().catch(() => undefined), CHECK_MS)
  signal.addEventListener('abort', () => clearInterval(timer))
}

/** Deletes the WHEP session when the signal aborts. Otherwise the server keeps it until a timeout. */
function releaseAtEnd(url: string, credentials: RequestCredentials, signal: AbortSignal): void {
  const release = () =>
    void fetch(url, { method: 'DELETE', keepalive: true, credentials }).catch(() => undefined)
  if (signal.aborted) release()
  else signal.addEventListener('abort', release)
}

/** A frame that is captured later than this after its display has a wrong capture time. */
const MAX_CLOCK_ERROR_MS = 50

/**
 * Creates the measurement of the time from the capture of a frame to its display. A frame that seems to be captured after its
 * display shows by how much at least the clocks differ: later times are longer by that.
 */
export function createPictureLatency() {
  let clockErrorMs = 0
  let latencyMs: number | undefined
  let capturedMs: number | undefined
  return {
    /** The latency of the newest frame; undefined if its capture time is unknown or wrong. */
    get ms(): number | undefined {
      return latencyMs
    },

    /** When the newest frame was captured, by the browser's clock; undefined as its latency. */
    get capturedMs(): number | undefined {
      return latencyMs === undefined ? undefined : capturedMs
    },

    /** Notes a frame. Both times are of the browser's clock. */
    frame(displayMs: number, captureMs: number | undefined): void {
      const ms = captureMs === undefined ? Number.NaN : displayMs - captureMs
      if (ms < 0 && ms > -MAX_CLOCK_ERROR_MS) clockErrorMs = Math.max(clockErrorMs, -ms)
      latencyMs = ms > -MAX_CLOCK_ERROR_MS ? ms + clockErrorMs : undefined
      capturedMs = captureMs === undefined ? undefined : captureMs - clockErrorMs
    },
  }
}
