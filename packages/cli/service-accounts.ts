import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { type Command, Option } from 'commander'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { findUnique } from './lib/ids.ts'
import { type InOrganization, inOrganization, organizationOf } from './lib/organization.ts'
import { styled } from './lib/text.ts'
import { formatTime } from './lib/views.ts'

export const commands = { 'service-accounts': declareServiceAccounts }

type Role = Schemas['ServiceAccount']['role']
type Scope = NonNullable<Schemas['ApiKey']['scopes']>[number]
const ROLES: readonly Role[] = ['admin', 'supervisor', 'operator', 'viewer', 'billing']
const SCOPES: readonly Scope[] = ['read', 'sessions', 'robots', 'drive', 'billing', 'admin']

/** Declares `wheelhouse service-accounts …`: programs of an organization, and their API keys. */
function declareServiceAccounts(accounts: Command, action: CreateAction): void {
  inOrganization(accounts.command('list'))
    .description('list the service accounts of your organization, newest first')
    .action(action(list))
  inOrganization(accounts.command('create'))
    .description('create a service account for a program')
    .argument('<name>', 'name of the program')
    .addOption(new Option('--role <role>', 'what the program may be').choices(ROLES).default('operator'))
    .action(action(create))
  inOrganization(accounts.command('remove'))
    .description('remove a service account; its keys stop working at once, everywhere')
    .argument('<account>', ACCOUNT)
    .action(action(remove))
  const keys = accounts.command('keys').description('the API keys of a service account')
  inOrganization(keys.command('list'))
    .description('list the API keys of a service account, newest first')
    .argument('<account>', ACCOUNT)
    .action(action(listKeys))
  inOrganization(keys.command('create'))
    .description('create an API key and show it, only this once')
    .argument('<account>', ACCOUNT)
    .addOption(
      new Option('--scopes <scopes...>', 'what the key may be used for')
        .choices(SCOPES)
        .makeOptionMandatory(),
    )
    .option('--days <days>', 'days until the key expires, at most 365', Number, 90)
    .action(action(createKey))
  inOrganization(keys.command('rotate'))
    .description('create the successor of an API key; both work until the overlap ends')
    .argument('<account>', ACCOUNT)
    .argument('<key>', KEY)
    .option('--overlap <hours>', 'hours for which the old key still works, at most 168', Number, 24)
    .action(action(rotateKey))
  inOrganization(keys.command('revoke'))
    .description('revoke an API key; it stops working at once, everywhere')
    .argument('<account>', ACCOUNT)
    .argument('<key>', KEY)
    .action(action(revokeKey))
}

const ACCOUNT = 'its id, a prefix of the id, or its name'
const KEY = 'its id, a prefix of the id, or its name'

const PATH = '/api/organizations/{id}/service-accounts'
const ACCOUNT_PATH = '/api/organizations/{id}/service-accounts/{account_id}'
const KEYS_PATH = '/api/organizations/{id}/service-accounts/{account_id}/keys'
const KEY_PATH = '/api/organizations/{id}/service-accounts/{account_id}/keys/{key_id}'
const ROTATE_PATH = '/api/organizations/{id}/service-accounts/{account_id}/keys/{key_id}/rotate'

type Scoped = Awaited<ReturnType<typeof organizationOf>>

async function accountsIn(cli: Context, { id, headers }: Scoped) {
  return (await answerOf(cli.rest.GET(PATH, { params: { path: { id } }, headers }))).service_accounts
}

/** Returns the path parameters of an account, and it. */
async function accountOf(cli: Context, scope: Scoped, idOrName: string) {
  const found = findUnique(await accountsIn(cli, scope), idOrName, 'service account', 'service-accounts list')
  return { found, path: { id: scope.id, account_id: found.id } }
}

async function keyOf(cli: Context, scope: Scoped, account: string, idOrName: string) {
  const { path } = await accountOf(cli, scope, account)
  const { api_keys } = await answerOf(cli.rest.GET(KEYS_PATH, { params: { path }, headers: scope.headers }))
  const candidates = api_keys.filter(({ id, revoked_at }) => revoked_at === null || id === idOrName)
  const key = findUnique(candidates, idOrName, 'API key', 'service-accounts keys list')
  return { key, path: { ...path, key_id: key.id } }
}

