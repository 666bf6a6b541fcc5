import type { Pose } from './readings.ts'

const MAX_TRAIL = 1_500
/** The minimum distance between two points of the trail. */
const STEP_M = 0.03
const MIN_SPAN_M = 4
const MARGIN_M = 0.7
const ROBOT_PX = 9
const TAU = 2 * Math.PI

interface Point {
  readonly xM: number
  readonly yM: number
}

/** Draws pose and trail of the robot from above: x to the right, y up, one metre per square. */
export class TrailMap {
  readonly #canvas: HTMLCanvasElement
  #trail: Point[] = []
  #pose: Pose | undefined
  #low: Point = { xM: Number.POSITIVE_INFINITY, yM: Number.POSITIVE_INFINITY }
  #high: Point = { xM: Number.NEGATIVE_INFINITY, yM: Number.NEGATIVE_INFINITY }

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas
  }

  addPose(pose: Pose): void {
    this.#pose = pose
    const last = this.#trail.at(-1)
    if (last && Math.hypot(pose.xM - last.xM, pose.yM - last.yM) < STEP_M) return
    this.#trail.push(pose)
    // Trims rarely and in bulk, to keep each sample cheap.
    if (this.#trail.length > MAX_TRAIL * 1.2) this.#trail = this.#trail.slice(-MAX_TRAIL)
    this.#low = { xM: Math.min(this.#low.xM, pose.xM), yM: Math.min(this.#low.yM, pose.yM) }
    this.#high = { xM: Math.max(this.#high.xM, pose.xM), yM: Math.max(this.#high.yM, pose.yM) }
  }

  draw(): void {
    const context = this.#canvas.getContext('2d')
    const pose = this.#pose
    if (!context || !pose) return
    const { width, height, colour } = this.#fit(context)
    const spanX = Math.max(MIN_SPAN_M, this.#high.xM - this.#low.xM + 2 * MARGIN_M)
    const spanY = Math.max(MIN_SPAN_M, this.#high.yM - this.#low.yM + 2 * MARGIN_M)
    const scale = Math.min(width / spanX, height / spanY)
    const middle = { xM: (this.#low.xM + this.#high.xM) / 2, yM: (this.#low.yM + this.#high.yM) / 2 }
    const toPixels = ({ xM, yM }: Point): [number, number] => [
      width / 2 + (xM - middle.xM) * scale,
      height / 2 - (yM - middle.yM) * scale,
    ]
    context.clearRect(0, 0, width, height)
    context.strokeStyle = context.fillStyle = colour
    drawGrid(context, { width, height, scale, origin: toPixels({ xM: 0, yM: 0 }) })
    context.beginPath()
    for (const point of this.#trail) context.lineTo(...toPixels(point))
    context.lineTo(...toPixels(pose))
    context.globalAlpha = 0.6
    context.lineWidth = 2
    context.stroke()
    context.globalAlpha = 1
    drawRobot(context, toPixels(pose), pose.headingRad)
  }

  /** Sizes the canvas to device pixels and returns the size and the text colour. */
  #fit(context: CanvasRenderingContext2D) {
    const { clientWidth: width, clientHeight: height } = this.#canvas
    const ratio = devicePixelRatio
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)]
    if (this.#canvas.width !== wide) this.#canvas.width = wide
    if (this.#canvas.height !== high) this.#canvas.height = high
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    return { width, height, colour: getComputedStyle(this.#canvas).color }
  }
}

interface Grid {
  readonly width: number
  readonly height: number
  readonly scale: number
  readonly origin: readonly [number, number]
}

function drawGrid(context: CanvasRenderingContext2D, { width, height, scale, origin }: Grid): void {
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

function drawRobot(
  context: CanvasRenderingContext2D,
  [x, y]: readonly [number, number],
  headingRad: number,
): void {
  context.beginPath()
  context.arc(x, y, ROBOT_PX, 0, TAU)
  context.lineWidth = 2
  context.stroke()
  context.beginPath()
  context.moveTo(x, y)
  context.lineTo(x + Math.cos(headingRad) * ROBOT_PX * 1.8, y - Math.sin(headingRad) * ROBOT_PX * 1.8)
  context.lineWidth = 3
  context.stroke()
}
