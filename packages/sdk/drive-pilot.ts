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

/** Reads two big-endian 32-bit floats: metres and radians per second. Returns null for anything else. */
export function readBinaryDriveCommand(payload: Uint8Array): DriveCommand | null {
  if (payload.byteLength !== 8) return null
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength)
  return readDriveCommand({ linear_mps: view.getFloat32(0), angular_radps: view.getFloat32(4) })
}

/**
 * Decides from the gateway's frames which motion is allowed: a pure state machine. A robot moves only on a command of
 * an ACTIVE session over an open link; everything else brakes. The link drops late commands and stops the robot when
 * commands stop arriving.
 */
export class DrivePilot {
  #online = false
  #session: RobotSession | null = null
  #command: DriveCommand | null = null
  #latched = false
  #unanswered: string | null = null

  /** Handles a welcome: the link is open. */
  linkUp(): void {
    this.#online = true
    this.#command = null
  }

  linkDown(): void {
    this.#online = false
    this.#command = null
    // The gateway repeats a stop that is still in force.
    this.#unanswered = null
  }

  session(session: RobotSession | null): void {
    this.#session = session
    if (session?.status !== 'ACTIVE') this.#command = null
  }

  /** The motion command to follow now; null brakes. */
  get command(): DriveCommand | null {
    return this.#command
  }

  /**
   * Handles a control frame.
   * @param command null for a malformed frame
   * @param sessionId the session of the frame, if it contains one
   * @returns whether the robot obeys; a refused or malformed frame brakes
   */
  control(command: DriveCommand | null, sessionId?: string): boolean {
    const session = this.#session?.status === 'ACTIVE' ? this.#session : null
    const ours = session !== null && (sessionId === undefined || sessionId === session.session_id)
    // A frame that is not obeyed must not extend the last motion.
    this.#command = this.#online && !this.#latched && ours ? command : null
    if (this.#command === null) return false
    // The robot moves again, so a report that it has halted would be wrong.
    this.#unanswered = null
    return true
  }

  /** Notes that the robot drives to a goal: earlier commands do not move it any more. */
  goal(): void {
    this.#command = null
    this.#unanswered = null // a report that it has halted would be wrong
  }

  stop({ reason, latched }: StopInForce): void {
    this.#command = null
    this.#latched ||= latched
    this.#unanswered = reason
  }

  /** Handles the end of a stop. The robot stays halted until the next control frame. */
  stopCleared(): void {
    this.#latched = false
  }

  /** Returns the reason of a stop that the robot has not answered yet, once. Call it when the robot has halted. */
  takeAnswer(): string | null {
    const reason = this.#unanswered
    this.#unanswered = null
    return reason
  }
}
