import { demoWorld } from '@wheelhouse/sdk'
import { personAt } from './person.ts'
import {
  AISLES_M,
  type Box,
  boxes,
  CEILING_M,
  DOT_M,
  FLOOR_COLUMNS,
  FLOOR_ROWS,
  floorLight,
  paintOf,
  palette,
  type Rgb,
  stripes,
} from './scene.ts'

/** Height of the camera above the floor. It stands in the middle of the robot and looks along its heading, level. */
export const CAMERA_HEIGHT_M = 0.55
/** From the left to the right edge of the picture. */
export const FIELD_OF_VIEW_RAD = (80 * Math.PI) / 180
/** The height of the horizon in the picture, as a share from the top: the picture is shifted, not tilted. */
export const HORIZON_SHARE = 0.42

/** Position and direction of a camera. */
export interface Pose {
  readonly xM: number
  readonly yM: number
  readonly headingRad: number
}

// Colours are precomputed for every paint, distance and brightness, so that a pixel costs one look-up.

const LEVELS = 256
/** The level of a paint's own colour. */
const FULL = 160
const FOGS = 64
const FOG_M = 0.45
const FOG_COLOUR: Rgb = [142, 152, 164]
const PAINT_SIZE = FOGS * LEVELS
const LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

/** Returns a colour as in memory: one 32-bit number, bytes in the order red, green, blue, opaque. */
export function colour(red: number, green: number, blue: number): number {
  return LITTLE_ENDIAN
    ? 0xff000000 | (blue << 16) | (green << 8) | red
    : (red << 24) | (green << 16) | (blue << 8) | 0xff
}

const fogShare = (fog: number) => 0.62 * (1 - Math.exp(-(fog * FOG_M) / 16))
const fogAt = (distanceM: number) => Math.min(FOGS - 1, distanceM / FOG_M) | 0

const table = new Int32Array(palette.length * PAINT_SIZE)
for (const [paint, rgb] of palette.entries()) {
  const clear = paint === paintOf('lamp') ? 0 : paint === paintOf('gate') ? 0.3 : 1
  for (let fog = 0; fog < FOGS; fog++) {
    const share = fogShare(fog) * clear
    for (let level = 0; level < LEVELS; level++) {
      const part = (channel: 0 | 1 | 2) =>
        Math.min(255, (rgb[channel] * level * (1 - share)) / FULL + FOG_COLOUR[channel] * share)
      table[paint * PAINT_SIZE + fog * LEVELS + level] = colour(part(0), part(1), part(2))
    }
  }
}

/** With one more row and dot, for a place that is exactly at a wall. */
const floor = new Uint8Array(FLOOR_COLUMNS * (FLOOR_ROWS + 1) + 1)
for (let row = 0, at = 0; row <= FLOOR_ROWS; row++) {
  for (let column = 0; column < FLOOR_COLUMNS; column++)
    floor[at++] = FULL * floorLight((column + 0.5) * DOT_M, (row + 0.5) * DOT_M)
}
/** The mirror image of the lamps, of each aisle, by the place across it. */
const MIRROR_DOT_M = 0.05
const MIRROR_DOTS = Math.ceil(demoWorld.heightM / MIRROR_DOT_M)
const [lowerMirror, upperMirror] = AISLES_M.map((middleM) =>
  Uint8Array.from({ length: MIRROR_DOTS }, (_, dot) =>
    Math.round(255 * Math.exp(-((dot * MIRROR_DOT_M - middleM) ** 2) / 1.2)),
  ),
) as [Uint8Array, Uint8Array]
/** The row of the floor between the aisles: the rack there hides the lamps of the other aisle. */
const RACK_ROW = Math.round((AISLES_M[0] + AISLES_M[1]) / 2 / DOT_M)

/** The boxes on both sides of planes that cut none of them: back to front from everywhere, without sorting. */
type Tree =
  | Box
  | { readonly axis: 0 | 1 | 2; readonly at: number; readonly below: Tree; readonly above: Tree }

