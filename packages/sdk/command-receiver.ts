import {
  BINARY_CONTROL,
  BINARY_HEADER_BYTES,
  decodeBinaryHeader,
  type RobotSession,
  type ToRobotFrame,
  type Welcome,
} from '@wheelhouse/protocol'
import { FrameAge } from './frame-age.ts'
import type { RobotLinkOptions, StopInForce } from './robot-link-options.ts'
import { safeCallback } from './safe-callback.ts'
import { Watchdog } from './watchdog.ts'

type CommandReceiverOptions = Pick<
  RobotLinkOptions,
  | 'onSession'
  | 'onControl'
  | 'onBinaryControl'
  | 'onLateControl'
  | 'onStop'
  | 'onStopCleared'
  | 'onError'
  | 'watchdogMarginMs'
  | 'lateAllowanceMs'
>

const DEFAULT_WATCHDOG_MARGIN_MS = 250
const DEFAULT_LATE_ALLOWANCE_MS = 100

/**
 * What the gateway has told a robot: its session, the stop in force, and the control frames that may pass. Stops by
 * itself when control falls silent or the link is lost.
 */
export class CommandReceiver {
  readonly #options: CommandReceiverOptions
  readonly #age = new FrameAge()
  readonly #watchdog = new Watchdog(() => this.#stopNow({ reason: 'watchdog', latched: false }))
  #deadmanMs = 0
  #lastSeq = -1
  #session: RobotSession | null = null
  #stop: StopInForce | null = null

  constructor(options: CommandReceiverOptions) {
    this.#options = options
  }

  /** The open session as last heard; null if there is none. */
  get session(): RobotSession | null {
    return this.#session
  }

  /** The stop in force, as last heard or by the robot itself. */
  get stop(): StopInForce | null {
    return this.#stop
  }

  /** Takes over session and stop of a new connection. */
  welcome({ session, stop, deadman_ms }: Welcome): void {
    const wasLatched = this.#stop?.latched === true
    this.#deadmanMs = deadman_ms
    this.#watchdog.limit(deadman_ms + (this.#options.watchdogMarginMs ?? DEFAULT_WATCHDOG_MARGIN_MS))
    this.#age.forget()
    this.#changeSession(session)
    if (stop) this.#stopNow(stop)
    // Cleared while this robot was away.
    else if (wasLatched) this.#clearStop()
    else this.#stop = null
  }

  /** Acts on any frame after the welcome. */
  frame(frame: ToRobotFrame): void {
    if (frame.type === 'session') this.#changeSession(frame)
    else if (frame.type === 'stop') this.#stopNow(frame)
    else if (frame.type === 'stop_cleared') this.#clearStop()
    else if (frame.type === 'control' && this.#mayPass(frame.seq, frame.t, frame.ttl_ms))
      this.#runCallback(() => this.#options.onControl?.(frame))
  }

  /** Acts on a binary frame after the welcome. @throws Error for one that is not well-formed */
  binary(frame: Uint8Array): void {
    const header = decodeBinaryHeader(frame)
    if (header === undefined || !Number.isFinite(header.t)) throw new Error('malformed binary frame')
    // Newer gateways may send kinds that this robot does not know.
    if (header.kind !== BINARY_CONTROL || !this.#mayPass(header.seq, header.t, header.ttlMs)) return
    const payload = frame.subarray(BINARY_HEADER_BYTES)
    this.#runCallback(() => this.#options.onBinaryControl?.(payload, header))
  }

  /** The connection is gone, and with it whoever could stop a robot that moves. */
  linkLost(): void {
    if (this.#watchdog.moving) this.#stopNow({ reason: 'link_lost', latched: false })
  }

  /** Whether a control frame is to be obeyed; the watchdog then waits for the next one. */
  #mayPass(seq: number, t: number, ttlMs: number): boolean {
    // Numbers only rise on one operator's connection: these are another's, with another clock.
    if (seq <= this.#lastSeq) this.#age.forget()
    this.#lastSeq = seq
    const allowanceMs = this.#options.lateAllowanceMs ?? DEFAULT_LATE_ALLOWANCE_MS
    const lateMs = this.#age.lateMs(t, (ttlMs || this.#deadmanMs) + allowanceMs, performance.now())
    // The gateway relays nothing under a latched stop. Should it ever, the stop wins.
    if (this.#stop?.latched) return false
    if (lateMs !== null) {
      this.#runCallback(() => this.#options.onLateControl?.(seq, lateMs))
      return false
    }
    this.#stop = null
    this.#watchdog.feed()
    return true
  }

  #changeSession(session: RobotSession | null): void {
    const open = session?.status === 'ACTIVE' || session?.status === 'PAUSED'
    // Another session has another operator, whose clock is another.
    if (open && session.session_id !== this.#session?.session_id) this.#age.forget()
    this.#session = open ? session : null
    this.#runCallback(() => this.#options.onSession?.(session))
  }

  #stopNow({ reason, latched }: StopInForce): void {
    this.#watchdog.disarm()
    // A deadman's stop on top of a latched one does not loosen it.
    const stop = { reason, latched: latched || this.#stop?.latched === true }
    this.#stop = stop
    this.#runCallback(() => this.#options.onStop?.(stop))
  }

  #clearStop(): void {
    this.#stop = null
    this.#runCallback(() => this.#options.onStopCleared?.())
  }

  #runCallback(run: () => void): void {
    safeCallback(this.#options.onError, run)
  }
}
