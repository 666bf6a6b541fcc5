import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { cameraTopic } from '@wheelhouse/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { encodeFrame } from '../../../src/modules/recordings/mcap/compressed-frame.ts'
import {
  type FoxgloveFixture,
  openFoxgloveFixture,
  startTestRecorder,
  type TestRecorder,
} from '../../support/foxglove/foxglove-fixture.ts'
import { openSessionFixture, type SessionFixture } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const FRONT = cameraTopic('front')

let world: World
let session: SessionFixture
let foxglove: FoxgloveFixture
let recorder: TestRecorder
beforeAll(async () => {
  world = await createWorld()
  session = await openSessionFixture(world)
  foxglove = await openFoxgloveFixture(world)
  recorder = await startTestRecorder(world)
  foxglove.recorders.push(recorder.address)
})
afterAll(async () => {
  await foxglove?.[Symbol.asyncDispose]()
  await recorder?.stop()
  await world?.[Symbol.asyncDispose]()
})

const json = (value: unknown) => Buffer.from(JSON.stringify(value))
const frame = (text: string, bytes = 0) =>
  encodeFrame('CompressedVideo', {
    stampNs: 1n,
    frameId: 'front',
    format: 'h264',
    data: Buffer.from(text.padEnd(bytes)),
  })
const publish = (topic: string, data: Uint8Array, isKeyframe?: boolean) =>
  recorder.publish(session.id, {
    topic,
    data,
    ...(isKeyframe !== undefined && { kind: 'video' as const, isKeyframe }),
  })
/** Settles when the process reads from the recorder. */
const tailed = (count = 1) => waitFor(() => expect(recorder.readers.size).toBe(count))

test.each(['foxglove.sdk.v1', 'foxglove.websocket.v1'])(
  '%s: data of recorders, chat and time arrive',
  async (protocol) => {
    const tailedSessions: string[] = []
    const unsubscribe = world.platform.core.bus.subscribe('session.tailed', ({ sessionId, untilMs }) => {
      if (untilMs > Date.now()) tailedSessions.push(sessionId)
    })
    const client = await foxglove.connect(session.id, session.client, protocol).ready()
    expect(client.socket.protocol).toBe(protocol)
    expect(client.info).toMatchObject({ capabilities: ['time'], sessionId: session.id })
    expect([...client.channels.keys()]).toEqual([
      '/control',
      '/control/dropped',
      '/telemetry',
      '/goal',
      '/autonomy',
      '/limits',
      '/latency',
      '/stop',
      '/events',
      '/chat',
    ])
    await client.subscribe('/telemetry', '/chat', '/events')
    await tailed()
    await waitFor(() => expect(tailedSessions).toContain(session.id))
    publish('/telemetry', json({ t: 1 }))
    publish('/control', json({ seq: 1 }))
    await waitFor(() => expect(client.textsOf('/telemetry')).toContain('{"t":1}'))
    const chat = await session.operator.post(`${session.path}/messages`, { body: `hello ${protocol}` })
    expect(chat.status, JSON.stringify(chat.body)).toBe(201)
    await waitFor(() =>
      expect(client.textsOf('/chat').map((text) => JSON.parse(text).body)).toContain(`hello ${protocol}`),
    )
    expect(JSON.parse(client.textsOf('/chat').at(-1) ?? '')).toMatchObject({
      seq: chat.body.seq,
      sender_id: session.operator.id,
      sender_role: 'operator',
    })
    await session.performAction(session.operator, 'pause')
    await waitFor(() =>
      expect(client.textsOf('/events').map((text) => JSON.parse(text).type)).toContain('session.paused'),
    )
    await session.performAction(session.operator, 'resume')
    expect(client.messagesOf('/control')).toEqual([])
    const times = () => client.received.flatMap((each) => (each.type === 'time' ? [each.ns] : []))
    await waitFor(() => expect(times().length).toBeGreaterThan(10))
    expect(Math.abs(Number(times().at(-1)) / 1e6 - Date.now())).toBeLessThan(60_000)
    await client.close()
    await tailed(0)
    unsubscribe()
  },
)

