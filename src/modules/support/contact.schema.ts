import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { email } from '../../core/http/email-address.ts'
import { line, nonEmptyProse, timestamp } from '../../core/http/fields.ts'

export const ContactCategory = z
  .enum([
    'General Inquiry',
    'Bug Report',
    'Feature Request',
    'Sales & Pricing',
    'Partnership',
    'Career/Jobs',
    'Technical Support',
    'Billing & Payments',
    'Press & Media',
    'Other',
  ])
  .meta({ id: 'ContactCategory', examples: ['Sales & Pricing'] })

const examples = {
  name: { examples: ['Ada'] },
  email: { description: 'Address for the reply.', examples: ['ada@example.com'] },
  subject: { examples: ['Twelve arms in Berlin'] },
  message: { examples: ['We would like to put twelve SO-101 arms on the platform. What would that cost?'] },
}

/** Body of POST /api/contact. Fields that become part of a mail header are single lines. */
export const SendContact = z
  .strictObject({
    name: line(100).meta(examples.name),
    email: email.meta(examples.email),
    category: ContactCategory,
    subject: line(200).meta(examples.subject),
    message: nonEmptyProse(10_000).meta(examples.message),
  })
  .meta({ id: 'ContactMessage', description: 'A message of the contact form.' })
export type SendContact = z.infer<typeof SendContact>

/** `stored` and `delivered` describe the state at the time of the response. */
export const ContactReceipt = z
  .object({
    success: z.boolean(),
    message: z.string().meta({
      description: 'Text for the visitor.',
      examples: ['Thank you. Your message has reached us.'],
    }),
    id: idOf('contactMessage'),
    stored: z
      .boolean()
      .meta({ description: 'Whether the message is stored. A stored message will be delivered.' }),
    delivered: z.boolean().meta({ description: 'Whether the mail server has accepted it.' }),
  })
  .meta({ id: 'ContactReceipt', description: 'The state of a contact message.' })

/** A contact message, as admins see it. */
export const ContactMessageView = z
  .object({
    id: idOf('contactMessage'),
    name: z.string().meta(examples.name),
    email: z.string().meta(examples.email),
    category: ContactCategory,
    subject: z.string().meta(examples.subject),
    message: z.string().meta(examples.message),
    created_at: timestamp,
    delivered: z.boolean(),
    delivered_at: timestamp.nullable().meta({ examples: ['2026-11-20T09:30:01.000Z'] }),
    attempts: z
      .number()
      .int()
      .meta({ examples: [1] }),
    next_attempt_at: timestamp
      .nullable()
      .meta({ description: 'Null once it is delivered.', examples: [null] }),
    last_error: z
      .string()
      .nullable()
      .meta({
        description: 'Why the latest attempt failed; null without a failure, and after the delivery.',
        examples: [null],
      }),
  })
  .meta({ id: 'StoredContactMessage', description: 'A contact message and the state of its delivery.' })
