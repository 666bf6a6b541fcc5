import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { segmentKey } from '../../../src/modules/recordings/index.ts'
import { createRecordingStreams } from '../../../src/modules/recordings/recording-streams.store.ts'
import { createRecordingSweep } from '../../../src/modules/recordings/recording-sweep.ts'
import type { NewSegment } from '../../../src/modules/recordings/segment-rows.ts'
import type { OpenStreamRequest } from '../../../src/modules/recordings/stream-request.ts'
import { connectTo } from '../../support/database/sql.ts'
import { download, readMcap } from '../../support/recordings/recording-fixture.ts'
import { openSessionFixture, performAction } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// Recorders and sources fail at inconvenient moments. These tests check the rows that recorders then write.

/** A sweep waits this long for streams that do not end. */
const TWO_MINUTES_MS = 121_000

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(async () => await world?.[Symbol.asyncDispose]())

/** Opens a session of a recorded robot, whose streams a test opens itself. */
async function recordedSession() {
  const fixture = await openSessionFixture(world)
  const { owner, robot, id: sessionId } = fixture
  const { db } = world.platform.core
  await owner.patch(`/api/client/robots/${robot.id}`, { recording: 'control' })
  const { streams } = world.platform.recordings
  const nodeId = randomUUID()
  await world.platform.recordings.recorderNodes.renew({ id: nodeId, url: 'ws://localhost', draining: false })
  const open = async (request: Partial<OpenStreamRequest> = {}) => {
    const streamId = randomUUID()
    const defaults = { streamId, originId: streamId, sessionId, source: 'gateway', nodeId, atMs: Date.now() }
    const result = await streams.openStream({ ...defaults, ...request })
    if ('refused' in result) throw new Error(`refused: ${result.refused}`)
    return { streamId, ...result }
  }
  return {
    ...fixture,
    open,
    segment: (
      { streamId, recordingId }: { streamId: string; recordingId: string },
      number = 0,
    ): NewSegment => ({
      streamId,
      recordingId,
      number,
      fromMs: Date.now() - 1_000,
      lastMs: Date.now(),
      messages: 5,
      sizeBytes: 100,
      sha256: `checksum ${number}`,
    }),
    recording: () =>
      db.selectFrom('recordings').selectAll().where('session_id', '=', sessionId).executeTakeFirstOrThrow(),
    gaps: (recordingId: string) =>
      db.selectFrom('recording_gaps').selectAll().where('recording_id', '=', recordingId).execute(),
    notes: async () => {
      const { events } = (await owner.get(`/api/sessions/${sessionId}/events?limit=200`)).body
      return events
        .map(({ type }: { type: string }) => type)
        .filter((type: string) => type.startsWith('recording.'))
    },
  }
}
const streams = () => world.platform.recordings.streams

test('a segment whose response was lost counts once', async () => {
  const session = await recordedSession()
  const stream = await session.open()
  const segment = session.segment(stream)
  expect(await streams().addSegment(segment)).toBe('added')
  expect(await streams().addSegment(segment)).toBe('added')
  expect(await session.recording()).toMatchObject({ segments: 1, size_bytes: 100 })
  await streams().closeStream(stream.streamId, { atMs: Date.now(), gap: null })
  expect(await streams().addSegment(segment), 'it is known').toBe('added')
  expect(await streams().addSegment(session.segment(stream, 1))).toBe('stream_closed')
})

test('a gateway that takes over does not end the stream of the previous gateway', async () => {
  const session = await recordedSession()
  const first = await session.open()
  const second = await session.open()
  expect(second.durableUpToMs).toBe(0)
  expect(await streams().addSegment(session.segment(first))).toBe('added')
  expect(await streams().addSegment(session.segment(second))).toBe('added')
  const next = await session.open({ originId: first.streamId })
  expect(next.durableUpToMs).toBeGreaterThan(0)
  expect(await streams().addSegment(session.segment(first, 1)), 'it was continued').toBe('stream_closed')
  expect(await streams().addSegment(session.segment(second, 1))).toBe('added')
})

test('a segment that arrives while its source continues elsewhere is stored by one of the two recorders', async () => {
  const session = await recordedSession()
  const first = await session.open()
  const segment = session.segment(first)
  const { transact } = world.platform.core
  let added: Promise<string> | undefined
  // As in the opening of the next stream: it locks the recording, closes the earlier stream, and reads what is stored.
  await transact(async (tx) => {
    await tx.db
      .selectFrom('recordings')
      .select('id')
      .where('id', '=', first.recordingId)
      .forUpdate()
      .execute()
    added = streams().addSegment(segment)
    await waitFor(async () => {
      await using observing = await connectTo(world.database.url)
      const waiting = await observing.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
      expect(waiting.rowCount).toBeGreaterThan(0)
    })
    await tx.db
      .updateTable('recording_streams')
      .set({ closed_at: new Date() })
      .where('id', '=', first.streamId)
      .execute()
  })
  expect(await added).toBe('stream_closed')
})

