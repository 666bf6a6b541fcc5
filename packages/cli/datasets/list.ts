import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { formatTime } from '../views.ts'

/** Prints the datasets of the caller's robots. */
export async function run(cli: Context): Promise<void> {
  const { datasets } = await answerOf(cli.rest.GET('/api/client/datasets'))
  cli.out.list(
    datasets,
    [
      { title: 'ID', value: ({ id }) => id, noTruncate: true },
      { title: 'ROBOT', value: ({ robot_name }) => robot_name },
      { title: 'TYPE', value: ({ robot_type }) => robot_type },
      { title: 'EPISODES', value: ({ episode_count }) => episode_count, right: true },
      { title: 'EXPORTABLE', value: ({ exportable_count }) => exportable_count, right: true },
      { title: 'MB', value: ({ size_mb }) => size_mb, right: true },
      { title: 'UPDATED', value: ({ updated_at }) => formatTime(updated_at) },
    ],
    'No datasets yet.',
  )
}
