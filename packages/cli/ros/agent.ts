import { type Control, LOG_MESSAGE_MAX, type RobotLogLevel } from '@wheelhouse/protocol'
import {
  type GoalCancelReason,
  type RobotGoal,
  RobotLink,
  type RobotLinkEnd,
  type RobotLinkOptions,
  type RobotSession,
  type StopInForce,
} from '@wheelhouse/sdk'
import { CameraPublisher } from './camera.ts'
import { MalformedCommand, measuredCommand, Outlet } from './commands.ts'
import { type GoalSettings, goalStatusType, type RobotConfig, type SourceType } from './config.ts'
import { MotionWatch } from './motion-watch.ts'
import { PlannerGoals } from './planner-goals.ts'
import { chargeOf, LogLines } from './readings.ts'
import { Sampler, STATIC_TRANSFORMS } from './sampler.ts'
import type { RosSource, SourceOptions, Subscription } from './source.ts'

const HALT_EVERY_MS = 100
/** Repetitions of a halt without a latched stop. Afterwards other programs of the robot may drive it. */
const HALTS = 10
/** Reasons of the stops that the link itself causes: the gateway expects no answer to them. */
const LINK_STOPS: ReadonlySet<string> = new Set(['watchdog', 'link_lost', 'invalid_command'])
/** Lines of the robot's log a second, as many as the platform records; more are counted. */
const MAX_LOG_LINES_PER_SECOND = 20
/** The same problem is not reported more often. */
const REPEAT_PROBLEM_MS = 10_000
/** Different problems that are remembered for it. */
const MAX_PROBLEMS = 64
const MIN_TELEMETRY_HZ = 1

type ForwardedOptions = Pick<
  RobotLinkOptions,
  'url' | 'token' | 'reconnect' | 'PeerConnection' | 'watchdogMarginMs'
>

export interface RosAgentOptions extends ForwardedOptions {
  readonly config: RobotConfig
  readonly createSource: (options: SourceOptions) => RosSource
  /** The name or address by which other nodes of ROS 1 reach this machine. */
  readonly ownHost?: string | undefined
  /** Called with what the agent reports to its user. */
  readonly onLine: (level: RobotLogLevel, line: string) => void
  /** Called once when the platform refuses this robot: wrong token, removed, or replaced. */
  readonly onClosed?: (end: RobotLinkEnd) => void
}

/**
 * Makes a robot with ROS a robot of the platform, by its settings. It halts the robot by itself on every stop, when commands cease, and
 * when the platform or ROS is gone; while ROS is gone it obeys and answers nothing.
 */
export class RosAgent {
  readonly link: RobotLink
  readonly #options: RosAgentOptions
  readonly #config: RobotConfig
  readonly #source: RosSource
  readonly #outlets: readonly Outlet[]
  readonly #motion: MotionWatch
  readonly #sampler: Sampler
  readonly #logLines = new LogLines()
  readonly #cameras: readonly CameraPublisher[]
  /** Of a robot with a planner. */
  readonly #goals: PlannerGoals | undefined
  readonly #handlers = new Map<string, ((message: unknown, nowMs: number) => void)[]>()
  readonly #problems = new Map<string, number>()
  readonly #telemetryTimer: NodeJS.Timeout
  #charge: number | undefined
  #halting: NodeJS.Timeout | undefined
  /** Whether the robot may follow a command that no halt has followed. */
  #isDriven = false
  /** The stop that is not answered with `stopped`; `isSent` when the robot has got what halts it. */
  #unanswered: { readonly reason: string; isSent: boolean } | undefined
  #isRosDown = false
  /** What the robot's log does not say yet, because the platform was not connected. */
  #unlogged: string | undefined
  #isClosing = false
  #logSecond = 0
  #logCount = 0

