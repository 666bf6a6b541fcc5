import { z } from 'zod'
import { timestamp } from '../../core/http/fields.ts'
import { CURRENCY } from '../billing/index.ts'
import { PayoutStatus } from './payout.entity.ts'

const hosted = z.url().meta({ description: 'A page of the payment provider: send the browser there.' })

export const CustomerView = z
  .object({ customerId: z.string().meta({ examples: ['cus_T2qm8f3nVb1xYk'] }) })
  .meta({ id: 'PaymentCustomer', description: 'You at the payment provider, as who pays.' })

export const SetupIntentView = z
  .object({
    clientSecret: z.string().meta({
      description: 'For the provider’s own form in the browser, which saves a payment method with it.',
      examples: ['seti_1S_secret_2x'],
    }),
  })
  .meta({ id: 'PaymentSetupIntent', description: 'Leave to save a payment method.' })

export const HostedPage = z
  .object({ url: hosted.meta({ examples: ['https://billing.stripe.com/p/session/test_abc'] }) })
  .meta({
    id: 'PaymentPage',
    description: 'Where to go on at the payment provider. It works once, for minutes.',
  })

export const ConnectStatus = z
  .object({
    connected: z.boolean().meta({ description: 'Whether there is a payout account.' }),
    accountId: z
      .string()
      .nullable()
      .meta({ examples: ['acct_1S9xQkT2qm8f3nVb'] }),
    payoutsEnabled: z.boolean().meta({ description: 'Whether earnings can be transferred to it.' }),
    requirements: z
      .array(z.string())
      .meta({ description: 'What the provider still wants to know, in its words.', examples: [[]] }),
  })
  .meta({ id: 'PayoutAccount', description: 'Your payout account, as the provider says now.' })

const cents = z.int()
const currency = z.literal(CURRENCY)

export const PayoutView = z
  .object({
    id: z.uuid().meta({ examples: ['7d1e1f2a-5a0c-4c52-9c83-5b1f0c2f9a11'] }),
    amountCents: cents.meta({ examples: [4_250] }),
    currency,
    status: PayoutStatus.meta({
      description: 'PENDING until the provider’s word is known; PAID: transferred; FAILED: available again.',
    }),
    failure: z
      .string()
      .nullable()
      .meta({ description: 'Why it failed.', examples: [null] }),
    createdAt: timestamp,
    settledAt: timestamp.nullable().meta({ description: 'Null while it is PENDING.' }),
  })
  .meta({ id: 'Payout', description: 'Earnings on their way to an operator.' })

export const PayoutOverview = z
  .object({
    availableCents: cents.meta({
      description: 'What a payout can be of: earned, not pending, and not asked for yet.',
      examples: [1_730],
    }),
    pendingEarningsCents: cents.meta({
      description:
        'Earned, and available once the clients’ invoices are paid, or after the hold of the platform.',
      examples: [2_100],
    }),
    nextAvailableAt: timestamp.nullable().meta({
      description: 'By when at the latest the first of the pending earnings are available; null without any.',
      examples: ['2027-01-04T09:54:20.000Z'],
    }),
    pendingCents: cents.meta({ description: 'In payouts that are PENDING.', examples: [4_250] }),
    minimumCents: cents.meta({ description: 'The least one payout may be.', examples: [1_000] }),
    currency,
    payouts: z.array(PayoutView).meta({ description: 'The newest hundred, newest first.' }),
  })
  .meta({ id: 'PayoutOverview', description: 'What you can be paid, and what you were.' })

export const RequestPayout = z
  .strictObject({
    amountCents: z
      .int()
      .positive()
      .max(Number.MAX_SAFE_INTEGER)
      .optional()
      .meta({ description: 'Default: all that is available.', examples: [4_250] }),
  })
  .default({})

export const StripeEventBody = z.looseObject({}).meta({
  id: 'PaymentEvent',
  description: 'As the provider sends it, with `Stripe-Signature`.',
  examples: [{}],
})

export const EventReceived = z
  .object({ received: z.literal(true) })
  .meta({ id: 'PaymentEventReceived', description: 'The event was carried out, or needs nothing done.' })
