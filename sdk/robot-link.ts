import {
  type RobotFrame,
  type RobotSession,
  shouldReconnect,
  type ToRobotFrame,
  type Welcome,
} from '@wheelhouse/protocol'
import { WebSocket } from 'ws'
import { Backoff } from './backoff.ts'
import { EpisodeOutbox, type EpisodeReport } from './episode-outbox.ts'
import { frameText } from './frames.ts'
import type { LinkSocket, SocketEnd } from './link-socket.ts'
import type {
  RobotConnectionState,
  RobotLinkEnd,
  RobotLinkOptions,
  RobotLinkState,
  StopInForce,
} from './robot-link-options.ts'
import { RobotOrders } from './robot-orders.ts'
import { openRobotSocket } from './robot-socket.ts'
import { shielded } from './shielded.ts'

/** Answers to the upgrade that another attempt would not change. */
const FINAL_HTTP_STATUSES: ReadonlySet<number> = new Set([401, 403, 404])
const LOG_MESSAGE_MAX = 4_000
const STOP_REASON_MAX = 200

/**
 * A robot's connection to its gateway: welcome, heartbeats, control and stop, dead-link detection and
 * reconnecting. One object serves one robot for one life: after `closed`, make a new one.
 */
export class RobotLink {
  readonly #options: RobotLinkOptions
  readonly #backoff: Backoff
  readonly #orders: RobotOrders
  readonly #episodes: EpisodeOutbox
  readonly #firstWelcome = Promise.withResolvers<Welcome>()
  readonly #closed = Promise.withResolvers<void>()
  #state: RobotLinkState = 'idle'
  #socket: LinkSocket | null = null
  #retryTimer: NodeJS.Timeout | undefined
  #heartbeatTimer: NodeJS.Timeout | undefined
  #heartbeatSeq = 0
  #welcome: Welcome | null = null

