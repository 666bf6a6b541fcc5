import type { CoreServices } from '../../core/core-services.ts'
import type { Queue } from '../../core/jobs/queue.ts'
import { createMailDelivery, type MailJob, mailQueue } from '../../core/mail/mail-delivery.ts'
import type { Mailer } from '../../core/mail/mailer.ts'
import { contactMail } from './contact-mail.ts'

/** The queue of contact messages to mail. Retries without a limit. */
export const CONTACT_MAILS: Queue<MailJob> = {
  ...mailQueue,
  name: 'contact-mails',
  description: 'Mails a message of the contact form',
  runsInApi: true,
}

/** Creates the handler that delivers a contact message by mail. */
export function createContactDelivery(
  deps: Pick<CoreServices, 'db' | 'now' | 'log'> & {
    mailer: Mailer
    contactTo: string
    onDelivered: (id: string) => void
  },
) {
  const { mailer, contactTo } = deps
  return createMailDelivery({
    ...deps,
    table: 'contact_messages',
    idName: 'contactMessageId',
    compose: async (message) => contactMail(message, contactTo, mailer.domain),
  })
}
