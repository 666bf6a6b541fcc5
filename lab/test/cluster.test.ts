import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { SessionLogEvent } from '@wheelhouse/protocol'
import { PeerConnection } from 'node-datachannel'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HubClient, OperatorLink, SimulatedRobot, ticketsOf } from '../../packages/sdk/index.ts'
import { createBrowser } from '../../test/support/network/cookie-client.ts'
import { createTestUser, type TestUser } from '../../test/support/world/test-user.ts'
import { waitFor } from '../../test/support/world/wait.ts'
import { type Cluster, type ClusterNode, type NodeKind, startCluster } from '../cluster/cluster.ts'

const closers: (() => unknown)[] = []
let dataDir: string
let cluster: Cluster
let owner: TestUser
let operator: TestUser

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-cluster-'))
  const env = { NODE_ENV: 'test', HEARTBEAT_INTERVAL_MS: '200', HEARTBEAT_TIMEOUT_MS: '10000' }
  cluster = await startCluster({ dataDir, port: 0, durable: false, env })
  owner = await signIn('owner@test.local', 'client')
  operator = await signIn('operator@test.local', 'operator')
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
  await cluster?.stop()
  await rm(dataDir, { recursive: true, force: true })
})

/** Signs in at the dashboard; every step may reach another api process. */
async function signIn(email: string, role: string): Promise<TestUser> {
  const browser = createBrowser(cluster.baseUrl)
  const page = await browser.go('/auth/login')
  expect(page.status, page.text).toBe(200)
  const back = await browser.submit(page, { email })
  expect(new URL(back.url).pathname, back.text).toBe('/dashboard')
  const token = browser.cookie('__session')?.value as string
  const { baseUrl, hubUrl } = cluster
  const user = await createTestUser({ baseUrl, hubUrl, token, onClose: (close) => closers.push(close) })
  expect((await user.post('/api/auth/profile', { role })).status).toBe(200)
  return user
}

const nodesOf = (kind: NodeKind) => cluster.nodes.filter((node) => node.kind === kind)
const nodeNamed = (name: string) => cluster.nodes.find((node) => node.name === name) as ClusterNode

/** Returns a metric of a node. */
async function metric(node: ClusterNode, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${node.port}/metrics`)).text()
  return Number(new RegExp(`^wheelhouse_${name} (\\d+)$`, 'm').exec(text)?.[1])
}

/** Creates an observer at any hub; records the session's log. */
async function watch(user: TestUser, sessionId: string) {
  const log: SessionLogEvent[] = []
  const reconnect = { baseMs: 20, maxMs: 200 }
  const client = new HubClient({ url: cluster.hubUrl, token: user.token, reconnect })
  closers.push(() => client.close())
  await client.connect()
  await client.watch(sessionId, { onEvent: (event) => log.push(event) })
  return { client, log }
}

/** Creates a session through the proxy: a robot at one of the gateways, its operator at the same one. */
async function openSession() {
  const registered = await owner.post('/api/client/robots', {
    name: 'Robot',
    robot_type: 'testbot',
    hardware_id: `board-${Math.random()}`,
    require_certification: false,
  })
  expect(registered.status, JSON.stringify(registered.body)).toBe(201)
  const { id, control_url: url, robot_token: token } = registered.body
  expect(url).toBe(`${cluster.gatewayUrl}/robots/${id}/control`)
  await owner.patch(`/api/client/robots/${id}`, { latency_limit_ms: 10_000 })
  const robot = new SimulatedRobot({ url, token, reconnect: { baseMs: 20, maxMs: 200 } })
  closers.push(() => robot.close())
  await robot.start()
  const started = await operator.post('/api/sessions', { robotId: id })
  expect(started.status, JSON.stringify(started.body)).toBe(201)
  const sessionId = started.body.sessionId as string

  const locations: string[] = []
  const getTicket = ticketsOf({ baseUrl: cluster.baseUrl, token: operator.token, sessionId, part: 'control' })
  const acks: number[] = []
  const link = new OperatorLink({
    getTicket: async () => {
      const ticket = await getTicket()
      locations.push(new URL(ticket.url).origin)
      return ticket
    },
    reconnect: { baseMs: 20, maxMs: 200 },
    onAck: (seq) => acks.push(seq),
  })
  closers.push(() => link.close())
  await link.connect()
  return { sessionId, robotId: id as string, link, acks, locations }
}

/** Drives until the robot has obeyed once more. */
async function expectControl({ link, acks }: { link: OperatorLink; acks: number[] }): Promise<void> {
  const before = acks.length
  await waitFor(() => {
    link.control({ linear_mps: 0.1, angular_radps: 0 })
    expect(acks.length).toBeGreaterThan(before)
  })
}

test('every part of it answers through the one public origin', async () => {
  const { baseUrl } = cluster
  expect(cluster.nodes.map(({ name }) => name).sort()).toEqual([
    'api-1',
    'api-2',
    'gateway-1',
    'gateway-2',
    'hub-1',
    'hub-2',
    'postgres',
    'proxy',
    'recorder-1',
    'recorder-2',
    'redis',
    'turn',
    'worker-1',
    'worker-2',
  ])
  expect((await owner.get('/api/health')).body).toMatchObject({ status: 'ok', db: 'ok' })
  expect((await fetch(`${baseUrl}/robots/none/control`)).headers.get('uwebsockets')).not.toBeNull()
  const polling = await fetch(`${baseUrl}/socket.io/?EIO=4&transport=polling`)
  expect([polling.status, (await polling.json()).code]).toEqual([403, 4])
  expect((await fetch(`${baseUrl}/metrics`)).status, 'metrics are not public').toBe(404)

  for (const api of nodesOf('api')) {
    const text = await (await fetch(`http://127.0.0.1:${api.port}/metrics`)).text()
    expect(text, `${api.name} serves requests`).toMatch(/^wheelhouse_http_requests_total\{[^}]*\/api\//m)
  }
})

