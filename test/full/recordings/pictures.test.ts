import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { sampleKinds } from '../../../src/modules/recordings/transport/sample-wire.ts'
import { jpegPicture, MjpegCamera } from '../../support/recordings/mjpeg-camera.ts'
import { listRecorder, unlistRecorders } from '../../support/recordings/recorder-list.ts'
import { TestRecorder } from '../../support/recordings/test-recorder.ts'
import { withMedia } from '../../support/video/video-fixture.ts'
import { openSessionFixture, type SessionFixture } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let recorder: TestRecorder
let camera: MjpegCamera
let fixture: SessionFixture

beforeAll(async () => {
  world = await createWorld({ env: { ...withMedia, WEBHOOK_ALLOW_LOOPBACK: 'true' } })
})
beforeEach(async () => {
  recorder = await TestRecorder.start({ id: randomUUID() })
  await listRecorder(world, recorder)
  camera = await MjpegCamera.start()
  fixture = await openSessionFixture(world)
})
afterEach(async () => {
  await change({ recording: 'off' })
  await waitFor(() => expect(camera.clients).toBe(0))
  await camera[Symbol.asyncDispose]()
  await unlistRecorders(world, recorder)
  await recorder.kill()
})
afterAll(() => world[Symbol.asyncDispose]())

async function change(fields: Record<string, unknown>): Promise<void> {
  const reply = await fixture.owner.patch(`/api/client/robots/${fixture.robotId}`, fields)
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
}

const streams = () =>
  recorder.streamsOf('camera/stream-url').filter(({ open }) => open.sessionId === fixture.id)
const received = async (count: number) =>
  await waitFor(() => {
    const stream = streams().at(-1)
    expect(stream?.samples.length ?? 0).toBeGreaterThanOrEqual(count)
    return stream as (typeof recorder.streams)[number]
  })
const numberOf = ({ payload }: { payload: Uint8Array }) =>
  Buffer.from(payload).readUInt32BE(payload.length - 4)

test('the pictures of an MJPEG camera are recorded while the setting says so', async () => {
  await change({ stream_url: camera.url, recording: 'control' })
  await delay(1_500)
  expect(camera.requests, 'without video').toBe(0)
  await change({ recording: 'video' })
  const stream = await received(10)
  expect(stream.open).toMatchObject({ source: 'camera/stream-url', codec: 'JPEG', stored: true })
  const [first] = stream.samples
  for (const [index, record] of stream.samples.entries()) {
    expect(record.kind).toBe(sampleKinds.image)
    expect(Buffer.from(record.payload)).toEqual(jpegPicture(numberOf(first as typeof record) + index))
  }
  await change({ recording: 'off' })
  await waitFor(() => expect(stream.isClosed).toBe(true))
  await waitFor(() => expect(camera.clients).toBe(0))
})

test('at most 15 pictures are recorded in a second', async () => {
  await using fast = await MjpegCamera.start({ intervalMs: 10 })
  await change({ stream_url: fast.url, recording: 'video' })
  const stream = await received(40)
  const [first, last] = [stream.samples[0]?.atMs ?? 0, stream.samples.at(-1)?.atMs ?? 0]
  expect((stream.samples.length - 2) / ((last - first) / 1_000)).toBeLessThan(15.5)
  await change({ recording: 'off' })
  await waitFor(() => expect(fast.clients).toBe(0))
})

test('a camera whose connection breaks is read again, in the same stream', async () => {
  await change({ stream_url: camera.url, recording: 'video' })
  const { length } = (await received(5)).samples
  camera.disconnect()
  await received(length + 5)
  expect(camera.requests).toBe(2)
  expect(streams()).toHaveLength(1)
})

test('a new address ends the stream; only MJPEG is recorded, and redirects are not followed', async () => {
  await change({ stream_url: camera.url, recording: 'video' })
  const first = await received(5)
  await using other = await MjpegCamera.start()
  other.answer = (response) => {
    if (other.requests === 1) response.writeHead(302, { Location: camera.url }).end()
    else response.writeHead(200, { 'Content-Type': 'image/jpeg' }).end(jpegPicture(1))
  }
  await change({ stream_url: other.url })
  await waitFor(() => expect(first.isClosed).toBe(true))
  await waitFor(() => expect(other.requests).toBeGreaterThan(1))
  await delay(300)
  expect(streams()).toHaveLength(1)
  expect(camera.clients).toBe(0)
})

test('addresses that webhooks may not use are not requested', async () => {
  // It reaches this machine, but is not among the networks that the configuration allows.
  await change({ stream_url: camera.url.replace('127.0.0.1', '0.0.0.0'), recording: 'video' })
  await delay(2_500)
  expect(camera.requests).toBe(0)
  expect(streams()).toEqual([])
})
