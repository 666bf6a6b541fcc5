import { z } from 'zod'
import { timestamp } from '../../core/http/fields.ts'
import { CURRENCY } from '../billing/index.ts'
import { PayoutStatus } from './payment.entity.ts'

const hosted = z.url().meta({ description: 'A page of the payment provider. Redirect the browser to it.' })

export const CustomerView = z
  .object({ customerId: z.string().meta({ examples: ['cus_T2qm8f3nVb1xYk'] }) })
  .meta({ id: 'PaymentCustomer', description: 'Your customer account at the payment provider.' })

export const SetupIntentView = z
  .object({
    clientSecret: z.string().meta({
      description: 'The secret with which the payment provider’s form in the browser saves a payment method.',
      examples: ['seti_1S_secret_2x'],
    }),
  })
  .meta({ id: 'PaymentSetupIntent', description: 'The permission to save a payment method.' })

export const HostedPage = z
  .object({ url: hosted.meta({ examples: ['https://billing.stripe.com/p/session/test_abc'] }) })
  .meta({
    id: 'PaymentPage',
    description: 'A page of the payment provider. The link works once and expires after a few minutes.',
  })

export const ConnectStatus = z
  .object({
    connected: z.boolean().meta({ description: 'Whether you have a payout account.' }),
    accountId: z
      .string()
      .nullable()
      .meta({ examples: ['acct_1S9xQkT2qm8f3nVb'] }),
    payoutsEnabled: z.boolean().meta({ description: 'Whether earnings can be transferred to the account.' }),
    requirements: z.array(z.string()).meta({
      description: 'The information that the payment provider requires, in its words.',
      examples: [[]],
    }),
  })
  .meta({
    id: 'PayoutAccount',
    description: 'Your payout account, as the payment provider currently reports it.',
  })

const cents = z.int()
const currency = z.literal(CURRENCY)

export const PayoutView = z
  .object({
    id: z.uuid().meta({ examples: ['7d1e1f2a-5a0c-4c52-9c83-5b1f0c2f9a11'] }),
    amountCents: cents.meta({ examples: [4_250] }),
    currency,
    status: PayoutStatus.meta({
      description:
        'PENDING: the result is not known yet. PAID: transferred. FAILED: the amount is available again.',
    }),
    failure: z
      .string()
      .nullable()
      .meta({ description: 'Why the payout failed.', examples: [null] }),
    createdAt: timestamp,
    settledAt: timestamp.nullable().meta({ description: 'Null while the payout is PENDING.' }),
  })
  .meta({ id: 'Payout', description: 'A transfer of earnings to an operator.' })

export const PayoutOverview = z
  .object({
    availableCents: cents.meta({
      description: 'The amount available for payout: earned, not pending, and not in a payout.',
      examples: [1_730],
    }),
    pendingEarningsCents: cents.meta({
      description:
        'Earned, and available once the clients have paid their invoices, or after the platform’s hold period.',
      examples: [2_100],
    }),
    nextAvailableAt: timestamp.nullable().meta({
      description:
        'The latest time at which the first pending earnings become available; null without pending earnings.',
      examples: ['2027-01-04T09:54:20.000Z'],
    }),
    pendingCents: cents.meta({ description: 'The sum of PENDING payouts.', examples: [4_250] }),
    minimumCents: cents.meta({ description: 'The minimum amount of a payout.', examples: [1_000] }),
    currency,
    payouts: z.array(PayoutView).meta({ description: 'The newest 100 payouts, newest first.' }),
  })
  .meta({ id: 'PayoutOverview', description: 'The amounts available for payout, and your payouts.' })

export const RequestPayout = z
  .strictObject({
    amountCents: z
      .int()
      .positive()
      .max(Number.MAX_SAFE_INTEGER)
      .optional()
      .meta({ description: 'Default: the available amount.', examples: [4_250] }),
  })
  .default({})

export const StripeEventBody = z.looseObject({}).meta({
  id: 'PaymentEvent',
  description: 'An event as the payment provider sends it, with the header `Stripe-Signature`.',
  examples: [{}],
})

export const EventReceived = z
  .object({ received: z.literal(true) })
  .meta({ id: 'PaymentEventReceived', description: 'The event was processed or requires no action.' })
