import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { formatTime } from '../views.ts'
import { stateOf } from './view.ts'

/** Prints the caller's webhooks. */
export async function run(cli: Context): Promise<void> {
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
