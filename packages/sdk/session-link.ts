import {
  type Autonomy,
  BINARY_HEADER_BYTES,
  BINARY_TELEMETRY,
  type DriveBattery,
  type DriveState,
  decodeBinaryHeader,
  FULL_SPEED,
  type LeaseFrame,
  MAX_STOP_REASON,
  type SpeedLimits,
  ToDriverFrame,
} from '@wheelhouse/protocol'
import { defaultWebSocket } from '#websocket'
import type { LinkLoad } from './congestion.ts'
import { ConnectionLifecycle, type LinkPhase } from './connection-lifecycle.ts'
import { ControlChannel } from './control-channel.ts'
import { createFrameReader, frameText } from './frames.ts'
import { LatencyMeter, type LinkLatency } from './link-latency.ts'
import type { StandardWebSocketConstructor, WebSocketLike } from './link-socket.ts'
import { ReconnectPolicy } from './reconnect-policy.ts'
import { MAX_RECEIVED_BYTES } from './robot-socket.ts'
import type { SessionLinkOptions } from './session-link-options.ts'
import { StopRequest } from './stop-request.ts'
import { TicketProvider } from './ticket-provider.ts'
import type { SessionTicket } from './tickets.ts'

/** The subprotocol that the gateway selects. It does not return the other one, which contains the credential. */
const SUBPROTOCOL = 'wheelhouse.v1'

/** Reads one text frame from the gateway; see `createFrameReader`. */
const readSessionFrame = createFrameReader<ToDriverFrame>(ToDriverFrame)

/**
 * Dials the gateway once. Sends the ticket as a subprotocol, because browsers cannot set headers.
 * @throws Error if the address is not a WebSocket URL or the ticket is not valid in a header
 */
function dialSessionSocket(
  { url, ticket }: SessionTicket,
  connectTimeoutMs: number,
  Socket: StandardWebSocketConstructor,
): WebSocketLike {
  return new Socket(url, [SUBPROTOCOL, `bearer.${ticket}`], {
    handshakeTimeout: connectTimeoutMs,
    maxPayload: MAX_RECEIVED_BYTES,
    perMessageDeflate: false,
  })
}

const STOP_CHECK_MS = 1_000
const DEFAULT_PING_MS = 1_000
/** Unsent bytes of a link above which telemetry and control are skipped, unless the program sets another number. */
export const DEFAULT_MAX_BUFFERED_BYTES = 16_000

/**
 * Connects a participant to the robot of one session through its gateway: state, telemetry, stop, latency, dead-link
 * detection, and reconnecting with a fresh ticket. Base class of the links of operators and observers. A closed link
 * cannot connect again: create a new one.
 */
export class SessionLink {
  readonly #options: SessionLinkOptions
  readonly #tickets: TicketProvider
  readonly #policy: ReconnectPolicy
  readonly #meter = new LatencyMeter()
  readonly #stopRequest = new StopRequest((reason) => this.#sendStop(reason))
  /** @internal For subclasses. */
  protected readonly lifecycle: ConnectionLifecycle<DriveState, ToDriverFrame>
  readonly #channel: ControlChannel
  #stopNumber = 0
  #state: DriveState | null = null
  #battery: DriveBattery | null = null
  #limits: SpeedLimits = FULL_SPEED
  #lease: LeaseFrame | null = null
  #autonomy: Autonomy | null = null
  #pingTimer: ReturnType<typeof setInterval> | undefined
  #stopTimer: ReturnType<typeof setInterval> | undefined
  #lastFrameMs: number | null = null

