import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'
import { deliveryColumns } from '../../core/mail/mail-columns.ts'
import { MailLanguage, type QuietHours } from './settings.schema.ts'

/** Describes an event to a user. `seq` has no gaps per user, so a client can request what it missed. */
export const Notification = defineEntity({
  name: 'Notification',
  tableName: 'notifications',
  properties: {
    user: () => referenceTo('User').primary().deleteRule('cascade'),
    seq: p.integer().primary(),
    type: p.text(),
    data: p.json<Record<string, unknown>>(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    readAt: p.datetime(3).nullable(),
    /** Whether a mail includes it, unless the user reads it before. */
    byMail: p.boolean().default(false),
    /** Whether it is pushed to the browsers of the user, unless the user reads it before. */
    byPush: p.boolean().default(false),
  },
})
export type Notification = InferEntity<typeof Notification>

/** Stores a mail about notifications and the state of its delivery. */
export const NotificationMail = defineEntity({
  name: 'NotificationMail',
  tableName: 'notification_mails',
  properties: {
    id: p.uuid().primary(),
    user: () => referenceTo('User').deleteRule('cascade'),
    /** The notifications in the mail, oldest first. The text is rendered from them, so each attempt sends the same mail. */
    seqs: p.array<number>(Number, String).columnType('int[]'),
    /** The number of older notifications that the mail only counts. */
    more: p.integer(),
    urgent: p.boolean(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    ...deliveryColumns(),
  },
})
export type NotificationMail = InferEntity<typeof NotificationMail>

/**
 * Marks a user who has notifications that are not mailed yet. A user has at most one row. The job that deletes the row
 * writes the mail in the same transaction. Every change of `due_at` creates a job for that time.
 */
export const NotificationDigest = defineEntity({
  name: 'NotificationDigest',
  tableName: 'notification_digests',
  properties: {
    user: () => referenceTo('User').primary().deleteRule('cascade'),
    /** The number of the first notification that is not mailed yet. */
    fromSeq: p.integer(),
    /** When a job next decides whether to write a mail. */
    dueAt: p.datetime(3),
  },
})
export type NotificationDigest = InferEntity<typeof NotificationDigest>

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
  interface Tables
    extends TablesOf<
      typeof Notification | typeof NotificationMail | typeof NotificationDigest | typeof NotificationSettings
    > {}
}
