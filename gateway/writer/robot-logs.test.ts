import fc from 'fast-check'
import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import type { ReportedLogLine } from '../../src/modules/robots/robot-log.store.ts'
import { robotConnection } from '../../test/support/gateway/member-connections.ts'
import { createLogBacklog, createRobotLogs, MAX_WAITING_PER_ROBOT } from './robot-logs.ts'

const lineOf = (robotId: string, n: number, atMs = n): ReportedLogLine => ({
  robotId,
  level: 'info',
  message: String(n),
  dropped: 0,
  atMs,
})

/** Returns the numbers of the lines that arrived, and how many lines the notices report as dropped. */
function account(lines: readonly ReportedLogLine[]) {
  const numbers = lines.filter(({ dropped }) => dropped === 0).map(({ message }) => Number(message))
  const missing = lines.reduce((sum, { dropped }) => sum + dropped, 0)
  return { numbers, missing }
}

test('every line arrives in order or is counted by a notice, whatever the database does', () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('log'), robot: fc.nat(1), count: fc.nat(400) }) },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.nat(20_000) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('take'), limit: fc.integer({ min: 1, max: 600 }) }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('stored', 'failed') }) },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
      let dropped = 0
      const backlog = createLogBacklog({ onDropped: (lines) => (dropped += lines) })
      const added = [0, 0]
      const stored: ReportedLogLine[] = []
      let pending: ReportedLogLine[] = []
      let nowMs = 1
      for (const item of steps as ({ kind: string } & Record<string, number>)[]) {
        if (item.kind === 'log') {
          for (let n = 0; n < item.count!; n++) {
            backlog.add(lineOf(`robot-${item.robot}`, ++added[item.robot!]!, nowMs), nowMs)
          }
        } else if (item.kind === 'wait') {
          nowMs += item.ms!
          backlog.tick(nowMs)
        } else if (item.kind === 'take' && pending.length === 0) pending = backlog.take(item.limit!)
        else if (item.kind === 'stored') stored.push(...pending.splice(0))
        else if (item.kind === 'failed') backlog.restore(pending.splice(0), nowMs)
        expect(backlog.size).toBeLessThanOrEqual(2 * MAX_WAITING_PER_ROBOT)
      }
      stored.push(...pending)
      backlog.tick(nowMs + 2_000)
      while (backlog.size > 0) stored.push(...backlog.take(100))
      let missing = 0
      for (const [robot, count] of added.entries()) {
        const seen = account(stored.filter(({ robotId }) => robotId === `robot-${robot}`))
        expect(seen.numbers).toEqual(seen.numbers.toSorted((a, b) => a - b))
        expect(seen.numbers.length + seen.missing).toBe(count)
        missing += seen.missing
      }
      expect(missing).toBe(dropped)
    }),
    { numRuns: 200 },
  )
})

test('drops the oldest lines beyond the limit, and the first line contains their number', () => {
  const backlog = createLogBacklog({ onDropped: () => {} })
  for (let n = 1; n <= MAX_WAITING_PER_ROBOT + 30; n++) backlog.add(lineOf('robot', n), n * 1_000)
  const [first, ...rest] = backlog.take(1_000)
  expect(first).toMatchObject({ level: 'warn', dropped: 30, message: '30 log lines dropped' })
  expect(rest.map(({ message }) => Number(message))).toEqual(
    Array.from({ length: MAX_WAITING_PER_ROBOT }, (_, index) => index + 31),
  )
})

test('forgets an idle robot, which may then log a full burst again', () => {
  const backlog = createLogBacklog({ onDropped: () => {} })
  for (let n = 1; n <= 200; n++) backlog.add(lineOf('robot', n), 1)
  backlog.take(1_000)
  backlog.tick(2_000)
  expect(account(backlog.take(1_000)).missing).toBe(100)
  backlog.tick(60_000)
  for (let n = 1; n <= 100; n++) expect(backlog.add(lineOf('robot', n), 60_001)).toHaveLength(1)
})

test('lines wait while the store fails, and a later flush writes them', async () => {
  const stored: string[] = []
  let unavailable = true
  let nowMs = 1_000
  const warnings: string[] = []
  const logs = createRobotLogs({
    store: {
      append: async (lines) => {
        if (unavailable) throw Object.assign(new Error('unavailable'), { code: 'ECONNREFUSED' })
        stored.push(...lines.map(({ message }) => message))
      },
    },
    log: pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) }),
    connectionOf: () => undefined,
    unixMs: (ms) => ms,
    clockMs: () => nowMs,
  })
  const connection = robotConnection(nowMs)
  for (const message of ['a', 'b']) logs.accept(connection, { level: 'info', message }, nowMs)
  logs.tick()
  await vi.waitFor(() => expect(warnings).toHaveLength(1), 30_000)
  await expect(logs.flush()).rejects.toThrow('2 log lines')
  logs.accept(connection, { level: 'info', message: 'c' }, nowMs)
  nowMs += 5_000
  logs.tick()
  unavailable = false
  await logs.flush()
  expect(stored).toEqual(['a', 'b', 'c'])
  expect(warnings).toHaveLength(1)
  expect(logs.counts).toEqual({ logLines: 3, logLinesDropped: 0 })
})
