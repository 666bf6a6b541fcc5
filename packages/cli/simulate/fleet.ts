import { setTimeout as delay } from 'node:timers/promises'
import { type LinkEnd, SimulatedRobot } from '@wheelhouse/sdk'
import type { RobotCredentials } from './robot-credentials.ts'

/** State of one robot. */
export interface FleetMember {
  readonly id: string
  readonly name: string
  readonly robot: SimulatedRobot
  readonly link: 'waiting' | 'connecting' | 'online' | 'offline' | 'closed'
  /** Why the link went offline or closed. */
  readonly reason: string
  /** The open session of the robot. */
  readonly session: { readonly id: string; readonly status: string } | null
}

export type FleetMemberStatus = Pick<FleetMember, 'id' | 'name' | 'link' | 'reason' | 'session'>

/** Delay between two connects, which avoids a burst of connections. */
const STAGGER_MS = 50
/** Refusals of an invalid token, at the upgrade and later. */
const REFUSED_STATUS = 401
const REFUSED_CODE = 4401
/** Interval at which the fleet reads the sessions: SimulatedRobot has no callback for them. */
const POLL_INTERVAL_MS = 200

/** Runs simulated robots, which connect one after the other, until `close`. */
export class Fleet {
  readonly #members: FleetMember[]
  readonly #onChange: (member: FleetMemberStatus) => void
  readonly #ended = Promise.withResolvers<void>()
  readonly #closing = new AbortController()
  readonly #timer: NodeJS.Timeout

  constructor(robots: readonly RobotCredentials[], onChange: (member: FleetMemberStatus) => void) {
    this.#onChange = onChange
    this.#members = robots.map((credentials, index) => this.#member(credentials, index))
    this.#timer = setInterval(() => this.#pollSessions(), POLL_INTERVAL_MS)
  }

  get members(): readonly FleetMember[] {
    return this.#members
  }

  /** Connects all robots. Resolves when all links have closed, at the latest after `close`. */
  async run(): Promise<void> {
    for (const { robot } of this.#members) {
      if (this.#closing.signal.aborted) break
      robot.start().catch(() => {}) // reported through onClosed
      await delay(STAGGER_MS, undefined, { signal: this.#closing.signal }).catch(() => {})
    }
    await this.#ended.promise
  }

  /** Closes all robots. */
  async close(): Promise<void> {
    this.#closing.abort()
    clearInterval(this.#timer)
    await Promise.all(this.#members.map(({ robot }) => robot.close()))
    this.#ended.resolve()
  }

  #member({ id, name, controlUrl, token, forget }: RobotCredentials, index: number): FleetMember {
    const robot = new SimulatedRobot({
      url: controlUrl,
      token,
      onConnection: (link, code) =>
        this.#change(index, { link, reason: code === undefined ? '' : `close code ${code}` }),
      onClosed: (end) => {
        if (end.httpStatus === REFUSED_STATUS || end.closeCode === REFUSED_CODE) forget?.().catch(() => {})
        this.#onClosed(index, end)
      },
    })
    return { id, name, robot, link: 'waiting', reason: '', session: null }
  }

  #onClosed(index: number, { reason }: LinkEnd): void {
    this.#change(index, { link: 'closed', reason, session: null })
    if (this.#members.every(({ link }) => link === 'closed')) this.#ended.resolve()
  }

  #pollSessions(): void {
    this.#members.forEach(({ robot, session: before }, index) => {
      const now = robot.link.session
      const session = now ? { id: now.session_id, status: now.status } : null
      if (session?.id !== before?.id || session?.status !== before?.status) this.#change(index, { session })
    })
  }

  #change(index: number, part: Partial<FleetMember>): void {
    const before = this.#members[index]
    if (!before || before.link === 'closed') return
    const member = { ...before, ...part }
    this.#members[index] = member
    const { id, name, link, reason, session } = member
    this.#onChange({ id, name, link, reason, session })
  }
}