test('the gap of a lost source ends when another source takes over, and disappears when the source continues', async () => {
  const session = await recordedSession()
  const first = await session.open()
  const { recordingId } = first
  const fromMs = Date.now()
  const gap = { fromMs, reason: 'source_lost' as const }
  await streams().closeStream(first.streamId, { atMs: fromMs, gap })
  expect(await session.gaps(recordingId)).toMatchObject([{ reason: 'source_lost', to_at: null }])
  const second = await session.open({ atMs: fromMs + 2_000 })
  expect(await session.gaps(recordingId)).toMatchObject([{ to_at: new Date(fromMs + 2_000) }])
  await session.open({ originId: first.streamId })
  expect(await session.gaps(recordingId)).toEqual([])
  // The end of a source that is noticed late does not cover what the next one has recorded.
  await session.open({ atMs: fromMs + 4_000 })
  await streams().closeStream(second.streamId, { atMs: Date.now(), gap: { ...gap, fromMs: fromMs + 3_000 } })
  expect(await session.gaps(recordingId)).toMatchObject([{ to_at: new Date(fromMs + 4_000) }])
})

test('a pause ends with the next stored segment, also with one of another recorder', async () => {
  const session = await recordedSession()
  const stream = await session.open()
  await streams().setPaused(stream.recordingId, 'storage_unavailable')
  const next = await session.open({ originId: stream.streamId })
  expect((await session.recording()).paused_reason).toBe('storage_unavailable')
  await streams().addSegment(session.segment(next))
  expect((await session.recording()).paused_reason).toBeNull()
  expect(await session.notes()).toEqual(['recording.started', 'recording.paused', 'recording.resumed'])
})

test('a late stream does not bring back a recording that its owner has deleted', async () => {
  const session = await recordedSession()
  const stream = await session.open()
  const { recordingId } = stream
  const usedBytes = async () => (await session.owner.get('/api/recordings')).body.used_bytes
  expect(await usedBytes()).toBe(0)
  await streams().addSegment(session.segment(stream))
  expect(await usedBytes()).toBe(100)
  await streams().closeStream(stream.streamId, { atMs: Date.now(), gap: null })
  await performAction(session.owner, session.id, 'end')
  await waitFor(async () => expect((await session.recording()).status).toBe('READY'))
  expect(await usedBytes(), 'of the merged file').toBe((await session.recording()).size_bytes)
  expect((await session.owner.delete(`/api/recordings/${recordingId}`)).status).toBe(204)
  expect(await usedBytes()).toBe(0)
  await expect(session.open()).rejects.toThrow('session_over')
  await expect(session.open({ originId: stream.streamId })).rejects.toThrow('session_over')
  expect((await session.owner.get(`/api/sessions/${session.id}/recording`)).status).toBe(404)
})

test('a gap of a recording that is being deleted is no error', async () => {
  const session = await recordedSession()
  const { recordingId } = await session.open()
  const { db } = world.platform.core
  const gap = { source: 'gateway', fromMs: Date.now(), toMs: Date.now() + 1_000, reason: 'overload' as const }
  let added: Promise<void> | undefined
  await db.transaction().execute(async (trx) => {
    await trx.deleteFrom('recordings').where('id', '=', recordingId).execute()
    added = streams().addGap(recordingId, gap)
    await delay(200) // the statement waits for the deletion
  })
  await expect(added).resolves.toBeUndefined()
  await expect(streams().addGap(recordingId, gap)).resolves.toBeUndefined()
  expect(await session.gaps(recordingId)).toEqual([])
})

test('a gap of a source without a recorder is stored, also after the session', async () => {
  const session = await recordedSession()
  const { recordingId } = await session.open()
  const fromMs = Date.now()
  const gap = { source: 'gateway', fromMs, toMs: fromMs + 500, reason: 'recorder_lost' as const }
  await streams().addGapOfSession(session.id, gap)
  await streams().addGapOfSession(randomUUID(), gap)
  expect(await session.gaps(recordingId)).toMatchObject([
    { source: 'gateway', reason: 'recorder_lost', from_at: new Date(fromMs) },
  ])
})

test('a recording is finished without a stream that does not end, and lists the gap', async () => {
  const session = await recordedSession()
  const { recordingId } = await session.open()
  await performAction(session.owner, session.id, 'end')
  const { transact } = world.platform.core
  const now = () => new Date(Date.now() + TWO_MINUTES_MS)
  await createRecordingSweep({ transact, now, nodes: { removeExpired: async () => {} } }).run()
  await waitFor(async () => expect((await session.recording()).status).toBe('READY'))
  expect(await session.gaps(recordingId)).toMatchObject([{ reason: 'storage_unavailable' }])
})

