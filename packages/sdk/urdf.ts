import { ControlSchema, FIELD_NAME, TelemetrySchema } from '@wheelhouse/protocol'
import { SaxesParser } from 'saxes'

/** Largest URDF document. */
export const MAX_URDF_CHARS = 4 * 1024 * 1024
/** Most movable joints of a robot, so that they fit into a control schema beside other fields. */
export const MAX_URDF_JOINTS = 100

/** The rates of joints without a velocity, in radians or metres per second: what is not known must not be fast. */
const SLOW = { revolute: 0.5, continuous: 0.5, prismatic: 0.05 } as const

/** A movable joint of a URDF document. */
export interface UrdfJoint {
  readonly name: string
  readonly type: 'revolute' | 'continuous' | 'prismatic'
  /** Lowest and highest position, in radians, or metres of a prismatic joint. Continuous joints have none. */
  readonly lower?: number
  readonly upper?: number
  /** Highest speed, in radians or metres per second. */
  readonly velocity?: number
}

/** A document that is no URDF, has limits that are none, or joints for which there is no schema. */
export class UrdfError extends Error {
  override readonly name = 'UrdfError'
}

/**
 * Reads the movable joints of a URDF document in their order. Fixed joints, and joints that follow another one (`mimic`), do not count.
 * The names of the others must be unique, and names that a schema can have.
 * @throws UrdfError with the line of the first problem
 */
export function readUrdf(xml: string): UrdfJoint[] {
  if (xml.length > MAX_URDF_CHARS) throw new UrdfError(`the URDF has more than ${MAX_URDF_CHARS} characters`)
  const joints: UrdfJoint[] = []
  const open: string[] = []
  let joint: { name: string; type: string; limit?: Record<string, string>; mimics?: true } | undefined
  const parser = new SaxesParser()
  const fail = (message: string): never => {
    throw new UrdfError(`line ${parser.line}: ${message}`)
  }
  const number = (name: string, text: string | undefined): number | undefined => {
    if (text === undefined) return undefined
    const value = text.trim() === '' ? Number.NaN : Number(text)
    return Number.isFinite(value) ? value : fail(`${name} of a limit is not a number: ${text.slice(0, 40)}`)
  }
  parser.on('error', ({ message }) => fail(message.replace(/^\d+:\d+: /, '')))
  parser.on('opentag', ({ name, attributes }) => {
    if (name.startsWith('xacro:'))
      fail('this is a xacro file. Expand it first: xacro robot.urdf.xacro > robot.urdf')
    open.push(name)
    if (open.length === 1 && name !== 'robot') fail('a URDF begins with <robot>')
    if (open.length === 2 && name === 'joint')
      joint = { name: attributes.name ?? fail('a joint has no name'), type: attributes.type ?? '' }
    if (open.length !== 3 || !joint) return
    if (name === 'limit') joint.limit = attributes
    if (name === 'mimic') joint.mimics = true
  })
  parser.on('closetag', () => {
    open.pop()
    if (open.length !== 1 || !joint) return
    const { name, type, limit = {}, mimics } = joint
    joint = undefined
    if ((type !== 'revolute' && type !== 'continuous' && type !== 'prismatic') || mimics) return
    if (!FIELD_NAME.test(name))
      fail(
        `the joint ${JSON.stringify(name.slice(0, 80))} needs a name of up to 64 letters, digits, _, ., / and - that begins with a letter`,
      )
    if (joints.some((other) => other.name === name)) fail(`two joints have the name ${name}`)
    if (joints.length === MAX_URDF_JOINTS) fail(`more than ${MAX_URDF_JOINTS} movable joints`)
    const bounded = type !== 'continuous'
    // The URDF specification gives a missing bound the value 0.
    const lower = bounded ? (number('lower', limit.lower) ?? 0) : undefined
    const upper = bounded ? (number('upper', limit.upper) ?? 0) : undefined
    const velocity = number('velocity', limit.velocity)
    if (lower !== undefined && upper !== undefined && lower > upper)
      fail(`the limits of ${name} leave no position`)
    joints.push({
      name,
      type,
      ...(lower !== undefined && { lower }),
      ...(upper !== undefined && { upper }),
      ...(velocity !== undefined && velocity > 0 && { velocity }),
    })
  })
  parser.write(xml).close()
  if (open.length > 0) fail('the document ends too early')
  return joints
}

/**
 * Returns a control schema for the joints of a URDF document: `joints` with a position for each, within its limits and no faster than its
 * velocity (slowly, if it has none), and `clutch`, without which they hold.
 * @throws UrdfError, also if the schema would be larger than a schema may be
 */
export function controlSchemaOfUrdf(xml: string): ControlSchema {
  const properties = propertiesOf(readUrdf(xml), ({ type, velocity = SLOW[type] }) => ({
    'x-max-rate': velocity,
  }))
  return checked(ControlSchema, {
    type: 'object',
    properties: {
      clutch: {
        type: 'boolean',
        'x-clutch': true,
        title: 'Clutch',
        description: 'The joints follow while it is true',
      },
      joints: { type: 'object', properties, additionalProperties: false },
    },
  })
}

/**
 * Returns a telemetry schema for the joints of a URDF document: `joints` with the position of each, in the units and limits of
 * `controlSchemaOfUrdf`. A sample may contain more, such as joints that follow another one. Widen limits beyond which a joint can be
 * measured, because `RobotLink` with `telemetrySchema` sends no sample that the schema refuses.
 * @throws UrdfError, also if the schema would be larger than a schema may be
 */
export function telemetrySchemaOfUrdf(xml: string): TelemetrySchema {
  const properties = propertiesOf(readUrdf(xml))
  return checked(TelemetrySchema, {
    type: 'object',
    properties: { joints: { type: 'object', 'x-kind': 'joints', properties } },
  })
}

/** Returns the field of each joint: its position, with what `more` says about it. */
function propertiesOf(joints: readonly UrdfJoint[], more: (joint: UrdfJoint) => object = () => ({})) {
  if (joints.length === 0) throw new UrdfError('the URDF has no movable joint')
  return Object.fromEntries(
    joints.map((joint) => [
      joint.name,
      {
        type: 'number',
        ...(joint.lower !== undefined && { minimum: joint.lower }),
        ...(joint.upper !== undefined && { maximum: joint.upper }),
        'x-unit': joint.type === 'prismatic' ? 'm' : 'rad',
        ...more(joint),
      },
    ]),
  )
}

/** Returns the schema as the platform would accept it. Long names can make it larger than a schema may be. */
function checked<S extends typeof ControlSchema | typeof TelemetrySchema>(kind: S, schema: object) {
  const { data, error } = kind.safeParse(schema)
  if (data === undefined) throw new UrdfError(`the schema of its joints ${error?.issues[0]?.message}`)
  return data as ReturnType<S['parse']>
}
