import type { Pose, PosePrediction } from '@wheelhouse/sdk'

const MAX_TRAIL = 1_500
/** The minimum distance between two points of the trail. */
const STEP_M = 0.03
const MIN_SPAN_M = 4
const MARGIN_M = 0.7

/** Creates a map that draws pose, trail and predicted path of the robot from above: x to the right, y up, one metre per square. */
export function createTrailMap(canvas: HTMLCanvasElement) {
  let trail: Point[] = []
  let pose: Pose | undefined
  let low: Point = { xM: Number.POSITIVE_INFINITY, yM: Number.POSITIVE_INFINITY }
  let high: Point = { xM: Number.NEGATIVE_INFINITY, yM: Number.NEGATIVE_INFINITY }
  return {
    addPose(next: Pose): void {
      pose = next
      const last = trail.at(-1)
      if (last && Math.hypot(next.xM - last.xM, next.yM - last.yM) < STEP_M) return
      trail.push(next)
      // Trims rarely and in bulk, to keep each sample cheap.
      if (trail.length > MAX_TRAIL * 1.2) trail = trail.slice(-MAX_TRAIL)
      low = { xM: Math.min(low.xM, next.xM), yM: Math.min(low.yM, next.yM) }
      high = { xM: Math.max(high.xM, next.xM), yM: Math.max(high.yM, next.yM) }
    },
    draw(prediction: PosePrediction | null): void {
      if (pose) drawTrail(canvas, { trail, pose, low, high }, prediction)
    },
  }
}

/** A path and where the robot is on it. */
interface Trail {
  readonly trail: readonly Point[]
  /** The rest of the path, which is drawn faintly. */
  readonly ahead?: readonly Point[]
  /** Undefined draws no robot. */
  readonly pose: Pose | undefined
  /** The corners of everything. */
  readonly low: Point
  readonly high: Point
}

/** Draws a trail, so that all of it is in view. */
export function drawTrail(
  canvas: HTMLCanvasElement,
  { trail, ahead = [], pose, low, high }: Trail,
  prediction: PosePrediction | null,
): void {
  const area = fitCanvas(canvas)
  if (!area) return
  const { context, width, height } = area
  const spanX = Math.max(MIN_SPAN_M, high.xM - low.xM + 2 * MARGIN_M)
  const spanY = Math.max(MIN_SPAN_M, high.yM - low.yM + 2 * MARGIN_M)
  const scale = Math.min(width / spanX, height / spanY)
  const middle = { xM: (low.xM + high.xM) / 2, yM: (low.yM + high.yM) / 2 }
  const toPixels = ({ xM, yM }: Point): [number, number] => [
    width / 2 + (xM - middle.xM) * scale,
    height / 2 - (yM - middle.yM) * scale,
  ]
  drawGrid(area, scale, toPixels({ xM: 0, yM: 0 }))
  drawPath(context, ahead.map(toPixels), 0.25)
  drawPath(context, (pose ? [...trail, pose] : trail).map(toPixels), 0.6)
  if (pose) drawRobot(context, toPixels(pose), pose.headingRad)
  if (prediction) drawPrediction(context, prediction, toPixels, (pose) => pose.headingRad)
}

export function drawPath(context: CanvasRenderingContext2D, points: readonly Pixels[], alpha: number): void {
  trace(context, points)
  context.globalAlpha = alpha
  context.lineWidth = 2
  context.stroke()
  context.globalAlpha = 1
}

export function trace(context: CanvasRenderingContext2D, points: readonly Pixels[]): void {
  context.beginPath()
  for (const [x, y] of points) context.lineTo(x, y)
}

