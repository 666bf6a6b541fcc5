import { z } from 'zod'

/** What a member may be in an organization. */
export const OrganizationRole = z.enum(['owner', 'admin', 'supervisor', 'operator', 'viewer', 'billing'])
export type OrganizationRole = z.infer<typeof OrganizationRole>

/** What an API key may be limited to. A key without scopes has all of them. */
export const ApiKeyScope = z.enum(['read', 'sessions', 'robots', 'drive', 'billing', 'admin'])
export type ApiKeyScope = z.infer<typeof ApiKeyScope>

interface Permission {
  /** What the action is, for people: it completes the sentence "You may …". */
  readonly text: string
  readonly roles: readonly OrganizationRole[]
  /** The scopes of an API key that include the action; none means that every key includes it. */
  readonly scopes: readonly ApiKeyScope[]
  /** Whether the action concerns one robot, so that a member of some groups may do it for the robots of these groups. */
  readonly perRobot: boolean
}

const managers = ['owner', 'admin'] as const
const supervisors = [...managers, 'supervisor'] as const
const drivers = [...supervisors, 'operator'] as const
const viewers = [...drivers, 'viewer'] as const
const everyone = [...viewers, 'billing'] as const
const payers = [...managers, 'billing'] as const

const ofRobot = (text: string, roles: readonly OrganizationRole[], ...scopes: ApiKeyScope[]): Permission => ({
  text,
  roles,
  scopes,
  perRobot: true,
})
const ofOrganization = (
  text: string,
  roles: readonly OrganizationRole[],
  ...scopes: ApiKeyScope[]
): Permission => ({ text, roles, scopes, perRobot: false })

/**
 * The one table of who may do what in an organization. The platform decides by it on every route, event and socket, and
 * docs/permissions.md is written from it.
 */
export const permissions = {
  'robots.read': ofRobot('see robots, their state, log and health', viewers, 'read'),
  'robots.write': ofRobot('register, change, pair and remove robots', managers, 'robots'),
  'robots.transfer': ofRobot('transfer robots to another organization', ['owner'], 'admin'),
  'sessions.read': ofRobot('see sessions, their events and messages', everyone, 'read'),
  'sessions.watch': ofRobot('watch open sessions: video and telemetry', viewers, 'read'),
  /** Whoever sees a robot may stop it, with any key: a stop waits for nobody. */
  'sessions.stop': ofRobot('stop a robot', viewers),
  'sessions.manage': ofRobot(
    'pause, end and rate sessions, clear stops, ask for extensions, chat',
    supervisors,
    'sessions',
  ),
  'sessions.drive': ofRobot("drive the organization's robots as its own operator", drivers, 'drive'),
  'sessions.take_over': ofRobot(
    'take control of a robot from operators and policies, and accept their requests for help',
    supervisors,
    'drive',
  ),
  'recordings.read': ofRobot('see and download recordings', viewers, 'read'),
  'recordings.write': ofRobot('share, bookmark and delete recordings', supervisors, 'robots'),
  'datasets.read': ofRobot('see datasets and download their exports', viewers, 'read'),
  'datasets.write': ofRobot('export datasets and delete exports', supervisors, 'robots'),
  'billing.read': ofOrganization('see invoices and costs', payers, 'billing'),
  'billing.write': ofOrganization('change the payment method and the billing address', payers, 'billing'),
  'webhooks.manage': ofOrganization('manage webhooks', managers, 'admin'),
  'events.read': ofOrganization('read the event stream', managers, 'read'),
  'organization.read': ofOrganization('see the organization, its members and groups', everyone, 'read'),
  'organization.write': ofOrganization('change the name and settings of the organization', managers, 'admin'),
  'members.manage': ofOrganization('invite, change and remove members, and manage groups', managers, 'admin'),
  'service_accounts.manage': ofOrganization('manage service accounts and their keys', managers, 'admin'),
  'sign_in.manage': ofOrganization('manage single sign-on and provisioning', ['owner'], 'admin'),
  'audit.read': ofOrganization('read and export the audit log', managers, 'admin'),
  'grants.manage': ofOrganization('grant another organization access to data', ['owner'], 'admin'),
} as const satisfies Record<string, Permission>
export type OrganizationAction = keyof typeof permissions
export const organizationActions = Object.keys(permissions) as OrganizationAction[]

/** Returns whether members with a role may perform an action. */
export const roleMay = (role: OrganizationRole, action: OrganizationAction): boolean =>
  permissions[action].roles.some((allowed) => allowed === role)

/** Returns whether a key with these scopes may perform an action; null has all scopes. */
export function scopesInclude(scopes: readonly ApiKeyScope[] | null, action: OrganizationAction): boolean {
  const needed: readonly ApiKeyScope[] = permissions[action].scopes
  return scopes === null || needed.length === 0 || needed.some((scope) => scopes.includes(scope))
}
