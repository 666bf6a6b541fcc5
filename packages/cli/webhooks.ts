import { setTimeout as delay } from 'node:timers/promises'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { type Command, Option } from 'commander'
import { validateFilters } from './events.ts'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { Failure } from './lib/failure.ts'
import { findUnique, idOf, isFullId } from './lib/ids.ts'
import { choice, collectValues, integer, parseTime } from './lib/options.ts'
import type { Output } from './lib/output.ts'
import { readPages } from './lib/pages.ts'
import { type Piece, styled } from './lib/text.ts'
import { formatTime, statusPiece } from './lib/views.ts'

const WEBHOOK = 'its id, a prefix of the id, or its URL'
const DELIVERY = 'its id, or a prefix of the id'
const TYPE = 'an event type, or a family such as session.*; repeatable'

export const commands = { webhooks: declareWebhooks }

/** Declares `wheelhouse webhooks …`. */
function declareWebhooks(webhooks: Command, action: CreateAction): void {
  const webhook = (name: string, description: string) =>
    webhooks.command(name).description(description).argument('<webhook>', WEBHOOK)
  webhooks.command('list').description('list your webhooks, newest first').action(action(list))
  webhook('show', 'show one of your webhooks').action(action(show))
  webhooks
    .command('create')
    .description('register a webhook and show its secret, only this once')
    .argument('<url>', 'address that receives the events')
    .option('--type <filter>', `${TYPE} (default: all)`, collectValues)
    .option('--description <text>', 'what it is for')
    .action(action(create))
  webhook('update', 'change a webhook, or switch it on or off')
    .option('--url <url>', 'address that receives the events')
    .option('--type <filter>', `${TYPE}; replaces all current filters`, collectValues)
    .option('--description <text>', 'a description; "" for none')
    .option('--enable', 'send events from now on')
    .addOption(new Option('--disable', 'send no events, and drop pending deliveries').conflicts('enable'))
    .action(action(update))
  webhook('remove', 'remove a webhook and the log of its deliveries').action(action(remove))
  webhook('rotate-secret', 'replace the secret of a webhook; the old secret also signs for a day')
    .option('--drop-old', 'stop signing with the old secret at once, because it has leaked')
    .action(action(rotateSecret))
  webhook('test', 'send a test event to a webhook and show the outcome')
    .option('--wait <seconds>', 'longest time to wait for the outcome', integer(1, 600), 30)
    .action(action(test))
  webhook('deliveries', 'list the deliveries of a webhook, newest first')
    .addOption(
      choice('--status <status>', 'only deliveries with this status', ['PENDING', 'DELIVERED', 'FAILED']),
    )
    .option('--limit <number>', 'largest number of deliveries', integer(1, 10_000), 50)
    .action(action(deliveries))
  webhook('delivery', 'show a delivery with its event')
    .argument('<delivery>', DELIVERY)
    .action(action(delivery))
  webhook('replay', 'repeat a delivery, or all failed deliveries since a time')
    .argument('[delivery]', DELIVERY)
    .option('--since <time>', 'such as 2026-11-20T09:00 or -2h', parseTime)
    .action(action(replay))
}

/** Prints the caller's webhooks. */
async function list(cli: Context): Promise<void> {
  const { webhooks } = await answerOf(cli.rest.GET('/api/webhooks'))
  cli.out.list(
    webhooks,
    [
      { title: 'ID', value: ({ id }) => id, noTruncate: true },
      { title: 'URL', value: ({ url }) => url },
      { title: 'EVENTS', value: ({ types }) => types.join(', ') },
      { title: 'STATE', value: stateOf },
      { title: 'LAST SUCCESS', value: ({ last_success_at }) => formatTime(last_success_at) },
    ],
    'No webhooks. Register one with: wheelhouse webhooks create',
  )
}

/** Prints one webhook without its secret. */
async function show(cli: Context, idOrName: string): Promise<void> {
  const webhook = await webhookOf(cli, idOrName)
  cli.out.result(webhook, () => showWebhook(cli.out, webhook))
}

