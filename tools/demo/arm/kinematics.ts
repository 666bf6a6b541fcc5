/** A point or a direction: x forward, y to the left, z up, in metres. The base of the arm is the origin, on the table. */
export type Vector = readonly [x: number, y: number, z: number]

export const add = (a: Vector, b: Vector): Vector => [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
export const scale = (a: Vector, by: number): Vector => [a[0] * by, a[1] * by, a[2] * by]
export const subtract = (a: Vector, b: Vector): Vector => add(a, scale(b, -1))
export const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
export const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
]
export const length = (a: Vector): number => Math.sqrt(dot(a, a))
export const unit = (a: Vector): Vector => scale(a, 1 / (length(a) || 1))

/** Rotates a vector around a unit vector (Rodrigues' formula). */
function rotate(vector: Vector, axis: Vector, angleRad: number): Vector {
  const along = scale(axis, dot(axis, vector) * (1 - Math.cos(angleRad)))
  const turned = add(scale(vector, Math.cos(angleRad)), scale(cross(axis, vector), Math.sin(angleRad)))
  return add(turned, along)
}

export const JOINTS = ['j1', 'j2', 'j3', 'j4', 'j5', 'j6'] as const
export type JointName = (typeof JOINTS)[number]
/** The angles of the joints: base, shoulder, elbow, roll of the forearm, wrist, roll of the tool. */
export type Angles = Readonly<Record<JointName, number>>

/** The travel of each joint in radians, and its highest speed in radians per second. */
export const jointLimits: Readonly<Record<JointName, { min: number; max: number; maxRate: number }>> = {
  j1: { min: -2.6, max: 2.6, maxRate: 1.2 },
  j2: { min: -0.1, max: 2.4, maxRate: 1.2 },
  j3: { min: -2.6, max: -0.2, maxRate: 1.2 },
  j4: { min: -2.6, max: 2.6, maxRate: 2 },
  j5: { min: -2, max: 1.6, maxRate: 2 },
  j6: { min: -2.6, max: 2.6, maxRate: 2 },
}

/** The tool points down, in front of the base. */
export const readyAngles: Angles = { j1: 0, j2: 1.2, j3: -1.9, j4: 0, j5: -0.87, j6: 0 }

const SHOULDER_M = 0.2
const UPPER_M = 0.3
const FOREARM_M = 0.27
const TOOL_M = 0.14

/** The places of the joints, and the direction of the tool. */
export interface ArmPose {
  readonly shoulder: Vector
  readonly elbow: Vector
  readonly wrist: Vector
  readonly tool: Vector
  readonly toolDirection: Vector
  /** The direction in which the fingers open. */
  readonly fingerDirection: Vector
}

export function poseOf({ j1, j2, j3, j4, j5, j6 }: Angles): ArmPose {
  const direction = (elevationRad: number): Vector => [
    Math.cos(elevationRad) * Math.cos(j1),
    Math.cos(elevationRad) * Math.sin(j1),
    Math.sin(elevationRad),
  ]
  const forearm = direction(j2 + j3)
  const shoulder: Vector = [0, 0, SHOULDER_M]
  const elbow = add(shoulder, scale(direction(j2), UPPER_M))
  const wrist = add(elbow, scale(forearm, FOREARM_M))
  const toolDirection = rotate(direction(j2 + j3 + j5), forearm, j4)
  const sideways: Vector = rotate([-Math.sin(j1), Math.cos(j1), 0], forearm, j4)
  return {
    shoulder,
    elbow,
    wrist,
    tool: add(wrist, scale(toolDirection, TOOL_M)),
    toolDirection,
    fingerDirection: rotate(sideways, toolDirection, j6),
  }
}

/**
 * Returns by how much shoulder, elbow and wrist must turn so that the tool moves forwards and up and keeps its direction: nothing
 * where the stretched arm cannot.
 */
export function turnFor({ j2, j3 }: Angles, forwardM: number, upM: number): Pick<Angles, 'j2' | 'j3' | 'j5'> {
  const [reachByJ3, heightByJ3] = [-FOREARM_M * Math.sin(j2 + j3), FOREARM_M * Math.cos(j2 + j3)]
  const [reachByJ2, heightByJ2] = [reachByJ3 - UPPER_M * Math.sin(j2), heightByJ3 + UPPER_M * Math.cos(j2)]
  const determinant = reachByJ2 * heightByJ3 - reachByJ3 * heightByJ2
  if (Math.abs(determinant) < 0.01) return { j2: 0, j3: 0, j5: 0 }
  const shoulder = (forwardM * heightByJ3 - upM * reachByJ3) / determinant
  const elbow = (upM * reachByJ2 - forwardM * heightByJ2) / determinant
  return { j2: shoulder, j3: elbow, j5: -shoulder - elbow }
}
