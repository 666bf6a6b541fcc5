import { randomUUID } from 'node:crypto'
import { type Control, type Goal, RobotFrame, robotFrameTypes, type Welcome } from '@wheelhouse/protocol'
import { FrameLog, type ReceivedFrame } from './frame-log.ts'
import { type Connection, Hub, newCredential, type Refusal, type RestRequest, refuse } from './hub.ts'
import { type MotionSample, readMotion, readPose } from './motion.ts'
import type { Launcher, Running } from './program-under-test.ts'
import { Broken, NotTested } from './rule.ts'

/** What the caller knows about the robot. */
export interface RobotSettings {
  readonly launcher: Launcher
  /** The data of a command that moves the robot; of several for an arm, which stands where it was sent. They take turns. */
  readonly controls: readonly unknown[]
  /** The data of a command that makes it stand. */
  readonly still: unknown
  /** The payload of a binary command that moves the robot. */
  readonly binaryControl?: Uint8Array | undefined
  /** The fields of its telemetry that say whether it moves. */
  readonly motion: readonly string[]
  /** How long it may take to halt. */
  readonly stopMs: number
  /** How long it may take to connect. */
  readonly connectLimitMs: number
  /** The control schema of an arm: JSON. */
  readonly controlSchema?: Readonly<Record<string, unknown>> | undefined
  readonly signal: AbortSignal
}

/** A sample of telemetry, and when it arrived. */
export type Sample = MotionSample & { readonly atMs: number }

/** Time between commands: six within the default deadman of the platform. */
const FRAME_MS = 40
/** Added to every limit of a time, for the schedulers of both processes and their network. */
export const SLACK_MS = 300
/** A robot sends telemetry at least this often, else its motion is unknown. */
const SAMPLE_LIMIT_MS = 3_000
/** How long a robot may need from the first command until it moves. */
const DRIVE_LIMIT_MS = 3_000
/** Commands that bring a robot up to speed. */
const UP_TO_SPEED = 6
/** Longest random delay of a reconnect; see docs/protocol.md. */
const LONGEST_RECONNECT_MS = 10_000
/** Samples of a connection that are kept; of more than that, the newest. */
const MAX_SAMPLES = 2_000
/** Lifetime of commands that are not meant to expire. */
const LIFETIME_MS = 1_000
/** Crystals of this error, which a robot must tolerate, drive the clock of the operator. */
const CLOCK_DRIFT = 0.0002
const ROBOT_ID = '0b0e7a5e-2f0e-4d51-8a9b-0d6a3c1f2e10'
const OPERATOR_NAME = 'Conformance'

type Frame = Record<string, unknown>

/** Where a goal is: metres and radians. */
type GoalPlace = Pick<Goal, 'x' | 'y' | 'heading'>

/** Changes of a command: `lateMs` is its time in transit, and `ahead` the jump of the operator's clock, in milliseconds. */
export interface CommandChanges extends Partial<Omit<Control, 'type'>> {
  readonly lateMs?: number
  readonly aheadMs?: number
}

/** A robot under test, and the gateway that plays the situations to it. */
export class RobotBench {
  readonly hub: Hub
  readonly settings: RobotSettings
  /** Whether the gateway acknowledges heartbeats. */
  acknowledges = true
  /** The session that the robot knows. */
  sessionId = randomUUID()
  /** Where the robot is, as it reported last. */
  pose: GoalPlace | undefined
  readonly #token = newCredential()
  readonly #pairingCode = '7KQ4M-XW9PD'
  readonly #samples = new WeakMap<Connection, Sample[]>()
  readonly #lateness: NodeJS.Timeout
  #latenessMs = 0
  #running: Running | undefined
  #welcome: Partial<Welcome> = {}
  /** Whether the connection has the usual welcome, so that the next rule may use it too. */
  #isUsual = false
  #hasMotion: boolean | undefined
  #seq = 0
  #turn = 0
  /** The operator's clock minus this machine's, other in every link. */
  #clockMs = 0

