import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Command } from 'commander'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { findUnique } from './lib/ids.ts'
import { parseTime } from './lib/options.ts'
import { styled } from './lib/text.ts'
import { formatTime } from './lib/views.ts'

export const commands = { keys: declareKeys }

/** Declares `wheelhouse keys …`: API keys, which require a browser sign-in. */
function declareKeys(keys: Command, action: CreateAction): void {
  keys
    .command('list')
    .description('list your API keys, newest first')
    .option('--all', 'also revoked and expired keys')
    .action(action(list))
  keys
    .command('create')
    .description('create an API key and show it, only this once')
    .argument('<name>', 'purpose of the key')
    .option('--expires <time>', 'such as +90d or 2027-01-01 (default: never)', parseTime)
    .action(action(create))
  keys
    .command('revoke')
    .description('revoke an API key; it stops working at once, everywhere')
    .argument('<key>', 'its id, a prefix of the id, or its name')
    .action(action(revoke))
}

/** Prints the caller's API keys. Without `--all`, only those that work. */
async function list(cli: Context, { all }: { all?: true }): Promise<void> {
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

/** Creates an API key. Standard output contains only the key, so that you can pipe it. */
async function create(cli: Context, name: string, { expires }: { expires?: string }): Promise<void> {
  const body = { name, ...(expires !== undefined && { expires_at: expires }) }
  const key = await answerOf(cli.rest.POST('/api/auth/api-keys', { body }))
  cli.out.result(key, () => {
    cli.out.note(styled('bold', 'Your API key, shown only once:'))
    cli.out.line(key.key)
  })
}

/** Revokes an API key. */
async function revoke(cli: Context, idOrName: string): Promise<void> {
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
