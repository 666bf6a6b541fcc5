import {
  BINARY_TELEMETRY,
  encodeBinaryFrame,
  LOG_MESSAGE_MAX,
  MAX_BINARY_SEQ,
  type RobotFrame,
  type RobotLogLevel,
  type RobotSession,
  shouldReconnect,
  type ToRobotFrame,
  type Welcome,
} from '@wheelhouse/protocol'
import { robotWebSocket } from '#websocket'
import { Backoff } from './backoff.ts'
import { CommandReceiver } from './command-receiver.ts'
import { ConnectionLifecycle, type LinkEnd, type LinkFailure } from './connection-lifecycle.ts'
import { EpisodeOutbox, type EpisodeReport } from './episode-outbox.ts'
import { checkBinarySize, frameText } from './frames.ts'
import { linkClockMs } from './link-clock.ts'
import type { WebSocketConstructor } from './link-socket.ts'
import type { RobotLinkOptions, RobotLinkState, StopInForce } from './robot-link-options.ts'
import { dialRobotSocket, readFrame } from './robot-socket.ts'

/** Answers to the upgrade that another attempt would not change. */
const FINAL_HTTP_STATUSES: ReadonlySet<number> = new Set([401, 403, 404])
const STOP_REASON_MAX = 200

/**
 * A robot's connection to its gateway: welcome, heartbeats, control and stop, dead-link detection and
 * reconnecting. One object serves one robot for one life: after `closed`, make a new one.
 */
export class RobotLink {
  readonly #options: RobotLinkOptions
  readonly #backoff: Backoff
  readonly #commands: CommandReceiver
  readonly #episodes: EpisodeOutbox
  readonly #lifecycle: ConnectionLifecycle<Welcome, ToRobotFrame>
  #heartbeatTimer: NodeJS.Timeout | undefined
  #heartbeatSeq = 0
  #telemetrySeq = 0
  #welcome: Welcome | null = null

