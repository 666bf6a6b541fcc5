import { ControlSchema } from '@wheelhouse/protocol'
import { SaxesParser } from 'saxes'

/** Largest URDF document. */
export const MAX_URDF_CHARS = 4 * 1024 * 1024
/** Most movable joints of a robot, so that they fit into a control schema beside other fields. */
export const MAX_URDF_JOINTS = 100
/** A name that a control schema can have. */
const FIELD_NAME = /^\p{L}[\p{L}\p{M}\p{N}_./-]{0,63}$/u

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

/** A document that is no URDF, or has limits that are none. */
export class UrdfError extends Error {
  override readonly name = 'UrdfError'
}

/**
 * Reads the movable joints of a URDF document in their order. Fixed joints, and joints that follow another one (`mimic`), do not count.
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
 * velocity, and `clutch`, without which they hold. Joints without a name that a schema can have are an error.
 * @throws UrdfError
 */
export function controlSchemaOfUrdf(xml: string): ControlSchema {
  const joints = readUrdf(xml)
  if (joints.length === 0) throw new UrdfError('the URDF has no movable joint')
  const unnamed = joints.find(({ name }) => !FIELD_NAME.test(name))
  if (unnamed)
    throw new UrdfError(
      `the joint ${JSON.stringify(unnamed.name)} needs a name of letters, digits, _, ., / and -`,
    )
  const properties = Object.fromEntries(
    joints.map(({ name, type, lower, upper, velocity }) => [
      name,
      {
        type: 'number' as const,
        ...(lower !== undefined && { minimum: lower }),
        ...(upper !== undefined && { maximum: upper }),
        'x-unit': type === 'prismatic' ? 'm' : 'rad',
        ...(velocity !== undefined && { 'x-max-rate': velocity }),
      },
    ]),
  )
  return ControlSchema.parse({
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
