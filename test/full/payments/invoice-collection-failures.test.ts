import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createInvoicing, type InvoicedClient, type Invoicing } from '../../support/stripe/invoice-fixture.ts'
import type { StripeFault } from '../../support/stripe/server.ts'
import type { StripeRequest } from '../../support/stripe/wire.ts'
import { HOUR_MS } from '../../support/world/billing.ts'

let invoicing: Invoicing
beforeAll(async () => {
  invoicing = await createInvoicing()
})
afterAll(() => invoicing[Symbol.asyncDispose]())

/** Returns the failures of the collections of a client's invoices. */
const failuresOf = async ({ owner }: InvoicedClient) => {
  const collections = invoicing.world.platform.core.db
    .selectFrom('invoice_collections')
    .innerJoin('invoices', 'invoices.id', 'invoice_id')
    .where('client_id', '=', owner.id)
  return (await collections.select('failure').execute()).map(({ failure }) => failure)
}

/** Returns whether a request to Stripe concerns a client. */
function concerns({ owner }: InvoicedClient, { path, params }: StripeRequest): boolean {
  const { books } = invoicing.payments
  const [, invoiceId = ''] = /\/invoices\/(in_\w+)/.exec(path) ?? []
  const customerId = books.invoices.all.get(invoiceId)?.customer ?? String(params.customer)
  const { user_id } = (books.customers.get(customerId)?.metadata ?? params.metadata ?? {}) as {
    user_id?: string
  }
  return user_id === owner.id
}

describe('Stripe failures', () => {
  const faults: StripeFault[] = ['drops', 'drops after', 'fails', 'fails after']
  const steps: [RegExp, string][] = [
    [/\/customers$/, 'POST'],
    [/\/invoices$/, 'POST'],
    [/\/lines$/, 'GET'],
    [/\/add_lines$/, 'POST'],
    [/\/finalize$/, 'POST'],
    [/\/invoices\/\w+$/, 'GET'],
  ]
  test.for([false, true])(
    'at every step, idempotency keys forgotten: %j: the collection creates one invoice per client',
    async (forgets) => {
      invoicing.nextMonth()
      const clients = new Map(
        await Promise.all(faults.map(async (fault) => [fault, await invoicing.client()] as const)),
      )
      for (const client of clients.values()) for (const minutes of [2, 5, 9]) await client.drive(minutes)
      await invoicing.closeMonth()
      const failures = new Set<string>()
      for (const [fault, client] of clients) {
        for (const [path, method] of steps) {
          const when = (request: StripeRequest) => {
            const fails = request.method === method && path.test(request.path) && concerns(client, request)
            if (fails) failures.add(`${fault} ${method} ${path}`)
            return fails
          }
          invoicing.stripe.planFor(fault, when, 2) // The Stripe library sends each request twice.
        }
      }
      for (let run = 0; run < 16; run++) {
        await Promise.all([invoicing.run(), invoicing.run()])
        invoicing.later(2 * HOUR_MS)
        if (forgets) invoicing.stripe.forgetKeys()
      }
      expect(failures.size, 'every step failed for every client').toBe(faults.length * steps.length)
      for (const [fault, client] of clients) {
        const collected = client.stripeInvoices().filter(({ status }) => status !== 'draft')
        expect(collected, String(fault)).toMatchObject([{ status: 'open', amount_due: 800 }])
        expect(collected[0]?.lines.map(({ amount }) => amount)).toEqual([100, 250, 450])
        expect(await client.list()).toMatchObject([{ hosted_url: collected[0]?.hosted_invoice_url }])
        await client[Symbol.asyncDispose]()
      }
      invoicing.payments.recover()
    },
  )

  test('the collection recreates a draft that was deleted at Stripe', async () => {
    await using client = await invoicing.nextClient()
    await client.drive(4)
    await invoicing.closeMonth()
    invoicing.stripe.plan('fails', /add_lines$/, 2)
    await invoicing.run()
    invoicing.invoices.delete(client.stripeInvoice().id)
    for (let hour = 0; hour < 3; hour++) {
      invoicing.later(HOUR_MS)
      await invoicing.run()
    }
    expect(client.stripeInvoice()).toMatchObject({ status: 'open', amount_due: 200 })
    invoicing.payments.recover()
  })

  test('the collection creates a new customer if Stripe has lost the customer', async () => {
    await using client = await invoicing.nextClient()
    const { customerId } = (await client.owner.post('/api/payments/customer')).body
    invoicing.stripe.books.forget(customerId)
    await client.drive(4)
    await invoicing.closeMonth()
    await invoicing.run()
    expect(client.stripeInvoice()).toMatchObject({ status: 'open', amount_due: 200 })
    expect(client.stripeInvoice().customer).not.toBe(customerId)
  })

  test('the collection does not finalize a draft with an extra line until the line is removed', async () => {
    await using client = await invoicing.nextClient()
    await client.drive(4)
    await invoicing.closeMonth()
    invoicing.stripe.plan('fails', /add_lines$/, 2)
    await invoicing.run()
    const stripeInvoice = client.stripeInvoice()
    stripeInvoice.lines.push({
      id: 'il_foreign',
      object: 'line_item' as const,
      amount: 1,
      description: 'by hand',
      metadata: {},
      period: { start: 0, end: 0 },
    })
    invoicing.later(HOUR_MS)
    await invoicing.run()
    expect(stripeInvoice.status).toBe('draft')
    expect(await failuresOf(client)).toEqual([expect.stringContaining('201')])
    stripeInvoice.lines.shift()
    invoicing.later(HOUR_MS)
    await invoicing.run()
    expect(stripeInvoice).toMatchObject({ status: 'open', amount_due: 200 })
    invoicing.payments.recover()
  })
})

test('concurrent workers collect each month once, including earlier months', async () => {
  await using client = await invoicing.nextClient()
  await client.drive(2)
  await invoicing.closeMonth()
  await client.drive(4)
  await invoicing.closeMonth()
  await Promise.all([invoicing.run(), invoicing.run(), invoicing.run()])
  await Promise.all([invoicing.run(), invoicing.run(), invoicing.run()])
  expect(
    client
      .stripeInvoices()
      .map(({ amount_due }) => amount_due)
      .sort(),
  ).toEqual([100, 200])
  expect(await failuresOf(client)).toEqual([null, null])
})
