import type { CoreServices } from '../../core/core-services.ts'
import type { Endpoint } from '../../core/http/endpoint.ts'
import type { Mailer } from '../../core/mail/mailer.ts'
import { createContact } from './contact.service.ts'
import { CONTACT_MAILS, createContactDelivery } from './contact-delivery.ts'
import { contactEndpoints, inboxEndpoints, robotRequestEndpoints } from './support.routes.ts'

/** Creates the contact form. Without a mailer its messages are stored, and mailed once a mail server is configured. */
export function createSupport(
  core: CoreServices,
  options: {
    readonly mail: { readonly mailer: Mailer; readonly contactTo: string } | undefined
    /** How long a response of the contact form waits for the mail server. */
    readonly waitLimitMs?: number | undefined
  },
) {
  const { mail, waitLimitMs } = options
  const contact = createContact({ ...core, canMail: mail !== undefined, waitLimitMs })
  const deliver = mail && createContactDelivery({ ...core, ...mail, onDelivered: contact.delivered })
  core.jobs.register(CONTACT_MAILS, deliver)
  return { contact }
}
export type Support = ReturnType<typeof createSupport>

/** Returns the routes of contact messages and robot requests, for the public and for admins. */
export const supportEndpoints = (support: Support, core: CoreServices): Endpoint[] => [
  ...contactEndpoints(support),
  ...robotRequestEndpoints(core),
  ...inboxEndpoints(core),
]
