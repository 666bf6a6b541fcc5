import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'

/** Prints the queues of background jobs. */
export async function run(cli: Context): Promise<void> {
  const { queues } = await answerOf(cli.rest.GET('/api/admin/jobs/queues'))
  cli.out.list(
    queues,
    [
      { title: 'QUEUE', value: ({ name }) => name, noTruncate: true },
      { title: 'FAILED', value: ({ failed }) => failed, right: true },
      { title: 'RETRYING', value: ({ retrying }) => retrying, right: true },
      { title: 'RUNNING', value: ({ running }) => running, right: true },
      { title: 'DUE', value: ({ due }) => due, right: true },
      { title: 'LATER', value: ({ later }) => later, right: true },
      { title: 'OLDEST', value: ({ oldest_due_seconds: age }) => `${Math.round(age)} s`, right: true },
      { title: 'DESCRIPTION', value: ({ description }) => description },
    ],
    'No queues.',
  )
}
