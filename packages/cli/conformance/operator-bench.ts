import { randomUUID } from 'node:crypto'
import {
  type ControlHolder,
  type DriveState,
  type DriveStop,
  OperatorFrame,
  operatorFrameTypes,
} from '@wheelhouse/protocol'
import { FrameLog, type ReceivedFrame } from './frame-log.ts'
import { type Connection, Hub, newCredential, type Refusal, type RestRequest, refuse } from './hub.ts'
import type { Launcher, Running } from './program-under-test.ts'
import { Broken, NotTested } from './rule.ts'

/** What the caller knows about the operator program. */
export interface OperatorSettings {
  readonly launcher: Launcher
  /** The signal on which it stops the robot. */
  readonly stopSignal?: NodeJS.Signals | undefined
  /** The data of the telemetry that it gets. Default: that of a robot that stands. */
  readonly telemetry?: unknown
  /** How long it may take to connect, and to send its first command. */
  readonly connectLimitMs: number
  readonly signal: AbortSignal
}

/** The deadman of a platform, unless its administrator has set another one. */
export const DEADMAN_MS = 250
const TELEMETRY_MS = 100
const LATENCY_MS = 1_000
const LONGEST_RECONNECT_MS = 10_000
const ROBOT_ID = '0b0e7a5e-2f0e-4d51-8a9b-0d6a3c1f2e10'
const STANDING = {
  pose: { x_m: 0, y_m: 0, heading_rad: 0 },
  velocity: { linear_mps: 0, angular_radps: 0 },
  standing: true,
}
const TICKET_LIFETIME_MS = 60_000

/** An operator program under test, and the platform that plays the situations to it. */
export class OperatorBench {
  readonly hub: Hub
  readonly settings: OperatorSettings
  /** When tickets were requested. */
  readonly ticketRequests: number[] = []
  /** When a ticket was used a second time, or one that does not exist. */
  readonly wrongTickets: number[] = []
  /** When the stop was requested over the REST API. */
  readonly restStops: number[] = []
  /** Refuses tickets while it is set. */
  ticketRefusal: number | undefined
  /** How long after a connection the first state is sent. */
  stateDelayMs = 0
  /** Whether the platform handles stops. */
  handlesStops = true
  /** Whether the program controls the robot. */
  #holds = true
  #epoch = 1
  readonly #sessionId = randomUUID()
  readonly #apiKey = newCredential()
  readonly #tickets = new Set<string>()
  readonly #timer: NodeJS.Timeout
  #running: Running | undefined
  #state: DriveState = { type: 'state', status: 'ACTIVE', robot_connected: true, stop: null }
  #ready = new WeakSet<Connection>()

