import type { ControlKind, OrganizationRole } from '@wheelhouse/protocol'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  type ControlFixture,
  createControlFixture,
  OPERATOR_ID,
  type TestParticipant,
} from '../../support/gateway/control-fixture.ts'
import { explore } from '../../support/runner/explore.ts'

// Control changes hands among three operators, a supervisor, a policy and the owner, at a whole gateway on a simulated clock, while
// hints, queries, connections and the database fail. The fixture checks at every frame that the robot obeys only the holder of its
// newest epoch, that a change goes through a halt, that no frame follows a latched stop, and that no goal outlasts its operator.
// `control-lease` has the real database.

const clocks = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] as const
beforeEach(() => void vi.useFakeTimers({ toFake: [...clocks] }))
afterEach(() => void vi.useRealTimers())

interface User {
  readonly id: string
  readonly kind: ControlKind
  readonly role: OrganizationRole
}
const idOf = (number: number) => `00000000-0000-4000-b000-${String(number).padStart(12, '0')}`
const users: readonly User[] = [
  { id: OPERATOR_ID, kind: 'operator', role: 'operator' },
  { id: idOf(1), kind: 'operator', role: 'operator' },
  { id: idOf(2), kind: 'operator', role: 'operator' },
  { id: idOf(3), kind: 'supervisor', role: 'supervisor' },
  { id: idOf(4), kind: 'policy', role: 'operator' },
  { id: idOf(5), kind: 'owner', role: 'owner' },
]

const kind = <T extends string>(name: T) => fc.constant(name)
const user = fc.constantFrom(...users)
const via = fc.constantFrom('websocket', 'websocket', 'channel', 'both')
const step = fc.oneof(
  { weight: 12, arbitrary: fc.record({ do: kind('control'), user, via, binary: fc.boolean() }) },
  { weight: 8, arbitrary: fc.record({ do: kind('goals'), leave: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: kind('cancelGoal'), user }) },
  { weight: 6, arbitrary: fc.record({ do: kind('everybody'), ms: fc.integer({ min: 20, max: 400 }) }) },
  { weight: 10, arbitrary: fc.record({ do: kind('transfer'), user, ahead: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: kind('nobody') }) },
  { weight: 3, arbitrary: fc.record({ do: kind('refused'), user, answered: fc.boolean() }) },
  { weight: 5, arbitrary: fc.record({ do: kind('join'), user }) },
  { weight: 3, arbitrary: fc.record({ do: kind('leave'), user }) },
  { weight: 3, arbitrary: fc.record({ do: kind('press'), user }) },
  {
    weight: 7,
    arbitrary: fc.record({
      do: kind('api'),
      action: fc.constantFrom('pause', 'resume', 'resume', 'stop', 'clear', 'clear', 'end', 'start'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: kind('robot'),
      what: fc.constantFrom(
        'connect',
        'lose',
        'moveAway',
        'loseElsewhere',
        'block',
        'read',
        'offer',
        'reach',
      ),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: kind('wait'), ms: fc.constantFrom(10, 100, 1_100, 2_600) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: kind('database'), mode: fc.constantFrom('away', 'slow', 'quick', 'quick') }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: kind('traffic'),
      what: fc.constantFrom('work', 'answer', 'hints', 'loseHints'),
    }),
  },
)
// biome-ignore lint/suspicious/noExplicitAny: a union of small records, distinguished by `do`
type Step = any

const consoleOf = ({ parties }: ControlFixture, { id }: User): TestParticipant | undefined =>
  parties.findLast(({ userId, socket }) => userId === id && socket.open)

function join(fixture: ControlFixture, { id }: User): void {
  const session = fixture.book.open() ?? fixture.book.pages.at(-1)
  const { length } = fixture.parties
  if (session) fixture.join(session.id, 'control', { userId: id, apartMs: (length - 2) * 1e6 })
}

function useApi({ book, resolve, nowMs }: ControlFixture, action: string): void {
  const sessionId = book.open()?.id
  if (action === 'start') book.start(nowMs())
  else if (action === 'pause') book.pause()
  else if (action === 'resume') book.resume(nowMs())
  else if (action === 'stop') book.stop('requested by the API')
  else if (action === 'clear' && book.clear()) resolve(sessionId as string)
  else if (action === 'end' && book.end()) resolve(sessionId as string)
}

