import { createMonthlyClose } from '../../../src/modules/billing/invoice-close.ts'
import { balance } from '../../../src/modules/billing/ledger.ts'
import { enqueueOpenInvoices, INVOICE_COLLECTIONS } from '../../../src/modules/payments/collection-queue.ts'
import { actors, createSilentGateway, MINUTE_MS } from '../world/billing.ts'
import { performAction, start } from '../world/session-fixtures.ts'
import { deliver, snapshotEvent } from './events.ts'
import { createPaymentsFixture, type PaymentsOptions } from './payments-fixture.ts'

/** The stand-in for Stripe creates its objects at the real time. The clock of a test must not overtake it. */
const SHARED_START_MS = Date.parse('2022-01-15T12:00:00Z')
const START_MS = Date.parse('2026-01-15T12:00:00Z')

interface InvoicingOptions extends Pick<PaymentsOptions, 'keyless' | 'bus'> {
  readonly startMs?: number
}

export type Invoicing = Awaited<ReturnType<typeof createInvoicing>>
export type InvoicedClient = Awaited<ReturnType<Invoicing['client']>>

/** Creates a platform with payments, which several tests share, and a clock that they advance. Each has its own clients. */
export async function createInvoicing({ startMs = SHARED_START_MS, ...options }: InvoicingOptions = {}) {
  let clockMs = startMs
  const now = () => new Date(clockMs)
  const payments = await createPaymentsFixture({ ...options, now })
  const { stripe, world } = payments
  const { invoices } = stripe.books
  const { db, transact } = world.platform.core
  const gateway = await createSilentGateway(world, () => clockMs)
  const close = createMonthlyClose({ ...world.platform.core, now })
  const later = (ms: number) => {
    clockMs += ms
  }

  /** Advances the clock to the middle of the next month. */
  function nextMonth(): void {
    const at = now()
    clockMs = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 15, 12)
  }

  /** Creates a client whose robot is driven by an operator. */
  async function client() {
    const users = await actors(world, gateway)
    const { owner, operator, robotId } = users
    const stripeInvoices = () => {
      const customerIds = payments.customersOf(owner).map(({ id }) => id)
      return [...invoices.all.values()].filter(({ customer }) => customerIds.includes(customer))
    }
    return {
      users,
      owner,
      operator,
      /** Completes a session of this many minutes, 50 cents each. */
      async drive(minutes: number) {
        const id = await start(operator, robotId)
        later(minutes * MINUTE_MS)
        await performAction(operator, id, 'end')
        return id
      },
      list: async () => (await owner.get('/api/client/invoices')).body.invoices,
      stripeInvoices,
      /** Returns the client's only invoice at Stripe. */
      stripeInvoice() {
        const [invoice, ...others] = stripeInvoices()
        if (!invoice || others.length > 0)
          throw new Error(`Stripe has ${stripeInvoices().length} invoices instead of 1.`)
        return invoice
      },
      async balances() {
        const [receivable, clientBalance] = await Promise.all([
          balance(db, 'client_receivable', owner.id),
          balance(db, 'client_balance', owner.id),
        ])
        const cash = await db
          .selectFrom('ledger_entries')
          .innerJoin('invoices', 'invoices.id', 'ledger_entries.invoice_id')
          .select((eb) => eb.fn.sum<string | null>('amount_cents').as('cents'))
          .where('account', '=', 'provider_cash')
          .where('client_id', '=', owner.id)
          .executeTakeFirstOrThrow()
        return { receivable, balance: clientBalance, cash: Number(cash.cents) }
      },
      invoiceNotifications: async () =>
        (await owner.get('/api/notifications')).body.notifications
          .map(({ type }: { type: string }) => type)
          .filter((type: string) => type.startsWith('invoice.'))
          .reverse(),
      /** Settles the client's invoices in the database, so that workers of later tests do not collect them. */
      async [Symbol.asyncDispose]() {
        await db
          .updateTable('invoices')
          .set({ status: 'PAID', paid_at: now() })
          .where('client_id', '=', owner.id)
          .where('status', 'in', ['OPEN', 'FAILED'])
          .execute()
      },
    }
  }

  return {
    payments,
    stripe,
    invoices,
    world,
    gateway,
    now,
    later,

    nextMonth,
    /** The month ends and is closed. */
    async closeMonth() {
      const at = now()
      clockMs = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)
      await close.run()
    },
    /** One run of a worker. */
    async run() {
      await enqueueOpenInvoices(transact, now)
      await world.runJobs(INVOICE_COLLECTIONS)
    },
    sendEvent: (type: string, id: string) =>
      deliver(world.baseUrl, snapshotEvent(type, { id }), { atMs: clockMs }),

    client,
    /** Creates a client in the middle of the next month, which has no sessions of other tests. */
    async nextClient() {
      nextMonth()
      return await client()
    },

    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await payments[Symbol.asyncDispose]()
    },
  }
}

/** Creates a platform with payments for one test, and one client. */
export async function createInvoiceFixture(options: Omit<InvoicingOptions, 'startMs'> = {}) {
  const invoicing = await createInvoicing({ ...options, startMs: START_MS })
  return { ...(await invoicing.client()), ...invoicing }
}
