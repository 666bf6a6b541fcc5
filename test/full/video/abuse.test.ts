import { rtp } from '@wheelhouse/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { TestViewer } from '../../support/video/test-viewer.ts'
import {
  openVideoFixture,
  runCamera,
  type VideoFixture,
  withMedia,
} from '../../support/video/video-fixture.ts'
import { postOffer } from '../../support/video/webrtc-client.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const MAX_VIEWERS_OF_A_USER = 8

let world: World
let fixture: VideoFixture
beforeAll(async () => {
  world = await createWorld({ env: withMedia })
})
beforeEach(async () => {
  fixture = await openVideoFixture(world)
  await fixture.isLive()
})
afterEach(() => fixture[Symbol.asyncDispose]())
afterAll(() => world[Symbol.asyncDispose]())

test('an offer that never connects does not hide the next publisher of the camera', async () => {
  await fixture.camera.stop()
  await waitFor(async () => expect((await fixture.listOf(fixture.operator))[0]?.live).toBe(false))
  // Its offer is one of a viewer: with a changed direction it is one of a publisher that does not connect.
  const offer = (await fixture.viewer().offer()).replace('a=recvonly', 'a=sendonly')
  for (let attempt = 0; attempt < 2; attempt++) {
    const url = `${world.baseUrl}/api/robots/${fixture.robot.id}/whip/front`
    const response = await postOffer(url, fixture.robot.token, offer)
    expect(response.status, await response.text()).toBe(201)
  }
  const camera = runCamera(fixture.link)
  try {
    await fixture.isLive()
    await fixture.watch()
  } finally {
    await camera.stop()
  }
})

test('a viewer that floods the platform is closed, and others continue', async () => {
  const [flooding, other] = [await fixture.watch(), await fixture.watch(fixture.owner, 'watch')]
  const report = rtp.receiverReport(1, undefined)
  for (let packet = 0; packet < 5_000; packet++) flooding.send(report)
  await waitFor(() => expect(flooding.silentMs).toBeGreaterThan(500))
  const before = other.packets.length
  await waitFor(() => expect(other.packets.length).toBeGreaterThan(before))
})

test('many viewers of one user at once are not more than a user may have', async () => {
  const viewers = Array.from({ length: 2 * MAX_VIEWERS_OF_A_USER }, () => new TestViewer())
  try {
    const tickets = await Promise.all(viewers.map(() => fixture.ticketOf(fixture.owner, 'watch')))
    const offers = viewers.map(async (viewer, index) => {
      await viewer.watch({ url: fixture.url, token: tickets[index] as string })
    })
    await Promise.all(offers)
    const metric = async () => {
      const text = await (await fetch(`${world.baseUrl}/metrics`)).text()
      return Number(/^wheelhouse_media_viewers (\d+)$/m.exec(text)?.[1])
    }
    // Viewers of other tests may be connected for some seconds.
    await waitFor(async () => expect(await metric()).toBe(MAX_VIEWERS_OF_A_USER))
    const playing = () => viewers.filter(({ silentMs }) => silentMs < 2_000).length
    await waitFor(() => expect(playing()).toBe(MAX_VIEWERS_OF_A_USER))
  } finally {
    for (const viewer of viewers) viewer.close()
  }
})
