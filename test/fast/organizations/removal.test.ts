import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { RobotLink } from '../../../packages/sdk/index.ts'
import { freePort } from '../../../src/core/database/embedded-postmaster.ts'
import { TestFoxgloveClient } from '../../support/foxglove/test-client.ts'
import { connectMcp } from '../../support/mcp/mcp-client.ts'
import { createTcpProxy, type TcpProxy } from '../../support/network/tcp-proxy.ts'
import { recordEpisodes } from '../../support/recordings/recorded-episodes.ts'
import { beginDownload, sendSlowly } from '../../support/recordings/slow-downloads.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import { TestViewer } from '../../support/video/test-viewer.ts'
import { runCamera, withMedia } from '../../support/video/video-fixture.ts'
import { addMember, createTeam, teamRobot } from '../../support/world/organizations.ts'
import { tolerateLatency } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const START_MS = Date.parse('2026-11-20T09:00:00Z')
/** The camera sends a frame every 30 ms: after this time without one, it sends none any more. */
const SILENT_MS = 500

let world: World
/** The connection of the second node to Redis. */
let redis: TcpProxy
/** Another process, at which the member's connections are. The removal is requested at the first one. */
let second: Awaited<ReturnType<World['addNode']>>
let secondUrl: string
let owner: TestUser
let teamId: string
let recordingId: string
let robot: Awaited<ReturnType<typeof teamRobot>>
let robotLink: RobotLink
let camera: ReturnType<typeof runCamera>
beforeAll(async () => {
  redis = await createTcpProxy(serviceUrl('redisUrl'))
  world = await createWorld({ bus: 'redis', env: withMedia })
  const port = await freePort()
  second = await world.addNode('api,hub,gateway', { PORT: String(port), REDIS_URL: redis.url })
  secondUrl = `http://localhost:${port}`
  sendSlowly(second.platform.storage)
  const founder = await world.client()
  teamId = await createTeam(founder)
  owner = await founder.actingFor(teamId)
  const recorded = await teamRobot(owner)
  const content = { startMs: START_MS, telemetry: [{ atMs: 0, data: { x: 1 } }] }
  const episode = { fromMs: 0, toMs: 1_000 }
  const team = { ...owner, id: teamId }
  recordingId = (await recordEpisodes(world, team, recorded.id, content, [episode])).recordingId
  robot = await teamRobot(owner)
  await tolerateLatency(world, robot.id)
  robotLink = new RobotLink({
    url: `${second.gatewayUrl.replace(/\/$/, '')}/robots/${robot.id}/control`,
    token: robot.token,
    PeerConnection: null,
  })
  await robotLink.connect()
  camera = runCamera(robotLink)
})
afterEach(() => redis.restore())
afterAll(async () => {
  await camera?.stop()
  await robotLink?.close()
  await world?.[Symbol.asyncDispose]()
  await redis?.[Symbol.asyncDispose]()
})

async function member(role: 'operator' | 'viewer') {
  const user = await world.newUser()
  await addMember(world, teamId, user, role)
  return await user.actingFor(teamId)
}

interface Connection {
  readonly what: string
  /** Settles with the time of what arrived last, or of the end. */
  readonly ended: Promise<number>
}

const endOf = async (closed: Promise<unknown>): Promise<number> => {
  await closed
  return performance.now()
}

/** Opens everything that a member may open, at the second node; returns a function that tells when it has ended. */
async function openEverything(operator: TestUser, observer: TestUser) {
  const started = await waitFor(async () => {
    const reply = await operator.post('/api/sessions', { robotId: robot.id })
    expect(reply.status, JSON.stringify(reply.body)).toBe(201)
    return reply
  })
  const sessionId = started.body.sessionId as string
  const [{ key }, observing] = [await operator.key(), await observer.key()]
  const hub = await operator.hub({ url: second.hubUrl })
  await hub.send('robots:watch')
  await hub.send('session:watch', { session_id: sessionId })
  const driver = await world.drive(operator, sessionId)
  const watcher = await world.drive(observer, sessionId, 'watch')
  for (const link of [driver, watcher]) {
    expect(new URL(link.socket.url).port).toBe(new URL(second.gatewayUrl).port)
    await link.next('state')
  }
  const download = await beginDownload(`${secondUrl}/api/recordings/${recordingId}/file`, key)
  const viewer = new TestViewer()
  const url = `${secondUrl}/api/client/robots/${robot.id}/whep/front`
  await waitFor(async () =>
    expect((await owner.get(`/api/client/robots/${robot.id}/cameras`)).body.cameras[0]?.live).toBe(true),
  )
  expect((await viewer.watch({ url, token: observing.key })).status, viewer.answer).toBe(201)
  await waitFor(() => expect(viewer.packets.length).toBeGreaterThan(10))
  const foxglove = new URL(
    (await operator.request('POST', `/api/sessions/${sessionId}/foxglove`, undefined, key)).body.url,
  )
  foxglove.host = new URL(second.hubUrl).host
  const bridge = await new TestFoxgloveClient(String(foxglove)).ready()
  const mcp = await connectMcp(secondUrl, key)
  expect((await mcp.use('list_robots')).body.robots.length).toBeGreaterThan(0)

  return {
    sessionId,
    /** Ends what a failed test left open. */
    close: async () => {
      viewer.close()
      await Promise.all([download.stop(), bridge.close(), mcp.client.close()])
    },
    ends: (): Connection[] => [
      { what: 'hub socket', ended: endOf(waitFor(() => expect(hub.socket.connected).toBe(false))) },
      { what: 'socket of the operator', ended: endOf(driver.closed) },
      { what: 'socket of an observer', ended: endOf(watcher.closed) },
      { what: 'last byte of a download', ended: download.ended.then(download.lastMs) },
      {
        what: 'last packet of video',
        ended: waitFor(() => {
          expect(viewer.silentMs).toBeGreaterThan(SILENT_MS)
          return performance.now() - viewer.silentMs
        }),
      },
      { what: 'Foxglove', ended: endOf(bridge.closed) },
      { what: 'MCP', ended: endOf(waitFor(() => expect(mcp.use('list_robots')).rejects.toThrow('revoked'))) },
    ],
  }
}

/** Removes an operator and an observer at the first node, and waits until nothing of theirs is open at the second one. */
async function removal(annotate: (text: string) => unknown, beforeRemoval = () => {}) {
  const [operator, observer] = [await member('operator'), await member('viewer')]
  const open = await openEverything(operator, observer)
  beforeRemoval()
  const ends = open.ends()
  try {
    const answers = await Promise.all(
      [operator, observer].map(({ id }) => owner.delete(`/api/organizations/${teamId}/members/${id}`)),
    )
    const answeredMs = performance.now()
    expect(answers.map(({ status }) => status)).toEqual([204, 204])
    for (const { what, ended } of ends) {
      const afterMs = Math.max(0, (await ended) - answeredMs)
      await annotate(`${what}: ${Math.round(afterMs)} ms after the answer`)
    }
    await waitFor(async () =>
      expect((await owner.get(`/api/sessions/${open.sessionId}`)).body.status).toBe('PAUSED'),
    )
  } finally {
    await open.close()
    await owner.patch(`/api/sessions/${open.sessionId}`, { action: 'end' })
  }
}

test('what a removed member has open at another node ends: sockets, bytes, pictures, and calls over MCP', async ({
  annotate,
}) => {
  await removal(annotate)
})

test('it ends without Redis, too: every node asks the database', async ({ annotate }) => {
  world.tolerateErrors('Redis')
  await removal(annotate, () => redis.cut())
})
