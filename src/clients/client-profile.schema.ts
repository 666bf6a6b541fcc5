import { z } from 'zod'
import { line, timestamp } from '../http/fields.ts'
import { country } from '../http/place-fields.ts'

const phone = line(40)
  .regex(/^\+?[\d ()./-]+$/, 'must hold digits, spaces and + ( ) . / - only')
  .refine((text) => /^\d{5,15}$/.test(text.replace(/\D/g, '')), 'must have 5 to 15 digits')

/** Kept without separators, so that one number has one spelling. Countries agree on nothing more than this. */
const vatId = line(30)
  .transform((text) => text.toUpperCase().replace(/[ ./-]/g, ''))
  .pipe(z.string().regex(/^(?=.*\d)[A-Z0-9+*]{4,20}$/, 'must be a VAT number, such as DE123456789'))

/** Body of PATCH /api/client/profile. What is not named stays; null clears. */
export const UpdateClientProfile = z
  .strictObject({
    company_name: line(200).nullable(),
    contact_email: z.email().max(254).nullable(),
    phone: phone.nullable(),
    country: country.nullable(),
    vat_id: vatId.nullable(),
  })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'Name at least one field to change')
export type UpdateClientProfile = z.infer<typeof UpdateClientProfile>

export const ClientProfileView = z.object({
  company_name: z.string().nullable(),
  contact_email: z.string().nullable(),
  phone: z.string().nullable(),
  country: z.string().nullable(),
  vat_id: z.string().nullable(),
  /** Whether a payment method is saved; follows from payments and cannot be set. */
  billing_ready: z.boolean(),
  created_at: timestamp,
})
