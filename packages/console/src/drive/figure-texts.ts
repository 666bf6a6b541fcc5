import { normalAngle } from '@wheelhouse/sdk'
import { language } from '../texts/texts.ts'

const unit = (name: string, digits: number, unitDisplay: 'short' | 'narrow' = 'short') =>
  new Intl.NumberFormat(language, {
    style: 'unit',
    unit: name,
    unitDisplay,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })

const speeds = unit('meter-per-second', 2)
const angles = unit('degree', 0, 'narrow')

/** The farthest distance that fits into its figure. */
const MAX_DISTANCE_M = 99.9

/** Returns a speed as `0.42 m/s`. */
export const speed = (mps: number): string => speeds.format(Math.abs(mps) < 0.005 ? 0 : mps)
/** Returns a speed as its number and its unit, such as `0.42` and `m/s`. */
export function speedParts(mps: number): [value: string, unit: string] {
  const parts = speeds.formatToParts(Math.abs(mps) < 0.005 ? 0 : mps)
  const unitAt = parts.findIndex(({ type }) => type === 'unit')
  const text = (some: typeof parts) =>
    some
      .map(({ value }) => value)
      .join('')
      .trim()
  return [text(parts.slice(0, unitAt)), text(parts.slice(unitAt))]
}
/** Returns a distance as `0.8 m`. */
export const distance = unit('meter', 1).format
export const atMost = (metres: number): number => Math.min(metres, MAX_DISTANCE_M)
/** Returns a heading as `12°`, as the map and the telemetry show it: counter-clockwise from the right. */
export const degrees = (headingRad: number): string =>
  angles.format(Math.round((normalAngle(headingRad) * 180) / Math.PI))
/** Returns a time as `48 ms`. */
export const latencyMs = unit('millisecond', 0).format
/** Returns a duration as `41 min`. */
export const wholeMinutes = unit('minute', 0).format
