import { expect, test } from 'vitest'
import type { Log } from '../log.ts'
import { createThreadTime } from './thread-time.ts'

function createFixture() {
  let atMs = 0
  const lines: object[] = []
  const counted: string[] = []
  const log = { warn: (line: object) => void lines.push(line) } as unknown as Log
  const threadTime = createThreadTime({ log, count: (step) => counted.push(step), nowMs: () => atMs })
  const pass = (ms: number) => {
    atMs += ms
  }
  return {
    lines,
    counted,
    threadTime,
    pass,
    /** Runs a step that takes this long. */
    hold: (ms: number, account = 'ada') => threadTime.measure('POST /robots', account, () => pass(ms)),
  }
}

test('an account that holds the thread for more than its budget waits until its use has decayed', () => {
  const { threadTime, hold, pass } = createFixture()
  for (let step = 0; step < 10; step++) hold(99)
  expect(threadTime.waitMs('ada')).toBe(0) // 990 ms within a second, 198 of them decayed
  hold(250)
  hold(250)
  const waitMs = threadTime.waitMs('ada')
  expect(waitMs).toBeGreaterThan(0)
  expect(threadTime.waitMs('bob')).toBe(0)
  pass(waitMs)
  expect(threadTime.waitMs('ada')).toBe(0)
})

test('short steps cost nothing, however many there are', () => {
  const { threadTime, hold } = createFixture()
  for (let step = 0; step < 10_000; step++) hold(5)
  expect(threadTime.waitMs('ada')).toBe(0)
})

test('a step of 100 ms is named with its account and counted, also one that throws', () => {
  const { threadTime, lines, counted, hold, pass } = createFixture()
  hold(99)
  expect(counted).toEqual([])
  hold(100)
  const failing = () =>
    threadTime.measure('PATCH /robots', 'bob', () => {
      pass(120)
      throw new Error('invalid')
    })
  expect(failing).toThrow('invalid')
  expect(counted).toEqual(['POST /robots', 'PATCH /robots'])
  expect(lines).toEqual([
    { step: 'POST /robots', ms: 100, account: 'ada' },
    { step: 'PATCH /robots', ms: 120, account: 'bob' },
  ])
})

test('a thread that an unmeasured step held names the requests in progress', () => {
  const { threadTime, lines, counted, hold, pass } = createFixture()
  const { lagCheckMs, checkLag, begin } = threadTime
  const check = (ms: number) => {
    pass(ms)
    checkLag()
  }
  check(lagCheckMs + 99)
  expect(lines).toEqual([])
  const end = begin('GET /report')
  begin('GET /other')
  check(lagCheckMs + 100)
  end()
  hold(100) // named already
  check(lagCheckMs)
  check(lagCheckMs + 150)
  expect(counted).toEqual(['unknown', 'POST /robots', 'unknown'])
  expect(lines[0]).toEqual({ step: 'unknown', ms: 100, inProgress: ['GET /report', 'GET /other'] })
  expect(lines[2]).toEqual({ step: 'unknown', ms: 150, inProgress: ['GET /other'] })
})
