import { normalAngle, type Pose } from '@wheelhouse/sdk'
import type { Pixels, Point } from '../telemetry/trail-map.ts'

/** What a map shows of a coordinate frame of the robot: x to the right, y up. */
export interface MapView {
  /** In the middle of the map. */
  readonly middle: Point
  readonly pixelsPerM: number
  readonly width: number
  readonly height: number
}

/** A shorter drag is a press: a hand is never still. */
const DRAG_PX = 12

/** Returns where a map shows a place. */
export const pixelsOf = ({ middle, pixelsPerM, width, height }: MapView, { xM, yM }: Point): Pixels => [
  width / 2 + (xM - middle.xM) * pixelsPerM,
  height / 2 - (yM - middle.yM) * pixelsPerM,
]

/** Returns the place that a map shows there. */
export const placeAt = ({ middle, pixelsPerM, width, height }: MapView, [x, y]: Pixels): Point => ({
  xM: middle.xM + (x - width / 2) / pixelsPerM,
  yM: middle.yM - (y - height / 2) / pixelsPerM,
})

/** Returns the goal of a press and of the drag after it, which sets the heading. Without a drag the robot arrives as it comes, straight ahead. */
export function goalOf(view: MapView, robot: Point, press: Pixels, release: Pixels): Pose {
  const place = placeAt(view, press)
  const [right, up] = [release[0] - press[0], press[1] - release[1]]
  const headingRad =
    Math.hypot(right, up) < DRAG_PX
      ? Math.atan2(place.yM - robot.yM, place.xM - robot.xM)
      : Math.atan2(up, right)
  return { ...place, headingRad: normalAngle(headingRad) }
}

/** Returns where something is that a robot sees at a place relative to itself. */
export function fromRobot({ xM, yM, headingRad }: Pose, seen: Point): Point {
  const [cos, sin] = [Math.cos(headingRad), Math.sin(headingRad)]
  return { xM: xM + seen.xM * cos - seen.yM * sin, yM: yM + seen.xM * sin + seen.yM * cos }
}
