import type {
  DriveStop,
  RobotLogLevel,
  SessionLogEvent,
  SessionStatus,
  WatchedSession,
} from '@wheelhouse/protocol'
import {
  type HubClient,
  type HubClientOptions,
  isFinalRefusal,
  ObserverLink,
  ticketsOf,
} from '@wheelhouse/sdk'

interface SessionWatchOptions {
  /** Origin of the REST API. */
  readonly baseUrl: string
  /** Creates a client of the hub. */
  readonly hub: (options: Partial<HubClientOptions>) => HubClient
  /** Returns a valid credential before every request and connection. */
  readonly token: () => Promise<string>
  readonly sessionId: string
  /** Number of the log entry after which delivery starts. */
  readonly after: number
  readonly onEvent: (event: WatchEvent) => void
}

const STOP_REASON = 'stopped by an observer'

/** Watches one session over the hub and the gateway, across lost connections, until it is over. */
export class SessionWatch {
  readonly #options: SessionWatchOptions
  readonly #hub: HubClient
  readonly #ended = Promise.withResolvers<void>()
  #link: ObserverLink | undefined
  #status: unknown
  #caughtUp = false
  #closed = false

  constructor(options: SessionWatchOptions) {
    this.#options = options
    this.#hub = options.hub({
      onConnected: () => this.#emit({ type: 'hub', state: 'connected' }),
      onDisconnected: (reason) => this.#emit({ type: 'hub', state: 'disconnected', reason }),
      onError: (cause) => this.#reportProblem(cause),
      onClosed: (reason) => this.#ended.reject(reason.cause ?? reason),
    })
    // `run` reports a failure to connect.
    this.#ended.promise.catch(() => {})
  }

  /**
   * Watches until the session is over or `close()` is called.
   * @throws HubError when the hub refuses the session or the credential
   */
  async run(): Promise<void> {
    const { sessionId, after } = this.#options
    this.#hub.connect().catch(() => {}) // reported through onClosed
    const watching = this.#hub.watch(
      sessionId,
      {
        onSession: (session) => this.#onSession(session),
        onEvent: (event) => this.#onEvent(event),
        onTyping: ({ display_name: name }) => this.#emit({ type: 'typing', name }),
        // `run` reports a refusal, which ends the watch.
        onError: (cause) => isFinalRefusal(cause) || this.#reportProblem(cause),
        onReset: () => this.#reportProblem('the log of the session starts over'),
      },
      { after },
    )
    watching.then(
      () => {
        this.#caughtUp = true
        this.#finishIfOver()
      },
      (cause) => this.#ended.reject(cause),
    )
    try {
      await this.#ended.promise
    } finally {
      await this.close()
    }
  }

  /** Requests a remote stop through the gateway, and also through the hub without a connection to the gateway. */
  stop(): void {
    if (!isOpen(this.#status)) return this.#reportProblem('cannot stop the robot: the session is not open')
    this.#emit({ type: 'stop', state: 'pressed' })
    const { sessionId } = this.#options
    const attempts: Promise<unknown>[] = []
    if (this.#link && this.#link.connection !== 'closed') attempts.push(this.#link.stop(STOP_REASON))
    if (this.#link?.connection !== 'online') {
      attempts.push(this.#hub.action(sessionId, 'emergency_stop', STOP_REASON))
    }
    Promise.any(attempts).then(
      () => this.#emit({ type: 'stop', state: 'recorded' }),
      (cause: AggregateError) => this.#reportProblem(`the stop failed: ${cause.errors.map(messageOf)}`),
    )
  }

  /** Sends a chat message; resolves when the platform has it. */
  async chat(body: string): Promise<void> {
    await this.#hub.sendChat(this.#options.sessionId, body)
  }

  typing(): void {
    this.#hub.typing(this.#options.sessionId)
  }

  /** Round trip to the gateway from this link's own pings, in milliseconds; null before a measurement. */
  get ownLatencyMs(): number | null {
    return this.#link?.latency?.roundTripMs ?? null
  }

  /** Ends the watch. No event follows. */
  async close(): Promise<void> {
    this.#closed = true
    this.#ended.resolve()
    this.#hub.close()
    await this.#link?.close()
  }

  #emit(event: WatchEvent): void {
    if (!this.#closed) this.#options.onEvent(event)
  }

  #reportProblem(cause: unknown): void {
    this.#emit({ type: 'problem', message: messageOf(cause) })
  }

  #onSession(session: WatchedSession): void {
    this.#status = session.status
    this.#emit({ type: 'session', session })
    this.#connectGateway()
  }

  #onEvent({ type, ...entry }: SessionLogEvent): void {
    this.#emit({ type: 'event', event: type, ...entry })
    // Older log entries contain old statuses. `onSession` has set the current one.
    if (!this.#caughtUp || typeof entry.data.status !== 'string') return
    this.#status = entry.data.status
    this.#connectGateway()
    this.#finishIfOver()
  }

  #finishIfOver(): void {
    if (!isOver(this.#status)) return
    this.#emit({ type: 'end', reason: `the session is ${this.#status}` })
    this.#ended.resolve()
  }

  /** Connects to the gateway if the session is open. */
  #connectGateway(): void {
    if (!isOpen(this.#status) || this.#link || this.#closed) return
    const { baseUrl, token, sessionId } = this.#options
    const link = new ObserverLink({
      getTicket: ticketsOf({ baseUrl, token, sessionId, part: 'watch' }),
      // The hub reports the end of the session. Until then the robot may reconnect.
      offlinePatienceMs: Number.POSITIVE_INFINITY,
      onConnection: (state, code) =>
        this.#emit({ type: 'link', state, ...(code !== undefined && { reason: `close code ${code}` }) }),
      onState: ({ status, robot_connected, stop }) =>
        this.#emit({ type: 'state', status, robot_connected, stop }),
      onTelemetry: (data) => this.#emit({ type: 'telemetry', data }),
      onLog: ({ level, message, dropped }) => this.#emit({ type: 'log', level, message, dropped }),
      onBattery: ({ battery }) => this.#emit({ type: 'battery', battery }),
      onLimits: (limits) => this.#emit({ type: 'limits', ...limits }),
      onLatency: ({ operator_ms, robot_ms }) =>
        this.#emit({ type: 'latency', operator_ms, robot_ms, own_ms: this.ownLatencyMs }),
      onError: (cause) => this.#reportProblem(`gateway: ${messageOf(cause)}`),
      onClosed: ({ reason }) => this.#emit({ type: 'link', state: 'closed', reason }),
    })
    this.#link = link
    link.connect().catch(() => {}) // reported through onClosed
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

/** Events of a session watch, in order of arrival. Times are this machine's, except `at` of a log entry. */
export type WatchEvent =
  /** Connection to the hub, which delivers the log. After a disconnect it delivers all missed entries. */
  | { readonly type: 'hub'; readonly state: 'connected' | 'disconnected'; readonly reason?: string }
  /** Connection to the gateway, which sends state, telemetry and latency. */
  | {
      readonly type: 'link'
      readonly state: 'connecting' | 'online' | 'offline' | 'closed'
      readonly reason?: string
    }
  | { readonly type: 'session'; readonly session: WatchedSession }
  /** One entry of the session's log. */
  | ({ readonly type: 'event'; readonly event: string } & Omit<SessionLogEvent, 'type'>)
  | {
      readonly type: 'state'
      readonly status: SessionStatus
      readonly robot_connected: boolean
      readonly stop: DriveStop | null
    }
  | { readonly type: 'telemetry'; readonly data: unknown }
  /** A line of the robot's log. */
  | {
      readonly type: 'log'
      readonly level: RobotLogLevel
      readonly message: string
      readonly dropped: number
    }
  /** The allowed share of the robot's speed. */
  | { readonly type: 'limits'; readonly speed_scale: number; readonly reason: string | null }
  /** Charge of the robot, 0 to 1. */
  | { readonly type: 'battery'; readonly battery: number }
  /** Round trips in milliseconds between the gateway and the operator, the robot, and this program. */
  | {
      readonly type: 'latency'
      readonly operator_ms: number | null
      readonly robot_ms: number | null
      readonly own_ms: number | null
    }
  | { readonly type: 'typing'; readonly name: string }
  | { readonly type: 'stop'; readonly state: 'pressed' | 'recorded' }
  | { readonly type: 'problem'; readonly message: string }
  | { readonly type: 'end'; readonly reason: string }

/** Returns whether a session of this status is over. */
export function isOver(status: unknown): boolean {
  return status === 'COMPLETED' || status === 'CANCELLED'
}

/** Returns whether a session of this status is open, so that participants can watch and stop its robot. */
function isOpen(status: unknown): boolean {
  return status === 'ACTIVE' || status === 'PAUSED'
}
