import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createLog } from '../../../src/core/log.ts'
import { createGuard } from '../../../src/core/process/guard.ts'
import { createSampleSender } from '../../../src/modules/recordings/transport/sample-sender.ts'
import { sampleKinds } from '../../../src/modules/recordings/transport/sample-wire.ts'
import { TestRecorder } from '../../support/recordings/test-recorder.ts'

const log = createLog({ level: 'silent', pretty: false })

function createSender(
  recorders: () => readonly TestRecorder[],
  limits?: { streamBytes: number; totalBytes: number },
) {
  const sender = createSampleSender({
    recorders,
    authorization: () => 'Bearer test',
    guard: createGuard({ role: 'test', log, count: () => {} }),
    log,
    nowMs: () => performance.timeOrigin + performance.now(),
    ...(limits && { limits }),
    onUnsent: () => {},
  })
  onTestFinished(() => sender.stop())
  return sender
}

const telemetry = (number: number, bytes = 0) => ({
  kind: sampleKinds.telemetry,
  flags: 0,
  detail: 0,
  note: '',
  payload: JSON.stringify({ number, filler: 'x'.repeat(bytes) }),
})
const numbersOf = (recorders: readonly TestRecorder[]): number[] =>
  recorders.flatMap(({ streams }) =>
    streams.flatMap(({ samples }) => samples.map(({ payload }) => JSON.parse(String(payload)).number)),
  )
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

test('streams of one session go to one recorder, those of many to all', async () => {
  await using first = await TestRecorder.start({ id: randomUUID() })
  await using second = await TestRecorder.start({ id: randomUUID() })
  const recorders = [first, second]
  const sender = createSender(() => recorders)
  const sessionIds = upTo(40).map(() => randomUUID())
  for (const sessionId of sessionIds)
    for (const source of ['gateway', 'camera/front']) {
      const stream = sender.open({ sessionId, source, stored: true })
      stream.write(telemetry(0))
    }
  await expect.poll(() => first.streams.length + second.streams.length).toBe(80)
  for (const recorder of recorders) {
    const sessions = new Set(recorder.streams.map(({ open }) => open.sessionId))
    expect(recorder.streams).toHaveLength(2 * sessions.size)
    expect(sessions.size).toBeGreaterThan(5)
    expect(recorder.streams.every(({ authorization }) => authorization === 'Bearer test')).toBe(true)
  }
})

test('no sample is lost when recorders are killed, and the streams have no gap', async () => {
  const recorders = [await TestRecorder.start({ id: randomUUID() })]
  const live = () => recorders.slice(-1)
  const sender = createSender(live)
  const stream = sender.open({ sessionId: randomUUID(), source: 'gateway', stored: true })
  const COUNT = 1_500
  for (const number of upTo(COUNT)) {
    stream.write(telemetry(number))
    if (number % 3 === 0) await delay(1)
    if (number % 500 === 250) {
      await recorders.at(-1)?.kill()
      recorders.push(await TestRecorder.start({ id: randomUUID() }))
    }
  }
  stream.close()
  await expect.poll(() => sender.isIdle).toBe(true)
  // A killed recorder acknowledges what it has received, but the acknowledgement may not arrive.
  const numbers = numbersOf(recorders)
  expect(new Set(numbers)).toEqual(new Set(upTo(COUNT)))
  expect(numbers.length).toBeLessThan(COUNT + 500)
  const streams = recorders.flatMap((recorder) => recorder.streams)
  for (const { open, gaps } of streams) {
    expect(open.originId).toBe(streams[0]?.open.streamId)
    expect(gaps).toEqual([])
  }
  await recorders.at(-1)?.kill()
})

test('a recorder that restarts at its address gets the remaining samples', async () => {
  const id = randomUUID()
  const first = await TestRecorder.start({ id, acknowledges: false })
  const recorders = [first]
  const sender = createSender(() => recorders.slice(-1))
  const stream = sender.open({ sessionId: randomUUID(), source: 'gateway', stored: true })
  for (const number of upTo(10)) stream.write(telemetry(number))
  await expect.poll(() => numbersOf([first]).length).toBe(10)
  const half = first.streams[0]?.samples[4]?.atMs as number
  first.streams[0]?.send({ type: 'ack', stream: 1, upToMs: half })
  await first.hasBeenRead()
  const { port } = first
  await first.kill()
  for (const number of [10, 11]) stream.write(telemetry(number))
  await delay(300)
  await using second = await TestRecorder.start({ id, port })
  recorders.push(second)
  await expect.poll(() => numbersOf([second])).toEqual([5, 6, 7, 8, 9, 10, 11])
})

test('large samples and many streams arrive complete', async () => {
  await using recorder = await TestRecorder.start({ id: randomUUID() })
  const sender = createSender(() => [recorder], {
    streamBytes: 8 * 1024 * 1024,
    totalBytes: 64 * 1024 * 1024,
  })
  const streams = upTo(50).map((number) =>
    sender.open({ sessionId: randomUUID(), source: `camera/${number}`, stored: true }),
  )
  for (const round of upTo(20))
    for (const stream of streams) stream.write(telemetry(round, round === 10 ? 100_000 : 200))
  streams[0]?.write(telemetry(20, 3 * 1024 * 1024))
  for (const stream of streams) stream.close()
  await expect.poll(() => sender.isIdle).toBe(true)
  expect(sender.counts).toMatchObject({ sent: 50 * 20 + 1, leftOut: 0, reconnects: 0 })
  for (const { open, samples, isClosed } of recorder.streams) {
    const numbers = samples.map(({ payload }) => JSON.parse(String(payload)).number)
    expect(numbers).toEqual(upTo(open.source === 'camera/0' ? 21 : 20))
    expect(isClosed).toBe(true)
  }
})
