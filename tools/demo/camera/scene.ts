import { demoWorld, type Obstacle, type Rectangle } from '@wheelhouse/sdk'

// What stands in the demo's warehouse, as boxes along the axes: the renderer knows nothing else, apart from the person.

/** Height of the ceiling, in metres. */
export const CEILING_M = 5.2
/** The middles of the two aisles, above which the lamps hang. */
export const AISLES_M = [1, 4.6] as const
const LAMP_SPACING_M = 2.4
const BAY_M = 2.4
/** Heights of the boards of a rack. */
const LEVELS_M = [1.35, 2.6, 3.85] as const
const PALLET_M = 0.14
const POST_M = 0.09
const BEAM_M = 0.12

export type Rgb = readonly [red: number, green: number, blue: number]

/** The paints of the scene, by name; a box names the index of its paint. */
const paints = {
  floor: [150, 151, 152],
  ceiling: [56, 61, 69],
  wall: [158, 165, 173],
  skirting: [88, 97, 108],
  gate: [250, 252, 255],
  rib: [188, 195, 203],
  yellow: [226, 184, 62],
  joint: [92, 94, 97],
  post: [44, 86, 160],
  beam: [232, 104, 34],
  board: [128, 108, 84],
  wood: [188, 148, 98],
  tape: [208, 178, 132],
  label: [232, 230, 222],
  lamp: [255, 255, 255],
  steel: [98, 105, 114],
  brown: [178, 132, 84],
  tan: [196, 154, 106],
  umber: [154, 110, 66],
  slate: [104, 121, 140],
  silver: [146, 157, 168],
  cream: [202, 190, 164],
  other: [130, 130, 136],
} as const satisfies Record<string, Rgb>
type Paint = keyof typeof paints
const names = Object.keys(paints) as Paint[]
export const palette: readonly Rgb[] = Object.values(paints)
export const paintOf = (name: Paint): number => names.indexOf(name)

/** A rectangle on the sides of a box: along the side from its lower corner, and in height above the floor, in metres. */
interface Mark {
  readonly from: number
  readonly to: number
  readonly bottom: number
  readonly top: number
  readonly paint: number
}

/** A box along the axes. */
export interface Box {
  readonly low: readonly [xM: number, yM: number, zM: number]
  readonly high: readonly [xM: number, yM: number, zM: number]
  readonly paint: number
  /** Brightness of its sides at the lower and the upper edge; 1 is the paint's own. */
  readonly light: readonly [bottom: number, top: number]
  readonly marks: readonly Mark[]
  /** Draws a person in its place. */
  readonly isPerson?: true
}

type Triple = Box['low']
const box = (
  low: Triple,
  high: Triple,
  paint: Paint,
  light: Box['light'],
  marks: readonly Mark[] = [],
): Box => ({ low, high, paint: paintOf(paint), light, marks })