/** @throws Error when the boxes intersect */
function treeOf(all: readonly Box[]): Tree {
  if (all.length === 1) return all[0] as Box
  let best: { axis: 0 | 1 | 2; sorted: Box[]; count: number } | undefined
  for (const axis of [0, 1, 2] as const) {
    const sorted = all.toSorted((a, b) => a.low[axis] - b.low[axis] || a.high[axis] - b.high[axis])
    let reach = Number.NEGATIVE_INFINITY
    for (const [count, item] of sorted.entries()) {
      const balance = (of: number) => Math.min(of, all.length - of)
      if (count > 0 && reach <= item.low[axis] + 1e-6 && balance(count) > balance(best?.count ?? 0))
        best = { axis, sorted, count }
      reach = Math.max(reach, item.high[axis])
    }
  }
  if (!best) throw new Error(`${all.length} boxes of the scene intersect: ${JSON.stringify(all.slice(0, 3))}`)
  const { axis, sorted, count } = best
  const [below, above] = [sorted.slice(0, count), sorted.slice(count)]
  return { axis, at: (above[0] as Box).low[axis], below: treeOf(below), above: treeOf(above) }
}
const tree = treeOf(boxes)

const NEAREST_M = 0.06
const X_SIDE_LIGHT = 0.84
const TOP_LIGHT = 1.12
const BOTTOM_LIGHT = 0.6

/** Columns that are drawn together: so few that they remain in the cache of the processor. */
const STRIP = 32

/** A box in the picture: the columns and rows that it may cover, and the largest scale of its sides. */
interface Visible {
  readonly box: Box
  readonly first: number
  readonly last: number
  readonly top: number
  readonly bottom: number
  readonly scale: number
}

/** Draws the warehouse into memory; plain loops over typed arrays, because a frame has a million pixels. */
export class Renderer {
  readonly width: number
  readonly height: number
  readonly pixels: Int32Array<ArrayBuffer>
  /** Some columns of the picture, one after the other: everything in the room is drawn as vertical lines. */
  readonly #strip: Int32Array
  #stripStart = 0
  readonly #focal: number
  readonly #horizon: number
  readonly #background: Int32Array
  /** By row: distance of the floor, start of its colours in the table, and strength of its mirror image. */
  readonly #floorM: Float64Array
  readonly #floorStart: Int32Array
  readonly #shine: Float64Array
  /** By column: 1 / direction of its ray. */
  readonly #inverseX: Float64Array
  readonly #inverseY: Float64Array
  #x = 0
  #y = 0
  #cos = 1
  #sin = 0

