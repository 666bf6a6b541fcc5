import { type Command, Option } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { collectValues, integer, parseTime } from '../option-parsers.ts'

const WEBHOOK = 'its id, the beginning of that, or its URL'
const DELIVERY = 'its id, or the beginning of that'
const TYPE = 'a type, or a family such as session.*; may be given several times'

/** `wheelhouse webhooks …`: where one's events are sent to. */
export function addWebhooks(program: Command, lazyAction: LazyAction): void {
  const webhooks = program.command('webhooks').description('where your events are sent to')
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
    .description('register a webhook; its secret is shown this once')
    .argument('<url>', 'where the events are sent to')
    .option('--type <filter>', `${TYPE} (default: all)`, collectValues)
    .option('--description <text>', 'what it is for')
    .action(lazyAction(() => import('./create.ts')))
  webhooks
    .command('update')
    .description('change a webhook, or switch it on or off')
    .argument('<webhook>', WEBHOOK)
    .option('--url <url>', 'where the events are sent to')
    .option('--type <filter>', `instead of those it has: ${TYPE}`, collectValues)
    .option('--description <text>', '"" for none')
    .option('--enable', 'events are sent from now on')
    .addOption(new Option('--disable', 'what waits is given up').conflicts('enable'))
    .action(lazyAction(() => import('./update.ts')))
  webhooks
    .command('remove')
    .description('remove a webhook and the log of its deliveries')
    .argument('<webhook>', WEBHOOK)
    .action(lazyAction(() => import('./remove.ts')))
  webhooks
    .command('rotate-secret')
    .description('replace the secret of a webhook; for a day the old one signs too')
    .argument('<webhook>', WEBHOOK)
    .option('--drop-old', 'the old one signs no more: it has leaked')
    .action(lazyAction(() => import('./rotate-secret.ts')))
}

function addDeliveries(webhooks: Command, lazyAction: LazyAction): void {
  webhooks
    .command('test')
    .description('send a test event to a webhook, and show what came of it')
    .argument('<webhook>', WEBHOOK)
    .option('--wait <seconds>', 'how long to wait for the outcome', integer(1, 600), 30)
    .action(lazyAction(() => import('./test.ts')))
  webhooks
    .command('deliveries')
    .description('list what was sent to a webhook, newest first')
    .argument('<webhook>', WEBHOOK)
    .addOption(new Option('--status <status>', 'only these').choices(['PENDING', 'DELIVERED', 'FAILED']))
    .option('--limit <number>', 'at most so many', integer(1, 10_000), 50)
    .action(lazyAction(() => import('./deliveries.ts')))
  webhooks
    .command('delivery')
    .description('show a delivery with the event that it carries')
    .argument('<webhook>', WEBHOOK)
    .argument('<delivery>', DELIVERY)
    .action(lazyAction(() => import('./delivery.ts')))
  webhooks
    .command('replay')
    .description('send again: the event of a delivery, or all that did not arrive since a moment')
    .argument('<webhook>', WEBHOOK)
    .argument('[delivery]', DELIVERY)
    .option('--since <time>', 'such as 2026-11-20T09:00 or -2h', parseTime)
    .action(lazyAction(() => import('./replay.ts')))
}
