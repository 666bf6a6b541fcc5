import { STATUS_CODES } from 'node:http'
import { ErrorCode } from '@wheelhouse/protocol'
import type { z } from 'zod'
import type { oas31, ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi'
import { type Endpoint, supportsIdempotencyKey } from '../../../core/http/endpoint.ts'
import { errorResponsesOf, otherResponsesOf, type StatusCases } from '../../../core/http/error-responses.ts'
import { ErrorBody, errorCodeHeader, type HeaderName, headerRefs } from './components.ts'
import { capitalised } from './operation-names.ts'

const commonHeaders: readonly HeaderName[] = ['X-Request-Id', 'RateLimit', 'RateLimit-Policy']
const successDescriptions: Readonly<Record<number, string>> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted for later processing',
  204: 'Success without a body',
}
/** Example error messages by status. */
const errorTexts: Readonly<Record<number, string>> = {
  400: 'robotId: Invalid UUID',
  401: 'Sign in, or send an Authorization: Bearer header',
  404: 'Robot not found',
  409: 'The robot is not AVAILABLE (it is IN_SESSION)',
  410: 'Events up to 4711 are no longer stored. Read the current state, and continue with after=latest or after=oldest.',
  413: 'Request body is too large',
  415: 'Content-Type must be application/json',
  422: 'Idempotency-Key was used with another body',
  429: 'Too many requests',
  500: 'Internal error',
  502: 'The identity provider did not return your account. Try again later.',
  503: 'The database is unreachable. Try again shortly.',
}

/** Returns every response of an endpoint: success, other responses, errors. */
export function responsesOf(spec: Endpoint): ZodOpenApiResponsesObject {
  const [status, body] = spec.response
  const success: ZodOpenApiResponseObject = {
    description: successDescriptions[status] ?? STATUS_CODES[status] ?? String(status),
    headers: headerRefs([
      ...commonHeaders,
      ...(supportsIdempotencyKey(spec) ? (['Idempotent-Replayed'] as const) : []),
      ...(spec.list ? (['ETag'] as const) : []),
      ...(spec.headers ?? []),
    ]),
    ...contentOf(body, spec.media, spec.download),
  }
  const otherResponses = Object.entries(otherResponsesOf(spec)).map(([status, [when, body, errorCode]]) => [
    status,
    {
      description: capitalised(when),
      headers: { ...headerRefs(commonHeaders), ...(errorCode && errorCodeHeader([errorCode])) },
      ...contentOf(body),
    },
  ])
  const errors = [...errorResponsesOf(spec)].map(([status, cases]) => [
    status,
    isShared(spec, status)
      ? { $ref: `#/components/responses/${sharedName(status)}` }
      : errorResponse(status, cases, spec),
  ])
  return Object.fromEntries([[status, success], ...otherResponses, ...errors])
}

/** Returns the error responses that are the same for all endpoints, by component name. */
export function sharedResponses(endpoints: readonly Endpoint[]): Record<string, ZodOpenApiResponseObject> {
  const shared = new Map<number, { cases: Map<ErrorCode, readonly string[]>; spec: Endpoint }>()
  for (const spec of endpoints) {
    for (const [status, cases] of errorResponsesOf(spec)) {
      if (!isShared(spec, status)) continue
      const known = shared.get(status) ?? { cases: new Map(), spec }
      shared.set(status, known)
      for (const [code, when] of cases) known.cases.set(code, when)
    }
  }
  return Object.fromEntries(
    [...shared].map(([status, { cases, spec }]) => [
      sharedName(status),
      errorResponse(status, sortedCases(cases), spec),
    ]),
  )
}

/** Sorts the cases by code, so that the document does not depend on the order of the endpoints. */
const sortedCases = (cases: StatusCases): StatusCases =>
  new Map([...cases].sort(([a], [b]) => ErrorCode.options.indexOf(a) - ErrorCode.options.indexOf(b)))

/** Returns whether the endpoint uses the shared response of a status. A 403 differs by access. */
const isShared = ({ errors }: Endpoint, status: number) =>
  status !== 403 && !Object.keys(errors ?? {}).includes(String(status))

const sharedName = (status: number) => (STATUS_CODES[status] ?? String(status)).replaceAll(/\W/g, '')

function errorResponse(status: number, cases: StatusCases, spec: Endpoint): ZodOpenApiResponseObject {
  const example = {
    error: status === 403 ? forbiddenText(spec) : (errorTexts[status] ?? STATUS_CODES[status]),
  }
  return {
    description: capitalised([...cases].map(describeCase).join(', or ')),
    headers: { ...headersOf(status), ...errorCodeHeader([...cases.keys()]) },
    content: { 'application/json': { schema: ErrorBody, example } },
  }
}

const describeCase = ([code, when]: [ErrorCode, readonly string[]]) => `${when.join(', or ')} (\`${code}\`)`

/** Returns the example message of a 403 for the access of a route. */
function forbiddenText({ access, method }: Endpoint): string {
  if (access !== 'public' && access.role) return `You need the ${access.role} role for this.`
  if (access !== 'public' && access.sessionOnly)
    return 'An API key is not accepted here. Use a session token.'
  if (method === 'get')
    return 'An administrator has suspended your account. Ask an administrator to restore it. Reason: Unsafe driving'
  return 'A request with the session cookie must come from an allowed origin. Send a Bearer token instead.'
}

function headersOf(status: number) {
  if (status === 401) return headerRefs([...commonHeaders, 'WWW-Authenticate'])
  if (status === 429 || status === 503) return headerRefs([...commonHeaders, 'Retry-After'])
  return headerRefs(commonHeaders)
}

/** Returns the content of a response: a JSON body by its schema, and downloads by their media types. */
function contentOf(
  body?: z.ZodType,
  media: readonly string[] = [],
  download?: z.ZodType,
): Pick<ZodOpenApiResponseObject, 'content'> {
  const downloads = media.map((type) => [type, { schema: downloadSchema(type, download) }])
  const json = body ? [['application/json', { schema: body }]] : []
  if (downloads.length + json.length === 0) return {}
  return { content: Object.fromEntries([...downloads, ...json]) }
}

function downloadSchema(type: string, download: z.ZodType | undefined): z.ZodType | oas31.SchemaObject {
  if (type === 'application/json') return download ?? {}
  return type.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' }
}
