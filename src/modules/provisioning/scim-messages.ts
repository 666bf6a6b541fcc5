import SCIMMY from 'scimmy'
import type { AppError } from '../../core/errors/errors.ts'

// What SCIM messages mean (RFC 7643, RFC 7644), and what Microsoft Entra and Okta send in their stead. Only schemas, patches and filters of
// scimmy are used: its resources have one handler and one address for the whole process, and here each organization has its own.

const { EnterpriseUser, Group: GroupSchema, User: UserSchema } = SCIMMY.Schemas
const { Filter, Error: SCIMError } = SCIMMY.Types

export const USER_SCHEMA = UserSchema.id
export const ENTERPRISE_SCHEMA = EnterpriseUser.id
const ERROR_SCHEMA = SCIMMY.Messages.ErrorResponse.id
const PATCH_SCHEMA = SCIMMY.Messages.PatchOp.id

/** Characters of a filter, of a path or of a list of attributes. */
const MAX_EXPRESSION_LENGTH = 512
/**
 * Operators and groups of a filter. The library writes a filter as alternatives, whose number is a power of this: with 22 alternatives
 * in a row, it takes a minute.
 */
const MAX_FILTER_OPERATORS = 8
const MAX_FILTER_GROUPS = 6
/** Operations of a patch. Entra sends up to 20. */
const MAX_PATCH_OPERATIONS = 100
/** Values of a multi-valued attribute of a user. */
const MAX_VALUES = 50
/** Characters of the attributes of a user. */
const MAX_ATTRIBUTES_LENGTH = 16_384

export type ScimErrorType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'uniqueness'

/** An error that has a keyword of SCIM. */
export const scimError = (status: 400 | 409, type: ScimErrorType, detail: string) =>
  new SCIMError(status, type, detail)

/** Returns the status and the body of an error (RFC 7644, section 3.12). */
export function errorMessage(cause: unknown, fallback: AppError) {
  const known = cause instanceof SCIMError ? cause : undefined
  const status = known?.status ?? fallback.status
  return {
    status,
    body: {
      schemas: [ERROR_SCHEMA],
      status: String(status),
      ...(known?.scimType && { scimType: known.scimType }),
      ...(!known && status === 400 && { scimType: 'invalidSyntax' }),
      detail: known?.message ?? fallback.message,
    },
  }
}

/** A user as it is stored. */
export interface ScimUserInput {
  readonly userName: string
  readonly externalId: string | null
  readonly active: boolean
  /** The other attributes. */
  readonly attributes: Record<string, unknown>
}

export interface ScimUserRow extends ScimUserInput {
  readonly id: string
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly groups?: readonly { readonly id: string; readonly displayName: string }[]
}

export interface ScimGroupInput {
  readonly displayName: string
  readonly externalId: string | null
  /** The ids of its members. */
  readonly members: readonly string[]
}

export interface ScimGroupRow extends Omit<ScimGroupInput, 'members'> {
  readonly id: string
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly members?: readonly { readonly id: string; readonly display: string }[]
}

type UserResource = InstanceType<typeof UserSchema>
type GroupResource = InstanceType<typeof GroupSchema>

let extended = false
/** Adds the extension for enterprises to users, once per process: Entra provisions departments and managers. */
export function declareSchemas(): void {
  if (extended) return
  extended = true
  UserSchema.extend(EnterpriseUser as unknown as SCIMMY.Types.Schema, false)
}

// Expressions

/** Attributes that would be found on the prototype of every object. The library would change them. */
const PROTOTYPE = /__proto__|constructor|prototype/i

