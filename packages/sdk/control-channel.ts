import {
  ChannelHealth,
  type ChannelRefused,
  DATA_CHANNEL_LABEL,
  MAX_CHANNEL_MESSAGE_BYTES,
  ProbeFrame,
} from '@wheelhouse/protocol'
import { loadPeerConnection } from '#webrtc'
import { Backoff } from './backoff.ts'
import type { DataChannelLike, PeerConnectionConstructor, PeerConnectionLike } from './peer-connection.ts'

/** A channel that is not open after this time is given up: the network blocks UDP. */
const OPEN_LIMIT_MS = 10_000
/** A network that is gone does not confirm that the channel closed. */
const CLOSE_LIMIT_MS = 1_000
/** A channel that has not delivered for this time, while frames were sent, is replaced: the network has changed. */
const DEAD_MS = 5_000
/** Above this many unsent bytes, frames are not sent: newer ones replace them. */
const MAX_BUFFERED_BYTES = 16 * 1024
/** Delays between attempts in a network that blocks UDP. */
const RETRY = { baseMs: 5_000, maxMs: 120_000 }

/** How a frame was sent: not at all, without knowing whether the channel delivers, or over a channel that delivers. */
export type ChannelSend = 'unsent' | 'unconfirmed' | 'trusted'

export interface ControlChannelOptions {
  /** The constructor of WebRTC connections; null for no channel; undefined for the default of the environment, if it has one. */
  readonly PeerConnection: PeerConnectionConstructor | null | undefined
  /** Sends the offer over the WebSocket. Returns false if that is not possible now. */
  readonly sendOffer: (sdp: string) => boolean
  /** Errors that it throws go to `onError`, like those of `onBinary`. */
  readonly onText: (text: string) => void
  readonly onBinary: (frame: Uint8Array) => void
  /** Called for malformed frames, and for failures, after which the link continues over its WebSocket. */
  readonly onError: (cause: unknown) => void
}

/** One attempt, and the channel if it succeeds. */
interface Attempt {
  readonly peer: PeerConnectionLike
  readonly channel: DataChannelLike
  readonly health: ChannelHealth
  /** When the channel last delivered, or frames were last known not to need it. */
  aliveMs: number
}

/**
 * The data channel of a link beside its WebSocket: offers it when the gateway accepts offers, tries again after failures, and knows
 * whether it delivers at present.
 */
export class ControlChannel {
  readonly #options: ControlChannelOptions
  readonly #backoff = new Backoff(RETRY)
  #attempt: Attempt | undefined
  #available = false
  #roundTripMs: number | null = null
  #retryTimer: ReturnType<typeof setTimeout> | undefined
  #openTimer: ReturnType<typeof setTimeout> | undefined

  constructor(options: ControlChannelOptions) {
    this.#options = options
  }

  /** Whether the channel delivered lately, in both directions. */
  get trusted(): boolean {
    const attempt = this.#attempt
    return attempt?.channel.readyState === 'open' && attempt.health.isTrusted(performance.now())
  }

  /** Whether the channel is open and delivers, as far as is known: without frames, there are no probes. */
  get delivers(): boolean {
    const attempt = this.#attempt
    if (attempt?.channel.readyState !== 'open') return false
    return this.trusted || attempt.health.isIdle(performance.now())
  }

  /** The last round trip over the channel, in milliseconds; null before the first one and without a channel. */
  get roundTripMs(): number | null {
    return this.#roundTripMs
  }

