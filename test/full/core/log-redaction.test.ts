import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createLog } from '../../../src/core/log.ts'
import { TestRobot } from '../../support/gateway/frame-socket.ts'
import { TestHubSocket } from '../../support/hub/hub-socket.ts'
import { createBrowser } from '../../support/network/cookie-client.ts'
import { ask } from '../../support/network/http-request.ts'
import {
  createEmptyDatabase,
  query,
  type Serving,
  startWheelhouse,
} from '../../support/processes/processes.ts'
import { cpuMsOf } from '../../support/world/cpu-time.ts'
import { waitFor } from '../../support/world/wait.ts'

const SECRET_KEY = 'the root of all keys of this test'
const METRICS_TOKEN = 'a token for metrics only'

/** The credentials that occurred, by kind. */
type Seen = Map<string, string>

/** Signs a user in at the dashboard. */
async function signIn({ baseUrl }: Serving, email: string, role: string, seen: Seen): Promise<string> {
  const browser = createBrowser(baseUrl)
  await browser.submit(await browser.go('/auth/login?return_to=/api/auth/profile'), { email })
  const token = browser.cookie('__session')?.value as string
  seen.set(`session token of ${email}`, token)
  for (const url of browser.visited) {
    for (const name of ['code', 'state', 'nonce', 'code_challenge']) {
      const value = new URL(url).searchParams.get(name)
      if (value) seen.set(`${name} of ${email}`, value)
    }
  }
  expect(seen.has(`code of ${email}`)).toBe(true)
  await ask(`${baseUrl}/api/auth/profile`, { method: 'POST', token, body: { role } })
  return token
}

/** Sends requests that fail, with credentials in the wrong fields. */
async function misuse({ baseUrl, gatewayUrl }: Serving, robotId: string, seen: Seen): Promise<void> {
  const secrets = [...seen.values()]
  for (const secret of secrets) {
    const text = encodeURIComponent(secret)
    await ask(`${baseUrl}/api/client/robots?token=${text}`, { headers: { 'X-Api-Key': secret } })
    await ask(`${baseUrl}/api/auth/profile`, { token: `${secret}x` })
    await ask(`${baseUrl}/api/auth/profile`, { headers: { Cookie: `__session=${secret}x` } })
    await ask(`${baseUrl}/auth/callback?code=${text}&state=${text}`)
    await ask(`${baseUrl}/auth/login?return_to=/${text}`)
    await ask(`${baseUrl}/metrics`, { token: secret })
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: secret, arguments: { secret } },
    }
    for (const [token, version] of [
      [`${secret}x`, '2025-11-25'],
      [secret, secret],
      [secret, '2025-11-25'],
    ] as const) {
      const headers = { Accept: 'application/json, text/event-stream', 'Mcp-Protocol-Version': version }
      await ask(`${baseUrl}/api/mcp`, { method: 'POST', token, headers, body: call })
      await ask(`${baseUrl}/api/mcp`, { method: 'POST', token, headers, body: { ...call, method: secret } })
    }
    await ask(`${gatewayUrl.replace('ws:', 'http:')}/metrics?token=${text}`)
    const unrelatedUser = new TestRobot(`${gatewayUrl}/robots/${robotId}/control`, `${secret}x`)
    await unrelatedUser.closed
  }
}

