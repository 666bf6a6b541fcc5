import type { Context } from '../context.ts'
import { showWebhook } from './view.ts'
import { webhookOf } from './webhook-lookup.ts'

/** Prints one webhook without its secret. */
export async function run(cli: Context, idOrName: string): Promise<void> {
  const webhook = await webhookOf(cli, idOrName)
  cli.out.result(webhook, () => showWebhook(cli.out, webhook))
}
