import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Endpoint } from '../../../src/core/http/endpoint.ts'
import { differenceFrom } from '../../../src/core/http/response-validation.ts'
import { apiEndpoints } from '../../../src/roles/api/api.ts'
import { declaredEndpoints, STORED_BASE_URL } from '../../../src/roles/api/declared-endpoints.ts'
import { describeApi, type OpenApiDocument } from '../../../src/roles/api/openapi/document.ts'
import { kindOf, withIds } from '../../support/fuzzing/fuzz-inputs.ts'
import { type FuzzRequest, requestsTo, resourcesIn } from '../../support/fuzzing/fuzz-requests.ts'
import { WAIT_LIMIT_MS } from '../../support/wait-limit.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

/** `FUZZ_REQUESTS=2000` sends more to each route. The test has no time limit, which a slow machine would exceed. */
const REQUESTS_PER_ROUTE = Number(process.env.FUZZ_REQUESTS ?? 12)
const LONGEST_ERROR = 1_000
/** Ends a hang. */
const LONGEST_ROUTE_MS = 180_000 + REQUESTS_PER_ROUTE * 1_000
/** `FUZZ_SEED=<the seed of a failure>` runs the same requests again. */
const seed = process.env.FUZZ_SEED

const callers = ['client', 'operator', 'admin', 'no role', 'anonymous'] as const
type Caller = (typeof callers)[number]

let world: World
let document: OpenApiDocument
let users: Record<Exclude<Caller, 'anonymous'>, TestUser>
/** Drives a robot of the client and calls no route. */
let driver: TestUser
/** Ends the session of the present fixtures and disconnects their robots. */
let removeFixtures: (() => Promise<void>) | undefined
/** Ids from responses, by kind and with the newest last, so that requests refer to existing objects. */
const ids = new Map<string, string[]>()
const MAX_IDS = 6

beforeAll(async () => {
  world = await createWorld({ env: { HEARTBEAT_TIMEOUT_MS: '30000' } })
  document = describeApi({ endpoints: apiEndpoints(world.platform, () => ''), baseUrl: STORED_BASE_URL })
  users = {
    client: await world.client(),
    operator: await world.operator(),
    admin: await world.admin(),
    'no role': await world.newUser(),
  }
  driver = await world.operator()
})
afterAll(() => world[Symbol.asyncDispose]())

const declared = declaredEndpoints()

test.each(declared.map(routeOf))(
  '%s answers every request as declared',
  async (route) => {
    const spec = declared.find((item) => routeOf(item) === route) as Endpoint
    // Routes that only read leave the objects as they are.
    if (!removeFixtures || spec.method !== 'get') await createFixtures()
    await fc.assert(
      fc.asyncProperty(callerOf(spec), requestsTo(spec, document), async (caller, fuzzRequest) => {
        await probe(spec, caller, fuzzRequest)
      }),
      {
        numRuns: REQUESTS_PER_ROUTE,
        ...(seed !== undefined && { seed: Number(seed) }),
      },
    )
  },
  LONGEST_ROUTE_MS,
)

test('after the fuzzing the platform is healthy and has logged no error', async () => {
  expect((await fetch(`${world.baseUrl}/api/health`)).status).toBe(200)
  expect((await users.client.get('/api/client/robots')).status).toBe(200)
  const problems = world.errors.map((line) => JSON.parse(line).err?.message ?? line)
  expect([...new Set(problems)]).toEqual([])
})

function routeOf({ method, path }: Endpoint): string {
  return `${method.toUpperCase()} ${path}`
}

/** Returns an arbitrary caller, in most cases one whom the route admits. */
function callerOf({ access }: Endpoint) {
  const role = access === 'public' ? undefined : access.role
  const all = { weight: 1, arbitrary: fc.constantFrom(...callers) }
  return role
    ? fc.oneof({ weight: 4, arbitrary: fc.constant<Caller>(role) }, all)
    : fc.constantFrom(...callers)
}

/**
 * Creates a robot in session, a free robot, a planned session, a message, a certification request and API keys, in place of
 * the previous ones.
 */
async function createFixtures(): Promise<void> {
  const { client, operator } = users
  await restoreUsers()
  await removeFixtures?.()
  const [taken, free] = [await world.robot(client), await world.robot(client)]
  const links = [await world.connect(taken), await world.connect(free)]
  for (const link of links) link.beat(1_000)
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
  const started = await driver.post('/api/sessions', { robotId: taken.id })
  removeFixtures = async () => {
    await driver.patch(`/api/sessions/${started.body.sessionId}`, { action: 'end' })
    for (const link of links) await link.close()
  }
  const planned = await operator.post('/api/sessions', { robotId: free.id, scheduledFor: inAnHour })
  await operator.post(`/api/sessions/${planned.body.sessionId}/messages`, { body: 'Hello' })
  const asked = await operator.post('/api/operator/certifications', { robot_type: `type of ${free.id}` })
  note('robot', [{ id: taken.id }, { id: free.id }])
  note('session', [started.body, planned.body])
  note('certification', asked.body)
  note('apikey', await Promise.all([client.key(), operator.key()]))
}

