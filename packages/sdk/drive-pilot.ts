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

/** Reads two 32-bit floats, big-endian: metres and radians a second. Returns null for anything else. */
export function readBinaryDriveCommand(payload: Uint8Array): DriveCommand | null {
  if (payload.byteLength !== 8) return null
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength)
  return readDriveCommand({ linear_mps: view.getFloat32(0), angular_radps: view.getFloat32(4) })
}

/**
 * Decides, from what the gateway says, what a robot may do now: a pure state machine. The rule behind it is that a
 * robot moves only on a command of an ACTIVE session over a living link; anything else brakes. That commands are
 * fresh, and that silence stops, is the link's business.
 */
export class DrivePilot {
  #online = false
  #session: RobotSession | null = null
  #command: DriveCommand | null = null
  #latched = false
  #unanswered: string | null = null

  /** A welcome: the link lives. */
  linkUp(): void {
    this.#online = true
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

  /** The motion wanted now; null: brake. */
  get command(): DriveCommand | null {
    return this.#command
  }

  /**
   * A control frame.
   * @param command null if the frame could not be read
   * @param sessionId the session it is for, if the frame says so
   * @returns whether it is obeyed; a refused or unreadable one brakes
   */
  control(command: DriveCommand | null, sessionId?: string): boolean {
    const session = this.#session?.status === 'ACTIVE' ? this.#session : null
    const ours = session !== null && (sessionId === undefined || sessionId === session.session_id)
    // What is not obeyed must not keep the last motion alive either.
    this.#command = this.#online && !this.#latched && ours ? command : null
    if (this.#command === null) return false
    // It drives on: a report that it stands would be a lie by the time it arrives.
    this.#unanswered = null
    return true
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

  /** Once the robot stands: the reason of a stop that has not been answered yet, given once. */
  takeAnswer(): string | null {
    const reason = this.#unanswered
    this.#unanswered = null
    return reason
  }
}