/** Checks a filter or a path before the library parses it. @throws 400 */
function requireBounded(text: string, type: 'invalidFilter' | 'invalidPath'): void {
  if (text.length > MAX_EXPRESSION_LENGTH)
    throw scimError(400, type, `The expression is longer than ${MAX_EXPRESSION_LENGTH} characters.`)
  const plain = text.replace(/"(?:[^"\\]|\\.)*"/g, '""')
  const operators = plain.match(/\b(and|or|not)\b/gi)?.length ?? 0
  const groups = plain.match(/[([]/g)?.length ?? 0
  if (operators > MAX_FILTER_OPERATORS || groups > MAX_FILTER_GROUPS)
    throw scimError(
      400,
      type,
      `The expression has more than ${MAX_FILTER_OPERATORS} operators or ${MAX_FILTER_GROUPS} groups.`,
    )
  if (PROTOTYPE.test(plain) || /\\/.test(plain)) throw scimError(400, type, 'The expression is not valid.')
}

export type FilterExpression = readonly Readonly<Record<string, unknown>>[]

/** Parses a filter into alternatives, each with a condition per attribute. @throws 400 */
export function parseFilter(text: string): FilterExpression {
  requireBounded(text, 'invalidFilter')
  try {
    return [...new Filter(text)]
  } catch (cause) {
    if (cause instanceof SCIMError) throw cause
    throw scimError(400, 'invalidFilter', 'The filter is not valid.')
  }
}

/** Which attributes a response contains: those of `attributes`, or all but those of `excludedAttributes`. */
export interface Selection {
  readonly attributes?: string | undefined
  readonly excludedAttributes?: string | undefined
}

const ATTRIBUTE = /^[A-Za-z][\w:.$-]*$/

/** Returns the filter of attributes that the library applies to a response. @throws 400 */
function selectionFilter({ attributes, excludedAttributes }: Selection) {
  const listed = attributes ?? excludedAttributes
  if (listed === undefined || listed.trim() === '') return undefined
  if (listed.length > MAX_EXPRESSION_LENGTH || PROTOTYPE.test(listed))
    throw scimError(400, 'invalidValue', 'The list of attributes is not valid.')
  const names = listed.split(',').map((name) => name.trim())
  if (!names.every((name) => ATTRIBUTE.test(name)))
    throw scimError(400, 'invalidValue', 'The list of attributes is not valid.')
  return new Filter(names.map((name) => `${name} ${attributes === undefined ? 'np' : 'pr'}`).join(' and '))
}

/** Returns whether a response without these attributes needs the members of groups. */
export const selectsMembers = ({ attributes, excludedAttributes }: Selection): boolean =>
  attributes !== undefined ? /\bmembers\b/i.test(attributes) : !/\bmembers\b/i.test(excludedAttributes ?? '')

// Resources

/** Returns a user as the wire has it. */
export const userResource = (row: ScimUserRow, base: string, selection: Selection = {}): UserResource =>
  new UserSchema(
    {
      ...row.attributes,
      id: row.id,
      userName: row.userName,
      active: row.active,
      ...(row.externalId !== null && { externalId: row.externalId }),
      ...(row.groups?.length && {
        groups: row.groups.map((group) => ({
          value: group.id,
          display: group.displayName,
          $ref: `${base}/Groups/${group.id}`,
          type: 'direct',
        })),
      }),
      meta: { created: row.createdAt, lastModified: row.updatedAt },
    },
    'out',
    `${base}/Users`,
    selectionFilter(selection),
  )

/** Returns a group as the wire has it. */
export const groupResource = (row: ScimGroupRow, base: string, selection: Selection = {}): GroupResource =>
  new GroupSchema(
    {
      id: row.id,
      displayName: row.displayName,
      ...(row.externalId !== null && { externalId: row.externalId }),
      ...(row.members?.length && {
        members: row.members.map(({ id, display }) => ({ value: id, display, $ref: `${base}/Users/${id}` })),
      }),
      meta: { created: row.createdAt, lastModified: row.updatedAt },
    },
    'out',
    `${base}/Groups`,
    selectionFilter(selection),
  )

/** Returns a page of a list. */
export const listMessage = (
  resources: readonly object[],
  { startIndex, total }: { startIndex: number; total: number },
) => ({
  schemas: [SCIMMY.Messages.ListResponse.id],
  totalResults: total,
  startIndex,
  itemsPerPage: resources.length,
  Resources: resources,
})

/** Reads the body of a new or replaced user. @throws 400 */
export function readUser(body: unknown): ScimUserInput {
  const resource = reading(() => new UserSchema(corrected(requireObject(body)), 'in'))
  return userInput(resource)
}

/** Reads the body of a new or replaced group. @throws 400 */
export function readGroup(body: unknown): ScimGroupInput {
  return groupInput(reading(() => new GroupSchema(corrected(requireObject(body)), 'in')))
}

const KNOWN = new Set(['schemas', 'id', 'meta', 'externalId', 'userName', 'active', 'password', 'groups'])

function userInput(resource: UserResource): ScimUserInput {
  const all: Record<string, unknown> = JSON.parse(JSON.stringify(resource))
  const attributes = Object.fromEntries(Object.entries(all).filter(([name]) => !KNOWN.has(name)))
  if (JSON.stringify(attributes).length > MAX_ATTRIBUTES_LENGTH)
    throw scimError(400, 'invalidValue', 'The attributes of the user are too long.')
  if (Object.values(attributes).some((value) => Array.isArray(value) && value.length > MAX_VALUES))
    throw scimError(400, 'invalidValue', `An attribute has more than ${MAX_VALUES} values.`)
  return {
    userName: requireText(resource.userName, 'userName'),
    externalId: optionalText(resource.externalId, 'externalId'),
    active: resource.active ?? true,
    attributes,
  }
}

function groupInput(resource: GroupResource): ScimGroupInput {
  return {
    displayName: requireText(resource.displayName, 'displayName'),
    externalId: optionalText(resource.externalId, 'externalId'),
    members: [...new Set((resource.members ?? []).map(({ value }) => requireId(value)))],
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
export const isId = (text: string): boolean => UUID.test(text)

function requireId(value: unknown): string {
  if (typeof value === 'string' && isId(value)) return value.toLowerCase()
  throw scimError(400, 'invalidValue', 'A member is not the id of a user.')
}

const MAX_NAME_LENGTH = 255

function requireText(value: unknown, name: string): string {
  const text = optionalText(value, name)?.trim()
  if (!text) throw scimError(400, 'invalidValue', `${name} must not be empty.`)
  return text
}

function optionalText(value: unknown, name: string): string | null {
  if (value === undefined || value === null) return null
  if (typeof value === 'string' && value.length <= MAX_NAME_LENGTH) return value
  throw scimError(400, 'invalidValue', `${name} must be text of at most ${MAX_NAME_LENGTH} characters.`)
}

function requireObject(body: unknown): Record<string, unknown> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body))
    return body as Record<string, unknown>
  throw scimError(400, 'invalidSyntax', 'The body must be a JSON object.')
}

