/** Where an input points: forward and left from -1 to 1, 0 at rest. */
export interface Axes {
  readonly forward: number
  readonly left: number
}

/** What is sent to a robot of two driven wheels; see the simulated robot. */
export interface DriveCommand {
  readonly linear_mps: number
  readonly angular_radps: number
}

/** What the whole of the speed limit stands for. Robots that can do less do less. */
export const FULL_LINEAR_MPS = 1
export const FULL_ANGULAR_RADPS = 1.5

export const atRest: Axes = { forward: 0, left: 0 }
export const isAtRest = ({ forward, left }: Axes) => forward === 0 && left === 0

const clamp = (value: number) => (Number.isFinite(value) ? Math.min(1, Math.max(-1, value)) : 0)

/** All inputs together. */
export function combined(inputs: Iterable<Axes>): Axes {
  let [forward, left] = [0, 0]
  for (const input of inputs) {
    forward += input.forward
    left += input.left
  }
  return { forward: clamp(forward), left: clamp(left) }
}

/**
 * What a worn stick says at rest counts as nothing; beyond that the way is stretched, so that it begins at 0.
 * @param deadZone 0 to below 1
 */
export function pastDeadZone(value: number, deadZone: number): number {
  const beyond = Math.abs(clamp(value)) - deadZone
  return beyond <= 0 ? 0 : (Math.sign(value) * beyond) / (1 - deadZone)
}

/** @param limit the share of full speed that is allowed, 0 to 1 */
export function commandOf({ forward, left }: Axes, limit: number): DriveCommand {
  return {
    linear_mps: forward * limit * FULL_LINEAR_MPS,
    angular_radps: left * limit * FULL_ANGULAR_RADPS,
  }
}
