import type { CoreServices } from '../../core/core-services.ts'
import { cronQueue } from '../../core/jobs/cron-queue.ts'
import type { Mailer } from '../../core/mail/mailer.ts'
import { createDigests, NOTIFICATION_DIGESTS } from './digest.service.ts'
import { createNotificationMails, NOTIFICATION_MAILS } from './mail.service.ts'
import { createNotifications } from './notification.service.ts'
import { createPush, type PushOptions } from './push/push.ts'
import { createNotificationSettings } from './settings.service.ts'
import { createUnsubscribing } from './unsubscribe.ts'

const MAIL_CLEAN_UP = cronQueue(
  'notification-mail-clean-up',
  '*/5 * * * *',
  'Removes delivered notification mails',
)

/** Creates the notification services. Without a mailer, no notification is mailed. */
export function createNotificationServices(
  core: CoreServices,
  { mailer, ...push }: PushOptions & { mailer: Mailer | undefined },
) {
  const unsubscribing = createUnsubscribing(core)
  const digests = mailer && createDigests(core)
  const sendMail = mailer && createNotificationMails({ ...core, mailer, unsubscribing })
  core.jobs.register(NOTIFICATION_DIGESTS, digests?.decide)
  core.jobs.register(NOTIFICATION_MAILS, sendMail)
  core.jobs.register(MAIL_CLEAN_UP, digests?.removeDelivered)
  return {
    notifications: createNotifications(core),
    settings: createNotificationSettings(core),
    unsubscribing,
    ...createPush(core, push),
  }
}
