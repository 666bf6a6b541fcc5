import type { NotificationChannel, NotificationGroup } from '@wheelhouse/protocol'
import { Argument, type Command } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { parseHours, parseWeekdays } from './hours.ts'

/** Records, so that the compiler finds a missing one; the schemas would load with every command. */
const groups: Readonly<Record<NotificationGroup, true>> = {
  stops: true,
  robot_lost: true,
  pauses: true,
  sessions: true,
  extensions: true,
  battery: true,
  account: true,
  money: true,
  exports: true,
  webhooks: true,
}
const channels: Readonly<Record<NotificationChannel, true>> = { in_app: true, mail: true, push: true }

/** Declares `wheelhouse notification-settings …`. */
export function addNotificationSettings(program: Command, lazyAction: LazyAction): void {
  const settings = program
    .command('notification-settings')
    .description('which notifications reach you, how and when')
  settings
    .command('show')
    .description('show the channels of each group of notifications, the quiet hours and the language')
    .action(lazyAction(() => import('./show.ts')))
  settings
    .command('set')
    .description('turn a channel of a group of notifications on or off')
    .addArgument(new Argument('<group>', 'a group of notifications').choices(Object.keys(groups)))
    .addArgument(new Argument('<channel>', 'how they reach you').choices(Object.keys(channels)))
    .addArgument(new Argument('<state>', 'the new state').choices(['on', 'off']))
    .action(lazyAction(() => import('./set.ts')))
  settings
    .command('quiet-hours')
    .description('hold back mail and browser push between two times, or no longer')
    .argument('<hours>', 'such as 22:00-07:00, or off', parseHours)
    .option('--days <days>', 'days on which they begin, such as mon,fri (default: every day)', parseWeekdays)
    .option('--time-zone <zone>', 'such as Europe/Berlin (default: of this machine)')
    .option('--hold-safety', 'hold back also remote stops and lost robots')
    .action(lazyAction(() => import('./quiet-hours.ts')))
  settings
    .command('language')
    .description('set the language of mails and browser push')
    .addArgument(new Argument('<language>', 'en for English, de for German').choices(['en', 'de']))
    .action(lazyAction(() => import('./language.ts')))
}
