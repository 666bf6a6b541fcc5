import { NotificationChannel, NotificationGroup } from '@wheelhouse/protocol'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { Argument, type Command, InvalidArgumentError } from 'commander'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { integer } from './lib/options.ts'
import type { Output } from './lib/output.ts'
import { styled } from './lib/text.ts'
import { formatTime } from './lib/views.ts'

export const commands = {
  notifications: declareNotifications,
  'notification-settings': declareNotificationSettings,
}

/** Declares `wheelhouse notifications`. */
function declareNotifications(command: Command, action: CreateAction): void {
  command
    .option('--unread', 'only unread notifications')
    .option('--limit <number>', 'largest number of notifications', integer(1, 100), 50)
    .action(action(notifications))
}

/** Declares `wheelhouse notification-settings …`. */
function declareNotificationSettings(settings: Command, action: CreateAction): void {
  settings
    .command('show')
    .description('show the channels of each group of notifications, the quiet hours and the language')
    .action(action(show))
  settings
    .command('set')
    .description('turn a channel of a group of notifications on or off')
    .addArgument(new Argument('<group>', 'a group of notifications').choices(NotificationGroup.options))
    .addArgument(new Argument('<channel>', 'how they reach you').choices(NotificationChannel.options))
    .addArgument(new Argument('<state>', 'the new state').choices(['on', 'off']))
    .action(action(set))
  settings
    .command('quiet-hours')
    .description('hold back mail and browser push between two times, or no longer')
    .argument('<hours>', 'such as 22:00-07:00, or off', parseHours)
    .option('--days <days>', 'days on which they begin, such as mon,fri (default: every day)', parseWeekdays)
    .option('--time-zone <zone>', 'such as Europe/Berlin (default: of this machine)')
    .option('--hold-safety', 'hold back also remote stops and lost robots')
    .action(action(quietHours))
  settings
    .command('language')
    .description('set the language of mails and browser push')
    .addArgument(new Argument('<language>', 'en for English, de for German').choices(['en', 'de']))
    .action(action(language))
}

/** Prints the caller's notifications. Does not mark them as read. */
async function notifications(
  cli: Context,
  { unread, limit }: { unread?: true; limit: number },
): Promise<void> {
  const query = { limit, ...(unread && { unread: 'true' as const }) }
  const { notifications, unread_count } = await answerOf(
    cli.rest.GET('/api/notifications', { params: { query } }),
  )
  cli.out.list(
    notifications,
    [
      { title: 'ID', value: ({ id }) => id, noTruncate: true, right: true },
      { title: 'WHEN', value: ({ created_at }) => formatTime(created_at) },
      { title: 'WHAT', value: ({ type, read_at }) => (read_at ? type : styled('bold', type)) },
      { title: 'MORE', value: ({ data }) => JSON.stringify(data) },
    ],
    'No notifications.',
  )
  if (!cli.out.json) cli.out.note(`${unread_count} unread.`)
}

/** Prints the notification settings. */
async function show(cli: Context): Promise<void> {
  showSettings(cli.out, await answerOf(cli.rest.GET('/api/notifications/settings')))
}

/** Turns a channel of a group on or off, and prints the settings. */
async function set(
  cli: Context,
  group: NotificationGroup,
  channel: NotificationChannel,
  state: 'on' | 'off',
): Promise<void> {
  const body = { matrix: { [group]: { [channel]: state === 'on' } } }
  showSettings(cli.out, await answerOf(cli.rest.PATCH('/api/notifications/settings', { body })))
}

const EVERY_DAY = [1, 2, 3, 4, 5, 6, 7]

interface QuietHoursOptions {
  readonly days?: number[]
  readonly timeZone?: string
  readonly holdSafety?: true
}

/** Sets the quiet hours or turns them off, and prints the settings. */
async function quietHours(cli: Context, hours: Hours, options: QuietHoursOptions): Promise<void> {
  const { days = EVERY_DAY, timeZone, holdSafety = false } = options
  const quiet_hours =
    hours === 'off'
      ? null
      : {
          ...hours,
          days,
          time_zone: timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
          safety_passes: !holdSafety,
        }
  showSettings(
    cli.out,
    await answerOf(cli.rest.PATCH('/api/notifications/settings', { body: { quiet_hours } })),
  )
}

/** Sets the language of mails and browser push, and prints the settings. */
async function language(
  cli: Context,
  language: NonNullable<Schemas['NotificationSettings']['language']>,
): Promise<void> {
  showSettings(cli.out, await answerOf(cli.rest.PATCH('/api/notifications/settings', { body: { language } })))
}

const DAY_NAMES = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

/** The hours of a day that are quiet, or `off`. */
type Hours = { readonly start: string; readonly end: string } | 'off'

/** Parses quiet hours such as `22:00-07:00`, or `off`. */
function parseHours(text: string): Hours {
  if (text === 'off') return text
  const [, start, end] = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(text) ?? []
  if (start === undefined || end === undefined)
    throw new InvalidArgumentError('Enter two times such as 22:00-07:00, or off.')
  return { start, end }
}

/** Parses names of weekdays. @returns their numbers, 1 for Monday */
function parseWeekdays(text: string): number[] {
  const numbers = text.split(',').map((name) => DAY_NAMES.indexOf(name.trim().toLowerCase()) + 1)
  if (numbers.includes(0)) throw new InvalidArgumentError(`Enter days such as ${DAY_NAMES.join(',')}.`)
  return [...new Set(numbers)]
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const languages = { en: 'English', de: 'German' } as const
const onOff = (on: boolean) => (on ? 'on' : 'off')

/** Prints notification settings: a row for each group, the quiet hours and the language. */
function showSettings(out: Output, settings: Schemas['NotificationSettings']): void {
  out.result(settings, () => {
    out.table(Object.entries(settings.matrix), [
      { title: 'GROUP', value: ([group]) => group },
      { title: 'IN APP', value: ([, channels]) => onOff(channels.in_app) },
      { title: 'MAIL', value: ([, channels]) => onOff(channels.mail) },
      { title: 'PUSH', value: ([, channels]) => onOff(channels.push) },
    ])
    out.line(quietHoursText(settings.quiet_hours))
    out.line(`Language of mails: ${languages[settings.language ?? 'en']}.`)
  })
}

function quietHoursText(hours: Schemas['QuietHours'] | null): string {
  if (hours === null) return 'No quiet hours.'
  const days = hours.days.length === 7 ? 'every day' : hours.days.map((day) => WEEKDAYS[day - 1]).join(', ')
  const safety = hours.safety_passes
    ? 'Remote stops and lost robots pass.'
    : 'Remote stops are held back, too.'
  return `Quiet hours: ${hours.start} to ${hours.end} (${hours.time_zone}), beginning ${days}. ${safety}`
}
