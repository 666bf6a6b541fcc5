import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  type ControlFixture,
  createControlFixture,
  DEADMAN_MS,
  type TestParticipant,
  type Via,
} from '../../support/gateway/control-fixture.ts'
import { explore } from '../../support/runner/explore.ts'

const clocks = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] as const
beforeEach(() => void vi.useFakeTimers({ toFake: [...clocks] }))
afterEach(() => void vi.useRealTimers())
const openFixture = () => createControlFixture()

const mostly = <T>(...choices: [weight: number, arbitrary: fc.Arbitrary<T>][]): fc.Arbitrary<T> =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))
const kind = <T extends string>(name: T) => fc.constant(name)

const via = mostly<Via>([3, fc.constant('websocket')], [2, fc.constantFrom('channel', 'both')])
const control = fc.record({
  via,
  do: kind('control'),
  /** From the newest console, or from an older one that may be disconnected. */
  back: mostly([8, fc.constant(0)], [1, fc.nat({ max: 2 })]),
  delayMs: mostly([6, fc.integer({ min: 0, max: 20 })], [2, fc.integer({ min: 21, max: 2_000 })]),
  seqBy: mostly([8, fc.integer({ min: 1, max: 3 })], [2, fc.integer({ min: -3, max: 0 })]),
  ttlMs: mostly(
    [6, fc.constant(DEADMAN_MS)],
    [2, fc.integer({ min: 1, max: 2_000 })],
    [1, fc.constant(65_535)],
  ),
  binary: fc.boolean(),
  /** The scale that the operator has applied already; undefined for an operator of an earlier version. */
  speedScale: mostly<number | undefined>(
    [2, fc.constant(undefined)],
    [1, fc.constantFrom(0.05, 0.35, 0.5, 1)],
  ),
})
const api = fc.record({
  do: kind('api'),
  action: mostly(
    [4, fc.constantFrom('pause', 'resume', 'resume', 'stop', 'refusedStop', 'clear', 'clear')],
    [1, fc.constantFrom('end', 'start')],
  ),
})
const step = mostly<Step>(
  [12, control],
  [8, fc.record({ do: kind('drive'), ms: fc.integer({ min: 20, max: 600 }) })],
  [
    8,
    fc.record({
      do: kind('wait'),
      ms: mostly([4, fc.integer({ min: 1, max: 300 })], [1, fc.constant(2_600)]),
    }),
  ],
  [
    6,
    fc.record({
      do: kind('press'),
      by: fc.constantFrom('operator', 'observer', 'hub'),
      via,
      // Some reasons are values that the gateway itself uses.
      reason: fc.constantFrom('', 'session_paused', 'deadman', 'x'.repeat(500)),
    }),
  ],
  [10, api],
  [3, fc.record({ do: kind('join'), part: fc.constantFrom('control', 'watch') })],
  [2, fc.record({ do: kind('leave'), part: fc.constantFrom('control', 'watch') })],
  [
    3,
    fc.record({ do: kind('robot'), what: fc.constantFrom('connect', 'lose', 'moveAway', 'loseElsewhere') }),
  ],
  [
    3,
    fc.record({
      do: kind('read'),
      who: fc.constantFrom('robot', 'operator', 'observer'),
      reads: fc.boolean(),
    }),
  ],
  [
    5,
    fc.record({
      do: kind('channel'),
      who: fc.constantFrom('robot', 'operator'),
      what: fc.constantFrom('offer', 'offer', 'offer', 'lose', 'block', 'unblock'),
    }),
  ],
  [4, fc.record({ do: kind('replay'), back: fc.nat({ max: 8 }), via })],
  [3, fc.record({ do: kind('telemetry'), bytes: fc.integer({ min: 1, max: 3_000 }) })],
  [2, fc.record({ do: kind('answerStop') })],
  [3, fc.record({ do: kind('database'), mode: fc.constantFrom('away', 'slow', 'quick', 'quick') })],
  [6, fc.record({ do: kind('traffic'), what: fc.constantFrom('work', 'answer', 'hints', 'loseHints') })],
)
// biome-ignore lint/suspicious/noExplicitAny: a union of small records, distinguished by `do`
type Step = any

