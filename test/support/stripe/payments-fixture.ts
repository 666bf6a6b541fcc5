import Stripe from 'stripe'
import { expect } from 'vitest'
import { balance, post } from '../../../src/modules/billing/ledger.ts'
import type { TestUser } from '../world/test-user.ts'
import { createWorld, type WorldOptions } from '../world/world.ts'
import { type FakeStripe, startStripe } from './server.ts'

/** Time limit of requests that the stand-in holds. It answers them after the limit in any case. */
const HELD_LIMIT_MS = 100
const RETRY_DELAY_SECONDS = 0.01

export interface PaymentsOptions extends WorldOptions {
  /** Begins without the key of Stripe; `world.addNode` with `stripe.env` adds it. */
  readonly keyless?: boolean
}

export type PaymentsFixture = Awaited<ReturnType<typeof createPaymentsFixture>>

/**
 * Creates a platform with payments and a stand-in for Stripe. Tests share it: each has its own users, and asks for the
 * objects of these users.
 */
export async function createPaymentsFixture({ keyless = false, ...options }: PaymentsOptions = {}) {
  const stripe = await startStripe()
  const restoreLibrary = shortenWaits(stripe)
  const world = await createWorld({ ...options, env: { ...(!keyless && stripe.env), ...options.env } })
  const { db, transact } = world.platform.core
  const { books } = stripe

  const customersOf = ({ id }: TestUser) =>
    [...books.customers.values()].filter(({ metadata }) => metadata.user_id === id)
  const recipientsOf = ({ id }: TestUser) =>
    [...books.recipients.values()].filter(
      ({ params }) => (params.metadata as { user_id: string }).user_id === id,
    )
  /** Creates an operator's payout account, which is ready for payouts. Returns its ID. */
  async function onboard(operator: TestUser): Promise<string> {
    await operator.post('/api/operator/profile', { country: 'DE' })
    expect((await operator.post('/api/payments/connect')).status).toBe(200)
    const [{ id = '' } = {}] = recipientsOf(operator)
    books.finishOnboarding(id)
    return id
  }
  const transfersTo = (accountId: string) =>
    books.transfers.filter(({ destination }) => destination === accountId)

  return {
    stripe,
    books,
    world,
    customersOf,
    recipientsOf,
    transfersTo,
    onboard,

    /** Creates an operator with a country, which a payout account requires. */
    async operator(): Promise<TestUser> {
      const operator = await world.operator()
      expect((await operator.post('/api/operator/profile', { country: 'DE' })).status).toBe(200)
      return operator
    },

    /** Creates an operator's payout account, and posts earnings. Returns the ID of the account. */
    async earn(operator: TestUser, amountCents: number): Promise<string> {
      const accountId = await onboard(operator)
      const lines = [
        { account: 'operator_payable' as const, userId: operator.id, amountCents: -amountCents },
        { account: 'platform_revenue' as const, amountCents },
      ]
      await transact((tx) => post(tx, { kind: 'test_earnings', at: new Date(), lines }))
      return accountId
    },

    /** Returns an operator's ledger balances, and the amounts that Stripe has transferred to the account. */
    async moneyOf(operator: TestUser, accountId: string) {
      return {
        payable: 0 - (await balance(db, 'operator_payable', operator.id)),
        reserved: 0 - (await balance(db, 'payout_reserved', operator.id)),
        transferred: transfersTo(accountId).map(({ amount }) => amount),
      }
    },

    /** Cancels the planned faults, and removes the errors that they have logged. */
    recover(): void {
      stripe.recover()
      world.errors.splice(0)
    },

    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      restoreLibrary()
      await stripe[Symbol.asyncDispose]()
    },
  }
}

/**
 * Makes the Stripe library retry at once, and reach its time limit soon in requests that the stand-in holds. Other
 * requests keep the limit of the platform. Returns the function that restores the library.
 */
function shortenWaits(stripe: FakeStripe): () => void {
  const { createNodeHttpClient } = Stripe
  const { getInitialNetworkRetryDelay } = Stripe.prototype
  Stripe.prototype.getInitialNetworkRetryDelay = () => RETRY_DELAY_SECONDS
  Stripe.createNodeHttpClient = (...options) => {
    const client = createNodeHttpClient(...options)
    return {
      getClientName: () => client.getClientName(),
      makeRequest(host, port, path, method, headers, data, protocol, timeoutMs) {
        const limitMs = stripe.holds(method, path) ? Math.min(HELD_LIMIT_MS, timeoutMs) : timeoutMs
        return client.makeRequest(host, port, path, method, headers, data, protocol, limitMs)
      },
    }
  }
  return () => {
    Stripe.createNodeHttpClient = createNodeHttpClient
    Stripe.prototype.getInitialNetworkRetryDelay = getInitialNetworkRetryDelay
  }
}
