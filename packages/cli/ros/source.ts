/** A topic that a robot offers. */
export interface RosTopic {
  readonly name: string
  /** Type as ROS 1 writes it, such as `nav_msgs/Odometry`. */
  readonly type: string
}

/** A topic from which a source takes messages. */
export interface Subscription {
  readonly topic: string
  readonly type: string
  /** Most messages a second, or infinity; the source drops the others before it decodes them. */
  readonly rateHz: number
}

/** A connection to ROS. It reconnects by itself until it is closed, and keeps its topics over reconnects. */
export interface RosSource {
  /** Whether messages can be published. */
  readonly isUp: boolean
  /**
   * Sends a message of one of the publications at once, or not at all.
   * @returns false if nothing was sent: ROS is not connected, does not read, or nobody subscribes (where the source knows)
   */
  publish(topic: string, message: RosMessage): boolean
  /** Calls a service without waiting for its answer. @returns false if the source cannot call it */
  call(service: string, type: string, request: RosMessage): boolean
  /** Returns all topics of the robot. @throws Error when ROS does not answer */
  topics(): Promise<readonly RosTopic[]>
  /** Returns the robot's URDF, if the source can read it. */
  robotDescription(): Promise<string | undefined>
  /** Sends what is written, then disconnects. */
  close(): Promise<void>
}

/** A message to publish. Missing fields are zero. */
export type RosMessage = Readonly<Record<string, unknown>>

/** What a source is connected to, and what it reports. */
export interface SourceOptions {
  readonly url: string
  /** The name or address by which other nodes of ROS 1 reach this machine. Default: found by the way to the master. */
  readonly ownHost?: string | undefined
  readonly subscriptions: readonly Subscription[]
  readonly publications: readonly { readonly topic: string; readonly type: string }[]
  /** Called after every connect, when messages can be published. */
  readonly onUp: () => void
  /** Called when ROS cannot be reached (any more), once until it is up again. */
  readonly onDown: (reason: string) => void
  /** Called for each message that the rate admits. Its content is not checked. */
  readonly onMessage: (topic: string, message: unknown) => void
  /** Called for problems that are not outages: a message that cannot be read, a refused topic. */
  readonly onProblem: (problem: string) => void
}

/** A larger message is not read: a raw picture of 2560 × 1440 has 11 MiB. */
export const MAX_ROS_MESSAGE_BYTES = 16 * 1024 * 1024
/** Above this many unsent bytes ROS does not read. Commands that wait must not reach the robot later. */
export const MAX_UNSENT_ROS_BYTES = 64 * 1024

/** Returns a type as ROS 1 writes it: ROS 2 writes `nav_msgs/msg/Odometry`. */
export const plainType = (type: string): string => type.replace(/\/(?:msg|srv)\//, '/')

/** Returns a type as ROS 2 writes it. */
export const ros2Type = (type: string, kind: 'msg' | 'srv' = 'msg'): string =>
  plainType(type).replace('/', `/${kind}/`)

/** Admits a number of events a second. Forgives one early event, because senders jitter. */
export class RateLimit {
  readonly #intervalMs: number
  #nextMs = Number.NEGATIVE_INFINITY

  constructor(rateHz: number) {
    this.#intervalMs = 1_000 / rateHz
  }

  /** Returns how long the next event must wait, in milliseconds; 0 if it is admitted. */
  waitMs(nowMs: number): number {
    const waitMs = this.#nextMs - this.#intervalMs - nowMs
    if (waitMs > 0) return waitMs
    this.#nextMs = Math.max(this.#nextMs, nowMs) + this.#intervalMs
    return 0
  }

  admits(nowMs: number): boolean {
    return this.waitMs(nowMs) === 0
  }
}
