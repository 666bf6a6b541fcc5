import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { validateFilters } from '../events/filters.ts'
import { showSecret } from './view.ts'

interface Options {
  readonly type?: string[]
  readonly description?: string
}

/** Registers a webhook and prints its signing secret. */
export async function run(cli: Context, url: string, { type, description }: Options): Promise<void> {
  const body = { url, types: validateFilters(type) ?? ['*'], description: description ?? null }
  const webhook = await answerOf(cli.rest.POST('/api/webhooks', { body }))
  const next = `Test it with: wheelhouse webhooks test ${webhook.id}`
  showSecret(cli.out, webhook, `Webhook ${webhook.id} is registered. ${next}`)
}
