import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../src/core/database/embedded-postmaster.ts'
import { createTestDatabase } from '../../support/database/database.ts'
import { ask } from '../../support/network/http-request.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { openSessionFixture, performAction } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// On a busy machine, a response may lack the measurements of the database, which have a limit of a second.

/** Returns the samples of a response in Prometheus' text format, by name and labels. */
async function samples(baseUrl: string): Promise<Map<string, number>> {
  const { status, body, headers } = await ask(`${baseUrl}/metrics`)
  expect(status).toBe(200)
  expect(headers.get('Content-Type')).toContain('text/plain; version=0.0.4')
  const found = new Map<string, number>()
  for (const line of (body as string).split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [, name, value] = /^([a-z_:][a-z0-9_:]*(?:\{.*\})?) (\S+)$/.exec(line) ?? []
    expect(name, line).toBeDefined()
    found.set(name as string, Number(value))
  }
  return found
}

describe('all roles in one process', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld()
  })
  afterAll(() => world[Symbol.asyncDispose]())
  const read = async (name: string) => (await samples(world.baseUrl)).get(name)

  test('requests are counted by method, declared route and status, never by the requested path', async () => {
    const owner = await world.client()
    const robot = await world.robot(owner)
    const id = randomUUID()
    await owner.get(`/api/client/robots/${robot.id}`)
    await owner.get(`/api/client/robots/${id}`)
    await owner.get(`/nothing/${id}`)
    await ask(`${world.baseUrl}/api/health`, { method: 'PROPFIND' })
    const found = await samples(world.baseUrl)
    const total = (labels: string) => found.get(`wheelhouse_http_requests_total{${labels}}`)
    const route = 'route="/api/client/robots/{id}"'
    expect(total(`method="GET",${route},status="200"`)).toBe(1)
    expect(total(`method="GET",${route},status="404"`)).toBe(1)
    expect(total('method="GET",route="other",status="404"')).toBe(1)
    expect(total('method="other",route="other",status="405"')).toBe(1)
    expect(total('method="POST",route="/api/client/robots",status="201"')).toBe(1)
    const duration = 'wheelhouse_http_request_duration_seconds'
    expect(found.get(`${duration}_count{method="GET",${route}}`)).toBe(2)
    expect(found.get(`${duration}_sum{method="GET",${route}}`)).toBeGreaterThan(0)
    for (const name of found.keys()) {
      expect(name).not.toContain(id)
      expect(name).not.toContain(robot.id)
    }
  })

  test('robots, their heartbeats and hub sockets are counted', async () => {
    const owner = await world.client()
    const before = (await read('wheelhouse_heartbeats_total')) ?? 0
    const link = await world.connect(await world.robot(owner))
    const socket = await owner.hub()
    for (let beat = 0; beat < 5; beat++) {
      link.send({ type: 'heartbeat', seq: beat })
      await link.next('heartbeat_ack')
    }
    expect(await read('wheelhouse_heartbeats_total')).toBe(before + 5)
    expect(await read('wheelhouse_gateway_robots')).toBe(1)
    expect(await read('wheelhouse_hub_sockets')).toBe(1)
    await waitFor(async () => {
      expect(await read('wheelhouse_heartbeats_written_total')).toBeGreaterThan(0)
    })
    expect(await read('wheelhouse_heartbeat_flush_seconds')).toBeGreaterThan(0)
    link.close()
    socket.close()
    await waitFor(async () => expect(await read('wheelhouse_gateway_robots')).toBe(0))
    await waitFor(async () => expect(await read('wheelhouse_hub_sockets')).toBe(0))
  })

  test('control frames are counted', async () => {
    const { link, operator, client, id } = await openSessionFixture(world)
    const console = await world.drive(operator, id)
    const observer = await world.drive(client, id, 'watch')
    await console.state()
    await observer.state()
    expect(await read('wheelhouse_gateway_participants')).toBe(2)
    expect(await read('wheelhouse_gateway_sessions')).toBe(1)
    console.control()
    await link.next('control')
    console.control({}, { seq: 0 })
    await console.next('dropped')
    await waitFor(async () => expect(await read('wheelhouse_deadman_stops_total')).toBe(1))
    observer.send({ type: 'stop' })
    await console.state(({ stop }) => stop?.recorded && stop.latched)
    expect(await read('wheelhouse_control_relayed_total')).toBe(1)
    expect(await read('wheelhouse_control_dropped_total')).toBe(1)
    expect(await read('wheelhouse_stops_total')).toBe(1)
    await performAction(operator, id, 'end')
    await Promise.all([console.closed, observer.closed, link.close()])
    await waitFor(async () => expect(await read('wheelhouse_gateway_participants')).toBe(0))
    expect(await read('wheelhouse_gateway_sessions')).toBe(0)
  })

  test('the outbox and its relay are measured', async () => {
    await waitFor(async () => expect(await read('wheelhouse_outbox_relay_events_total')).toBeGreaterThan(0))
    expect(await read('wheelhouse_outbox_relay_batches_total')).toBeGreaterThan(0)
    await world.drained()
    await waitFor(async () => expect(await read('wheelhouse_outbox_rows')).toBe(0))
    await waitFor(async () => expect(await read('wheelhouse_outbox_lag_seconds')).toBe(0))
  })

  test('periodic tasks are counted, with their last success', async () => {
    await waitFor(async () => {
      const found = await samples(world.baseUrl)
      for (const job of ['presence sweep', 'scheduled starts', 'outbound events']) {
        expect(found.get(`wheelhouse_job_runs_total{job="${job}",outcome="success"}`), job).toBeGreaterThan(0)
        expect(found.get(`wheelhouse_job_last_duration_seconds{job="${job}"}`)).toBeGreaterThan(0)
        const success = found.get(`wheelhouse_job_last_success_timestamp_seconds{job="${job}"}`) ?? 0
        expect(Math.abs(success - Date.now() / 1000)).toBeLessThan(120)
      }
    })
  })

  test('the pool, the event loop and the process are measured', async () => {
    const found = await waitFor(async () => {
      const found = await samples(world.baseUrl)
      expect(found.get('wheelhouse_database_up')).toBe(1)
      expect(found.get('wheelhouse_database_pool_waiting')).toBe(0) // unless the platform's own tasks wait just now
      return found
    })
    expect(found.get('wheelhouse_database_pool_size')).toBeGreaterThan(0)
    expect(found.get('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0)
    expect(found.get('process_resident_memory_bytes')).toBeGreaterThan(1e6)
  })

  test('replays are counted', async () => {
    const owner = await world.client()
    for (let time = 0; time < 3; time++) {
      await ask(`${world.baseUrl}/api/auth/profile`, {
        method: 'POST',
        token: owner.token,
        headers: { 'Idempotency-Key': 'once' },
        body: { display_name: 'Once' },
      })
    }
    expect(await read('wheelhouse_idempotency_requests_total{outcome="first"}')).toBe(1)
    expect(await read('wheelhouse_idempotency_requests_total{outcome="replayed"}')).toBe(2)
  })

  test('only GET and HEAD are accepted', async () => {
    const answer = await ask(`${world.baseUrl}/metrics`, { method: 'POST' })
    expect(answer).toMatchObject({ status: 405, body: { error: expect.any(String) } })
    expect(answer.headers.get('Allow')).toBe('GET, HEAD')
    expect(await ask(`${world.baseUrl}/metrics`, { method: 'HEAD' })).toMatchObject({ status: 200, body: '' })
  })
})