  /** @throws TypeError if `url` is no WebSocket URL or `token` could not stand in a header */
  constructor(options: RobotLinkOptions) {
    if (!/^wss?:$/.test(new URL(options.url).protocol)) throw new TypeError('url must be ws:// or wss://')
    if (!/^[\x21-\x7e]+$/.test(options.token)) throw new TypeError('token must be printable, without spaces')
    this.#options = options
    this.#backoff = new Backoff(options.reconnect)
    this.#orders = new RobotOrders(options)
    this.#episodes = new EpisodeOutbox({
      transmit: (frame) => this.#send(frame, 'droppable'),
      report: (cause) => this.#report(cause),
      nowMs: () => performance.now(),
    })
    // Whoever ignores the promise of connect() still learns the reason from onClosed.
    this.#firstWelcome.promise.catch(() => {})
  }

  get state(): RobotLinkState {
    return this.#state
  }

  /** Number of the newest connection, given by the platform; null before the first welcome. */
  get epoch(): number | null {
    return this.#welcome?.epoch ?? null
  }

  get robotId(): string | null {
    return this.#welcome?.robot_id ?? null
  }

  /** The open session as last heard; null if there is none. */
  get session(): RobotSession | null {
    return this.#orders.session
  }

  /** The stop in force as last heard. */
  get stop(): StopInForce | null {
    return this.#orders.stop
  }

  /**
   * Starts connecting and goes on until `close()` or a refusal that is final.
   * @returns the first welcome; rejects if the link is closed or gives up before it
   */
  connect(): Promise<Welcome> {
    if (this.#state === 'closed') return Promise.reject(new Error('this robot link is closed'))
    if (this.#state === 'idle') this.#dial()
    return this.#firstWelcome.promise
  }

  /** Closes the link for good; resolves once the socket is gone. */
  close(): Promise<void> {
    if (this.#state === 'online' || this.#state === 'connecting') this.#announce('offline', 1000)
    // The callback may have called close() itself.
    if (!this.#isClosed()) {
      this.#finish({ reason: 'closed by the robot' })
      if (this.#socket) this.#socket.close()
      else this.#closed.resolve()
    }
    return this.#closed.promise
  }

  /**
   * Sends a sample of any JSON value; latest-wins, so nothing is queued for a slow link.
   * @returns false if it was dropped: not online, too many unsent bytes, or larger than a frame may be
   */
  telemetry(data: unknown): boolean {
    return this.#send({ type: 'telemetry', data }, 'droppable')
  }

  /** Confirms a control frame, for latency measurement. Returns false if it was dropped. */
  ack(seq: number): boolean {
    return this.#send({ type: 'ack', seq }, 'droppable')
  }

  /** Reports that the robot stands. Returns false if not online; the gateway then repeats its stop. */
  stopped(reason: string): boolean {
    return this.#send({ type: 'stopped', reason: reason.slice(0, STOP_REASON_MAX) }, 'vital')
  }

  /** Adds a line to the robot's log on the platform. Returns false if it was dropped. */
  log(level: 'debug' | 'info' | 'warn' | 'error', message: string): boolean {
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

  #send(frame: RobotFrame, kind: 'droppable' | 'vital'): boolean {
    const socket = this.#socket
    if (this.#state !== 'online' || !socket?.open) return false
    const limitBytes = this.#options.maxBufferedBytes ?? 256 * 1024
    if (kind === 'droppable' && socket.bufferedBytes > limitBytes) return false
    try {
      socket.send(frameText(frame))
      return true
    } catch (cause) {
      this.#report(cause)
      return false
    }
  }

  #dial(): void {
    this.#announce('connecting')
    // A callback may have closed the link.
    if (this.#state !== 'connecting') return
    this.#socket = openRobotSocket({
      url: this.#options.url,
      token: this.#options.token,
      WebSocket: this.#options.WebSocket ?? WebSocket,
      connectTimeoutMs: this.#options.connectTimeoutMs ?? 10_000,
      onFrame: (frame) => this.#onFrame(frame),
      onBinary: () => {},
      onBadFrame: (problem) => this.#report(problem),
      onEnd: (end) => this.#onEnd(end),
    })
  }

  #onEnd(end: SocketEnd): void {
    this.#socket = null
    clearInterval(this.#heartbeatTimer)
    if (this.#state === 'closed') {
      this.#closed.resolve()
      return
    }
    this.#announce('offline', end.closeCode)
    // A callback may have closed the link.
    if (this.#isClosed()) return
    const refused = end.httpStatus !== undefined && FINAL_HTTP_STATUSES.has(end.httpStatus)
    if (refused || !shouldReconnect(end.closeCode)) {
      this.#finish(end)
      this.#closed.resolve()
      return
    }
    this.#retryTimer = setTimeout(() => this.#dial(), this.#backoff.nextDelayMs())
  }

  #finish(end: RobotLinkEnd): void {
    this.#state = 'closed'
    clearTimeout(this.#retryTimer)
    clearInterval(this.#heartbeatTimer)
    const closed = new Error(`robot link closed: ${end.reason}`)
    this.#firstWelcome.reject(closed)
    this.#episodes.close(closed)
    this.#tell(() => this.#options.onClosed?.(end))
  }

  #onFrame(frame: ToRobotFrame): void {
    if (frame.type === 'welcome') this.#onWelcome(frame)
    // Before the welcome, and after close(), nothing else counts.
    else if (this.#state !== 'online') return
    else if (frame.type === 'episode_ack') this.#episodes.acknowledged(frame.episode_id)
    else if (frame.type === 'error') {
      this.#report(new Error(`gateway: ${frame.message}`))
      this.#episodes.refused(frame)
    } else this.#orders.frame(frame)
  }

  #onWelcome(welcome: Welcome): void {
    if (this.#state !== 'connecting') return
    this.#welcome = welcome
    this.#backoff.reset()
    this.#socket?.keepAlive(welcome.heartbeat_timeout_ms)
    this.#heartbeatTimer = setInterval(() => {
      this.#beat()
      this.#episodes.tick()
    }, welcome.heartbeat_interval_ms)
    this.#announce('online')
    this.#beat()
    this.#episodes.online()
    this.#firstWelcome.resolve(welcome)
    this.#tell(() => this.#options.onWelcome?.(welcome))
    if (!this.#isClosed()) this.#orders.welcome(welcome)
  }

  #beat(): void {
    let fields: Record<string, unknown> = {}
    this.#tell(() => {
      fields = this.#options.heartbeat?.() ?? {}
    })
    this.#heartbeatSeq += 1
    const heartbeat = { type: 'heartbeat', seq: this.#heartbeatSeq } as const
    // The beat itself is owed, even when its extra fields cannot be sent.
    if (!this.#send({ ...fields, ...heartbeat }, 'vital')) this.#send(heartbeat, 'vital')
  }

  #announce(state: RobotConnectionState, closeCode?: number): void {
    this.#state = state
    this.#tell(() => this.#options.onConnection?.(state, closeCode))
  }

  #isClosed(): boolean {
    return this.#state === 'closed'
  }

  #report(cause: unknown): void {
    shielded(undefined, () => this.#options.onError?.(cause))
  }

  #tell(run: () => void): void {
    shielded(this.#options.onError, run)
  }
}
