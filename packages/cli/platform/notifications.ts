import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { styled } from '../text.ts'
import { formatTime } from '../views.ts'

/** Prints the caller's notifications. Does not mark them as read. */
export async function run(cli: Context, { unread, limit }: { unread?: true; limit: number }): Promise<void> {
  const query = { limit, ...(unread && { unread: 'true' as const }) }
  const { notifications, unread_count } = await answerOf(
    cli.rest.GET('/api/notifications', { params: { query } }),
  )
  cli.out.list(
    notifications,
    [
      { title: 'ID', value: ({ id }) => id, noTruncate: true, right: true },
      { title: 'WHEN', value: ({ created_at }) => formatTime(created_at) },
      { title: 'WHAT', value: ({ type, read_at }) => (read_at ? type : styled('bold', type)) },
      { title: 'MORE', value: ({ data }) => JSON.stringify(data) },
    ],
    'No notifications.',
  )
  if (!cli.out.json) cli.out.note(`${unread_count} unread.`)
}
