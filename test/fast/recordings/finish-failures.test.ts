import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { StorageUnavailableError } from '../../../src/core/storage/object-store.ts'
import { createFinishWorker } from '../../../src/modules/recordings/finish.worker.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(async () => await world?.[Symbol.asyncDispose]())

/** Creates a recording that is being finished, and the handler of its job with a storage that fails. */
async function failingRecording(cause: Error) {
  const { owner, operator, robot, id: sessionId } = await openSessionFixture(world)
  const { db, transact, now } = world.platform.core
  const { id } = await db
    .insertInto('recordings')
    .values({
      id: crypto.randomUUID(),
      session_id: sessionId,
      robot_id: robot.id,
      client_id: owner.id,
      operator_id: operator.id,
      mode: 'control',
      status: 'FINISHING',
      started_at: now(),
      ended_at: now(),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  const { storage } = world.platform
  const create = vi.spyOn(storage, 'create').mockRejectedValue(cause)
  const finish = createFinishWorker({ db, transact, now, store: storage, onFinished: async () => {} })
  return {
    owner,
    sessionId,
    attempt: (number: number) =>
      finish({
        id: crypto.randomUUID(),
        data: { recordingId: id },
        number,
        previous: undefined,
        signal: new AbortController().signal,
        complete: async () => {},
        progress: async () => {},
      }),
    repair: () => create.mockRestore(),
    status: async () => (await owner.get(`/api/sessions/${sessionId}/recording`)).body.status as string,
  }
}

test('a recording whose finishing fails repeatedly is FAILED, and a later attempt makes it READY', async () => {
  const recording = await failingRecording(new Error('the writer broke'))
  await expect(recording.attempt(9)).rejects.toThrow('the writer broke')
  expect(await recording.status()).toBe('FINISHING')
  await expect(recording.attempt(10)).rejects.toThrow('the writer broke')
  expect(await recording.status()).toBe('FAILED')
  await expect(recording.attempt(11)).rejects.toThrow('the writer broke')
  recording.repair()
  await recording.attempt(12)
  expect(await recording.status()).toBe('READY')
})

test('a storage that is away for long does not fail a recording', async () => {
  const recording = await failingRecording(new StorageUnavailableError())
  await expect(recording.attempt(50)).rejects.toThrow('does not respond')
  expect(await recording.status()).toBe('FINISHING')
})