test('at LOG_LEVEL=trace no log line contains a credential that was used', async () => {
  const database = await createEmptyDatabase()
  const dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-logs-'))
  const seen: Seen = new Map([
    ['SECRET_KEY', SECRET_KEY],
    ['METRICS_TOKEN', METRICS_TOKEN],
  ])
  try {
    await using node = startWheelhouse({
      DATABASE_URL: database.url,
      DATA_DIR: dataDir,
      DEMO: 'false',
      LOG_LEVEL: 'trace',
      SECRET_KEY,
      METRICS_TOKEN,
      RATE_LIMIT_PER_MINUTE: '0',
      RATE_LIMIT_PUBLIC_PER_MINUTE: '0',
    })
    const serving = await node.serving()
    const api = `${serving.baseUrl}/api`
    const client = await signIn(serving, 'ada@example.com', 'client', seen)
    const operator = await signIn(serving, 'grace@example.com', 'operator', seen)
    const post = (path: string, token: string, body: object = {}) =>
      ask(api + path, { method: 'POST', token, body, headers: { 'Idempotency-Key': crypto.randomUUID() } })

    const key = (await post('/auth/api-keys', client, { name: 'program' })).body.key as string
    seen.set('API key', key)
    const robot = await post('/client/robots', key, { name: 'a', robot_type: 'b', hardware_id: 'c' })
    seen.set('replaced robot token', robot.body.robot_token)
    const robotToken = (await post(`/client/robots/${robot.body.id}/token`, key)).body.robot_token as string
    seen.set('robot token', robotToken)

    const link = new TestRobot(`${serving.gatewayUrl}/robots/${robot.body.id}/control`, robotToken)
    await link.next('welcome')
    link.beat()
    const hub = new TestHubSocket(serving.hubUrl, key)
    await hub.connected()
    await waitFor(async () => {
      const { sessionId } = (await post('/sessions', operator, { robotId: robot.body.id })).body
      expect(sessionId).toBeDefined()
      for (const part of ['control', 'watch']) {
        const { ticket } = (await post(`/sessions/${sessionId}/ticket`, operator, { part })).body
        if (ticket) seen.set(`${part} ticket`, ticket)
      }
      await ask(`${api}/sessions/${sessionId}`, { method: 'PATCH', token: operator, body: { action: 'end' } })
    })
    await ask(`${api}/contact`, {
      method: 'POST',
      body: {
        name: 'Ada',
        email: 'ada@example.com',
        category: 'Other',
        subject: 'Key',
        message: `My key is ${key}`,
      },
    })

    await misuse(serving, robot.body.id, seen)
    // Internal failures, whose errors are logged with all their fields.
    await query(database.url, 'alter table robots rename column notes to gone')
    await query(database.url, 'alter table api_keys rename column prefix to gone')
    const failed = [
      await post('/client/robots', key, { name: key, robot_type: 'b', hardware_id: robotToken }),
      await post('/auth/api-keys', client, { name: robotToken }),
    ]
    expect(failed.map(({ status }) => status)).toEqual([500, 500])
    hub.close()
    link.close()
    await node.end('SIGTERM')

    expect(node.output()).toContain('request failed')
    expect(seen.size).toBeGreaterThanOrEqual(10)
    const lines = [...node.lines, ...node.errorOutput.split('\n')]
    for (const [what, secret] of seen) {
      const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')]
      const leaked = lines.filter((text) => forms.some((form) => text.includes(form)))
      expect(leaked, what).toEqual([])
    }

    const requests = node.lines.map((text) => JSON.parse(text)).filter(({ msg }) => msg === 'request')
    expect(requests.length).toBeGreaterThan(20)
    for (const line of requests) {
      expect(line).toMatchObject({
        requestId: expect.any(String),
        method: expect.any(String),
        path: expect.stringMatching(/^\/[^?]*$/),
        status: expect.any(Number),
        ms: expect.any(Number),
      })
    }
    const registered = requests.find(({ path, status }) => path === '/api/client/robots' && status === 201)
    expect(registered.userId).toMatch(/^[\da-f-]{36}$/)
  } finally {
    await database.drop()
    await rm(dataDir, { recursive: true, force: true })
  }
})

test('the log handles a long text with many apparent token prefixes in linear time', async () => {
  const log = createLog({ level: 'trace', pretty: false, to: { write() {} } })
  const work = () => log.info({ said: 'eyJ-'.repeat(50_000), also: 'svc_live_'.repeat(20_000) }, 'text')
  expect(await cpuMsOf(work)).toBeLessThan(1_000)
})
