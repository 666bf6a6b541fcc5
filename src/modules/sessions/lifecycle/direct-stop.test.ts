import { expect, test } from 'vitest'
import { notFound } from '../../../core/errors/errors.ts'
import type { Bus, RobotStop } from '../../../core/events/bus.ts'
import { createDirectStop, type RequestedStop } from './direct-stop.ts'

const actingFor = (userId: string) => ({
  userId,
  organization: { id: userId, role: 'owner' as const, groupIds: null },
  credential: { kind: 'session' as const, expiresAt: new Date(0), token: '', fromCookie: false },
})
const owner = { ...actingFor('owner'), roles: ['client'] as const }
const unreachable = () => Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
const never = () => new Promise<never>(() => {})
const notRecorded = { status: 503, code: 'stop_not_recorded' }

/** Sends a stop, whose work on the database is given. */
async function stop(work: Promise<unknown>, { caller = owner, reason, isReplay }: StopOptions = {}) {
  const sent: RobotStop[] = []
  const bus = { publish: (_name: string, message: RobotStop) => void sent.push(message) } as unknown as Bus
  const requested = { caller: caller ?? undefined, sessionId: 'session', reason }
  const answer = await createDirectStop(bus, 5)(requested, work, () => isReplay === true).catch(
    (cause) => cause,
  )
  return { answer, sent, senders: sent.map(({ sender }) => sender) }
}
interface StopOptions {
  caller?: RequestedStop['caller'] | null
  reason?: string
  isReplay?: boolean
}

test('a stop is sent to the gateway at once, which waits for the report of the record', async () => {
  const { answer, sent } = await stop(Promise.resolve('recorded'), { reason: 'smoke' })
  expect(answer).toBe('recorded')
  const request = { sessionId: 'session', eventSeq: null, byOwner: false, sender: 'recording' }
  expect(sent).toEqual([
    { ...request, userId: 'owner', organization: owner.organization, byRole: null, reason: 'smoke' },
  ])
  const admin = { ...actingFor('admin'), roles: ['admin'] as const }
  const { sent: ofAdmin } = await stop(Promise.resolve('recorded'), { caller: admin })
  expect(ofAdmin).toEqual([
    {
      ...request,
      userId: 'admin',
      organization: admin.organization,
      byRole: 'admin',
      reason: 'emergency_stop',
    },
  ])
})

test('a stop that is refused, or that was requested before, is taken back', async () => {
  const refusal = notFound('Session')
  expect(await stop(Promise.reject(refusal))).toMatchObject({
    answer: refusal,
    senders: ['recording', 'refused'],
  })
  const replay = await stop(Promise.resolve('recorded'), { isReplay: true })
  expect(replay).toMatchObject({ answer: 'recorded', senders: ['recording', 'refused'] })
  const failure = new Error('a defect')
  expect(await stop(Promise.reject(failure))).toMatchObject({ answer: failure, senders: ['recording'] })
})

test.each([
  ['is unreachable', () => Promise.reject(unreachable())],
  ['does not answer in time', never],
])('the gateway records the stop if the database %s', async (_name, work) => {
  const { answer, senders } = await stop(work(), { reason: 'smoke' })
  expect(answer).toMatchObject(notRecorded)
  expect(senders).toEqual(['recording', undefined])
})

test('a user who sends many stops waits for the permission first; others do not', async () => {
  const sent: RobotStop[] = []
  const bus = { publish: (_name: string, message: RobotStop) => void sent.push(message) } as unknown as Bus
  const directStop = createDirectStop(bus, 5)
  const stopAs = (userId: string) =>
    directStop(
      { caller: { ...actingFor(userId), roles: [] }, sessionId: 'session', reason: undefined },
      Promise.resolve(),
    )
  for (let count = 0; count < 150; count++) await stopAs('flooding')
  expect(sent.length).toBeLessThan(130)
  sent.splice(0)
  await stopAs('owner')
  expect(sent).toHaveLength(1)
})

test('a stop of an unknown caller waits for the database', async () => {
  const cause = unreachable()
  expect(await stop(Promise.reject(cause), { caller: null })).toMatchObject({ answer: cause, sent: [] })
})
