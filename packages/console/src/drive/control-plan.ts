import { type ControlField, ControlSchema } from '@wheelhouse/protocol'
import type { DriveCommand } from '@wheelhouse/sdk'
import { valueAt } from '../telemetry/sample-reader.ts'

/** The direction of an input: forward and left from -1 to 1, 0 at rest. */
export interface Axes {
  readonly forward: number
  readonly left: number
}

/** The speeds at a speed limit of 100 %. A slower robot drives at its own maximum. */
const FULL_LINEAR_MPS = 1
const FULL_ANGULAR_RADPS = 1.5

export const atRest: Axes = { forward: 0, left: 0 }
export const isAtRest = ({ forward, left }: Axes) => forward === 0 && left === 0

const clamp = (value: number) => (Number.isFinite(value) ? Math.min(1, Math.max(-1, value)) : 0)

/** Returns the sum of all inputs, clamped to -1 to 1. */
export function combined(inputs: Iterable<Axes>): Axes {
  let [forward, left] = [0, 0]
  for (const input of inputs) {
    forward += input.forward
    left += input.left
  }
  return { forward: clamp(forward), left: clamp(left) }
}

/**
 * Maps values inside the dead zone to 0, which ignores a worn stick at rest, and scales the rest of the travel to
 * begin at 0.
 * @param deadZone 0 to below 1
 */
export function pastDeadZone(value: number, deadZone: number): number {
  const beyond = Math.abs(clamp(value)) - deadZone
  return beyond <= 0 ? 0 : (Math.sign(value) * beyond) / (1 - deadZone)
}

/** Bends a deflection by a power, which makes it finer near the middle. @param exponent 1 for a straight line */
export const curved = (value: number, exponent: number): number =>
  Math.sign(value) * Math.abs(value) ** exponent

export type ControlData = Readonly<Record<string, unknown>>
export type InputValue = number | boolean | string

/** One value of a command that the operator sets. */
export interface ControlInput {
  /** The names of the fields, and the index in an array, from the top of the command. */
  readonly path: readonly (string | number)[]
  readonly label: string
  readonly description: string | undefined
  readonly required: boolean
  readonly field: Exclude<ControlField, { type: 'object' } | { type: 'array' }>
}

/** The inputs that the cockpit offers for the commands of a robot. */
export interface ControlPlan {
  /** Whether stick, keys and gamepad drive the robot. */
  readonly drives: boolean
  /** The speeds at a speed limit of 100 %. */
  readonly fullSpeed: { readonly linearMps: number; readonly angularRadps: number }
  /** The values that keep what the operator sets, and are sent while a button is held. */
  readonly inputs: readonly ControlInput[]
  /** The speeds beyond driving. Their inputs return to 0, because one that kept its value would keep the robot moving. */
  readonly speeds: readonly ControlInput[]
  /** @param limit the allowed share of full speed, 0 to 1 */
  drive(axes: Axes, limit: number): ControlData
  /** Returns the speeds of a command for a differential drive; 0 for those that it does not contain. */
  driveCommandOf(data: ControlData): DriveCommand
}

/** The deflections of the inputs of speeds, -1 to 1. */
export type Deflections = ReadonlyMap<ControlInput, number>

/** The names of the speeds that stick, keys and gamepad set, the first that the schema declares. */
const FORWARD = ['linear_mps', 'linear', 'linear.x']
const LEFT = ['angular_radps', 'angular', 'angular.z']

/** The plan for a robot without a control schema: a differential drive. */
const differentialDrive: ControlPlan = {
  drives: true,
  fullSpeed: { linearMps: FULL_LINEAR_MPS, angularRadps: FULL_ANGULAR_RADPS },
  inputs: [],
  speeds: [],
  drive: ({ forward, left }, limit) => ({
    linear_mps: forward * limit * FULL_LINEAR_MPS,
    angular_radps: left * limit * FULL_ANGULAR_RADPS,
  }),
  driveCommandOf: ({ linear_mps, angular_radps }) => ({
    linearMps: numberOf(linear_mps),
    angularRadps: numberOf(angular_radps),
  }),
}

/** Returns a declared control schema; null without one, and for one that this page does not understand. */
export const readControlSchema = (declared: unknown): ControlSchema | null =>
  ControlSchema.safeParse(declared).data ?? null

