import {
  normalAngle,
  type Pose,
  type PosePrediction,
  type ReportedPose,
  type Sighting,
} from '@wheelhouse/sdk'
import type { TelemetrySample } from './feed.ts'
import type { SampleReader, Sightings } from './sample-reader.ts'
import {
  drawGoal,
  drawPath,
  drawPrediction,
  drawRobot,
  fitCanvas,
  type Pixels,
  type Point,
} from './trail-map.ts'

/** Predicts where the robot will be; null while it does not drive. The report is null without a pose in the telemetry. */
export type Predict = (reported: ReportedPose | null, nowMs: number) => PosePrediction | null

/** What is around a robot, and how it moves through it. */
interface Surroundings {
  readonly around: Sightings
  readonly predicted: PosePrediction | null
  /** The pose from which the prediction begins; null for the robot itself. */
  readonly reported: Pose | null
  /** Where the robot has been, oldest first. */
  readonly trail: readonly Pose[]
  /** Where the robot drives by itself. */
  readonly goal?: Pose | undefined
}

export const NOTHING: Sightings = { obstacles: [], scan: [] }
/** Poses of the trail, and the least distance between two. */
const MAX_TRAIL = 120
const TRAIL_STEP_M = 0.05

/** Follows samples and draws what is around the robot. Call `draw` before every picture of the display. */
export function createSurroundings(canvas: HTMLCanvasElement, reader: SampleReader) {
  let newest: TelemetrySample | undefined
  let drawn: TelemetrySample | undefined
  let around = NOTHING
  let reported: ReportedPose | null = null
  let trail: Pose[] = []
  let predicted: PosePrediction | null = null
  let size = ''
  let drawnGoal: Pose | undefined
  return {
    add(sample: TelemetrySample): void {
      newest = sample
      const pose = reader.pose(sample.data)
      reported = pose ? { ...pose, atMs: sample.atMs } : null
      const last = trail.at(-1)
      if (pose && (!last || Math.hypot(pose.xM - last.xM, pose.yM - last.yM) >= TRAIL_STEP_M))
        trail = [...trail.slice(1 - MAX_TRAIL), pose]
    },
    draw(predict: Predict | undefined, goal?: Pose): void {
      const before = predicted
      predicted = predict?.(reported, performance.now()) ?? null
      const newSize = `${canvas.clientWidth} ${canvas.clientHeight}`
      if (newest === drawn && !predicted && !before && size === newSize && goal === drawnGoal) return
      size = newSize
      drawnGoal = goal
      if (newest !== drawn) around = reader.sightings(newest?.data) // a scan is long, and a prediction draws every frame
      drawn = newest
      drawSurroundings(canvas, { around, predicted, reported, trail, goal })
    },
  }
}

/** The smallest and the largest distance from the robot to the rim of the canvas. */
const MIN_RANGE_M = 1.5
const MAX_RANGE_M = 8
const MARGIN = 1.1
const RAY_PX = 2
const OBSTACLE_PX = 5
const UP_RAD = Math.PI / 2
const TAU = 2 * Math.PI

const INK = '#c6ced8'
const WARNING = '#ffb840'

/** Draws what is around the robot, seen from above with its heading up: scan, obstacles, where it was and where it will be. */
export function drawSurroundings(
  canvas: HTMLCanvasElement,
  { around: { scan, obstacles }, predicted, reported, trail, goal }: Surroundings,
): void {
  const area = fitCanvas(canvas)
  if (!area) return
  const { context, width, height } = area
  const accent = context.strokeStyle
  const rangeM = rangeOf([...scan, ...obstacles])
  const scale = Math.min(width, height) / 2 / rangeM
  const toPixels = ({ xM, yM }: Point): Pixels => [width / 2 - yM * scale, height / 2 - xM * scale]
  drawRings(context, [width / 2, height / 2], scale, rangeM)
  const seen = reported ? trail.map((pose) => toPixels(seenFrom(reported, pose))) : []
  drawPath(context, seen, 0.5)
  drawSightings(context, { scan, obstacles }, toPixels)
  context.fillStyle = context.strokeStyle = accent
  if (goal && reported) {
    const seenGoal = seenFrom(reported, goal)
    drawGoal(context, toPixels(seenGoal), UP_RAD + seenGoal.headingRad)
  }
  drawRobot(context, [width / 2, height / 2], UP_RAD)
  if (predicted)
    drawPrediction(context, relativeTo(reported, predicted), toPixels, (pose) => UP_RAD + pose.headingRad)
}

function rangeOf(sightings: readonly Sighting[]): number {
  let farthestM = MIN_RANGE_M
  for (const { distanceM } of sightings) farthestM = Math.max(farthestM, distanceM * MARGIN)
  return Math.min(farthestM, MAX_RANGE_M)
}

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

/** Draws obstacles and the returns of the lidar, whose places are as the robot sees them. */
export function drawSightings(
  context: CanvasRenderingContext2D,
  { scan, obstacles }: Sightings,
  toPixels: (point: Point) => Pixels,
): void {
  context.fillStyle = INK
  drawDots(context, scan, RAY_PX, toPixels)
  context.fillStyle = WARNING
  drawDots(context, obstacles, OBSTACLE_PX, toPixels)
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

/** Returns a pose as a robot at another one sees it. */
function seenFrom(from: Pose, { xM, yM, headingRad }: Pose): Pose {
  const [cos, sin] = [Math.cos(from.headingRad), Math.sin(from.headingRad)]
  const [dx, dy] = [xM - from.xM, yM - from.yM]
  return {
    xM: dx * cos + dy * sin,
    yM: dy * cos - dx * sin,
    headingRad: normalAngle(headingRad - from.headingRad),
  }
}

/** Returns a prediction as the robot sees it: from (0, 0) with heading 0. */
export function relativeTo(reported: Pose | null, prediction: PosePrediction): PosePrediction {
  if (reported === null) return prediction
  const { inFlight, ghost, ahead } = prediction
  const relative = (pose: Pose) => seenFrom(reported, pose)
  return { inFlight: inFlight.map(relative), ghost: relative(ghost), ahead: ahead.map(relative) }
}