/** Returns numbers from 0 to 1 that look random, and are the same at every start. */
function createDice(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
const dice = createDice(7)
const between = (low: number, high: number) => low + dice() * (high - low)
const oneOf = <T>(items: readonly T[]): T => items[Math.floor(dice() * items.length)] as T

/** It is brighter near the lamps. */
const lightAt = (zM: number) => 0.74 + 0.08 * zM

/** Returns a carton, or a crate, with its tape and label. */
function carton(low: Triple, high: Triple): Box {
  const paint = oneOf<Paint>(['brown', 'brown', 'tan', 'tan', 'umber', 'slate', 'silver', 'slate', 'cream'])
  const [widthM, tallM] = [high[0] - low[0], high[2] - low[2]]
  const shade = between(0.88, 1.08)
  const marks: Mark[] = []
  const isCarton = paint === 'brown' || paint === 'tan' || paint === 'umber'
  const line = (from: number, to: number, bottom: number, top: number, name: Paint) =>
    marks.push({ from, to, bottom: low[2] + bottom, top: low[2] + top, paint: paintOf(name) })
  if (isCarton) line(widthM / 2 - 0.03, widthM / 2 + 0.03, tallM * 0.72, tallM, 'tape')
  else line(0, widthM, tallM - 0.09, tallM - 0.07, 'steel')
  if (dice() < 0.5) {
    const from = between(0.08, widthM - 0.26)
    const top = tallM * between(0.5, 0.65)
    line(from, from + 0.17, top - 0.2, top, 'label')
    line(from + 0.025, from + 0.145, top - 0.06, top - 0.03, 'steel')
  }
  return box(low, high, paint, [lightAt(low[2]) * shade * 0.9, lightAt(high[2]) * shade], marks)
}

/** Returns a wooden pallet on the floor: boards on three beams, along the x axis or across. */
function pallet({ xM, yM, widthM, heightM }: Rectangle, isAlong: boolean): Box[] {
  const beams = [0, 0.5, 1].map((share) => {
    const [x, y] = isAlong ? [xM, yM + share * (heightM - 0.1)] : [xM + share * (widthM - 0.1), yM]
    const [toX, toY] = isAlong ? [xM + widthM, y + 0.1] : [x + 0.1, yM + heightM]
    return box([x, y, 0], [toX, toY, 0.1], 'wood', [0.5, 0.62])
  })
  return [...beams, box([xM, yM, 0.1], [xM + widthM, yM + heightM, PALLET_M], 'wood', [0.75, 0.85])]
}

/** Returns goods side by side on a pallet or a board, some in two layers, up to `roomM` tall. */
function goods({ xM, yM, widthM, heightM }: Rectangle, zM: number, roomM: number): Box[] {
  const row: Box[] = []
  for (let x = xM; x < xM + widthM - 0.35; ) {
    const rest = xM + widthM - x
    const wide = rest < 0.9 ? rest : between(0.45, Math.min(1, rest - 0.4))
    const tall = roomM * between(0.55, 0.95)
    const layers = tall > 0.6 && dice() < 0.45 ? [0, tall * between(0.45, 0.6), tall] : [0, tall]
    for (let layer = 1; layer < layers.length && dice() < 0.94; layer++) {
      const set = between(0, 0.08)
      const [bottom, top] = [zM + (layers[layer - 1] as number), zM + (layers[layer] as number)]
      row.push(carton([x + set / 2, yM + set, bottom], [x + wide - 0.02 - set / 2, yM + heightM - set, top]))
    }
    x += wide
  }
  return row
}

function rack({ xM, yM, widthM, heightM }: Obstacle): Box[] {
  const all: Box[] = []
  const bays = Math.round(widthM / BAY_M)
  const topM = LEVELS_M[2] + 0.5
  const depths = [yM, yM + heightM - POST_M] as const
  for (let bay = 0; bay <= bays; bay++) {
    const x = Math.min(Math.max(xM, xM + bay * BAY_M - POST_M / 2), xM + widthM - POST_M)
    for (const y of depths)
      all.push(box([x, y, 0], [x + POST_M, y + POST_M, topM], 'post', [lightAt(0.2), lightAt(topM)]))
  }
  for (let bay = 0; bay < bays; bay++) {
    const from = xM + bay * BAY_M + POST_M
    const to = from + BAY_M - 2 * POST_M
    const wide = to - from
    for (const [index, z] of LEVELS_M.entries()) {
      for (const y of depths)
        all.push(box([from, y, z - BEAM_M], [to, y + 0.05, z], 'beam', [lightAt(z) * 0.85, lightAt(z)]))
      const inner = [yM + 0.05, yM + heightM - POST_M] as const
      all.push(box([from, inner[0], z - 0.04], [to, inner[1], z], 'board', [0.75, 0.8]))
      const room = (LEVELS_M[index + 1] ?? z + 1.15) - BEAM_M - z
      all.push(...goods({ xM: from, yM: yM + 0.06, widthM: wide, heightM: heightM - 0.16 }, z, room))
    }
    for (const x of [from + 0.02, from + wide / 2 + 0.02]) {
      const place = { xM: x, yM: yM + 0.1, widthM: wide / 2 - 0.06, heightM: heightM - 0.2 }
      all.push(...pallet(place, false), ...goods(place, PALLET_M, 1))
    }
  }
  return all
}

/** Returns what an obstacle of the world looks like. */
function looksOf(obstacle: Obstacle): Box[] {
  const { kind, xM, yM, widthM, heightM, tallM = CEILING_M } = obstacle
  if (kind === 'rack') return rack(obstacle)
  if (kind === 'pallet')
    return [
      ...pallet(obstacle, true),
      ...goods(
        { xM: xM + 0.05, yM: yM + 0.04, widthM: widthM - 0.1, heightM: heightM - 0.08 },
        PALLET_M,
        tallM - PALLET_M,
      ),
    ]
  const block = box([xM, yM, 0], [xM + widthM, yM + heightM, tallM], 'other', [0.7, 0.9])
  return kind === 'person' ? [{ ...block, isPerson: true }] : [block]
}

const { widthM, heightM } = demoWorld

function walls(): Box[] {
  const deep = 0.2
  const light: Box['light'] = [0.78, 1.05]
  const bright: Box['light'] = [1, 1.2] // the sides across the aisles are darker
  const marks = (lengthM: number): Mark[] => [
    { from: 0, to: lengthM, bottom: 0, top: 0.9, paint: paintOf('skirting') },
    { from: 0, to: lengthM, bottom: 0.9, top: 0.98, paint: paintOf('yellow') },
    ...Array.from({ length: Math.ceil(lengthM / 1.2) }, (_, seam) => {
      return { from: seam * 1.2, to: seam * 1.2 + 0.025, bottom: 0.98, top: CEILING_M, paint: paintOf('rib') }
    }),
  ]
  const gate: Mark[] = [
    { from: 3.05, to: 6.15, bottom: 0, top: 3.1, paint: paintOf('steel') },
    { from: 3.2, to: 6, bottom: 0, top: 2.95, paint: paintOf('gate') },
    ...Array.from({ length: 6 }, (_, rib) => {
      return { from: 3.2, to: 6, bottom: 0.45 * rib + 0.4, top: 0.45 * rib + 0.43, paint: paintOf('rib') }
    }),
  ]
  return [
    box([-deep, 0, 0], [0, heightM, CEILING_M], 'wall', bright, [...marks(heightM), ...gate]),
    box([widthM, 0, 0], [widthM + deep, heightM, CEILING_M], 'wall', bright, [...marks(heightM), ...gate]),
    box([-deep, -deep, 0], [widthM + deep, 0, CEILING_M], 'wall', light, marks(widthM + 2 * deep)),
    box(
      [-deep, heightM, 0],
      [widthM + deep, heightM + deep, CEILING_M],
      'wall',
      light,
      marks(widthM + 2 * deep),
    ),
  ]
}

/** Returns the lamps above the aisles, and the girders between them. */
function ceiling(): Box[] {
  const all: Box[] = []
  for (let x = LAMP_SPACING_M / 2; x < widthM; x += LAMP_SPACING_M) {
    for (const y of AISLES_M) {
      all.push(box([x - 0.7, y - 0.36, 5], [x + 0.7, y + 0.36, 5.06], 'steel', [0.9, 0.9]))
      all.push(box([x - 0.6, y - 0.26, 4.99], [x + 0.6, y + 0.26, 5], 'lamp', [2, 2]))
    }
    const girder = x + LAMP_SPACING_M / 2 - 0.1
    all.push(box([girder - 0.06, 0, 5.02], [girder + 0.06, heightM, CEILING_M], 'steel', [0.5, 0.5]))
  }
  return all
}

/** Everything that has a height. */
export const boxes: readonly Box[] = [...walls(), ...ceiling(), ...demoWorld.obstacles.flatMap(looksOf)]

/** The marks on the floor: lines beside the racks, and joints of the concrete. */
export const stripes: readonly Box[] = [
  ...Array.from({ length: 16 }, (_, part) => {
    const [from, to] = [2.4 + part * 1.2, 3.6 + part * 1.2]
    return [1.72, 3.18, 5.94].map((y) => box([from, y, 0], [to, y + 0.08, 0], 'yellow', [0.9, 0.9]))
  }).flat(),
  ...Array.from({ length: 7 }, (_, joint) =>
    box([joint * 3.6 + 0.6, 0, 0], [joint * 3.6 + 0.615, heightM, 0], 'joint', [0.8, 0.8]),
  ),
]

/** Size of a dot of the floor's light map. */
export const DOT_M = 0.03
export const FLOOR_COLUMNS = Math.ceil(widthM / DOT_M)
export const FLOOR_ROWS = Math.ceil(heightM / DOT_M)

/** Returns the distance from a point to a rectangle; 0 inside. */
const distanceTo = (area: Rectangle, x: number, y: number) =>
  Math.hypot(
    Math.max(area.xM - x, 0, x - area.xM - area.widthM),
    Math.max(area.yM - y, 0, y - area.yM - area.heightM),
  )

/** Returns the brightness of the floor, 1 for its paint: pools of light below the lamps, stains, shadows around obstacles. */
export function floorLight(x: number, y: number): number {
  const aisleM = Math.min(...AISLES_M.map((middle) => Math.abs(y - middle)))
  const lampM = (x % LAMP_SPACING_M) - LAMP_SPACING_M / 2
  const pool = 0.3 * Math.exp(-(aisleM ** 2) / 1.6) * (1 - 0.12 * (lampM / 1.2) ** 2)
  const stain = 0.02 * (Math.sin(x * 1.7 + 2 * Math.sin(y * 1.1)) + Math.sin(y * 2.9 + 3 * Math.sin(x * 0.7)))
  let shadow = 1
  for (const obstacle of demoWorld.obstacles) {
    const isPerson = obstacle.kind === 'person'
    const middle = { xM: obstacle.xM + obstacle.widthM / 2, yM: obstacle.yM + obstacle.heightM / 2 }
    const awayM = isPerson
      ? Math.max(0, Math.hypot(x - middle.xM, y - middle.yM) - 0.12)
      : distanceTo(obstacle, x, y)
    const share = Math.min(1, awayM / (isPerson ? 0.4 : 0.7))
    shadow = Math.min(shadow, 0.42 + 0.58 * share * (2 - share))
  }
  return (0.6 + pool + stain) * shadow
}