test('the TURN server accepts the credentials that clients get with the list of cameras', async () => {
  const { body: robots } = await owner.post('/api/client/robots', {
    name: 'Camera robot',
    robot_type: 'testbot',
    hardware_id: `board-${Math.random()}`,
  })
  const { ice_servers } = (await owner.get(`/api/client/robots/${robots.id}/cameras`)).body
  expect(await relayedCandidates(ice_servers[0])).not.toEqual([])
  expect(await relayedCandidates({ ...ice_servers[0], credential: 'guessed' })).toEqual([])
})

/** Returns the addresses at which a TURN server relays for a client with these credentials. */
async function relayedCandidates(server: { urls: string; username: string; credential: string }) {
  const [, hostname = '', port] = /^turn:([^:]+):(\d+)/.exec(server.urls) ?? []
  const connection = new PeerConnection('client', {
    iceServers: [
      {
        hostname,
        port: Number(port),
        username: server.username,
        password: server.credential,
        relayType: 'TurnUdp',
      },
    ],
    iceTransportPolicy: 'relay',
  })
  try {
    const complete = new Promise<void>((resolve) => {
      connection.onGatheringStateChange((state) => state === 'complete' && resolve())
    })
    connection.createDataChannel('any')
    await complete
    return connection.localDescription()?.sdp.match(/^a=candidate.* typ relay/gm) ?? []
  } finally {
    connection.close()
  }
}

