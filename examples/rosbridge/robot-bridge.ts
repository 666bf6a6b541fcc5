import type { Control } from '@wheelhouse/protocol'
import { type BackoffOptions, RobotLink, type RobotLinkEnd, type StopInForce } from '@wheelhouse/sdk'
import { poseOfOdometry, readDriveData, twistOfDrive, zeroVelocity } from './messages.ts'
import { RosConnection } from './ros-connection.ts'

const BRAKE_EVERY_MS = 100
/** Number of repetitions of an unlatched stop. Afterwards, other publishers may drive the robot. */
const BRAKES = 10
/** Reasons of the stops that the link itself causes. */
const LINK_STOPS: ReadonlySet<string> = new Set(['watchdog', 'link_lost'])
/** Below these speeds, the robot counts as halted. */
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
  /** Telemetry samples per second. Default 10. */
  readonly telemetryHz?: number
  readonly reconnect?: BackoffOptions
  readonly log?: (line: string) => void
  /** Called when the platform refuses this robot: wrong token, removed, or replaced. */
  readonly onClosed?: (end: RobotLinkEnd) => void
}

/**
 * Connects a robot that runs rosbridge_server to Wheelhouse. The robot is online only while its rosbridge is connected,
 * so that operators do not start sessions on a robot that they cannot drive.
 */
export class RobotBridge {
  readonly #options: RobotBridgeOptions
  readonly #ros: RosConnection
  readonly #cmdVel: string
  readonly #odometry: string
  readonly #log: (line: string) => void
  #link: RobotLink | null = null
  #braking: NodeJS.Timeout | undefined
  /** Reason of the stop that the bridge has not answered with `stopped`. */
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
    this.#log('rosbridge is disconnected: the robot is offline now')
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
      // The link drops late control frames, and stops the robot when control frames stop arriving.
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
    link.connect().catch(() => {}) // reported through onClosed
    return link
  }

  #stop({ reason, latched }: StopInForce): void {
    this.#halt()
    // The gateway expects no answer to the link's own stops.
    if (latched || !LINK_STOPS.has(reason)) this.#unanswered = reason
  }

  #drive(link: RobotLink, { session_id, seq, data }: Control): void {
    if (link.session?.status !== 'ACTIVE' || link.session.session_id !== session_id) return
    const drive = readDriveData(data)
    if (!drive) return this.#halt() // a malformed command must not extend the last motion
    clearInterval(this.#braking)
    this.#unanswered = null
    if (this.#publish(drive)) link.ack(seq)
  }

  #publish(drive: { linear_mps: number; angular_radps: number }): boolean {
    return this.#ros.send({ op: 'publish', topic: this.#cmdVel, msg: twistOfDrive(drive) })
  }

  /** Publishes zeros: now, then repeatedly for a second or for the duration of a latched stop. */
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
    const halted = Math.abs(linear_mps) < HALTED_MPS && Math.abs(angular_radps) < HALTED_RADPS
    this.#link?.telemetry({ ...sample, standing: halted })
    // Answers a stop only when the odometry reports that the robot has halted. The gateway repeats a latched stop.
    if (!halted || this.#unanswered === null) return
    if (this.#link?.stopped(this.#unanswered)) this.#unanswered = null
  }
}