export function controlPlanOf(schema: ControlSchema | null): ControlPlan {
  if (schema === null) return differentialDrive
  const inputs = [...inputsOf(schema, [], true)]
  const find = (names: readonly string[]) =>
    names
      .map((name) => inputs.find(({ path, field }) => path.join('.') === name && isNumber(field)))
      .find((input) => input !== undefined)
  const [forward, left] = [find(FORWARD), find(LEFT)]
  const others = inputs.filter((input) => input !== forward && input !== left)
  const isSpeed = ({ field }: ControlInput) => 'x-speed' in field && field['x-speed'] === true
  return {
    drives: forward !== undefined || left !== undefined,
    fullSpeed: {
      linearMps: forward ? scaled(forward, 1, FULL_LINEAR_MPS) : 0,
      angularRadps: left ? scaled(left, 1, FULL_ANGULAR_RADPS) : 0,
    },
    inputs: others.filter((input) => !isSpeed(input)),
    speeds: others.filter(isSpeed),
    drive(axes, limit) {
      const data = {}
      if (forward) setAt(data, forward.path, scaled(forward, axes.forward * limit, FULL_LINEAR_MPS))
      if (left) setAt(data, left.path, scaled(left, axes.left * limit, FULL_ANGULAR_RADPS))
      return data
    },
    driveCommandOf: (data) => ({
      linearMps: forward ? numberOf(valueAt(data, forward.path)) : 0,
      angularRadps: left ? numberOf(valueAt(data, left.path)) : 0,
    }),
  }
}

/** Returns a command with the speeds of these deflections. All speeds of an array are part of it, most of them 0. */
export function withSpeeds(
  data: ControlData,
  speeds: readonly ControlInput[],
  deflections: Deflections,
  limit: number,
): ControlData {
  const command = structuredClone(data) as Record<string, unknown>
  for (const input of speeds) {
    const isUsed = speeds.some(
      (other) => deflections.has(other) && (other === input || isSameArray(other.path, input.path)),
    )
    if (isUsed) setAt(command, input.path, speedOf(input, (deflections.get(input) ?? 0) * limit))
  }
  return command
}

/** Returns a command with these values. An array is part of it only when all of its values are set. */
export function withValues(
  data: ControlData,
  inputs: readonly ControlInput[],
  values: ReadonlyMap<ControlInput, InputValue>,
): ControlData {
  const command = structuredClone(data) as Record<string, unknown>
  for (const input of inputs) {
    const value = values.get(input)
    const siblings = inputs.filter(({ path }) => isSameArray(path, input.path))
    if (value !== undefined && siblings.every((sibling) => values.has(sibling)))
      setAt(command, input.path, value)
  }
  return command
}

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0)

const isNumber = ({ type }: ControlField) => type === 'number' || type === 'integer'

const isSameArray = (a: ControlInput['path'], b: ControlInput['path']) =>
  typeof a.at(-1) === 'number' &&
  a.length === b.length &&
  a.slice(0, -1).join('.') === b.slice(0, -1).join('.')

/** Returns the value of a number for a deflection of -1 to 1. */
function scaled({ field }: ControlInput, deflection: number, full: number): number {
  const [maximum, minimum] = isNumber(field) && 'maximum' in field ? [field.maximum, field.minimum] : []
  const value = deflection >= 0 ? deflection * (maximum ?? full) : deflection * -(minimum ?? -full)
  return field.type === 'integer' ? Math.round(value) : value
}

/** Returns the value of a speed, which has bounds, for a deflection of -1 to 1. */
export const speedOf = (input: ControlInput, deflection: number): number => scaled(input, deflection, 0)

function* inputsOf(
  { properties, required = [] }: Pick<ControlSchema, 'properties' | 'required'>,
  above: readonly string[],
  aboveRequired: boolean,
): Generator<ControlInput> {
  for (const [name, field] of Object.entries(properties)) {
    const path = [...above, name]
    const isRequired = aboveRequired && required.includes(name)
    if (field.type === 'object') {
      yield* inputsOf(field, path, isRequired)
      continue
    }
    const base = {
      label: field.title ?? path.join(' '),
      description: field.description,
      required: isRequired,
    }
    if (field.type !== 'array') {
      yield { ...base, path, field }
      continue
    }
    for (let index = 0; index < field.maxItems; index++)
      yield { ...base, path: [...path, index], label: `${base.label} ${index + 1}`, field: field.items }
  }
}

function setAt(target: object, path: ControlInput['path'], value: unknown): void {
  let current = target as Record<string | number, unknown>
  for (const [index, name] of path.slice(0, -1).entries()) {
    current[name] ??= typeof path[index + 1] === 'number' ? [] : {}
    current = current[name] as Record<string | number, unknown>
  }
  current[path.at(-1) as string] = value
}
