import type { Context } from '../context.ts'
import { webhookOf } from './chosen.ts'
import { showWebhook } from './view.ts'

/** One webhook. Its secret was shown when it was made. */
export async function run(cli: Context, given: string): Promise<void> {
  const webhook = await webhookOf(cli, given)
  cli.out.result(webhook, () => showWebhook(cli.out, webhook))
}
