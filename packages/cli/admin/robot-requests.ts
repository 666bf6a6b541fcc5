import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { formatTime } from '../views.ts'

/** Prints the requests for robot types that the platform does not support. */
export async function run(cli: Context, { limit }: { limit: number }): Promise<void> {
  const { robot_requests } = await answerOf(
    cli.rest.GET('/api/admin/robot-requests', { params: { query: { limit } } }),
  )
  cli.out.list(
    robot_requests,
    [
      { title: 'WHEN', value: ({ created_at }) => formatTime(created_at) },
      { title: 'TYPE', value: ({ robot_type }) => robot_type },
      { title: 'FROM', value: ({ name, email }) => (name ? `${name} <${email}>` : email) },
      { title: 'DETAILS', value: ({ details }) => details },
    ],
    'No requests.',
  )
}
