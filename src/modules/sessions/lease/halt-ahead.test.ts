import { expect, test } from 'vitest'
import type { Caller } from '../../../core/http/endpoint.ts'
import { createControlLeases } from './control-lease.service.ts'

test('each command of a person that takes control away halts the robot ahead, until the last one is answered', () => {
  const begins: boolean[] = []
  const bus = { publish: (_topic: string, change: { begins: boolean }) => void begins.push(change.begins) }
  const { haltAhead } = createControlLeases({ bus } as unknown as Parameters<typeof createControlLeases>[0])
  const person = { userId: 'supervisor', isProgram: false } as Caller

  const first = haltAhead(person, 'session', { action: 'take_over' })
  const second = haltAhead(person, 'session', { action: 'revoke' })
  expect(begins).toEqual([true, true])
  first()
  expect(begins).toEqual([true, true])
  second()
  expect(begins).toEqual([true, true, false])

  haltAhead(person, 'session', { action: 'revoke', requestId: 'own' })()
  haltAhead(person, 'session', { action: 'request' })()
  haltAhead({ ...person, isProgram: true }, 'session', { action: 'take_over' })()
  expect(begins).toHaveLength(3)
})

test('a user who sends too many commands halts no more robots ahead of the database, and others do', () => {
  const senders: string[] = []
  const bus = { publish: (_topic: string, { userId }: { userId: string }) => void senders.push(userId) }
  const { haltAhead } = createControlLeases({ bus } as unknown as Parameters<typeof createControlLeases>[0])
  const by = (userId: string) => ({ userId, isProgram: false }) as Caller
  for (let count = 0; count < 1_000; count++)
    haltAhead(by('many'), `session ${count}`, { action: 'take_over' })
  expect(senders.length).toBeLessThan(500)
  haltAhead(by('another'), 'session', { action: 'take_over' })
  expect(senders.at(-1)).toBe('another')
})
