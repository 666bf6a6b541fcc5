import { STATUS_CODES } from 'node:http'
import type { z } from 'zod'
import type { oas31, ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi'
import { type Endpoint, keepsAnswers } from '../../core/http/endpoint.ts'
import { refusalsOf } from '../../core/http/refusals.ts'
import { ErrorBody, type HeaderName, headerRefs } from './components.ts'
import { capitalised } from './names.ts'

const everywhere: readonly HeaderName[] = ['X-Request-Id', 'RateLimit', 'RateLimit-Policy']
const successes: Readonly<Record<number, string>> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted, and done later',
  204: 'Done; there is no body',
}
/** What refusals read like. */
const errorTexts: Readonly<Record<number, string>> = {
  400: 'robotId: Invalid UUID',
  401: 'Sign in, or send an Authorization: Bearer header',
  404: 'Robot not found',
  409: 'The robot is not AVAILABLE (it is IN_SESSION)',
  410: 'Events up to 4711 are no longer kept: read the state anew, and go on with after=latest, or with after=oldest',
  413: 'Request body is too large',
  415: 'Content-Type must be application/json',
  422: 'Idempotency-Key was used with another body',
  429: 'Too many requests',
  500: 'Internal error',
  502: 'The identity provider failed to answer about your account',
  503: 'The database is unreachable, try again shortly',
}

/** Every answer an endpoint may give: success, alternatives, refusals. */
export function responsesOf(spec: Endpoint): ZodOpenApiResponsesObject {
  const [status, body] = spec.answer
  const success: ZodOpenApiResponseObject = {
    description: successes[status] ?? STATUS_CODES[status] ?? String(status),
    headers: headerRefs([
      ...everywhere,
      ...(keepsAnswers(spec) ? (['Idempotent-Replayed'] as const) : []),
      ...(spec.headers ?? []),
    ]),
    ...contentOf(body, spec.media, spec.download),
  }
  const alternatives = Object.entries(spec.alternatives ?? {}).map(([status, [when, body]]) => [
    status,
    { description: capitalised(when), headers: headerRefs(everywhere), ...contentOf(body) },
  ])
  const refusals = [...refusalsOf(spec)].map(([status, cases]) => [
    status,
    isShared(spec, status)
      ? { $ref: `#/components/responses/${sharedName(status)}` }
      : refusal(status, cases, spec),
  ])
  return Object.fromEntries([[status, success], ...alternatives, ...refusals])
}

/** The refusals that read the same wherever they occur, by the name they are referred to with. */
export function sharedResponses(endpoints: readonly Endpoint[]): Record<string, ZodOpenApiResponseObject> {
  const shared = endpoints.flatMap((spec) =>
    [...refusalsOf(spec)]
      .filter(([status]) => isShared(spec, status))
      .map(([status, cases]) => [sharedName(status), refusal(status, cases, spec)] as const),
  )
  return Object.fromEntries(shared)
}

/** Whether the endpoint has nothing of its own to say about a refusal. What a 403 means differs anyway. */
const isShared = ({ refusals }: Endpoint, status: number) =>
  status !== 403 && !Object.keys(refusals ?? {}).includes(String(status))

const sharedName = (status: number) => (STATUS_CODES[status] ?? String(status)).replaceAll(/\W/g, '')

function refusal(status: number, cases: readonly string[], spec: Endpoint): ZodOpenApiResponseObject {
  const example = {
    error: status === 403 ? forbiddenText(spec) : (errorTexts[status] ?? STATUS_CODES[status]),
  }
  return {
    description: capitalised(cases.join(', or ')),
    headers: headersOf(status),
    content: { 'application/json': { schema: ErrorBody, example } },
  }
}

/** Returns what a 403 reads like for the access of a route. */
function forbiddenText({ access }: Endpoint): string {
  if (access !== 'public' && access.role) return `You need the ${access.role} role for this.`
  if (access !== 'public' && access.sessionOnly)
    return 'An API key is not accepted here. Use a session token.'
  return 'A request with the session cookie must come from an allowed origin. Send a Bearer token instead.'
}

function headersOf(status: number) {
  if (status === 401) return headerRefs([...everywhere, 'WWW-Authenticate'])
  if (status === 429 || status === 503) return headerRefs([...everywhere, 'Retry-After'])
  return headerRefs(everywhere)
}

/** A JSON body by its schema, and downloads by their media types. */
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