/** Undoes what requests to admin routes may have done to the callers. Most calls are refused, because there is nothing to undo. */
async function restoreUsers(): Promise<void> {
  for (const role of ['client', 'operator'] as const) {
    const path = `/api/admin/users/${users[role].id}`
    await users.admin.post(`${path}/restore`)
    await users.admin.post(`${path}/roles/${role}`)
    await users[role].post('/api/auth/profile', { role })
  }
}

/** Remembers the ids in a response; `kind` is the kind of those in fields named `id`. */
function note(kind: string, answer: unknown): void {
  if (typeof answer !== 'object' || answer === null) return
  for (const [field, value] of Object.entries(answer)) {
    if (typeof value !== 'string' || !/^id$|(_i|I)d$/.test(field)) note(kind, value)
    else remember(kindOf(field) || kind, value)
  }
}

function remember(kind: string, id: string): void {
  ids.set(kind, [...(ids.get(kind) ?? []).filter((known) => known !== id), id].slice(-MAX_IDS))
}

/** Returns a known id of the kind, or of any kind when this kind has none. */
function idOf(kind: string, index: number): string {
  const known = ids.get(kind) ?? [...ids.values()].flat()
  return known[index % known.length] ?? 'none'
}

/** Limits a valid time of long polling to a second. */
const shortWait = (query: string) =>
  query.replace(/(?<=[?&]wait=)\d+(?=&|$)/, (seconds) =>
    Number(seconds) <= 30 ? String(Math.min(Number(seconds), 1)) : seconds,
  )

/** Sends one request and checks the response against the rules for every response. */
async function probe(spec: Endpoint, caller: Caller, fuzzRequest: FuzzRequest): Promise<void> {
  const query = fuzzRequest.query === '' ? '' : `?${fuzzRequest.query}`
  const url = withIds(`${world.baseUrl}${fuzzRequest.path}${shortWait(query)}`, idOf)
  const bytes =
    typeof fuzzRequest.body?.bytes === 'string'
      ? withIds(fuzzRequest.body.bytes, idOf)
      : fuzzRequest.body && new Uint8Array(fuzzRequest.body.bytes)
  const about = `${spec.method.toUpperCase()} ${url} by ${caller}, ${JSON.stringify(fuzzRequest.headers)}, ${JSON.stringify(
    fuzzRequest.body?.headers,
  )}: ${String(bytes).slice(0, 500)}`
  const response = await fetch(url, {
    method: spec.method.toUpperCase(),
    headers: {
      ...fuzzRequest.headers,
      ...fuzzRequest.body?.headers,
      ...(caller !== 'anonymous' && { Authorization: `Bearer ${users[caller].token}` }),
    },
    ...(bytes !== undefined && { body: bytes }),
    signal: AbortSignal.timeout(WAIT_LIMIT_MS),
  }).catch((cause) => {
    throw new Error(`no answer to ${about}`, { cause })
  })
  const text = await response.text()
  const problem = problemOf(spec, response, text)
  if (problem) throw new Error(`${problem}\n${about}\n→ ${response.status} ${text.slice(0, 500)}`)
}

/** Returns the first violation in a response, or undefined. */
function problemOf(spec: Endpoint, { status, headers }: Response, text: string): string | undefined {
  const type = headers.get('Content-Type')?.split(';')[0] ?? ''
  const alternative = spec.otherResponses?.[status]
  if (status === 500) return 'an internal error'
  if (status >= 502 && !alternative && !(status in (spec.errors ?? {}))) return 'an undeclared failure'
  if (!headers.has('X-Request-Id')) return 'no X-Request-Id'
  if (status >= 400 && !alternative) return errorProblem(type, text)
  if (status !== spec.response[0] && !alternative) return 'an undeclared status'
  const schema = alternative ? alternative[1] : spec.response[1]
  if (!schema) return spec.media?.includes(type) || text === '' ? undefined : 'an undeclared body'
  if (type !== 'application/json') return spec.media?.includes(type) ? undefined : `${type} instead of JSON`
  const answer: unknown = JSON.parse(text)
  note(resourcesIn(spec.path), answer)
  return differenceFrom(schema, answer)
}

function errorProblem(type: string, text: string): string | undefined {
  if (type !== 'application/json') return 'an error that is not JSON'
  const body: unknown = JSON.parse(text)
  if (typeof body !== 'object' || body === null) return 'an error that is not an object'
  const { error, ...more } = body as { error?: unknown }
  if (typeof error !== 'string' || error === '') return 'an error without a text'
  if (error.length > LONGEST_ERROR) return `an error of ${error.length} characters`
  return Object.keys(more).length > 0 ? 'an error with more than its text' : undefined
}
