import { needsSmtpUtf8 } from '../../core/http/email-address.ts'
import type { Mail } from '../../core/mail/mailer.ts'
import type { ContactRow } from './contact-queue.ts'

/** How a mail server begins its refusal of a whole message. */
const SMTP_REJECTION = /\b5\d\d[ -]/

/**
 * Returns the mail that brings a contact message to those who answer. It is the same at every attempt, with one
 * exception: a visitor's address in another script than ASCII stands in the header as it is (RFC 6532). A server that
 * has refused such a mail gets it without that header; the text names the address all the same.
 */
export function contactMail(message: ContactRow, to: string, domain: string): Mail {
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
