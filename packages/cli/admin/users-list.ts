import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { formatTime } from '../views.ts'

interface Options {
  readonly search?: string
  readonly role?: Schemas['UserEntry']['roles'][number]
  readonly suspended?: true
  readonly limit: number
}

/** Prints users of the platform. */
export async function run(cli: Context, { suspended, ...options }: Options): Promise<void> {
  const query = { ...options, ...(suspended && { suspended: 'true' as const }) }
  const { users } = await answerOf(cli.rest.GET('/api/admin/users', { params: { query } }))
  cli.out.list(
    users,
    [
      { title: 'ID', value: ({ id }) => id, noTruncate: true },
      { title: 'NAME', value: ({ display_name }) => display_name },
      { title: 'E-MAIL', value: ({ email }) => email },
      { title: 'ROLES', value: ({ roles }) => roles.join(', ') },
      { title: 'SUSPENDED', value: ({ suspended_at }) => formatTime(suspended_at) },
      { title: 'LAST SEEN', value: ({ last_seen_at }) => formatTime(last_seen_at) },
    ],
    'No matching users.',
  )
}
