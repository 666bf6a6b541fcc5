import type { Mail } from '../mail/mailer.ts'
import type { ContactRow } from './contact.claims.ts'

/** The mail that brings a contact message to the people who answer; the same at every attempt. */
export function contactMail(message: ContactRow, to: string, domain: string): Mail {
  const { id, name, email, category, subject } = message
  return {
    to,
    replyTo: { name, address: email },
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
