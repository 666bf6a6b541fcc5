import type { Obstacle, World } from '@wheelhouse/sdk'
import { type Canvas, type Colour, colour } from './canvas.ts'

/** Position and direction of the camera: the middle of the robot, along its heading. */
export interface Pose {
  readonly xM: number
  readonly yM: number
  readonly headingRad: number
}

type Rgb = readonly [red: number, green: number, blue: number]

/** Everything in the room is taller than this, so that its top is never visible. */
const CAMERA_M = 0.45
const CEILING_M = 2.4
const FIELD_OF_VIEW_RAD = (80 * Math.PI) / 180
/** As a share of the picture's height, from the top. */
const HORIZON = 0.42
/** Walls and obstacles have a darker line at every metre, which makes motion along them visible. */
const SEAM_M = 0.03
const SEAM_LIGHT = 0.75
/** Brightness decreases with the distance, down to this share. */
const FADING_M = 9
const LEAST_LIGHT = 0.45
/** Surfaces along the y axis are a little darker, which makes corners visible. */
const SIDE_LIGHT = 0.84
const NEAREST_M = 0.05

const GREY: Rgb = [130, 130, 136]
/** Each wall has another colour, which shows the direction of the camera. */
const walls: Record<'east' | 'west' | 'north' | 'south', Rgb> = {
  east: [206, 188, 150],
  west: [150, 180, 200],
  north: [160, 192, 156],
  south: [198, 166, 178],
}
const tiles: readonly [Rgb, Rgb] = [
  [98, 102, 108],
  [122, 126, 132],
]

/** Parses `#rrggbb`; returns grey for anything else. */
export function rgbOf(text: string | undefined): Rgb {
  const hex = /^#([\da-f]{6})$/i.exec(text ?? '')?.[1]
  if (hex === undefined) return GREY
  const all = Number.parseInt(hex, 16)
  return [all >> 16, (all >> 8) & 0xff, all & 0xff]
}

/** Returns the colour at this share of its brightness. */
const lit = ([red, green, blue]: Rgb, light: number): Colour =>
  colour((red * light) | 0, (green * light) | 0, (blue * light) | 0)

const lightAt = (distanceM: number) => Math.max(LEAST_LIGHT, 1 - distanceM / FADING_M / 2)

/** The surface that a ray hits. */
interface Hit {
  /** Measured along the heading, not along the ray: straight walls stay straight. */
  distanceM: number
  tallM: number
  paint: Rgb
  light: number
}

/** A ray from the camera, of length 1 along the heading. */
interface Ray extends Omit<Pose, 'headingRad'> {
  readonly dx: number
  readonly dy: number
}

/** Draws the room as the robot's camera sees it. */
export function drawRoom(canvas: Canvas, world: World, pose: Pose): void {
  const horizon = Math.round(canvas.height * HORIZON)
  const focal = canvas.width / 2 / Math.tan(FIELD_OF_VIEW_RAD / 2)
  drawCeiling(canvas, horizon)
  drawFloor(canvas, pose, horizon, focal)
  const [cos, sin] = [Math.cos(pose.headingRad), Math.sin(pose.headingRad)]
  const paintedObstacles = world.obstacles.map((obstacle) => ({ obstacle, paint: rgbOf(obstacle.colour) }))
  for (let x = 0; x < canvas.width; x++) {
    const right = (x + 0.5 - canvas.width / 2) / focal
    const ray = { xM: pose.xM, yM: pose.yM, dx: cos + sin * right, dy: sin - cos * right }
    const hits = [hitOfRoom(world, ray)]
    for (const { obstacle, paint } of paintedObstacles) {
      const hit = hitOf(obstacle, paint, ray)
      if (hit) hits.push(hit)
    }
    if (hits.length > 2) hits.sort((a, b) => b.distanceM - a.distanceM)
    for (const hit of hits) drawColumn(canvas, x, hit, horizon, focal)
  }
}

function drawCeiling(canvas: Canvas, horizon: number): void {
  for (let y = 0; y < horizon; y++) {
    const light = 1 - (0.45 * y) / horizon
    canvas.fill({ x: 0, y, width: canvas.width, height: 1 }, lit([216, 220, 226], light))
  }
}