/** Runs the library on input, whose errors are those of the input. */
function reading<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (cause instanceof SCIMError) throw cause
    if (cause instanceof TypeError) throw scimError(400, 'invalidValue', cause.message)
    throw cause
  }
}

/** Entra sends these as text: "True", "False". */
const BOOLEANS = /^(active|primary)$/i

/** Returns input with booleans instead of their texts. @throws 400 for names and texts that are not valid */
function corrected<T>(value: T, name = ''): T {
  if (typeof value === 'string') {
    if (!value.isWellFormed() || value.includes('\0'))
      throw scimError(400, 'invalidValue', 'A text contains characters that cannot be stored.')
    return (BOOLEANS.test(name) && /^(true|false)$/i.test(value) ? /^true$/i.test(value) : value) as T
  }
  if (Array.isArray(value)) return value.map((entry) => corrected(entry, name)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => {
      if (PROTOTYPE.test(key)) throw scimError(400, 'invalidPath', 'The name of an attribute is not valid.')
      return [key, corrected(entry, key)]
    }),
  ) as T
}

// Patches

interface Operation {
  readonly op: string
  readonly path: string
  readonly value: unknown
}

/** Reads the operations of a patch in the form of the standard. @throws 400 */
export function readPatch(body: unknown): Operation[] {
  const { schemas, Operations: operations } = requireObject(body)
  if (!Array.isArray(schemas) || !schemas.includes(PATCH_SCHEMA))
    throw scimError(400, 'invalidSyntax', `A patch must have the schema ${PATCH_SCHEMA}.`)
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > MAX_PATCH_OPERATIONS)
    throw scimError(400, 'invalidValue', `A patch must have 1 to ${MAX_PATCH_OPERATIONS} operations.`)
  const read = operations.flatMap(operationsOf)
  if (read.length > MAX_PATCH_OPERATIONS)
    throw scimError(400, 'invalidValue', `A patch must change at most ${MAX_PATCH_OPERATIONS} attributes.`)
  return read
}

/** Returns an operation as one for each path: without a path, its value names the attributes, also as `name.familyName`. */
function operationsOf(entry: unknown): Operation[] {
  const { op, path, value } = requireObject(entry)
  const name = typeof op === 'string' ? op.toLowerCase() : ''
  if (!/^(add|remove|replace)$/.test(name))
    throw scimError(400, 'invalidSyntax', 'op must be add, remove or replace.')
  if (path === undefined || path === null || path === '') {
    if (name === 'remove') throw scimError(400, 'noTarget', 'A removal must have a path.')
    return Object.entries(requireObject(value)).map(([key, part]) => operation(name, key, part))
  }
  if (typeof path !== 'string') throw scimError(400, 'invalidPath', 'path must be text.')
  return [operation(name, path, value)]
}