async function perform(fixture: ControlFixture, step: Step, number: number): Promise<void> {
  const { book } = fixture
  if (step.do === 'control') {
    const console = consoleOf(fixture, step.user)
    if (console) fixture.control(console, { via: step.via, binary: step.binary })
  } else if (step.do === 'goals') {
    fixture.reportAutonomy()
    for (const one of users) {
      const console = consoleOf(fixture, one)
      if (console) fixture.goal(console)
    }
    const driver = fixture.machine()?.goal?.userId
    if (step.leave)
      users.filter(({ id }) => id === driver).map((one) => consoleOf(fixture, one)?.socket.lose())
    await fixture.pass(20)
  } else if (step.do === 'cancelGoal')
    consoleOf(fixture, step.user)?.socket.receiveFrame({ type: 'cancel_goal' })
  else if (step.do === 'everybody') {
    for (let atMs = 0; atMs < step.ms; atMs += 20) {
      for (const one of users) {
        const console = consoleOf(fixture, one)
        if (console) fixture.control(console)
      }
      await fixture.pass(20)
    }
  } else if (step.do === 'transfer') {
    if (step.ahead) book.changing(step.user.id, step.user.role, true)
    if (!book.transfer(step.user.id, step.user.kind) && step.ahead)
      book.changing(step.user.id, step.user.role, false)
  } else if (step.do === 'nobody') book.transfer(null)
  else if (step.do === 'refused') {
    book.changing(step.user.id, step.user.role, true)
    if (step.answered) book.changing(step.user.id, step.user.role, false)
  } else if (step.do === 'join') join(fixture, step.user)
  else if (step.do === 'leave') consoleOf(fixture, step.user)?.socket.lose()
  else if (step.do === 'press') {
    const console = consoleOf(fixture, step.user)
    if (console) fixture.stopRequest(console, `pressed ${number}`)
  } else if (step.do === 'api') useApi(fixture, step.action)
  else if (step.do === 'robot') {
    if (step.what === 'connect') fixture.connectRobot()
    else if (step.what === 'lose') fixture.machines.at(-1)?.socket.lose()
    else if (step.what === 'loseElsewhere') book.loseElsewhere()
    else if (step.what === 'block') fixture.machine()?.socket.pause()
    else if (step.what === 'read') fixture.machine()?.socket.resume()
    else if (step.what === 'offer') fixture.machine()?.channel.offer()
    else if (step.what === 'reach') fixture.reportAutonomy({ status: 'reached' })
    else if (book.relocateRobot()) for (const stop of fixture.stopRequests) stop.elsewhere = true
  } else if (step.do === 'wait') await fixture.pass(step.ms)
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

/** Ends all faults, and gives control to the last user: whatever happened, only this one drives then. */
async function audit(fixture: ControlFixture): Promise<void> {
  const { book, machines, parties } = fixture
  book.setAway(false)
  fixture.setQuick(true)
  for (const { socket } of [...machines, ...parties]) if (socket.open) socket.resume()
  await fixture.pass(2_500) // for retries and polling
  if (!fixture.machine()) {
    fixture.connectRobot()
    await fixture.pass(100)
  }
  if (!book.open()) {
    expect(book.start(fixture.nowMs())).toBe(true)
    await fixture.pass(100)
  }
  const session = book.open()
  expect(session).toBeDefined()
  if (session && book.clear()) fixture.resolve(session.id)
  const [operator, , , supervisor] = users as [User, User, User, User]
  for (const one of [operator, supervisor]) join(fixture, one)
  await fixture.pass(100)
  book.transfer(supervisor.id, 'supervisor')
  await fixture.pass(100)
  if (book.open()?.status === 'PAUSED') book.resume(fixture.nowMs())
  await fixture.pass(100)
  const epoch = session?.leases.length
  const last = fixture.machine()
  expect(last?.epoch).toBe(epoch)
  const before = last?.controls ?? 0
  for (const one of [operator, supervisor]) {
    const console = consoleOf(fixture, one)
    expect(console?.state).not.toBeNull()
    if (console) fixture.control(console)
  }
  await fixture.pass(20)
  expect(last?.controls).toBe(before + 1)
  expect(consoleOf(fixture, operator)?.dropped.at(-1)).toBe('not_holder')
}

// A failure prints its seed and the shortest failing sequence; `fc.assert(…, { seed, path })` repeats it.
test('the robot obeys the one who holds control, for any sequence of changes, faults and stops', async () => {
  await explore(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }), async (steps) => {
      const fixture = await createControlFixture({ latencyBudgetMs: null })
      try {
        fixture.connectRobot()
        await fixture.pass(50)
        fixture.book.start(fixture.nowMs())
        await fixture.pass(50)
        for (const one of users) join(fixture, one)
        await fixture.pass(50)
        for (const [number, item] of steps.entries()) await perform(fixture, item, number)
        await audit(fixture)
        expect(fixture.violations).toEqual([])
        expect(fixture.errors).toEqual([])
      } finally {
        await fixture.end()
      }
    }),
  )
})
