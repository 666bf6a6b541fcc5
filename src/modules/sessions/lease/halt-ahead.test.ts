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