/** Draws a square for each metre. */
export function drawGrid({ context, width, height }: CanvasArea, scale: number, origin: Pixels): void {
  // Larger areas get larger squares, which limits the number of lines.
  const step = scale * 10 ** Math.max(0, Math.ceil(Math.log10(12 / scale)))
  context.beginPath()
  for (let x = origin[0] % step; x < width; x += step) {
    context.moveTo(x, 0)
    context.lineTo(x, height)
  }
  for (let y = origin[1] % step; y < height; y += step) {
    context.moveTo(0, y)
    context.lineTo(width, y)
  }
  context.globalAlpha = 0.15
  context.lineWidth = 1
  context.stroke()
}

const ROBOT_PX = 9
const GOAL_PX = 8
const TAU = 2 * Math.PI

export interface Point {
  readonly xM: number
  readonly yM: number
}

/** A place on the canvas, in CSS pixels. */
export type Pixels = readonly [x: number, y: number]

export type CanvasArea = NonNullable<ReturnType<typeof fitCanvas>>

/** Sizes a canvas to device pixels, clears it and sets the text colour. Returns undefined if it cannot be drawn. */
export function fitCanvas(canvas: HTMLCanvasElement) {
  const context = canvas.getContext('2d')
  if (!context) return undefined
  const { clientWidth: width, clientHeight: height } = canvas
  const ratio = devicePixelRatio
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)]
  if (canvas.width !== wide) canvas.width = wide
  if (canvas.height !== high) canvas.height = high
  context.setTransform(ratio, 0, 0, ratio, 0, 0)
  context.clearRect(0, 0, width, height)
  context.strokeStyle = context.fillStyle = getComputedStyle(canvas).color
  return { context, width, height }
}

/** Draws the robot as a circle with its heading, `upRad` counter-clockwise from the right of the canvas. */
export function drawRobot(context: CanvasRenderingContext2D, [x, y]: Pixels, upRad: number): void {
  context.beginPath()
  context.arc(x, y, ROBOT_PX, 0, TAU)
  context.lineWidth = 2
  context.stroke()
  context.beginPath()
  context.moveTo(x, y)
  context.lineTo(x + Math.cos(upRad) * ROBOT_PX * 1.8, y - Math.sin(upRad) * ROBOT_PX * 1.8)
  context.lineWidth = 3
  context.stroke()
}

/** Draws a goal as two circles with the heading of the robot there, `upRad` counter-clockwise from the right of the canvas. */
export function drawGoal(context: CanvasRenderingContext2D, [x, y]: Pixels, upRad: number): void {
  context.lineWidth = 2
  for (const radius of [GOAL_PX, GOAL_PX / 3]) {
    context.beginPath()
    context.arc(x, y, radius, 0, TAU)
    context.stroke()
  }
  const [dx, dy] = [Math.cos(upRad), -Math.sin(upRad)]
  const [tipX, tipY] = [x + dx * GOAL_PX * 2.6, y + dy * GOAL_PX * 2.6]
  context.beginPath()
  context.moveTo(x + dx * GOAL_PX, y + dy * GOAL_PX)
  context.lineTo(tipX, tipY)
  for (const side of [-1, 1]) {
    context.moveTo(tipX, tipY)
    context.lineTo(
      tipX - (dx + side * dy * 0.6) * GOAL_PX * 0.7,
      tipY - (dy - side * dx * 0.6) * GOAL_PX * 0.7,
    )
  }
  context.stroke()
}

/**
 * Draws the commanded path: to the ghost, which is where the robot is when a command that is sent now arrives, and dashed
 * from there on.
 */
export function drawPrediction(
  context: CanvasRenderingContext2D,
  { inFlight, ghost, ahead }: PosePrediction,
  toPixels: (point: Point) => Pixels,
  upRadOf: (pose: Pose) => number,
): void {
  context.save()
  context.lineWidth = 2
  trace(context, inFlight.map(toPixels))
  context.stroke()
  context.globalAlpha = 0.5
  context.setLineDash([5, 5])
  trace(context, ahead.map(toPixels))
  context.stroke()
  context.setLineDash([3, 3])
  drawRobot(context, toPixels(ghost), upRadOf(ghost))
  context.restore()
}