const newest = (fixture: ControlFixture, part: 'control' | 'watch', back = 0): TestParticipant | undefined =>
  fixture.parties.filter(({ isOperator }) => isOperator === (part === 'control')).at(-1 - back)

function join(fixture: ControlFixture, part: 'control' | 'watch'): void {
  const session = fixture.book.open() ?? fixture.book.pages.at(-1)
  const { length } = fixture.parties
  // Every clock has its own offset and drift.
  if (session)
    fixture.join(session.id, part, { apartMs: (length - 2) * 1e6, ppm: ((length * 37) % 100) - 50 })
}

function useApi({ book, resolve, nowMs }: ControlFixture, action: string, number: number): void {
  const sessionId = book.open()?.id
  if (action === 'start') book.start(nowMs())
  else if (action === 'pause') book.pause()
  else if (action === 'resume') book.resume(nowMs())
  else if (action === 'stop') {
    const reason = `requested by the API ${number}`
    if (sessionId !== undefined) book.stopUnrecorded(sessionId, reason, 'recording')
    book.stop(reason)
  } else if (action === 'refusedStop' && sessionId !== undefined) {
    book.stopUnrecorded(sessionId, 'of a revoked key', 'recording')
    book.stopUnrecorded(sessionId, 'of a revoked key', 'refused')
  } else if (action === 'clear' && book.clear()) resolve(sessionId as string)
  else if (action === 'end' && book.end()) resolve(sessionId as string)
}

async function perform(fixture: ControlFixture, step: Step, number: number): Promise<void> {
  const { book } = fixture
  if (step.do === 'control') {
    const participant = newest(fixture, 'control', step.back)
    if (participant) fixture.control(participant, step)
  } else if (step.do === 'drive') {
    const participant = newest(fixture, 'control')
    for (let atMs = 0; atMs < step.ms; atMs += 20) {
      if (participant) fixture.control(participant)
      await fixture.pass(20)
    }
  } else if (step.do === 'wait') await fixture.pass(step.ms)
  else if (step.do === 'press') {
    const reason = step.reason || `pressed ${number}`
    const participant = newest(fixture, step.by === 'observer' ? 'watch' : 'control')
    if (step.by !== 'hub' && participant) fixture.stopRequest(participant, reason, step.via)
    else if (step.by === 'hub' && participant) book.stopUnrecorded(participant.sessionId, reason)
  } else if (step.do === 'api') useApi(fixture, step.action, number)
  else if (step.do === 'join') join(fixture, step.part)
  else if (step.do === 'leave') newest(fixture, step.part)?.socket.lose()
  else if (step.do === 'robot') {
    if (step.what === 'connect') fixture.connectRobot()
    else if (step.what === 'lose') fixture.machines.at(-1)?.socket.lose()
    else if (step.what === 'loseElsewhere') book.loseElsewhere()
    else if (book.relocateRobot())
      for (const stopRequest of fixture.stopRequests) stopRequest.elsewhere = true
  } else if (step.do === 'read') {
    const participant = newest(fixture, step.who === 'operator' ? 'control' : 'watch')
    const socket = step.who === 'robot' ? fixture.machine()?.socket : participant?.socket
    if (step.reads) socket?.resume()
    else socket?.pause()
  } else if (step.do === 'channel') {
    const channel = step.who === 'robot' ? fixture.machine()?.channel : newest(fixture, 'control')?.channel
    if (step.what === 'offer') channel?.offer()
    else if (step.what === 'lose') channel?.lose()
    else if (channel) channel.delivers = step.what === 'unblock'
  } else if (step.do === 'replay') {
    const participant = newest(fixture, 'control')
    if (participant) fixture.replay(participant, step.back, step.via)
  } else if (step.do === 'telemetry') {
    fixture.machine()?.socket.receiveFrame({ type: 'telemetry', data: 'x'.repeat(step.bytes) })
  } else if (step.do === 'answerStop') fixture.answerStop()
  else if (step.do === 'database') {
    book.setAway(step.mode === 'away')
    fixture.setQuick(step.mode === 'quick')
  } else if (step.do === 'traffic') {
    if (step.what === 'work') book.work()
    else if (step.what === 'answer') book.answer()
    else book.deliverHints({ lose: step.what === 'loseHints' })
  }
  await fixture.attend()
}