test('the metrics show a backlog of unpublished events, and nothing of another platform in this process', async () => {
  await using world = await createWorld({ bus: 'redis', env: { ROLES: 'api,gateway,worker' } })
  const {
    core: { db },
  } = world.platform
  const aMinuteAgo = new Date(Date.now() - 60_000)
  const events = [aMinuteAgo, new Date(), new Date()].map((at) => ({
    name: 'x',
    payload: '{}',
    created_at: at,
  }))
  await db.insertInto('outbox').values(events).execute()
  const found = await waitFor(async () => {
    const found = await samples(world.baseUrl)
    expect(found.get('wheelhouse_outbox_rows')).toBe(3)
    return found
  })
  expect(found.get('wheelhouse_outbox_lag_seconds')).toBeGreaterThanOrEqual(60)
  expect(found.get('wheelhouse_outbox_lag_seconds')).toBeLessThan(120)
  // The platform of the tests above has counted such requests.
  expect([...found.keys()].filter((name) => name.includes('route="/api/client/robots"'))).toEqual([])
  await db.deleteFrom('outbox').execute()
})

test('every role serves metrics on a separate port', async () => {
  await using world = await createWorld({ bus: 'redis', env: { METRICS_TOKEN: 'a token for metrics' } })
  const [hubPort, workerPort] = [await freePort(), await freePort()]
  await world.addNode('hub', { HUB_PORT: String(hubPort) })
  await world.addNode('worker', { WORKER_PORT: String(workerPort) })
  const gateway = await world.addNode('gateway')
  const locations = [
    [world.baseUrl, 'wheelhouse_gateway_robots'],
    [`http://localhost:${hubPort}`, 'wheelhouse_hub_sockets'],
    [`http://localhost:${workerPort}`, 'wheelhouse_job_runs_total'],
    [gateway.gatewayUrl.replace('ws:', 'http:'), 'wheelhouse_heartbeats_total'],
  ] as const
  for (const [location, name] of locations) {
    for (const headers of [
      {},
      { Authorization: 'Bearer another token' },
      { Authorization: 'Basic a token for metrics' },
    ]) {
      const refused = await ask(`${location}/metrics`, { headers })
      expect(refused, location).toMatchObject({ status: 401, body: { error: expect.any(String) } })
      expect(refused.headers.get('WWW-Authenticate')).toBe('Bearer')
    }
    await waitFor(async () => {
      const answer = await ask(`${location}/metrics`, { token: 'a token for metrics' })
      expect(answer.status, location).toBe(200)
      expect(answer.body, location).toContain(name)
      expect(answer.body, location).toContain('wheelhouse_database_up 1')
    })
  }
  for (const path of ['/livez', '/readyz', '/metrics']) {
    const answer = await ask(gateway.gatewayUrl.replace('ws:', 'http:') + path, { method: 'POST' })
    expect(answer).toMatchObject({
      status: 405,
      body: { error: 'POST is not allowed here. Use GET.' },
    })
    expect(answer.headers.get('Allow')).toBe('GET')
  }
  for (const port of [hubPort, workerPort]) {
    const base = `http://localhost:${port}`
    expect(await ask(`${base}/livez`)).toMatchObject({ status: 200 })
    expect(await ask(`${base}/readyz?x=1`)).toMatchObject({ status: 200, body: { ready: true } })
    expect(await ask(`${base}/livez`, { method: 'POST' })).toMatchObject({
      status: 405,
      body: { error: expect.any(String) },
    })
    expect(await ask(`${base}/other`)).toMatchObject({ status: 404, body: { error: 'Route not found' } })
  }
})

test('an unresponsive database does not block the response, and the metrics show it', async () => {
  const database = await createTestDatabase()
  try {
    await using proxy = await createTcpProxy(database.url)
    await using world = await createWorld({ env: { DATABASE_URL: proxy.url } })
    await waitFor(async () => expect((await samples(world.baseUrl)).get('wheelhouse_database_up')).toBe(1))
    proxy.silence()
    const found = await samples(world.baseUrl)
    expect(found.get('wheelhouse_database_up')).toBe(0)
    expect(found.has('wheelhouse_outbox_rows')).toBe(false)
    expect(found.has('wheelhouse_outbox_lag_seconds')).toBe(false)
    expect([...found.keys()].filter((name) => name.startsWith('wheelhouse_jobs'))).toEqual([])
    proxy.restore()
    await waitFor(async () => {
      expect((await samples(world.baseUrl)).get('wheelhouse_outbox_rows')).toBe(0)
    })
  } finally {
    await database.drop()
  }
})
