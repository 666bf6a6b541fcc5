import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Congestion, CongestionMonitor, NO_CONGESTION, QueueingDelay } from './congestion.ts'
import { CommandPacer } from './operator-link.ts'

const idle = { unsentBytes: 0, unansweredPingMs: 0 }
const blocked = { unsentBytes: 5_000, unansweredPingMs: 0 }

/** Returns a monitor and a function that sends commands at a rate for a time, with the load of the link. */
function drivenMonitor(minRateHz = 20) {
  const changes: Congestion[] = []
  const onChange = (congestion: Congestion) => changes.push(congestion)
  const monitor = new CongestionMonitor({ minRateHz, maxUnsentBytes: 2_000, onChange })
  let nowMs = 0
  const drive = (durationMs: number, load = idle, { hz = 50, roundTripMs = 30 } = {}) => {
    const endMs = nowMs + durationMs
    for (; nowMs < endMs; nowMs += 1_000 / hz) {
      monitor.acknowledged(roundTripMs, nowMs)
      monitor.command(nowMs)
      monitor.update(load, nowMs)
    }
  }
  return { monitor, changes, drive }
}

test('an idle link has no limit, whatever the rate', () => {
  const { monitor, changes, drive } = drivenMonitor()
  drive(5_000)
  drive(5_000, idle, { hz: 200 })
  expect(monitor.congestion).toEqual(NO_CONGESTION)
  expect([monitor.gapMs, changes]).toEqual([0, []])
})

test('unsent bytes lower the rate step by step to the lowest, and it rises again slowly', () => {
  const { monitor, changes, drive } = drivenMonitor()
  drive(3_000)
  drive(5_000, blocked)
  const rates = changes.map(({ maxRateHz }) => maxRateHz)
  expect(rates[0]).toBeGreaterThan(30)
  expect(rates[0]).toBeLessThan(40)
  expect(rates).toEqual([...rates].sort((a, b) => (b ?? 0) - (a ?? 0)))
  expect(monitor.congestion).toEqual({ cause: 'unsent_bytes', maxRateHz: 20 })
  expect(monitor.gapMs).toBe(50)

  drive(1_500)
  expect(monitor.congestion, 'it may return any moment').toEqual({ cause: 'unsent_bytes', maxRateHz: 20 })
  drive(2_000)
  expect(monitor.congestion.cause).toBeNull()
  expect(monitor.congestion.maxRateHz).toBeLessThan(30)
  drive(15_000)
  expect(monitor.congestion).toEqual(NO_CONGESTION)
})

test.each([5, 20, 40])('the lowest rate is the option, %i commands a second', (minRateHz) => {
  const { monitor, drive } = drivenMonitor(minRateHz)
  drive(3_000)
  drive(20_000, blocked)
  expect(monitor.gapMs).toBeCloseTo(1_000 / minRateHz)
})

test('a lowest rate that is not above 0 is refused', () => {
  for (const minRateHz of [0, -1, Number.NaN]) expect(() => drivenMonitor(minRateHz)).toThrow(RangeError)
})

test('round trips that stay long are congestion, a single long one is not', () => {
  const { monitor, changes, drive } = drivenMonitor()
  drive(2_000)
  for (let spike = 0; spike < 10; spike++) {
    drive(40, idle, { roundTripMs: 900 }) // two in a row
    drive(500)
  }
  expect(changes).toEqual([])
  drive(200, idle, { roundTripMs: 120 })
  expect(changes, 'less than the limit').toEqual([])
  drive(200, idle, { roundTripMs: 140 })
  expect(monitor.congestion.cause).toBe('latency')
})

test('a link that was slow from the beginning is not congested', () => {
  const { monitor, drive } = drivenMonitor()
  drive(10_000, idle, { roundTripMs: 700 })
  expect(monitor.congestion).toEqual(NO_CONGESTION)
})

test('a ping without an answer is congestion, unless this process was only paused', () => {
  const { monitor, changes, drive } = drivenMonitor()
  monitor.pong(100, 0)
  drive(2_000, { unsentBytes: 0, unansweredPingMs: 340 })
  expect(changes, 'the usual round trip is 100 ms').toEqual([])
  drive(20, { unsentBytes: 0, unansweredPingMs: 900 })
  drive(500)
  expect(changes, 'one look only').toEqual([])
  drive(40, { unsentBytes: 0, unansweredPingMs: 900 })
  expect(monitor.congestion.cause).toBe('unanswered')
  monitor.reset()
  expect(monitor.congestion).toEqual(NO_CONGESTION)
  expect(changes.at(-1)).toEqual(NO_CONGESTION)
})

test('a changed route becomes the normal one after minutes', () => {
  const delay = new QueueingDelay(2)
  for (let nowMs = 0; nowMs < 30_000; nowMs += 1_000) delay.observe(20, nowMs)
  for (let nowMs = 30_000; nowMs < 60_000; nowMs += 1_000) delay.observe(300, nowMs)
  expect(delay.delayMs).toBe(280)
  for (let nowMs = 60_000; nowMs < 181_000; nowMs += 1_000) delay.observe(300, nowMs)
  expect(delay.delayMs).toBe(0)
})

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

test('a pacer sends the newest command when its turn comes, and never an older one', () => {
  const pacer = new CommandPacer()
  const sent: [number, number][] = []
  const beganMs = performance.now()
  const submit = (command: number) => {
    const nowMs = performance.now()
    const send = () => sent.push([command, Math.round(performance.now() - beganMs)])
    if (pacer.mayPass(50, nowMs)) send()
    else pacer.wait(send, 50, nowMs)
  }
  for (let command = 0; command < 30; command++) {
    submit(command)
    vi.advanceTimersByTime(10)
  }
  const times = sent.map(([, atMs]) => atMs)
  expect(sent[0]).toEqual([0, 0])
  for (const [command, atMs] of sent.slice(1)) expect(atMs - command * 10).toBeLessThanOrEqual(10)
  for (const [index, atMs] of times.slice(2).entries())
    expect(atMs - (times[index + 1] ?? 0)).toBeGreaterThanOrEqual(50)
  expect(sent.length).toBeGreaterThanOrEqual(6)

  submit(98)
  submit(99)
  pacer.discard()
  const { length } = sent
  vi.advanceTimersByTime(1_000)
  expect(sent).toHaveLength(length)
})

test('a pacer sends a command after a pause and an urgent one at once', () => {
  const pacer = new CommandPacer()
  const waiting = vi.fn()
  expect(pacer.mayPass(50, performance.now())).toBe(true)
  expect(pacer.mayPass(50, performance.now())).toBe(false)
  pacer.wait(waiting, 50, performance.now())
  pacer.passed(50, performance.now())
  vi.advanceTimersByTime(1_000)
  expect(waiting, 'replaced by the urgent one').not.toHaveBeenCalled()
  expect(pacer.mayPass(50, performance.now())).toBe(true)
})