  private constructor(hub: Hub, settings: RobotSettings) {
    this.hub = hub
    this.settings = settings
    let dueMs = performance.now() + FRAME_MS
    this.#lateness = setInterval(() => {
      const nowMs = performance.now()
      this.#latenessMs = Math.max(this.#latenessMs, nowMs - dueMs)
      dueMs = nowMs + FRAME_MS
    }, FRAME_MS)
  }

  static async start(settings: RobotSettings): Promise<RobotBench> {
    const hub: Hub = await Hub.start(
      {
        admit: (path, credential) => bench.#admit(path, credential),
        onOpen: (connection) => bench.#open(connection),
        onFrame: (connection, frame) => bench.#receive(connection, frame),
        respond: (request) => bench.#respond(request),
        newLog: (defects) => new FrameLog(defects, RobotFrame, robotFrameTypes),
      },
      settings.signal,
    )
    const bench = new RobotBench(hub, settings)
    return bench
  }

  /** Ends the robot and the gateway. */
  async close(): Promise<void> {
    clearInterval(this.#lateness)
    await this.#running?.end()
    await this.hub.close()
  }

  /** The newest connection. @throws Broken if it has ended */
  get link(): Connection {
    const link = this.hub.connections.at(-1)
    if (link === undefined || link.closed) throw new Broken(this.#whyLost('the robot closed the connection'))
    return link
  }

  /** The deadman of the usual welcome, so long that a robot that brakes later did so for another reason. */
  get longDeadmanMs(): number {
    return 2 * this.settings.stopMs + 2_000
  }

  /** How long after its cause a robot may report that it is halted. */
  get haltLimitMs(): number {
    return this.settings.stopMs + this.sampleIntervalMs + this.slackMs
  }

  /** The tolerance of times: grows when this process itself was late. */
  get slackMs(): number {
    return SLACK_MS + this.#latenessMs
  }

  /** The time between two samples of the robot. */
  get sampleIntervalMs(): number {
    const times = this.samples().map(({ atMs }) => atMs)
    const gaps = times
      .slice(1)
      .map((atMs, index) => atMs - (times[index] ?? atMs))
      .sort((one, other) => one - other)
    return gaps[gaps.length >> 1] ?? 100
  }

  /** Whether the robot has ended, or will connect no more. */
  get hasEnded(): boolean {
    return this.#running?.ended !== undefined
  }

  /** The data of the command that moves the robot at present. */
  get control(): unknown {
    const { controls } = this.settings
    return controls[this.#turn % controls.length]
  }

  /** What the robot sends about its motion; newest last. */
  samples(sinceMs = Number.NEGATIVE_INFINITY, link = this.hub.connections.at(-1)): Sample[] {
    return (link && this.#samples.get(link))?.filter(({ atMs }) => atMs >= sinceMs) ?? []
  }

  /**
   * Brings the robot into the usual situation: connected, in a new ACTIVE session, halted. Uses the present connection if it can.
   * @throws Broken if the robot does not connect, or does not stand
   */
  async begin(): Promise<void> {
    this.#latenessMs = 0
    const link = this.hub.connections.at(-1)
    if (!this.#isUsual || link === undefined || link.closed) return await this.restart()
    this.hub.send(link, { type: 'session', ...this.session('COMPLETED') })
    this.#newSession()
    this.hub.send(link, { type: 'session', ...this.session() })
    if (await this.rests()) return
    await this.restart()
  }

  /** Starts the robot again, with other fields of the welcome. @throws Broken as `begin` */
  async restart(welcome: Partial<Welcome> = {}): Promise<void> {
    this.#latenessMs = 0
    await this.restartOnly(welcome)
    await this.connected()
    // Whether a robot reports its motion is asked once, because a robot without telemetry takes the whole time.
    if (this.#hasMotion === undefined)
      this.#hasMotion = (await this.hub.until(() => this.samples().length > 0, SAMPLE_LIMIT_MS)) ?? false
  }

  /** Starts the robot again and does not wait for its connection. A robot that a person starts is only disconnected. */
  async restartOnly(welcome: Partial<Welcome> = {}, refusal?: Refusal): Promise<void> {
    const { launcher } = this.settings
    const link = this.hub.connections.at(-1)
    this.#welcome = welcome
    this.#isUsual = Object.keys(welcome).length === 0 && refusal === undefined
    this.acknowledges = true
    this.hub.refusal = refusal
    this.hub.holdUpgradesUntilMs = 0
    this.#newSession()
    const goesOn = launcher.isManual && link !== undefined && link.closed === undefined
    if (!goesOn) await this.#running?.end()
    this.hub.reset()
    if (!goesOn) this.#running = await launcher.start(this.variables, () => this.hub.changed())
  }

  /** What the robot needs to connect. */
  get variables(): Record<string, string> {
    const url = `${this.hub.gateway}/robots/${ROBOT_ID}/control`
    return {
      CONTROL_URL: url,
      ROBOT_TOKEN: this.#token,
      WHEELHOUSE_URL: this.hub.origin,
      WHEELHOUSE_PAIRING_CODE: this.#pairingCode,
    }
  }

  /** Waits until the robot has made this many connections. @throws Broken if it does not */
  async connected(count = 1, limitMs = this.settings.connectLimitMs): Promise<Connection> {
    const has = () => this.hub.connections.length >= count
    await this.hub.until(() => has() || this.hasEnded, limitMs)
    if (has()) return this.link
    throw new Broken(this.#whyLost(`the robot did not connect within ${limitMs / 1_000} s`))
  }

  /** Waits for the next connection after the loss of one. @throws Broken if there is none */
  reconnected(count: number): Promise<Connection> {
    return this.connected(count, LONGEST_RECONNECT_MS + this.settings.connectLimitMs)
  }

  /** Returns the fields of the session. */
  session(status: 'ACTIVE' | 'PAUSED' | 'COMPLETED' = 'ACTIVE'): Frame {
    const { controlSchema } = this.settings
    return {
      session_id: this.sessionId,
      status,
      operator_name: OPERATOR_NAME,
      ...(controlSchema && { control_schema: controlSchema }),
    }
  }

  /** Sends a frame over the newest connection. */
  send(frame: Frame | string | Uint8Array): void {
    this.hub.send(this.link, frame)
  }

  /** Returns the next command of the operator; without changes one that moves the robot. */
  command({ lateMs = 0, aheadMs = 0, ...changes }: CommandChanges = {}): Control {
    this.#seq += 1
    const t = performance.now() * (1 + CLOCK_DRIFT) + this.#clockMs - lateMs + aheadMs
    const { sessionId: session_id } = this
    const data = this.control
    return { type: 'control', session_id, seq: this.#seq, t, ttl_ms: LIFETIME_MS, data, ...changes }
  }

  /** Returns a goal, which counts together with the commands. */
  goal(frame: string, place: GoalPlace, changes: CommandChanges = {}): Goal {
    const { data: _, ...stamp } = this.command(changes)
    return { ...stamp, type: 'goal', goal_id: randomUUID(), frame, ...place }
  }

  /** Begins another link of the operator: numbers from 1, and a clock that is ahead of the last one's by this. */
  newLink(aheadMs: number): void {
    this.#seq = 0
    this.#clockMs += aheadMs
  }

  /** Sends commands again and again until a check is fulfilled. @returns whether it was, within the limit */
  async sendUntil(
    next: () => Frame | Uint8Array,
    check: () => boolean,
    limitMs = DRIVE_LIMIT_MS,
  ): Promise<boolean> {
    const { link } = this
    const timer = setInterval(() => this.hub.send(link, next()), FRAME_MS)
    try {
      await this.hub.until(() => link.closed !== undefined || check(), limitMs)
    } finally {
      clearInterval(timer)
    }
    return this.link === link && check()
  }

  /** Sends a number of commands, one after the other. */
  async sendTimes(times: number, next: () => Frame): Promise<void> {
    for (let sent = 0; sent < times; sent++) {
      this.send(next())
      await this.hub.pause(FRAME_MS)
    }
  }

  /** Sends commands until the robot moves. @returns whether it does */
  async drives(
    next: () => Frame | Uint8Array = () => this.command(),
    limitMs = DRIVE_LIMIT_MS,
  ): Promise<boolean> {
    const sinceMs = performance.now()
    const { log } = this.link
    const moves = () => this.samples(sinceMs).at(-1)?.moving === true
    const obeys = () => (this.#hasMotion ? moves() : log.of('ack', sinceMs).length > 0)
    if (await this.sendUntil(next, obeys, limitMs)) return true
    if (this.settings.controls.length < 2) return false
    // An arm may stand where the command wants it.
    this.#turn += 1
    return await this.sendUntil(next, obeys, limitMs)
  }

  /** Sends commands until the robot moves, and some more, so that it gets up to speed. @throws NotTested if it does not move */
  async drive(): Promise<void> {
    if (!(await this.drives())) throw new NotTested('the robot did not move on commands')
    await this.sendTimes(UP_TO_SPEED, () => this.command())
  }

  /** Sends commands that make the robot stand. @returns whether it does */
  async rests(): Promise<boolean> {
    if (!this.#hasMotion) return true
    const sinceMs = performance.now()
    const isStanding = () => this.samples(sinceMs).at(-1)?.moving === false
    return await this.sendUntil(() => this.command({ data: this.settings.still }), isStanding)
  }

  /** @throws NotTested if the robot does not report its motion */
  needMotion(): void {
    if (!this.#hasMotion) throw new NotTested('its telemetry has none of the fields of --motion')
  }

  get hasMotion(): boolean {
    return this.#hasMotion === true
  }

  /** Waits until the robot reports that it is halted. @returns how long after `sinceMs`; undefined if it moves on */
  async haltedAfter(sinceMs: number, limitMs: number): Promise<number | undefined> {
    const leftMs = sinceMs + limitMs - performance.now()
    // Looks longer than the limit, to say how late a robot is that is a little late.
    const sample = await this.hub.until(
      () => this.samples(sinceMs).find(({ moving }) => !moving),
      leftMs + 2 * this.slackMs,
    )
    return sample && sample.atMs - sinceMs
  }

  /** Waits for samples from now on. @returns them; fewer if the robot sends none */
  async nextSamples(count: number): Promise<Sample[]> {
    const sinceMs = performance.now()
    if (!this.#hasMotion) return []
    await this.hub.until(() => this.samples(sinceMs).length >= count, SAMPLE_LIMIT_MS)
    return this.samples(sinceMs)
  }

  /**
   * Returns how a robot has shown that it obeyed commands that it must not obey; undefined if it has not.
   * @param afterwards whether it may obey commands now: one that it acknowledges proves that it has read all earlier ones
   */
  async obeyed(seqs: readonly number[], sinceMs: number, afterwards: boolean): Promise<string | undefined> {
    const samples = await this.nextSamples(3)
    if (afterwards) {
      const barrierMs = performance.now()
      const { log } = this.link
      await this.sendUntil(
        () => this.command({ data: this.settings.still }),
        () => log.of('ack', barrierMs).some(({ fields }) => !seqs.includes(Number(fields.seq))),
      )
    }
    if (samples.some(({ moving }) => moving)) return 'it moved'
    const acknowledged = this.link.log
      .of('ack', sinceMs)
      .find(({ fields }) => seqs.includes(Number(fields.seq)))
    return acknowledged && `it acknowledged command ${acknowledged.fields.seq}`
  }

  /** Sends commands that the robot must not obey. @returns how it has obeyed one; undefined if it has not */
  async refuses(
    next: () => Frame,
    { times = 8, afterwards = true, atOnce = false } = {},
  ): Promise<string | undefined> {
    const sinceMs = performance.now()
    const seqs: number[] = []
    const forbidden = () => {
      const frame = next()
      seqs.push(Number(frame.seq))
      return frame
    }
    if (atOnce) for (let sent = 0; sent < times; sent++) this.send(forbidden())
    else await this.sendTimes(times, forbidden)
    return await this.obeyed(seqs, sinceMs, afterwards)
  }

  /** Waits for the answer to a stop. @returns when it arrived */
  async stoppedAfter(sinceMs: number, limitMs: number): Promise<ReceivedFrame | undefined> {
    const { log } = this.link
    return await this.hub.until(() => log.of('stopped', sinceMs)[0], limitMs)
  }

  #newSession(): void {
    this.sessionId = randomUUID()
    this.#turn += 1
    this.#seq = 0
    this.#clockMs = (Math.random() - 0.5) * 7_200_000
  }

  #whyLost(what: string): string {
    const { ended, output = '' } = this.#running ?? {}
    const last = output.trim().split('\n').slice(-3).join(' | ')
    return `${ended ?? what}${last && `; it printed: ${last}`}`
  }

  #admit(path: string, credential: string): Refusal | undefined {
    if (credential !== this.#token) return { status: 401 }
    return path === `/robots/${ROBOT_ID}/control` ? undefined : { status: 404 }
  }

  #open(link: Connection): void {
    this.#samples.set(link, [])
    this.hub.send(link, {
      type: 'welcome',
      robot_id: ROBOT_ID,
      epoch: this.hub.connections.length,
      heartbeat_interval_ms: 300,
      heartbeat_timeout_ms: 30_000,
      deadman_ms: this.longDeadmanMs,
      whip_url: `${this.hub.origin}/whip/${ROBOT_ID}`,
      session: this.session(),
      stop: null,
      ...this.#welcome,
    })
  }

  #receive(link: Connection, { type, fields, atMs }: ReceivedFrame): void {
    if (type === 'heartbeat' && this.acknowledges)
      this.hub.send(link, { type: 'heartbeat_ack', seq: fields.seq ?? null, t: Date.now() })
    if (type === 'channel_offer')
      this.hub.send(link, { type: 'channel_refused', message: 'this gateway has no data channels' })
    const motion = type === 'telemetry' ? readMotion(fields.data, this.settings.motion) : undefined
    if (type === 'telemetry') this.pose = readPose(fields.data) ?? this.pose
    const samples = this.#samples.get(link)
    if (motion === undefined || samples === undefined) return
    samples.push({ ...motion, atMs })
    if (samples.length > MAX_SAMPLES) samples.splice(0, MAX_SAMPLES / 4)
  }

  #respond({ method, path, body }: RestRequest) {
    if (method === 'OPTIONS') return { status: 204, body: null }
    if (path.startsWith('/whip/')) return refuse(503, 'The conformance kit takes no video.')
    if (method !== 'POST' || path !== '/api/pairing')
      return refuse(404, 'The conformance kit has no such route.')
    const code = typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined
    if (code !== this.#pairingCode) return refuse(404, 'The pairing code is unknown.')
    const { CONTROL_URL: control_url, ROBOT_TOKEN: robot_token } = this.variables
    return {
      status: 200,
      body: { robot_id: ROBOT_ID, name: OPERATOR_NAME, control_url, robot_token },
    }
  }
}
