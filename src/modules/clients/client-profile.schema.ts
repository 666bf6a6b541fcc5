import { z } from 'zod'
import { email } from '../../core/http/email-address.ts'
import { line, timestamp } from '../../core/http/fields.ts'
import { country } from '../../core/http/locale-fields.ts'

const phone = line(40)
  .regex(/^\+?[\d ()./-]+$/, 'must hold digits, spaces and + ( ) . / - only')
  .refine((text) => /^\d{5,15}$/.test(text.replace(/\D/g, '')), 'must have 5 to 15 digits')

/** A VAT number, stored without separators so that each number has one spelling. No stricter rule fits all countries. */
const vatId = line(30)
  .meta({ examples: ['DE123456789'] })
  .transform((text) => text.toUpperCase().replace(/[ ./-]/g, ''))
  .pipe(z.string().regex(/^(?=.*\d)[A-Z0-9+*]{4,20}$/, 'must be a VAT number, such as DE123456789'))

const examples = {
  company_name: { examples: ['Lovelace Logistics GmbH'] },
  contact_email: { description: 'Contact address of the client.', examples: ['ada@example.com'] },
  phone: { examples: ['+49 30 901820'] },
  country: { description: 'ISO 3166-1 alpha-2.', examples: ['DE'] },
  vat_id: { description: 'Stored in capital letters, without separators.', examples: ['DE123456789'] },
}

/** Body of PATCH /api/client/profile. Fields that are left out stay unchanged; null clears a field. */
export const UpdateClientProfile = z
  .strictObject({
    company_name: line(200).nullable().meta(examples.company_name),
    contact_email: email.nullable().meta(examples.contact_email),
    phone: phone.nullable().meta(examples.phone),
    country: country.nullable().meta(examples.country),
    vat_id: vatId.nullable().meta(examples.vat_id),
  })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'Name at least one field to change')
export type UpdateClientProfile = z.infer<typeof UpdateClientProfile>

export const ClientProfileView = z
  .object({
    company_name: z.string().nullable().meta(examples.company_name),
    contact_email: z.string().nullable().meta(examples.contact_email),
    phone: z.string().nullable().meta(examples.phone),
    country: z.string().nullable().meta(examples.country),
    vat_id: z.string().nullable().meta(examples.vat_id),
    billing_ready: z.boolean().meta({
      description: 'Whether a payment method is saved. Stripe determines this; it cannot be set.',
      examples: [false],
    }),
    created_at: timestamp.meta({ examples: ['2026-10-05T08:12:44.000Z'] }),
  })
  .meta({ id: 'ClientProfile', description: 'Company and contact data of a robot owner.' })
