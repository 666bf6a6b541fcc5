import { type RobotLogLevel, reasonText, sessionStatusTexts, type Welcome } from '@wheelhouse/protocol'
import {
  advance,
  type DifferentialDriveState,
  type DriveCommand,
  type DriveLimits,
  demoLimits,
  isHalted,
  velocity,
} from './differential-drive.ts'
import { DrivePilot, readBinaryDriveCommand, readDriveCommand } from './drive-pilot.ts'
import type { EpisodeReport } from './episode-outbox.ts'
import { GoalPilot } from './goal-pilot.ts'
import { RobotLink } from './robot-link.ts'
import type { RobotLinkOptions } from './robot-link-options.ts'
import { demoWorld, isFree, nearestSurface, type World } from './world.ts'

/** Longest episode. A long drive therefore produces its first episode after a minute. */
const MAX_LENGTH_MS = 60_000
/** After this time without a command, the operator has released the controls. */
const RELEASE_MS = 5_000

/** Records episodes of a driven robot: from the first command until the operator releases the controls. */
export class DriveRecorder {
  #startedAtMs: number | null = null
  #drivenAtMs = 0
  #sizeBytes = 0
  #bumped = false

  /** Reports that the robot obeyed a command at `atMs`, Unix milliseconds. Starts a recording if none runs. */
  driven(atMs: number): void {
    this.#drivenAtMs = atMs
    if (this.#startedAtMs !== null) return
    this.#startedAtMs = atMs
    this.#sizeBytes = 0
    this.#bumped = false
  }

  /** Adds a telemetry sample to the recording, if one runs. */
  sample(bytes: number, bumped: boolean): void {
    this.#sizeBytes += bytes
    this.#bumped ||= bumped
  }

  /** Ends the recording if it is over at `atMs`. @returns its episode, or null */
  due(atMs: number): EpisodeReport | null {
    if (this.#startedAtMs === null) return null
    const over = atMs - this.#startedAtMs >= MAX_LENGTH_MS || atMs - this.#drivenAtMs >= RELEASE_MS
    return over ? this.end(atMs) : null
  }

  /** Ends the recording, if one runs. An episode without a bump is a success. @returns its episode, or null */
  end(atMs: number): EpisodeReport | null {
    const startedAtMs = this.#startedAtMs
    if (startedAtMs === null) return null
    this.#startedAtMs = null
    return {
      episode_id: crypto.randomUUID(),
      started_at: startedAtMs,
      ended_at: Math.max(startedAtMs, atMs), // the wall clock may have been set back
      size_bytes: this.#sizeBytes,
      success: !this.#bumped,
    }
  }
}

type ForwardedOptions = Pick<
  RobotLinkOptions,
  'url' | 'token' | 'reconnect' | 'WebSocket' | 'PeerConnection' | 'onConnection' | 'onError' | 'onClosed'
>

/** Connection of a simulated robot, and the room around it. */
export interface SimulatedRobotOptions extends ForwardedOptions {
  /** Default: `demoWorld`, 24 by 7.2 metres. */
  readonly world?: World
  /** Default: `demoLimits`. */
  readonly limits?: DriveLimits
  /** State at the start, at a free position. Default: (1, 1), heading along x, battery at 90 %. */
  readonly start?: Partial<DifferentialDriveState>
  /** Steps of the physics per second, 1 to 200. Default 50. */
  readonly stepHz?: number
  /** Telemetry samples per second during a session. Default 10. */
  readonly telemetryHz?: number
  /** Monotonic clock in milliseconds. Default: `performance.now`. */
  readonly now?: () => number
}

const LOG_THROTTLE_MS = 1_000
const LOW_BATTERY = 0.2

/**
 * Simulates a differential-drive robot in a room, driven over a RobotLink. Control data is
 * `{linear_mps, angular_radps}`, or two big-endian 32-bit floats in a binary frame. The robot moves only on commands, and to goals in the
 * frame `odom`, that of its pose: straight, and not around obstacles.
 * In a session it sends its pose as telemetry, and reports its drives as episodes. Its battery drains while it moves
 * and charges while it is halted. Its log reports sessions, stops and obstacles.
 */
export class SimulatedRobot {
  /** Connection of the robot to the platform. */
  readonly link: RobotLink
  readonly #pilot = new DrivePilot()
  readonly #goals = new GoalPilot()
  readonly #recorder = new DriveRecorder()
  readonly #world: World
  readonly #limits: DriveLimits
  readonly #now: () => number
  readonly #stepMs: number
  readonly #telemetryMs: number
  #state: DifferentialDriveState
  #timer: NodeJS.Timeout | undefined
  #lastStepMs = 0
  #nextTelemetryMs = 0
  #lastThrottledLogMs = Number.NEGATIVE_INFINITY
  #lastLoggedMessage = ''

  /** @throws RangeError if the start is not free or a rate is out of range; TypeError for an invalid url or token */
  constructor(options: SimulatedRobotOptions) {
    const { stepHz = 50, telemetryHz = 10 } = options
    if (!(stepHz >= 1 && stepHz <= 200)) throw new RangeError('stepHz must be from 1 to 200')
    if (!(telemetryHz > 0 && telemetryHz <= 200))
      throw new RangeError('telemetryHz must be above 0 and at most 200')
    this.#world = options.world ?? demoWorld
    this.#limits = options.limits ?? demoLimits
    this.#now = options.now ?? (() => performance.now())
    this.#stepMs = 1000 / stepHz
    this.#telemetryMs = 1000 / telemetryHz
    const halted = { xM: 1, yM: 1, headingRad: 0, leftMps: 0, rightMps: 0, battery: 0.9, bumped: false }
    this.#state = { ...halted, ...options.start }
    if (!isFree(this.#world, this.#state.xM, this.#state.yM, this.#limits.radiusM))
      throw new RangeError('the start must not be in a wall or an obstacle')
    this.link = this.#createLink(options)
    this.link.autonomy(this.#goals.report)
  }

  /** Position and motion of the robot. */
  get state(): DifferentialDriveState {
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

  /** Ends the physics and the link; resolves when the link is closed. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.link.close()
  }

  #createLink(options: ForwardedOptions): RobotLink {
    const { url, token, reconnect, WebSocket, PeerConnection, onError, onClosed } = options
    return new RobotLink({
      url,
      token,
      ...(reconnect ? { reconnect } : {}),
      ...(WebSocket ? { WebSocket } : {}),
      ...(PeerConnection === undefined ? {} : { PeerConnection }),
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
      onGoal: (goal) => {
        this.#pilot.goal()
        this.#goals.begin(goal, this.#state, this.#world, this.#limits)
        this.link.autonomy(this.#goals.report)
      },
      onGoalCanceled: (goalId) => {
        this.#goals.cancel(goalId)
        this.link.autonomy(this.#goals.report)
      },
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

  /** Logs a message at most once a second, for messages that every frame may cause. */
  #logThrottled(message: string): void {
    const now = this.#now()
    if (now - this.#lastThrottledLogMs < LOG_THROTTLE_MS) return
    this.#lastThrottledLogMs = now
    this.link.log('warn', message)
  }

  /** Logs a message unless it equals the last one, because the gateway repeats a stop. */
  #logOnce(level: RobotLogLevel, message: string): void {
    if (message === this.#lastLoggedMessage) return
    this.#lastLoggedMessage = message
    this.link.log(level, message)
  }

  /** Logs the beginning of a contact with an obstacle, and a battery that becomes low. */
  #watchState(before: DifferentialDriveState): void {
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
    const allowed = this.#allowed()
    const towardsGoal = this.#goals.command(before, this.#world, allowed)
    if (towardsGoal !== undefined) this.link.autonomy(this.#goals.report)
    const command = towardsGoal === undefined ? this.#pilot.command : towardsGoal
    this.#state = advance(before, command, elapsedS, this.#world, allowed)
    this.#watchState(before)
    if (isHalted(this.#state)) {
      const reason = this.#pilot.takeAnswer()
      if (reason !== null) this.link.stopped(reason)
    }
    if (this.link.session && now >= this.#nextTelemetryMs) {
      // The robot does not catch up on missed samples.
      this.#nextTelemetryMs = Math.max(this.#nextTelemetryMs + this.#telemetryMs, now)
      const sample = this.#sample()
      this.link.telemetry(sample)
      this.#recorder.sample(JSON.stringify(sample).length, this.#state.bumped)
    }
    this.#deliver(this.#recorder.due(Date.now()))
  }

  /** Returns the limits of the robot at the allowed speed, also for binary commands and for one that it follows already. */
  #allowed(): DriveLimits {
    const { speed_scale } = this.link.limits
    if (speed_scale === 1) return this.#limits
    const { maxLinearMps, maxAngularRadps } = this.#limits
    return {
      ...this.#limits,
      maxLinearMps: maxLinearMps * speed_scale,
      maxAngularRadps: maxAngularRadps * speed_scale,
    }
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

/** Rounds to four decimals, a tenth of a millimetre, so that frames stay small. */
function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
