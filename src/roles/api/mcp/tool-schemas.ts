import { type Endpoint, supportsIdempotencyKey } from '../../../core/http/endpoint.ts'
import type { OpenApiDocument } from '../openapi/document.ts'
import { fieldNames, fieldsOf, inlineReferences, resolveReference, type Schema } from './json-schema.ts'
import type { ToolSpec } from './tools/tool.ts'

/** Page sizes for a list that the route returns as a whole. */
export const PAGE = { defaultLimit: 10, maxLimit: 50 }

/** The location of an argument in a REST request. */
export type ArgumentLocation = 'path' | 'query' | 'body' | 'page' | 'key' | 'robot'

/** The JSON Schemas of the arguments and the result of a tool, and the location of each argument. */
export interface ToolShape {
  readonly inputSchema: Schema & { type: 'object' }
  readonly outputSchema: Schema & { type: 'object' }
  readonly locations: ReadonlyMap<string, { readonly location: ArgumentLocation; readonly field: string }>
}

interface Argument {
  readonly name: string
  readonly location: ArgumentLocation
  readonly field: string
  readonly schema: Schema
  readonly required: boolean
}

/** Returns the shape of a tool, from the description of its route. */
export function shapeOf(tool: ToolSpec, spec: Endpoint, document: OpenApiDocument): ToolShape {
  const toolArguments = [
    ...argumentsOf(tool, spec, document),
    ...robotArgument(tool),
    ...pageArguments(tool, spec),
    ...keyArgument(spec),
  ]
  const required = toolArguments.filter((candidate) => candidate.required).map(({ name }) => name)
  const inputSchema = {
    type: 'object' as const,
    properties: Object.fromEntries(toolArguments.map(({ name, schema }) => [name, schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
  const locations = new Map(toolArguments.map(({ name, location, field }) => [name, { location, field }]))
  return { inputSchema, outputSchema: outputOf(tool, spec, document), locations }
}

function argumentsOf(tool: ToolSpec, spec: Endpoint, document: OpenApiDocument): Argument[] {
  const operation = document.paths?.[spec.path]?.[spec.method]
  const parameters = (operation?.parameters ?? []).flatMap((parameter): Argument[] => {
    if (!('in' in parameter) || (parameter.in !== 'path' && parameter.in !== 'query')) return []
    const { in: location, name: field, required = false } = parameter
    const name = location === 'path' && field === 'id' ? (tool.id ?? 'id') : field
    const optional = tool.acceptsRobot && name === tool.id
    return [
      {
        name,
        location,
        field,
        schema: inlineReferences(document, parameter.schema),
        required: required && !optional,
      },
    ]
  })
  const body = inlineReferences(document, jsonOf(operation?.requestBody))
  const fields = Object.entries(fieldsOf(body)).map(([field, schema]): Argument => {
    const required = body.required?.includes(field) ?? false
    return { name: field, location: 'body', field, schema, required }
  })
  const omittedFields = new Set([...Object.keys(tool.fixed ?? {}), ...(tool.omitted ?? [])])
  return [...parameters, ...fields]
    .filter(({ name }) => !omittedFields.has(name))
    .map((candidate) =>
      candidate.field === 'limit' && tool.limit ? withDefaultLimit(candidate, tool.limit) : candidate,
    )
    .map((candidate) => ({
      ...candidate,
      required: candidate.required || (tool.required?.includes(candidate.name) ?? false),
    }))
}

const withDefaultLimit = (argument: Argument, defaultLimit: number): Argument => ({
  ...argument,
  schema: { ...argument.schema, default: defaultLimit },
})

const jsonOf = (content: unknown): unknown =>
  (content as { content?: Record<string, { schema?: unknown }> } | undefined)?.content?.['application/json']
    ?.schema ?? {}

/** Returns the argument that names a session by its robot. */
function robotArgument({ acceptsRobot }: ToolSpec): Argument[] {
  if (!acceptsRobot) return []
  const schema = { type: 'string', description: 'Id or name of the robot, instead of sessionId.' }
  return [{ name: 'robot', location: 'robot', field: 'robot', schema, required: false }]
}

/** Returns whether a route sends a list in pages with its total. */
const isPaged = ({ headers = [] }: Endpoint): boolean => headers.includes('X-Total-Count')

function pageArguments({ listField }: ToolSpec, spec: Endpoint): Argument[] {
  if (!listField || isPaged(spec)) return [] // such a route has its own paging arguments
  const integerArgument = (name: string, schema: object): Argument => ({
    name,
    location: 'page',
    field: name,
    required: false,
    schema: { type: 'integer', ...schema },
  })
  return [
    integerArgument('limit', { minimum: 1, maximum: PAGE.maxLimit, default: PAGE.defaultLimit }),
    integerArgument('offset', { minimum: 0, maximum: 10_000, default: 0 }),
  ]
}

function keyArgument(spec: Endpoint): Argument[] {
  if (!supportsIdempotencyKey(spec)) return []
  const description = 'New for each intent. A repeat returns the first response.'
  const schema = { type: 'string', minLength: 1, maxLength: 255, description }
  return [{ name: 'idempotencyKey', location: 'key', field: 'idempotencyKey', schema, required: false }]
}

function outputOf(tool: ToolSpec, spec: Endpoint, document: OpenApiDocument): Schema & { type: 'object' } {
  if (hasNoContent(spec)) return { type: 'object', properties: { done: {} } }
  const responses = document.paths?.[spec.path]?.[spec.method]?.responses ?? {}
  const found: unknown = responses[String(spec.response[0])]
  const response =
    found && typeof found === 'object' && '$ref' in found
      ? resolveReference(document, String(found.$ref))
      : found
  const responseSchema = inlineReferences(document, jsonOf(response))
  return {
    type: 'object',
    ...(tool.listField ? pageOf(tool, tool.listField, responseSchema) : visibleFields(tool, responseSchema)),
  }
}

/** Returns whether a route has an empty response. Its tool returns `done`, so that a model sees that the call succeeded. */
const hasNoContent = ({ response }: Endpoint): boolean => response[0] === 204

/** Returns the schema of the visible fields of a response. */
function visibleFields(tool: ToolSpec, schema: Schema): Schema {
  const { hidden = [], shortened = {} } = tool
  const { properties } = fieldNames(
    schema,
    (name) => isVisibleField(tool, name),
    (name) => !hidden.includes(name),
  )
  const totals = Object.keys(shortened).map((name) => [`${name}_total`, {}])
  return { properties: { ...properties, ...Object.fromEntries(totals) } }
}

/** Returns whether a tool exposes a field of a response, or of the entries of a paged list. */
export const isVisibleField = ({ hidden = [], selected }: ToolSpec, name: string): boolean =>
  !hidden.includes(name) && (selected?.includes(name) ?? true)

/** Returns the schema of one page of a list that the route returns as a whole. */
function pageOf(tool: ToolSpec, listField: string, schema: Schema): Schema {
  const { [listField]: list = {}, ...others } =
    schema.type === 'array' ? { [listField]: schema } : (schema.properties ?? {})
  const names = Object.fromEntries(Object.keys(others).map((name) => [name, {}]))
  return {
    properties: { ...names, [listField]: { items: visibleFields(tool, list.items as Schema) }, total: {} },
  }
}
