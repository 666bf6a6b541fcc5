import type { CoreServices } from '../../core/core-services.ts'
import type { Mailer } from '../../core/mail/mailer.ts'
import { createDigests } from './digest.service.ts'
import { createNotificationMails } from './mail.service.ts'
import { createNotifications } from './notification.service.ts'
import { createUnsubscribing } from './unsubscribe.ts'

/** Creates the notification services. Without a mailer, no notification is mailed. */
export function createNotificationServices(core: CoreServices, mailer: Mailer | undefined) {
  const unsubscribing = createUnsubscribing(core)
  return {
    notifications: createNotifications(core),
    unsubscribing,
    mail: mailer && {
      digests: createDigests(core),
      mails: createNotificationMails({ ...core, mailer, unsubscribing }),
    },
  }
}
