import { rooms } from '@wheelhouse/protocol'
import type { Socket } from 'socket.io'
import { expect, test } from 'vitest'
import type { Bus, RobotStop } from '../src/core/events/bus.ts'
import type { Caller } from '../src/core/http/endpoint.ts'
import { createDirectStop, watchedRobots } from './direct-stop.ts'

const SESSION_ID = 'session'
const caller = { userId: 'owner' } as Caller
const unreachable = () => Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
const never = () => new Promise<never>(() => {})
const notRecorded = { status: 503, code: 'stop_not_recorded' }

/** Creates the socket of an owner. */
function socketOf({ hasWatched, inRoom }: { hasWatched: boolean; inRoom: boolean }): Socket {
  const socket = { data: {}, rooms: new Set(inRoom ? [rooms.session(SESSION_ID)] : []) } as unknown as Socket
  if (hasWatched) watchedRobots(socket).set(SESSION_ID, 'robot')
  return socket
}
const watching = () => socketOf({ hasWatched: true, inRoom: true })

/** Sends a stop, whose work on the database is given. */
async function stop(socket: Socket, work: Promise<unknown>, reason?: string) {
  const sent: RobotStop[] = []
  const bus = { publish: (_name: string, message: RobotStop) => void sent.push(message) } as unknown as Bus
  const command = { session_id: SESSION_ID, action: 'emergency_stop' as const, ...(reason && { reason }) }
  const answer = await createDirectStop(bus, 5)(socket, caller, command, work).catch((cause) => cause)
  return { answer, sent }
}

test('a stop that the database records is not sent to the gateway directly', async () => {
  expect(await stop(watching(), Promise.resolve('recorded'))).toEqual({ answer: 'recorded', sent: [] })
  const refusal = new Error('Session not found')
  expect(await stop(watching(), Promise.reject(refusal))).toEqual({ answer: refusal, sent: [] })
})

test.each([
  ['is unreachable', () => Promise.reject(unreachable())],
  ['does not answer in time', never],
])('a stop is sent to the gateway directly if the database %s', async (_name, work) => {
  const { answer, sent } = await stop(watching(), work(), 'smoke')
  expect(answer).toMatchObject(notRecorded)
  expect(sent).toEqual([
    {
      robotId: 'robot',
      sessionId: SESSION_ID,
      reason: 'smoke',
      eventSeq: null,
      userId: 'owner',
      byRole: null,
      byOwner: false,
    },
  ])
  const again = await stop(watching(), work())
  expect(again.sent).toMatchObject([{ reason: 'emergency_stop' }])
})

test.each([
  ['never watched the session', socketOf({ hasWatched: false, inRoom: false })],
  ['no longer watches it', socketOf({ hasWatched: true, inRoom: false })],
])('a stop is not sent directly for a socket that %s', async (_name, socket) => {
  const cause = unreachable()
  expect(await stop(socket, Promise.reject(cause))).toEqual({ answer: cause, sent: [] })
})
