import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { Argument, type Command, type Option } from 'commander'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { choice } from './lib/options.ts'
import { formatTime } from './lib/views.ts'

const USER = 'the id of the user'
const ROLES = ['client', 'operator']

export function declareUsers(admin: Command, action: CreateAction, limit: Option): void {
  const users = admin.command('users').description('accounts of the platform')
  const user = (name: string, description: string) =>
    users.command(name).description(description).argument('<user>', USER)
  users
    .command('list')
    .description('list users, newest first')
    .option('--search <words>', 'only users with these words in the name or the e-mail, or with this id')
    .addOption(choice('--role <role>', 'only users with this role', [...ROLES, 'admin']))
    .option('--suspended', 'only suspended users')
    .addOption(limit)
    .action(action(list))
  user('suspend', 'suspend a user, whose credentials and connections are refused at once')
    .requiredOption('--reason <text>', 'the reason, which the user can read')
    .action(action(suspend))
  user('restore', 'end the suspension of a user').action(action(restore))
}

export function declareRoles(admin: Command, action: CreateAction): void {
  const user = (name: string, description: string) =>
    admin.command(name).description(description).argument('<user>', USER)
  user('remove-role', 'remove a role from a user, who cannot choose it again; open sessions continue')
    .addArgument(new Argument('<role>').choices(ROLES))
    .action(action(removeRole))
  user('restore-role', 'restore a role that an admin has removed')
    .addArgument(new Argument('<role>').choices(ROLES))
    .action(action(restoreRole))
}

interface ListOptions {
  readonly search?: string
  readonly role?: Schemas['UserEntry']['roles'][number]
  readonly suspended?: true
  readonly limit: number
}

/** Prints users of the platform. */
async function list(cli: Context, { suspended, ...options }: ListOptions): Promise<void> {
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

/** Suspends a user. The platform shows the reason to the user. */
async function suspend(cli: Context, id: string, { reason }: { reason: string }): Promise<void> {
  const params = { path: { id } }
  await answerOf(cli.rest.POST('/api/admin/users/{id}/suspend', { params, body: { reason } }))
  cli.out.result({ id, reason }, () => cli.out.line(`${id} is suspended.`))
}

/** Ends the suspension of a user. */
async function restore(cli: Context, id: string): Promise<void> {
  await answerOf(cli.rest.POST('/api/admin/users/{id}/restore', { params: { path: { id } } }))
  cli.out.result({ id }, () => cli.out.line(`${id} is no longer suspended.`))
}

/** Removes a role from a user. */
async function removeRole(cli: Context, id: string, role: 'client' | 'operator'): Promise<void> {
  await answerOf(cli.rest.DELETE('/api/admin/users/{id}/roles/{role}', { params: { path: { id, role } } }))
  cli.out.result({ id, role }, () =>
    cli.out.line(`${id} no longer has the role ${role} and cannot choose it again.`),
  )
}

/** Restores a role of a user. */
async function restoreRole(cli: Context, id: string, role: 'client' | 'operator'): Promise<void> {
  await answerOf(cli.rest.POST('/api/admin/users/{id}/roles/{role}', { params: { path: { id, role } } }))
  cli.out.result({ id, role }, () =>
    cli.out.line(`${id} is ${role === 'client' ? 'a client' : 'an operator'} again.`),
  )
}
