import { afterAll, beforeAll, expect, test } from 'vitest'
import { AudioPeer } from '../../support/video/audio-peer.ts'
import { openVideoFixture, withMedia } from '../../support/video/video-fixture.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld({ env: withMedia })
})
afterAll(() => world[Symbol.asyncDispose]())

test('viewers hear the robot, and the robot hears its operator only', async () => {
  await using fixture = await openVideoFixture(world)
  await fixture.camera.stop()
  const robot = new AudioPeer({ sound: 'motor', sendsVideo: true, payloadType: 98 })
  const [operator, owner] = ['voice of the operator', 'voice of the owner'].map(
    (sound) => new AudioPeer({ sound, sendsVideo: false, payloadType: 111 }),
  ) as [AudioPeer, AudioPeer]
  try {
    await robot.connect(`${world.baseUrl}/api/robots/${fixture.robot.id}/whip/front`, fixture.robot.token)
    await waitFor(async () => {
      const [camera] = await fixture.listOf(fixture.operator)
      expect(camera).toMatchObject({ live: true, audio: true })
    })
    await owner.connect(fixture.url, await fixture.ticketOf(fixture.owner, 'watch'))
    await waitFor(() => expect(owner.received).toEqual(new Set(['motor'])))
    await operator.connect(fixture.url, await fixture.ticketOf(fixture.operator, 'control'))
    await waitFor(() => expect(operator.received).toEqual(new Set(['motor'])))
    await waitFor(() => expect(robot.received).toEqual(new Set(['voice of the operator'])))
  } finally {
    for (const peer of [robot, operator, owner]) peer.close()
  }
})
