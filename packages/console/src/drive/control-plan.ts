import type { ControlField, ControlSchema } from '@wheelhouse/protocol'
import { type Axes, commandOf, FULL_ANGULAR_RADPS, FULL_LINEAR_MPS } from './axes.ts'

/** The `data` of a control frame. */
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
  readonly inputs: readonly ControlInput[]
  /** The speeds for which the cockpit has no input: an input that keeps its value would keep the robot moving. */
  readonly unavailable: readonly string[]
  /** @param limit the allowed share of full speed, 0 to 1 */
  drive(axes: Axes, limit: number): ControlData
}

/** The names of the speeds that stick, keys and gamepad set, the first that the schema declares. */
const FORWARD = ['linear_mps', 'linear', 'linear.x']
const LEFT = ['angular_radps', 'angular', 'angular.z']

/** The plan for a robot without a control schema: a differential drive. */
const differentialDrive: ControlPlan = {
  drives: true,
  fullSpeed: { linearMps: FULL_LINEAR_MPS, angularRadps: FULL_ANGULAR_RADPS },
  inputs: [],
  unavailable: [],
  drive: (axes, limit) => ({ ...commandOf(axes, limit) }),
}

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
    unavailable: others.filter(isSpeed).map(({ label }) => label),
    drive(axes, limit) {
      const data = {}
      if (forward) setAt(data, forward.path, scaled(forward, axes.forward * limit, FULL_LINEAR_MPS))
      if (left) setAt(data, left.path, scaled(left, axes.left * limit, FULL_ANGULAR_RADPS))
      return data
    },
  }
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

const isNumber = ({ type }: ControlField) => type === 'number' || type === 'integer'

const isSameArray = (a: ControlInput['path'], b: ControlInput['path']) =>
  typeof a.at(-1) === 'number' &&
  a.length === b.length &&
  a.slice(0, -1).join('.') === b.slice(0, -1).join('.')

/** Returns the value of a number for a deflection of -1 to 1. */
function scaled({ field }: ControlInput, deflection: number, full: number): number {
  const [maximum, minimum] = isNumber(field) && 'maximum' in field ? [field.maximum, field.minimum] : []
  return deflection >= 0 ? deflection * (maximum ?? full) : deflection * -(minimum ?? -full)
}

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
