import type { MediaConnection, MediaIceServer, MediaLibrary } from '../media-library.ts'
import { iceServersOf } from './ice-links.ts'
import { PacketSender } from './packet-sender.ts'
import type { CameraCodec } from './packetizer.ts'

/** A connection that is not open after this time is given up. */
const OPEN_LIMIT_MS = 10_000
/** The platform reports at least four times a second about frames that arrive. Without reports for this time, it is gone. */
const SILENT_MS = 1_100
const CHECK_MS = 100
const REPORT_MS = 500
/** How long the platform may take to answer an offer. */
const REQUEST_LIMIT_MS = 10_000
/** The platform removes a camera that is silent: its answer is not worth a long wait. */
const CLOSE_LIMIT_MS = 1_000
const PAYLOAD_TYPE = 96
/** Constrained baseline, level 3.1: every browser decodes it. */
const H264_PARAMETERS = 'profile-level-id=42e01f;packetization-mode=1;level-asymmetry-allowed=1'

export interface ConnectionOptions {
  readonly library: MediaLibrary
  /** Address of the camera: the `whip_url` of the welcome and the name. */
  readonly url: string
  readonly token: string
  readonly codec: CameraCodec
  readonly iceServers: MediaIceServer[]
  readonly onKeyframeNeeded: () => void
  readonly onBitrate: (bitsPerSecond: number) => void
  readonly onOpen: () => void
  /** Called once. `iceServers` are the TURN servers that the platform named, for the next attempt. */
  readonly onEnd: (cause: unknown, iceServers: MediaIceServer[]) => void
}

/** One connection of a camera to the platform (WHIP, RFC 9725). */
export class CameraConnection {
  readonly #options: ConnectionOptions
  readonly #connection: MediaConnection
  readonly #sender: PacketSender
  readonly #openTimer: NodeJS.Timeout
  readonly #reportTimer: NodeJS.Timeout
  readonly #silenceTimer: NodeJS.Timeout
  #iceServers: MediaIceServer[] = []
  #resource: string | undefined
  #ended = false
  #sentSinceMs: number | undefined

  constructor(options: ConnectionOptions) {
    const { library, codec } = options
    this.#options = options
    this.#connection = new library.PeerConnection('camera', { iceServers: options.iceServers })
    const ssrc = 1 + Math.floor(Math.random() * 0xffff_fffe)
    const video = new library.Video('0', 'SendOnly')
    if (codec === 'VP8') video.addVP8Codec(PAYLOAD_TYPE)
    else video.addH264Codec(PAYLOAD_TYPE, H264_PARAMETERS)
    video.addSSRC(ssrc, 'camera', 'camera', 'camera')
    const track = this.#connection.addTrack(video)
    this.#sender = new PacketSender(track, { ...options, payloadType: PAYLOAD_TYPE, ssrc })
    this.#openTimer = setTimeout(
      () => this.#end(new Error('The camera did not connect in time')),
      OPEN_LIMIT_MS,
    )
    this.#reportTimer = setInterval(() => this.#report(), REPORT_MS)
    this.#silenceTimer = setInterval(() => this.#checkSilence(), CHECK_MS)
    track.onOpen(() => this.#guard(() => this.#opened()))
    track.onMessage((packet) => this.#guard(() => this.#receive(packet)))
    this.#connection.onStateChange((state) => {
      if (state === 'failed' || state === 'disconnected' || state === 'closed')
        this.#end(new Error(`The connection of the camera is ${state}`))
    })
    this.#connection.onGatheringStateChange((state) => {
      if (state === 'complete') this.#offer().catch((cause) => this.#end(cause))
    })
    this.#connection.setLocalDescription('offer')
  }

  /** Sends a frame. Returns false if it was dropped. */
  send(frame: Uint8Array, captureMs: number): boolean {
    if (this.#ended) return false
    try {
      const sent = this.#sender.send(frame, captureMs)
      if (sent) this.#sentSinceMs ??= performance.now()
      return sent
    } catch (cause) {
      this.#end(cause) // the track has closed
      return false
    }
  }

  /** Ends the connection at the platform, too. */
  async close(): Promise<void> {
    const resource = this.#resource
    this.#stop()
    if (resource !== undefined)
      await this.#request(resource, { method: 'DELETE', limitMs: CLOSE_LIMIT_MS }).catch(() => {})
  }

  /** Errors of the library's callbacks would end the process. */
  #guard(work: () => void): void {
    try {
      work()
    } catch (cause) {
      this.#end(cause)
    }
  }

  async #offer(): Promise<void> {
    const sdp = this.#connection.localDescription()?.sdp
    if (this.#ended || sdp === undefined) return
    const { url } = this.#options
    const response = await this.#request(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/sdp' },
      body: sdp,
      limitMs: REQUEST_LIMIT_MS,
    })
    const text = await response.text()
    if (response.status !== 201)
      throw new Error(`The platform refused the camera with ${response.status}: ${text.slice(0, 300)}`)
    this.#iceServers = iceServersOf(response.headers.get('Link'))
    this.#resource = new URL(response.headers.get('Location') ?? url, url).href
    if (this.#ended) return await this.close()
    this.#connection.setRemoteDescription(text, 'answer')
  }

  async #request(
    url: string,
    {
      limitMs,
      ...init
    }: { method: string; headers?: Record<string, string>; body?: string; limitMs: number },
  ) {
    const headers = { ...init.headers, Authorization: `Bearer ${this.#options.token}` }
    return await fetch(url, { ...init, headers, signal: AbortSignal.timeout(limitMs) })
  }

  #opened(): void {
    clearTimeout(this.#openTimer)
    this.#options.onOpen()
  }

  #receive(packet: Uint8Array): void {
    this.#sentSinceMs = undefined
    this.#sender.receive(packet)
  }

  #checkSilence(): void {
    const sinceMs = this.#sentSinceMs
    if (sinceMs !== undefined && performance.now() - sinceMs > SILENT_MS)
      this.#end(new Error('The platform no longer reports about the camera'))
  }

  #report(): void {
    this.#guard(() => this.#sender.report(Date.now()))
  }

  #end(cause: unknown): void {
    if (this.#ended) return
    this.#stop()
    this.#options.onEnd(cause, this.#iceServers)
  }

  #stop(): void {
    this.#ended = true
    clearTimeout(this.#openTimer)
    clearInterval(this.#reportTimer)
    clearInterval(this.#silenceTimer)
    this.#connection.close()
  }
}