interface CreateOptions {
  readonly type?: string[]
  readonly description?: string
}

/** Registers a webhook and prints its signing secret. */
async function create(cli: Context, url: string, { type, description }: CreateOptions): Promise<void> {
  const body = { url, types: validateFilters(type) ?? ['*'], description: description ?? null }
  const webhook = await answerOf(cli.rest.POST('/api/webhooks', { body }))
  const next = `Test it with: wheelhouse webhooks test ${webhook.id}`
  showSecret(cli.out, webhook, `Webhook ${webhook.id} is registered. ${next}`)
}

interface UpdateOptions {
  readonly url?: string
  readonly type?: string[]
  readonly description?: string
  readonly enable?: true
  readonly disable?: true
}

/** Changes the given settings of a webhook. */
async function update(cli: Context, idOrName: string, options: UpdateOptions): Promise<void> {
  const { url, type, description, enable, disable } = options
  const types = validateFilters(type)
  const body = {
    ...(url !== undefined && { url }),
    ...(types && { types }),
    ...(description !== undefined && { description: description || null }),
    ...((enable || disable) && { enabled: enable === true }),
  }
  if (Object.keys(body).length === 0) {
    throw new Failure('usage', 'Set at least one option. See: wheelhouse webhooks update --help')
  }
  const params = { path: { id: await webhookId(cli, idOrName) } }
  const webhook = await answerOf(cli.rest.PATCH('/api/webhooks/{id}', { params, body }))
  cli.out.result(webhook, () => showWebhook(cli.out, webhook))
}

/** Removes a webhook and drops its pending deliveries. */
async function remove(cli: Context, idOrName: string): Promise<void> {
  const { id, url } = await webhookOf(cli, idOrName)
  await cli.prompts.confirm(
    `Remove the webhook to ${url} and the log of its deliveries? That cannot be undone.`,
  )
  await answerOf(cli.rest.DELETE('/api/webhooks/{id}', { params: { path: { id } } }))
  cli.out.result({ id, removed: true }, () => cli.out.line(`The webhook to ${url} is removed.`))
}

/** Replaces the secret of a webhook. The old one also signs for a day, unless it has leaked. */
async function rotateSecret(cli: Context, idOrName: string, { dropOld }: { dropOld?: true }): Promise<void> {
  const { id, url } = await webhookOf(cli, idOrName)
  const deadlineText = dropOld
    ? 'The receiver needs the new secret at once.'
    : 'The receiver needs the new secret within a day.'
  await cli.prompts.confirm(`Replace the secret of the webhook to ${url}? ${deadlineText}`)
  const params = { path: { id } }
  const body = { keep_old: dropOld !== true }
  const webhook = await answerOf(cli.rest.POST('/api/webhooks/{id}/rotate-secret', { params, body }))
  const until = formatTime(webhook.old_secret_until)
  showSecret(
    cli.out,
    webhook,
    until ? `The old secret also signs until ${until}.` : 'The old secret no longer signs.',
  )
}

const POLL_INTERVAL_MS = 250

/** Sends a test event and waits for the outcome. @throws Failure when the delivery fails or is still pending */
async function test(cli: Context, idOrName: string, { wait }: { wait: number }): Promise<void> {
  const id = await webhookId(cli, idOrName)
  const untilMs = performance.now() + wait * 1_000
  let delivery = await answerOf(cli.rest.POST('/api/webhooks/{id}/test', { params: { path: { id } } }))
  while (delivery.status === 'PENDING' && performance.now() < untilMs) {
    await delay(POLL_INTERVAL_MS, undefined, { signal: cli.signal })
    const params = { path: { id, delivery_id: delivery.id } }
    const { event: _, ...settled } = await answerOf(
      cli.rest.GET('/api/webhooks/{id}/deliveries/{delivery_id}', { params }),
    )
    delivery = settled
  }
  cli.out.result(delivery, () => showDelivery(cli.out, delivery))
  if (delivery.status === 'FAILED') {
    throw new Failure(
      'refused',
      `The receiver did not accept the test event: ${deliveryOutcome(delivery) ?? 'no response'}.`,
    )
  }
  if (delivery.status === 'PENDING') {
    const nextCommand = `wheelhouse webhooks delivery ${id} ${delivery.id}`
    throw new Failure(
      'unreachable',
      `The test has no outcome after ${wait} s. Check later with: ${nextCommand}`,
    )
  }
}

