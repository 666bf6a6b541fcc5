import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { FLAG_KEYFRAME, sampleKinds } from '../../../src/modules/recordings/transport/sample-wire.ts'
import { childrenOf } from '../../support/processes/process-table.ts'
import { listRecorder, unlistRecorders } from '../../support/recordings/recorder-list.ts'
import { type ReceivedStream, TestRecorder } from '../../support/recordings/test-recorder.ts'
import { LayeredPublisher, layerOf } from '../../support/video/layered-publisher.ts'
import { LossyPublisher } from '../../support/video/lossy-publisher.ts'
import { frameNumber, h264Frame, vp8Frame } from '../../support/video/test-frames.ts'
import {
  openVideoFixture,
  runCamera,
  type VideoFixture,
  withMedia,
} from '../../support/video/video-fixture.ts'
import { performAction } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let fixture: VideoFixture
let recorder: TestRecorder

beforeAll(async () => {
  world = await createWorld({ env: withMedia })
})
beforeEach(async () => {
  recorder = await TestRecorder.start({ id: randomUUID() })
  await listRecorder(world, recorder)
  fixture = await openVideoFixture(world)
})
afterEach(async () => {
  await fixture[Symbol.asyncDispose]()
  await recorder.kill()
  await world.platform.core.db.deleteFrom('recorder_nodes').execute()
})
afterAll(() => world[Symbol.asyncDispose]())

async function setRecording(recording: 'off' | 'control' | 'video'): Promise<void> {
  const reply = await fixture.owner.patch(`/api/client/robots/${fixture.robot.id}`, { recording })
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
}

/** Returns the streams of the camera. Those of sessions of earlier tests may still end. */
const streams = (at = recorder) =>
  at.streamsOf('camera/front').filter(({ open }) => open.sessionId === fixture.sessionId)

/** Waits until a camera has sent some frames to a recorder. */
async function recorded(count = 10, at = recorder): Promise<ReceivedStream> {
  return await waitFor(() => {
    const stream = streams(at).at(-1)
    expect(stream?.samples.length ?? 0).toBeGreaterThanOrEqual(count)
    return stream as ReceivedStream
  })
}

const numbersOf = ({ samples }: ReceivedStream) => samples.map(({ payload }) => frameNumber(payload))
const isKeyframe = ({ flags }: { flags: number }) => (flags & FLAG_KEYFRAME) !== 0

async function publishLossy(codec: 'VP8' | 'H264', frameOf: (number: number, keyframe: boolean) => Buffer) {
  await fixture.camera.stop()
  const publisher = new LossyPublisher(codec, frameOf)
  await publisher.publish(`${world.baseUrl}/api/robots/${fixture.robot.id}/whip/front`, fixture.robot.token)
  return publisher
}

test('a recorded camera sends every frame from a keyframe on, at full bitrate without viewers', async () => {
  await fixture.isLive()
  await delay(1_500)
  expect(streams(), 'the setting is off').toEqual([])
  expect(fixture.camera.bitrates.at(-1)).toBe(300_000)
  await setRecording('video')
  const stream = await recorded(40)
  expect(stream.open).toMatchObject({ sessionId: fixture.sessionId, codec: 'VP8', stored: true })
  expect(stream.authorization).toMatch(/^Bearer \d+\.[\w-]+$/)
  const numbers = numbersOf(stream)
  expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] as number) + index))
  const [first] = stream.samples
  expect(first && isKeyframe(first)).toBe(true)
  for (const { kind, payload, atMs, detail } of stream.samples) {
    expect(kind).toBe(sampleKinds.video)
    expect(payload).toHaveLength(3_000)
    expect(Math.abs(Date.now() - atMs)).toBeLessThan(60_000)
    if (!Number.isNaN(detail)) expect(Math.abs(atMs - detail)).toBeLessThan(5_000)
  }
  expect(
    stream.samples.some(({ detail }) => !Number.isNaN(detail)),
    'capture times',
  ).toBe(true)
  await waitFor(() => expect(fixture.camera.bitrates.at(-1)).toBeGreaterThan(1_000_000))
})

test('a keyframe is requested every five seconds, and when the recorder asks', async () => {
  await fixture.isLive()
  await setRecording('video')
  const stream = await recorded(60) // the first frames may contain two: of the connection, and of the recording
  const count = () => stream.samples.filter(isKeyframe).length
  const [first] = stream.samples.filter(isKeyframe).slice(-1)
  const known = count()
  await waitFor(() => expect(count()).toBeGreaterThan(known))
  const second = stream.samples.filter(isKeyframe)[known]
  const intervalMs = (second?.atMs ?? 0) - (first?.atMs ?? 0)
  expect(intervalMs).toBeGreaterThan(4_900)
  expect(intervalMs).toBeLessThan(9_800) // not every ten seconds; a busy machine is late
  const before = count()
  stream.send({ type: 'keyframe', stream: stream.open.stream })
  await waitFor(() => expect(count()).toBeGreaterThan(before))
  const asked = stream.samples.filter(isKeyframe)[before]
  expect(
    (asked?.atMs ?? 0) - (second?.atMs ?? 0),
    'sooner than the next one of every five seconds',
  ).toBeLessThan(4_900)
})

