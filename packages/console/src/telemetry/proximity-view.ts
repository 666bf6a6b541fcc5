import { normalAngle, type Pose, type PosePrediction, type Sighting } from '@wheelhouse/sdk'
import { drawPrediction, drawRobot, fitCanvas, type Pixels, type Point } from './drawing.ts'
import type { Sightings } from './sample-reader.ts'

/** The smallest and the largest distance from the robot to the rim of the canvas. */
const MIN_RANGE_M = 1.5
const MAX_RANGE_M = 8
const MARGIN = 1.1
const RAY_PX = 2
const OBSTACLE_PX = 5
const UP_RAD = Math.PI / 2
const TAU = 2 * Math.PI

/**
 * Draws what is around the robot, seen from above with its heading up: lidar scan, obstacles, and the predicted path
 * relative to the robot.
 * @param reported the pose from which the prediction begins; null for the robot itself
 */
export function drawProximity(
  canvas: HTMLCanvasElement,
  { scan, obstacles }: Sightings,
  prediction: PosePrediction | null,
  reported: Pose | null,
): void {
  const area = fitCanvas(canvas)
  if (!area) return
  const { context, width, height } = area
  const rangeM = rangeOf([...scan, ...obstacles])
  const scale = Math.min(width, height) / 2 / rangeM
  const toPixels = ({ xM, yM }: Point): Pixels => [width / 2 - yM * scale, height / 2 - xM * scale]
  drawRings(context, [width / 2, height / 2], scale, rangeM)
  drawDots(context, scan, RAY_PX, toPixels)
  drawDots(context, obstacles, OBSTACLE_PX, toPixels)
  drawRobot(context, [width / 2, height / 2], UP_RAD)
  if (prediction)
    drawPrediction(context, relativeTo(reported, prediction), toPixels, (pose) => UP_RAD + pose.headingRad)
}

function rangeOf(sightings: readonly Sighting[]): number {
  let farthestM = MIN_RANGE_M
  for (const { distanceM } of sightings) farthestM = Math.max(farthestM, distanceM * MARGIN)
  return Math.min(farthestM, MAX_RANGE_M)
}

/** Draws a circle for every metre. */
function drawRings(context: CanvasRenderingContext2D, [x, y]: Pixels, scale: number, rangeM: number): void {
  context.globalAlpha = 0.15
  context.lineWidth = 1
  for (let metre = 1; metre <= rangeM; metre++) {
    context.beginPath()
    context.arc(x, y, metre * scale, 0, TAU)
    context.stroke()
  }
  context.globalAlpha = 1
}

function drawDots(
  context: CanvasRenderingContext2D,
  sightings: readonly Sighting[],
  radiusPx: number,
  toPixels: (point: Point) => Pixels,
): void {
  for (const { distanceM, bearingRad } of sightings) {
    const point = { xM: distanceM * Math.cos(bearingRad), yM: distanceM * Math.sin(bearingRad) }
    context.beginPath()
    context.arc(...toPixels(point), radiusPx, 0, TAU)
    context.fill()
  }
}

/** Returns a prediction as the robot sees it: from (0, 0) with heading 0. */
export function relativeTo(reported: Pose | null, prediction: PosePrediction): PosePrediction {
  if (reported === null) return prediction
  const { inFlight, ghost, ahead } = prediction
  const [cos, sin] = [Math.cos(reported.headingRad), Math.sin(reported.headingRad)]
  const relative = ({ xM, yM, headingRad }: Pose): Pose => {
    const [dx, dy] = [xM - reported.xM, yM - reported.yM]
    return {
      xM: dx * cos + dy * sin,
      yM: dy * cos - dx * sin,
      headingRad: normalAngle(headingRad - reported.headingRad),
    }
  }
  return { inFlight: inFlight.map(relative), ghost: relative(ghost), ahead: ahead.map(relative) }
}
