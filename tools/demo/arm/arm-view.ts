import type { View } from '../camera/picture.ts'
import { colour as colourOf } from '../camera/renderer.ts'
import { BIN, CUBE_M, fingerTips, type Rgb } from './arm-scene.ts'
import { add, cross, dot, scale, subtract, unit, type Vector } from './kinematics.ts'
import type { SimulatedArm } from './simulated-arm.ts'

/** From the left to the right edge of the picture. */
const FIELD_OF_VIEW_RAD = 1.1
const NEAREST_M = 0.03
const LIGHT = unit([0.3, -0.45, 1])
const SIDES = 12

const TABLE: Rgb = [176, 143, 104]
const SHELL: Rgb = [222, 226, 231]
const DARK: Rgb = [38, 43, 50]
const ORANGE: Rgb = [232, 108, 44]
const STEEL: Rgb = [110, 119, 130]
const SHADOW: Rgb = [120, 96, 69]

/** A flat face. Its corners are in the order that shows its front counter-clockwise. */
interface Face {
  readonly corners: readonly Vector[]
  readonly colour: Rgb
  /** Whether the light does not matter, as for a shadow. */
  readonly isFlat?: true
}

const box = (from: Vector, to: Vector, colour: Rgb): Face[] => {
  const [x0, y0, z0] = from
  const [x1, y1, z1] = to
  const face = (...corners: Vector[]): Face => ({ corners, colour })
  return [
    face([x0, y0, z1], [x1, y0, z1], [x1, y1, z1], [x0, y1, z1]),
    face([x0, y0, z0], [x0, y1, z0], [x1, y1, z0], [x1, y0, z0]),
    face([x0, y0, z0], [x1, y0, z0], [x1, y0, z1], [x0, y0, z1]),
    face([x1, y1, z0], [x0, y1, z0], [x0, y1, z1], [x1, y1, z1]),
    face([x1, y0, z0], [x1, y1, z0], [x1, y1, z1], [x1, y0, z1]),
    face([x0, y1, z0], [x0, y0, z0], [x0, y0, z1], [x0, y1, z1]),
  ]
}

