import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { validateFilters } from '../events/filters.ts'
import { Failure } from '../failure.ts'
import { showWebhook } from './view.ts'
import { webhookId } from './webhook-lookup.ts'

interface Options {
  readonly url?: string
  readonly type?: string[]
  readonly description?: string
  readonly enable?: true
  readonly disable?: true
}

/** Changes the given settings of a webhook. */
export async function run(cli: Context, idOrName: string, options: Options): Promise<void> {
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
