import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { webhookOf } from './webhook-lookup.ts'

/** Removes a webhook and drops its pending deliveries. */
export async function run(cli: Context, idOrName: string): Promise<void> {
  const { id, url } = await webhookOf(cli, idOrName)
  await cli.prompts.confirm(
    `Remove the webhook to ${url} and the log of its deliveries? That cannot be undone.`,
  )
  await answerOf(cli.rest.DELETE('/api/webhooks/{id}', { params: { path: { id } } }))
  cli.out.result({ id, removed: true }, () => cli.out.line(`The webhook to ${url} is removed.`))
}
