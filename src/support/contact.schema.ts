import { z } from 'zod'
import { line, prose, timestamp } from '../http/fields.ts'

export const ContactCategory = z.enum([
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

/** Body of POST /api/contact. What becomes part of a mail header is one line. */
export const SendContact = z.strictObject({
  name: line(100),
  email: z.email().max(254),
  category: ContactCategory,
  subject: line(200),
  message: prose(10_000).refine((text) => text.trim() !== '', 'must not be empty'),
})
export type SendContact = z.infer<typeof SendContact>

/** `stored` and `delivered` tell what happened until this answer, not what will. */
export const ContactReceipt = z.object({
  success: z.boolean(),
  message: z.string(),
  id: z.uuid(),
  stored: z.boolean(),
  delivered: z.boolean(),
})

/** What an admin sees of a message. */
export const ContactMessageView = z.object({
  id: z.uuid(),
  name: z.string(),
  email: z.string(),
  category: ContactCategory,
  subject: z.string(),
  message: z.string(),
  created_at: timestamp,
  delivered: z.boolean(),
  delivered_at: timestamp.nullable(),
  attempts: z.number().int(),
  /** Null once it is delivered. */
  next_attempt_at: timestamp.nullable(),
  /** Why the newest attempt failed; null when none did, or after the delivery. */
  last_error: z.string().nullable(),
})
