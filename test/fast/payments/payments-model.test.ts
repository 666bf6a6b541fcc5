import fc from 'fast-check'
import { afterAll, beforeAll, test } from 'vitest'
import { AppError } from '../../../src/core/errors/errors.ts'
import type { Jobs } from '../../../src/core/jobs/jobs.ts'
import { createMonthlyClose } from '../../../src/modules/billing/invoice-close.ts'
import { enqueueOpenInvoices, INVOICE_COLLECTIONS } from '../../../src/modules/payments/collection-queue.ts'
import type { Payments } from '../../../src/modules/payments/module.ts'
import { PAYOUTS } from '../../../src/modules/payments/payout-transfers.ts'
import { explore } from '../../support/runner/explore.ts'
import { inProcess } from '../../support/stripe/crash-injection.ts'
import { signatureOf, snapshotEvent } from '../../support/stripe/events.ts'
import { auditMoney, auditSettledMoney, type Pair } from '../../support/stripe/money-audit.ts'
import { type FakeStripe, type StripeFault, startStripe } from '../../support/stripe/server.ts'
import {
  actors,
  createSilentGateway,
  HOUR_MS,
  MINUTE_MS,
  type SilentGateway,
} from '../../support/world/billing.ts'
import { recoverAbandoned } from '../../support/world/jobs.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import { createWorld, type World } from '../../support/world/world.ts'

/** A run settles everything at the end, with retries of weeks: it computes for 3.5 s. */
const COSTS = 50

const mostly = <T>(...choices: [weight: number, arbitrary: fc.Arbitrary<T>][]): fc.Arbitrary<T> =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))
const kind = <T extends string>(name: T) => fc.constant(name)
const which = fc.nat({ max: 20 })

/** Generates the conditions of an operation: the step at which its process dies and the Stripe fault during it. */
const outcome = fc.record({
  steps: mostly([2, fc.constant(1_000)], [3, fc.nat({ max: 25 })]),
  fault: mostly<StripeFault | undefined>(
    [3, fc.constant(undefined)],
    [2, fc.constantFrom('drops', 'drops after', 'fails', 'fails after', 'refuses')],
  ),
  /** Selects the request with the fault: the method, and how many requests of it precede. */
  method: mostly([3, kind('POST')], [1, kind('GET')]),
  at: fc.nat({ max: 3 }),
})
type Outcome = typeof outcome extends fc.Arbitrary<infer F> ? F : never

const step = mostly<Step>(
  [6, fc.record({ do: kind('drive'), minutes: fc.integer({ min: 1, max: 90 }) })],
  [
    5,
    fc.record({
      do: kind('payout'),
      cents: mostly([2, fc.constant(undefined)], [2, fc.integer({ min: 1_000, max: 3_000 })]),
      outcome,
    }),
  ],
  [6, fc.record({ do: kind('work'), workers: fc.integer({ min: 1, max: 2 }), outcome })],
  [2, fc.record({ do: kind('close') })],
  [4, fc.record({ do: kind('pass'), ms: fc.constantFrom(MINUTE_MS, HOUR_MS, 7 * HOUR_MS, 30 * HOUR_MS) })],
  [
    4,
    fc.record({
      do: kind('bank'),
      which,
      what: fc.constantFrom('pay', 'pay', 'pay', 'off', 'fail', 'begin', 'void', 'uncollectible'),
    }),
  ],
  [2, fc.record({ do: kind('reverse'), which, part: fc.constantFrom(0.3, 1) })],
  [1, fc.record({ do: kind('account'), restricted: fc.boolean() })],
  [1, fc.record({ do: kind('funds'), enough: fc.boolean() })],
  [
    6,
    fc.record({
      do: kind('deliver'),
      which,
      times: fc.integer({ min: 1, max: 2 }),
      again: fc.boolean(),
      outcome,
    }),
  ],
)
type Step =
  | { do: 'drive'; minutes: number }
  | { do: 'payout'; cents: number | undefined; outcome: Outcome }
  | { do: 'work'; workers: number; outcome: Outcome }
  | { do: 'close' }
  | { do: 'pass'; ms: number }
  | { do: 'bank'; which: number; what: string }
  | { do: 'reverse'; which: number; part: number }
  | { do: 'account'; restricted: boolean }
  | { do: 'funds'; enough: boolean }
  | { do: 'deliver'; which: number; times: number; again: boolean; outcome: Outcome }

let world: World
let stripe: FakeStripe
let gateway: SilentGateway
let clockMs = Date.parse('2026-01-15T12:00:00Z')
const now = () => new Date(clockMs)
beforeAll(async () => {
  stripe = await startStripe()
  // The workers of this world have no Stripe key, so that only the steps cause changes.
  world = await createWorld({ now })
  gateway = await createSilentGateway(world, () => clockMs)
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
  await stripe[Symbol.asyncDispose]()
})

