import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'
import { MailLanguage, type QuietHours } from './settings.schema.ts'

/** A user's choice of channels, quiet hours and language. Users without a row receive everything at any time. */
export const NotificationSettings = defineEntity({
  name: 'NotificationSettings',
  tableName: 'notification_settings',
  properties: {
    user: () => referenceTo('User').primary().deleteRule('cascade'),
    /** The cells of the matrix that are turned off, as `group.channel`. */
    muted: p.array().columnType('text[]'),
    quietHours: p.json<QuietHours>().nullable(),
    /** The language of mails and pushed notifications. */
    language: p.enum(MailLanguage.options).nullable(),
  },
})
export type NotificationSettings = InferEntity<typeof NotificationSettings>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof NotificationSettings> {}
}
