import { expect, test, vi } from 'vitest'
import type { OpenSession } from '../../src/modules/presence/index.ts'
import type { ControlPersistence } from '../../src/modules/sessions/index.ts'
import { ControlSession } from '../control/control-session.ts'
import type { ControlSessionRegistry } from '../control/control-session-registry.ts'
import { createSessionWriter } from './session-writer.ts'

const openSession = {
  id: 'session',
  status: 'ACTIVE',
  operatorId: 'operator',
  clientId: 'owner',
  eventSeq: 1,
}

/** Creates a writer for one session with a requested stop, which the database refuses to record so many times, or does not answer. */
function createFixture(failures: number, { hangs = false } = {}) {
  const errors: unknown[] = []
  const session = new ControlSession('robot', 0, {
    ...openSession,
    stopReason: null,
    latencyBudgetMs: null,
    controlSchema: null,
  } as OpenSession)
  session.stops.request({ userId: 'operator', reason: 'smoke' }, 'smoke', 1)
  const fixture = { session, errors, attempts: 0 }
  const writer = createSessionWriter({
    controlPersistence: {
      recordStop: async () => {
        if (++fixture.attempts > failures) return 2
        if (hangs) await new Promise(() => {})
        throw new Error('no database')
      },
    } as unknown as ControlPersistence,
    sessionRegistry: {
      all: () => [session],
      removeIfAbandoned: () => {},
    } as unknown as ControlSessionRegistry,
    requestLookup: () => {},
    operatorGraceMs: 1_000,
    log: { warn: () => {}, error: (details: unknown) => errors.push(details) } as never,
    clockMs: () => 1,
  })
  return Object.assign(fixture, { writer })
}

/** Drains, and lets the time for it pass. */
async function drainTooLong({ writer }: ReturnType<typeof createFixture>): Promise<void> {
  vi.useFakeTimers()
  try {
    const drained = writer.drain()
    await vi.advanceTimersByTimeAsync(3_000)
    await drained
  } finally {
    vi.useRealTimers()
  }
}

test('a gateway that drains retries until the database has the last stop', async () => {
  const fixture = createFixture(3)
  await fixture.writer.flush()
  expect(fixture.session.stops.pending).toBe(true)
  await fixture.writer.drain()
  expect(fixture.session.stops.pending).toBe(false)
  expect(fixture.attempts).toBe(4)
  expect(fixture.errors).toEqual([])
})

test('a gateway that drains reports a stop that the database does not record', async () => {
  const fixture = createFixture(Number.POSITIVE_INFINITY)
  await drainTooLong(fixture)
  expect(fixture.errors).toEqual([{ sessionId: 'session', robotId: 'robot' }])
})

test('a gateway that drains reports a stop also if the database does not answer', async () => {
  const fixture = createFixture(Number.POSITIVE_INFINITY, { hangs: true })
  await drainTooLong(fixture)
  expect(fixture.errors).toEqual([{ sessionId: 'session', robotId: 'robot' }])
})