  private constructor(hub: Hub, settings: OperatorSettings) {
    this.hub = hub
    this.settings = settings
    let beats = 0
    this.#timer = setInterval(() => {
      const link = this.hub.connections.at(-1)
      if (!link || link.closed || !this.#ready.has(link)) return
      this.hub.send(link, { type: 'telemetry', data: settings.telemetry ?? STANDING })
      if (beats++ % (LATENCY_MS / TELEMETRY_MS) === 0)
        this.hub.send(link, { type: 'latency', operator_ms: 1, robot_ms: 1 })
    }, TELEMETRY_MS)
  }

  static async start(settings: OperatorSettings): Promise<OperatorBench> {
    const hub: Hub = await Hub.start(
      {
        admit: (path, credential) => bench.#admit(path, credential),
        onOpen: (connection) => bench.#open(connection),
        onFrame: (connection, frame) => bench.#receive(connection, frame),
        respond: (request) => bench.#respond(request),
        newLog: (defects) => new FrameLog(defects, OperatorFrame, operatorFrameTypes),
      },
      settings.signal,
    )
    const bench = new OperatorBench(hub, settings)
    return bench
  }

  /** Ends the program and the platform. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running?.end()
    await this.hub.close()
  }

  /** The newest connection. @throws Broken if it has ended */
  get link(): Connection {
    const link = this.hub.connections.at(-1)
    if (link === undefined || link.closed)
      throw new Broken(this.#whyLost('the program closed the connection'))
    return link
  }

  get hasEnded(): boolean {
    return this.#running?.ended !== undefined
  }

  /** When the program tried to connect: requests of tickets, and upgrades. */
  get attempts(): number {
    return this.ticketRequests.length + this.hub.attempts.length
  }

  /** Brings the program into the usual situation: it drives. @throws Broken if it does not connect, NotTested if it does not drive */
  async begin(): Promise<void> {
    const link = this.hub.connections.at(-1)
    if (link === undefined || link.closed) return await this.restart()
    this.change({ status: 'ACTIVE', stop: null })
    if (!(await this.drives(performance.now(), 3_000))) await this.restart()
  }

  /** Starts the program again. @throws as `begin` */
  async restart(): Promise<void> {
    await this.restartOnly()
    await this.connected(1)
    if (!(await this.drives(0, this.settings.connectLimitMs)))
      throw new NotTested('it sends no commands with motion: let it drive as soon as it is started')
  }

  /** Starts the program again, and does not wait for it. */
  async restartOnly(refusal?: Refusal): Promise<void> {
    await this.#running?.end()
    this.hub.reset()
    this.hub.refusal = refusal
    this.ticketRefusal = undefined
    this.stateDelayMs = 0
    this.handlesStops = this.#holds = true
    this.#epoch = 1
    this.ticketRequests.length = this.restStops.length = 0
    this.#state = { ...this.#state, status: 'ACTIVE', stop: null }
    const variables = {
      SESSION_ID: this.#sessionId,
      WHEELHOUSE_URL: this.hub.origin,
      WHEELHOUSE_API_KEY: this.#apiKey,
    }
    this.#running = await this.settings.launcher.start(variables, () => this.hub.changed())
  }

  /** Waits until the program has made this many connections. @throws Broken if it does not */
  async connected(count: number, limitMs = this.settings.connectLimitMs): Promise<Connection> {
    const has = () => this.hub.connections.length >= count
    await this.hub.until(() => has() || this.hasEnded, limitMs)
    if (has()) return this.link
    throw new Broken(this.#whyLost(`the program did not connect within ${limitMs / 1_000} s`))
  }

  reconnected(count: number): Promise<Connection> {
    return this.connected(count, LONGEST_RECONNECT_MS + this.settings.connectLimitMs)
  }

  /** Returns the commands since a time. */
  commands(sinceMs: number): ReceivedFrame[] {
    return this.link.log.of('control', sinceMs)
  }

  /** Waits for commands with motion. @returns whether one came */
  async drives(sinceMs: number, limitMs: number): Promise<boolean> {
    const { log } = this.link
    return (await this.hub.until(() => log.of('control', sinceMs).some(hasMotion), limitMs)) ?? false
  }

  /** Changes the state of the session, and tells the program. */
  change(state: { status?: DriveState['status']; stop?: DriveStop | null }): void {
    this.#state = { ...this.#state, ...state }
    const link = this.hub.connections.at(-1)
    if (link && this.#ready.has(link)) this.hub.send(link, this.#state)
  }

  /** Gives control of the robot to the program, or to somebody else. */
  transfer(holds: boolean): void {
    this.#holds = holds
    const holder: ControlHolder = {
      participant_id: randomUUID(),
      kind: holds ? 'operator' : 'supervisor',
      user_id: randomUUID(),
      name: holds ? 'You' : 'Conformance',
      since: new Date().toISOString(),
    }
    this.send({ type: 'lease', epoch: ++this.#epoch, holder, you: holds })
  }

  send(frame: Record<string, unknown> | string | Uint8Array): void {
    this.hub.send(this.link, frame)
  }

  /** Sends the signal on which the program stops the robot. @throws NotTested without one */
  requestStop(): void {
    const { stopSignal } = this.settings
    if (stopSignal === undefined || !this.#running?.signal)
      throw new NotTested('--stop-signal names no signal on which the program stops the robot')
    this.#running.signal(stopSignal)
  }

  #whyLost(what: string): string {
    const { ended, output = '' } = this.#running ?? {}
    const last = output.trim().split('\n').slice(-3).join(' | ')
    return `${ended ?? what}${last && `; it printed: ${last}`}`
  }

  #admit(path: string, ticket: string): Refusal | undefined {
    if (!this.#tickets.delete(ticket)) {
      this.wrongTickets.push(performance.now())
      return { status: 401 }
    }
    return path === `/sessions/${this.#sessionId}/control` ? undefined : { status: 403 }
  }

  #open(link: Connection): void {
    const begin = () => {
      this.#ready.add(link)
      this.hub.send(link, this.#state)
    }
    if (this.stateDelayMs > 0) setTimeout(begin, this.stateDelayMs)
    else begin()
  }

  #receive(link: Connection, { type, fields }: ReceivedFrame): void {
    if (type === 'ping') this.hub.send(link, { type: 'pong', t: fields.t, server_t: Date.now() })
    else if (type === 'stop' && this.handlesStops) this.#stop(String(fields.reason ?? 'emergency_stop'))
    else if (type === 'control' && this.#ready.has(link)) {
      const { status, stop } = this.#state
      const passes = status === 'ACTIVE' ? undefined : 'session_paused'
      const why = !this.#holds ? 'not_holder' : stop?.latched ? 'stopped' : passes
      this.hub.send(link, why ? { type: 'dropped', seq: fields.seq, why } : { type: 'ack', seq: fields.seq })
    }
  }

  #stop(reason: string): void {
    const stop = {
      reason,
      latched: true,
      recorded: true,
      by_role: 'operator',
      clearable_by: 'anyone',
    } as const
    this.change({ status: 'PAUSED', stop })
  }

  #respond({ method, path, authorization, body }: RestRequest) {
    const session = `/api/sessions/${this.#sessionId}`
    if (authorization !== `Bearer ${this.#apiKey}`) return refuse(401, 'The API key is missing or wrong.')
    const fields: { part?: unknown; action?: unknown } = typeof body === 'object' && body !== null ? body : {}
    const record = {
      id: this.#sessionId,
      status: this.#state.status,
      robot: { id: ROBOT_ID, name: 'Conformance' },
      control: { stop: this.#state.stop },
    }
    if (method === 'GET' && path === session) return { status: 200, body: record }
    if (method === 'POST' && path === `${session}/ticket`) return this.#ticket(fields.part)
    if (method !== 'PATCH' || path !== session) return refuse(404, 'The conformance kit has no such route.')
    if (fields.action === 'emergency_stop') {
      this.restStops.push(performance.now())
      if (this.handlesStops) this.#stop('emergency_stop')
    } else if (fields.action === 'clear_stop') this.change({ stop: null })
    else if (fields.action === 'resume') this.change({ status: 'ACTIVE' })
    return { status: 200, body: { ...record, status: this.#state.status } }
  }

  #ticket(part: unknown) {
    this.ticketRequests.push(performance.now())
    if (part !== 'control') return refuse(400, 'The conformance kit tests operators: part must be control.')
    if (this.ticketRefusal !== undefined) return refuse(this.ticketRefusal, 'The robot is offline.')
    const ticket = newCredential()
    this.#tickets.add(ticket)
    const url = `${this.hub.gateway}/sessions/${this.#sessionId}/control`
    const expires_at = new Date(Date.now() + TICKET_LIFETIME_MS).toISOString()
    return { status: 201, body: { url, ticket, expires_at } }
  }
}

/** Returns whether a command has a number other than 0, and so may move the robot. */
export const hasMotion = ({ fields }: ReceivedFrame): boolean => hasNumber(fields.data, 0)

function hasNumber(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return value !== 0
  if (typeof value !== 'object' || value === null || depth > 8) return false
  return Object.values(value).some((entry) => hasNumber(entry, depth + 1))
}
