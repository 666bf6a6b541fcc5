import { kindsOf, type TelemetryField, type TelemetryKind, type TelemetrySchema } from '@wheelhouse/protocol'
import { normalAngle, type Pose, type Sighting } from '@wheelhouse/sdk'
import { z } from 'zod'
import { decimals } from '../base/format.ts'
import { t } from '../texts/texts.ts'

/** The obstacles and the returns of the lidar, seen from the robot. */
export interface Sightings {
  readonly obstacles: readonly Sighting[]
  readonly scan: readonly Sighting[]
}

/** One joint of an arm, or one finger of a gripper. */
export interface Joint {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The ends of its travel, if the robot declares them. */
  readonly min: number | undefined
  readonly max: number | undefined
}

export type SampleReader = ReturnType<typeof createSampleReader>

const PoseValue = z
  .object({ x_m: z.number(), y_m: z.number(), heading_rad: z.number() })
  .transform(({ x_m, y_m, heading_rad }): Pose => ({ xM: x_m, yM: y_m, headingRad: heading_rad }))
const VelocityValue = z.object({
  linear_mps: z.number().optional(),
  angular_radps: z.number().optional(),
})
const Obstacle = z
  .object({ distance_m: z.number(), bearing_rad: z.number() })
  .transform(({ distance_m, bearing_rad }): Sighting => ({ distanceM: distance_m, bearingRad: bearing_rad }))
const Obstacles = z.union([z.array(Obstacle), Obstacle.transform((obstacle) => [obstacle])])
const Scan = z.object({
  angle_min_rad: z.number(),
  angle_increment_rad: z.number(),
  range_max_m: z.number().optional(),
  ranges_m: z.array(z.number()),
})

/** More joints are not readable. */
const MAX_JOINTS = 8

/** Without a schema a sample has a pose if it has the field `pose` of the simulated robot; and so on. */
const undeclared = { pose: ['pose'], velocity: ['velocity'], obstacle: ['nearest_obstacle'] }

/**
 * Creates a reader of the samples of one robot. The platform does not check them, so every value may be missing or of another type.
 * @param schema the telemetry that the robot declares; null for none
 */
export function createSampleReader(schema: TelemetrySchema | null) {
  const fields = schema ? [...kindsOf(schema)] : []
  const pathsOf = (kind: TelemetryKind) =>
    fields.filter((field) => field.kind === kind).map(({ path }) => path)
  const [posePath] = schema ? pathsOf('pose') : [undeclared.pose]
  const [velocityPath] = schema ? pathsOf('velocity') : [undeclared.velocity]
  const joints = fields.filter(({ kind }) => kind === 'joints')
  const [obstaclePaths, scanPaths] = [pathsOf('obstacles'), pathsOf('scan')]
  const obstaclesAt = (data: unknown, paths: readonly (readonly string[])[]) =>
    paths.flatMap((path) => Obstacles.safeParse(valueAt(data, path)).data ?? [])
  const scanOf = (data: unknown) => scanPaths.flatMap((path) => returnsOf(valueAt(data, path)))
  return {
    pose: (data: unknown): Pose | undefined => posePath && PoseValue.safeParse(valueAt(data, posePath)).data,
    sightings: (data: unknown): Sightings => ({
      obstacles: obstaclesAt(data, obstaclePaths),
      scan: scanOf(data),
    }),
    /** Returns the speed forwards, in metres per second. */
    speedMps: (data: unknown): number | undefined =>
      velocityPath && VelocityValue.safeParse(valueAt(data, velocityPath)).data?.linear_mps,
    /** Returns the nearest obstacle or return of the lidar. */
    nearest: (data: unknown): Sighting | undefined =>
      nearestOf([...obstaclesAt(data, schema ? obstaclePaths : [undeclared.obstacle]), ...scanOf(data)]),
    /** Whether the robot declares the joints of an arm. */
    hasArm: joints.some(({ path }) => !isGripper(path)),
    /** Returns the joints of an arm, in the order of the schema; without those of a gripper, unless `part` asks for them. */
    joints: (data: unknown, part: 'arm' | 'gripper'): readonly Joint[] =>
      joints
        .filter(({ path }) => isGripper(path) === (part === 'gripper'))
        .flatMap(({ path, field }) => jointsOf(field, path, valueAt(data, path))),
    /** Returns the values with labels and units, up to 40. */
    readings: (data: unknown): readonly Reading[] =>
      schema ? declaredReadings(data, schema) : readingsOf(data),
  }
}