/** Creates a client and an operator with new payment accounts, and executes steps for them. */
async function createScenario() {
  const { books } = stripe
  books.transfers.splice(0)
  books.invoices.all.clear()
  books.balanceCents = 1_000_000
  const { owner, operator, robotId } = await actors(world, gateway)
  await operator.post('/api/operator/profile', { country: 'DE' })
  const close = createMonthlyClose({ ...world.platform.core, now })
  const events: object[] = []
  const seen = new Map<string, string>()

  const runInProcess = <T>(steps: number, work: (payments: Payments, jobs: Jobs) => Promise<T>) =>
    inProcess({ world, stripe, now, steps }, work)

  /** Runs an operation with an outcome. An AppError is an expected rejection; any other error fails the test. */
  async function runUnder(
    { steps, fault, method, at }: Outcome,
    work: (payments: Payments, jobs: Jobs) => Promise<unknown>,
  ) {
    let asked = 0
    if (fault) stripe.planFor(fault, (request) => request.method === method && ++asked > at, 2)
    try {
      await runInProcess(steps, work)
    } catch (cause) {
      if (!(cause instanceof AppError)) throw cause
    } finally {
      stripe.recover()
    }
  }

  /** Queues a Stripe event for every object that has changed. */
  function queueStripeEvents(): void {
    const queueIfChanged = (id: string, state: string, type: string) => {
      if (seen.get(id) !== state) events.push(snapshotEvent(type, { id }))
      seen.set(id, state)
    }
    for (const { id, amount_reversed } of books.transfers)
      queueIfChanged(id, `${amount_reversed}`, 'transfer.updated')
    for (const { id, status, intent } of books.invoices.all.values()) {
      queueIfChanged(id, `${status} ${intent?.status}`, 'invoice.updated')
    }
  }

  const receive = (payments: Payments, event: object) => {
    const raw = JSON.stringify(event)
    return payments.webhook.receive(raw, signatureOf(raw, { atMs: clockMs }))
  }
  const work = async (_payments: Payments, jobs: Jobs) => {
    await recoverAbandoned(jobs)
    await jobs.runDue(PAYOUTS)
    await enqueueOpenInvoices(world.platform.core.transact, now)
    await jobs.runDue(INVOICE_COLLECTIONS)
    await world.platform.billing.earningsRelease.runDue()
  }
  await runInProcess(1_000, (payments) => payments.recipients.onboard(operator.id))
  const accountId = [...books.recipients.keys()].at(-1) as string
  books.finishOnboarding(accountId)
  const pair: Pair = { operatorId: operator.id, clientId: owner.id, accountId }

  async function executeStep(item: Step): Promise<void> {
    switch (item.do) {
      case 'drive': {
        const id = await start(operator, robotId)
        clockMs += item.minutes * MINUTE_MS
        await performAction(operator, id, 'end')
        return
      }
      case 'payout':
        return await runUnder(item.outcome, (payments) => payments.payouts.request(operator.id, item.cents))
      case 'work':
        await Promise.all(Array.from({ length: item.workers }, () => runUnder(item.outcome, work)))
        return
      case 'close':
        clockMs = Date.UTC(now().getUTCFullYear(), now().getUTCMonth() + 1)
        return await close.run()
      case 'pass':
        clockMs += item.ms
        if (item.ms > 24 * HOUR_MS) stripe.forgetKeys()
        return
      case 'bank':
        return applyBankResult(item)
      case 'reverse': {
        const transfer = books.transfers[item.which]
        const cents = Math.floor((transfer?.amount ?? 0) * item.part)
        if (transfer && cents > transfer.amount_reversed) books.reverse(transfer.id, cents)
        return
      }
      case 'account':
        return item.restricted ? books.restrict(accountId, ['a document']) : books.finishOnboarding(accountId)
      case 'funds':
        books.balanceCents = item.enough ? 1_000_000 : 0
        return
      case 'deliver':
        return await deliver(item)
    }
  }

  function applyBankResult({ which, what }: { which: number; what: string }): void {
    const open = [...books.invoices.all.values()].filter(({ status }) => status === 'open')
    const { id } = open[which % Math.max(1, open.length)] ?? {}
    if (id === undefined) return
    if (what === 'pay' || what === 'off') books.invoices.pay(id, { offStripe: what === 'off' })
    else if (what === 'fail') books.invoices.fail(id)
    else if (what === 'begin') books.invoices.begin(id)
    else books.invoices.end(id, what === 'void' ? 'void' : 'uncollectible')
  }

  async function deliver({ which, times, again, outcome }: Step & { do: 'deliver' }): Promise<void> {
    const index = which % Math.max(1, events.length)
    const event = events[index]
    if (!event) return
    await Promise.all(
      Array.from({ length: times }, () => runUnder(outcome, (payments) => receive(payments, event))),
    )
    if (!again && outcome.steps > 100 && !outcome.fault) events.splice(index, 1) // otherwise Stripe delivers it again
  }

  return {
    async execute(item: Step): Promise<void> {
      await executeStep(item)
      queueStripeEvents()
      await auditMoney(world.platform.core.db, books, pair)
    },
    /** Ends all faults, lets every retry run, and delivers every event, newest first. */
    async settle(): Promise<void> {
      books.balanceCents = 1_000_000
      books.finishOnboarding(accountId)
      for (let round = 0; round < 4; round++) {
        clockMs += 26 * HOUR_MS
        stripe.forgetKeys()
        await runInProcess(1_000_000, work)
        queueStripeEvents()
      }
      for (const event of [...events].reverse())
        await runInProcess(1_000, (payments) => receive(payments, event))
      await auditSettledMoney(world.platform.core.db, books, pair)
    },
  }
}

// A failure prints its seed and the shortest failing sequence. `fc.assert(…, { seed, path })` repeats it.
test('no cent is lost, created or sent twice for any order of user requests, bank results, events and crashes', {
  timeout: 600_000,
}, async () => {
  const scenario = fc.array(step, { minLength: 5, maxLength: 40, size: 'max' })
  await explore(
    fc.asyncProperty(scenario, async (steps) => {
      const { execute, settle } = await createScenario()
      await execute({ do: 'drive', minutes: 240 })
      for (const item of steps) await execute(item)
      await settle()
    }),
    { costs: COSTS, endOnFailure: process.env.MODEL_SHRINK === undefined },
  )
})
