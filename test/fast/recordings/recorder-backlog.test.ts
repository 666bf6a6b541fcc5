import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { createLog } from '../../../src/core/log.ts'
import { createGuard } from '../../../src/core/process/guard.ts'
import { createSampleSender } from '../../../src/modules/recordings/transport/sample-sender.ts'
import {
  FLAG_BINARY,
  FLAG_KEYFRAME,
  RECORDER_PATH,
  sampleKinds,
  writeSample,
} from '../../../src/modules/recordings/transport/sample-wire.ts'
import type { RecorderServices } from '../../../src/roles/recorder/messages.ts'
import { startRecorder } from '../../../src/roles/recorder/recorder.ts'
import { MemoryStore } from '../../support/storage/memory-store.ts'

// A real recorder and a real source, with a database that takes its time.

const MB = 1024 * 1024
const log = createLog({ level: 'silent', pretty: false })
const guard = createGuard({ role: 'test', log, count: () => {} })
const nowMs = () => performance.timeOrigin + performance.now()

/** Starts a recorder whose database needs `openMs` to open a stream. */
async function start(openMs: number) {
  const stored = { messages: 0, opens: 0 }
  const ends: Parameters<RecorderServices['streams']['closeStream']>[1][] = []
  const streams: RecorderServices['streams'] = {
    openStream: async () => {
      stored.opens++
      await delay(openMs)
      return { recordingId: randomUUID(), durableUpToMs: 0 }
    },
    addSegment: async ({ messages }) => {
      stored.messages += messages
      return 'added'
    },
    closeStream: async (_streamId, end) => {
      ends.push(end)
    },
    addGap: async () => {},
    setPaused: async () => {},
  }
  const recorder = await startRecorder({
    nodeId: randomUUID(),
    host: '127.0.0.1',
    port: 0,
    services: { streams },
    store: new MemoryStore(),
    authorize: () => true,
    live: { publish: () => {} },
    upgradeOther: () => false,
    guard,
    log,
    nowMs,
  })
  onTestFinished(() => recorder.close())
  return { ...recorder, stored, ends }
}

test('a recorder takes over a camera with a large backlog', async () => {
  const recorder = await start(50)
  const id = randomUUID()
  let isListed = false
  const sender = createSampleSender({
    recorders: () => (isListed ? [{ id, url: `ws://127.0.0.1:${recorder.port}` }] : []),
    authorization: () => 'Bearer test',
    guard,
    log,
    nowMs,
    limits: { streamBytes: 8 * MB, totalBytes: 64 * MB },
    onUnsent: () => {},
  })
  onTestFinished(() => sender.stop())
  const camera = sender.open({ sessionId: randomUUID(), source: 'camera/front', codec: 'H264', stored: true })
  const FRAMES = 60
  const frame = { kind: sampleKinds.video, flags: FLAG_BINARY | FLAG_KEYFRAME, detail: Number.NaN, note: '' }
  for (let number = 0; number < FRAMES; number++)
    camera.write({ ...frame, payload: new Uint8Array(100_000).fill(number) })
  isListed = true
  camera.close()
  await expect.poll(() => sender.isIdle).toBe(true)
  expect(recorder.stored).toEqual({ messages: FRAMES, opens: 1 })
})

test('a recorder whose database hangs refuses a large backlog, and serves the other streams of its source', async () => {
  const recorder = await start(60_000)
  const url = `ws://127.0.0.1:${recorder.port}`
  const source = new WebSocket(new URL(RECORDER_PATH, url))
  onTestFinished(() => source.terminate())
  const answers: unknown[] = []
  source.on('message', (data) => answers.push(JSON.parse(String(data))))
  await once(source, 'open')
  const streamId = randomUUID()
  const open = {
    streamId,
    originId: streamId,
    sessionId: randomUUID(),
    source: 'camera/front',
    codec: 'H264',
  }
  source.send(JSON.stringify({ type: 'open', stream: 1, ...open, stored: true, atMs: nowMs() }))
  const sample = { kind: sampleKinds.video, flags: FLAG_KEYFRAME, detail: 0, note: '' }
  for (let number = 0; number < 4; number++) {
    const bytes = Buffer.alloc(MB + 64)
    const end = writeSample(bytes, 0, { ...sample, payload: new Uint8Array(MB) }, 1, nowMs())
    source.send(bytes.subarray(0, end))
  }
  await expect
    .poll(() => answers)
    .toEqual([{ type: 'refused', stream: 1, reason: 'overload', retryAfterMs: 1_000 }])
  const answered = once(source, 'pong')
  source.ping()
  await answered
})

test('a recorder that loses a source stores all that has arrived, and lists the gap from the last sample on', async () => {
  const recorder = await start(50)
  const source = new WebSocket(new URL(RECORDER_PATH, `ws://127.0.0.1:${recorder.port}`))
  await once(source, 'open')
  const streamId = randomUUID()
  const open = { streamId, originId: streamId, sessionId: randomUUID(), source: 'gateway', stored: true }
  source.send(JSON.stringify({ type: 'open', stream: 1, ...open, atMs: nowMs() }))
  const sample = { kind: sampleKinds.telemetry, flags: 0, detail: 0, note: '', payload: '{}' }
  const [RECORDS, fromMs] = [100, nowMs()]
  for (let number = 0; number < RECORDS; number++) {
    const bytes = Buffer.alloc(64)
    source.send(bytes.subarray(0, writeSample(bytes, 0, sample, 1, fromMs + number)))
  }
  source.ping()
  await once(source, 'pong') // the recorder has read the samples before it
  source.terminate()
  await expect.poll(() => recorder.ends, { timeout: 10_000 }).toHaveLength(1)
  expect(recorder.ends).toMatchObject([{ gap: { reason: 'source_lost', fromMs: fromMs + RECORDS - 1 } }])
  expect(recorder.stored.messages).toBe(RECORDS)
})
