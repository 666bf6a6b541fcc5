import { t } from '../texts/texts.ts'
import { decimals } from '../ui/format.ts'

/** The name and the value of a reading, such as `Velocity, linear` and `0.50 m/s`. */
export type Reading = readonly [name: string, value: string]

/** More values are not readable. */
export const MAX_READINGS = 40
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

/** Returns the values of a sample with labels and units, which it takes from the names of the fields. */
export function readingsOf(data: unknown): Reading[] {
  const readings: Reading[] = []
  collectReadings(data, [], readings)
  return readings
}

/** Adds the values below a path to the readings, up to `MAX_READINGS`. */
export function collectReadings(value: unknown, path: readonly string[], readings: Reading[]): void {
  if (readings.length >= MAX_READINGS) return
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && path.length < MAX_DEPTH) {
    for (const [key, inner] of Object.entries(value)) collectReadings(inner, [...path, key], readings)
    return
  }
  const key = path.at(-1) ?? ''
  const { label, unit } = labelAndUnit(path)
  const isShare = key === 'battery' && typeof value === 'number' && value >= 0 && value <= 1
  const text = isShare ? shareText(value) : withUnit(value, unit)
  readings.push([label, text])
}

/** Returns the label and the unit of a field from its names, such as `Velocity, linear` and `m/s`. */
export function labelAndUnit(path: readonly string[]): { label: string; unit: string } {
  const key = path.at(-1) ?? ''
  const [ending, unit] = UNITS.find(([end]) => key.endsWith(end)) ?? ['', '']
  const name = key.slice(0, key.length - ending.length) || t('telemetry.reading.value')
  return { label: labelOf([...path.slice(0, -1), name]), unit }
}

/** Returns a label from the names of fields, such as `Velocity, linear`. */
export function labelOf(names: readonly string[]): string {
  const name = names.join(', ').replaceAll('_', ' ')
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** Returns a share of 0 to 1 as `83 %`. */
export const shareText = (share: number): string =>
  t('telemetry.reading.share', { percent: Math.round(share * 100) })

/** Returns a value as text, with its unit. */
export const withUnit = (value: unknown, unit = ''): string => `${formatValue(value)} ${unit}`.trim()

function formatValue(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : decimals(value, 2)
  if (typeof value === 'boolean') return value ? t('telemetry.reading.yes') : t('telemetry.reading.no')
  if (value === null) return t('telemetry.reading.none')
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}
