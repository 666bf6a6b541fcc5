import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FoxgloveFixture, openFoxgloveFixture } from '../../support/foxglove/foxglove-fixture.ts'
import {
  atMs,
  FRONT,
  type KnownMessage,
  knownMessages,
  SIDE,
  writeRecording,
} from '../../support/foxglove/recorded-session.ts'
import type { Received, TestFoxgloveClient } from '../../support/foxglove/test-client.ts'
import { openSessionFixture, type SessionFixture } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const SECONDS = 60
const TOPICS = ['/telemetry', '/stop', '/chat', FRONT, SIDE]
const messages = knownMessages(SECONDS)
const lastMs = Number((messages.at(-1) as KnownMessage).logTimeNs - atMs(0)) / 1e6

let world: World
let session: SessionFixture
let foxglove: FoxgloveFixture
let file: Buffer
beforeAll(async () => {
  world = await createWorld()
  session = await openSessionFixture(world)
  foxglove = await openFoxgloveFixture(world)
  file = await writeRecording(messages, 64 * 1024)
})
afterAll(async () => {
  await foxglove?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

const describeMessage = ({ topic, ns, data }: { topic: string; ns: bigint; data: Uint8Array }) =>
  `${topic} ${Number(ns - atMs(0)) / 1e6} ${data.length}`
const known = (message: KnownMessage) => describeMessage({ ...message, ns: message.logTimeNs })

/** Returns what a client must get for a position: the last message of each topic, of video since the keyframe. */
function stateAt(ns: bigint): string[] {
  const before = messages.filter(({ logTimeNs }) => logTimeNs <= ns)
  return TOPICS.flatMap((topic) => {
    const own = before.filter((message) => message.topic === topic)
    if (topic !== FRONT) return own.slice(-1)
    const keyframe = own.findLastIndex(({ isKeyframe }) => isKeyframe)
    return keyframe < 0 ? [] : own.slice(keyframe)
  }).map(known)
}

const messagesIn = (received: readonly Received[]): string[] =>
  received.flatMap((each) => (each.type === 'message' ? [describeMessage(each)] : []))

/** Returns what a client received from the answer to a request on. */
function since(client: TestFoxgloveClient, id: string): Received[] {
  const index = client.received.findIndex((each) => each.type === 'state' && each.requestId === id)
  return index < 0 ? [] : client.received.slice(index)
}

async function play(protocol?: string, topics = TOPICS): Promise<TestFoxgloveClient> {
  await foxglove.addRecording(session.id, file)
  const client = await foxglove.connect(session.id, session.client, protocol).ready()
  client.control({ seekTo: atMs(0), id: 'begin' }) // otherwise it plays after a second
  await client.subscribe(...topics)
  return client
}

test('a client that requests nothing, as Lichtblick, gets the recording after a second', async () => {
  await foxglove.addRecording(session.id, file)
  const client = await foxglove.connect(session.id, session.client).ready()
  await client.subscribe('/telemetry')
  await waitFor(() =>
    expect(client.states.at(-1)).toMatchObject({ status: 0, didSeek: false, requestId: '' }),
  )
  const played = messages.filter(({ topic }) => topic === '/telemetry').slice(0, 5)
  await waitFor(() => expect(messagesIn(client.received).slice(0, 5)).toEqual(played.map(known)))
  client.control({ command: 'pause', id: 'pause' })
  expect((await client.answer('pause')).status).toBe(1)
  await client.close()
})

test('a client with playback control learns the period, and gets the state of the beginning', async () => {
  const recordingId = await foxglove.addRecording(session.id, file)
  const client = await foxglove.connect(session.id, session.operator).ready()
  expect(client.socket.protocol).toBe('foxglove.sdk.v1')
  expect(client.info).toMatchObject({
    capabilities: ['time', 'playbackControl'],
    dataStartTime: { sec: 1_790_000_000, nsec: 0 },
    dataEndTime: { sec: 1_790_000_000 + Math.floor(lastMs / 1_000) },
    sessionId: session.id,
  })
  client.control({ seekTo: atMs(0), id: 'begin' })
  expect(client.states[0]).toMatchObject({ status: 1, ns: atMs(0), speed: 1, didSeek: false, requestId: '' })
  expect([...client.channels.keys()].sort()).toEqual(TOPICS.toSorted())
  expect(client.channels.get('/telemetry')).toMatchObject({
    encoding: 'json',
    schemaEncoding: 'jsonschema',
    schemaName: 'wheelhouse.Telemetry',
  })
  expect(JSON.parse(client.channels.get('/telemetry')?.schema ?? '')).toMatchObject({ type: 'object' })
  const front = client.channels.get(FRONT)
  expect(front).toMatchObject({ schemaName: 'foxglove.CompressedVideo', schemaEncoding: 'protobuf' })
  expect(Buffer.from(front?.schema ?? '', 'base64').includes('CompressedVideo')).toBe(true)
  await client.subscribe('/telemetry')
  await waitFor(() => expect(messagesIn(since(client, 'begin'))).toEqual(stateAt(atMs(0))))
  expect(foxglove.downloads).toContain(`${recordingId} ${session.operator.id} foxglove`)
  await client.close()
})

test('twenty random seeks deliver the state of exactly that time, and playing continues from it', async () => {
  const client = await play()
  const positions = Array.from({ length: 20 }, () => atMs(Math.random() * lastMs))
  for (const [index, seekTo] of positions.entries()) {
    const id = `seek-${index}`
    client.control({ seekTo, id })
    const state = await client.answer(id)
    expect(state).toMatchObject({ status: 1, ns: seekTo, didSeek: true })
    await waitFor(() => expect(messagesIn(since(client, id)).sort()).toEqual(stateAt(seekTo).sort()))
  }
  for (const [index, seekTo] of positions.slice(0, 5).entries()) {
    const id = `play-${index}`
    client.control({ command: 'play', speed: 4, seekTo, id })
    const following = messages
      .filter(({ logTimeNs }) => logTimeNs > seekTo)
      .map(known)
      .slice(0, 30)
    const expected = [...stateAt(seekTo), ...following]
    await waitFor(() => expect(messagesIn(since(client, id)).length).toBeGreaterThanOrEqual(expected.length))
    const played = messagesIn(since(client, id))
    const stateSize = stateAt(seekTo).length
    expect(played.slice(0, stateSize).sort()).toEqual(stateAt(seekTo).sort())
    expect(played.slice(stateSize, expected.length)).toEqual(following)
  }
  await client.close()
})

test('video of a position begins with a keyframe and has no gaps', async () => {
  const client = await play(undefined, [FRONT])
  client.control({ seekTo: atMs(24_900), id: 'seek' })
  await waitFor(() =>
    expect(messagesIn(since(client, 'seek'))).toEqual(
      stateAt(atMs(24_900)).filter((text) => text.startsWith(FRONT)),
    ),
  )
  expect(messagesIn(since(client, 'seek')).length).toBe(24)
  await client.close()
})

test('many seeks at once are answered, and only the last one is read', async () => {
  const client = await play()
  await waitFor(() =>
    expect(client.messagesOf(SIDE).length + client.messagesOf('/telemetry').length).toBeGreaterThan(0),
  )
  const answered = Promise.withResolvers<void>()
  foxglove.store.beforeRead = () => answered.promise
  try {
    const readsBefore = foxglove.store.reads
    for (let index = 0; index < 100; index++)
      client.control({ seekTo: atMs((index * 577) % lastMs), id: `seek-${index}` })
    await client.answer('seek-99')
    answered.resolve()
    const seekTo = atMs((99 * 577) % lastMs)
    await waitFor(() => expect(messagesIn(since(client, 'seek-99')).sort()).toEqual(stateAt(seekTo).sort()))
    expect(foxglove.store.reads - readsBefore).toBeLessThan(150)
  } finally {
    answered.resolve()
    foxglove.store.beforeRead = async () => {}
  }
  await client.close()
})

test('pause, speed and the end: the time never goes back while playing, and nothing is sent twice', async () => {
  const client = await play(undefined, ['/telemetry'])
  client.control({ command: 'play', speed: 1, seekTo: atMs(10_000), id: 'play' })
  await waitFor(() => expect(messagesIn(since(client, 'play')).length).toBeGreaterThan(5))
  client.control({ command: 'pause', speed: 1, id: 'pause' })
  expect((await client.answer('pause')).status).toBe(1)
  const paused = messagesIn(since(client, 'play')).length
  client.control({ command: 'play', speed: 100, id: 'fast' })
  await waitFor(() => expect(client.states.at(-1)).toMatchObject({ status: 3, requestId: '' }))
  const all = messagesIn(since(client, 'play'))
  const expected = messages.filter(
    ({ topic, logTimeNs }) => topic === '/telemetry' && logTimeNs >= atMs(10_000),
  )
  expect(all).toEqual(expected.map(known))
  expect(paused).toBeLessThan(all.length / 2)
  const times = since(client, 'play').flatMap((each) => (each.type === 'time' ? [each.ns] : []))
  expect(times).toEqual(times.toSorted((one, other) => Number(one - other)))
  expect(client.states.at(-1)?.ns).toBe(atMs(lastMs))
  client.control({ command: 'play', seekTo: atMs(59_000), id: 'again' })
  expect((await client.answer('again')).status).toBe(0)
  await client.close()
})

test('a speed that is no positive number is refused', async () => {
  const client = await play(undefined, ['/telemetry'])
  for (const [index, speed] of [Number.NaN, -1, 0, Number.POSITIVE_INFINITY].entries()) {
    client.control({ speed, id: `speed-${index}` })
    expect((await client.answer(`speed-${index}`)).speed).toBe(1)
  }
  expect(client.statuses.at(-1)?.message).toContain('positive number')
  client.control({ speed: 1e9, id: 'high' })
  expect((await client.answer('high')).speed).toBe(100)
  await client.close()
})

test('a client of the older protocol gets the recording once, in real time', async () => {
  const short = knownMessages(3)
  await foxglove.addRecording(session.id, await writeRecording(short))
  const client = await foxglove.connect(session.id, session.client, 'foxglove.websocket.v1').ready()
  expect(client.info.capabilities).toEqual(['time'])
  expect(client.info.dataStartTime).toBeUndefined()
  const startedMs = performance.now()
  await client.subscribe('/telemetry')
  await waitFor(() => expect(client.statuses.at(-1)?.message).toContain('The recording is over'))
  const took = performance.now() - startedMs
  expect(took).toBeGreaterThan(2_700)
  expect(messagesIn(client.received)).toEqual(short.filter(({ topic }) => topic === '/telemetry').map(known))
  const times = client.received.filter(({ type }) => type === 'time')
  expect(times.length).toBeGreaterThan(5) // fewer on a busy machine
  expect(client.states).toEqual([])
  client.control({ seekTo: atMs(0), id: 'seek' })
  await waitFor(() => expect(client.statuses.at(-1)?.message).toContain('foxglove.sdk.v1'))
  await client.close()
})

test('a slow client gets the newest messages, and the process holds few of them', async () => {
  const client = await play(undefined, [FRONT, '/telemetry'])
  client.control({ command: 'play', speed: 1, seekTo: atMs(0), id: 'play' })
  await client.answer('play')
  client.socket.pause()
  client.control({ command: 'play', speed: 100, id: 'fast' })
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  client.socket.resume()
  await waitFor(() => expect(client.states.at(-1)?.status).toBe(3))
  expect(client.textsOf('/telemetry').at(-1)).toContain(`"number":${SECONDS * 20 - 1}`)
  await client.close()
})

test('a recording that is not ready, or was deleted, says so', async () => {
  // More than one read fetches at a time.
  const id = await foxglove.addRecording(session.id, await writeRecording(knownMessages(4 * SECONDS)))
  const recording = foxglove.opened.get(session.id)?.recording
  for (const status of ['RECORDING', 'FINISHING'] as const) {
    foxglove.opened.set(session.id, {
      sessionStatus: 'COMPLETED',
      recording: recording ? { ...recording, status, fileKey: null } : null,
    })
    const client = foxglove.connect(session.id, session.client)
    expect(await client.closed).toEqual({ code: 4425, reason: 'recording not ready, try again in a minute' })
    expect(client.statuses).toMatchObject([{ level: 2, message: expect.stringContaining('again') }])
  }
  foxglove.opened.set(session.id, { sessionStatus: 'ACTIVE', recording: recording ?? null })
  const chosen = await foxglove.connect(session.id, session.client, undefined, `?recording=${id}`).ready()
  expect(chosen.info.dataStartTime).toBeDefined()
  await foxglove.store.delete([recording?.fileKey ?? ''])
  await chosen.subscribe(...TOPICS)
  chosen.control({ command: 'play', seekTo: atMs(2_000 * SECONDS), id: 'play' })
  expect((await chosen.closed).code).toBe(4404)
  const late = foxglove.connect(session.id, session.client, undefined, `?recording=${id}`)
  expect((await late.closed).code).toBe(4404)
  expect(late.statuses).toMatchObject([{ message: 'The recording was deleted.' }])
})
