import { encodeBinaryFrame } from '@wheelhouse/protocol'
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest'
import { liftByteBudget } from '../../support/gateway/byte-budget.ts'
import { TestDriver, TestRobot } from '../../support/gateway/frame-socket.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { stopWallClock } from '../../support/world/wall-clock.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const DEADMAN_MS = 250
/** Long enough for a busy machine, whose test must answer within it. */
const TIMEOUT_MS = 3_000
const GRACE_MS = 1_000

/** Two platforms: one that detects dead connections soon, and one with a long timeout, for stalls. */
let world: World
let patient: World
let restoreByteBudget: () => void
beforeAll(async () => {
  restoreByteBudget = liftByteBudget()
  const env = { DEADMAN_MS: String(DEADMAN_MS), OPERATOR_GRACE_MS: String(GRACE_MS) }
  ;[world, patient] = await Promise.all([
    createWorld({ env: { ...env, HEARTBEAT_TIMEOUT_MS: String(TIMEOUT_MS) } }),
    createWorld({ env: { ...env, HEARTBEAT_TIMEOUT_MS: '30000' } }),
  ])
})
afterAll(async () => {
  restoreByteBudget()
  await Promise.all([world[Symbol.asyncDispose](), patient[Symbol.asyncDispose]()])
})

/** Creates a proxy in front of a gateway, so that a connection can fail silently. */
async function proxied({ onTestFinished }: TestContext, gatewayUrl: string) {
  const proxy = await createTcpProxy(gatewayUrl)
  onTestFinished(() => proxy[Symbol.asyncDispose]())
  return { proxy, through: (url: string) => url.replace(/^ws:\/\/[^/]+/, proxy.url.replace(/\/$/, '')) }
}

async function drive(
  { onTestFinished }: TestContext,
  user: TestUser,
  id: string,
  through: (url: string) => string = (url) => url,
) {
  const { url, ticket } = (await user.post(`/api/sessions/${id}/ticket`, { part: 'control' })).body
  const link = new TestDriver(through(url), ticket)
  onTestFinished(() => link.destroy())
  await link.state()
  return link
}

interface Arrived {
  readonly seq: number
  readonly atMs: number
}
/** Records which control frames, text or binary, reach a robot, and when. */
function arrivals(link: TestRobot): Arrived[] {
  const seen: Arrived[] = []
  link.socket.on('message', (data: Buffer, isBinary) => {
    const seq = isBinary ? data.readUInt32BE(4) : JSON.parse(String(data)).seq
    if (isBinary || String(data).includes('"type":"control"')) seen.push({ seq, atMs: performance.now() })
  })
  return seen
}

/** Sends control continuously; records when each frame was made, by number. */
function keepDriving({ onTestFinished }: TestContext, console: TestDriver) {
  const made = new Map<number, number>()
  const timer = setInterval(() => {
    if (console.socket.readyState === console.socket.OPEN)
      made.set(console.control({}, { ttl_ms: DEADMAN_MS }), performance.now())
  }, 20)
  onTestFinished(() => clearInterval(timer))
  return { made, stop: () => clearInterval(timer) }
}

describe.concurrent('a connection fails silently', () => {
  test('of the operator: the robot is halted, the socket is closed, and the session pauses after the grace period', async (context) => {
    const { proxy, through } = await proxied(context, world.gatewayUrl)
    const { link, operator, client, id, log } = await openSessionFixture(world)
    const observer = await world.drive(client, id, 'watch')
    await observer.state()
    const console = await drive(context, operator, id, through)
    const driving = keepDriving(context, console)
    await link.next('control')
    await observer.next('latency') // by now the database has recorded the operator

    const silentMs = performance.now()
    proxy.silence()
    expect((await link.next('stop')).reason).toBe('deadman')
    await observer.state(({ status }) => status === 'PAUSED')
    expect(performance.now() - silentMs).toBeGreaterThan(GRACE_MS)
    expect((await log()).at(-1)).toMatchObject({ type: 'session.paused', data: { reason: 'operator_lost' } })
    driving.stop()
  })

  test('of the robot: the operator is notified, and continues once the robot is back and the session resumed', async (context) => {
    const { operator, client, robot, id, link: first, performAction } = await openSessionFixture(world)
    // The same robot connects through a proxy, and replaces its first connection.
    const { proxy, through } = await proxied(context, world.gatewayUrl)
    const url = through(`${world.gatewayUrl}/robots/${robot.id}/control`)
    const link = new TestRobot(url, robot.token).beat()
    context.onTestFinished(() => link.destroy())
    await link.next('welcome')
    expect(await first.closed).toBe(4000)
    const console = await drive(context, operator, id)
    const driving = keepDriving(context, console)
    await link.next('control')

    proxy.silence()
    await console.state(({ robot_connected }) => !robot_connected)
    // On a busy machine, a frame before the silence may have expired.
    while (!/robot_offline|latency/.test((await console.next('dropped')).why));
    await console.state(({ status }) => status === 'PAUSED')
    const back = (await world.connect(robot)).beat()
    await console.state(({ robot_connected }) => robot_connected)
    expect(back.frames.filter(({ type }) => type === 'control')).toEqual([])
    await waitFor(async () => expect((await performAction(operator, 'resume')).status).toBe(200))
    await back.next('control')
    driving.stop()
    await performAction(client, 'end')
  })
})

