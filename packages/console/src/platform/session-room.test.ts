import type { SessionLogEvent, WatchedSession } from '@wheelhouse/protocol'
import type { HubClient, WatchHandlers } from '@wheelhouse/sdk'
import { expect, test } from 'vitest'
import { createSessionRoom } from './session-room.ts'

const sessionId = '0b3c7f0e-7a39-4a53-9e0c-3d5a1c1f4a10'
const session = { id: sessionId, status: 'ACTIVE' } as WatchedSession
const event = (seq: number, status: string): SessionLogEvent => ({
  seq,
  session_id: sessionId,
  type: 'session.paused',
  data: { status },
  at: new Date(seq).toISOString(),
})

/** Creates a room with a hub that answers at the request of the test, and counts how often the queries are read again. */
function watched() {
  const caughtUp = Promise.withResolvers<void>()
  const watching = Promise.withResolvers<WatchHandlers>()
  const hub = {
    watch: (_id: string, handlers: WatchHandlers) => {
      watching.resolve(handlers)
      return caughtUp.promise
    },
  } as unknown as HubClient
  const reads: string[] = []
  const queries = {
    invalidateQueries: async ({ queryKey }: { queryKey: readonly string[] }) =>
      void reads.push(queryKey.join()),
  }
  const room = createSessionRoom(hub, queries, sessionId)
  return { room, reads, watching: watching.promise, catchUp: caughtUp }
}

test('what happened between the first answer of the API and the catch-up is read again', async () => {
  const { room, reads, watching, catchUp } = watched()
  const handlers = await watching
  handlers.onSession?.(session)
  handlers.onEvent(event(1, 'PAUSED'))
  expect(reads).toEqual([])
  catchUp.resolve()
  await catchUp.promise
  expect(room.state.get()).toMatchObject({ caughtUp: true, session: { status: 'PAUSED' } })
  expect(reads).toEqual(['sessions'])
})

test('after a reconnect the answers of the API are read again, although the log has no new entry', async () => {
  const { reads, watching, catchUp } = watched()
  const handlers = await watching
  handlers.onSession?.(session)
  catchUp.resolve()
  await catchUp.promise
  reads.length = 0
  handlers.onSession?.({ ...session, status: 'PAUSED' })
  expect(reads).toEqual(['sessions'])
})
