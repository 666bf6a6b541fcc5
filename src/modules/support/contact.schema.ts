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
  email: { description: 'Where the reply goes.', examples: ['ada@example.com'] },
  subject: { examples: ['Twelve arms in Berlin'] },
  message: { examples: ['We would like to put twelve SO-101 arms on the platform. What would that cost?'] },
}

/** Body of POST /api/contact. What becomes part of a mail header is one line. */
export const SendContact = z
  .strictObject({
    name: line(100).meta(examples.name),
    email: email.meta(examples.email),
    category: ContactCategory,
    subject: line(200).meta(examples.subject),
    message: nonEmptyProse(10_000).meta(examples.message),
  })
  .meta({ id: 'ContactMessage', description: 'What a visitor writes in the contact form.' })
export type SendContact = z.infer<typeof SendContact>

/** `stored` and `delivered` tell what happened until this answer, not what will. */
export const ContactReceipt = z
  .object({
    success: z.boolean(),
    message: z.string().meta({
      description: 'For the visitor to read.',
      examples: ['Thank you. Your message has reached us.'],
    }),
    id: idOf('contactMessage'),
    stored: z.boolean().meta({ description: 'Whether it is kept; it then will be delivered.' }),
    delivered: z.boolean().meta({ description: 'Whether the mail server has taken it by now.' }),
  })
  .meta({ id: 'ContactReceipt', description: 'What has become of a contact message so far.' })

/** What an admin sees of a message. */
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
        description: 'Why the newest attempt failed; null when none did, or after the delivery.',
        examples: [null],
      }),
  })
  .meta({ id: 'StoredContactMessage', description: 'A contact message and how far its delivery has come.' })
