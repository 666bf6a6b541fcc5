import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let clockMs = Date.parse('2026-11-20T12:00:00Z')
beforeAll(async () => {
  world = await createWorld({ now: () => new Date(clockMs) }) // no process has the role recorder
})
afterAll(async () => await world?.[Symbol.asyncDispose]())

/** Advances the clock until the worker has noted what has no recorder. */
const untilNoted = (isNoted: () => Promise<void>) =>
  waitFor(async () => {
    clockMs += 5_001
    await isNoted()
  })

test('a session that should be recorded, without a recorder, says so until one records it', async () => {
  const { owner, robot, id, log } = await openSessionFixture(world)
  const unrecorded = await openSessionFixture(world)
  await owner.patch(`/api/client/robots/${robot.id}`, { recording: 'video' })
  const notes = async () => (await log()).filter(({ type }) => type.startsWith('recording.'))
  await untilNoted(async () => expect(await notes()).toHaveLength(1))
  expect(await notes()).toMatchObject([
    { type: 'recording.paused', data: { reason: 'no_recorder', mode: 'video', status: 'ACTIVE' } },
  ])
  const recording = async () => (await owner.get(`/api/sessions/${id}/recording`)).body
  expect(await recording()).toMatchObject({
    status: 'RECORDING',
    paused_reason: 'no_recorder',
    gaps: [{ reason: 'no_recorder' }],
  })
  const [notification] = (await owner.get('/api/notifications')).body.notifications
  expect(notification).toMatchObject({ type: 'recording.paused', data: { reason: 'no_recorder' } })
  const { body: overview } = await (await world.admin()).get('/api/admin/overview')
  expect(overview.not_recorded).toEqual([{ reason: 'no_recorder', sessions: 1 }])

  const streamId = randomUUID()
  const nodeId = randomUUID()
  const { recorderNodes, streams } = world.platform.recordings
  await recorderNodes.renew({ id: nodeId, url: 'ws://localhost', draining: false })
  await streams.openStream({
    streamId,
    originId: streamId,
    sessionId: id,
    source: 'gateway',
    nodeId,
    atMs: clockMs,
  })
  expect(await recording()).toMatchObject({
    paused_reason: null,
    gaps: [{ to: new Date(clockMs).toISOString() }],
  })
  expect((await notes()).map(({ type }) => type)).toEqual(['recording.paused', 'recording.resumed'])

  // The last recorder ends during the session.
  await recorderNodes.remove(nodeId)
  await untilNoted(async () => expect(await recording()).toMatchObject({ paused_reason: 'no_recorder' }))
  expect(await notes()).toHaveLength(3)
  expect((await unrecorded.log()).map(({ type }) => type)).not.toContain('recording.paused')
})

test('a session whose recorder runs but is not reached says so until a stream of it begins', async () => {
  const { owner, robot, id, log } = await openSessionFixture(world)
  await owner.patch(`/api/client/robots/${robot.id}`, { recording: 'control' })
  const nodeId = randomUUID()
  const { recorderNodes, streams } = world.platform.recordings
  await recorderNodes.renew({ id: nodeId, url: 'ws://localhost', draining: false })
  const recording = async () => (await owner.get(`/api/sessions/${id}/recording`)).body
  await untilNoted(async () => {
    await recorderNodes.renew({ id: nodeId, url: 'ws://localhost', draining: false })
    expect(await recording()).toMatchObject({ paused_reason: 'recorder_unreachable' })
  })
  const paused = (await log()).find(({ type }) => type === 'recording.paused')
  expect(paused?.data).toMatchObject({ reason: 'recorder_unreachable', mode: 'control' })
  const streamId = randomUUID()
  const stream = { streamId, originId: streamId, sessionId: id, nodeId, atMs: clockMs }
  await streams.openStream({ ...stream, source: 'gateway' })
  expect(await recording()).toMatchObject({ paused_reason: null })
  await recorderNodes.remove(nodeId)
})
