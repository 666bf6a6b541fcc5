import type { Pose, PosePrediction } from '@wheelhouse/sdk'

const ROBOT_PX = 9
const TAU = 2 * Math.PI

export interface Point {
  readonly xM: number
  readonly yM: number
}

/** A place on the canvas, in CSS pixels. */
export type Pixels = [x: number, y: number]

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
  drawLine(context, inFlight.map(toPixels))
  context.globalAlpha = 0.5
  context.setLineDash([5, 5])
  drawLine(context, ahead.map(toPixels))
  context.setLineDash([3, 3])
  drawRobot(context, toPixels(ghost), upRadOf(ghost))
  context.restore()
}

function drawLine(context: CanvasRenderingContext2D, points: readonly Pixels[]): void {
  context.beginPath()
  for (const point of points) context.lineTo(...point)
  context.stroke()
}
