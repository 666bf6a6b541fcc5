import { createMonthlyClose } from '../../../src/modules/billing/invoice-close.ts'
import { balance } from '../../../src/modules/billing/ledger.ts'
import { enqueueOpenInvoices, INVOICE_COLLECTIONS } from '../../../src/modules/payments/collection-queue.ts'
import { actors, createSilentGateway, MINUTE_MS } from '../world/billing.ts'
import { performAction, start } from '../world/session-fixtures.ts'
import { createWorld } from '../world/world.ts'
import { deliver, snapshotEvent } from './events.ts'
import { startStripe } from './server.ts'

const START_MS = Date.parse('2026-01-15T12:00:00Z')

/**
 * Creates a platform with payments, a client whose sessions have a price, and a clock that the test advances. `keyless` begins
 * without the provider's key; `world.addNode` with `stripe.env` adds it.
 */
export async function createInvoiceFixture({ keyless = false } = {}) {
  const stripe = await startStripe()
  let clockMs = START_MS
  const now = () => new Date(clockMs)
  const world = await createWorld(keyless ? { bus: 'redis', now } : { env: stripe.env, now })
  const gateway = await createSilentGateway(world, () => clockMs)
  const close = createMonthlyClose({ ...world.platform.core, now })
  const users = await actors(world, gateway)
  const { owner, operator, robotId } = users
  const { invoices } = stripe.books

  const fixture = {
    stripe,
    invoices,
    world,
    gateway,
    users,
    owner,
    operator,
    now,
    later: (ms: number) => {
      clockMs += ms
    },
    /** Completes a session of this many minutes, 50 cents each. */
    async drive(minutes: number) {
      const id = await start(operator, robotId)
      clockMs += minutes * MINUTE_MS
      await performAction(operator, id, 'end')
      return id
    },
    /** The month ends and is closed. */
    async closeMonth() {
      const at = now()
      clockMs = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)
      await close.run()
    },
    /** One run of a worker. */
    async run() {
      await enqueueOpenInvoices(world.platform.core.transact, now)
      await world.runJobs(INVOICE_COLLECTIONS)
    },
    list: async () => (await owner.get('/api/client/invoices')).body.invoices,
    /** Returns the only invoice at the provider. */
    stripeInvoice() {
      const [invoice, ...others] = invoices.all.values()
      if (!invoice || others.length > 0)
        throw new Error(`The provider has ${others.length + 1} invoices instead of 1.`)
      return invoice
    },
    sendEvent: (type: string, id: string) =>
      deliver(world.baseUrl, snapshotEvent(type, { id }), { atMs: clockMs }),
    async balances() {
      const {
        core: { db },
      } = world.platform
      const [receivable, clientBalance] = await Promise.all([
        balance(db, 'client_receivable', owner.id),
        balance(db, 'client_balance', owner.id),
      ])
      const cash = await db
        .selectFrom('ledger_entries')
        .select((eb) => eb.fn.sum<string | null>('amount_cents').as('cents'))
        .where('account', '=', 'provider_cash')
        .executeTakeFirstOrThrow()
      return { receivable, balance: clientBalance, cash: Number(cash.cents) }
    },
    invoiceNotifications: async () =>
      (await owner.get('/api/notifications')).body.notifications
        .map(({ type }: { type: string }) => type)
        .filter((type: string) => type.startsWith('invoice.'))
        .reverse(),
    forgiveErrors: () => void world.errors.splice(0),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await world[Symbol.asyncDispose]()
      await stripe[Symbol.asyncDispose]()
    },
  }
  return fixture
}
export type InvoiceFixture = Awaited<ReturnType<typeof createInvoiceFixture>>
