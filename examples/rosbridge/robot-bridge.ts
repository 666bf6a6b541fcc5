import type { Control } from '@wheelhouse/protocol'
import { type BackoffOptions, RobotLink, type RobotLinkEnd, type StopInForce } from '@wheelhouse/sdk'
import { poseOfOdometry, readDriveData, twistOfDrive, zeroVelocity } from './messages.ts'
import { RosConnection } from './ros-connection.ts'

const BRAKE_EVERY_MS = 100
/** How often a stop is repeated to the motors, and an unlatched one not any more: others may want to drive. */
const BRAKES = 10
/** Reasons of the stops that the link gives by itself. */
const LINK_STOPS: ReadonlySet<string> = new Set(['watchdog', 'link_lost'])
/** Slower than this is standing. */
const HALTED_MPS = 0.01
const HALTED_RADPS = 0.02

export interface RobotBridgeOptions {
  /** `control_url` of the robot. */
  readonly url: string
  readonly token: string
  /** Address of the robot's rosbridge_server. Default: `ws://127.0.0.1:9090`. */
  readonly rosbridgeUrl?: string
  /** Default: `/cmd_vel`. */
  readonly cmdVelTopic?: string
  /** Default: `/odom`. */
  readonly odometryTopic?: string
  /** Telemetry samples a second. Default 10. */
  readonly telemetryHz?: number
  readonly reconnect?: BackoffOptions
  readonly log?: (line: string) => void
  /** The platform will not have this robot: wrong token, removed, or replaced. */
  readonly onClosed?: (end: RobotLinkEnd) => void
}

/**
 * Brings a robot that runs rosbridge_server to Wheelhouse. The robot is online here only while its rosbridge is
 * connected: a robot that cannot be driven should not be offered to anybody.
 */
export class RobotBridge {
  readonly #options: RobotBridgeOptions
  readonly #ros: RosConnection
  readonly #cmdVel: string
  readonly #odometry: string
  readonly #log: (line: string) => void
  #link: RobotLink | null = null
  #braking: NodeJS.Timeout | undefined
  /** Reason of the stop that has not been answered with `stopped`. */
  #unanswered: string | null = null

  constructor(options: RobotBridgeOptions) {
    const { rosbridgeUrl = 'ws://127.0.0.1:9090', log = () => {} } = options
    this.#options = options
    this.#cmdVel = options.cmdVelTopic ?? '/cmd_vel'
    this.#odometry = options.odometryTopic ?? '/odom'
    this.#log = log
    this.#ros = new RosConnection({
      url: rosbridgeUrl,
      ...(options.reconnect && { reconnect: options.reconnect }),
      onOpen: () => this.#rosUp(),
      onClose: () => this.#rosDown(),
      onMessage: (topic, msg) => this.#onFrame(topic, msg),
      onError: (cause) => log(cause.message),
    })
  }

  /** Brakes and ends both connections. */
  async close(): Promise<void> {
    this.#halt()
    await this.#link?.close()
    clearInterval(this.#braking)
    await this.#ros.close()
  }

  #rosUp(): void {
    this.#log('rosbridge is connected')
    const sampleMs = 1000 / (this.#options.telemetryHz ?? 10)
    this.#ros.send({ op: 'advertise', topic: this.#cmdVel, type: 'geometry_msgs/Twist' })
    this.#ros.send({
      op: 'subscribe',
      topic: this.#odometry,
      type: 'nav_msgs/Odometry',
      throttle_rate: Math.round(sampleMs),
      queue_length: 1,
    })
    this.#halt()
    this.#link = this.#connect()
  }

  #rosDown(): void {
    clearInterval(this.#braking)
    this.#unanswered = null
    const link = this.#link
    if (!link) return
    this.#link = null
    this.#log('rosbridge is gone: the robot goes offline')
    void link.close()
  }

  #connect(): RobotLink {
    const { url, token, reconnect } = this.#options
    const link = new RobotLink({
      url,
      token,
      ...(reconnect && { reconnect }),
      onSession: (session) => {
        if (session?.status !== 'ACTIVE') this.#halt()
      },
      // The link hands on no control that is late, and stops a robot by itself when control falls silent.
      onControl: (control) => this.#drive(link, control),
      onStop: (stop) => this.#stop(stop),
      onConnection: (state) => {
        this.#log(`Wheelhouse: ${state}`)
        if (state === 'offline') this.#halt()
      },
      onError: (cause) => this.#log(String(cause)),
      onClosed: (end) => {
        if (link === this.#link) this.#options.onClosed?.(end)
      },
    })
    link.connect().catch(() => {}) // onClosed tells it
    return link
  }

  #stop({ reason, latched }: StopInForce): void {
    this.#halt()
    // The link's own stops ask for no answer.
    if (latched || !LINK_STOPS.has(reason)) this.#unanswered = reason
  }

  #drive(link: RobotLink, { session_id, seq, data }: Control): void {
    if (link.session?.status !== 'ACTIVE' || link.session.session_id !== session_id) return
    const drive = readDriveData(data)
    if (!drive) return this.#halt() // what cannot be read must not keep the last motion alive
    clearInterval(this.#braking)
    this.#unanswered = null
    if (this.#publish(drive)) link.ack(seq)
  }

  #publish(drive: { linear_mps: number; angular_radps: number }): boolean {
    return this.#ros.send({ op: 'publish', topic: this.#cmdVel, msg: twistOfDrive(drive) })
  }

  /** Stands still: now, and said again, as long as a latched stop lasts or for a second. */
  #halt(): void {
    clearInterval(this.#braking)
    this.#publish(zeroVelocity)
    let left = BRAKES
    this.#braking = setInterval(() => {
      this.#publish(zeroVelocity)
      if (--left <= 0 && !this.#link?.stop?.latched) clearInterval(this.#braking)
    }, BRAKE_EVERY_MS)
  }

  #onFrame(topic: string, msg: unknown): void {
    if (topic !== this.#odometry) return
    const sample = poseOfOdometry(msg)
    if (!sample) return
    const { linear_mps, angular_radps } = sample.velocity
    const standing = Math.abs(linear_mps) < HALTED_MPS && Math.abs(angular_radps) < HALTED_RADPS
    this.#link?.telemetry({ ...sample, standing })
    // Only the wheels know whether the robot stands. Until they say so, the gateway repeats a latched stop.
    if (!standing || this.#unanswered === null) return
    if (this.#link?.stopped(this.#unanswered)) this.#unanswered = null
  }
}
