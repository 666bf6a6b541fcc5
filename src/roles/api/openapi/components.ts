import { ERROR_CODE_HEADER, type ErrorCode } from '@wheelhouse/protocol'
import { z } from 'zod'
import type { oas31, ZodOpenApiComponentsObject } from 'zod-openapi'
import { sessionCookieName } from '../../../modules/identity/index.ts'

/** The body of every error. */
export const ErrorBody = z.object({ error: z.string() }).meta({
  id: 'Error',
  description: 'The body of every error: one human-readable text.',
  examples: [
    {
      error: 'hardware_id: cannot be registered. Check the id. If it is right, contact support.',
    },
  ],
})

const headers = {
  'X-Request-Id': {
    description: 'Identifies the request in the log of the platform. The caller may set it.',
    schema: {
      type: 'string',
      pattern: '^[\\w.-]{8,64}$',
      examples: ['8d2c7a52-5f0e-4a39-9d53-0a1c9f1e7b11'],
    },
  },
  RateLimit: {
    description: 'On rate-limited routes: the remaining requests, and the seconds until the limit resets.',
    schema: { type: 'string', examples: ['"default";r=42;t=30'] },
  },
  'RateLimit-Policy': {
    description: 'On rate-limited routes: the permitted requests per window, and the window in seconds.',
    schema: { type: 'string', examples: ['"default";q=60;w=60'] },
  },
  'X-Total-Count': {
    description: 'The number of entries that match the filters, on all pages together.',
    schema: { type: 'integer', minimum: 0, examples: [120] },
  },
  'X-Next-Cursor': {
    description: 'The cursor of the next page. Absent on the last page.',
    schema: { type: 'string', examples: ['WyJuYW1lIiwiYXJtIiwiNWIxZjlhODYiXQ'] },
  },
  ETag: {
    description: 'Identifies the content. Send it in If-None-Match to get 304 while the content is the same.',
    schema: { type: 'string', examples: ['W/"Zk1x0aN4yYq3bq8f0cD2sT6uV9wXeR5tL7mP1oKjHgA"'] },
  },
  Location: {
    description: 'The address of the created resource. DELETE it to end the connection.',
    schema: { type: 'string', format: 'uri-reference' },
  },
  Link: {
    description: 'TURN servers with credentials, each with rel="ice-server" (RFC 9725, section 4.6).',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds to wait before the next attempt.',
    schema: { type: 'integer', minimum: 0, examples: [1] },
  },
  'WWW-Authenticate': {
    description: 'The authentication scheme.',
    schema: { type: 'string', examples: ['Bearer'] },
  },
  'Idempotent-Replayed': {
    description:
      'Present when this is the stored response to an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
  },
} satisfies Record<string, oas31.HeaderObject>
export type HeaderName = keyof typeof headers

/** Returns the description of the header with the error code, limited to these codes. */
export const errorCodeHeader = (codes: readonly ErrorCode[]) => ({
  [ERROR_CODE_HEADER]: {
    description: 'The code of the error, for programs.',
    required: true,
    schema: { type: 'string', enum: [...codes] },
  } satisfies oas31.HeaderObject,
})

/** Returns references to shared headers for a response. */
export const headerRefs = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const parameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Makes a retry safe: within 24 hours, a request with the same key and body gets the stored response to ' +
      'the first request and is not executed again.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    example: '4f9d1e0a-2b7c-4c1f-8a58-7d3f0c2e9b66',
  },
} satisfies Record<string, oas31.ParameterObject>
export const idempotencyKeyRef = { $ref: '#/components/parameters/IdempotencyKey' }

/** Returns the shared components of a document. The name of the cookie depends on the public origin. */
export function sharedComponents(baseUrl: string): ZodOpenApiComponentsObject {
  return {
    headers,
    parameters,
    securitySchemes: {
      sessionToken: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'JWT',
        description: 'The session token of the identity provider.',
      },
      sessionCookie: {
        type: 'apiKey',
        in: 'cookie',
        name: sessionCookieName(baseUrl),
        description:
          'The same token as a cookie, as the console sends it. Requests that change data must then come ' +
          'from an allowed origin.',
      },
      apiKey: {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'svc_live_…',
        description: 'An API key, for programs. Keep it on a server.',
      },
    },
  }
}
