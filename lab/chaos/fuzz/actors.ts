import { OperatorLink, RobotLink, ticketsOf } from '@wheelhouse/sdk'
import type { FuzzedPlatform } from './platform.ts'

const COMMAND_EVERY_MS = 50
const REQUEST_LIMIT_MS = 60_000

export interface FuzzedRobot {
  readonly id: string
  readonly url: string
  readonly token: string
}

/** Returns functions that send requests with an API key. */
export function createRequests(baseUrl: string) {
  async function request(key: string, method: string, path: string, body?: unknown) {
    const response = await fetch(baseUrl + path, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    })
    return { status: response.status, body: (await response.json()) as Record<string, string> }
  }
  /** Sends a request that must succeed; returns its answer. */
  async function must(key: string, method: string, path: string, body?: unknown) {
    const reply = await request(key, method, path, body)
    if (reply.status < 300) return reply.body
    throw new Error(`${method} ${path} answered ${reply.status}: ${JSON.stringify(reply.body)}`)
  }
  return { request, must }
}

export async function registerRobot(
  must: ReturnType<typeof createRequests>['must'],
  key: string,
  name: string,
): Promise<FuzzedRobot> {
  const robot = { name, robot_type: 'fuzz', hardware_id: `fuzz ${name} ${Date.now()}` }
  const made = await must(key, 'POST', '/api/client/robots', robot)
  return { id: made.id as string, url: made.control_url as string, token: made.robot_token as string }
}

/** Creates the users and robots of a run: one pair with continuous control, and one session for the inputs. */
export async function createActors(platform: FuzzedPlatform) {
  const { keys } = platform
  const { request, must } = createRequests(platform.baseUrl)
  const register = (name: string) => registerRobot(must, keys.owner, name)
  const begin = async (key: string, robotId: string) =>
    (await must(key, 'POST', '/api/sessions', { robotId })).sessionId as string

  await must(keys.admin, 'POST', '/api/auth/profile', { role: 'operator' })
  const driven = await register('driven')
  // Commands that a busy machine relays late still count.
  await must(keys.owner, 'PATCH', `/api/client/robots/${driven.id}`, { latency_limit_ms: 10_000 })
  const fuzzed = await register('fuzzed')
  const extra = await register('extra')
  const control = await drive(
    platform,
    driven,
    await (async () => {
      const link = new RobotLink({
        url: driven.url,
        token: driven.token,
        onControl: ({ seq }) => link.ack(seq),
      })
      await link.connect()
      return { link, sessionId: await begin(keys.operator, driven.id) }
    })(),
  )
  const quiet = new RobotLink({ url: fuzzed.url, token: fuzzed.token })
  await quiet.connect()
  let sessionId = await begin(keys.admin, fuzzed.id)

  return {
    control,
    /** The robot whose socket sends inputs; it has no session. */
    extra,
    get sessionId() {
      return sessionId
    },
    ticket: async (part: 'control' | 'watch') => {
      const key = part === 'control' ? keys.admin : keys.owner
      const { body } = await request(key, 'POST', `/api/sessions/${sessionId}/ticket`, { part })
      return body.ticket ? { url: body.url as string, ticket: body.ticket } : undefined
    },
    /** Restores the fuzzed session so that control passes: inputs stop it, pause it, end it. */
    async refresh(): Promise<void> {
      const { body } = await request(keys.admin, 'GET', `/api/sessions/${sessionId}`)
      if (body.status === 'PAUSED') {
        await request(keys.owner, 'PATCH', `/api/sessions/${sessionId}`, { action: 'clear_stop' })
        await request(keys.admin, 'PATCH', `/api/sessions/${sessionId}`, { action: 'resume' })
      } else if (body.status !== 'ACTIVE') {
        const reply = await request(keys.admin, 'POST', '/api/sessions', { robotId: fuzzed.id })
        if (reply.status < 300) sessionId = reply.body.sessionId as string
      }
    },
    close: async () => {
      await control.close()
      await quiet.close()
    },
  }
}
export type Actors = Awaited<ReturnType<typeof createActors>>

/** Creates a robot under continuous control: its control relay must continue, whatever other sockets send. */
async function drive(
  { baseUrl, keys }: FuzzedPlatform,
  _robot: FuzzedRobot,
  { link, sessionId }: { link: RobotLink; sessionId: string },
) {
  let lastAckMs = performance.now()
  let longestGapMs = 0
  let acknowledged = 0
  const operator = new OperatorLink({
    getTicket: ticketsOf({ baseUrl, token: keys.operator, sessionId, part: 'control' }),
    onAck() {
      longestGapMs = Math.max(longestGapMs, performance.now() - lastAckMs)
      lastAckMs = performance.now()
      acknowledged++
    },
  })
  await operator.connect()
  const timer = setInterval(() => operator.control({ linear: 1 }, { ttlMs: 5_000 }), COMMAND_EVERY_MS)
  return {
    /** The time since the last acknowledged command. */
    silentMs: () => performance.now() - lastAckMs,
    get acknowledged() {
      return acknowledged
    },
    get longestGapMs() {
      return longestGapMs
    },
    async close() {
      clearInterval(timer)
      await operator.close()
      await link.close()
    },
  }
}
