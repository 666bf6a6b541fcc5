import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { waitFor } from '../../test/support/world/wait.ts'
import { createEvidence } from '../chaos/evidence.ts'
import { injectFault } from '../chaos/faults.ts'
import { readLogs } from '../chaos/logs.ts'
import type { Fault } from '../chaos/plan.ts'
import { watchProcesses } from '../chaos/process-watch.ts'
import { createRandom } from '../chaos/random.ts'
import { createRest } from '../chaos/rest.ts'
import type { ClusterNode, NodeKind } from '../cluster/cluster.ts'

// Tests of the fault bench's instruments.

function fakeNode(kind: NodeKind, name: string, done: string[], logFile = '/nowhere') {
  const node = {
    name,
    kind,
    port: 0,
    logFile,
    pid: process.pid as number | undefined,
    running: true,
    paused: false,
    kill: async () => void done.push(`kill ${name}`),
    stop: async () => void done.push(`stop ${name}`),
    start: async () => void done.push(`start ${name}`),
    pause: () => void done.push(`pause ${name}`),
    resume: () => void done.push(`resume ${name}`),
  }
  return node satisfies ClusterNode
}

async function run(plan: Fault[], nodes: ClusterNode[]) {
  const evidence = createEvidence()
  const wire = { cut: () => 3 }
  const injected = await injectFault(plan, {
    cluster: { nodes },
    redis: { flushall: async () => 'OK' as const },
    random: createRandom(1),
    evidence,
    wires: { robots: wire, operators: wire, 'hub clients': wire },
    struck: new Set<string>(),
    print: () => {},
    untilMs: Date.now() + 60_000,
    over: new AbortController().signal,
  })
  return { inflicted: injected, violations: evidence.violations.all() }
}
const at = { waitMs: 1, together: false }

test('a fault affects the node that it names, and every node is restored', async () => {
  const done: string[] = []
  const nodes = [
    fakeNode('hub', 'hub-1', done),
    fakeNode('hub', 'hub-2', done),
    fakeNode('api', 'api-1', done),
  ]
  const { inflicted: injected } = await run(
    [
      { number: 1, ...at, what: 'kill', kind: 'hub', which: 5, forMs: 1 },
      { number: 2, ...at, what: 'restart', kind: 'api', which: 8 },
      { number: 3, ...at, what: 'pause', kind: 'hub', which: 4, forMs: 1 },
      { number: 4, ...at, what: 'flush', kind: 'redis' },
      { number: 5, ...at, what: 'cut', part: 'robots', share: 1 },
    ],
    nodes,
  )
  expect(done).toEqual([
    'kill hub-2',
    'start hub-2',
    'stop api-1',
    'start api-1',
    'pause hub-1',
    'resume hub-1',
    'start hub-1',
  ])
  expect(injected.map(({ name }) => name)).toEqual([
    'kill -9 hub',
    'restart api',
    'pause hub',
    'flush redis',
    'cut robots',
  ])
})

test('faults that belong together overlap; others wait for them', async () => {
  const done: string[] = []
  const nodes = (['hub', 'api', 'worker'] as const).map((kind) => fakeNode(kind, kind, done))
  await run(
    [
      { number: 1, ...at, what: 'pause', kind: 'hub', which: 0, forMs: 300 },
      { number: 2, waitMs: 1, together: true, what: 'restart', kind: 'api', which: 0 },
      { number: 3, ...at, what: 'restart', kind: 'worker', which: 0 },
    ],
    nodes,
  )
  expect(done.indexOf('stop api')).toBeLessThan(done.indexOf('resume hub'))
  expect(done.indexOf('stop worker')).toBeGreaterThan(done.indexOf('resume hub'))
})

