import type { Command } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { integer } from '../option-parsers.ts'

/** Declares the commands that read the platform's health and the caller's own data. */
export function addPlatform(program: Command, lazyAction: LazyAction): void {
  program
    .command('status')
    .description('show whether the platform works; needs no sign-in')
    .action(lazyAction(() => import('./status.ts')))
  program
    .command('search')
    .description('find robots and sessions that you may open, as an admin also users')
    .argument('<words...>', 'words that must all occur')
    .action(lazyAction(() => import('./search.ts')))
  program
    .command('stats')
    .description('show your statistics, as a client or as an operator')
    .action(lazyAction(() => import('./stats.ts')))
  program
    .command('schedule')
    .description('show your weekly schedule, and whether you are available now')
    .action(lazyAction(() => import('./schedule.ts')))
  const invoices = program.command('invoices').description('your monthly invoices')
  invoices
    .command('list')
    .description('list your invoices, newest first')
    .action(lazyAction(() => import('./invoices-list.ts')))
  invoices
    .command('show')
    .description('show an invoice with its sessions')
    .argument('<invoice>', 'its id, a prefix of the id, or its month, such as 2026-10')
    .action(lazyAction(() => import('./invoices-show.ts')))
  program
    .command('notifications')
    .description('list your notifications, newest first')
    .option('--unread', 'only unread notifications')
    .option('--limit <number>', 'largest number of notifications', integer(1, 100), 50)
    .action(lazyAction(() => import('./notifications.ts')))
}