/** Returns the value below objects and arrays, undefined if there is none. */
export function valueAt(data: unknown, path: readonly (string | number)[]): unknown {
  let value = data
  for (const name of path)
    value =
      typeof value === 'object' && value !== null
        ? (value as Record<string | number, unknown>)[name]
        : undefined
  return value
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isGripper = (path: readonly string[]): boolean => path.some((name) => /gripper|finger/i.test(name))

/** Returns the joints of a field: the items of an array, or the numbers of an object. */
function jointsOf(field: TelemetryField, path: readonly string[], value: unknown): Joint[] {
  const label = field.title ?? labelOf(path.slice(-1))
  if (field.type === 'array' && field.items.type !== 'object' && Array.isArray(value)) {
    const { items } = field
    return value.flatMap((item, index) => jointOf(items, `${label} ${index + 1}`, item)).slice(0, MAX_JOINTS)
  }
  if (field.type !== 'object' || !isRecord(value)) return []
  return Object.entries(field.properties)
    .flatMap(([name, inner]) => jointOf(inner, inner.title ?? labelOf([name]), value[name]))
    .slice(0, MAX_JOINTS)
}

function jointOf(field: TelemetryField, name: string, value: unknown): Joint[] {
  if (typeof value !== 'number' || (field.type !== 'number' && field.type !== 'integer')) return []
  return [{ name, value, unit: field['x-unit'] ?? '', min: field.minimum, max: field.maximum }]
}

/** Returns the rays of a scan that hit something. */
function returnsOf(value: unknown): Sighting[] {
  const { data } = Scan.safeParse(value)
  if (!data) return []
  const { angle_min_rad, angle_increment_rad, range_max_m = Number.POSITIVE_INFINITY, ranges_m } = data
  return ranges_m.flatMap((distanceM, index) =>
    distanceM > 0 && distanceM <= range_max_m
      ? [{ distanceM, bearingRad: angle_min_rad + index * angle_increment_rad }]
      : [],
  )
}

/** Returns the readings of the declared fields in the order of the schema, then those of the others. */
function declaredReadings(data: unknown, schema: Pick<TelemetrySchema, 'properties'>): Reading[] {
  const readings: Reading[] = []
  if (!isRecord(data)) return readingsOf(data)
  addObject(data, schema, [], readings)
  return readings.slice(0, MAX_READINGS)
}

function addObject(
  data: Record<string, unknown>,
  { properties }: Pick<TelemetrySchema, 'properties'>,
  above: readonly string[],
  readings: Reading[],
): void {
  for (const [name, field] of Object.entries(properties))
    if (data[name] !== undefined) addField(data[name], field, [...above, name], readings)
  for (const [name, value] of Object.entries(data))
    if (!Object.hasOwn(properties, name)) collectReadings(value, [...above, name], readings)
}

function addField(value: unknown, field: TelemetryField, path: readonly string[], readings: Reading[]): void {
  const label = field.title ?? labelOf(path)
  const kind = 'x-kind' in field ? field['x-kind'] : undefined
  const text = kind && textOf(kind, value)
  if (text !== undefined) readings.push([label, text])
  else if (field.type === 'object' && isRecord(value)) addObject(value, field, path, readings)
  else if (field.type === 'array' && field.items.type !== 'object' && Array.isArray(value))
    addItems(value, field.items['x-unit'], label, readings)
  else readings.push([label, withUnit(value, 'x-unit' in field ? field['x-unit'] : '')])
}

/** Adds one reading for each number of an array, such as the joints of an arm. */
function addItems(
  values: readonly unknown[],
  unit: string | undefined,
  label: string,
  readings: Reading[],
): void {
  for (const [index, value] of values.slice(0, MAX_READINGS).entries())
    readings.push([`${label} ${index + 1}`, withUnit(value, unit)])
}

/** Returns the value of a kind as one text; undefined for a kind with a reading for each part, and for other values. */
function textOf(kind: TelemetryKind, value: unknown): string | undefined {
  if (kind === 'pose') {
    const { data } = PoseValue.safeParse(value)
    return data && formatPose(data)
  }
  if (kind === 'velocity') {
    const { data } = VelocityValue.safeParse(value)
    const parts = [data?.linear_mps, data?.angular_radps].map(
      (speed, index) => speed !== undefined && withUnit(decimals(speed, 2), index === 0 ? 'm/s' : 'rad/s'),
    )
    return data && parts.filter(Boolean).join(', ')
  }
  if (kind === 'battery') return typeof value === 'number' ? shareText(value) : undefined
  if (kind === 'obstacles') return nearestText(Obstacles.safeParse(value).data)
  if (kind === 'scan') return Scan.safeParse(value).success ? scanText(value) : undefined
  return undefined
}

function nearestText(sightings: readonly Sighting[] | undefined): string | undefined {
  if (sightings === undefined) return undefined
  const nearest = nearestOf(sightings)
  return nearest
    ? t('telemetry.kind.obstacle', {
        distance: decimals(nearest.distanceM, 2),
        bearing: formatBearing(nearest.bearingRad),
      })
    : t('telemetry.kind.noObstacle')
}

function nearestOf(sightings: readonly Sighting[]): Sighting | undefined {
  let nearest: Sighting | undefined
  for (const sighting of sightings)
    if (nearest === undefined || sighting.distanceM < nearest.distanceM) nearest = sighting
  return nearest
}

function scanText(value: unknown): string {
  const returns = returnsOf(value)
  return returns.length === 0
    ? t('telemetry.kind.noReturns')
    : t('telemetry.kind.returns', { returns: returns.length, nearest: nearestText(returns) })
}

/** The name and the value of a reading, such as `Velocity, linear` and `0.50 m/s`. */
export type Reading = readonly [name: string, value: string]

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

function readingsOf(data: unknown): Reading[] {
  const readings: Reading[] = []
  collectReadings(data, [], readings)
  return readings
}

function collectReadings(value: unknown, path: readonly string[], readings: Reading[]): void {
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

const shareText = (share: number): string =>
  t('telemetry.reading.share', { percent: Math.round(share * 100) })

export const withUnit = (value: unknown, unit = ''): string => `${formatValue(value)} ${unit}`.trim()

function formatValue(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : decimals(value, 2)
  if (typeof value === 'boolean') return value ? t('telemetry.reading.yes') : t('telemetry.reading.no')
  if (value === null) return t('telemetry.reading.none')
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}

const degrees = (rad: number) => Math.round((normalAngle(rad) * 180) / Math.PI)

/** Returns a direction relative to the heading of the robot, such as `12° left`. */
export function formatBearing(bearingRad: number): string {
  const angle = degrees(bearingRad)
  if (angle === 0) return t('telemetry.bearing.ahead')
  if (Math.abs(angle) === 180) return t('telemetry.bearing.behind')
  return angle > 0
    ? t('telemetry.bearing.left', { degrees: angle })
    : t('telemetry.bearing.right', { degrees: -angle })
}

/** Returns position and heading of the robot, such as `1.0 m, 2.5 m, heading 90°`. */
export const formatPose = ({ xM, yM, headingRad }: Pose): string =>
  t('telemetry.kind.pose', { x: decimals(xM, 1), y: decimals(yM, 1), degrees: degrees(headingRad) })

/** Returns where a ghost is relative to the robot, such as `0.12 m away, turned 5° left`. */
export function formatGhost({ xM, yM, headingRad }: Pose): string {
  const distance = decimals(Math.hypot(xM, yM), 2)
  return degrees(headingRad) === 0
    ? t('telemetry.kind.ghost', { distance })
    : t('telemetry.kind.turnedGhost', { distance, bearing: formatBearing(headingRad) })
}