interface DeliveriesOptions {
  readonly status?: Delivery['status']
  readonly limit: number
}

/** Prints the deliveries of a webhook. */
async function deliveries(
  cli: Context,
  idOrName: string,
  { status, limit }: DeliveriesOptions,
): Promise<void> {
  const path = { id: await webhookId(cli, idOrName) }
  const found = await readPages<Delivery>({ limit, pageSize: DELIVERY_PAGE }, async (size, before) => {
    const last = before.at(-1)?.id
    const query = { ...(status && { status }), ...(last !== undefined && { before: last }), limit: size }
    const params = { path, query }
    return (await answerOf(cli.rest.GET('/api/webhooks/{id}/deliveries', { params }))).deliveries
  })
  cli.out.list(
    found,
    [
      { title: 'ID', value: ({ id }) => id, noTruncate: true },
      { title: 'WHEN', value: ({ created_at }) => formatTime(created_at) },
      { title: 'EVENT', value: ({ type }) => type },
      { title: 'NUMBER', value: ({ seq }) => seq, right: true },
      { title: 'STATUS', value: (row) => statusPiece(row.status), noTruncate: true },
      { title: 'ATTEMPTS', value: ({ attempts }) => attempts, right: true },
      { title: 'OUTCOME', value: deliveryOutcome },
    ],
    'No matching deliveries.',
  )
}

/** Prints one delivery with its event. */
async function delivery(cli: Context, webhook: string, idOrPrefix: string): Promise<void> {
  const id = await webhookId(cli, webhook)
  const params = { path: { id, delivery_id: await deliveryId(cli, id, idOrPrefix) } }
  const delivery = await answerOf(cli.rest.GET('/api/webhooks/{id}/deliveries/{delivery_id}', { params }))
  cli.out.result(delivery, () => {
    showDelivery(cli.out, delivery)
    cli.out.record([['Data', JSON.stringify(delivery.event.data)]])
  })
}

/** Schedules deliveries that a receiver has missed. The log of deliveries shows the outcome. */
async function replay(
  cli: Context,
  webhook: string,
  delivery: string | undefined,
  { since }: { since?: string },
): Promise<void> {
  if ((delivery === undefined) === (since === undefined)) {
    throw new Failure(
      'usage',
      'Name a delivery, or set a time with --since. See: wheelhouse webhooks replay --help',
    )
  }
  const id = await webhookId(cli, webhook)
  const replayed =
    delivery === undefined
      ? await replayMissed(cli, id, since ?? '')
      : await replayDelivery(cli, id, delivery)
  cli.out.result({ replayed }, () => {
    cli.out.line(replayed === 1 ? 'One event is scheduled again.' : `${replayed} events are scheduled again.`)
    if (replayed > 0) cli.out.note(`See the outcome with: wheelhouse webhooks deliveries ${id}`)
  })
}

async function replayDelivery(cli: Context, id: string, idOrPrefix: string): Promise<number> {
  const path = { id, delivery_id: await deliveryId(cli, id, idOrPrefix) }
  await answerOf(cli.rest.POST('/api/webhooks/{id}/deliveries/{delivery_id}/replay', { params: { path } }))
  return 1
}

/** Replays failed deliveries in batches. The platform skips pending deliveries. */
async function replayMissed(cli: Context, id: string, since: string): Promise<number> {
  for (let total = 0; ; ) {
    const request = cli.rest.POST('/api/webhooks/{id}/replay', { params: { path: { id } }, body: { since } })
    const { replayed, more } = await answerOf(request)
    total += replayed
    if (!more) return total
  }
}