/** Returns a tube between two points, with its ends. */
function tube(from: Vector, to: Vector, radiusM: number, colour: Rgb): Face[] {
  const axis = unit(subtract(to, from))
  const side = unit(cross(axis, Math.abs(axis[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]))
  const other = cross(axis, side)
  const ring = (at: Vector) =>
    Array.from({ length: SIDES }, (_, index) => {
      const angle = (index * 2 * Math.PI) / SIDES
      return add(at, scale(add(scale(side, Math.cos(angle)), scale(other, Math.sin(angle))), radiusM))
    })
  const [start, end] = [ring(from), ring(to)]
  const sides = start.map((corner, index): Face => {
    const next = (index + 1) % SIDES
    return { corners: [corner, start[next] ?? corner, end[next] ?? corner, end[index] ?? corner], colour }
  })
  return [...sides, { corners: [...start].reverse(), colour }, { corners: end, colour }]
}

const cube = ([x, y, z]: Vector, colour: Rgb): Face[] => {
  const half = CUBE_M / 2
  return box([x - half, y - half, z - half], [x + half, y + half, z + half], colour)
}

/** The table in tiles, because a face that reaches behind the camera is not drawn. */
const table: readonly Face[] = Array.from({ length: 20 * 20 }, (_, index): Face => {
  const [x, y] = [-0.6 + (index % 20) * 0.1, -1 + Math.floor(index / 20) * 0.1]
  const shade = (index * 7919) % 5
  const colour = TABLE.map((channel) => channel - shade * 2) as unknown as Rgb
  return {
    corners: [
      [x, y, 0],
      [x + 0.1, y, 0],
      [x + 0.1, y + 0.1, 0],
      [x, y + 0.1, 0],
    ],
    colour,
  }
})
const bin: readonly Face[] = [
  ...box([BIN.x[0], BIN.y[0], 0], [BIN.x[1], BIN.y[0] + 0.01, BIN.heightM], STEEL),
  ...box([BIN.x[0], BIN.y[1] - 0.01, 0], [BIN.x[1], BIN.y[1], BIN.heightM], STEEL),
  ...box([BIN.x[0], BIN.y[0], 0], [BIN.x[0] + 0.01, BIN.y[1], BIN.heightM], STEEL),
  ...box([BIN.x[1] - 0.01, BIN.y[0], 0], [BIN.x[1], BIN.y[1], BIN.heightM], STEEL),
]

function facesOf(arm: SimulatedArm, hasTool: boolean): { ground: readonly Face[]; above: readonly Face[] } {
  const { pose, openM } = arm.state
  const { shoulder, elbow, wrist, tool, toolDirection, fingerDirection } = pose
  const shadow = ([x, y]: Vector, radiusM: number): Face => ({
    corners: Array.from({ length: SIDES }, (_, index): Vector => {
      const angle = (index * 2 * Math.PI) / SIDES
      return [x + radiusM * Math.cos(angle), y + radiusM * Math.sin(angle), 0.001]
    }),
    colour: SHADOW,
    isFlat: true,
  })
  const palm = add(tool, scale(toolDirection, -0.06))
  const fingers = fingerTips(pose, openM + 0.016).flatMap((tip) => {
    const root = add(tip, scale(toolDirection, -0.06))
    return tube(root, add(tip, scale(toolDirection, 0.02)), 0.008, DARK)
  })
  const bar = scale(fingerDirection, 0.055)
  return {
    ground: [
      ...arm.scene.cubes.map(({ at }) => shadow(at, CUBE_M * 0.75)),
      shadow(tool, 0.05),
      shadow([0, 0, 0], 0.12),
    ],
    above: [
      ...bin,
      ...arm.scene.cubes.flatMap(({ at, colour }) => cube(at, colour)),
      ...tube([0, 0, 0], [0, 0, 0.08], 0.085, DARK),
      ...tube([0, 0, 0.08], shoulder, 0.06, SHELL),
      ...joint(shoulder, fingerDirectionOf(arm), 0.065),
      ...tube(shoulder, elbow, 0.045, SHELL),
      ...joint(elbow, fingerDirectionOf(arm), 0.055),
      ...tube(elbow, wrist, 0.036, SHELL),
      ...(hasTool ? joint(wrist, fingerDirectionOf(arm), 0.042) : []),
      ...(hasTool ? tube(wrist, palm, 0.026, SHELL) : []),
      ...(hasTool ? tube(subtract(palm, bar), add(palm, bar), 0.016, DARK) : []),
      ...fingers,
    ],
  }
}

/** The axis of shoulder, elbow and wrist. */
const fingerDirectionOf = ({ state: { angles } }: SimulatedArm): Vector => [
  -Math.sin(angles.j1),
  Math.cos(angles.j1),
  0,
]

function joint(at: Vector, axis: Vector, radiusM: number): Face[] {
  const half = scale(axis, radiusM)
  const cap = scale(axis, radiusM * 1.08)
  return [
    ...tube(subtract(at, half), add(at, half), radiusM, DARK),
    ...tube(subtract(at, cap), add(at, cap), radiusM * 0.55, ORANGE),
  ]
}

interface Camera {
  readonly at: Vector
  readonly forward: Vector
  readonly right: Vector
  readonly up: Vector
}

function cameraAt(at: Vector, lookAt: Vector, upwards: Vector): Camera {
  const forward = unit(subtract(lookAt, at))
  const right = unit(cross(forward, upwards))
  return { at, forward, right, up: cross(right, forward) }
}

/** From behind and above, so that left in the picture is left of the arm. */
const overview = cameraAt([-0.6, 0.5, 0.78], [0.22, -0.03, 0.14], [0, 0, 1])

/** Creates a camera of a simulated arm: from behind it, or at its wrist. @param width in pixels; the height follows, as 16 to 9 */
export function createArmView(arm: SimulatedArm, { isWrist = false, width = 1_280 } = {}): View {
  const height = (width * 9) / 16
  const pixels = new Int32Array(width * height)
  const focal = width / 2 / Math.tan(FIELD_OF_VIEW_RAD / 2)
  let drawn: string | undefined
  const camera = (): Camera => {
    if (!isWrist) return overview
    const { wrist, tool, toolDirection, fingerDirection } = arm.state.pose
    const forwards = cross(toolDirection, fingerDirection)
    return cameraAt(add(wrist, scale(forwards, 0.07)), add(tool, scale(toolDirection, 0.02)), forwards)
  }
  return {
    width,
    height,
    draw() {
      const key = JSON.stringify([arm.state.angles, arm.state.openM, arm.scene.cubes.map(({ at }) => at)])
      if (key === drawn) return new Uint8Array(pixels.buffer)
      drawn = key
      const eye = camera()
      const canvas: Canvas = { pixels, width, height, focal, eye }
      fillBackground(canvas)
      const { ground, above } = facesOf(arm, !isWrist)
      for (const face of table) drawFace(canvas, face)
      for (const face of ground) drawFace(canvas, face)
      // The farthest face first (painter's algorithm).
      const distance = ({ corners }: Face) =>
        corners.reduce((sum, corner) => sum + dot(subtract(corner, eye.at), eye.forward), 0) / corners.length
      const sorted = above.map((face) => ({ face, far: distance(face) })).sort((a, b) => b.far - a.far)
      for (const { face } of sorted) drawFace(canvas, face)
      return new Uint8Array(pixels.buffer)
    },
  }
}

interface Canvas {
  /** As in a picture. */
  readonly pixels: Int32Array
  readonly width: number
  readonly height: number
  /** In pixels. */
  readonly focal: number
  readonly eye: Camera
}

function fillBackground({ pixels, width, height }: Canvas): void {
  for (let y = 0; y < height; y++) {
    const level = 62 + (y / height) * 40
    pixels.fill(colourOf(level, level + 6, level + 14), y * width, (y + 1) * width)
  }
}

/** Fills a face that looks at the camera. */
function drawFace({ pixels, width, height, focal, eye }: Canvas, { corners, colour, isFlat }: Face): void {
  const [a, b, c] = corners
  if (!a || !b || !c) return
  const normal = unit(cross(subtract(b, a), subtract(c, a)))
  if (dot(normal, subtract(a, eye.at)) >= 0) return
  const points: (readonly [x: number, y: number])[] = []
  for (const corner of corners) {
    const from = subtract(corner, eye.at)
    const depth = dot(from, eye.forward)
    if (depth < NEAREST_M) return
    points.push([
      width / 2 + (focal * dot(from, eye.right)) / depth,
      height / 2 - (focal * dot(from, eye.up)) / depth,
    ])
  }
  const brightness = isFlat ? 1 : 0.66 + 0.34 * Math.max(0, dot(normal, LIGHT))
  const paint = colourOf(colour[0] * brightness, colour[1] * brightness, colour[2] * brightness)
  const ys = points.map(([, y]) => y)
  const last = Math.min(height - 1, Math.ceil(Math.max(...ys)))
  for (let y = Math.max(0, Math.floor(Math.min(...ys))); y <= last; y++) {
    const row = y + 0.5
    let [left, right] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    for (const [index, [x0, y0]] of points.entries()) {
      const [x1, y1] = points[(index + 1) % points.length] ?? [x0, y0]
      if (row < Math.min(y0, y1) || row >= Math.max(y0, y1)) continue
      const x = x0 + ((row - y0) / (y1 - y0)) * (x1 - x0)
      left = Math.min(left, x)
      right = Math.max(right, x)
    }
    const [start, end] = [Math.max(0, Math.round(left)), Math.min(width, Math.round(right))]
    if (start < end) pixels.fill(paint, y * width + start, y * width + end)
  }
}