test('recording of cameras follows the setting; the setting `control` records no camera', async () => {
  await setRecording('video')
  const first = await recorded()
  await setRecording('control')
  await waitFor(() => expect(first.isClosed).toBe(true))
  await delay(1_000)
  expect(streams()).toHaveLength(1)
  await setRecording('video')
  await waitFor(() => expect(streams()).toHaveLength(2))
  const second = await recorded()
  expect(isKeyframe(second.samples[0] as { flags: number })).toBe(true)
  expect(second.open.originId).toBe(second.open.streamId)
})

test('recording continues while the session is paused, and ends with the session', async () => {
  await setRecording('video')
  const stream = await recorded()
  await performAction(fixture.operator, fixture.sessionId, 'pause')
  const { length } = stream.samples
  await recorded(length + 30)
  await performAction(fixture.operator, fixture.sessionId, 'resume')
  await performAction(fixture.operator, fixture.sessionId, 'end')
  await waitFor(() => expect(stream.isClosed).toBe(true))
  expect(streams()).toHaveLength(1)
})

test('a publisher that connects again continues the stream, with a keyframe', async () => {
  await setRecording('video')
  const stream = await recorded()
  await fixture.camera.stop()
  await delay(300)
  const before = stream.samples.length
  const again = runCamera(fixture.link)
  try {
    await recorded(before + 20)
    expect(streams()).toHaveLength(1)
    expect(isKeyframe(stream.samples[before] as { flags: number })).toBe(true)
    expect(stream.isClosed).toBe(false)
  } finally {
    await again.stop()
  }
})

test('another codec is another stream', async () => {
  await setRecording('video')
  const first = await recorded()
  await fixture.camera.stop()
  const publisher = await publishLossy('H264', (number, keyframe) => h264Frame(number, { keyframe }))
  try {
    await waitFor(() => expect(streams()).toHaveLength(2))
    const second = await recorded()
    expect(first.isClosed).toBe(true)
    expect(second.open).toMatchObject({ codec: 'H264', source: 'camera/front' })
  } finally {
    publisher.close()
  }
})

test('every keyframe of H.264 has parameter sets, also if the camera sends them once', async () => {
  const sequence = Buffer.from([0, 0, 0, 1, 0x67])
  const picture = Buffer.from([0, 0, 0, 1, 0x68])
  const publisher = await publishLossy('H264', (number, keyframe) =>
    h264Frame(number, { keyframe, parameters: keyframe && number < 100 }),
  )
  try {
    await setRecording('video')
    const stream = await recorded(200)
    const keyframes = stream.samples.filter(isKeyframe)
    expect(keyframes.length).toBeGreaterThan(1)
    for (const { payload } of keyframes) {
      expect(Buffer.from(payload).subarray(0, 5)).toEqual(sequence)
      expect(Buffer.from(payload).indexOf(picture)).toBe(10)
    }
    for (const record of stream.samples) {
      const original = publisher.sent.get(frameNumber(record.payload)) as Buffer
      const slice = Buffer.from(record.payload).subarray(-original.length)
      if (!isKeyframe(record)) expect(slice).toEqual(original)
    }
  } finally {
    publisher.close()
  }
})