/** Size of one page of deliveries. */
const DELIVERY_PAGE = 100

/** Returns the id of one of the caller's webhooks, from its id, a prefix of the id, or its URL. */
async function webhookId(cli: Context, idOrName: string): Promise<string> {
  return await idOf(idOrName, 'webhook', 'webhooks list', async () => {
    const { webhooks } = await answerOf(cli.rest.GET('/api/webhooks'))
    return webhooks.map(({ id, url: name }) => ({ id, name }))
  })
}

/** Returns one of the caller's webhooks. */
async function webhookOf(cli: Context, idOrName: string): Promise<Schemas['Webhook']> {
  const path = { id: await webhookId(cli, idOrName) }
  return await answerOf(cli.rest.GET('/api/webhooks/{id}', { params: { path } }))
}

/** Returns the id of one of a webhook's newest deliveries, from its id or a prefix of the id. */
async function deliveryId(cli: Context, webhook: string, idOrName: string): Promise<string> {
  if (isFullId(idOrName)) return idOrName.toLowerCase()
  const params = { path: { id: webhook }, query: { limit: DELIVERY_PAGE } }
  const { deliveries } = await answerOf(cli.rest.GET('/api/webhooks/{id}/deliveries', { params }))
  const found = findUnique(deliveries, idOrName, 'delivery', `webhooks deliveries ${webhook}`)
  if (deliveries.length < DELIVERY_PAGE) return found.id
  throw new Failure(
    'usage',
    `The webhook has more than ${DELIVERY_PAGE} deliveries. Type the full id, such as ${found.id}`,
  )
}

type Webhook = Schemas['Webhook']
type Delivery = Schemas['WebhookDelivery']

/** Returns whether a webhook is enabled, and why not. */
function stateOf({ enabled, disabled_reason, failing_since }: Webhook): Piece {
  if (!enabled) return styled('red', `off: ${disabled_reason ?? 'unknown'}`)
  return failing_since === null ? 'on' : styled('yellow', `failing since ${formatTime(failing_since)}`)
}

function showWebhook(out: Output, webhook: Webhook): void {
  out.record([
    ['Id', webhook.id],
    ['URL', webhook.url],
    ['Events', webhook.types.join(', ')],
    ['Description', webhook.description ?? undefined],
    ['State', stateOf(webhook)],
    ['Last success', formatTime(webhook.last_success_at)],
    ['Old secret until', formatTime(webhook.old_secret_until)],
    ['Registered', formatTime(webhook.created_at)],
  ])
}

/** Prints a webhook with its secret. Standard output contains only the secret, so that you can pipe it. */
function showSecret(out: Output, webhook: Schemas['WebhookWithSecret'], notice: string): void {
  out.result(webhook, () => {
    out.note(notice)
    out.note(styled('bold', 'Webhook secret, shown only once:'))
    out.line(webhook.secret)
  })
}

/** Returns the outcome of the newest attempt. */
function deliveryOutcome({ response_status, error }: Delivery): string | undefined {
  if (error !== null) return error
  return response_status === null ? undefined : `answered ${response_status}`
}

function showDelivery(out: Output, delivery: Delivery): void {
  const { duration_ms, next_attempt_at } = delivery
  out.record([
    ['Id', delivery.id],
    [
      'Event',
      `${delivery.type}${delivery.seq === null ? '' : `, number ${delivery.seq}`} (${delivery.event_id})`,
    ],
    ['Status', statusPiece(delivery.status)],
    ['Attempts', delivery.attempts],
    ['Outcome', deliveryOutcome(delivery)],
    ['Response', delivery.response_excerpt ?? undefined],
    ['Duration', duration_ms === null ? undefined : `${duration_ms} ms`],
    ['Next attempt', next_attempt_at === null ? undefined : formatTime(next_attempt_at)],
    ['Created', formatTime(delivery.created_at)],
  ])
}
