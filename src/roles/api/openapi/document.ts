import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { core } from 'zod'
import {
  createDocument,
  type oas31,
  type ZodObjectInput,
  type ZodOpenApiOperationObject,
  type ZodOpenApiOverride,
  type ZodOpenApiPathsObject,
  type ZodOpenApiRequestBodyObject,
} from 'zod-openapi'
import { type Endpoint, isOptional, supportsIdempotencyKey } from '../../../core/http/endpoint.ts'
import { idempotencyKeyRef, sharedComponents } from './components.ts'
import { exampleOf } from './examples.ts'
import { callersOf, operationIdOf, tagOf, tagsOf } from './operation-names.ts'
import { responsesOf, sharedResponses } from './responses.ts'

const BYTES_PER_MB = 1024 * 1024

/** Returns the OpenAPI operation of an endpoint. */
function operationOf(spec: Endpoint): ZodOpenApiOperationObject {
  const requestBody = requestBodyOf(spec)
  return {
    operationId: operationIdOf(spec),
    tags: [tagOf(spec).name],
    summary: spec.summary,
    description: callersOf(spec),
    security: securityOf(spec),
    requestParams: {
      ...(spec.params && { path: objectSchema(spec.params) }),
      ...(spec.query && { query: objectSchema(spec.query) }),
    },
    ...(supportsIdempotencyKey(spec) && { parameters: [idempotencyKeyRef] }),
    ...(requestBody && { requestBody }),
    responses: responsesOf(spec),
  }
}

function securityOf({ access }: Endpoint): Record<string, string[]>[] {
  if (access === 'public') return []
  const session = [{ sessionToken: [] }, { sessionCookie: [] }]
  return access.sessionOnly ? session : [...session, { apiKey: [] }]
}

function requestBodyOf({ body, textBody, upload }: Endpoint): ZodOpenApiRequestBodyObject | undefined {
  if (body) return { required: !isOptional(body), content: { 'application/json': { schema: body } } }
  if (textBody) return { required: true, content: { [textBody]: { schema: { type: 'string' } } } }
  if (!upload) return undefined
  const { field, types, maxBytes } = upload
  const description = `A file of at most ${Math.round((maxBytes / BYTES_PER_MB) * 10) / 10} MB: ${types.join(', ')}`
  return {
    required: true,
    content: {
      'multipart/form-data': {
        schema: {
          type: 'object',
          properties: { [field]: { type: 'string', format: 'binary', description } },
          required: [field],
        },
        encoding: { [field]: { contentType: types.join(', ') } },
        example: { [field]: 'the bytes of the file' },
      },
    },
  }
}

/** Parameters are declared with object schemas. The generator reports other schemas. */
const objectSchema = (schema: NonNullable<Endpoint['params']>) => schema as unknown as ZodObjectInput

export type OpenApiDocument = oas31.OpenAPIObject

/**
 * Returns the OpenAPI 3.1 document of the endpoints, from their validation schemas. The text does not depend on the
 * order of the endpoints.
 */
export function describeApi(options: { endpoints: readonly Endpoint[]; baseUrl: string }): OpenApiDocument {
  const { endpoints, baseUrl } = options
  // The type also allows features of 3.2.
  const document = createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Wheelhouse',
        version: packageVersion(),
        description:
          'An open teleoperation hub. Times are ISO 8601 in UTC, money is integer cents in EUR. ' +
          'Robots and live clients speak WebSocket instead.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: baseUrl }],
      tags: tagsOf(endpoints),
      paths: pathsOf(endpoints),
      components: { ...sharedComponents(baseUrl), responses: sharedResponses(endpoints) },
    },
    { override: simplifySchema },
  ) as unknown as OpenApiDocument
  const described = { ...document, components: sortedComponents(document.components ?? {}) }
  addExamples(described, endpoints)
  return described
}

/** Returns the version of the platform. */
export function packageVersion(): string {
  return JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')).version
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

function pathsOf(endpoints: readonly Endpoint[]): ZodOpenApiPathsObject {
  const paths = [...new Set(endpoints.map(({ path }) => path))].sort()
  return Object.fromEntries(
    paths.map((path) => {
      const findEndpoint = (method: string) =>
        endpoints.find((candidate) => candidate.path === path && candidate.method === method)
      const operations = methods.flatMap((method) => {
        const spec = findEndpoint(method)
        return spec ? [[method, operationOf(spec)]] : []
      })
      return [path, Object.fromEntries(operations)]
    }),
  )
}

/** Removes keywords without meaning, and those that would forbid new fields in a response. */
const simplifySchema: ZodOpenApiOverride = ({ jsonSchema, zodSchema, io }) => {
  if (jsonSchema.format === 'uuid' || jsonSchema.format === 'date-time') delete jsonSchema.pattern
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (isDeepStrictEqual(jsonSchema.propertyNames, { type: 'string' })) delete jsonSchema.propertyNames
  const { def } = zodSchema._zod
  // zod omits the default of a schema with a transform, because it is a default of the output. For a number in a
  // query, input and output have the same default.
  if (io === 'input' && def.type === 'default' && jsonSchema.type === 'integer') {
    jsonSchema.default = (def as core.$ZodDefaultDef).defaultValue as number
  }
  if (io === 'output' && def.type === 'object' && !('catchall' in def && def.catchall)) {
    delete jsonSchema.additionalProperties
  }
}

function sortedComponents(components: oas31.ComponentsObject): oas31.ComponentsObject {
  return sorted(mapSections(components, sorted))
}
const sorted = <T extends object>(record: T): T =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))) as T
const mapSections = (components: oas31.ComponentsObject, map: (section: object) => object) =>
  Object.fromEntries(Object.entries(components).map(([name, section]) => [name, map(section)]))

/** Adds an example to every parameter and every JSON body. */
function addExamples(document: OpenApiDocument, endpoints: readonly Endpoint[]): void {
  const schemas = document.components?.schemas ?? {}
  const example = (schema: oas31.SchemaObject | oas31.ReferenceObject, name?: string) =>
    exampleOf(schema, (ref) => schemas[ref.split('/').at(-1) ?? ''] ?? {}, name)
  for (const path of Object.values(document.paths ?? {})) {
    for (const method of methods) {
      const operation = path[method]
      if (!operation) continue
      for (const parameter of operation.parameters ?? []) {
        if ('schema' in parameter && parameter.schema)
          parameter.example = example(parameter.schema, parameter.name)
      }
      for (const body of [operation.requestBody, ...Object.values(operation.responses ?? {})]) {
        const json = body?.content?.['application/json']
        if (json?.schema) json.example ??= example(json.schema)
      }
    }
  }
  for (const { path, method, response: success, example: fields } of endpoints) {
    const response: oas31.ResponseObject | undefined =
      document.paths?.[path]?.[method]?.responses?.[success[0]]
    const json = response?.content?.['application/json']
    if (fields && json) json.example = { ...json.example, ...fields }
  }
}
