import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { formatTime } from '../views.ts'

interface Options {
  readonly state: Schemas['JobState']
  readonly queue?: string
  readonly limit: number
}

/** Prints unfinished background jobs. */
export async function run(cli: Context, query: Options): Promise<void> {
  const { jobs } = await answerOf(cli.rest.GET('/api/admin/jobs', { params: { query } }))
  cli.out.list(
    jobs,
    [
      { title: 'ID', value: ({ id }) => id, noTruncate: true },
      { title: 'QUEUE', value: ({ queue }) => queue },
      { title: 'CREATED', value: ({ created_at }) => formatTime(created_at) },
      { title: 'NEXT', value: ({ next_attempt_at: next }) => (next === null ? '' : formatTime(next)) },
      { title: 'ATTEMPTS', value: ({ attempts }) => attempts, right: true },
      { title: 'PROGRESS', value: ({ progress }) => (progress ? `${progress.done}/${progress.total}` : '') },
      { title: 'ERROR', value: ({ error }) => error },
    ],
    'No matching jobs.',
  )
}
