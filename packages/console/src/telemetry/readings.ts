import { z } from 'zod'

const Pose = z.looseObject({ x_m: z.number(), y_m: z.number(), heading_rad: z.number() })
const WithPose = z.looseObject({ pose: Pose })

export interface Pose {
  readonly xM: number
  readonly yM: number
  /** Counter-clockwise from the x axis. */
  readonly headingRad: number
}

/** Returns the pose in a sample, undefined without one. */
export function poseOf(data: unknown): Pose | undefined {
  const read = WithPose.safeParse(data)
  if (!read.success) return undefined
  const { x_m: xM, y_m: yM, heading_rad: headingRad } = read.data.pose
  return { xM, yM, headingRad }
}

/** More values are not readable. */
const MAX_READINGS = 40
const MAX_DEPTH = 3
const MAX_TEXT = 60
const UNITS: readonly [ending: string, unit: string][] = [
  ['_mps', 'm/s'],
  ['_radps', 'rad/s'],
  ['_rad', 'rad'],
  ['_m', 'm'],
  ['_ms', 'ms'],
  ['_s', 's'],
  ['_v', 'V'],
  ['_a', 'A'],
  ['_c', '°C'],
]

/** Returns the values of a sample with labels and units, such as `Velocity, linear`: `0.50 m/s`. */
export function readingsOf(data: unknown): [name: string, value: string][] {
  const readings: [string, string][] = []
  collectReadings(data, [], readings)
  return readings
}

function collectReadings(value: unknown, path: readonly string[], readings: [string, string][]): void {
  if (readings.length >= MAX_READINGS) return
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && path.length < MAX_DEPTH) {
    for (const [key, inner] of Object.entries(value)) collectReadings(inner, [...path, key], readings)
    return
  }
  const key = path.at(-1) ?? 'value'
  const [ending, unit] = UNITS.find(([end]) => key.endsWith(end)) ?? ['', '']
  const names = [...path.slice(0, -1), key.slice(0, key.length - ending.length) || 'value']
  const name = names.join(', ').replaceAll('_', ' ')
  const isShare = key === 'battery' && typeof value === 'number' && value >= 0 && value <= 1
  const text = isShare ? `${Math.round(value * 100)} %` : `${formatValue(value)} ${unit}`.trim()
  readings.push([name.charAt(0).toUpperCase() + name.slice(1), text])
}

function formatValue(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : value.toFixed(2)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (value === null) return 'none'
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}