test('the program of the guide runs in Node', async () => {
  const guide = await readFile('docs/foxglove.md', 'utf8')
  const program = /```ts\n(import foxglove[\s\S]*?)```/.exec(guide)?.[1] ?? ''
  const { key } = await session.client.key()
  const address = foxglove.addressOf(session.id)
  const local = program.replace(/`wss:[^`]*`/, JSON.stringify(address))
  expect(local).not.toBe(program)
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', `const apiKey = ${JSON.stringify(key)}\n${local}`],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  try {
    let output = ''
    child.stdout.on('data', (data) => {
      output += String(data)
    })
    await tailed()
    await waitFor(() => {
      publish('/telemetry', json({ t: 1 }))
      expect(output).toMatch(/^\d+n 7$/m)
    })
  } finally {
    child.kill('SIGKILL')
  }
})

test('a camera is advertised with its first frame; a client that subscribes gets it from a keyframe', async () => {
  const client = await foxglove.connect(session.id, session.operator).ready()
  await tailed()
  expect(client.channels.has(FRONT)).toBe(false)
  publish(FRONT, frame('d0'), false)
  publish(FRONT, frame('k1'), true)
  await client.subscribe(FRONT)
  await waitFor(() => expect(recorder.keyframes).toContain(FRONT))
  publish(FRONT, frame('d2'), false)
  publish(FRONT, frame('k3'), true)
  publish(FRONT, frame('d4'), false)
  await waitFor(() => expect(client.messagesOf(FRONT)).toHaveLength(2))
  expect(client.textsOf(FRONT).map((text) => /[dk]\d/.exec(text)?.[0])).toEqual(['k3', 'd4'])
  expect(client.channels.get(FRONT)).toMatchObject({
    schemaName: 'foxglove.CompressedVideo',
    encoding: 'protobuf',
  })
  await client.close()
})

test('a client that subscribes later gets the last state; clients share one connection to the recorder', async () => {
  const first = await foxglove.connect(session.id, session.client).ready()
  await tailed()
  await first.subscribe('/stop')
  publish('/stop', json({ status: 'ACTIVE' }))
  await waitFor(() => expect(first.textsOf('/stop')).toEqual(['{"status":"ACTIVE"}']))
  const second = await foxglove.connect(session.id, session.operator).ready()
  await second.subscribe('/stop')
  await waitFor(() => expect(second.textsOf('/stop')).toEqual(['{"status":"ACTIVE"}']))
  expect(recorder.readers.size).toBe(1)
  await Promise.all([first.close(), second.close()])
})

test('a slow client gets the newest message of each channel, and delays no other client', async () => {
  const [slow, quick] = await Promise.all(
    [session.client, session.operator].map((user) => foxglove.connect(session.id, user).ready()),
  )
  if (!slow || !quick) throw new Error('not connected')
  await tailed()
  for (const client of [slow, quick]) await client.subscribe('/telemetry', '/latency')
  slow.socket.pause()
  const COUNT = 250 // soon enough that the server does not give the slow client up
  const bulk = 'x'.repeat(60_000)
  for (let number = 0; number < COUNT; number++) {
    publish('/telemetry', json({ number, bulk }))
    publish('/latency', json({ number }))
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await waitFor(() =>
    expect(quick.messagesOf('/latency').at(-1)?.data.toString()).toBe(`{"number":${COUNT - 1}}`),
  )
  slow.socket.resume()
  await waitFor(() => {
    expect(slow.textsOf('/latency').at(-1)).toBe(`{"number":${COUNT - 1}}`)
    expect(slow.textsOf('/telemetry').at(-1)).toContain(`{"number":${COUNT - 1},`)
  })
  expect(slow.messagesOf('/telemetry').length).toBeLessThan(COUNT)
  expect(quick.messagesOf('/telemetry').length).toBeGreaterThan(slow.messagesOf('/telemetry').length)
  await Promise.all([slow.close(), quick.close()])
})

test('data continue after a recorder was replaced by another one', async () => {
  const client = await foxglove.connect(session.id, session.client).ready()
  await client.subscribe('/telemetry')
  await tailed()
  const next = await startTestRecorder(world)
  foxglove.recorders.splice(0, 1, next.address)
  await waitFor(() => expect([recorder.readers.size, next.readers.size]).toEqual([0, 1]))
  await recorder.stop()
  recorder = next
  publish('/telemetry', json({ from: 'next' }))
  await waitFor(() => expect(client.textsOf('/telemetry')).toContain('{"from":"next"}'))
  const port = Number(new URL(next.address.url).port)
  await next.stop()
  recorder = await startTestRecorder(world, port)
  await tailed()
  publish('/telemetry', json({ from: 'restarted' }))
  await waitFor(() => expect(client.textsOf('/telemetry')).toContain('{"from":"restarted"}'))
  await client.close()
})

test('messages other than subscriptions are refused with a status', async () => {
  const client = await foxglove.connect(session.id, session.client).ready()
  const expectStatus = (part: string) =>
    waitFor(() =>
      expect(client.statuses.map(({ message }) => message)).toContainEqual(expect.stringContaining(part)),
    )
  client.client.advertise({ topic: '/cmd', encoding: 'json', schemaName: 'x' })
  await expectStatus('cannot publish')
  client.client.sendMessage(1, new Uint8Array([1]))
  client.client.getParameters(['a'])
  await expectStatus('no parameters')
  client.client.sendServiceCallRequest({
    serviceId: 1,
    callId: 1,
    encoding: 'json',
    data: new DataView(new ArrayBuffer(1)),
  })
  await expectStatus('no services')
  client.client.fetchAsset('package://x', 1)
  await expectStatus('no assets')
  client.control({ seekTo: 1n, id: 'x' })
  await expectStatus('no playback control')
  client.client.subscribe(12_345)
  await expectStatus('No channel has the id 12345')
  client.client.unsubscribe(77)
  await expectStatus('No subscription has the id 77')
  expect(client.socket.readyState).toBe(client.socket.OPEN)
  await client.close()
})

test('the end of the session ends the connection', async () => {
  const client = await foxglove.connect(session.id, session.client).ready()
  await client.subscribe('/events')
  await session.performAction(session.operator, 'end')
  expect((await client.closed).code).toBe(4410)
  expect(client.textsOf('/events').map((text) => JSON.parse(text).type)).toContain('session.ended')
  await waitFor(() => expect(foxglove.server.connections).toBe(0))
})
