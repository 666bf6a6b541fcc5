import { z } from 'zod'

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
