import { type RobotLogLevel, reasonText, sessionStatusTexts, type Welcome } from '@wheelhouse/protocol'
import {
  advance,
  type DriveCommand,
  type DriveLimits,
  type DriveState,
  demoLimits,
  isHalted,
  velocity,
} from './differential-drive.ts'
import { DrivePilot, readBinaryDriveCommand, readDriveCommand } from './drive-pilot.ts'
import { DriveRecorder } from './drive-recorder.ts'
import type { EpisodeReport } from './episode-outbox.ts'
import { RobotLink } from './robot-link.ts'
import type { RobotLinkOptions } from './robot-link-options.ts'
import { demoWorld, isFree, nearestSurface, type World } from './world.ts'

type ForwardedOptions = Pick<
  RobotLinkOptions,
  'url' | 'token' | 'reconnect' | 'WebSocket' | 'onConnection' | 'onError' | 'onClosed'
>

/** Where it connects and with what, and the room it lives in. */
export interface SimulatedRobotOptions extends ForwardedOptions {
  /** Default: `demoWorld`, 8 by 6 metres. */
  readonly world?: World
  /** Default: `demoLimits`. */
  readonly limits?: DriveLimits
  /** Where it stands at first; must be free. Default: (1, 1), heading along x, battery at 90 %. */
  readonly start?: Partial<DriveState>
  /** Steps of the physics, 1 to 200 a second. Default 50. */
  readonly stepHz?: number
  /** Telemetry samples a second while there is a session. Default 10. */
  readonly telemetryHz?: number
  /** Monotonic clock in milliseconds. Default: `performance.now`. */
  readonly now?: () => number
}

const LOG_THROTTLE_MS = 1_000
const LOW_BATTERY = 0.2

/**
 * A differential-drive robot in a small room, driven over a RobotLink. Control data is
 * `{linear_mps, angular_radps}`, or two big-endian 32-bit floats in a binary frame. It never moves unasked. In a
 * session it sends its pose as telemetry; what it does while it is driven it reports as episodes. Its battery drains while
 * it drives and charges while it is halted; its log names sessions, stops and obstacles.
 */
export class SimulatedRobot {
  /** Its connection to the platform. */
  readonly link: RobotLink
  readonly #pilot = new DrivePilot()
  readonly #recorder = new DriveRecorder()
  readonly #world: World
  readonly #limits: DriveLimits
  readonly #now: () => number
  readonly #stepMs: number
  readonly #telemetryMs: number
  #state: DriveState
  #timer: NodeJS.Timeout | undefined
  #lastStepMs = 0
  #nextTelemetryMs = 0
  #lastThrottledLogMs = Number.NEGATIVE_INFINITY
  #lastLoggedMessage = ''

