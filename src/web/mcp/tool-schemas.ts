import { type Endpoint, keepsAnswers } from '../../core/http/endpoint.ts'
import type { OpenApiDocument } from '../openapi/document.ts'
import { fieldNames, fieldsOf, inlined, type Schema, target } from './json-schema.ts'
import type { ToolSpec } from './tool.ts'

/** Entries of a page that is cut from a whole list. */
export const PAGE = { usual: 10, most: 50 }

/** Where in a request over REST an argument belongs. */
export type Place = 'path' | 'query' | 'body' | 'page' | 'key' | 'robot'

/** A tool's arguments and answer, as JSON Schema, and where each argument goes. */
export interface ToolShape {
  readonly inputSchema: Schema & { type: 'object' }
  readonly outputSchema: Schema & { type: 'object' }
  readonly places: ReadonlyMap<string, { readonly place: Place; readonly field: string }>
}

interface Argument {
  readonly name: string
  readonly place: Place
  readonly field: string
  readonly schema: Schema
  readonly required: boolean
}

/** The shape of a tool, from the description of its route. */
export function shapeOf(tool: ToolSpec, spec: Endpoint, document: OpenApiDocument): ToolShape {
  const taken = [
    ...argumentsOf(tool, spec, document),
    ...robotArgument(tool),
    ...pageArguments(tool, spec),
    ...keyArgument(spec),
  ]
  const required = taken.filter((one) => one.required).map(({ name }) => name)
  const inputSchema = {
    type: 'object' as const,
    properties: Object.fromEntries(taken.map(({ name, schema }) => [name, schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
  const places = new Map(taken.map(({ name, place, field }) => [name, { place, field }]))
  return { inputSchema, outputSchema: outputOf(tool, spec, document), places }
}

function argumentsOf(tool: ToolSpec, spec: Endpoint, document: OpenApiDocument): Argument[] {
  const operation = document.paths?.[spec.path]?.[spec.method]
  const parameters = (operation?.parameters ?? []).flatMap((parameter): Argument[] => {
    if (!('in' in parameter) || (parameter.in !== 'path' && parameter.in !== 'query')) return []
    const { in: place, name: field, required = false } = parameter
    const name = place === 'path' && field === 'id' ? (tool.id ?? 'id') : field
    const optional = tool.orRobot && name === tool.id
    return [
      { name, place, field, schema: inlined(document, parameter.schema), required: required && !optional },
    ]
  })
  const body = inlined(document, jsonOf(operation?.requestBody))
  const fields = Object.entries(fieldsOf(body)).map(([field, schema]): Argument => {
    const required = body.required?.includes(field) ?? false
    return { name: field, place: 'body', field, schema, required }
  })
  const left = new Set([...Object.keys(tool.fixed ?? {}), ...(tool.without ?? [])])
  return [...parameters, ...fields]
    .filter(({ name }) => !left.has(name))
    .map((one) => (one.field === 'limit' && tool.limit ? withUsual(one, tool.limit) : one))
    .map((one) => ({ ...one, required: one.required || (tool.required?.includes(one.name) ?? false) }))
}

const withUsual = (argument: Argument, usual: number): Argument => ({
  ...argument,
  schema: { ...argument.schema, default: usual },
})

const jsonOf = (content: unknown): unknown =>
  (content as { content?: Record<string, { schema?: unknown }> } | undefined)?.content?.['application/json']
    ?.schema ?? {}

/** In place of the id of a session: the robot of an open one. */
function robotArgument({ orRobot }: ToolSpec): Argument[] {
  if (!orRobot) return []
  const schema = { type: 'string', description: 'Id or name of the robot, instead of sessionId.' }
  return [{ name: 'robot', place: 'robot', field: 'robot', schema, required: false }]
}

/** Whether a route answers a list with a page of it, and with how many entries there are. */
const isPaged = ({ headers = [] }: Endpoint): boolean => headers.includes('X-Total-Count')

function pageArguments({ pages }: ToolSpec, spec: Endpoint): Argument[] {
  if (!pages || isPaged(spec)) return [] // such a route has arguments of its own
  const whole = (name: string, schema: object): Argument => ({
    ...{ name, place: 'page', field: name, required: false },
    schema: { type: 'integer', ...schema },
  })
  return [
    whole('limit', { minimum: 1, maximum: PAGE.most, default: PAGE.usual }),
    whole('offset', { minimum: 0, maximum: 10_000, default: 0 }),
  ]
}

function keyArgument(spec: Endpoint): Argument[] {
  if (!keepsAnswers(spec)) return []
  const description = 'Your own text, new for each intent. A repeated text repeats the answer, not the work.'
  const schema = { type: 'string', minLength: 1, maxLength: 255, description }
  return [{ name: 'idempotencyKey', place: 'key', field: 'idempotencyKey', schema, required: false }]
}

function outputOf(tool: ToolSpec, spec: Endpoint, document: OpenApiDocument): Schema & { type: 'object' } {
  const responses = document.paths?.[spec.path]?.[spec.method]?.responses ?? {}
  const found: unknown = responses[String(spec.answer[0])]
  const response =
    found && typeof found === 'object' && '$ref' in found ? target(document, String(found.$ref)) : found
  const answer = inlined(document, jsonOf(response))
  return { type: 'object', ...(tool.pages ? pageOf(tool, tool.pages, answer) : handedOn(tool, answer)) }
}

/** What is left of an answer, in its schema; `handOn` does the same to the answer itself. */
const handedOn = (tool: ToolSpec, schema: Schema): Schema =>
  fieldNames(schema, (name) => isHandedOn(tool, name))

/** Whether a field of an answer, or of the entries of a list that comes in pages, is handed on. */
export const isHandedOn = ({ hidden = [], picked }: ToolSpec, name: string): boolean =>
  !hidden.includes(name) && (picked?.includes(name) ?? true)

/** A list that came as a whole, as one page of it. */
function pageOf(tool: ToolSpec, pages: string, schema: Schema): Schema {
  const list = (schema.type === 'array' ? schema : schema.properties?.[pages]) ?? {}
  return { properties: { [pages]: { items: handedOn(tool, list.items as Schema) }, total: {} } }
}
