import { setImmediate } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import type { Bus } from '../../src/core/events/bus.ts'
import type { Log } from '../../src/core/log.ts'
import type { Guard } from '../../src/core/process/guard.ts'
import type { SessionMembership, TicketClaims } from '../../src/modules/sessions/index.ts'
import { ParticipantConnection } from './participant-connection.ts'
import { createPermissions, createRevocations } from './permissions.ts'

const claims = { sessionId: 's', userId: 'u', organizationId: 'o', part: 'watch' } as TicketClaims

/** Permissions of one connection; each question to the database is answered by the test. */
function start() {
  const connection = new ParticipantConnection(claims, 0)
  const close = vi.spyOn(connection, 'close').mockReturnValue(undefined)
  const questions: PromiseWithResolvers<SessionMembership[]>[] = []
  const changed: { id: string; permissions_version: number; suspended: boolean }[] = []
  let poll = async (): Promise<void> => {}
  const permissions = createPermissions({
    participants: { credentials: () => [], connected: () => [connection], revoke() {}, suspend() {} },
    revocations: createRevocations(() => 0),
    controlPersistence: {
      endedCredentials: async () => [],
      revokedParticipants() {
        const question = Promise.withResolvers<SessionMembership[]>()
        questions.push(question)
        return question.promise
      },
    },
    accounts: {
      apiKeys: { revokedWithin: async () => [] },
      users: { permissionsChangedWithin: async () => changed },
    },
    bus: {} as Bus,
    guard: {
      subscribe: () => () => {},
      every: (_name: string, _everyMs: number, run: () => Promise<void>) => {
        poll = run
      },
    } as unknown as Guard,
    log: {} as Log,
  })
  permissions.listen()
  return { permissions, questions, changed, close, poll: () => poll() }
}

test('a check that is asked for during another reads the memberships again', async () => {
  const { permissions, questions, close } = start()
  const first = permissions.check()
  const second = permissions.check()
  questions[0]?.resolve([])
  await first
  expect(close).not.toHaveBeenCalled()
  await vi.waitFor(() => expect(questions).toHaveLength(2))
  questions[1]?.resolve([{ ...claims, byPlatform: true }])
  await second
  expect(close).toHaveBeenCalledWith('notAllowed')
})

test('a change that is reported again causes no second check', async () => {
  const { questions, changed, poll } = start()
  changed.push({ id: 'u', permissions_version: 2, suspended: false })
  await poll()
  questions[0]?.resolve([])
  await setImmediate()
  await poll()
  expect(questions).toHaveLength(1)
  changed.push({ id: 'other', permissions_version: 1, suspended: false })
  await poll()
  expect(questions).toHaveLength(2)
})