  /** @throws RangeError if the start is not free or a rate is out of range; TypeError for a bad url or token */
  constructor(options: SimulatedRobotOptions) {
    const { stepHz = 50, telemetryHz = 10 } = options
    if (!(stepHz >= 1 && stepHz <= 200)) throw new RangeError('stepHz must lie between 1 and 200')
    if (!(telemetryHz > 0 && telemetryHz <= 200))
      throw new RangeError('telemetryHz must lie between 0 and 200')
    this.#world = options.world ?? demoWorld
    this.#limits = options.limits ?? demoLimits
    this.#now = options.now ?? (() => performance.now())
    this.#stepMs = 1000 / stepHz
    this.#telemetryMs = 1000 / telemetryHz
    const standing = { xM: 1, yM: 1, headingRad: 0, leftMps: 0, rightMps: 0, battery: 0.9, bumped: false }
    this.#state = { ...standing, ...options.start }
    if (!isFree(this.#world, this.#state.xM, this.#state.yM, this.#limits.radiusM))
      throw new RangeError('the robot would start in a wall or an obstacle')
    this.link = this.#createLink(options)
  }

  /** Where it is and how it moves. */
  get state(): DriveState {
    return this.#state
  }

  /** Starts the physics and the link; resolves with the first welcome, rejects if the link gives up before. */
  start(): Promise<Welcome> {
    if (this.#timer === undefined) {
      this.#lastStepMs = this.#now()
      this.#timer = setInterval(() => this.#step(), this.#stepMs)
    }
    return this.link.connect()
  }

  /** Ends both; resolves when the link is closed. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.link.close()
  }

  #createLink(options: ForwardedOptions): RobotLink {
    const { url, token, reconnect, WebSocket, onError, onClosed } = options
    return new RobotLink({
      url,
      token,
      ...(reconnect ? { reconnect } : {}),
      ...(WebSocket ? { WebSocket } : {}),
      ...(onError ? { onError } : {}),
      ...(onClosed ? { onClosed } : {}),
      heartbeat: () => ({ battery: round(this.#state.battery) }),
      onWelcome: ({ epoch }) => {
        this.#pilot.linkUp()
        this.link.log('info', `connected, epoch ${epoch}`)
      },
      onSession: (session) => {
        this.#pilot.session(session)
        if (session)
          this.link.log(
            'info',
            `session ${sessionStatusTexts[session.status].toLowerCase()}, operator ${session.operator_name}`,
          )
        if (session?.status !== 'ACTIVE') this.#deliver(this.#recorder.end(Date.now()))
      },
      onControl: ({ seq, data, session_id }) => this.#onControl(seq, readDriveCommand(data), session_id),
      onBinaryControl: (payload, { seq }) => this.#onControl(seq, readBinaryDriveCommand(payload)),
      onLateControl: (seq, ageMs) =>
        this.#logThrottled(`control frame ${seq} is ${Math.round(ageMs)} ms late and was not obeyed`),
      onStop: (stop) => {
        this.#pilot.stop(stop)
        if (stop.latched) this.#logOnce('warn', `stopped: ${reasonText(stop.reason)}`)
      },
      onStopCleared: () => {
        this.#lastLoggedMessage = ''
        this.#pilot.stopCleared()
      },
      onConnection: (state, closeCode) => {
        if (state === 'offline') this.#pilot.linkDown()
        options.onConnection?.(state, closeCode)
      },
    })
  }

  #onControl(seq: number, command: DriveCommand | null, sessionId?: string): void {
    if (!this.#pilot.control(command, sessionId))
      return this.#logThrottled(`control frame ${seq} was not obeyed`)
    this.#recorder.driven(Date.now())
    this.link.ack(seq)
  }

  /** Logs at most once a second what may happen with every frame. */
  #logThrottled(message: string): void {
    const now = this.#now()
    if (now - this.#lastThrottledLogMs < LOG_THROTTLE_MS) return
    this.#lastThrottledLogMs = now
    this.link.log('warn', message)
  }

  /** Logs a message unless it is the one logged last: a stop is repeated. */
  #logOnce(level: RobotLogLevel, message: string): void {
    if (message === this.#lastLoggedMessage) return
    this.#lastLoggedMessage = message
    this.link.log(level, message)
  }

  /** Logs the beginning of a contact with an obstacle, and a battery that has become low. */
  #watchState(before: DriveState): void {
    const { bumped, battery } = this.#state
    if (bumped && !before.bumped) this.#logThrottled('touched an obstacle')
    if (battery < LOW_BATTERY && before.battery >= LOW_BATTERY) {
      this.link.log('error', `battery low: ${Math.round(battery * 100)} %`)
    }
  }

  #step(): void {
    const now = this.#now()
    const elapsedS = (now - this.#lastStepMs) / 1000
    this.#lastStepMs = now
    const before = this.#state
    this.#state = advance(before, this.#pilot.command, elapsedS, this.#world, this.#limits)
    this.#watchState(before)
    if (isHalted(this.#state)) {
      const reason = this.#pilot.takeAnswer()
      if (reason !== null) this.link.stopped(reason)
    }
    if (this.link.session && now >= this.#nextTelemetryMs) {
      // Missed samples are not made up for.
      this.#nextTelemetryMs = Math.max(this.#nextTelemetryMs + this.#telemetryMs, now)
      const sample = this.#sample()
      this.link.telemetry(sample)
      this.#recorder.sample(JSON.stringify(sample).length, this.#state.bumped)
    }
    this.#deliver(this.#recorder.due(Date.now()))
  }

  /** Reports an episode; failures go to `onError`. */
  #deliver(episode: EpisodeReport | null): void {
    if (episode) void this.link.sendEpisode(episode)
  }

  #sample(): Record<string, unknown> {
    const { xM, yM, headingRad, battery, bumped } = this.#state
    const { linearMps, angularRadps } = velocity(this.#state, this.#limits)
    const nearest = nearestSurface(this.#world, this.#state, this.#limits.radiusM)
    return {
      pose: { x_m: round(xM), y_m: round(yM), heading_rad: round(headingRad) },
      velocity: { linear_mps: round(linearMps), angular_radps: round(angularRadps) },
      battery: round(battery),
      nearest_obstacle: { distance_m: round(nearest.distanceM), bearing_rad: round(nearest.bearingRad) },
      standing: isHalted(this.#state),
      bumped,
    }
  }
}

/** Four decimals are a tenth of a millimetre; more would only be bytes. */
function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
