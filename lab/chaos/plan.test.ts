import { describe, expect, test } from 'vitest'
import { readOptions } from './options.ts'
import { type Fault, nameOf, planFaults, planRecordingFaults, targetOf } from './plan.ts'
import { createRandom } from './random.ts'
import { percentile, recoveries } from './report.ts'

const KINDS = 31

function first(count: number, seed: number): Fault[] {
  const plan = planFaults(createRandom(seed))
  return Array.from({ length: count }, () => plan.next().value as Fault)
}

describe('the plan of faults', () => {
  test('is the same for the same seed, and differs for different seeds', () => {
    expect(first(200, 7)).toEqual(first(200, 7))
    expect(first(200, 7)).not.toEqual(first(200, 8))
  })

  test('contains every kind of fault once before it repeats one', () => {
    const names = first(4 * KINDS, 3).map(nameOf)
    for (let round = 0; round < 4; round++) {
      const drawn = names.slice(round * KINDS, (round + 1) * KINDS)
      expect(new Set(drawn).size).toBe(KINDS)
    }
    expect(names).toEqual(
      expect.arrayContaining([
        'kill -9 postgres',
        'pause gateway',
        'restart hub',
        'flush redis',
        'cut hub clients',
      ]),
    )
  })

  test('has the same faults at another pace, with shorter durations', () => {
    const [normal, fast] = [1, 2].map((pace) => planFaults(createRandom(5), pace).next().value as Fault)
    expect(nameOf(fast as Fault)).toBe(nameOf(normal as Fault))
    expect(Math.abs((fast?.waitMs as number) - (normal?.waitMs as number) / 2)).toBeLessThanOrEqual(1)
  })

  test('has at most two faults at a time, on different kinds of nodes', () => {
    const plan = first(1_000, 11)
    expect(plan[0]?.together).toBe(false)
    for (const [index, fault] of plan.entries()) {
      if (!fault.together) continue
      const before = plan[index - 1] as Fault
      expect(before.together).toBe(false)
      expect(targetOf(before)).not.toBe(targetOf(fault))
    }
    const pairs = plan.filter(({ together }) => together).length
    expect(pairs).toBeGreaterThan(50)
  })

  test('pauses nodes for half a second to eight seconds', () => {
    const pauses = first(1_000, 5).flatMap((fault) => (fault.what === 'pause' ? [fault.forMs] : []))
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(500)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(8_000)
  })
})

test('the plan of faults of recordings has the requested rounds, of the nodes that recordings depend on', () => {
  const plan = [...planRecordingFaults(createRandom(3), { rounds: 200, pace: 1 })]
  expect(plan).toHaveLength(200)
  expect(new Set(plan.map(nameOf))).toEqual(
    new Set(['kill -9 gateway', 'kill -9 recorder', 'kill -9 worker', 'kill -9 storage']),
  )
  for (const [index, fault] of plan.entries()) {
    if (!fault.together) continue
    expect(plan[index - 1]?.together).toBe(false)
    expect(targetOf(plan[index - 1] as Fault)).not.toBe(targetOf(fault))
  }
})

describe('pseudorandom numbers', () => {
  test('are evenly distributed, and independent after a fork', () => {
    const random = createRandom(1)
    const counts = [0, 0, 0, 0]
    for (let n = 0; n < 4_000; n++) (counts[random.below(4)] as number)++
    for (const count of counts) expect(count).toBeGreaterThan(850)
    const [a, b] = [createRandom(1).fork('a'), createRandom(1).fork('b')]
    expect(a.between(0, 1)).not.toBe(b.between(0, 1))
    expect(createRandom(1).fork('a').between(0, 1)).toBe(createRandom(1).fork('a').between(0, 1))
  })

  test('shuffle without loss', () => {
    expect(createRandom(9).shuffled([1, 2, 3, 4]).toSorted()).toEqual([1, 2, 3, 4])
  })
})

describe('the options of a run', () => {
  test('default to ten minutes and a random seed', () => {
    expect(readOptions([])).toMatchObject({ minutes: 10, robots: 14, disconnects: 0, keep: false })
    expect(readOptions(['--quick', '--seed', '5', '--long'])).toMatchObject({
      minutes: 1,
      seed: 5,
      disconnects: 100_000,
    })
    expect(readOptions(['--only', 'recordings', '--rounds', '5'])).toMatchObject({ rounds: 5 })
    expect(readOptions(['--only', 'recordings'])).toMatchObject({ rounds: 30 })
    expect(readOptions(['--help'])).toBe('help')
  })

  test.each([
    [['--minutes', '0']],
    [['--minutes', '500']],
    [['--seed', 'x']],
    [['--robots', '1']],
    [['--what']],
    [['--only', 'chat']],
    [['--rounds', '30']],
  ])('%j are rejected', (args) => {
    expect(() => readOptions(args)).toThrow()
  })
})

describe('the time until control resumed', () => {
  const fault = { fault: first(1, 1)[0] as Fault, name: 'kill -9 gateway', atMs: 10_000, overMs: 14_000 }

  test('runs from the newest fault to the first control frame after the gap, for every robot', () => {
    const later = { ...fault, name: 'pause hub', atMs: 13_900, overMs: 14_100 }
    const gaps = [
      { robotId: 'a', fromMs: 9_990, toMs: 12_000 },
      { robotId: 'a', fromMs: 12_500, toMs: 13_000 },
      { robotId: 'b', fromMs: 13_000, toMs: 16_500 },
      { robotId: 'c', fromMs: 13_890, toMs: 14_900 },
      { robotId: 'before', fromMs: 5_000, toMs: 9_000 },
      { robotId: 'after', fromMs: 18_000, toMs: 19_000 },
    ]
    expect(recoveries([fault, later], gaps)).toEqual(
      new Map([
        ['kill -9 gateway', [2_000, 6_500]],
        ['pause hub', [1_000]],
      ]),
    )
    expect(recoveries([fault], [])).toEqual(new Map())
  })

  test('is summarized by percentiles', () => {
    expect([percentile([3, 1, 2], 0.5), percentile([3, 1, 2], 1), percentile([], 0.5)]).toEqual([
      2,
      3,
      Number.NaN,
    ])
  })
})
