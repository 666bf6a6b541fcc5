import { haltOf, messageOf } from './commands.ts'
import type { ControlEntry } from './config.ts'
import { RateLimit, type RosMessage, type RosSource } from './source.ts'

/** A message that waits for its turn, and what to do when it has been sent. */
interface Pending {
  readonly message: RosMessage
  readonly onSent: () => void
}

/** Publishes commands to one topic, at most at its rate. Of commands that must wait, the newest one is published. */
export class Outlet {
  readonly #entry: ControlEntry
  readonly #source: () => RosSource
  readonly #rate: RateLimit
  #pending: Pending | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(entry: ControlEntry, source: () => RosSource) {
    this.#entry = entry
    this.#source = source
    this.#rate = new RateLimit(entry.rate_hz)
  }

  /** Whether the topic gets positions: to repeat an old one could move an arm that somebody has moved. */
  get isPosition(): boolean {
    const { joints, mode, type } = this.#entry
    return joints !== undefined && (type === 'trajectory_msgs/JointTrajectory' || mode === 'position')
  }

  /** Returns the message of a command, if it concerns the topic. @throws MalformedCommand */
  messageOf(data: unknown): RosMessage | undefined {
    return messageOf(this.#entry, data, Date.now())
  }

  /** Publishes a message as soon as the rate allows it; `onSent` runs only if it was sent. */
  publish(message: RosMessage, onSent: () => void): void {
    this.#pending = { message, onSent }
    if (this.#timer === undefined) this.#flush()
  }

  /** Publishes what halts the robot at once, and forgets what waits. @returns false if it was not sent */
  halt(measured: ReadonlyMap<string, number>): boolean {
    this.clear()
    const message = haltOf(this.#entry, measured, Date.now())
    return message === undefined || this.#source().publish(this.#entry.topic, message)
  }

  /** Forgets the command that waits. */
  clear(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#pending = undefined
  }

  #flush(): void {
    this.#timer = undefined
    const pending = this.#pending
    if (!pending) return
    const waitMs = this.#rate.waitMs(performance.now())
    if (waitMs > 0) {
      this.#timer = setTimeout(() => this.#flush(), waitMs)
      return
    }
    this.#pending = undefined
    if (this.#source().publish(this.#entry.topic, pending.message)) pending.onSent()
  }
}
