import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { findUnique } from '../ids.ts'

/** Revokes an API key. */
export async function run(cli: Context, idOrName: string): Promise<void> {
  const { api_keys } = await answerOf(cli.rest.GET('/api/auth/api-keys'))
  const key = findUnique(
    api_keys.filter(({ id, revoked_at }) => revoked_at === null || id === idOrName),
    idOrName,
    'API key',
    'keys list',
  )
  await cli.prompts.confirm(
    `Revoke the API key ${key.name} (${key.prefix}…${key.last4})? All programs that use it stop working.`,
  )
  await answerOf(cli.rest.DELETE('/api/auth/api-keys/{id}', { params: { path: { id: key.id } } }))
  cli.out.result({ id: key.id, revoked: true }, () => cli.out.line(`${key.name} is revoked.`))
}
