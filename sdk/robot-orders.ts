import type { RobotSession, ToRobotFrame, Welcome } from '@wheelhouse/protocol'
import type { RobotLinkOptions, StopInForce } from './robot-link-options.ts'
import { shielded } from './shielded.ts'

type OrderCallbacks = Pick<
  RobotLinkOptions,
  'onSession' | 'onControl' | 'onStop' | 'onStopCleared' | 'onError'
>

/** What the gateway has told a robot: its session, the stop in force, and the control frames that may pass. */
export class RobotOrders {
  readonly #callbacks: OrderCallbacks
  #session: RobotSession | null = null
  #stop: StopInForce | null = null

  constructor(callbacks: OrderCallbacks) {
    this.#callbacks = callbacks
  }

  /** The open session as last heard; null if there is none. */
  get session(): RobotSession | null {
    return this.#session
  }

  /** The stop in force as last heard. */
  get stop(): StopInForce | null {
    return this.#stop
  }

  /** Takes over session and stop of a new connection. */
  welcome({ session, stop }: Welcome): void {
    const wasLatched = this.#stop?.latched === true
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
    else if (frame.type === 'control') {
      // The gateway relays nothing under a latched stop. Should it ever, the stop wins.
      if (this.#stop?.latched) return
      this.#stop = null
      this.#tell(() => this.#callbacks.onControl?.(frame))
    }
  }

  #changeSession(session: RobotSession | null): void {
    const open = session?.status === 'ACTIVE' || session?.status === 'PAUSED'
    this.#session = open ? session : null
    this.#tell(() => this.#callbacks.onSession?.(session))
  }

  #stopNow({ reason, latched }: StopInForce): void {
    // A deadman's stop on top of a latched one does not loosen it.
    const stop = { reason, latched: latched || this.#stop?.latched === true }
    this.#stop = stop
    this.#tell(() => this.#callbacks.onStop?.(stop))
  }

  #clearStop(): void {
    this.#stop = null
    this.#tell(() => this.#callbacks.onStopCleared?.())
  }

  #tell(run: () => void): void {
    shielded(this.#callbacks.onError, run)
  }
}