/** Prints the service accounts of an organization. */
async function list(cli: Context, options: InOrganization): Promise<void> {
  cli.out.list(
    await accountsIn(cli, await organizationOf(cli, options)),
    [
      { title: 'ID', value: ({ id }) => id, noTruncate: true },
      { title: 'NAME', value: ({ name }) => name },
      { title: 'ROLE', value: ({ role }) => role },
      { title: 'KEYS', value: ({ keys }) => String(keys) },
      { title: 'LAST USED', value: ({ last_used_at }) => formatTime(last_used_at) },
    ],
    'No service accounts. Create one with: wheelhouse service-accounts create',
  )
}

/** Creates a service account. */
async function create(cli: Context, name: string, options: InOrganization & { role: Role }): Promise<void> {
  const { id, headers } = await organizationOf(cli, options)
  const body = { name, role: options.role }
  const account = await answerOf(cli.rest.POST(PATH, { params: { path: { id } }, headers, body }))
  cli.out.result(account, () => cli.out.line(account.id))
}

/** Removes a service account. */
async function remove(cli: Context, idOrName: string, options: InOrganization): Promise<void> {
  const scope = await organizationOf(cli, options)
  const { found, path } = await accountOf(cli, scope, idOrName)
  await cli.prompts.confirm(
    `Remove the service account ${found.name}? All programs that use its keys stop working.`,
  )
  await answerOf(cli.rest.DELETE(ACCOUNT_PATH, { params: { path }, headers: scope.headers }))
  cli.out.result({ id: found.id, removed: true }, () => cli.out.line(`${found.name} is removed.`))
}

/** Prints the API keys of a service account. */
async function listKeys(cli: Context, account: string, options: InOrganization): Promise<void> {
  const scope = await organizationOf(cli, options)
  const { path } = await accountOf(cli, scope, account)
  const { api_keys } = await answerOf(cli.rest.GET(KEYS_PATH, { params: { path }, headers: scope.headers }))
  cli.out.list(
    api_keys,
    [
      { title: 'ID', value: ({ id }) => id, noTruncate: true },
      { title: 'NAME', value: ({ name }) => name },
      { title: 'SCOPES', value: ({ scopes }) => scopes?.join(' ') ?? 'all' },
      { title: 'LAST USED', value: ({ last_used_at }) => formatTime(last_used_at) },
      { title: 'FROM', value: ({ last_used_address }) => last_used_address ?? '' },
      { title: 'UNUSED DAYS', value: ({ unused_days }) => String(unused_days ?? '') },
      {
        title: 'EXPIRES',
        value: ({ expires_at, revoked_at }) => (revoked_at ? 'revoked' : formatTime(expires_at)),
      },
    ],
    'No API keys. Create one with: wheelhouse service-accounts keys create',
  )
}

/** Creates an API key. Standard output contains only the key, so that you can pipe it. */
async function createKey(
  cli: Context,
  account: string,
  options: InOrganization & { scopes: Scope[]; days: number },
): Promise<void> {
  const scope = await organizationOf(cli, options)
  const { path } = await accountOf(cli, scope, account)
  const body = { scopes: options.scopes, expiresInDays: options.days }
  show(cli, await answerOf(cli.rest.POST(KEYS_PATH, { params: { path }, headers: scope.headers, body })))
}

/** Creates the successor of an API key. */
async function rotateKey(
  cli: Context,
  account: string,
  idOrName: string,
  options: InOrganization & { overlap: number },
): Promise<void> {
  const scope = await organizationOf(cli, options)
  const { path } = await keyOf(cli, scope, account, idOrName)
  const body = { overlapHours: options.overlap }
  show(cli, await answerOf(cli.rest.POST(ROTATE_PATH, { params: { path }, headers: scope.headers, body })))
}

function show(cli: Context, created: Schemas['CreatedApiKey']): void {
  cli.out.result(created, () => {
    cli.out.note(styled('bold', 'The API key, shown only once:'))
    cli.out.line(created.key)
  })
}

/** Revokes an API key. */
async function revokeKey(
  cli: Context,
  account: string,
  idOrName: string,
  options: InOrganization,
): Promise<void> {
  const scope = await organizationOf(cli, options)
  const { key, path } = await keyOf(cli, scope, account, idOrName)
  await cli.prompts.confirm(`Revoke the API key ${key.name} (${key.prefix}…${key.last4})?`)
  await answerOf(cli.rest.DELETE(KEY_PATH, { params: { path }, headers: scope.headers }))
  cli.out.result({ id: key.id, revoked: true }, () => cli.out.line(`${key.name} is revoked.`))
}
