import { setTimeout as delay } from 'node:timers/promises'
import { type LinkEnd, SimulatedRobot } from '@wheelhouse/sdk'
import type { RobotCredentials } from './robot-credentials.ts'

/** How one robot stands. */
export interface FleetMember {
  readonly id: string
  readonly name: string
  readonly robot: SimulatedRobot
  readonly link: 'waiting' | 'connecting' | 'online' | 'offline' | 'closed'
  /** Why it went offline or ended. */
  readonly reason: string
  /** The session it is in. */
  readonly session: { readonly id: string; readonly status: string } | null
}

export type FleetMemberStatus = Pick<FleetMember, 'id' | 'name' | 'link' | 'reason' | 'session'>

/** All at once would be a burst that no real fleet makes. */
const STAGGER_MS = 50
/** How the gateway says that a token is no longer good: at the upgrade, and later. */
const REFUSED_STATUS = 401
const REFUSED_CODE = 4401
/** Sessions are looked at, since a robot does not announce them. */
const POLL_INTERVAL_MS = 200

/** Simulated robots that connect one after the other and stay until `close`. */
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

  /** Lets them connect; resolves when every one has ended for good, which `close` brings about. */
  async run(): Promise<void> {
    for (const { robot } of this.#members) {
      if (this.#closing.signal.aborted) break
      robot.start().catch(() => {}) // onClosed tells
      await delay(STAGGER_MS, undefined, { signal: this.#closing.signal }).catch(() => {})
    }
    await this.#ended.promise
  }

  /** Ends all of them: none is left connected, moving or standing in a session it does not know of. */
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
