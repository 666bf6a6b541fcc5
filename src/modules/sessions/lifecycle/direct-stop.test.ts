import { expect, test } from 'vitest'
import type { Bus, RobotStop } from '../../../core/events/bus.ts'
import { createDirectStop, type RequestedStop } from './direct-stop.ts'

const owner = { userId: 'owner', roles: ['client'] } as const
const unreachable = () => Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
const never = () => new Promise<never>(() => {})
const notRecorded = { status: 503, code: 'stop_not_recorded' }

/** Sends a stop, whose work on the database is given. */
async function stop(
  work: Promise<unknown>,
  { caller = owner, reason }: { caller?: RequestedStop['caller'] | null; reason?: string } = {},
) {
  const sent: RobotStop[] = []
  const bus = { publish: (_name: string, message: RobotStop) => void sent.push(message) } as unknown as Bus
  const requested = { caller: caller ?? undefined, sessionId: 'session', reason }
  const answer = await createDirectStop(bus, 5)(requested, work).catch((cause) => cause)
  return { answer, sent }
}

test('a stop that the database records is not sent to the gateway directly', async () => {
  expect(await stop(Promise.resolve('recorded'))).toEqual({ answer: 'recorded', sent: [] })
  const refusal = new Error('Session not found')
  expect(await stop(Promise.reject(refusal))).toEqual({ answer: refusal, sent: [] })
})

test.each([
  ['is unreachable', () => Promise.reject(unreachable())],
  ['does not answer in time', never],
])('a stop is sent to the gateway directly if the database %s', async (_name, work) => {
  const { answer, sent } = await stop(work(), { reason: 'smoke' })
  expect(answer).toMatchObject(notRecorded)
  const request = { sessionId: 'session', eventSeq: null, byOwner: false }
  expect(sent).toEqual([{ ...request, userId: 'owner', byRole: null, reason: 'smoke' }])
  const admin = { userId: 'admin', roles: ['admin'] } as const
  const { sent: ofAdmin } = await stop(work(), { caller: admin })
  expect(ofAdmin).toEqual([{ ...request, userId: 'admin', byRole: 'admin', reason: 'emergency_stop' }])
})

test('a stop of an unknown caller waits for the database', async () => {
  const cause = unreachable()
  expect(await stop(Promise.reject(cause), { caller: null })).toEqual({ answer: cause, sent: [] })
})
