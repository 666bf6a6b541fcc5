import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { McapIndexedReader } from '@mcap/core'
import { FileHandleReadable } from '@mcap/nodejs'
import ajv from '@redocly/ajv'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  download,
  openRecordedSession,
  readMcap,
  withRecorder,
} from '../../support/recordings/recording-fixture.ts'
import { performAction } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld({ env: withRecorder })
})
afterAll(async () => await world?.[Symbol.asyncDispose]())

test('a session becomes one file with everything that happened in it', async () => {
  const session = await openRecordedSession(world)
  const { owner, operator, link, sessionId } = session
  await waitFor(async () => expect((await session.recording()).status).toBe('RECORDING'))

  const driver = await world.drive(operator, sessionId)
  await driver.state()
  const passed = driver.control({ linear: 0.5 }, { seen: { front: 1_795_167_060_000 } })
  const frame = await link.next('control')
  expect(frame.data).toEqual({ linear: 0.5 })
  driver.control({ linear: 1 }, { seq: passed }) // the same number again
  await driver.next('dropped')
  link.send({ type: 'telemetry', data: { x_m: 1.25, note: 'café' }, t: 5_000 })
  await driver.next('telemetry')
  link.send({ type: 'telemetry', data: { x_m: 1.5 } })
  await driver.next('telemetry')
  // The clock has hardly gone on since the first sample, so this one was on its way for longer.
  link.send({ type: 'telemetry', data: { x_m: 1.75 }, t: 5_000.001 })
  await driver.next('telemetry')
  await operator.post(`/api/sessions/${sessionId}/messages`, { body: 'Mind the vase' })
  await performAction(owner, sessionId, 'emergency_stop', 'a cat')
  await driver.state((state) => state.stop?.latched === true)
  await performAction(owner, sessionId, 'clear_stop')
  await performAction(owner, sessionId, 'end')

  const recording = await session.reached('READY')
  expect(recording).toMatchObject({
    mode: 'control',
    gaps: [],
    paused_reason: null,
    segments: expect.any(Number),
  })
  const { response, bytes } = await download(world, owner, recording.file_url)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/mcap'])
  expect(bytes.length).toBe(recording.size_bytes)
  const mcap = await readMcap(bytes)
  expect(mcap.of('/control').map(({ json }) => json)).toMatchObject([
    {
      seq: passed,
      seen: { front: 1_795_167_060_000 },
      data: { linear: 0.5 },
      age_ms: expect.any(Number),
      ttl_ms: expect.any(Number),
    },
  ])
  expect(mcap.of('/control/dropped').map(({ json }) => json)).toMatchObject([
    { seq: passed, why: 'out_of_order', data: { linear: 1 } },
  ])
  const samples = mcap.of('/telemetry')
  expect(samples.map(({ json }) => json?.data)).toEqual([
    { x_m: 1.25, note: 'café' },
    { x_m: 1.5 },
    { x_m: 1.75 },
  ])
  const [, unknown, late] = samples.map(({ logTimeNs, publishTimeNs }) => logTimeNs - publishTimeNs)
  expect(unknown).toBe(0n)
  expect(late).toBeGreaterThan(0n)
  expect(late).toBeLessThanOrEqual(5_000_000_000n)
  expect(mcap.of('/chat').map(({ json }) => json?.body)).toEqual(['Mind the vase'])
  expect(mcap.of('/events').map(({ json }) => json?.type)).toEqual([
    'session.started',
    'recording.started',
    'session.stopped',
    'session.stop_cleared',
    'session.ended',
  ])
  expect(
    mcap.of('/stop').map(({ json }) => (json?.stop as { reason: string } | null)?.reason ?? null),
  ).toContain('a cat')
  const validator = new ajv.default({ strict: false })
  for (const { topic, json, definition } of mcap.messages) {
    const isValid = validator.validate(JSON.parse(Buffer.from(definition).toString()), json)
    expect(isValid, `${topic}: ${JSON.stringify(json)} ${validator.errorsText()}`).toBe(true)
  }
  const times = mcap.messages.map(({ logTimeNs }) => logTimeNs)
  expect(times).toEqual(times.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)))
  const counts = Map.groupBy(mcap.messages, ({ topic }) => topic)
  expect(
    new Map(
      recording.channels.map((channel: { topic: string; messages: number }) => [
        channel.topic,
        channel.messages,
      ]),
    ),
  ).toEqual(new Map([...counts].map(([topic, messages]) => [topic, messages.length])))
  expect(mcap.metadata.session).toMatchObject({ session_id: sessionId, robot_id: session.robotId })
  expect(await countInFile(bytes)).toBe(mcap.messages.length)
})

test('a robot without the setting is not recorded, and a change applies to an open session', async () => {
  const session = await openRecordedSession(world, { recording: 'off' })
  const { owner, operator, link, sessionId, robotId } = session
  const driver = await world.drive(operator, sessionId)
  await driver.state()
  driver.control({ step: 1 })
  await link.next('control')
  expect((await owner.get(`/api/sessions/${sessionId}/recording`)).status).toBe(404)

  await owner.patch(`/api/client/robots/${robotId}`, { recording: 'control' })
  await waitFor(async () =>
    expect(await session.recording()).toMatchObject({ status: 'RECORDING', paused_reason: null }),
  )
  driver.control({ step: 2 })
  await link.next('control')
  await owner.patch(`/api/client/robots/${robotId}`, { recording: 'off' })
  await waitFor(async () => expect(await session.recording()).toMatchObject({ paused_reason: 'off' }))
  driver.control({ step: 3 })
  await link.next('control')
  await performAction(owner, sessionId, 'end')

  const { file_url } = await session.reached('READY')
  const mcap = await readMcap((await download(world, operator, file_url)).bytes)
  expect(mcap.of('/control').map(({ json }) => json?.data)).toEqual([{ step: 2 }])
  const types = (await session.log()).map(({ type }) => type)
  expect(types.filter((type) => type.startsWith('recording.'))).toEqual([
    'recording.started',
    'recording.stopped',
  ])
})

/** Returns the number of messages that the reader of files finds. */
async function countInFile(bytes: Uint8Array): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-mcap-'))
  const file = join(folder, 'session.mcap')
  await writeFile(file, bytes)
  const handle = await open(file)
  try {
    const reader = await McapIndexedReader.Initialize({ readable: new FileHandleReadable(handle) })
    let count = 0
    for await (const _message of reader.readMessages()) count++
    return count
  } finally {
    await handle.close()
    await rm(folder, { recursive: true })
  }
}
