import { type Endpoint, supportsIdempotencyKey } from './endpoint.ts'

/** Statuses of refusal, each with the cases it stands for. */
export type ErrorCases = ReadonlyMap<number, readonly string[]>

/** Whether requests of this method come with a body, which is then read before the route is asked. */
const hasBody = ({ method }: Endpoint) => method === 'post' || method === 'patch'

/**
 * Every refusal an endpoint can answer with: what it declares itself, and what follows from its access, its input
 * and from what stands in front of all routes. The description is made from it, and tests hold answers against it.
 */
export function errorResponsesOf(spec: Endpoint): ErrorCases {
  const cases = new Map<number, string[]>()
  const add = (status: number, when: string) => cases.set(status, [...(cases.get(status) ?? []), when])
  for (const [status, when] of Object.entries(spec.errors ?? {})) add(Number(status), when)
  addInputCases(spec, add)
  addAccessCases(spec, add)
  if (supportsIdempotencyKey(spec)) {
    add(409, 'when a request with the same Idempotency-Key is still running, or its answer was not kept')
    add(422, 'when the Idempotency-Key was used with another body')
  }
  add(429, 'when there were too many requests')
  add(500, 'when something failed on our side')
  add(503, 'when a part that is needed, such as the database, is unreachable')
  for (const status of Object.keys(spec.otherResponses ?? {})) cases.delete(Number(status))
  return new Map([...cases].sort(([a], [b]) => a - b))
}

type Add = (status: number, when: string) => void

function addInputCases(spec: Endpoint, add: Add): void {
  if (spec.params || spec.query || hasBody(spec))
    add(400, 'when the input is not valid; the text names the field')
  const declared = spec.errors ?? {} // says the same of these, but says it better
  if (spec.params && !declared[404]) add(404, 'when there is no such thing, or it is not yours to see')
  if (!hasBody(spec)) return
  if (!declared[413]) add(413, 'when the request body is too large')
  if (!declared[415]) add(415, 'when the request body is of another type than it must be')
}

function addAccessCases(spec: Endpoint, add: Add): void {
  const { access } = spec
  if (access === 'public') return
  add(401, 'when the credential is missing, malformed, expired or revoked')
  if (access.role) add(403, `when you do not have the ${access.role} role`)
  if (access.sessionOnly) add(403, 'when the credential is an API key')
  if (spec.method !== 'get') add(403, 'when the request comes with the session cookie from another site')
}
