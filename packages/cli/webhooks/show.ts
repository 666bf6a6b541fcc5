import type { Context } from '../context.ts'
import { showWebhook } from './view.ts'
import { webhookOf } from './webhook-lookup.ts'

/** One webhook. Its secret was shown when it was made. */
export async function run(cli: Context, idOrName: string): Promise<void> {
  const webhook = await webhookOf(cli, idOrName)
  cli.out.result(webhook, () => showWebhook(cli.out, webhook))
}
