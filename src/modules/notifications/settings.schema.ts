import type { NotificationChannel, NotificationGroup } from '@wheelhouse/protocol'
import { z } from 'zod'
import { timeZone } from '../../core/http/locale-fields.ts'

const channels = {
  in_app: z.boolean().meta({ description: 'Pop-ups in the console, pushed by the hub.' }),
  mail: z.boolean().meta({ description: 'Mail about notifications that you do not read.' }),
  push: z
    .boolean()
    .meta({ description: 'Messages to the browsers that you subscribed, also while they are closed.' }),
} satisfies Record<NotificationChannel, z.ZodBoolean>

const Channels = z
  .object(channels)
  .meta({ id: 'NotificationChannels', description: 'The channels of a group of notifications.' })
const ChannelsChange = z.strictObject(channels).partial()

/** Returns an object with a value for each group. */
const groupsOf = <Row extends z.ZodType>(row: Row) =>
  ({
    stops: row,
    robot_lost: row,
    pauses: row,
    sessions: row,
    extensions: row,
    battery: row,
    account: row,
    money: row,
    exports: row,
    webhooks: row,
  }) satisfies Record<NotificationGroup, Row>

const time = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 22:00')
  .meta({ examples: ['22:00'] })

const quietHours = {
  start: time.meta({ description: 'The local time at which quiet hours begin.' }),
  end: time.meta({
    description: 'The local time at which they end, on the next day if it is not later than the start.',
    examples: ['07:00'],
  }),
  days: z
    .array(z.number().int().min(1).max(7))
    .min(1)
    .max(7)
    .refine((days) => new Set(days).size === days.length, 'must not repeat a day')
    .meta({
      description: 'The days on which quiet hours begin: 1 is Monday, 7 is Sunday.',
      examples: [[1, 2, 3, 4, 5]],
    }),
}
const safetyPasses = z
  .boolean()
  .meta({ description: 'Whether remote stops and lost robots pass during quiet hours.' })

const QuietHours = z
  .object({
    ...quietHours,
    time_zone: z.string().meta({ examples: ['Europe/Berlin'] }),
    safety_passes: safetyPasses,
  })
  .meta({
    id: 'QuietHours',
    description: 'The hours during which mail and browser push are held back. They are sent afterwards.',
  })
export type QuietHours = z.infer<typeof QuietHours>

const ChangeQuietHours = z
  .strictObject({ ...quietHours, time_zone: timeZone, safety_passes: safetyPasses.default(true) })
  .refine(({ start, end }) => start !== end, { path: ['end'], message: 'must differ from start' })

/** A language of mails and pushed notifications, as an ISO 639 code. */
export const MailLanguage = z.enum(['en', 'de'])
export type MailLanguage = z.infer<typeof MailLanguage>

const language = MailLanguage.nullable().meta({
  description: 'The language of mails and browser push. Null: not chosen yet, so English.',
  examples: ['de'],
})

/** The settings of a user for each group and channel, and the quiet hours. */
export const SettingsView = z
  .object({
    matrix: z.object(groupsOf(Channels)),
    quiet_hours: QuietHours.nullable().meta({ examples: [null] }),
    language,
  })
  .meta({ id: 'NotificationSettings', description: 'Which notifications reach you, how and when.' })
export type SettingsView = z.infer<typeof SettingsView>
export type NotificationMatrix = SettingsView['matrix']

/** Body of PATCH /api/notifications/settings. Omitted cells and fields do not change. */
export const SettingsChange = z
  .strictObject({
    matrix: z.strictObject(groupsOf(ChannelsChange)).partial().optional(),
    quiet_hours: ChangeQuietHours.nullable().optional().meta({ description: 'Null turns quiet hours off.' }),
    language: language.optional(),
  })
  .meta({ id: 'ChangeNotificationSettings', description: 'The settings to change.' })
export type SettingsChange = z.infer<typeof SettingsChange>
