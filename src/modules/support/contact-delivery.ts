import type { Log } from '../../core/log.ts'
import { createMailDelivery } from '../../core/mail/mail-delivery.ts'
import type { Mailer } from '../../core/mail/mailer.ts'
import { contactMail } from './contact-mail.ts'
import type { ContactQueue } from './contact-queue.ts'

/** Brings contact messages to the people who answer. Nothing is ever given up. */
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
