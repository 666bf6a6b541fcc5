import {
  ApiKeyScope,
  type OrganizationAction,
  OrganizationRole,
  organizationActions,
  permissions,
} from '@wheelhouse/protocol'
import type { Endpoint } from '../../../core/http/endpoint.ts'

const HEAD = `# Permissions

This page is written from the table in \`packages/protocol/permissions.ts\`, by which the platform decides on every route, event and socket
(\`npm run openapi\` writes it).

An **organization** owns robots, and with them their sessions, recordings, datasets and invoices. Every person has a personal one, with
the id of the person, and may create teams. A request acts for one organization: for the personal one unless the header
\`Wheelhouse-Organization: <id>\` names another one. Routes below \`/api/organizations/{id}\` act for that organization. An API key belongs to
one organization, and acts for no other: one of a team also sees and changes nothing that belongs to its person, such as notifications and the
profile. Ids of other organizations are answered as ids that do not exist.

A member has one role. A member who is limited to **groups** sees and does everything only for the robots of these groups, and
nothing that concerns the whole organization. Only owners make, change and remove owners, and the last owner stays. When a member is
removed or changed, sockets, downloads and video that are no longer allowed end within a second, on every node; if the member drives one of
the organization's robots, it is halted.

The operator of a session and administrators of the platform have their parts in a session beside this table. Whoever sees a robot may
stop it: a stop asks for no scope, and waits for nobody.

`

const cell = (isAllowed: boolean) => (isAllowed ? '●' : '')

/** Returns the page about who may do what, with the routes that ask for each permission. */
export function permissionsPage(endpoints: readonly Endpoint[]): string {
  const roles = OrganizationRole.options
  const table = [
    `| Permission | You may | ${roles.join(' | ')} | Scopes of API keys |`,
    `|---|---|${roles.map(() => ':-:|').join('')}---|`,
    ...organizationActions.map((action) => rowOf(action)),
  ]
  const routes = organizationActions.flatMap((action) => {
    const asking = endpoints.filter(({ access }) => access !== 'public' && access.action === action)
    const names = asking.map(({ method, path }) => `\`${method.toUpperCase()} ${path}\``)
    return names.length === 0 ? [] : [`* **${action}**: ${names.join(', ')}`]
  })
  return `${HEAD}## Roles

${table.join('\n')}

* for the robots of a member's groups, if the member is limited to groups; the others take a member of the whole organization.

## API keys

A key without scopes has all of them. The scopes are ${ApiKeyScope.options.map((scope) => `\`${scope}\``).join(', ')}. Routes without a
permission of this table ask for \`read\` to read, and for \`admin\` otherwise, unless their description says more.

## Routes

${routes.join('\n')}
`
}

function rowOf(action: OrganizationAction): string {
  const { text, roles, scopes, perRobot } = permissions[action]
  const allowed: readonly string[] = roles
  const cells = OrganizationRole.options.map((role) => cell(allowed.includes(role)))
  const needed = scopes.length === 0 ? 'every key' : scopes.map((scope) => `\`${scope}\``).join(', ')
  return `| \`${action}\`${perRobot ? ' \\*' : ''} | ${text} | ${cells.join(' | ')} | ${needed} |`
}