describe.concurrent('a connection stalls', () => {
  test('for seconds: of the burst that follows, only fresh frames reach the robot', async (context) => {
    const { proxy, through } = await proxied(context, patient.gatewayUrl)
    const { link, operator, id } = await openSessionFixture(patient)
    const console = await drive(context, operator, id, through)
    const seen = arrivals(link)
    const driving = keepDriving(context, console)
    await waitFor(() => expect(seen.length).toBeGreaterThan(20))

    proxy.silence()
    const stalledMs = performance.now()
    expect((await link.next('stop')).reason).toBe('deadman')
    const madeBefore = driving.made.size
    await waitFor(() => expect(driving.made.size).toBeGreaterThan(madeBefore + 100))
    const before = seen.length
    const restoredMs = performance.now()
    proxy.restore()
    await waitFor(() => expect(seen.length).toBeGreaterThan(before + 20))
    driving.stop()

    const madeMs = (item: Arrived) => driving.made.get(item.seq) as number
    const late = seen.slice(before).filter((item) => madeMs(item) < restoredMs - DEADMAN_MS)
    expect(late).toEqual([])
    const stale = [...driving.made].filter(
      ([, ms]) => ms > stalledMs + 100 && ms < restoredMs - DEADMAN_MS - 100,
    )
    expect(stale.length).toBeGreaterThan(50)
    await waitFor(() => {
      const dropped = console.frames.filter(({ why }) => why === 'expired').map(({ seq }) => seq)
      expect(dropped).toEqual(expect.arrayContaining(stale.map(([seq]) => seq)))
    })
    expect(seen.map(({ seq }) => seq)).toEqual(seen.map(({ seq }) => seq).toSorted((a, b) => a - b))
  })
})

describe.concurrent('a peer does not read', () => {
  /** Large enough to fill the buffers of the kernel soon. */
  const payload = new Uint8Array(60_000)
  const tick = () => new Promise((resolve) => setTimeout(resolve, 5))

  test('a robot: only the newest control frame is buffered, and the operator is notified', async (context) => {
    const { link, operator, id } = await openSessionFixture(patient)
    const console = await drive(context, operator, id)
    const seen = arrivals(link)
    let seq = 0
    const send = (bytes: Uint8Array) => {
      const header = { kind: 1, flags: 0, ttlMs: 60_000, seq: ++seq, t: performance.now() }
      console.send(encodeBinaryFrame(header, bytes))
      return seq
    }
    const slow = () =>
      console.frames.filter(({ why }) => why === 'robot_slow').map((frame) => frame.seq as number)
    link.socket.pause()
    while (slow().length === 0) {
      send(payload)
      await tick()
    }
    for (let n = 0; n < 50; n++) {
      send(new Uint8Array(1))
      await tick()
    }
    await waitFor(() => expect(slow().length).toBeGreaterThanOrEqual(50))
    link.socket.resume()
    let last = 0
    await waitFor(() => {
      last = send(new Uint8Array(1))
      expect(seen.some((item) => item.seq > last - 3)).toBe(true)
    })
    // The robot receives the frames in the buffers in order, and then only the newest frame.
    const got = seen.map((item) => item.seq)
    expect(got).toEqual(got.toSorted((a, b) => a - b))
    expect(got.filter((item) => slow().includes(item))).toEqual([])
    const [firstSlow = 0, lastSlow = 0] = [Math.min(...slow()), Math.max(...slow())]
    expect(got.filter((item) => item > firstSlow && item < lastSlow)).toEqual([])
  })

  test('an observer: only the newest telemetry is buffered, no state is lost, and other participants do not wait', async (context) => {
    const { link, operator, client, id, performAction } = await openSessionFixture(patient)
    const observer = await patient.drive(client, id, 'watch')
    await observer.state()
    const console = await drive(context, operator, id)
    observer.socket.pause()
    const header = { kind: 2, flags: 0, ttlMs: 0, t: 1 }
    const count = 300
    for (let seq = 1; seq <= count; seq++) {
      link.send(encodeBinaryFrame({ ...header, seq }, payload))
      expect((await console.next('binary')).data.readUInt32BE(4)).toBe(seq)
    }
    for (const action of ['pause', 'resume', 'pause', 'resume', 'pause']) {
      expect((await performAction(operator, action)).status).toBe(200)
      await console.state(({ status }) => status === (action === 'pause' ? 'PAUSED' : 'ACTIVE'))
    }
    observer.socket.resume()
    const seqs = () =>
      observer.frames
        .filter(({ type }) => type === 'binary')
        .map(({ data }) => (data as Buffer).readUInt32BE(4))
    await waitFor(() => expect(seqs().at(-1)).toBe(count))
    expect(seqs().length).toBeLessThan(count)
    const statuses = () => observer.frames.filter(({ type }) => type === 'state').map(({ status }) => status)
    await waitFor(() => expect(statuses()).toEqual(['PAUSED', 'ACTIVE', 'PAUSED', 'ACTIVE', 'PAUSED']))
  })
})

test('a robot that does not read for ten seconds is closed, and the operator is notified', async (context) => {
  const clock = stopWallClock()
  await using slow = await createWorld({ env: { HEARTBEAT_TIMEOUT_MS: '60000', OPERATOR_GRACE_MS: '60000' } })
  const closeBlocked = () => slow.platform.core.guards.gateway.runRound('timer:blocked')
  const { link, operator, id } = await openSessionFixture(slow)
  const console = await drive(context, operator, id)
  const notified = () => console.frames.some(({ robot_connected }) => robot_connected === false)
  link.socket.pause()
  while (!console.frames.some(({ why }) => why === 'robot_slow')) {
    console.control('x'.repeat(60_000))
    await new Promise(setImmediate)
  }
  clock.advance(10_000)
  closeBlocked()
  console.send({ type: 'ping', t: 1 })
  await console.next('pong')
  expect(notified()).toBe(false)
  clock.advance(1)
  closeBlocked()
  await waitFor(() => expect(notified()).toBe(true))
  link.socket.resume()
  // uWebSockets.js waits for some seconds until the robot reads the close frame behind all others.
  expect([4008, 1006]).toContain(await link.closed)
})