test('chat crosses hubs, operators reach the gateway of the robot, and api, hub and gateway can be killed', async () => {
  const session = await openSession()
  const { sessionId } = session
  const observers = [await watch(owner, sessionId), await watch(operator, sessionId)]
  expect(await Promise.all(nodesOf('hub').map((hub) => metric(hub, 'hub_sockets')))).toEqual([1, 1])
  const everyoneHas = (count: number) =>
    waitFor(() => {
      for (const { log } of observers) expect(log.map(({ seq }) => seq).slice(0, count)).toHaveLength(count)
    })
  await observers[0]?.client.sendChat(sessionId, 'from one hub')
  await observers[1]?.client.sendChat(sessionId, 'from the other')
  await everyoneHas(3)
  await expectControl(session)

  // After a kill of the robot's gateway, robot and operator reconnect to the other one.
  const held = await Promise.all(nodesOf('gateway').map((gateway) => metric(gateway, 'gateway_robots')))
  expect([...held].sort()).toEqual([0, 1])
  const gateway = nodesOf('gateway')[held.indexOf(1)] as ClusterNode
  await gateway.kill()
  expect(gateway.running).toBe(false)
  await waitFor(() => expect(new Set(session.locations).size).toBe(2))
  await waitFor(async () => {
    const { status } = (await owner.get(`/api/sessions/${sessionId}`)).body
    if (status === 'PAUSED') await operator.patch(`/api/sessions/${sessionId}`, { action: 'resume' })
    expect(status).toBe('ACTIVE')
  })
  await expectControl(session)

  // After a kill of a hub and an api during a chat, their clients continue at the other ones.
  await nodeNamed('hub-1').kill()
  await nodeNamed('api-1').kill()
  for (let count = 0; count < 10; count++) {
    expect((await owner.get('/api/client/robots')).status, 'reads are never lost').toBe(200)
    await observers[count % 2]?.client.sendChat(sessionId, `without them ${count}`)
  }
  const { body } = await owner.get(`/api/sessions/${sessionId}/events?limit=200`)
  const stored = body.events as SessionLogEvent[]
  await everyoneHas(stored.length)
  for (const { log } of observers) expect(log).toEqual(stored)
  await Promise.all([gateway, nodeNamed('hub-1'), nodeNamed('api-1')].map((node) => node.start()))
  await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
})

test('the stores can be killed, paused and restarted with the same data', async () => {
  const robots = async () => (await owner.get('/api/client/robots')).body.length
  const before = await robots()
  expect(before).toBeGreaterThan(0)
  const [postgres, redis] = [nodeNamed('postgres'), nodeNamed('redis')]
  await postgres.kill()
  expect((await owner.get('/api/client/robots')).status).toBe(503)
  expect(await (await fetch(`${cluster.baseUrl}/api/health`)).json(), 'answered by an api').toMatchObject({
    db: 'error',
  })
  await postgres.start()
  await waitFor(async () => expect(await robots()).toBe(before))

  redis.pause()
  expect(redis.paused).toBe(true)
  expect(await robots()).toBe(before)
  redis.resume()
  await redis.kill()
  await redis.start()
  expect(await robots()).toBe(before)
})

test('a cluster with ports in use does not start, and the error names the ports', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = (server.address() as { port: number }).port
  const location = await mkdtemp(join(tmpdir(), 'wheelhouse-cluster-'))
  await expect(startCluster({ dataDir: location, port })).rejects.toThrow(new RegExp(`${port} \\(public\\)`))
  server.close()
  await rm(location, { recursive: true })
})

test('a stopped cluster leaves no process', async () => {
  for (const close of closers.splice(0).reverse()) await close()
  const pids = cluster.nodes.map(({ pid }) => pid as number)
  expect(pids.every(isAlive)).toBe(true)
  nodeNamed('api-2').pause() // a paused process must not prevent the end
  await cluster.stop()
  expect(pids.filter(isAlive)).toEqual([])
  expect(cluster.nodes.filter(({ running }) => running)).toEqual([])
  expect(existsSync(join(cluster.dataDir, 'processes.json'))).toBe(false)
})

test.each(['SIGKILL', 'SIGINT'] as const)(
  'npm run cluster leaves no process when %s ends it during its start',
  async (signal) => {
    const program = fileURLToPath(new URL('../cluster/main.ts', import.meta.url))
    const args = [program, '--port', '0', '--data-dir', dataDir] // the directory of the stopped cluster
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'exit')
    for await (const line of createInterface({ input: child.stdout })) if (line.includes('two each')) break
    const started: { pid: number }[] = JSON.parse(readFileSync(join(dataDir, 'processes.json'), 'utf8')).nodes
    expect(started.length).toBeGreaterThan(1)
    child.kill(signal)
    await ended
    await waitFor(() => expect(started.filter(({ pid }) => isAlive(pid))).toEqual([]))
  },
)

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
