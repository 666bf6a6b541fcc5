import type { Log } from '../../core/log.ts'
import { createMailDelivery } from '../../core/mail/mail-delivery.ts'
import type { Mailer } from '../../core/mail/mailer.ts'
import { contactMail } from './contact-mail.ts'
import type { ContactQueue } from './contact-queue.ts'

/** Creates the delivery of contact messages by mail. It retries without a limit. */
export function createContactDelivery(deps: {
  contactQueue: ContactQueue
  mailer: Mailer
  contactTo: string
  now: () => Date
  log: Log
}) {
  const { contactQueue, mailer, contactTo } = deps
  return createMailDelivery({
    ...deps,
    queue: contactQueue,
    idName: 'contactMessageId',
    compose: async (message) => contactMail(message, contactTo, mailer.domain),
  })
}
export type ContactDelivery = ReturnType<typeof createContactDelivery>
