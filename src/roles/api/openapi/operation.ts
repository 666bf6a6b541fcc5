import type { ZodObjectInput, ZodOpenApiOperationObject, ZodOpenApiRequestBodyObject } from 'zod-openapi'
import { type Endpoint, isOptional, supportsIdempotencyKey } from '../../../core/http/endpoint.ts'
import { idempotencyKeyRef } from './components.ts'
import { callersOf, operationIdOf, tagOf } from './operation-names.ts'
import { responsesOf } from './responses.ts'

const BYTES_PER_MB = 1024 * 1024

/** Returns the OpenAPI operation of an endpoint. */
export function operationOf(spec: Endpoint): ZodOpenApiOperationObject {
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
