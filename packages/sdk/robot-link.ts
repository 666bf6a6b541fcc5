import {
  BINARY_TELEMETRY,
  compileTelemetrySchema,
  encodeBinaryFrame,
  LOG_MESSAGE_MAX,
  MAX_BINARY_SEQ,
  type RobotFrame,
  type RobotLogLevel,
  type RobotSession,
  type SpeedLimits,
  shouldReconnect,
  type TelemetryRules,
  TelemetrySchema,
  type ToRobotFrame,
  type Welcome,
} from '@wheelhouse/protocol'
import { robotWebSocket } from '#websocket'
import { AutonomyReports } from './autonomy-reports.ts'
import { Backoff } from './backoff.ts'
import type { CameraOptions } from './camera/camera-options.ts'
import { PublishedCamera } from './camera/published-camera.ts'
import { CommandReceiver } from './command-receiver.ts'
import { ConnectionLifecycle, type LinkEnd, type LinkFailure } from './connection-lifecycle.ts'
import { ControlChannel } from './control-channel.ts'
import { DeclaredRules } from './declared-rules.ts'
import { EpisodeOutbox, type EpisodeReport } from './episode-outbox.ts'
import { checkBinarySize, frameText } from './frames.ts'
import { linkClockMs } from './link-clock.ts'
import type { WebSocketConstructor } from './link-socket.ts'
import type { AutonomyReport, RobotLinkOptions, RobotLinkState, StopInForce } from './robot-link-options.ts'
import { dialRobotSocket, readFrame } from './robot-socket.ts'
import { safeCallback } from './safe-callback.ts'

type TelemetryCheckOptions = Pick<RobotLinkOptions, 'telemetrySchema' | 'onInvalidTelemetry' | 'onError'>

/** Checks the telemetry of a robot before it is sent. */
class TelemetryCheck {
  readonly #options: TelemetryCheckOptions
  readonly #rules: DeclaredRules<TelemetrySchema, TelemetryRules>

  /** @throws ZodError if `telemetrySchema` is not a telemetry schema */
  constructor(options: TelemetryCheckOptions) {
    this.#options = options
    this.#rules = new DeclaredRules(
      options.telemetrySchema,
      (schema) => compileTelemetrySchema(TelemetrySchema.parse(schema)),
      options.onError,
    )
  }

  /** Applies the schema that the platform has declared for an open session. */
  follow(session: RobotSession | null): void {
    if (session) this.#rules.follow(session.telemetry_schema)
  }

  /** Returns whether the schema allows the sample. Reports the problem of any other. */
  allows(data: unknown): boolean {
    const problem = this.#rules.current?.problemOf(data)
    if (problem === undefined) return true
    safeCallback(this.#options.onError, () => this.#options.onInvalidTelemetry?.(problem))
    return false
  }
}

/** HTTP statuses of the upgrade that another attempt would not change. */
const FINAL_HTTP_STATUSES: ReadonlySet<number> = new Set([401, 403, 404])
/** Frames that the data channel carries. */
const CHANNEL_FRAMES: ReadonlySet<string> = new Set(['control', 'stop', 'cancel_goal', 'limits'])
const STOP_REASON_MAX = 200
/** A robot in a session waits at most this long before an attempt, because its operator waits for it. */
const SESSION_DELAY_MS = 1_000
/** After so many attempts, half a minute, the outage is a long one. */
const SESSION_ATTEMPTS = 60

/**
 * Connects a robot to its gateway: welcome, heartbeats, control and stop, dead-link detection and reconnecting. A
 * closed link cannot connect again: create a new one.
 */
export class RobotLink {
  readonly #options: RobotLinkOptions
  readonly #backoff: Backoff
  readonly #commands: CommandReceiver
  readonly #telemetryCheck: TelemetryCheck
  readonly #episodes: EpisodeOutbox
  readonly #autonomy = new AutonomyReports((frame) => this.#send(frame, 'vital'))
  readonly #lifecycle: ConnectionLifecycle<Welcome, ToRobotFrame>
  readonly #channel: ControlChannel
  readonly #cameras = new Set<PublishedCamera>()
  #heartbeatTimer: NodeJS.Timeout | undefined
  #heartbeatSeq = 0
  #telemetrySeq = 0
  #welcome: Welcome | null = null

