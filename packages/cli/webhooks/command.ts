import { type Command, Option } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { collectValues, integer, parseTime } from '../option-parsers.ts'

const WEBHOOK = 'its id, a prefix of the id, or its URL'
const DELIVERY = 'its id, or a prefix of the id'
const TYPE = 'an event type, or a family such as session.*; repeatable'

/** Declares `wheelhouse webhooks …`. */
export function addWebhooks(program: Command, lazyAction: LazyAction): void {
  const webhooks = program.command('webhooks').description('your webhooks')
  addManagement(webhooks, lazyAction)
  addDeliveries(webhooks, lazyAction)
}

function addManagement(webhooks: Command, lazyAction: LazyAction): void {
  webhooks
    .command('list')
    .description('list your webhooks, newest first')
    .action(lazyAction(() => import('./list.ts')))
  webhooks
    .command('show')
    .description('show one of your webhooks')
    .argument('<webhook>', WEBHOOK)
    .action(lazyAction(() => import('./show.ts')))
  webhooks
    .command('create')
    .description('register a webhook and show its secret, only this once')
    .argument('<url>', 'address that receives the events')
    .option('--type <filter>', `${TYPE} (default: all)`, collectValues)
    .option('--description <text>', 'what it is for')
    .action(lazyAction(() => import('./create.ts')))
  webhooks
    .command('update')
    .description('change a webhook, or switch it on or off')
    .argument('<webhook>', WEBHOOK)
    .option('--url <url>', 'address that receives the events')
    .option('--type <filter>', `${TYPE}; replaces all current filters`, collectValues)
    .option('--description <text>', 'a description; "" for none')
    .option('--enable', 'send events from now on')
    .addOption(new Option('--disable', 'send no events, and drop pending deliveries').conflicts('enable'))
    .action(lazyAction(() => import('./update.ts')))
  webhooks
    .command('remove')
    .description('remove a webhook and the log of its deliveries')
    .argument('<webhook>', WEBHOOK)
    .action(lazyAction(() => import('./remove.ts')))
  webhooks
    .command('rotate-secret')
    .description('replace the secret of a webhook; the old secret also signs for a day')
    .argument('<webhook>', WEBHOOK)
    .option('--drop-old', 'stop signing with the old secret at once, because it has leaked')
    .action(lazyAction(() => import('./rotate-secret.ts')))
}

function addDeliveries(webhooks: Command, lazyAction: LazyAction): void {
  webhooks
    .command('test')
    .description('send a test event to a webhook and show the outcome')
    .argument('<webhook>', WEBHOOK)
    .option('--wait <seconds>', 'longest time to wait for the outcome', integer(1, 600), 30)
    .action(lazyAction(() => import('./test.ts')))
  webhooks
    .command('deliveries')
    .description('list the deliveries of a webhook, newest first')
    .argument('<webhook>', WEBHOOK)
    .addOption(
      new Option('--status <status>', 'only deliveries with this status').choices([
        'PENDING',
        'DELIVERED',
        'FAILED',
      ]),
    )
    .option('--limit <number>', 'largest number of deliveries', integer(1, 10_000), 50)
    .action(lazyAction(() => import('./deliveries.ts')))
  webhooks
    .command('delivery')
    .description('show a delivery with its event')
    .argument('<webhook>', WEBHOOK)
    .argument('<delivery>', DELIVERY)
    .action(lazyAction(() => import('./delivery.ts')))
  webhooks
    .command('replay')
    .description('repeat a delivery, or all failed deliveries since a time')
    .argument('<webhook>', WEBHOOK)
    .argument('[delivery]', DELIVERY)
    .option('--since <time>', 'such as 2026-11-20T09:00 or -2h', parseTime)
    .action(lazyAction(() => import('./replay.ts')))
}