/** Draws square tiles of half a metre. */
function drawFloor(canvas: Canvas, pose: Pose, horizon: number, focal: number): void {
  const { width, height, pixels } = canvas
  const [cos, sin] = [Math.cos(pose.headingRad), Math.sin(pose.headingRad)]
  for (let y = horizon; y < height; y++) {
    const distanceM = (CAMERA_M * focal) / (y + 0.5 - horizon)
    const light = lightAt(distanceM)
    const [even, odd] = [lit(tiles[0], light), lit(tiles[1], light)]
    const stepM = distanceM / focal
    const leftM = (0.5 - width / 2) * stepM
    // In tiles, not in metres.
    let u = 2 * (pose.xM + distanceM * cos + leftM * sin)
    let v = 2 * (pose.yM + distanceM * sin - leftM * cos)
    const [du, dv] = [2 * stepM * sin, -2 * stepM * cos]
    for (let at = y * width, end = at + width; at < end; at++) {
      pixels[at] = ((Math.floor(u) + Math.floor(v)) & 1) === 0 ? even : odd
      u += du
      v += dv
    }
  }
}

/** Returns the wall where a ray leaves the room. */
function hitOfRoom({ widthM, heightM }: World, { xM, yM, dx, dy }: Ray): Hit {
  const alongX = dx === 0 ? Number.POSITIVE_INFINITY : ((dx > 0 ? widthM : 0) - xM) / dx
  const alongY = dy === 0 ? Number.POSITIVE_INFINITY : ((dy > 0 ? heightM : 0) - yM) / dy
  if (alongX < alongY) {
    const paint = dx > 0 ? walls.east : walls.west
    return { distanceM: alongX, tallM: CEILING_M, paint, light: lightOf(alongX, yM + dy * alongX) }
  }
  const paint = dy > 0 ? walls.north : walls.south
  return { distanceM: alongY, tallM: CEILING_M, paint, light: lightOf(alongY, xM + dx * alongY) * SIDE_LIGHT }
}

/** Returns where a ray enters an obstacle, or undefined. */
function hitOf({ xM, yM, widthM, heightM, tallM }: Obstacle, paint: Rgb, ray: Ray): Hit | undefined {
  // A ray along an axis divides by 0: infinity counts as far away, and NaN compares as "no hit".
  const [x1, x2] = [(xM - ray.xM) / ray.dx, (xM + widthM - ray.xM) / ray.dx]
  const [y1, y2] = [(yM - ray.yM) / ray.dy, (yM + heightM - ray.yM) / ray.dy]
  const [enterX, enterY] = [Math.min(x1, x2), Math.min(y1, y2)]
  const enter = Math.max(enterX, enterY)
  const leave = Math.min(Math.max(x1, x2), Math.max(y1, y2))
  if (!(enter > NEAREST_M && enter <= leave)) return undefined
  const light =
    enterX > enterY
      ? lightOf(enter, ray.yM + ray.dy * enter)
      : lightOf(enter, ray.xM + ray.dx * enter) * SIDE_LIGHT
  return { distanceM: enter, tallM: tallM ?? CEILING_M, paint, light }
}

/** Returns the brightness of a surface: it depends on the distance, and is lower at a seam. */
function lightOf(distanceM: number, alongM: number): number {
  const seam = alongM - Math.floor(alongM) < SEAM_M ? SEAM_LIGHT : 1
  return lightAt(distanceM) * seam
}

function drawColumn(canvas: Canvas, x: number, hit: Hit, horizon: number, focal: number): void {
  const { width, height, pixels } = canvas
  const scale = focal / Math.max(hit.distanceM, NEAREST_M)
  const top = Math.max(0, Math.round(horizon - (hit.tallM - CAMERA_M) * scale))
  const bottom = Math.min(height, Math.round(horizon + CAMERA_M * scale))
  const ink = lit(hit.paint, hit.light)
  for (let at = top * width + x, end = bottom * width; at < end; at += width) pixels[at] = ink
}