  /** Begins: the gateway accepts offers on this connection. */
  available(): void {
    if (this.#available) return
    this.#available = true
    this.#start()
  }

  /** Continues with the gateway's answer to the offer. */
  answer(sdp: string): void {
    const attempt = this.#attempt
    attempt?.peer.setRemoteDescription({ type: 'answer', sdp }).catch((cause) => this.#failed(attempt, cause))
  }

  refused({ message, retry_after_ms: retryAfterMs }: ChannelRefused): void {
    if (retryAfterMs === undefined) {
      this.close()
      this.#options.onError(new Error(`the gateway refused the data channel: ${message}`))
    } else this.#retry(retryAfterMs)
  }

  /** Sends a frame that may be lost. */
  send(frame: string | Uint8Array<ArrayBuffer>): ChannelSend {
    const attempt = this.#attempt
    // A UTF-16 code unit has at most three bytes in UTF-8.
    const mostBytes = typeof frame === 'string' ? frame.length * 3 : frame.byteLength
    if (attempt?.channel.readyState !== 'open' || mostBytes > MAX_CHANNEL_MESSAGE_BYTES) return 'unsent'
    const nowMs = performance.now()
    const trusted = attempt.health.isTrusted(nowMs)
    this.#checkAlive(attempt, trusted, nowMs)
    if (this.#attempt !== attempt || attempt.channel.bufferedAmount > MAX_BUFFERED_BYTES) return 'unsent'
    try {
      const number = attempt.health.nextProbe(nowMs)
      if (number !== undefined) attempt.channel.send(JSON.stringify({ type: 'probe', n: number }))
      attempt.channel.send(frame)
      return trusted ? 'trusted' : 'unconfirmed'
    } catch (cause) {
      this.#failed(attempt, cause)
      return 'unsent'
    }
  }

  /** Ends the channel, until the gateway accepts offers again: the connection of the WebSocket has ended. */
  close(): void {
    this.#available = false
    clearTimeout(this.#retryTimer)
    this.#endAttempt()
  }

  /** Replaces a channel that does not deliver although frames are sent. */
  #checkAlive(attempt: Attempt, trusted: boolean, nowMs: number): void {
    const idleMs = nowMs - attempt.aliveMs
    // Without frames there were no probes, so that nothing is known about the channel.
    if (trusted || attempt.health.isIdle(nowMs)) attempt.aliveMs = nowMs
    else if (idleMs > DEAD_MS) this.#failed(attempt, new Error('the data channel does not deliver'))
  }

  #start(): void {
    this.#load().then(
      (PeerConnection) => {
        if (PeerConnection && this.#available && !this.#attempt) return this.#offer(PeerConnection)
      },
      (cause) => this.#options.onError(cause),
    )
  }

  async #load(): Promise<PeerConnectionConstructor | null | undefined> {
    const { PeerConnection } = this.#options
    return PeerConnection === undefined ? await loadPeerConnection() : PeerConnection
  }

  async #offer(PeerConnection: PeerConnectionConstructor): Promise<void> {
    const peer = new PeerConnection({ iceServers: [] })
    const channel = peer.createDataChannel(DATA_CHANNEL_LABEL, { ordered: false, maxRetransmits: 0 })
    const attempt: Attempt = { peer, channel, health: new ChannelHealth(), aliveMs: performance.now() }
    this.#attempt = attempt
    this.#openTimer = setTimeout(
      () => this.#failed(attempt, new Error('the data channel did not open')),
      OPEN_LIMIT_MS,
    )
    channel.binaryType = 'arraybuffer'
    channel.addEventListener('open', () => this.#opened(attempt))
    channel.addEventListener('close', () => this.#failed(attempt, new Error('the data channel closed')))
    channel.addEventListener('message', ({ data }) => this.#receive(attempt, data))
    peer.addEventListener('connectionstatechange', () => {
      if (peer.connectionState === 'failed') this.#failed(attempt, new Error('the data channel failed'))
    })
    try {
      const { sdp } = await peer.createOffer()
      if (this.#attempt !== attempt) return
      await peer.setLocalDescription({ type: 'offer', sdp: sdp ?? '' })
      const offer = peer.localDescription?.sdp ?? sdp
      if (this.#attempt === attempt && !(offer && this.#options.sendOffer(offer))) this.#retry(0)
    } catch (cause) {
      this.#failed(attempt, cause)
    }
  }

  #opened(attempt: Attempt): void {
    if (this.#attempt !== attempt) return
    clearTimeout(this.#openTimer)
    this.#backoff.reset()
    attempt.aliveMs = performance.now()
  }

  #receive(attempt: Attempt, data: unknown): void {
    if (this.#attempt !== attempt) return
    try {
      if (data instanceof ArrayBuffer) this.#options.onBinary(new Uint8Array(data))
      else if (typeof data !== 'string') return
      else if (data.startsWith('{"type":"probe')) this.#probe(attempt, data)
      else this.#options.onText(data)
    } catch (cause) {
      this.#options.onError(cause)
    }
  }

  #probe({ channel, health }: Attempt, text: string): void {
    const { type, n } = ProbeFrame.parse(JSON.parse(text))
    if (type === 'probe') channel.send(JSON.stringify({ type: 'probe_answer', n }))
    else this.#roundTripMs = health.answered(n, performance.now()) ?? this.#roundTripMs
  }

  #failed(attempt: Attempt, cause: unknown): void {
    if (this.#attempt !== attempt) return
    this.#options.onError(cause)
    this.#retry(0)
  }

  #retry(atLeastMs: number): void {
    this.#endAttempt()
    clearTimeout(this.#retryTimer)
    if (this.#available)
      this.#retryTimer = setTimeout(() => this.#start(), this.#backoff.nextDelayMs(atLeastMs))
  }

  #endAttempt(): void {
    clearTimeout(this.#openTimer)
    const attempt = this.#attempt
    this.#attempt = undefined
    this.#roundTripMs = null
    if (attempt) closeInOrder(attempt)
  }
}

/**
 * Closes the channel, and its connection when the channel has closed. If both close at the same time, node-datachannel can
 * miss that the channel closed, and keeps the program running. A connection that closes without its channel does so too.
 */
function closeInOrder({ peer, channel }: Attempt): void {
  if (channel.readyState === 'closed') return peer.close()
  const timer = setTimeout(() => peer.close(), CLOSE_LIMIT_MS)
  channel.addEventListener('close', () => {
    clearTimeout(timer)
    peer.close()
  })
  channel.close()
}
