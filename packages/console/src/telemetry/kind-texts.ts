import { normalAngle, type Pose } from '@wheelhouse/sdk'
import { t } from '../texts/texts.ts'
import { decimals } from '../ui/format.ts'

const degrees = (rad: number) => Math.round((normalAngle(rad) * 180) / Math.PI)

/** Returns a direction relative to the heading of the robot, such as `12° left`. */
export function formatBearing(bearingRad: number): string {
  const angle = degrees(bearingRad)
  if (angle === 0) return t('telemetry.bearing.ahead')
  if (Math.abs(angle) === 180) return t('telemetry.bearing.behind')
  return angle > 0
    ? t('telemetry.bearing.left', { degrees: angle })
    : t('telemetry.bearing.right', { degrees: -angle })
}

/** Returns position and heading of the robot, such as `1.0 m, 2.5 m, heading 90°`. */
export const formatPose = ({ xM, yM, headingRad }: Pose): string =>
  t('telemetry.kind.pose', { x: decimals(xM, 1), y: decimals(yM, 1), degrees: degrees(headingRad) })

/** Returns where a ghost is relative to the robot, such as `0.12 m away, turned 5° left`. */
export function formatGhost({ xM, yM, headingRad }: Pose): string {
  const distance = decimals(Math.hypot(xM, yM), 2)
  return degrees(headingRad) === 0
    ? t('telemetry.kind.ghost', { distance })
    : t('telemetry.kind.turnedGhost', { distance, bearing: formatBearing(headingRad) })
}
