import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { formatTime } from '../views.ts'
import { showSecret } from './view.ts'
import { webhookOf } from './webhook-lookup.ts'

/** Replaces the secret of a webhook. The old one also signs for a day, unless it has leaked. */
export async function run(cli: Context, idOrName: string, { dropOld }: { dropOld?: true }): Promise<void> {
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