test('a node that ends during a pause, and one that ends without a fault, are reported', async () => {
  const paused = fakeNode('hub', 'hub-1', [])
  paused.running = false
  const { violations } = await run(
    [{ number: 1, ...at, what: 'pause', kind: 'hub', which: 0, forMs: 1 }],
    [paused],
  )
  expect(violations).toEqual(['hub-1 ended while it was paused'])

  const evidence = createEvidence()
  const [struck, crashing] = [fakeNode('api', 'api-1', []), fakeNode('api', 'api-2', [])]
  const watch = watchProcesses([struck, crashing], { evidence, struck: new Set(['api-1']) })
  Object.assign(struck, { running: false, pid: undefined })
  Object.assign(crashing, { running: false, pid: undefined })
  await waitFor(() =>
    expect(evidence.violations.all()).toEqual([expect.stringMatching(/^api-2 ended without a fault/)]),
  )
  watch.finish()
  expect(evidence.violations.all()).toHaveLength(1)
})

test('lines that are not log lines, fatal lines and unexcused failures are found in the logs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'chaos-logs-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const logFile = join(folder, 'api-1.log')
  const lines = [
    { level: 30, msg: 'serving' },
    { level: 50, msg: 'request failed', status: 503, err: { message: 'away' } },
    { level: 50, msg: 'request failed', status: 503, err: { message: 'away' } },
  ]
  const write = (...more: string[]) =>
    writeFile(logFile, [...lines.map((line) => JSON.stringify(line)), ...more].join('\n'))
  const read = () => {
    const evidence = createEvidence()
    const errors = readLogs([fakeNode('api', 'api-1', [], logFile)], evidence)
    return { errors: [...errors], violations: evidence.violations.all() }
  }
  await write('', 'Wheelhouse did not start.', 'The database is away')
  expect(read()).toEqual({ errors: [['api: request failed: away', 2]], violations: [] })
  await write(
    'node:internal/process: Error: uncaught',
    '{"level":60,"msg":"fatal"}',
    '{"level":50,"msg":"x","status":500}',
  )
  expect(read().violations).toEqual([
    ...[/not a log line: node:internal/, /fatal/, /"status":500/].map((pattern) =>
      expect.stringMatching(pattern),
    ),
  ])
})

test('answers are classified, and a start is repeated with one key until its outcome is known', async () => {
  const answers: [status: number, body: string, code?: string][] = []
  const keys: (string | string[] | undefined)[] = []
  const server = createServer((request, response) => {
    keys.push(request.headers['idempotency-key'])
    const [status, body, code] = answers.shift() ?? [200, '{}']
    if (code) response.setHeader('Wheelhouse-Error', code)
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const evidence = createEvidence()
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const rest = createRest({ baseUrl, apiKey: 'key', evidence, limitMs: () => 15_000 })

  answers.push(
    [503, '{"error":"unavailable"}'],
    [409, '{"error":"Retry after it has finished."}', 'idempotency_key_in_use'],
    [201, '{"sessionId":"s"}'],
  )
  expect(await rest.post('start', '/api/sessions', {})).toMatchObject({
    outcome: 'acknowledged',
    body: { sessionId: 's' },
  })
  expect(new Set(keys).size).toBe(1)
  expect(keys).toHaveLength(3)
  answers.push([
    409,
    '{"error":"Check the state of the resource before you send a new request."}',
    'idempotency_response_lost',
  ])
  expect((await rest.post('start', '/api/sessions', {})).outcome).toBe('kept')
  answers.push([409, '{"error":"The robot is in another session."}', 'robot_in_session'])
  expect(await rest.post('start', '/api/sessions', {})).toMatchObject({ outcome: 'refused', settled: true })
  // A key becomes free after a refusal, so an earlier attempt may still be executed.
  answers.push(
    [503, '{"error":"unavailable"}'],
    [409, '{"error":"The robot is in another session."}', 'robot_in_session'],
  )
  expect(await rest.post('start', '/api/sessions', {})).toMatchObject({ outcome: 'refused', settled: false })
  expect(evidence.actions.get('start')).toEqual({ acknowledged: 2, refused: 2, unknown: 0 })
  expect(evidence.violations.all()).toEqual([])

  answers.push(
    [500, '{"error":"The platform failed to answer this request. Try again later."}'],
    [200, 'what?'],
    [404, '<html>'],
  )
  for (let n = 0; n < 3; n++) await rest.ask('look', 'GET', '/x')
  expect(evidence.violations.all()).toHaveLength(3)
})
