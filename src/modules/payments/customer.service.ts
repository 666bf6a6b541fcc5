import type { Tx } from '../../core/events/transactor.ts'
import { asciiAddress } from '../../core/http/email-address.ts'
import type { StripeAccounts } from './stripe-accounts.ts'
import { isMissing, requireText, type StripeClient, withStripeErrors } from './stripe-client.ts'
import type { StripeEventRef, StripeSync } from './stripe-sync.ts'

/** Reads client profiles, which the clients module owns. */
export interface ClientProfileReader {
  /** Returns what is known of a client; name and address of a person come from the sign-in. */
  get(organizationId: string): Promise<{
    company_name: string | null
    contact_email: string | null
    name: string
    email: string | null
  }>
}

/** Creates the service for clients as Stripe customers. */
export function createCustomers(deps: {
  stripe: StripeClient
  accounts: StripeAccounts
  clientProfiles: ClientProfileReader
  stripeSync: StripeSync
  now: () => Date
  baseUrl: string
}) {
  const { stripe, accounts, clientProfiles, stripeSync, now, baseUrl } = deps

  async function buildCustomerParams(userId: string) {
    const profile = await clientProfiles.get(userId)
    const contact = profile.contact_email ?? profile.email
    // Stripe rejects addresses without an ASCII form.
    const email = contact ? asciiAddress(contact) : undefined
    return {
      name: profile.company_name ?? profile.name,
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

  /** Runs `work` with the user's customer. If the customer was deleted at Stripe, runs it again with a new one. */
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

  /** Returns whether a customer has a payment method. Makes the first saved one the default. */
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
      if (isMissing(cause)) return false // deleted, possibly between the two requests; Stripe sends another event for that
      throw cause
    }
  }

  /** Saves in the client's profile whether the client can be charged. */
  async function saveChargeable(tx: Tx, userId: string, isChargeable: boolean): Promise<void> {
    const since = isChargeable ? now() : null
    await tx.db
      .insertInto('client_profiles')
      .values({ organization_id: userId, payment_method_at: since, created_at: now() })
      .onConflict((conflict) =>
        conflict.column('organization_id').doUpdateSet((eb) => ({
          payment_method_at: isChargeable
            ? eb.fn.coalesce('client_profiles.payment_method_at', eb.val(since))
            : null,
        })),
      )
      .execute()
  }

  return {
    /** Handles a Stripe event about a customer. */
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

    /** Returns the client's customer id. The first call creates the customer. @throws 502, 503 */
    ensure,

    /** Runs `work` with the client's customer, created if necessary. @throws Stripe's errors */
    forCustomer,

    /** Creates a setup intent. With its secret, the browser saves a payment method at Stripe; the platform never sees it. */
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

    /** Returns a temporary Stripe page on which the client manages payment methods and invoices. */
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
