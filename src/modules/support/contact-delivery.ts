import type { Log } from '../../core/log.ts'
import { createMailDelivery } from '../../core/mail/mail-delivery.ts'
import type { Mailer } from '../../core/mail/mailer.ts'
import type { ContactClaims } from './contact-claims.ts'
import { contactMail } from './contact-mail.ts'

/** Brings contact messages to the people who answer. Nothing is ever given up. */
export function createContactDelivery(parts: {
  claims: ContactClaims
  mailer: Mailer
  contactTo: string
  now: () => Date
  log: Log
}) {
  const { claims, mailer, contactTo } = parts
  return createMailDelivery({
    ...parts,
    queue: claims,
    idName: 'contactMessageId',
    compose: async (message) => contactMail(message, contactTo, mailer.domain),
  })
}
export type ContactDelivery = ReturnType<typeof createContactDelivery>