  constructor(options: SessionLinkOptions) {
    const { connectTimeoutMs = 10_000, offlinePatienceMs = 300_000 } = options
    const { maxBufferedBytes = DEFAULT_MAX_BUFFERED_BYTES } = options
    this.#options = options
    this.#tickets = new TicketProvider(options.getTicket, {
      timeoutMs: connectTimeoutMs,
      patienceMs: offlinePatienceMs,
    })
    this.#policy = new ReconnectPolicy(this.#tickets, options.reconnect)
    this.lifecycle = new ConnectionLifecycle({
      callbacks: options,
      prepare: () => this.#prepare(connectTimeoutMs),
      connectTimeoutMs,
      maxBufferedBytes,
      read: readSessionFrame,
      onFrame: (frame) => this.#onFrame(frame),
      onBinary: (frame) => this.#onBinary(frame),
      onOffline: () => this.#onOffline(),
      onFinished: (error) => this.#stopRequest.end(error),
      verdict: (failure) => this.#policy.verdict(failure),
    })
    this.#channel = new ControlChannel({
      PeerConnection: options.PeerConnection,
      sendOffer: (sdp) => this.lifecycle.transmit('vital', () => frameText({ type: 'channel_offer', sdp })),
      onText: (text) => this.#onChannelText(text),
      onBinary: () => {}, // the gateway sends none
      onError: (cause) => this.lifecycle.report(cause),
    })
  }

  /** The transport of control frames at present: the data channel while it delivers. Stops use both. */
  get transport(): 'websocket' | 'data_channel' {
    return this.#channel.delivers ? 'data_channel' : 'websocket'
  }

  /** Who controls the robot, as last received; null while control of it never changed hands and this participant is its operator. */
  get lease(): LeaseFrame | null {
    return this.#lease
  }

  /** What the robot does by itself, as last received; null before, and without a robot that reports it. */
  get autonomy(): Autonomy | null {
    return this.#autonomy
  }

  /** State of the link. */
  get connection(): LinkPhase {
    return this.lifecycle.phase
  }

  /** Session, robot and stop as last received, valid while the link is online; null before the first state. */
  get state(): DriveState | null {
    return this.#state
  }

  /** Charge of the robot as last received; null before the first report. */
  get battery(): DriveBattery | null {
    return this.#battery
  }

  /** The allowed speed of the robot as last received; full speed for a robot without a latency budget. */
  get limits(): SpeedLimits {
    return this.#limits
  }

  /** Round trip to the gateway and offset of its clock, from this link's own pings; null before a measurement. */
  get latency(): LinkLatency | null {
    return this.#meter.latency
  }

  /** @internal What the link knows about the load of the transport of its commands. A data channel holds nothing back. */
  protected get load(): LinkLoad {
    if (this.#channel.trusted) return { unsentBytes: 0, unansweredPingMs: 0 }
    return { unsentBytes: this.lifecycle.bufferedBytes, unansweredPingMs: this.#meter.unansweredMs }
  }

  /**
   * How long no frame of any kind has arrived, in milliseconds, over this connection or the ones before; null before the
   * first frame. Pings keep it short while the connection works: see `pingMs`.
   */
  get silentMs(): number | null {
    return this.#lastFrameMs === null ? null : performance.now() - this.#lastFrameMs
  }

  /** Whether a stop is requested and the platform has not confirmed its recording yet. */
  get stopPending(): boolean {
    return this.#stopRequest.pending
  }

  /**
   * Connects and reconnects until `close()` or a final refusal.
   * @returns the first state; rejects if the link is closed or gives up before it
   */
  connect(): Promise<DriveState> {
    return this.lifecycle.connect()
  }

  /** Closes the link; resolves when the socket is closed. Gives up a pending stop. */
  close(): Promise<void> {
    return this.lifecycle.close()
  }

  /**
   * Requests a remote stop, which halts the robot until a participant clears it. The link sends the stop at once, or as
   * soon as the link is online, and repeats it, also over new connections, until the platform has recorded it. It does not
   * repeat a recorded stop, so that a participant can clear it. You can ignore the promise.
   *
   * The remote stop complements the robot's own emergency stop device and never replaces it.
   * @param reason up to 500 characters; the link cuts off the rest
   * @returns resolves when the stop is recorded; rejects only when the link ends
   */
  stop(reason?: string): Promise<void> {
    if (this.lifecycle.phase === 'closed') {
      const refusal = Promise.reject(new Error('this link is closed'))
      refusal.catch(() => {})
      return refusal
    }
    return this.#stopRequest.request(reason?.slice(0, MAX_STOP_REASON))
  }

  /**
   * @internal Sends a control frame over the data channel while it delivers, else over both transports. Errors of `encode` go to
   * `onError`. Returns false if neither transport took the frame.
   */
  protected transmitControl(encode: () => string | Uint8Array<ArrayBuffer>): boolean {
    if (!this.lifecycle.isOnline) return false
    let frame: string | Uint8Array<ArrayBuffer>
    try {
      frame = encode()
    } catch (cause) {
      this.lifecycle.report(cause)
      return false
    }
    const sent = this.#channel.send(frame)
    if (sent === 'trusted') return true
    return this.lifecycle.transmit('droppable', () => frame) || sent === 'unconfirmed'
  }

  /** @internal Handles any frame after the first state. */
  protected handle(frame: ToDriverFrame): void {
    if (frame.type === 'telemetry') this.lifecycle.runCallback(() => this.#options.onTelemetry?.(frame.data))
    else if (frame.type === 'state') this.#onState(frame)
    else if (frame.type === 'latency') this.lifecycle.runCallback(() => this.#options.onLatency?.(frame))
    else if (frame.type === 'log') this.lifecycle.runCallback(() => this.#options.onLog?.(frame))
    else if (frame.type === 'limits') this.#changeLimits(frame)
    else if (frame.type === 'lease') {
      this.#lease = frame
      this.lifecycle.runCallback(() => this.#options.onLease?.(frame))
    } else if (frame.type === 'autonomy') {
      this.#autonomy = frame
      this.lifecycle.runCallback(() => this.#options.onAutonomy?.(frame))
    } else if (frame.type === 'battery') {
      this.#battery = frame
      this.lifecycle.runCallback(() => this.#options.onBattery?.(frame))
    } else if (frame.type === 'pong') {
      this.#meter.pong(frame.t, frame.server_t)
      this.#stopRequest.pong(frame.t)
    } else if (frame.type === 'channel_available') this.#channel.available()
    else if (frame.type === 'channel_answer') this.#channel.answer(frame.sdp)
    else if (frame.type === 'channel_refused') this.#channel.refused(frame)
    else if (frame.type === 'error') this.lifecycle.report(new Error(`gateway: ${frame.message}`))
  }

  /** @internal Handles the end of a connection. */
  protected disconnected(): void {}

  async #prepare(connectTimeoutMs: number): Promise<() => WebSocketLike> {
    try {
      const ticket = await this.#tickets.next()
      return () => {
        this.#stopRequest.dialling()
        return dialSessionSocket(ticket, connectTimeoutMs, this.#options.WebSocket ?? defaultWebSocket)
      }
    } catch (cause) {
      this.lifecycle.report(cause)
      throw cause
    }
  }

  #onFrame(frame: ToDriverFrame): void {
    this.#lastFrameMs = performance.now()
    if (this.lifecycle.isOnline) this.handle(frame)
    // The first frame is a state. Ignores all other frames before it, and all frames after close().
    else if (this.lifecycle.phase === 'connecting' && frame.type === 'state') this.#onFirstState(frame)
  }

  #onFirstState(state: DriveState): void {
    this.#policy.online()
    this.#pingTimer = setInterval(() => this.#ping('droppable'), this.#options.pingMs ?? DEFAULT_PING_MS)
    this.#stopTimer = setInterval(() => this.#stopRequest.tick(), STOP_CHECK_MS)
    this.#state = state
    this.#autonomy = null // the gateway sends it after the first state
    this.lifecycle.online(state, this.#options.silenceMs ?? 5_000)
    // A callback may have closed the link.
    if (!this.lifecycle.isOnline) return
    // Sends a pending stop before the callback of the state can send other frames.
    this.#stopRequest.state(state)
    this.#ping('droppable')
    this.#changeLimits(FULL_SPEED) // the gateway sends the limits after the first state
    this.lifecycle.runCallback(() => this.#options.onState?.(state))
  }

  #changeLimits({ speed_scale, reason }: SpeedLimits): void {
    if (speed_scale === this.#limits.speed_scale && reason === this.#limits.reason) return
    const limits = { speed_scale, reason }
    this.#limits = limits
    this.lifecycle.runCallback(() => this.#options.onLimits?.(limits))
  }

  #onState(state: DriveState): void {
    this.#state = state
    if (!state.robot_connected) this.#autonomy = null // the robot reports it again
    this.#stopRequest.state(state)
    this.lifecycle.runCallback(() => this.#options.onState?.(state))
  }

  /** Handles a frame of the data channel: only those that may be lost or overtaken arrive there. */
  #onChannelText(text: string): void {
    if (!this.lifecycle.isOnline) return
    this.#lastFrameMs = performance.now()
    const frame = readSessionFrame(text)
    if (frame?.type === 'ack' || frame?.type === 'dropped') this.handle(frame)
  }

  #onBinary(frame: Uint8Array): void {
    this.#lastFrameMs = performance.now()
    const header = decodeBinaryHeader(frame)
    if (header === undefined) throw new Error('malformed binary frame')
    if (header.kind !== BINARY_TELEMETRY) return
    this.lifecycle.runCallback(() =>
      this.#options.onBinaryTelemetry?.(frame.subarray(BINARY_HEADER_BYTES), header),
    )
  }

  #onOffline(): void {
    clearInterval(this.#pingTimer)
    clearInterval(this.#stopTimer)
    this.#channel.close()
    this.#meter.forget()
    this.#stopRequest.offline()
    this.disconnected()
  }

  #ping(kind: 'droppable' | 'vital'): number | null {
    const t = this.#meter.ping()
    return this.lifecycle.transmit(kind, () => frameText({ type: 'ping', t })) ? t : null
  }

  #sendStop(reason: string | undefined): number | null {
    const stop = { type: 'stop', ...(reason === undefined ? {} : { reason }) }
    this.#stopNumber++
    const copy = frameText({ ...stop, n: this.#stopNumber })
    const twice = this.#channel.send(copy) !== 'unsent'
    return this.lifecycle.transmit('vital', () => (twice ? copy : frameText(stop)))
      ? this.#ping('vital')
      : null
  }
}
