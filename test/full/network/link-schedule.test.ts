import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { python } from '../../support/programs/external-programs.ts'

// The scheduler of the emulated link is pure Python: it receives the times of the packets.

const run = promisify(execFile)
const FOLDER = fileURLToPath(new URL('../../support/network/link/', import.meta.url))
const PROGRAM = `
import json, sys
sys.path.insert(0, sys.argv[1])
from schedule import Direction
request = json.load(sys.stdin)
direction = Direction(request["settings"], request["seed"], request["name"])
if request["begin_s"] is not None:
    direction.outages.begin(request["begin_s"])
due = [direction.admit(at_s, size) for at_s, size in request["packets"]]
print(json.dumps({"due": due, "counts": direction.counts, "outages": direction.outages.begun_before(1e3)[:5]}))
`

interface Schedule {
  readonly due: (number | null)[]
  readonly counts: Record<string, number>
  readonly outages: [number, number][]
}

const perfect = { delay_s: 0, jitter_s: 0, reorders: false, loss: 0, rate_bps: null, queue_bytes: 1_000_000 }
const every = (count: number, stepS: number, bytes = 100) =>
  Array.from({ length: count }, (_, index) => [index * stepS, bytes])

async function schedule(
  settings: object,
  packets: number[][],
  { seed = '1', name = 'up', beginS = null as number | null } = {},
): Promise<Schedule> {
  const request = { settings: { ...perfect, ...settings }, seed, name, begin_s: beginS, packets }
  const running = run(await python(), ['-B', '-c', PROGRAM, FOLDER])
  running.child.stdin?.end(JSON.stringify(request))
  return JSON.parse((await running).stdout)
}

const arrivals = ({ due }: Schedule) => due.filter((at) => at !== null)
const sorted = (times: number[]) => times.toSorted((a, b) => a - b)

test('jitter delays each packet within its bounds and overtakes only if the settings say so', async () => {
  const packets = every(500, 0.001)
  const settings = { delay_s: 0.06, jitter_s: 0.02 }
  const inOrder = await schedule(settings, packets)
  const delaysMs = inOrder.due.map((at, index) => Math.round(((at ?? 0) - index * 0.001) * 1e6) / 1e3)
  expect(Math.min(...delaysMs)).toBeGreaterThanOrEqual(40)
  expect(Math.max(...delaysMs)).toBeLessThanOrEqual(80)
  expect(new Set(delaysMs).size).toBeGreaterThan(100)
  expect(arrivals(inOrder)).toEqual(sorted(arrivals(inOrder)))

  const overtaking = await schedule({ ...settings, reorders: true }, packets)
  expect(arrivals(overtaking)).not.toEqual(sorted(arrivals(overtaking)))
})

test('the seed and the direction decide over losses, independently of the queue', async () => {
  const packets = every(2_000, 0.001)
  const first = await schedule({ loss: 0.05 }, packets)
  expect(first.counts.lost).toBeGreaterThan(50)
  expect(first.counts.lost).toBeLessThan(200)
  expect(await schedule({ loss: 0.05 }, packets)).toEqual(first)
  const lost = ({ due }: Schedule) => due.flatMap((at, index) => (at === null ? [index] : []))
  expect(lost(await schedule({ loss: 0.05 }, packets, { seed: '2' }))).not.toEqual(lost(first))
  expect(lost(await schedule({ loss: 0.05 }, packets, { name: 'down' }))).not.toEqual(lost(first))
  expect(lost(await schedule({ loss: 0.05, rate_bps: 1e6 }, packets))).toEqual(lost(first))
})

test('the rate spreads a burst, and the queue drops what does not fit', async () => {
  const burst = Array.from({ length: 10 }, () => [0, 125])
  const { due, counts } = await schedule({ rate_bps: 1e6, queue_bytes: 500 }, burst)
  expect(due).toEqual([0.001, 0.002, 0.003, 0.004, ...Array(6).fill(null)])
  expect(counts).toMatchObject({ received: 10, dropped_by_queue: 6 })
  // The queue drains with time.
  const later = await schedule({ rate_bps: 1e6, queue_bytes: 500 }, [...burst, [0.002, 125], [0.1, 125]])
  expect(later.due.slice(10)).toEqual([0.005, expect.closeTo(0.101, 9)])
})

test('a direction never holds more than 20,000 packets', async () => {
  const { counts } = await schedule({ delay_s: 60 }, every(20_010, 0, 1))
  expect(counts).toMatchObject({ received: 20_010, dropped_by_queue: 10 })
})

describe('outages', () => {
  const outages = { first_s: 1, every_s: 10, least_s: 0.5, most_s: 2 }

  test('begin on schedule, are as long as allowed, and are shared by both directions', async () => {
    const settings = { outages: { ...outages, packets: 'held' } }
    const up = await schedule(settings, [], { beginS: 5 })
    expect(up.outages.map(([fromS]) => fromS)).toEqual([6, 16, 26, 36, 46])
    for (const [fromS, toS] of up.outages) {
      expect(toS - fromS).toBeGreaterThanOrEqual(0.5)
      expect(toS - fromS).toBeLessThanOrEqual(2)
    }
    expect((await schedule(settings, [], { beginS: 5, name: 'down' })).outages).toEqual(up.outages)
    expect((await schedule(settings, [])).outages).toEqual([])
  })

  test('hold packets until they end, in a bounded queue', async () => {
    const settings = { delay_s: 0.1, queue_bytes: 300, outages: { ...outages, packets: 'held' } }
    const packets = [0.9, 1.1, 1.2, 1.3, 1.4].map((at) => [at, 100])
    const { due, counts, outages: spans } = await schedule(settings, packets, { beginS: 0 })
    const end = (spans[0] as [number, number])[1]
    expect(due).toEqual([1, end + 0.1, end + 0.1, end + 0.1, null].map((at) => at && expect.closeTo(at, 9)))
    expect(counts.dropped_by_queue).toBe(1)
  })

  test('lose packets if the settings say so', async () => {
    const settings = { outages: { ...outages, packets: 'lost' } }
    const packets = [0.9, 1.1, 1.4, 3.1].map((at) => [at, 100])
    const { due, counts } = await schedule(settings, packets, { beginS: 0 })
    expect(due).toEqual([0.9, null, null, 3.1])
    expect(counts.lost_in_outage).toBe(2)
  })
})