  /**
   * @throws TypeError if `url` is no WebSocket URL, `token` could not stand in a header, or there is no WebSocket
   * that sets headers: browsers have none
   */
  constructor(options: RobotLinkOptions) {
    if (!/^wss?:$/.test(new URL(options.url).protocol)) throw new TypeError('url must be ws:// or wss://')
    if (!/^[\x21-\x7e]+$/.test(options.token)) throw new TypeError('token must be printable, without spaces')
    const Socket = options.WebSocket ?? robotWebSocket
    if (!Socket) throw new TypeError('a robot needs a WebSocket that can set headers')
    this.#options = options
    this.#backoff = new Backoff(options.reconnect)
    this.#commands = new CommandReceiver(options)
    this.#episodes = new EpisodeOutbox({
      transmit: (frame) => this.#send(frame, 'droppable'),
      report: (cause) => this.#lifecycle.report(cause),
      nowMs: () => performance.now(),
    })
    this.#lifecycle = this.#createLifecycle(Socket)
  }

  /** Where the link is in its life. */
  get state(): RobotLinkState {
    return this.#lifecycle.phase
  }

  /** Number of the newest connection, given by the platform; null before the first welcome. */
  get epoch(): number | null {
    return this.#welcome?.epoch ?? null
  }

  /** The robot's id on the platform; null before the first welcome. */
  get robotId(): string | null {
    return this.#welcome?.robot_id ?? null
  }

  /** The open session as last heard; null if there is none. */
  get session(): RobotSession | null {
    return this.#commands.session
  }

  /** The stop in force, as last heard or by the robot itself. */
  get stop(): StopInForce | null {
    return this.#commands.stop
  }

  /**
   * Starts connecting and goes on until `close()` or a refusal that is final.
   * @returns the first welcome; rejects if the link is closed or gives up before it
   */
  connect(): Promise<Welcome> {
    return this.#lifecycle.connect()
  }

  /** Closes the link for good; resolves once the socket is gone. */
  close(): Promise<void> {
    return this.#lifecycle.close()
  }

  /**
   * Sends a sample of any JSON value; latest-wins, so nothing is queued for a slow link.
   * @returns false if it was dropped: not online, too many unsent bytes, or larger than a frame may be
   */
  telemetry(data: unknown): boolean {
    return this.#send({ type: 'telemetry', data }, 'droppable')
  }

  /** The same for opaque bytes, which nobody on the way looks into. */
  telemetryBinary(payload: Uint8Array): boolean {
    const seq = this.#telemetrySeq
    this.#telemetrySeq = seq === MAX_BINARY_SEQ ? 0 : seq + 1
    return this.#lifecycle.transmit('droppable', () => {
      const header = { kind: BINARY_TELEMETRY, flags: 0, ttlMs: 0, seq, t: linkClockMs() }
      return checkBinarySize(encodeBinaryFrame(header, payload))
    })
  }

  /** Confirms a control frame, for latency measurement. Returns false if it was dropped. */
  ack(seq: number): boolean {
    return this.#send({ type: 'ack', seq }, 'droppable')
  }

  /** Reports that the robot stands. Returns false if not online; the gateway then repeats its stop. */
  stopped(reason: string): boolean {
    return this.#send({ type: 'stopped', reason: reason.slice(0, STOP_REASON_MAX) }, 'vital')
  }

  /**
   * Adds a line to the robot's log on the platform, up to 4,000 characters; the rest is cut off. The platform records
   * 20 lines a second, and 100 at once. Returns false if it was dropped here.
   */
  log(level: RobotLogLevel, message: string): boolean {
    return this.#send({ type: 'log', level, message: message.slice(0, LOG_MESSAGE_MAX) }, 'droppable')
  }

  /**
   * Reports a recording. It is kept in memory and sent again, also over new connections, until the platform has
   * it for good; up to 1,000 may wait. Keep it on the robot until then. To ignore the promise is safe: failures
   * are reported to `onError` as well.
   * @returns resolves once acknowledged; rejects with TypeError for a report that breaks the protocol, with
   * EpisodeRefusedError when the gateway will never take it, with Error when too many wait or the link is closed
   */
  sendEpisode(episode: EpisodeReport): Promise<void> {
    return this.#episodes.send(episode)
  }

  #createLifecycle(Socket: WebSocketConstructor): ConnectionLifecycle<Welcome, ToRobotFrame> {
    const { url, token, connectTimeoutMs = 10_000, maxBufferedBytes = 256 * 1024 } = this.#options
    const dial = { url, token, connectTimeoutMs, WebSocket: Socket }
    return new ConnectionLifecycle({
      callbacks: this.#options,
      prepare: async () => () => dialRobotSocket(dial),
      connectTimeoutMs,
      maxBufferedBytes,
      read: readFrame,
      onFrame: (frame) => this.#onFrame(frame),
      onBinary: (frame) => this.#commands.binary(frame),
      onOffline: () => {
        clearInterval(this.#heartbeatTimer)
        this.#commands.linkLost()
      },
      onFinished: (error) => this.#episodes.close(error),
      verdict: (failure) => this.#verdict(failure),
    })
  }

  #verdict(failure: LinkFailure): number | LinkEnd {
    if (failure.at !== 'socket') return this.#backoff.nextDelayMs()
    const { closeCode, httpStatus, retryAfterMs } = failure.end
    const refused = httpStatus !== undefined && FINAL_HTTP_STATUSES.has(httpStatus)
    if (refused || !shouldReconnect(closeCode)) return failure.end
    return this.#backoff.nextDelayMs(retryAfterMs)
  }

  #send(frame: RobotFrame, kind: 'droppable' | 'vital'): boolean {
    return this.#lifecycle.transmit(kind, () => frameText(frame))
  }

  #onFrame(frame: ToRobotFrame): void {
    if (frame.type === 'welcome') this.#onWelcome(frame)
    // Before the welcome, and after close(), nothing else counts.
    else if (!this.#lifecycle.isOnline) return
    else if (frame.type === 'episode_ack') this.#episodes.acknowledged(frame.episode_id)
    else if (frame.type === 'error') {
      this.#lifecycle.report(new Error(`gateway: ${frame.message}`))
      this.#episodes.refused(frame)
    } else this.#commands.frame(frame)
  }

  #onWelcome(welcome: Welcome): void {
    if (this.#lifecycle.phase !== 'connecting') return
    this.#welcome = welcome
    this.#backoff.reset()
    this.#heartbeatTimer = setInterval(() => {
      this.#beat()
      this.#episodes.tick()
    }, welcome.heartbeat_interval_ms)
    this.#lifecycle.online(welcome, welcome.heartbeat_timeout_ms)
    this.#beat()
    this.#episodes.online()
    this.#lifecycle.runCallback(() => this.#options.onWelcome?.(welcome))
    if (this.#lifecycle.isOnline) this.#commands.welcome(welcome)
  }

  #beat(): void {
    let fields: Record<string, unknown> = {}
    this.#lifecycle.runCallback(() => {
      fields = this.#options.heartbeat?.() ?? {}
    })
    this.#heartbeatSeq += 1
    const heartbeat = { type: 'heartbeat', seq: this.#heartbeatSeq } as const
    // The beat itself is owed, even when its extra fields cannot be sent.
    if (!this.#send({ ...fields, ...heartbeat }, 'vital')) this.#send(heartbeat, 'vital')
  }
}
