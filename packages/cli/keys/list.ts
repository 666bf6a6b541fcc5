import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { formatTime } from '../views.ts'

/** Prints the caller's API keys. Without `--all`, only those that work. */
export async function run(cli: Context, { all }: { all?: true }): Promise<void> {
  const { api_keys } = await answerOf(cli.rest.GET('/api/auth/api-keys'))
  cli.out.list(
    api_keys.filter((key) => all || isUsable(key)),
    [
      { title: 'ID', value: ({ id }) => id, noTruncate: true },
      { title: 'NAME', value: ({ name }) => name },
      { title: 'KEY', value: ({ prefix, last4 }) => `${prefix}…${last4}` },
      { title: 'CREATED', value: ({ created_at }) => formatTime(created_at) },
      { title: 'LAST USED', value: ({ last_used_at }) => formatTime(last_used_at) },
      {
        title: 'EXPIRES',
        value: ({ expires_at, revoked_at }) => (revoked_at ? 'revoked' : formatTime(expires_at)),
      },
    ],
    'No API keys. Create one with: wheelhouse keys create',
  )
}

const isUsable = ({ revoked_at, expires_at }: Schemas['ApiKey']) =>
  revoked_at === null && (expires_at === null || Date.parse(expires_at) > Date.now())