test('samples of a session that was too short for its source to reach a recorder are accepted', async () => {
  const session = await recordedSession()
  await performAction(session.owner, session.id, 'end')
  const stream = await session.open()
  expect(await streams().addSegment(session.segment(stream))).toBe('added')
})

test('a source that is refused because of the quota leaves a gap, until it is accepted again', async () => {
  const session = await recordedSession()
  const { recordingId, streamId } = await session.open()
  await streams().closeStream(streamId, { atMs: Date.now(), gap: null })
  let isFull = true
  const { openStream } = createRecordingStreams({
    ...world.platform.core,
    quota: { quotaBytes: 1, usedBytes: async () => 1, isExceeded: async () => isFull },
    appendNote: async () => {},
  })
  const open = async (atMs: number) => {
    const newId = randomUUID()
    const ids = { streamId: newId, originId: newId, sessionId: session.id, nodeId: randomUUID() }
    return await openStream({ ...ids, source: 'gateway', atMs })
  }
  const fromMs = Date.now()
  for (const atMs of [fromMs, fromMs + 1_000])
    expect(await open(atMs)).toMatchObject({ refused: 'quota_exceeded' })
  expect(await session.gaps(recordingId)).toMatchObject([
    { reason: 'quota_exceeded', from_at: new Date(fromMs), to_at: null },
  ])
  isFull = false
  expect(await open(fromMs + 2_000)).toMatchObject({ recordingId })
  expect(await session.gaps(recordingId)).toMatchObject([{ to_at: new Date(fromMs + 2_000) }])
})

test('the file names a damaged segment among its gaps, however short it is', async () => {
  const session = await recordedSession()
  const stream = await session.open()
  const atMs = Date.now()
  const segment = { ...session.segment(stream), fromMs: atMs, lastMs: atMs } // its object does not exist
  expect(await streams().addSegment(segment)).toBe('added')
  await streams().closeStream(stream.streamId, { atMs, gap: null })
  await performAction(session.owner, session.id, 'end')
  const { transact } = world.platform.core
  const now = () => new Date(Date.now() + TWO_MINUTES_MS)
  await createRecordingSweep({ transact, now, nodes: { removeExpired: async () => {} } }).run()
  await waitFor(async () => expect((await session.recording()).status).toBe('READY'))
  const gap = { reason: 'segment_damaged', from: new Date(atMs).toISOString() }
  const { body } = await session.owner.get(`/api/sessions/${session.id}/recording`)
  expect(body.gaps).toMatchObject([gap])
  expect(await session.gaps(stream.recordingId)).toMatchObject([{ source: 'gateway' }])
  const { bytes } = await download(world, session.owner, body.file_url)
  const { metadata } = await readMcap(bytes)
  expect(JSON.parse(metadata.gaps?.gaps ?? '[]')).toMatchObject([gap])
})

test('a segment that is no valid file is a gap, although its checksum is right', async () => {
  const session = await recordedSession()
  const stream = await session.open()
  const bytes = Buffer.from('this is no MCAP file')
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  await world.platform.recordings.store.put(segmentKey(stream.recordingId, stream.streamId, 0), bytes)
  expect(await streams().addSegment({ ...session.segment(stream), sha256 })).toBe('added')
  await streams().closeStream(stream.streamId, { atMs: Date.now(), gap: null })
  await performAction(session.owner, session.id, 'end')
  await waitFor(async () => expect((await session.recording()).status).toBe('READY'))
  expect(await session.gaps(stream.recordingId)).toMatchObject([
    { reason: 'segment_damaged', source: 'gateway' },
  ])
})

test('a source that reaches a recorder after the recording is finished leaves a gap', async () => {
  const session = await recordedSession()
  const { recordingId, streamId } = await session.open()
  const closedMs = Date.now()
  await streams().closeStream(streamId, { atMs: closedMs, gap: null })
  await delay(100) // the robot is back, but no recorder can be reached
  await performAction(session.owner, session.id, 'end')
  const { transact } = world.platform.core
  const now = () => new Date(Date.now() + TWO_MINUTES_MS)
  await createRecordingSweep({ transact, now, nodes: { removeExpired: async () => {} } }).run()
  await expect(session.open()).rejects.toThrow('session_over')
  const { ended_at } = await session.recording()
  expect(await session.gaps(recordingId)).toMatchObject([
    { reason: 'recorder_lost', from_at: new Date(closedMs), to_at: ended_at },
  ])
  expect(ended_at?.getTime()).toBeGreaterThan(closedMs)
})