describe.each(['VP8', 'H264'] as const)('packet loss of %s', (codec) => {
  const frameOf = (number: number, keyframe: boolean) =>
    (codec === 'VP8' ? vp8Frame : h264Frame)(number, { keyframe })

  test('packets that are lost once leave no gap', async () => {
    const publisher = await publishLossy(codec, frameOf)
    try {
      await setRecording('video')
      await recorded()
      const dropped = new Set<string>()
      publisher.drops = (packet) => {
        const key = Buffer.from(packet).toString('base64')
        if (dropped.has(key) || Math.random() > 0.05) return false
        dropped.add(key)
        return true
      }
      const stream = await recorded(150)
      publisher.drops = () => false
      expect(dropped.size).toBeGreaterThan(5)
      const numbers = numbersOf(stream)
      expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] as number) + index))
      for (const { payload } of stream.samples)
        expect(Buffer.from(payload)).toEqual(publisher.sent.get(frameNumber(payload)))
    } finally {
      publisher.close()
    }
  })

  test('a keyframe follows a frame that stays lost', async () => {
    const publisher = await publishLossy(codec, frameOf)
    try {
      await setRecording('video')
      const stream = await recorded()
      const { keyframes } = publisher
      const lost = new Set<number>()
      let count = 0
      publisher.drops = (packet) => {
        const sequenceNumber = ((packet[2] as number) << 8) | (packet[3] as number)
        if (++count % 100 === 99) lost.add(sequenceNumber)
        return lost.has(sequenceNumber)
      }
      await waitFor(() => expect(lost.size).toBeGreaterThan(4))
      publisher.drops = () => false
      await recorded(stream.samples.length + 60)
      const numbers = numbersOf(stream)
      const jumps = numbers.flatMap((number, index) =>
        index > 0 && number !== (numbers[index - 1] as number) + 1 ? [index] : [],
      )
      expect(jumps.length).toBeGreaterThan(0)
      for (const index of jumps) expect(isKeyframe(stream.samples[index] as { flags: number })).toBe(true)
      expect(publisher.keyframes).toBeGreaterThan(keyframes)
      await waitFor(() => {
        for (const index of jumps) {
          const [before, after] = [stream.samples[index - 1]?.atMs ?? 0, stream.samples[index]?.atMs ?? 0]
          const isListed = stream.gaps.some(({ fromMs, toMs }) => fromMs <= before && toMs >= after)
          expect(isListed, `frame ${index}`).toBe(true)
        }
      })
      expect(stream.gaps.every(({ reason }) => reason === 'packets_lost')).toBe(true)
      for (const { payload } of stream.samples)
        expect(Buffer.from(payload)).toEqual(publisher.sent.get(frameNumber(payload)))
    } finally {
      publisher.close()
    }
  })
})

test('of a camera with layers, the largest is recorded', async () => {
  await fixture.camera.stop()
  const publisher = new LayeredPublisher()
  try {
    await publisher.publish(`${world.baseUrl}/api/robots/${fixture.robot.id}/whip/front`, fixture.robot.token)
    await setRecording('video')
    const stream = await recorded(60)
    const layers = () => numbersOf(stream).map(layerOf)
    // The layers are known half a second later.
    await waitFor(() => expect(layers().indexOf('h')).toBeGreaterThanOrEqual(0))
    const first = layers().indexOf('h')
    await recorded(first + 20)
    expect(layers().slice(first)).not.toContain('l')
    expect(isKeyframe(stream.samples[first] as { flags: number })).toBe(true)
    expect(isKeyframe(stream.samples[0] as { flags: number })).toBe(true)
  } finally {
    publisher.close()
  }
})

test('after a recorder is killed, the stream continues at another one without a gap', async () => {
  await setRecording('video')
  const first = await recorded(30)
  const second = await TestRecorder.start({ id: randomUUID() })
  await listRecorder(world, second)
  await recorder.kill()
  await unlistRecorders(world, recorder)
  const continued = await recorded(30, second)
  expect(continued.open.originId).toBe(first.open.streamId)
  expect(continued.gaps).toEqual([])
  const numbers = [...new Set([...numbersOf(first), ...numbersOf(continued)])]
  expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] as number) + index))
  await second.kill()
})

test('after a crash of the forwarding process, the camera is recorded again', async () => {
  await setRecording('video')
  const first = await recorded()
  const commandOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  const [pid] = childrenOf(process.pid).filter((child) => commandOf(child).includes('media-process.ts'))
  process.kill(pid as number, 'SIGKILL')
  await waitFor(() => expect(streams()).toHaveLength(2))
  const second = await recorded()
  expect(second.open.streamId).not.toBe(first.open.streamId)
  expect(isKeyframe(second.samples[0] as { flags: number })).toBe(true)
})

test('viewers and recording share a camera', async () => {
  await fixture.isLive()
  const viewer = await fixture.watch()
  await setRecording('video')
  const stream = await recorded(30)
  const before = viewer.packets.length
  await waitFor(() => expect(viewer.packets.length).toBeGreaterThan(before + 10))
  const numbers = numbersOf(stream)
  expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] as number) + index))
})

test('a session that is read live is sent and not stored, until it is recorded', async () => {
  await fixture.isLive()
  world.platform.core.bus.publish('session.tailed', {
    sessionId: fixture.sessionId,
    untilMs: Date.now() + 2_000,
  })
  const live = await recorded()
  expect(live.open.stored).toBe(false)
  await waitFor(() => expect(live.isClosed).toBe(true))
  world.platform.core.bus.publish('session.tailed', {
    sessionId: fixture.sessionId,
    untilMs: Date.now() + 60_000,
  })
  await waitFor(() => expect(streams()).toHaveLength(2))
  await setRecording('video')
  await waitFor(() => expect(streams()).toHaveLength(3))
  expect((await recorded()).open.stored).toBe(true)
})
