/** The direction of an input: forward and left from -1 to 1, 0 at rest. */
export interface Axes {
  readonly forward: number
  readonly left: number
}

/** The `data` of a control frame for a differential-drive robot. */
interface DriveControlData {
  readonly linear_mps: number
  readonly angular_radps: number
}

/** The speeds at a speed limit of 100 %. A slower robot drives at its own maximum. */
export const FULL_LINEAR_MPS = 1
export const FULL_ANGULAR_RADPS = 1.5

export const atRest: Axes = { forward: 0, left: 0 }
export const isAtRest = ({ forward, left }: Axes) => forward === 0 && left === 0

const clamp = (value: number) => (Number.isFinite(value) ? Math.min(1, Math.max(-1, value)) : 0)

/** Returns the sum of all inputs, clamped to -1 to 1. */
export function combined(inputs: Iterable<Axes>): Axes {
  let [forward, left] = [0, 0]
  for (const input of inputs) {
    forward += input.forward
    left += input.left
  }
  return { forward: clamp(forward), left: clamp(left) }
}

/**
 * Maps values inside the dead zone to 0, which ignores a worn stick at rest, and scales the rest of the travel to
 * begin at 0.
 * @param deadZone 0 to below 1
 */
export function pastDeadZone(value: number, deadZone: number): number {
  const beyond = Math.abs(clamp(value)) - deadZone
  return beyond <= 0 ? 0 : (Math.sign(value) * beyond) / (1 - deadZone)
}

/** Bends a deflection by a power, which makes it finer near the middle. @param exponent 1 for a straight line */
export const curved = (value: number, exponent: number): number =>
  Math.sign(value) * Math.abs(value) ** exponent

/** @param limit the allowed share of full speed, 0 to 1 */
export function commandOf({ forward, left }: Axes, limit: number): DriveControlData {
  return {
    linear_mps: forward * limit * FULL_LINEAR_MPS,
    angular_radps: left * limit * FULL_ANGULAR_RADPS,
  }
}
