import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  openVideoFixture,
  runCamera,
  type VideoFixture,
  withMedia,
} from '../../support/video/video-fixture.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let fixture: VideoFixture
/** The handler that throws at its next call. */
let failing: string | undefined

beforeAll(async () => {
  world = await createWorld({
    env: withMedia,
    beforeHandler(handler) {
      if (handler !== failing) return
      failing = undefined
      throw new Error(`injected into ${handler}`)
    },
  })
})
beforeEach(async () => {
  fixture = await openVideoFixture(world)
  await fixture.isLive()
})
afterEach(() => fixture[Symbol.asyncDispose]())
afterAll(() => world?.[Symbol.asyncDispose]())

/** Connects a viewer, as often as it takes: the answer of one of them may be lost. */
async function watchAtLast(): Promise<void> {
  const token = await fixture.ticketOf(fixture.owner, 'watch')
  await waitFor(async () => {
    const viewer = fixture.viewer()
    expect((await viewer.watch({ url: fixture.url, token })).status).toBe(201)
    await expect.poll(() => viewer.packets.length).toBeGreaterThan(0)
    viewer.close()
  })
}

async function revokeAnyKey(): Promise<void> {
  const { body: key } = await fixture.owner.post('/api/auth/api-keys', { name: 'any' })
  await fixture.owner.delete(`/api/auth/api-keys/${key.id}`)
}

async function changeRobot(): Promise<void> {
  await fixture.owner.patch(`/api/client/robots/${fixture.robot.id}`, { recording: 'control' })
}

async function publishAnother(): Promise<void> {
  const rear = runCamera(fixture.link, { name: 'rear' })
  await waitFor(() => expect(rear.keyframes).toBeGreaterThan(0))
  await waitFor(() => expect(failing).toBeUndefined())
  await rear.stop()
}

/** Triggers of the handlers that the new viewer does not reach. */
const triggers: Readonly<Record<string, () => Promise<unknown>>> = {
  'media:figures': publishAnother,
  'bus:credential.revoked': revokeAnyKey,
  'media:recording': changeRobot,
  'bus:robots.changed': changeRobot,
  'bus:session.tailed': async () =>
    world.platform.core.bus.publish('session.tailed', { sessionId: fixture.sessionId, untilMs: 0 }),
}

const handlers = [
  'media:message',
  'media:permissions',
  'media:figures',
  'bus:media.request',
  'bus:media.reply',
  'bus:credential.revoked',
  'timer:media-renew',
  'timer:media-permissions',
  'timer:media-figures',
  'timer:media-recording',
  'timer:media-recorders',
  'timer:media-pictures',
  'media:recording',
  'bus:robots.changed',
  'bus:session.tailed',
]

test.each(handlers)('an exception in %s is logged, and viewers and publishers continue', async (handler) => {
  const viewer = await fixture.watch()
  failing = handler
  await triggers[handler]?.()
  await watchAtLast()
  await waitFor(() => expect(failing).toBeUndefined())
  expect(world.errors.join()).toContain(`injected into ${handler}`)
  world.errors.splice(0)
  const before = viewer.packets.length
  await waitFor(() => expect(viewer.packets.length).toBeGreaterThan(before))
})

test('every handler of the media role is in a test', () => {
  // The others are those of failures (the end of the process, a late answer, lost permissions) and of every message to the process.
  const others = [
    'media:exit',
    'media:ping',
    'media:sent',
    'media:answer-limit',
    'media:reply-limit',
    'bus:permissions.lost',
    'media:pictures',
  ]
  expect([...world.platform.core.guards.media.names].sort()).toEqual([...handlers, ...others].sort())
})

test('the metrics count cameras and viewers', async () => {
  await fixture.watch()
  const metric = async (name: string) => {
    const text = await (await fetch(`${world.baseUrl}/metrics`)).text()
    return Number(new RegExp(`^wheelhouse_${name} (\\d+)$`, 'm').exec(text)?.[1])
  }
  await waitFor(async () => {
    expect(await metric('media_cameras')).toBe(1)
    expect(await metric('media_publishers')).toBe(1)
    expect(await metric('media_viewers')).toBe(1)
    expect(await metric('media_received_bits_per_second')).toBeGreaterThan(100_000)
  })
  const refused = await metric('media_offers_refused_total')
  const token = await fixture.ticketOf(fixture.operator, 'control')
  const response = await fixture.viewer().watch({ url: fixture.url, token, edit: () => 'v=0' })
  expect(response.status).toBe(400)
  expect(await metric('media_offers_refused_total')).toBe(refused + 1)
})
