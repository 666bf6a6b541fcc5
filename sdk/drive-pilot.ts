import type { RobotSession } from '@wheelhouse/protocol'
import type { DriveCommand } from './differential-drive.ts'
import type { StopInForce } from './robot-link-options.ts'

/** Reads `{linear_mps, angular_radps}`; a missing field is 0. Returns null for anything else. */
export function readDriveCommand(data: unknown): DriveCommand | null {
  if (typeof data !== 'object' || data === null) return null
  const { linear_mps = 0, angular_radps = 0 } = data as { linear_mps?: unknown; angular_radps?: unknown }
  if (typeof linear_mps !== 'number' || typeof angular_radps !== 'number') return null
  if (!Number.isFinite(linear_mps) || !Number.isFinite(angular_radps)) return null
  return { linearMps: linear_mps, angularRadps: angular_radps }
}

/**
 * Decides, from what the gateway says, what a robot may do now: a pure state machine. The rule behind it is that a
 * robot moves only on a fresh command of an ACTIVE session over a living link; anything else brakes.
 */
export class DrivePilot {
  #online = false
  #deadmanMs = 0
  #session: RobotSession | null = null
  #command: DriveCommand | null = null
  #commandAtMs = 0
  #latched = false
  #unanswered: string | null = null

  /** A welcome: the link lives, and commands are good for `deadmanMs`. */
  linkUp(deadmanMs: number): void {
    this.#online = true
    this.#deadmanMs = deadmanMs
    this.#command = null
  }

  linkDown(): void {
    this.#online = false
    this.#command = null
    // The gateway repeats a stop that still matters.
    this.#unanswered = null
  }

  session(session: RobotSession | null): void {
    this.#session = session
    if (session?.status !== 'ACTIVE') this.#command = null
  }

  /**
   * A control frame, received at `nowMs` (any monotonic clock).
   * @returns whether it is obeyed; a refused or unreadable one brakes unless it belongs to another session
   */
  control(sessionId: string, data: unknown, nowMs: number): boolean {
    if (!this.#online || this.#latched) return false
    if (this.#session?.status !== 'ACTIVE' || this.#session.session_id !== sessionId) return false
    // What cannot be read must not keep the last motion alive.
    this.#command = readDriveCommand(data)
    this.#commandAtMs = nowMs
    // It drives on: a report that it stands would be a lie by the time it arrives.
    if (this.#command) this.#unanswered = null
    return this.#command !== null
  }

  stop({ reason, latched }: StopInForce): void {
    this.#command = null
    this.#latched ||= latched
    this.#unanswered = reason
  }

  /** The stop is over. The robot stands on until the next control frame. */
  stopCleared(): void {
    this.#latched = false
  }

  /** The motion wanted at `nowMs`; null: brake. */
  command(nowMs: number): DriveCommand | null {
    // The robot's own deadman: the gateway's stop may be what the network has lost.
    if (this.#command && nowMs - this.#commandAtMs > this.#deadmanMs) this.#command = null
    return this.#command
  }

  /**
   * Once the robot stands: the reason of a stop that has not been answered yet, given once. Only stops of the
   * gateway count; after its own deadman the robot has nothing to confirm.
   */
  takeAnswer(): string | null {
    const reason = this.#unanswered
    this.#unanswered = null
    return reason
  }
}
