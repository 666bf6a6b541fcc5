import { type DifferentialDriveState, demoLimits, type World } from '@wheelhouse/sdk'
import { type Canvas, colour, textSize } from './canvas.ts'
import { type Pose, rgbOf } from './room-renderer.ts'

/** The data that the picture shows as text. */
export interface Caption {
  readonly name: string
  readonly at: Date
  readonly state: Pick<DifferentialDriveState, 'xM' | 'yM' | 'headingRad' | 'leftMps' | 'rightMps'>
  /** The reason of a stop that an operator must clear; null while the robot may drive. */
  readonly stopped: string | null
}

const MARGIN = 10
const PADDING = 6
const MAP_PIXELS_PER_M = 16
const LONGEST_NAME = 18
const LONGEST_REASON = 40

const ink = {
  white: colour(255, 255, 255),
  dark: colour(24, 27, 32),
  floor: colour(70, 76, 86),
  robot: colour(255, 212, 59),
  stop: colour(200, 20, 30),
}

/** Draws the robot's name, the time, pose and speed, the map of the room, and the banner of a stop. */
export function drawOverlay(canvas: Canvas, world: World, caption: Caption): void {
  const { xM, yM, headingRad, leftMps, rightMps } = caption.state
  // With tenths of a second: next to a clock, it shows the delay of the picture.
  const clock = `${caption.at.toISOString().slice(11, 21)} UTC`
  drawPlate(canvas, [caption.name.slice(0, LONGEST_NAME), clock], MARGIN, MARGIN)
  const degrees = Math.round((headingRad * 180) / Math.PI)
  const motion = `X ${xM.toFixed(2)} Y ${yM.toFixed(2)} M  ${degrees} DEG  ${((leftMps + rightMps) / 2).toFixed(2)} M/S`
  drawPlate(canvas, [motion], MARGIN, canvas.height - MARGIN - textSize('', 2).height - 2 * PADDING)
  drawMap(canvas, world, caption.state)
  if (caption.stopped !== null) drawSign(canvas, caption.stopped)
}

/** Draws lines of text on a dark background. */
function drawPlate(canvas: Canvas, lines: readonly string[], x: number, y: number): void {
  const sizes = lines.map((line) => textSize(line, 2))
  const lineHeight = textSize('', 2).height + PADDING
  const width = Math.max(...sizes.map((size) => size.width)) + 2 * PADDING
  canvas.fill({ x, y, width, height: lines.length * lineHeight + PADDING }, ink.dark)
  for (const [index, line] of lines.entries()) {
    canvas.text(line, x + PADDING, y + PADDING + index * lineHeight, 2, ink.white)
  }
}

/** Draws the room from above, x to the right and y upwards, at the right edge. */
function drawMap(canvas: Canvas, world: World, { xM, yM, headingRad }: Pose): void {
  const scale = MAP_PIXELS_PER_M
  const [width, height] = [world.widthM * scale, world.heightM * scale]
  const [left, top] = [canvas.width - MARGIN - width, MARGIN]
  canvas.fill({ x: left - 2, y: top - 2, width: width + 4, height: height + 4 }, ink.white)
  canvas.fill({ x: left, y: top, width, height }, ink.floor)
  const toCanvas = (x: number, y: number) => [left + x * scale, top + height - y * scale] as const
  for (const box of world.obstacles) {
    const [x, y] = toCanvas(box.xM, box.yM + box.heightM)
    canvas.fill(
      { x, y, width: box.widthM * scale, height: box.heightM * scale },
      colour(...rgbOf(box.colour)),
    )
  }
  const [x, y] = toCanvas(xM, yM)
  const radius = demoLimits.radiusM * scale
  canvas.disc(x, y, radius, ink.robot)
  const tip = [x + Math.cos(headingRad) * radius * 2.5, y - Math.sin(headingRad) * radius * 2.5] as const
  canvas.line([x, y], tip, 2, ink.robot)
}

/** Draws the banner across the middle, large enough to be noticed. */
function drawSign(canvas: Canvas, reason: string): void {
  const [word, detail] = ['STOPPED', reason.replaceAll('_', ' ').slice(0, LONGEST_REASON)]
  const [large, small] = [textSize(word, 8), textSize(detail, 2)]
  const height = large.height + small.height + 4 * PADDING
  const y = (canvas.height - height) / 2
  canvas.fill({ x: 0, y, width: canvas.width, height }, ink.stop)
  canvas.text(word, (canvas.width - large.width) / 2, y + PADDING, 8, ink.white)
  canvas.text(detail, (canvas.width - small.width) / 2, y + large.height + 3 * PADDING, 2, ink.white)
}
