import { normalAngle, type Pose } from '@wheelhouse/sdk'

const degrees = (rad: number) => Math.round((normalAngle(rad) * 180) / Math.PI)

/** Returns a direction relative to the heading of the robot, such as `12° left`. */
export function formatBearing(bearingRad: number): string {
  const angle = degrees(bearingRad)
  if (angle === 0) return 'ahead'
  if (Math.abs(angle) === 180) return 'behind'
  return `${Math.abs(angle)}° ${angle > 0 ? 'left' : 'right'}`
}

/** Returns position and heading of the robot, such as `1.0 m, 2.5 m, heading 90°`. */
export const formatPose = ({ xM, yM, headingRad }: Pose): string =>
  `${xM.toFixed(1)} m, ${yM.toFixed(1)} m, heading ${degrees(headingRad)}°`

/** Returns where a ghost is relative to the robot, such as `0.12 m away, turned 5° left`. */
export function formatGhost({ xM, yM, headingRad }: Pose): string {
  const turned = degrees(headingRad) === 0 ? 'not turned' : `turned ${formatBearing(headingRad)}`
  return `${Math.hypot(xM, yM).toFixed(2)} m away, ${turned}`
}