function operation(op: string, path: string, value: unknown): Operation {
  requireBounded(path, 'invalidPath')
  if (op !== 'remove' && value === undefined) throw scimError(400, 'invalidValue', `${path} has no value.`)
  const attribute = /[\w$]+$/.exec(path)?.[0] ?? ''
  // Entra sends the id of a manager as text.
  const complete = /:manager$/i.test(path) && typeof value === 'string' ? { value } : value
  return { op, path, value: corrected(complete, attribute) }
}

/** Applies a patch to a user. @throws 400 */
export async function patchUser(row: ScimUserRow, operations: readonly Operation[]): Promise<ScimUserInput> {
  let resource = userResource({ ...row, groups: [] }, '')
  for (const given of operations) resource = await apply(resource, [withTarget(resource, given)])
  return userInput(resource)
}

/** Applies a patch to a group: to its members without the library, which compares every member with every one of the patch. @throws 400 */
export async function patchGroup(
  row: ScimGroupRow,
  operations: readonly Operation[],
): Promise<ScimGroupInput> {
  const members = new Set(row.members?.map(({ id }) => id))
  const others = operations.filter((given) => !changeMembers(members, given))
  const resource = groupResource({ ...row, members: [] }, '')
  const { displayName, externalId } = groupInput(others.length > 0 ? await apply(resource, others) : resource)
  return { displayName, externalId, members: [...members] }
}

const MEMBERS = /^(?:urn:[\w:.]+:Group:)?members(?:\[\s*value\s+eq\s+"([^"]*)"\s*\])?$/i

/** Applies an operation on members; returns false for one on another attribute. */
function changeMembers(members: Set<string>, { op, path, value }: Operation): boolean {
  const match = MEMBERS.exec(path)
  if (!match) {
    if (/members/i.test(path)) throw scimError(400, 'invalidPath', `The path ${path} is not supported.`)
    return false
  }
  const selected = match[1]
  if (selected !== undefined && op !== 'remove')
    throw scimError(400, 'invalidPath', `The path ${path} can only be removed.`)
  const listed = value === undefined || value === null ? undefined : [value].flat()
  const ids =
    selected === undefined ? listed?.map((entry) => requireId(Object(entry).value)) : [selected.toLowerCase()]
  if (op === 'replace' || ids === undefined) members.clear()
  for (const id of ids ?? []) op === 'remove' ? members.delete(id) : members.add(id)
  return true
}

async function apply<R extends UserResource | GroupResource>(
  resource: R,
  operations: readonly Operation[],
): Promise<R> {
  const sent = operations.map(({ op, path, value }) => ({
    op: op as 'add' | 'remove' | 'replace',
    path,
    ...(value !== undefined && value !== null ? { value } : {}),
  }))
  const patch = new SCIMMY.Messages.PatchOp({ schemas: [PATCH_SCHEMA], Operations: sent })
  try {
    return (await patch.apply<R>(resource)) ?? resource
  } catch (cause) {
    if (cause instanceof SCIMError) throw cause
    if (cause instanceof TypeError) throw scimError(400, 'invalidValue', cause.message)
    throw cause
  }
}

/** A path such as `emails[type eq "work"].value`. */
const SELECTED_VALUE = /^(\w+)\[(\w+) eq "?([^"\]]*)"?\]\.(\w+)$/i

/** Entra adds the value of an entry that does not exist, such as a second address. It then adds the entry. */
function withTarget(resource: UserResource, given: Operation): Operation {
  const [, name = '', key = '', wanted = '', part = ''] = SELECTED_VALUE.exec(given.path) ?? []
  if (part === '' || given.op === 'remove') return given
  const entries: unknown = Reflect.get(resource, name)
  const known =
    Array.isArray(entries) &&
    entries.some((entry) => String(Object(entry)[key]).toLowerCase() === wanted.toLowerCase())
  return known
    ? given
    : { op: 'add', path: name, value: [corrected({ [key]: corrected(wanted, key), [part]: given.value })] }
}
