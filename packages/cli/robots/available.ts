import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { formatTime } from '../views.ts'

/** Prints the robots that are available to the caller as an operator. */
export async function run(cli: Context): Promise<void> {
  const { robots } = await answerOf(cli.rest.GET('/api/operator/available-robots'))
  cli.out.list(
    robots,
    [
      { title: 'ID', value: ({ id }) => id, noTruncate: true },
      { title: 'NAME', value: ({ name }) => name },
      { title: 'TYPE', value: ({ robot_type }) => robot_type },
      { title: 'TAGS', value: ({ tags }) => tags.join(', ') },
      { title: 'LAST HEARTBEAT', value: ({ last_heartbeat }) => formatTime(last_heartbeat) },
    ],
    'No robot of a type that you are certified for is available.',
  )
}