  constructor(width: number, height: number) {
    this.width = width
    this.height = height
    this.pixels = new Int32Array(width * height)
    this.#strip = new Int32Array(STRIP * height)
    this.#inverseX = new Float64Array(width)
    this.#inverseY = new Float64Array(width)
    this.#focal = width / 2 / Math.tan(FIELD_OF_VIEW_RAD / 2)
    this.#horizon = Math.round(height * HORIZON_SHARE)
    const floorM = (row: number) => (CAMERA_HEIGHT_M * this.#focal) / Math.max(0.5, row + 0.5 - this.#horizon)
    this.#floorM = Float64Array.from({ length: height }, (_, row) => floorM(row))
    this.#floorStart = Int32Array.from(this.#floorM, (m) => paintOf('floor') * PAINT_SIZE + fogAt(m) * LEVELS)
    this.#shine = Float64Array.from(this.#floorM, (m) => (56 / 255) * Math.min(1, 0.35 + m / 6))
    this.#background = new Int32Array(height)
    for (let row = 0; row < this.#horizon; row++) {
      const ceilingM = ((CEILING_M - CAMERA_HEIGHT_M) * this.#focal) / (this.#horizon - row)
      this.#background[row] = table[
        paintOf('ceiling') * PAINT_SIZE + fogAt(ceilingM) * LEVELS + FULL
      ] as number
    }
  }

  /** Draws what a camera at this pose sees. */
  draw({ xM, yM, headingRad }: Pose): void {
    this.#x = xM
    this.#y = yM
    this.#cos = Math.cos(headingRad)
    this.#sin = Math.sin(headingRad)
    for (let x = 0; x < this.width; x++) {
      const right = (x + 0.5 - this.width / 2) / this.#focal
      // A ray along an axis would divide by 0.
      this.#inverseX[x] = 1 / (this.#cos + this.#sin * right || 1e-9)
      this.#inverseY[x] = 1 / (this.#sin - this.#cos * right || 1e-9)
    }
    const visible: Visible[] = []
    for (const stripe of stripes) this.#collect(stripe, visible)
    this.#collect(tree, visible)
    for (let start = 0; start < this.width; start += STRIP) {
      this.#stripStart = start
      const end = Math.min(start + STRIP, this.width)
      for (let x = start; x < end; x++) this.#drawFloor(x)
      const hidden = this.#hiddenIn(visible, start, end)
      for (const [index, { box, first, last }] of visible.entries()) {
        if (first >= end || last < start || hidden[index] === 1) continue
        const draw = box.isPerson ? this.#drawPerson : this.#drawBox
        draw.call(this, box, Math.max(first, start), Math.min(last + 1, end))
      }
      this.#copyStrip(end)
    }
  }

  /** Marks the boxes that nearer ones cover in these columns: together they cover one range of rows. */
  #hiddenIn(visible: readonly Visible[], start: number, end: number): Uint8Array {
    const hidden = new Uint8Array(visible.length)
    let top = 0
    let bottom = 0
    for (let index = visible.length - 1; index >= 0; index--) {
      const item = visible[index] as Visible
      if (item.first >= end || item.last < start) continue
      if (item.top >= top && item.bottom <= bottom) {
        hidden[index] = 1
        continue
      }
      const { low, high, isPerson } = item.box
      const [above, below] = [high[2] - CAMERA_HEIGHT_M, low[2] - CAMERA_HEIGHT_M]
      if (isPerson || above <= 0 || item.first > start || item.last < end - 1) continue
      // Between two columns, a box is at least as large as in the smaller one.
      const scale = Math.min(this.#scaleOf(item.box, start), this.#scaleOf(item.box, end - 1))
      if (scale === 0) continue
      const from = Math.ceil(Math.max(0, this.#horizon - above * scale))
      const to = Math.floor(Math.min(this.height, this.#horizon - below * (below < 0 ? scale : item.scale)))
      if (from > bottom || to < top) {
        if (to - from <= bottom - top) continue
        ;[top, bottom] = [from, to]
      } else [top, bottom] = [Math.min(top, from), Math.max(bottom, to)]
    }
    return hidden
  }

  /** Returns the scale of a box's side in a column; 0 where there is none. */
  #scaleOf({ low, high }: Box, x: number): number {
    const [inverseX, inverseY] = [this.#inverseX[x] as number, this.#inverseY[x] as number]
    const [x0, x1] = [(low[0] - this.#x) * inverseX, (high[0] - this.#x) * inverseX]
    const [y0, y1] = [(low[1] - this.#y) * inverseY, (high[1] - this.#y) * inverseY]
    const enter = Math.max(Math.min(x0, x1), Math.min(y0, y1), NEAREST_M)
    return enter < Math.min(Math.max(x0, x1), Math.max(y0, y1)) ? this.#focal / enter : 0
  }

  /** Adds the boxes of a part that may be visible, the farthest first. */
  #collect(part: Tree, visible: Visible[]): void {
    if ('paint' in part) {
      const range = this.#columnsOf(part)
      if (range) visible.push(range)
      return
    }
    const isBelow = (part.axis === 0 ? this.#x : part.axis === 1 ? this.#y : CAMERA_HEIGHT_M) < part.at
    this.#collect(isBelow ? part.above : part.below, visible)
    this.#collect(isBelow ? part.below : part.above, visible)
  }

  /** Returns where a box may be in the picture; undefined when it is not. */
  #columnsOf(box: Box): Visible | undefined {
    const { low, high } = box
    let first = this.width - 1
    let last = 0
    let least = Number.POSITIVE_INFINITY
    let most = 0
    const see = (aheadM: number, rightM: number) => {
      const column = this.width / 2 + (rightM * this.#focal) / aheadM
      least = Math.min(least, this.#focal / aheadM)
      most = Math.max(most, this.#focal / aheadM)
      first = Math.min(first, Math.floor(column))
      last = Math.max(last, Math.ceil(column))
    }
    let [fromAheadM, fromRightM] = this.#inView(low[0], high[1])
    for (let corner = 0; corner < 4; corner++) {
      const [aheadM, rightM] = this.#inView(
        corner < 2 ? high[0] : low[0],
        corner % 3 === 0 ? high[1] : low[1],
      )
      if (aheadM >= NEAREST_M) see(aheadM, rightM)
      if (aheadM >= NEAREST_M !== fromAheadM >= NEAREST_M) {
        const share = (NEAREST_M - fromAheadM) / (aheadM - fromAheadM)
        see(NEAREST_M, fromRightM + share * (rightM - fromRightM))
      }
      fromAheadM = aheadM
      fromRightM = rightM
    }
    if (box.isPerson) [first, last] = [0, this.width - 1] // a picture, wider than the box
    first = Math.max(0, first)
    last = Math.min(this.width - 1, last)
    if (first > last || most === 0) return undefined
    const [above, below] = [high[2] - CAMERA_HEIGHT_M, low[2] - CAMERA_HEIGHT_M]
    const top = Math.max(0, this.#horizon - above * (above > 0 ? most : least) - 1)
    const bottom = Math.min(this.height, this.#horizon - below * (below < 0 ? most : least) + 1)
    return { box, first, last, top, bottom, scale: most }
  }

  #inView(x: number, y: number): readonly [aheadM: number, rightM: number] {
    const [dx, dy] = [x - this.#x, y - this.#y]
    return [dx * this.#cos + dy * this.#sin, dx * this.#sin - dy * this.#cos]
  }

  #drawFloor(x: number): void {
    const { height } = this
    const floorM = this.#floorM
    const starts = this.#floorStart
    const shine = this.#shine
    const strip = this.#strip
    const base = (x - this.#stripStart) * height
    strip.set(this.#background, base)
    const dx = 1 / (this.#inverseX[x] as number)
    const dy = 1 / (this.#inverseY[x] as number)
    // Behind this distance, a wall covers it.
    const wallX = ((dx > 0 ? demoWorld.widthM : 0) - this.#x) / dx
    const wallY = ((dy > 0 ? demoWorld.heightM : 0) - this.#y) / dy
    const wallM = Math.min(wallX, wallY)
    const firstRow = Math.floor(this.#horizon + (CAMERA_HEIGHT_M * this.#focal) / wallM)
    const mirrorScale = ((CEILING_M + CAMERA_HEIGHT_M) / CAMERA_HEIGHT_M / MIRROR_DOT_M) * dy
    const mirrorY = this.#y / MIRROR_DOT_M
    const u0 = this.#x / DOT_M
    const v0 = this.#y / DOT_M
    const du = dx / DOT_M
    const dv = dy / DOT_M
    let half = (x & 1) / 2
    for (let row = firstRow; row < height; row++) {
      const distanceM = row === firstRow ? wallM : (floorM[row] as number)
      // Every second sample is moved by half a dot, which hides the dots of the map.
      half = 0.5 - half
      const u = (u0 + distanceM * du + half) | 0
      const v = (v0 + distanceM * dv + half) | 0
      const mirror = v < RACK_ROW ? lowerMirror : upperMirror
      const mirrored = (mirrorY + distanceM * mirrorScale) | 0
      const gloss = mirrored >>> 0 < MIRROR_DOTS ? (mirror[mirrored] as number) * (shine[row] as number) : 0
      const level = ((floor[v * FLOOR_COLUMNS + u] as number) + gloss) | 0
      strip[base + row] = table[(starts[row] as number) + level] as number
    }
  }

  #drawBox({ low, high, light, marks, paint }: Box, first: number, end: number): void {
    const x0 = low[0] - this.#x
    const x1 = high[0] - this.#x
    const y0 = low[1] - this.#y
    const y1 = high[1] - this.#y
    const above = high[2] - CAMERA_HEIGHT_M
    const below = low[2] - CAMERA_HEIGHT_M
    const focal = this.#focal
    const horizon = this.#horizon
    const inversesX = this.#inverseX
    const inversesY = this.#inverseY
    for (let x = first; x < end; x++) {
      const inverseX = inversesX[x] as number
      const inverseY = inversesY[x] as number
      const enterX = (inverseX > 0 ? x0 : x1) * inverseX
      const enterY = (inverseY > 0 ? y0 : y1) * inverseY
      const leaveX = (inverseX > 0 ? x1 : x0) * inverseX
      const leaveY = (inverseY > 0 ? y1 : y0) * inverseY
      const leave = leaveX < leaveY ? leaveX : leaveY
      const isXSide = enterX > enterY
      const enter = Math.max(isXSide ? enterX : enterY, NEAREST_M)
      if (enter >= leave) continue
      const scale = focal / enter
      const top = horizon - above * scale
      const bottom = horizon - below * scale
      const fog = fogAt(enter) * LEVELS
      const start = paint * PAINT_SIZE + fog
      // The side is drawn over the edge of top or bottom, so that nothing shines through between them.
      if (above < 0) {
        const level = FULL * TOP_LIGHT * light[1]
        this.#fill(x, horizon - (above * focal) / leave, above === below ? top : top + 1, start, level, level)
        if (above === below) continue
      } else if (below > 0) {
        const level = FULL * BOTTOM_LIGHT * light[0]
        this.#fill(x, bottom - 1, horizon - (below * focal) / leave, start, level, level)
      }
      const side = isXSide ? FULL * X_SIDE_LIGHT : FULL
      this.#fill(x, top, bottom, start, light[1] * side, light[0] * side)
      if (marks.length === 0) continue
      const along = isXSide ? enter / inverseY - y0 : enter / inverseX - x0
      const slope = (light[1] - light[0]) / (high[2] - low[2])
      for (const mark of marks) {
        if (along < mark.from || along > mark.to || (mark.top - mark.bottom) * scale < 1) continue
        this.#fill(
          x,
          horizon - (mark.top - CAMERA_HEIGHT_M) * scale,
          horizon - (mark.bottom - CAMERA_HEIGHT_M) * scale,
          mark.paint * PAINT_SIZE + fog,
          side * (light[0] + slope * (mark.top - low[2])),
          side * (light[0] + slope * (mark.bottom - low[2])),
        )
      }
    }
  }

  /** Fills a part of a column, with the colours that start here in the table, from one level to another. */
  #fill(x: number, top: number, bottom: number, start: number, topLevel: number, bottomLevel: number): void {
    const { height } = this
    if (bottom <= 0 || top >= height || bottom <= top) return
    const strip = this.#strip
    const base = (x - this.#stripStart) * height
    const first = Math.max(0, Math.ceil(top))
    const end = Math.min(height, Math.floor(bottom))
    const slope = (bottomLevel - topLevel) / (bottom - top)
    // In 65536ths.
    const step = (slope * 65_536) | 0
    let level = Math.min((topLevel + (first - top) * slope) * 65_536, (LEVELS - 1) << 16) | 0
    // The first and the last pixel are covered only partly.
    if (first > top && first > 0) {
      const at = base + first - 1
      const share = Math.min(first, bottom) - top
      strip[at] = mix(strip[at] as number, table[start + (level >> 16)] as number, share * 256)
    }
    for (let at = base + first; at < base + end; at++, level += step)
      strip[at] = table[start + (level >> 16)] as number
    if (end < bottom && end < height && end >= first) {
      const at = base + end
      strip[at] = mix(strip[at] as number, table[start + (level >> 16)] as number, (bottom - end) * 256)
    }
  }

  #drawPerson({ low, high }: Box, first: number, end: number): void {
    const x = (low[0] + high[0]) / 2 - this.#x
    const y = (low[1] + high[1]) / 2 - this.#y
    const distanceM = x * this.#cos + y * this.#sin
    if (distanceM < NEAREST_M) return
    const scale = this.#focal / distanceM
    const tall = high[2] * scale
    const picture = personAt(tall)
    const step = picture.height / tall
    const left = this.width / 2 + (x * this.#sin - y * this.#cos) * scale - picture.width / step / 2
    const top = this.#horizon - (high[2] - CAMERA_HEIGHT_M) * scale
    const haze = fogShare(fogAt(distanceM)) * 256
    const grey = colour(...FOG_COLOUR)
    const lastRow = Math.min(this.height, top + tall - 1)
    for (let column = Math.max(first, Math.ceil(left)); column < end; column++) {
      const from = Math.floor((column - left) * step)
      if (from >= picture.width) break
      const base = (column - this.#stripStart) * this.height
      for (let row = Math.max(0, Math.ceil(top)); row < lastRow; row++) {
        const at = Math.floor((row - top) * step) * picture.width + from
        const alpha = picture.alpha[at] as number
        if (alpha === 0) continue
        const ink = mix(picture.pixels[at] as number, grey, haze)
        this.#strip[base + row] = alpha === 255 ? ink : mix(this.#strip[base + row] as number, ink, alpha)
      }
    }
  }

  /** Copies the columns of a strip into the rows of the picture. */
  #copyStrip(end: number): void {
    const { width, height, pixels } = this
    const strip = this.#strip
    const start = this.#stripStart
    for (let y = 0; y < height; y++) {
      for (let to = y * width + start, from = y, last = y * width + end; to < last; to++, from += height)
        pixels[to] = strip[from] as number
    }
  }
}

/** Mixes two colours: `share` of 256 parts is the second one. */
function mix(one: number, other: number, share: number): number {
  const b = share | 0
  const a = 256 - b
  const even = (Math.imul(one & 0xff00ff, a) + Math.imul(other & 0xff00ff, b)) >>> 8
  const odd = Math.imul((one >>> 8) & 0xff00ff, a) + Math.imul((other >>> 8) & 0xff00ff, b)
  return (even & 0xff00ff) | (odd & 0xff00ff00)
}