  /** @throws TypeError for an invalid url or token; Error for a type that the source cannot write */
  constructor(options: RosAgentOptions) {
    const { config } = options
    this.#options = options
    this.#config = config
    this.#outlets = config.control.map((entry) => new Outlet(entry, () => this.#source))
    this.#motion = new MotionWatch(config)
    this.#sampler = new Sampler(config.telemetry)
    this.link = this.#createLink()
    this.#goals = config.goal && this.#createGoals(config.goal)
    this.#cameras = config.cameras.map(
      (entry, index) =>
        new CameraPublisher({
          entry,
          link: this.link,
          mjpeg: { host: config.mjpeg.host, port: config.mjpeg.port && config.mjpeg.port + index },
          report: (line) => this.#report('warn', line),
          note: (line) => options.onLine('info', line),
        }),
    )
    const subscriptions = this.#subscribe()
    this.#source = options.createSource({
      url: config.source.url,
      ownHost: options.ownHost,
      subscriptions,
      publications: publicationsOf(config),
      onUp: () => this.#rosUp(),
      onDown: (reason) => this.#rosDown(reason),
      onMessage: (topic, message) => this.#receive(topic, message),
      onProblem: (problem) => this.#report('warn', problem),
    })
    this.#goals?.report()
    const rateHz = Math.max(MIN_TELEMETRY_HZ, ...config.telemetry.map(({ rate_hz }) => rate_hz))
    this.#telemetryTimer = setInterval(() => this.#sendTelemetry(), 1_000 / rateHz)
  }

  /** Connects to the platform. ROS is connected from the beginning. */
  start(): void {
    this.link.connect().catch(() => {}) // reported through onClosed
  }

  /** Halts the robot, and ends both connections. */
  async close(): Promise<void> {
    this.#isClosing = true
    clearInterval(this.#telemetryTimer)
    if (this.#isDriven) this.#halt()
    await Promise.all(this.#cameras.map((camera) => camera.close()))
    await this.link.close()
    clearInterval(this.#halting)
    for (const outlet of this.#outlets) outlet.clear()
    await this.#source.close()
  }

  #createLink(): RobotLink {
    const { url, token, reconnect, PeerConnection, watchdogMarginMs, onLine, onClosed } = this.#options
    return new RobotLink({
      url,
      token,
      ...(reconnect && { reconnect }),
      ...(PeerConnection !== undefined && { PeerConnection }),
      ...(watchdogMarginMs !== undefined && { watchdogMarginMs }),
      controlSchema: 'platform',
      measured: () => measuredCommand(this.#config.control, this.#motion.jointPositions(performance.now())),
      heartbeat: () => (this.#charge === undefined ? {} : { battery: this.#charge }),
      onControl: (control) => this.#control(control),
      onGoal: (goal) => this.#pursue(goal),
      onGoalCanceled: (_, reason) => this.#goalCanceled(reason),
      onInvalidControl: (_, problem) => this.#report('warn', `a command was not obeyed: ${problem}`),
      onWelcome: () => {
        if (this.#unlogged && this.link.log('error', this.#unlogged)) this.#unlogged = undefined
      },
      onStop: (stop) => this.#stop(stop),
      onSession: (session) => this.#follow(session),
      onConnection: (state, closeCode) => {
        onLine(
          state === 'offline' ? 'warn' : 'info',
          `platform: ${state}${closeCode ? ` (${closeCode})` : ''}`,
        )
        if (state === 'offline' && this.#isDriven) this.#halt()
      },
      onError: (cause) => onLine('warn', cause instanceof Error ? cause.message : String(cause)),
      onClosed: (end) => onClosed?.(end),
    })
  }

  #createGoals(settings: GoalSettings): PlannerGoals {
    return new PlannerGoals({
      settings,
      source: () => this.#source,
      onAutonomy: (report) => this.link.autonomy(report),
      onProblem: (problem) => this.#report('error', problem),
    })
  }

  /** Returns the subscriptions of all entries: one for each topic, at the highest rate. */
  #subscribe(): Subscription[] {
    const subscriptions = new Map<string, Subscription>()
    const add = (
      topic: string,
      type: string,
      rateHz: number,
      handle: (message: unknown, nowMs: number) => void,
    ) => {
      const known = subscriptions.get(topic)
      if (!known || known.rateHz < rateHz) subscriptions.set(topic, { topic, type, rateHz })
      this.#handlers.set(topic, [...(this.#handlers.get(topic) ?? []), handle])
    }
    for (const entry of this.#config.telemetry) {
      const { topic, type } = entry
      // Each message of transforms contains some of the frames: none may be left out.
      const rateHz = type === 'tf2_msgs/TFMessage' ? Number.POSITIVE_INFINITY : entry.rate_hz
      add(topic, type, rateHz, (message, nowMs) => {
        if (type === 'nav_msgs/Odometry' || type === 'sensor_msgs/JointState')
          this.#measured(topic, type, message, nowMs)
        if (type === 'sensor_msgs/BatteryState') this.#charge = chargeOf(message)
        this.#sampler.read(entry, message, nowMs)
      })
      if (type === 'tf2_msgs/TFMessage')
        add(STATIC_TRANSFORMS, type, rateHz, (message, nowMs) => this.#sampler.readStatic(message, nowMs))
    }
    for (const entry of this.#config.logs)
      add(entry.topic, entry.type, Number.POSITIVE_INFINITY, (message) => {
        for (const { level, message: line } of this.#logLines.of(entry, message)) this.#log(level, line)
      })
    const { goal } = this.#config
    if (goal?.status_topic !== undefined)
      add(goal.status_topic, goalStatusType(goal), Number.POSITIVE_INFINITY, (message) =>
        this.#goals?.read(message),
      )
    for (const [index, { topic, type, fps }] of this.#config.cameras.entries())
      add(topic, type, fps, (message) => this.#cameras[index]?.picture(message))
    return [...subscriptions.values()]
  }

  #receive(topic: string, message: unknown): void {
    const nowMs = performance.now()
    for (const handle of this.#handlers.get(topic) ?? []) {
      try {
        handle(message, nowMs)
      } catch (cause) {
        this.#report('warn', `${topic}: ${String(cause)}`)
      }
    }
  }

  #rosUp(): void {
    this.#isRosDown = false
    this.#unlogged = undefined
    this.#log('info', 'ROS is connected')
    this.#goals?.up()
    // What happened while ROS was gone: a command that no halt has followed, or a stop.
    if (this.#isDriven || this.#unanswered || this.link.stop?.latched) this.#halt()
  }

  #rosDown(reason: string): void {
    if (this.#isRosDown || this.#isClosing) return
    this.#isRosDown = true
    this.#sampler.clear()
    this.#charge = undefined
    const line = `ROS is not reachable, and the robot obeys no command: ${reason}`
    this.#unlogged = this.#log('error', line) ? undefined : line
    this.#goals?.down()
    // Where ROS 1 loses its master, the connections to the nodes may still work.
    if (this.#isDriven) this.#halt()
  }

  #follow(session: RobotSession | null): void {
    if (session?.status !== 'ACTIVE' && this.#isDriven) this.#halt()
  }

  #stop({ reason, latched }: StopInForce): void {
    // The gateway repeats a stop until it is answered: what is known about the first one stays.
    if (latched || !LINK_STOPS.has(reason))
      this.#unanswered = { reason, isSent: this.#unanswered?.isSent ?? false }
    this.#halt()
  }

  #control({ session_id, seq, data }: Control): void {
    const { session } = this.link
    if (session?.status !== 'ACTIVE' || session.session_id !== session_id) return
    if (!this.#source.isUp || this.#isClosing) return
    try {
      this.#drive(seq, data)
    } catch (cause) {
      if (!(cause instanceof MalformedCommand)) throw cause
      this.#report('warn', `a command was not obeyed: ${cause.message}`)
      this.#halt() // it must not extend the last motion
    }
  }

  /** @throws MalformedCommand */
  #drive(seq: number, data: unknown): void {
    if (typeof data !== 'object' || data === null || Array.isArray(data))
      throw new MalformedCommand('the data is not an object')
    this.#goals?.cancel()
    const messages = this.#outlets.flatMap((outlet) => {
      const message = outlet.messageOf(data)
      return message ? [[outlet, message] as const] : []
    })
    // A command that moves nothing ends no halt.
    if (messages.length === 0) return
    this.#resume()
    this.#isDriven = true
    let unsent = messages.length
    for (const [outlet, message] of messages)
      outlet.publish(message, () => {
        unsent -= 1
        if (unsent === 0) this.link.ack(seq)
      })
  }

  #pursue(goal: RobotGoal): void {
    // The last speeds must not go on beside the goal, nor a command that waits.
    const measured = this.#motion.jointPositions(performance.now())
    for (const outlet of this.#outlets) outlet.halt(measured)
    if (this.#isClosing || !this.#goals?.begin(goal)) return this.#halt()
    this.#resume()
    this.#isDriven = true
  }

  #goalCanceled(reason: GoalCancelReason): void {
    this.#goals?.end({ status: 'canceled' })
    // Planners give up a goal for a newer one, and a cancellation could still reach them after it.
    if (reason === 'replaced') return
    if (reason === 'control') this.#goals?.cancel()
    else this.#halt()
  }

  #resume(): void {
    clearInterval(this.#halting)
    this.#unanswered = undefined
  }

  /** Publishes what halts the robot: now, then repeatedly for a second, and speeds of zero for the duration of a latched stop. */
  #halt(): void {
    clearInterval(this.#halting)
    const measured = this.#motion.jointPositions(performance.now())
    let count = 0
    const publish = () => {
      count += 1
      const isLatched = this.link.stop?.latched === true
      const isOwed = this.#unanswered?.isSent === false
      if (count > HALTS && !isLatched && !isOwed) return clearInterval(this.#halting)
      const isCancelled = this.#goals?.cancel() ?? true
      const outlets =
        count > HALTS && !isOwed ? this.#outlets.filter(({ isPosition }) => !isPosition) : this.#outlets
      // All must be tried, whatever the first one does.
      const sent = outlets.map((outlet) => outlet.halt(measured))
      if (this.#source.isUp && isCancelled) this.#halted(sent, count)
    }
    this.#halting = setInterval(publish, HALT_EVERY_MS)
    publish()
  }

  #halted(sent: readonly boolean[], count: number): void {
    const isSent = sent.every(Boolean)
    if (isSent && count >= HALTS) this.#isDriven = false
    const unanswered = this.#unanswered
    if (!unanswered || unanswered.isSent) return
    // Where measurements tell whether the robot has halted, one of its controllers may be absent.
    unanswered.isSent = isSent || (this.#motion.isPossible && sent.includes(true))
    this.#motion.restart()
    if (!this.#motion.isPossible && unanswered.isSent) this.#answer()
  }

  #measured(
    topic: string,
    type: 'nav_msgs/Odometry' | 'sensor_msgs/JointState',
    message: unknown,
    nowMs: number,
  ) {
    this.#motion.read(topic, type, message, nowMs)
    if (this.#unanswered?.isSent && this.#source.isUp && this.#motion.hasHalted(nowMs)) this.#answer()
  }

  #answer(): void {
    if (this.#unanswered && this.link.stopped(this.#unanswered.reason)) this.#unanswered = undefined
  }

  #sendTelemetry(): void {
    if (!this.link.session || this.#isRosDown) return
    const nowMs = performance.now()
    const sample = this.#sampler.take(nowMs)
    if (!sample) return
    const standing = this.#motion.standing(nowMs)
    this.link.telemetry({ ...sample, ...(standing !== undefined && { standing }) }, nowMs)
  }

  /** Adds a line to the robot's log, and to the agent's own output. @returns false if the platform did not get it */
  #log(level: RobotLogLevel, text: string): boolean {
    const line = text.slice(0, LOG_MESSAGE_MAX)
    const second = Math.floor(performance.now() / 1_000)
    if (second !== this.#logSecond) {
      const dropped = this.#logCount - MAX_LOG_LINES_PER_SECOND
      if (dropped > 0) this.link.log('warn', `${dropped} log lines dropped`)
      this.#logSecond = second
      this.#logCount = 0
    }
    this.#logCount += 1
    if (this.#logCount > MAX_LOG_LINES_PER_SECOND) return false
    this.#options.onLine(level, line)
    return this.link.log(level, line)
  }

  /** Logs a problem, which may occur with each message, once in ten seconds. */
  #report(level: RobotLogLevel, text: string): void {
    const nowMs = performance.now()
    const problem = text.slice(0, LOG_MESSAGE_MAX)
    const reportedMs = this.#problems.get(problem)
    if (reportedMs !== undefined && nowMs - reportedMs < REPEAT_PROBLEM_MS) return
    this.#problems.delete(problem)
    this.#problems.set(problem, nowMs)
    const [oldest] = this.#problems.keys()
    if (this.#problems.size > MAX_PROBLEMS && oldest !== undefined) this.#problems.delete(oldest)
    this.#log(level, problem)
  }
}

function publicationsOf({ control, goal }: RobotConfig): { topic: string; type: string }[] {
  return [
    ...control.map(({ topic, type }) => ({ topic, type })),
    ...(goal ? [{ topic: goal.topic, type: 'geometry_msgs/PoseStamped' }] : []),
    ...(goal?.cancel_topic ? [{ topic: goal.cancel_topic, type: 'actionlib_msgs/GoalID' }] : []),
  ]
}

/** Loads the code of a source, and returns what connects it. */
export async function loadSource(type: SourceType): Promise<(options: SourceOptions) => RosSource> {
  if (type === 'ros1') {
    const { Ros1Source } = await import('./ros1.ts')
    return (options) => new Ros1Source(options)
  }
  if (type === 'foxglove') {
    const { FoxgloveSource } = await import('./foxglove.ts')
    return (options) => new FoxgloveSource(options)
  }
  const { RosbridgeSource } = await import('./rosbridge.ts')
  return (options) => new RosbridgeSource(options)
}
