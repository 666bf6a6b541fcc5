// Converts between ROS messages and the data of Wheelhouse robots. Robot and operator choose their own data format. This
// one is the format of the simulated robot and the other examples: {linear_mps, angular_radps} as control data,
// {pose: {x_m, y_m, heading_rad}, velocity: {linear_mps, angular_radps}} as telemetry.

export interface DriveData {
  readonly linear_mps: number
  readonly angular_radps: number
}

export interface PoseData {
  readonly pose: { readonly x_m: number; readonly y_m: number; readonly heading_rad: number }
  readonly velocity?: DriveData
}

export const zeroVelocity: DriveData = { linear_mps: 0, angular_radps: 0 }

/** Returns whether two names mean the same type: ROS 2 writes `nav_msgs/msg/Odometry`, ROS 1 `nav_msgs/Odometry`. */
export function isSameType(first: string, second: string): boolean {
  return first.replace('/msg/', '/') === second.replace('/msg/', '/')
}

/** Speeds above are mistakes: m/s and rad/s that no robot reaches. */
const MAX_SPEED = 1_000
const twistFields: ReadonlySet<string> = new Set(['linear', 'angular'])

/**
 * Reads `linear.x` (m/s) and `angular.z` (rad/s) of a geometry_msgs/Twist, and ignores the other axes. A missing field is 0, as in
 * ROS; a field of another type, such as `twist` of a TwistStamped, is an error, as in rosbridge.
 * @returns null for a malformed Twist
 */
export function driveOfTwist(msg: unknown): DriveData | null {
  if (!isRecord(msg) || Object.keys(msg).some((field) => !twistFields.has(field))) return null
  const linear_mps = component(msg, 'linear', 'x')
  const angular_radps = component(msg, 'angular', 'z')
  return isSpeed(linear_mps) && isSpeed(angular_radps) ? { linear_mps, angular_radps } : null
}

/** Returns a geometry_msgs/Twist. */
export function twistOfDrive({ linear_mps, angular_radps }: DriveData) {
  return { linear: { x: linear_mps, y: 0, z: 0 }, angular: { x: 0, y: 0, z: angular_radps } }
}

/** Reads the data of a control frame; a missing field is 0. Returns null for anything else. */
export function readDriveData(data: unknown): DriveData | null {
  if (!isRecord(data)) return null
  const { linear_mps = 0, angular_radps = 0 } = data
  return isSpeed(linear_mps) && isSpeed(angular_radps) ? { linear_mps, angular_radps } : null
}

/** Reads telemetry with a pose. Returns null for telemetry without one. */
export function readPoseData(data: unknown): PoseData | null {
  if (!isRecord(data) || !isRecord(data.pose)) return null
  const { x_m, y_m, heading_rad } = data.pose
  if (!isNumber(x_m) || !isNumber(y_m) || !isNumber(heading_rad)) return null
  const velocity = readDriveData(data.velocity)
  return { pose: { x_m, y_m, heading_rad }, ...(velocity && { velocity }) }
}

/** Returns a nav_msgs/Odometry with the time `atMs` (Unix milliseconds), in the frames `odom` and `base_link`. */
export function odometryOf({ pose, velocity = zeroVelocity }: PoseData, atMs: number) {
  const sec = Math.floor(atMs / 1000)
  const half = pose.heading_rad / 2
  return {
    header: { stamp: { sec, nanosec: Math.floor((atMs - sec * 1000) * 1e6) }, frame_id: 'odom' },
    child_frame_id: 'base_link',
    pose: {
      pose: {
        position: { x: pose.x_m, y: pose.y_m, z: 0 },
        orientation: { x: 0, y: 0, z: Math.sin(half), w: Math.cos(half) },
      },
      covariance: unknownCovariance,
    },
    twist: { twist: twistOfDrive(velocity), covariance: unknownCovariance },
  }
}

/** Reads a nav_msgs/Odometry. Returns null for anything else. */
export function poseOfOdometry(msg: unknown): Required<PoseData> | null {
  const pose = isRecord(msg) && isRecord(msg.pose) ? msg.pose.pose : undefined
  const twist = isRecord(msg) && isRecord(msg.twist) ? msg.twist.twist : undefined
  if (!isRecord(pose) || !isRecord(pose.orientation)) return null
  const [x_m, y_m] = [component(pose, 'position', 'x'), component(pose, 'position', 'y')]
  const { x = 0, y = 0, z = 0, w = 1 } = pose.orientation
  const velocity = driveOfTwist(twist ?? {})
  if (x_m === null || y_m === null || velocity === null) return null
  if (!isNumber(x) || !isNumber(y) || !isNumber(z) || !isNumber(w)) return null
  const heading_rad = Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
  return { pose: { x_m, y_m, heading_rad }, velocity }
}

/** In ROS, a covariance of zeros means that it is unknown. */
const unknownCovariance = Array.from({ length: 36 }, () => 0)

/** Returns `msg[part][axis]`: 0 if it is missing, null if it is not a number. */
function component(msg: unknown, part: string, axis: string): number | null {
  if (!isRecord(msg)) return null
  const vector = msg[part] ?? {}
  if (!isRecord(vector)) return null
  const value = vector[axis] ?? 0
  return isNumber(value) ? value : null
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const isSpeed = (value: unknown): value is number => isNumber(value) && Math.abs(value) <= MAX_SPEED

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}
