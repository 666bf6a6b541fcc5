import type { Selectable } from 'kysely'
import type { CoreServices } from '../../core/core-services.ts'
import type { Tables } from '../../core/database/tables.ts'
import { needsSmtpUtf8 } from '../../core/http/email-address.ts'
import type { Queue } from '../../core/jobs/queue.ts'
import { createMailDelivery, type MailJob, mailQueue } from '../../core/mail/mail-delivery.ts'
import type { Mail, Mailer } from '../../core/mail/mailer.ts'

/** Matches the reply of a mail server that rejects a whole message. */
const SMTP_REJECTION = /\b5\d\d[ -]/

/**
 * Returns the mail for a contact message. It is the same at every attempt, with one exception: a Reply-To address with
 * non-ASCII characters is sent unchanged (RFC 6532). A server that rejects such a mail receives it without that header;
 * the text contains the address in any case.
 */
function contactMail(message: Selectable<Tables['contact_messages']>, to: string, domain: string): Mail {
  const { id, name, email, category, subject, last_error } = message
  const withoutReplyTo = needsSmtpUtf8(email) && SMTP_REJECTION.test(last_error ?? '')
  return {
    to,
    ...(!withoutReplyTo && { replyTo: { name, address: email } }),
    subject: `[${category}] ${subject}`,
    text: [
      `From: ${name} <${email}>`,
      `Category: ${category}`,
      `Subject: ${subject}`,
      `Received: ${message.created_at.toISOString()}`,
      `Reference: ${id}`,
      '',
      message.message,
      '',
    ].join('\n'),
    messageId: `<contact-${id}@${domain}>`,
  }
}

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
