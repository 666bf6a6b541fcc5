import type { Tx } from '../../core/events/transactor.ts'
import { asciiAddress } from '../../core/http/email-address.ts'
import type { Users } from '../identity/index.ts'
import type { StripeAccounts } from './stripe-accounts.ts'
import { isMissing, requireText, type StripeClient, withStripeErrors } from './stripe-client.ts'
import type { StripeEventRef, StripeSync } from './stripe-sync.ts'

/** The company profiles of clients, which the clients module keeps. */
export interface ClientProfileReader {
  get(userId: string): Promise<{ company_name: string | null; contact_email: string | null }>
}

/** Clients at the payment provider: who is charged, and with what. */
export function createCustomers(deps: {
  stripe: StripeClient
  accounts: StripeAccounts
  users: Users
  clientProfiles: ClientProfileReader
  stripeSync: StripeSync
  now: () => Date
  baseUrl: string
}) {
  const { stripe, accounts, users, clientProfiles, stripeSync, now, baseUrl } = deps

  async function buildCustomerParams(userId: string) {
    const [user, profile] = await Promise.all([users.byId(userId), clientProfiles.get(userId)])
    const contact = profile.contact_email ?? user.email
    // Stripe takes no address that has no form in ASCII.
    const email = contact ? asciiAddress(contact) : undefined
    return {
      name: profile.company_name ?? user.display_name,
      ...(email !== undefined && { email }),
      metadata: { user_id: userId },
    }
  }

  const ensure = (userId: string): Promise<string> =>
    withStripeErrors(
      accounts.ensure(
        'customer',
        userId,
        () => buildCustomerParams(userId),
        (request, idempotencyKey) => stripe.customers.create(request, { idempotencyKey }),
      ),
    )

  /** Does something for a customer; if somebody deleted that one at the provider, for a new one. */
  async function forCustomer<T>(userId: string, work: (customerId: string) => Promise<T>): Promise<T> {
    const customerId = await ensure(userId)
    try {
      return await work(customerId)
    } catch (cause) {
      if (!isMissing(cause)) throw cause
      await accounts.forget('customer', userId, customerId)
      return await work(await ensure(userId))
    }
  }

  /** Whether there is something to charge. The first payment method that was saved becomes the one that is charged. */
  async function isChargeable(customerId: string): Promise<boolean> {
    try {
      const customer = await stripe.customers.retrieve(customerId)
      if (customer.deleted) return false
      const { data } = await stripe.customers.listPaymentMethods(customerId, { limit: 1 })
      const [method] = data
      if (!method) return false
      if (!customer.invoice_settings.default_payment_method) {
        await stripe.customers.update(customerId, {
          invoice_settings: { default_payment_method: method.id },
        })
      }
      return true
    } catch (cause) {
      if (isMissing(cause)) return false // deleted, or removed between two questions, which has an event of its own
      throw cause
    }
  }

  /** Takes over whether a client can be charged, as their profile tells. */
  async function saveChargeable(tx: Tx, userId: string, chargeable: boolean): Promise<void> {
    const since = chargeable ? now() : null
    await tx.db
      .insertInto('client_profiles')
      .values({ user_id: userId, payment_method_at: since, created_at: now() })
      .onConflict((clash) =>
        clash.column('user_id').doUpdateSet((eb) => ({
          payment_method_at: chargeable
            ? eb.fn.coalesce('client_profiles.payment_method_at', eb.val(since))
            : null,
        })),
      )
      .execute()
  }

  return {
    /** An event of the provider says that something about this customer has changed. */
    async refreshFromStripe(customerId: string, event: StripeEventRef): Promise<void> {
      await stripeSync.refreshFromStripe(
        customerId,
        () => isChargeable(customerId),
        async (tx, chargeable) => {
          const userId = await accounts.userOf('customer', customerId, tx.db)
          if (userId !== undefined) await saveChargeable(tx, userId, chargeable)
        },
        event,
      )
    },

    /** The client's customer, made at first. @throws 502, 503 */
    ensure,

    /** Does something for the client's customer, made at first or anew. @throws what the provider says */
    forCustomer,

    /** With its secret the client's browser saves a payment method with the provider; we never see it. */
    async setUp(userId: string): Promise<{ clientSecret: string }> {
      const clientSecret = await withStripeErrors(
        forCustomer(userId, async (customer) => {
          const { client_secret } = await stripe.setupIntents.create({
            customer,
            usage: 'off_session',
            automatic_payment_methods: { enabled: true },
          })
          return requireText(client_secret, 'client_secret')
        }),
      )
      return { clientSecret }
    },

    /** A page of the provider on which the client manages payment methods and invoices; good for a while. */
    async portal(userId: string): Promise<{ url: string }> {
      const return_url = `${baseUrl}/dashboard/invoices`
      const url = await withStripeErrors(
        forCustomer(userId, async (customer) =>
          requireText((await stripe.billingPortal.sessions.create({ customer, return_url })).url, 'url'),
        ),
      )
      return { url }
    },
  }
}
export type Customers = ReturnType<typeof createCustomers>
