import { type Selectable, sql } from 'kysely'
import type { CoreServices } from '../../core/core-services.ts'
import type { Tables } from '../../core/database/tables.ts'
import type { Queue } from '../../core/jobs/queue.ts'
import { createMailDelivery, type MailJob, mailQueue } from '../../core/mail/mail-delivery.ts'
import type { Mail, Mailer } from '../../core/mail/mailer.ts'
import { GIVE_UP_MS } from './digest-policy.ts'
import { notificationMail } from './notification-mail.ts'
import { hasAddress, isSuspended, MAILED_WHILE_SUSPENDED, wantsMail } from './preferences.ts'
import type { Unsubscribing } from './unsubscribe.ts'

/** The queue of mails about notifications. Urgent mails have a priority. */
export const NOTIFICATION_MAILS: Queue<MailJob> = {
  ...mailQueue,
  name: 'notification-mails',
  description: 'Mails the unread notifications of a user',
}
export const URGENT_PRIORITY = 10

/** Matches exactly one address. Identity providers do not validate the address claim. */
const ADDRESS = /^[^\s<>()[\]\\,;:"@]+@[^\s<>()[\]\\,;:"@]+$/

/** Delivers mails about notifications to the mail server. Skips mails that are obsolete. */
export function createNotificationMails(
  deps: Pick<CoreServices, 'db' | 'baseUrl' | 'now' | 'log'> & {
    mailer: Mailer
    unsubscribing: Unsubscribing
  },
) {
  const { db, mailer, unsubscribing, baseUrl, now, log } = deps

  /**
   * Returns undefined if the mail is obsolete: all read, mail turned off, no verified address, or too old. For a suspended user
   * it contains only what such users receive.
   */
  async function compose(mail: Selectable<Tables['notification_mails']>): Promise<Mail | undefined> {
    const { id, user_id, seqs, more, attempts, last_error } = mail
    if (now().getTime() - mail.created_at.getTime() > GIVE_UP_MS) {
      log.warn({ notificationMailId: id, userId: user_id, attempts, reason: last_error }, 'mail abandoned')
      return undefined
    }
    const recipient = await db
      .selectFrom('users')
      .leftJoin('notification_settings', 'notification_settings.user_id', 'users.id')
      .select([
        'email',
        'notification_settings.language',
        sql<boolean>`${hasAddress} and ${wantsMail}`.as('can_mail'),
      ])
      .select(isSuspended.as('is_suspended'))
      .where('users.id', '=', user_id)
      .executeTakeFirst()
    if (!recipient?.can_mail || !ADDRESS.test(recipient.email ?? '')) return undefined
    const notifications = await db
      .selectFrom('notifications')
      .select(['seq', 'type', 'data', 'created_at', 'read_at'])
      .where('user_id', '=', user_id)
      .where('seq', 'in', seqs)
      .$if(recipient.is_suspended, (query) => query.where('type', 'in', MAILED_WHILE_SUSPENDED))
      .orderBy('seq')
      .execute()
    if (notifications.every((notification) => notification.read_at !== null)) return undefined
    const older = recipient.is_suspended ? 0 : more
    const { email, language } = recipient
    const mailContent = { id, to: email as string, language, notifications, more: older }
    const unsubscribeUrl = unsubscribing.urlFor(user_id)
    return notificationMail(mailContent, { baseUrl, domain: mailer.domain, unsubscribeUrl })
  }

  return createMailDelivery({
    db,
    table: 'notification_mails',
    mailer,
    compose,
    idName: 'notificationMailId',
    now,
    log,
  })
}
