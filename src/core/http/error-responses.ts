import { type ErrorCode, permissions } from '@wheelhouse/protocol'
import {
  type Endpoint,
  type ErrorCasesByCode,
  type OtherResponses,
  supportsIdempotencyKey,
} from './endpoint.ts'

/** The cases of one error status: code → when it occurs. */
export type StatusCases = ReadonlyMap<ErrorCode, readonly string[]>
/** The error statuses of a route, each with its cases. */
export type ErrorCases = ReadonlyMap<number, StatusCases>

const UNCHANGED: OtherResponses = { 304: ['when the list still matches the ETag in If-None-Match'] }

/** Returns the successful responses of an endpoint other than the declared one. */
export const otherResponsesOf = (spec: Endpoint): OtherResponses => ({
  ...(spec.list && UNCHANGED),
  ...spec.otherResponses,
})

/** Returns whether requests of this method carry a body, which is parsed before the route runs. */
const hasBody = ({ method, body }: Endpoint) => method === 'post' || method === 'patch' || body !== undefined

/**
 * Returns every error an endpoint can answer with: its own declarations, and those that follow from its access, its
 * input and the layers in front of all routes. The OpenAPI description uses the result, and tests check responses
 * against it.
 */
export function errorResponsesOf(spec: Endpoint): ErrorCases {
  const cases = new Map<number, Map<ErrorCode, string[]>>()
  const add: Add = (status, casesByCode) => {
    const known = cases.get(status) ?? new Map<ErrorCode, string[]>()
    cases.set(status, known)
    for (const [code, when] of Object.entries(casesByCode) as [ErrorCode, string][]) {
      known.set(code, [...(known.get(code) ?? []), when])
    }
  }
  for (const [status, casesByCode] of Object.entries(spec.errors ?? {})) add(Number(status), casesByCode)
  addInputCases(spec, add)
  addAccessCases(spec, add)
  if (supportsIdempotencyKey(spec)) add(409, idempotencyConflicts)
  if (supportsIdempotencyKey(spec))
    add(422, { idempotency_key_reused: 'when the Idempotency-Key was used with another body' })
  add(429, { rate_limited: 'when there were too many requests' })
  add(500, { internal_error: 'when the platform fails to answer' })
  add(503, outages)
  for (const status of Object.keys(spec.otherResponses ?? {})) cases.delete(Number(status))
  return new Map([...cases].sort(([a], [b]) => a - b))
}

type Add = (status: number, casesByCode: ErrorCasesByCode) => void

const idempotencyConflicts: ErrorCasesByCode = {
  idempotency_key_in_use: 'when a request with the same Idempotency-Key is still running',
  idempotency_response_lost: 'when the response to the first request with the Idempotency-Key was not kept',
}

const outages: ErrorCasesByCode = {
  database_unavailable: 'when the database is unreachable',
  contention: 'when too many requests change the same data at once',
  disk_full: 'when the disk of the platform is full',
  not_ready: 'when the platform is starting',
}

const invalidCredentials: ErrorCasesByCode = {
  unauthenticated: 'when the credential is missing or malformed',
  token_invalid: 'when the session token is invalid',
  token_expired: 'when the session token has expired',
  api_key_invalid: 'when the API key is invalid',
  api_key_expired: 'when the API key has expired',
  api_key_revoked: 'when the API key is revoked',
}

function addInputCases(spec: Endpoint, add: Add): void {
  // Every route that asks for a credential reads Wheelhouse-Organization.
  if (spec.access !== 'public' || spec.params || spec.query || hasBody(spec))
    add(400, { invalid_request: 'when the input is not valid; the text names the field' })
  const declared = spec.errors ?? {} // more precise than the general case
  if (spec.params && !declared[404])
    add(404, { not_found: 'when the resource does not exist, or you may not see it' })
  if (!hasBody(spec)) return
  if (!declared[413]) add(413, { payload_too_large: 'when the request body is too large' })
  if (!declared[415])
    add(415, {
      unsupported_media_type: 'when the request body is not of the media type that the route accepts',
    })
}

function addAccessCases(spec: Endpoint, add: Add): void {
  const { access } = spec
  if (access === 'public') return
  add(401, invalidCredentials)
  if (access.role) add(403, { role_required: `when you do not have the ${access.role} role` })
  if (access.sessionOnly) add(403, { api_key_not_accepted: 'when the credential is an API key' })
  else if (!access.action) add(403, { scope_required: 'when the API key does not have the scope for this' })
  if (access.action)
    add(403, { permission_required: 'when your role in the organization does not include this' })
  if (access.person)
    add(403, {
      service_account_not_accepted: 'when the caller is a service account',
      personal_key_required: 'when the API key belongs to a team',
    })
  if (spec.method !== 'get')
    add(403, {
      origin_not_allowed: 'when the request carries the session cookie and comes from another site',
    })
  add(403, { account_suspended: 'when an administrator has suspended your account' })
  add(403, { sign_in_required: 'when the organization requires a sign-in with another provider' })
  add(404, { not_found: 'when you are no member of the organization that Wheelhouse-Organization names' })
  if (access.action) {
    add(403, {
      permission_required: `when you may not ${permissions[access.action].text} in the organization`,
    })
  }
  if (!access.sessionOnly) add(403, { scope_required: 'when the API key does not have the scope for it' })
  add(503, { identity_provider_unavailable: 'when the keys of the identity provider are unreachable' })
}