/** Ends all faults, and connects the robot with an open session. */
async function restore(fixture: ControlFixture): Promise<void> {
  const { book, machines } = fixture
  book.setAway(false)
  fixture.setQuick(true)
  for (const { socket } of [...machines, ...fixture.parties]) if (socket.open) socket.resume()
  await fixture.pass(2_500) // for retries and polling
  if (!fixture.machine()) {
    fixture.connectRobot()
    await fixture.pass(100)
  }
  if (!book.open()) {
    expect(book.start(fixture.nowMs())).toBe(true)
    await fixture.pass(100)
  }
}

/** Checks that all participants agree, that the log has every stop once, and that the robot can be driven. */
async function audit(fixture: ControlFixture): Promise<void> {
  const { book, stopRequests, pendingStops } = fixture
  await restore(fixture)
  const open = book.open() as NonNullable<ReturnType<typeof book.open>>
  if (pendingStops(open.id).length > 0) expect(open.stopReason, 'the stop in force at the end').not.toBeNull()
  const recorded = book.pages.flatMap(({ log }) => log.filter(({ type }) => type === 'session.stopped'))
  for (const { reason } of stopRequests.filter((stopRequest) => /^pressed/.test(stopRequest.reason))) {
    expect(recorded.filter((entry) => entry.reason === reason).length, reason).toBeLessThanOrEqual(1)
  }

  const [first, second] = [fixture.join(open.id, 'watch'), fixture.join(open.id, 'watch')]
  await fixture.attend()
  const connected = fixture.parties.filter(({ sessionId, socket }) => sessionId === open.id && socket.open)
  expect(connected).toContain(second)
  for (const { state } of connected)
    expect(state, 'the final state is the same for all participants').toBe(first.state)

  const console = fixture.join(open.id, 'control')
  if (open.stopReason !== null) expect(book.clear()).toBe(true)
  fixture.resolve(open.id)
  await fixture.pass(1_000)
  if (open.status === 'PAUSED') expect(book.resume(fixture.nowMs())).toBe(true)
  await fixture.pass(1_000)
  const machine = fixture.machine()
  const before = machine?.controls ?? 0
  fixture.control(console)
  expect(machine?.controls, `control passes again; ${console.state}`).toBe(before + 1)
  expect(fixture.machine()).toBe(machine)
  expect(JSON.parse(console.state as string)).toMatchObject({ status: 'ACTIVE', stop: null })

  await fixture.pass(10_500) // the summary is written every ten seconds
  for (const { id, latency } of book.pages) {
    expect(latency.frames, 'frames in the summary').toBe(fixture.passed.get(id)?.size ?? 0)
  }
}

/** Runs a sequence of steps; throws on a violation. */
async function run(steps: readonly Step[]): Promise<void> {
  const fixture = await openFixture()
  try {
    fixture.connectRobot()
    await fixture.attend()
    fixture.book.start(fixture.nowMs())
    await fixture.attend()
    join(fixture, 'control')
    join(fixture, 'watch')
    await fixture.attend()
    for (const [number, step] of steps.entries()) {
      await perform(fixture, step, number)
      expect(fixture.violations, JSON.stringify(step)).toEqual([])
    }
    await audit(fixture)
    expect(fixture.violations).toEqual([])
    expect(fixture.errors).toEqual([])
  } finally {
    await fixture.end()
    vi.clearAllTimers()
  }
}

test('the rules of control are kept for any sequence of consoles, robots, observers and database faults', async () => {
  await explore(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60, size: 'max' }), run))
})
