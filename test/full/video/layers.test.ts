import { rtp } from '@wheelhouse/protocol'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { LayeredPublisher, layerOf } from '../../support/video/layered-publisher.ts'
import type { TestViewer } from '../../support/video/test-viewer.ts'
import { openVideoFixture, type VideoFixture, withMedia } from '../../support/video/video-fixture.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let fixture: VideoFixture
let publisher: LayeredPublisher
let answer: string
beforeAll(async () => {
  world = await createWorld({ env: withMedia })
})
beforeEach(async () => {
  fixture = await openVideoFixture(world)
  await fixture.camera.stop()
  publisher = new LayeredPublisher()
  answer = await publisher.publish(
    `${world.baseUrl}/api/robots/${fixture.robot.id}/whip/front`,
    fixture.robot.token,
  )
  await fixture.isLive()
})
afterEach(async () => {
  publisher.close()
  await fixture[Symbol.asyncDispose]()
})
afterAll(() => world[Symbol.asyncDispose]())

const layersOf = ({ packets }: TestViewer) =>
  packets.map(({ payload }) => layerOf(payload.readUInt32BE(payload.length - 4)))

test('the answer accepts the layers that the robot offers', () => {
  expect(answer.match(/^a=(rid|simulcast).*/gm)).toEqual([
    'a=rid:l recv',
    'a=rid:h recv',
    'a=simulcast:recv l;h',
  ])
})

test('a viewer receives the largest layer, and one on a slow path a smaller one', async () => {
  const fast = await fixture.watch()
  const slow = await fixture.watch(fixture.owner, 'watch')
  const ssrc = slow.packets[0]?.header.ssrc as number
  await waitFor(() => {
    slow.send(rtp.bitrateLimit(1, ssrc, 80_000))
    expect(layersOf(slow).at(-1)).toBe('l')
  })
  const first = layersOf(slow).indexOf('l')
  expect(layersOf(slow).slice(0, first)).not.toContain('l')
  const keyframe = (slow.packets[first]?.payload[1] as number) & 1
  expect(keyframe, 'the other layer begins with a keyframe').toBe(0)
  const [before, after] = [slow.packets[first - 1]?.header, slow.packets[first]?.header]
  expect(after?.ssrc).toBe(before?.ssrc)
  expect(after?.sequenceNumber).toBe(((before?.sequenceNumber as number) + 1) & 0xffff)
  expect(new Set(layersOf(fast))).toEqual(new Set(['h']))
})