  /**
   * @throws TypeError if `url` is not a WebSocket URL, if `token` is not valid in a header, or if no WebSocket can set
   * headers, as in browsers; ZodError if `controlSchema` or `telemetrySchema` is not one
   */
  constructor(options: RobotLinkOptions) {
    if (!/^wss?:$/.test(new URL(options.url).protocol)) throw new TypeError('url must be ws:// or wss://')
    if (!/^[\x21-\x7e]+$/.test(options.token)) throw new TypeError('token must be printable, without spaces')
    const Socket = options.WebSocket ?? robotWebSocket
    if (!Socket) throw new TypeError('a robot needs a WebSocket that can set headers')
    if (options.onGoal && !options.onGoalCanceled)
      throw new TypeError(
        'onGoal needs onGoalCanceled: nothing else would halt the robot when its goal is canceled',
      )
    this.#options = options
    this.#backoff = new Backoff(options.reconnect)
    this.#commands = new CommandReceiver(options)
    this.#telemetryCheck = new TelemetryCheck(options)
    this.#episodes = new EpisodeOutbox({
      // The clock of `started_at`, so that the gateway can convert the times of a robot whose clock is wrong.
      transmit: (frame) => this.#send({ ...frame, t: Date.now() }, 'droppable'),
      report: (cause) => this.#lifecycle.report(cause),
      nowMs: () => performance.now(),
    })
    this.#lifecycle = this.#createLifecycle(Socket)
    this.#channel = this.#createChannel()
  }

  /** State of the link. */
  get state(): RobotLinkState {
    return this.#lifecycle.phase
  }

  /** The transport over which the gateway can be reached fastest at present: the data channel while it delivers. */
  get transport(): 'websocket' | 'data_channel' {
    return this.#channel.delivers ? 'data_channel' : 'websocket'
  }

  /** Number that the platform assigned to the newest connection; null before the first welcome. */
  get epoch(): number | null {
    return this.#welcome?.epoch ?? null
  }

  /** The robot's id on the platform; null before the first welcome. */
  get robotId(): string | null {
    return this.#welcome?.robot_id ?? null
  }

  /** The open session as last received; null without one. */
  get session(): RobotSession | null {
    return this.#commands.session
  }

  /** The stop in force, requested by the gateway or by this robot itself; null without one. */
  get stop(): StopInForce | null {
    return this.#commands.stop
  }

  /** The speed that is allowed at present. The link applies it to JSON commands; clamp binary ones to it. */
  get limits(): SpeedLimits {
    return this.#commands.limits
  }

  /**
   * Connects and reconnects until `close()` or a final refusal.
   * @returns the first welcome; rejects if the link is closed or gives up before it
   */
  connect(): Promise<Welcome> {
    return this.#lifecycle.connect()
  }

  /** Closes the link and its cameras; resolves when the socket is closed. */
  async close(): Promise<void> {
    const cameras = [...this.#cameras]
    this.#cameras.clear()
    await Promise.all([this.#lifecycle.close(), ...cameras.map((camera) => camera.close())])
  }

  /**
   * Publishes a camera over WebRTC, and again after each failure, until you close it or the link. Needs the package
   * `node-datachannel`.
   * @throws TypeError for an invalid name
   */
  publishCamera(options: CameraOptions): PublishedCamera {
    const camera = new PublishedCamera(options, () => {
      const url = this.#welcome?.whip_url
      return url === undefined ? undefined : { url, token: this.#options.token }
    })
    this.#cameras.add(camera)
    return camera
  }

  /**
   * Sends a telemetry sample of any JSON value. The link never queues samples.
   * @param t when the sample was made, in milliseconds of any clock that runs evenly, such as `performance.now()`: recordings and
   * datasets then have this time instead of that of the arrival
   * @returns false if the link dropped the sample: offline, too many unsent bytes, too large for a frame, or not allowed
   * by the `telemetrySchema`
   */
  telemetry(data: unknown, t?: number): boolean {
    const frame = { type: 'telemetry' as const, data, ...(t !== undefined && { t }) }
    return this.#telemetryCheck.allows(data) && this.#send(frame, 'droppable')
  }

  /** Sends opaque bytes as a telemetry sample. */
  telemetryBinary(payload: Uint8Array): boolean {
    const seq = this.#telemetrySeq
    this.#telemetrySeq = seq === MAX_BINARY_SEQ ? 0 : seq + 1
    return this.#lifecycle.transmit('droppable', () => {
      const header = { kind: BINARY_TELEMETRY, flags: 0, ttlMs: 0, seq, t: linkClockMs() }
      return checkBinarySize(encodeBinaryFrame(header, payload))
    })
  }

  /** Acknowledges a control frame, for latency measurement. Returns false if the link dropped the frame. */
  ack(seq: number): boolean {
    if (this.#lifecycle.isOnline && this.#channel.send(frameText({ type: 'ack', seq })) === 'trusted')
      return true
    return this.#send({ type: 'ack', seq }, 'droppable')
  }

  /** Reports that the robot has halted. Returns false if offline; the gateway then repeats its stop. */
  stopped(reason: string): boolean {
    return this.#send({ type: 'stopped', reason: reason.slice(0, STOP_REASON_MAX) }, 'vital')
  }

  /**
   * Adds a line to the robot's log on the platform. Cuts the message after 4,000 characters. The platform records up to
   * 20 lines per second, with bursts of 100. Returns false if the link dropped the line.
   */
  log(level: RobotLogLevel, message: string): boolean {
    return this.#send({ type: 'log', level, message: message.slice(0, LOG_MESSAGE_MAX) }, 'droppable')
  }

  /**
   * Reports what the robot does by itself, and the goals that it accepts: always the whole state. The link keeps it, and sends it again
   * over each new connection. Call it with every change; of mere progress the link sends five a second, and the newest one later.
   * @throws ZodError for an invalid report, such as a `progress` above 1
   */
  autonomy(report: AutonomyReport): void {
    const { goal } = this.#autonomy.report(report)
    if (goal && goal.status !== 'active') this.#commands.goalEnded(goal.goal_id)
  }

  /**
   * Reports a recording. The link stores up to 1,000 reports in memory and repeats each, also over new connections,
   * until the platform has stored it. Keep the recording on the robot until then. You can ignore the promise: failures
   * also go to `onError`.
   * @returns resolves after the acknowledgement; rejects with TypeError for an invalid report, with EpisodeRefusedError
   * for a final refusal, with Error when too many reports are pending or the link is closed
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
        this.#channel.close()
        this.#autonomy.pause()
        this.#commands.linkLost()
      },
      onFinished: (error) => this.#episodes.close(error),
      verdict: (failure) => this.#verdict(failure),
    })
  }

  #createChannel(): ControlChannel {
    return new ControlChannel({
      PeerConnection: this.#options.PeerConnection,
      sendOffer: (sdp) => this.#send({ type: 'channel_offer', sdp }, 'vital'),
      onText: (text) => this.#onChannelText(text),
      onBinary: (frame) => {
        if (this.#lifecycle.isOnline) this.#commands.binary(frame)
      },
      onError: (cause) => this.#lifecycle.report(cause),
    })
  }

  /** Handles a frame of the data channel: only control frames, stops, canceled goals and the allowed speed arrive there. */
  #onChannelText(text: string): void {
    if (!this.#lifecycle.isOnline) return
    const frame = readFrame(text)
    if (frame && CHANNEL_FRAMES.has(frame.type)) this.#commands.frame(frame)
  }

  #verdict(failure: LinkFailure): number | LinkEnd {
    if (failure.at !== 'socket') return this.#nextDelayMs()
    const { closeCode, httpStatus, retryAfterMs } = failure.end
    const refused = httpStatus !== undefined && FINAL_HTTP_STATUSES.has(httpStatus)
    if (refused || !shouldReconnect(closeCode)) return failure.end
    return this.#nextDelayMs(retryAfterMs)
  }

  #nextDelayMs(atLeastMs = 0): number {
    const isAwaited = this.session !== null && this.#backoff.attempts < SESSION_ATTEMPTS
    return this.#backoff.nextDelayMs(atLeastMs, isAwaited ? SESSION_DELAY_MS : undefined)
  }

  #send(frame: RobotFrame, kind: 'droppable' | 'vital'): boolean {
    return this.#lifecycle.transmit(kind, () => frameText(frame))
  }

  #onFrame(frame: ToRobotFrame): void {
    if (frame.type === 'welcome') this.#onWelcome(frame)
    // Ignores all other frames before the welcome and after close().
    else if (!this.#lifecycle.isOnline) return
    else if (frame.type === 'episode_ack') this.#episodes.acknowledged(frame.episode_id)
    else if (frame.type === 'channel_available') this.#channel.available()
    else if (frame.type === 'channel_answer') this.#channel.answer(frame.sdp)
    else if (frame.type === 'channel_refused') this.#channel.refused(frame)
    else if (frame.type === 'error') {
      this.#lifecycle.report(new Error(`gateway: ${frame.message}`))
      this.#episodes.refused(frame)
    } else {
      if (frame.type === 'session') this.#telemetryCheck.follow(frame)
      this.#commands.frame(frame)
    }
  }

  #onWelcome(welcome: Welcome): void {
    if (this.#lifecycle.phase !== 'connecting') return
    this.#welcome = welcome
    this.#telemetryCheck.follow(welcome.session)
    this.#backoff.reset()
    this.#heartbeatTimer = setInterval(() => {
      this.#beat()
      this.#episodes.tick()
    }, welcome.heartbeat_interval_ms)
    this.#lifecycle.online(welcome, welcome.heartbeat_timeout_ms)
    this.#beat()
    this.#episodes.online()
    this.#autonomy.send()
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
    // The robot must send a heartbeat, even without its extra fields if those cannot be encoded.
    if (!this.#send({ ...fields, ...heartbeat }, 'vital')) this.#send(heartbeat, 'vital')
  }
}
