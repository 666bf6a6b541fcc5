import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { when } from '../views.ts'
import { webhookOf } from './chosen.ts'
import { showSecret } from './view.ts'

/** A new secret. The old one signs beside it for a day, unless it has leaked. */
export async function run(cli: Context, given: string, { dropOld }: { dropOld?: true }): Promise<void> {
  const { id, url } = await webhookOf(cli, given)
  const then = dropOld
    ? 'The receiver needs the new one at once.'
    : 'The receiver needs the new one within a day.'
  await cli.ask.sure(`Replace the secret of the webhook to ${url}? ${then}`)
  const params = { path: { id } }
  const body = { keep_old: dropOld !== true }
  const webhook = await answerOf(cli.rest.POST('/api/webhooks/{id}/rotate-secret', { params, body }))
  const until = when(webhook.old_secret_until)
  showSecret(
    cli.out,
    webhook,
    until ? `The old secret signs too until ${until}.` : 'The old secret signs no more.',
  )
}
