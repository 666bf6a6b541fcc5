import { randomUUID } from 'node:crypto'
import { exampleIds } from '@wheelhouse/protocol'
import type { Access } from '../../../src/core/http/endpoint.ts'
import { datasetsOf } from '../world/episodes.ts'
import { createTeam } from '../world/organizations.ts'
import {
  type Attempt,
  type AuthorizationWorld,
  type Caller,
  callers,
  pictureForm,
  STREAM,
} from './authorization-world.ts'

type Statuses = Readonly<Record<Caller, number>>

/** Which callers a route of the API admits. */
export interface Rule {
  /** The access that the route has to declare. It refuses with 403 before the route does anything. */
  readonly access: Access
  /** The status that each caller gets, from the access or from the route itself. */
  readonly expected: Statuses
  /** The status of a public route for the token of the robot, if it differs from that of other callers. */
  readonly answersRobot?: number
  /** Creates the objects of an attempt. An attempt that succeeds uses them up; refused callers share them. */
  readonly attempt?: (at: AuthorizationWorld) => Attempt | Promise<Attempt>
}

/** The id of a publisher or a viewer that does not exist. */
const RESOURCE = `${randomUUID()}.${randomUUID()}`

/** Returns a rule with the same status for all callers, except these. */
const rule = (access: Access, status: number, except: Partial<Statuses> = {}): Rule => ({
  access,
  expected: { ...(Object.fromEntries(callers.map((caller) => [caller, status])) as Statuses), ...except },
})
/** Returns the rule with other statuses for these callers. */
const but = ({ access, expected }: Rule, except: Partial<Statuses>): Rule => ({
  access,
  expected: { ...expected, ...except },
})

/** Expects a route that asks for no credential. */
const open = (status: number) => rule('public', status)
const everyone = (status: number) => rule({}, status)
/** Refuses programs, too, which are not among the callers. */
const people = ({ access, expected }: Rule): Rule => ({
  access: { ...Object(access), person: true },
  expected,
})
/** Expects session tokens to pass and API keys to be refused. */
const sessionOnly = (status: number) =>
  rule({ sessionOnly: true }, status, { 'client key': 403, 'operator key': 403, 'admin key': 403 })
/** Expects clients to pass; `foreign` is the status for another client, who does not own the object. */
const clients = (status: number, foreign = status) =>
  rule({ role: 'client' }, 403, { client: status, 'client key': status, 'other client': foreign })
const operators = (status: number, foreign = status) =>
  rule({ role: 'operator' }, 403, { operator: status, 'operator key': status, 'other operator': foreign })
/** Expects clients to pass with a session token only. */
const clientsWithSessionToken = (status: number) =>
  rule({ role: 'client', sessionOnly: true }, 403, { client: status, 'other client': status })
const operatorsWithSessionToken = (status: number) =>
  rule({ role: 'operator', sessionOnly: true }, 403, { operator: status, 'other operator': status })
const admins = (status: number) => rule({ role: 'admin' }, 403, { admin: status, 'admin key': status })
/** Expects the user of an object to pass, and 404 for all other callers. */
const onlyClient = (status: number) => rule({}, 404, { client: status, 'client key': status })
/** Expects the owner of the robot and admins to pass, and 404 for all other callers. */
const owners = (status: number) => but(onlyClient(status), { admin: status, 'admin key': status })
/** Expects both sides of a session and admins to pass, and 404 for all other callers. */
const participants = (status: number, forAdmins = status) =>
  but(onlyClient(status), {
    operator: status,
    'operator key': status,
    admin: forAdmins,
    'admin key': forAdmins,
  })

/** Expects the manager of the organization to pass, and 404 for everybody who acts for another one. */
const accountManagers = (status: number) => rule({}, 404, { client: status, 'client key': status })
const newAccount = async (at: AuthorizationWorld) => {
  const path = `/api/organizations/${at.client.id}/service-accounts`
  return `${path}/${(await at.client.post(path, { name: 'x' })).body.id}`
}
const newAccountKey = async (at: AuthorizationWorld) => {
  const path = `${await newAccount(at)}/keys`
  return `${path}/${(await at.client.post(path, { scopes: ['read'], expiresInDays: 1 })).body.id}`
}
/** Expects 404 for a route of the settings of sign-in of an organization that nobody is a member of. */
const strangers = (path: string, body?: object): Rule => ({
  ...rule({}, 404),
  attempt: () => ({ path: `/api/organizations/${randomUUID()}${path}`, ...(body && { body }) }),
})

/** The rule of every route of the API, by method and path. */
export const routeRules: Readonly<Record<string, Rule>> = {
  'GET /api/health': open(200),
  'GET /api/auth/cli': open(200),
  'GET /api/openapi.json': open(200),

  // Callers are owners of their personal organizations: another one is unknown to them.
  'GET /api/organizations/{id}/domains': strangers('/domains'),
  'POST /api/organizations/{id}/domains': strangers('/domains', { domain: 'example.com' }),
  'POST /api/organizations/{id}/domains/{domain_id}/verify': strangers(`/domains/${randomUUID()}/verify`),
  'DELETE /api/organizations/{id}/domains/{domain_id}': strangers(`/domains/${randomUUID()}`),
  'GET /api/organizations/{id}/scim-tokens': strangers('/scim-tokens'),
  'POST /api/organizations/{id}/scim-tokens': strangers('/scim-tokens', { name: 'x' }),
  'DELETE /api/organizations/{id}/scim-tokens/{token_id}': strangers(`/scim-tokens/${randomUUID()}`),
  'GET /api/organizations/{id}/role-mappings': strangers('/role-mappings'),
  'POST /api/organizations/{id}/role-mappings': strangers('/role-mappings', { name: 'x', role: 'viewer' }),
  'DELETE /api/organizations/{id}/role-mappings/{mapping_id}': strangers(`/role-mappings/${randomUUID()}`),

  'GET /api/organizations/{id}/sign-in': strangers('/sign-in'),
  'PUT /api/organizations/{id}/sign-in': strangers('/sign-in', {
    issuer: 'https://login.example.com',
    client_id: 'x',
    client_secret: 'x',
  }),
  'DELETE /api/organizations/{id}/sign-in': strangers('/sign-in'),

  'GET /api/auth/profile': everyone(200),
  'POST /api/auth/profile': { ...people(everyone(200)), attempt: () => ({ body: {} }) },
  'POST /api/auth/sync': sessionOnly(200),
  'GET /api/auth/check-onboarding': sessionOnly(200),
  'POST /api/auth/data-export': {
    ...sessionOnly(202),
    attempt: (at) => at.removeDataExports(),
  },
  'GET /api/auth/data-exports': sessionOnly(200),
  'GET /api/auth/data-exports/{id}': {
    ...but(sessionOnly(404), { client: 200 }),
    attempt: async (at) => ({ path: `/api/auth/data-exports/${await at.dataExported()}` }),
  },
  'GET /api/auth/data-exports/{id}/download': {
    ...but(sessionOnly(404), { client: 200 }),
    attempt: async (at) => ({ path: `/api/auth/data-exports/${await at.dataExported()}/download` }),
  },
  // Without the right confirmation nobody deletes an account.
  'DELETE /api/auth/account': { ...sessionOnly(400), attempt: () => ({ body: { confirm: 'someone' } }) },

  'GET /api/organizations/{id}/grants': {
    ...rule({}, 404, { client: 200, 'client key': 200 }),
    attempt: (at) => ({ path: `/api/organizations/${at.client.id}/grants` }),
  },
  'POST /api/organizations/{id}/grants': {
    ...rule({}, 404, { client: 201, 'client key': 201 }),
    attempt: async (at) => ({
      path: `/api/organizations/${at.client.id}/grants`,
      body: await at.newGrant(),
    }),
  },
  'DELETE /api/organizations/{id}/grants/{grant_id}': {
    ...rule({}, 404, { client: 204, 'client key': 204 }),
    attempt: async (at) => ({
      path: `/api/organizations/${at.client.id}/grants/${await at.granted()}`,
    }),
  },
  'GET /api/auth/api-keys': sessionOnly(200),
  'POST /api/auth/api-keys': { ...sessionOnly(201), attempt: () => ({ body: { name: 'x' } }) },
  'DELETE /api/auth/api-keys/{id}': {
    ...but(sessionOnly(404), { client: 204 }),
    attempt: async (at) => ({ path: `/api/auth/api-keys/${(await at.client.key()).id}` }),
  },

  'GET /api/organizations': everyone(200),
  'POST /api/organizations': { ...sessionOnly(201), attempt: () => ({ body: { name: 'Team' } }) },
  ...Object.fromEntries(
    (
      [
        ['GET /api/organizations/{id}', '', 200],
        ['PATCH /api/organizations/{id}', '', 409, { name: 'x' }], // a personal one has the name of its person
        ['GET /api/organizations/{id}/members', '/members', 200],
        [
          'PATCH /api/organizations/{id}/members/{user_id}',
          `/members/${randomUUID()}`,
          404,
          { role: 'viewer' },
        ],
        ['DELETE /api/organizations/{id}/members/{user_id}', `/members/${randomUUID()}`, 404],
        ['GET /api/organizations/{id}/invitations', '/invitations', 200],
        ['DELETE /api/organizations/{id}/invitations/{invitation_id}', `/invitations/${randomUUID()}`, 404],
        ['GET /api/organizations/{id}/groups', '/groups', 200],
        ['PATCH /api/organizations/{id}/groups/{group_id}', `/groups/${randomUUID()}`, 404, { name: 'x' }],
        ['DELETE /api/organizations/{id}/groups/{group_id}', `/groups/${randomUUID()}`, 404],
      ] as const
    ).map(([route, path, status, body]) => [
      route,
      {
        ...onlyClient(status),
        attempt: (at: AuthorizationWorld) => ({ path: `/api/organizations/${at.client.id}${path}`, body }),
      },
    ]),
  ),
  'POST /api/organizations/{id}/invitations': {
    ...onlyClient(201),
    attempt: (at) => ({
      path: `/api/organizations/${at.client.id}/invitations`,
      body: { email: `${randomUUID()}@test.local`, role: 'viewer' },
    }),
  },
  'POST /api/organizations/{id}/groups': {
    ...onlyClient(201),
    attempt: (at) => ({ path: `/api/organizations/${at.client.id}/groups`, body: { name: randomUUID() } }),
  },
  'GET /api/invitations': sessionOnly(200),
  'POST /api/invitations/{token}/accept': {
    ...sessionOnly(404),
    attempt: () => ({ path: `/api/invitations/${randomUUID()}/accept` }),
  },
  'POST /api/client/robots/{id}/transfer': {
    ...clients(204, 404),
    attempt: async (at) => ({
      path: `/api/client/robots/${(await at.world.robot(at.client)).id}/transfer`,
      body: { organizationId: await createTeam(at.client) },
    }),
  },

  'GET /api/client/robots': clients(200),
  'GET /api/client/robot-counts': clients(200),
  'POST /api/client/robots': { ...clients(201), attempt: (at) => ({ body: at.newRobot() }) },
  'GET /api/client/robots/{id}': {
    ...clients(200, 404),
    attempt: (at) => ({ path: `/api/client/robots/${at.robot.id}` }),
  },
  'PATCH /api/client/robots/{id}': {
    ...clients(200, 404),
    attempt: (at) => ({ path: `/api/client/robots/${at.robot.id}`, body: { notes: 'x' } }),
  },
  'DELETE /api/client/robots/{id}': {
    ...clients(204, 404),
    attempt: async (at) => ({ path: `/api/client/robots/${(await at.world.robot(at.client)).id}` }),
  },
  'GET /api/client/robots/{id}/data': {
    ...clients(200, 404),
    attempt: (at) => ({ path: `/api/client/robots/${at.robot.id}/data` }),
  },
  'GET /api/client/robots/{id}/health': {
    ...clients(200, 404),
    attempt: (at) => ({ path: `/api/client/robots/${at.robot.id}/health` }),
  },
  'GET /api/client/robots/{id}/logs': {
    ...clients(200, 404),
    attempt: (at) => ({ path: `/api/client/robots/${at.robot.id}/logs` }),
  },
  'POST /api/client/robots/{id}/token': {
    ...clients(201, 404),
    attempt: async (at) => ({ path: `/api/client/robots/${(await at.world.robot(at.client)).id}/token` }),
  },

  'POST /api/client/robots/{id}/pairing-code': {
    ...clients(201, 404),
    attempt: (at) => ({ path: `/api/client/robots/${at.robot.id}/pairing-code` }),
  },
  'POST /api/pairing': {
    ...open(404),
    attempt: () => ({ body: { code: '22222-22222' } }),
  },
  // Robots and viewers bring their own credentials, which test/full/video checks. JSON is refused before them.
  'POST /api/robots/{id}/whip/{camera}': {
    ...open(415),
    attempt: (at) => ({ path: `/api/robots/${at.robot.id}/whip/front`, body: {} }),
  },
  'PATCH /api/robots/{id}/whip/{camera}/{resource}': {
    ...open(415),
    attempt: (at) => ({ path: `/api/robots/${at.robot.id}/whip/front/${RESOURCE}`, body: {} }),
  },
  'DELETE /api/robots/{id}/whip/{camera}/{resource}': {
    ...open(401),
    answersRobot: 404,
    attempt: (at) => ({ path: `/api/robots/${at.robot.id}/whip/front/${RESOURCE}` }),
  },
  'GET /api/sessions/{id}/cameras': {
    ...participants(200),
    attempt: (at) => ({ path: `/api/sessions/${at.sessionId}/cameras` }),
  },
  'POST /api/sessions/{id}/whep/{camera}': {
    ...open(415),
    attempt: (at) => ({ path: `/api/sessions/${at.sessionId}/whep/front`, body: {} }),
  },
  'PATCH /api/sessions/{id}/whep/{camera}/{resource}': {
    ...open(415),
    attempt: (at) => ({ path: `/api/sessions/${at.sessionId}/whep/front/${RESOURCE}`, body: {} }),
  },
  'DELETE /api/sessions/{id}/whep/{camera}/{resource}': {
    ...open(404),
    attempt: (at) => ({ path: `/api/sessions/${at.sessionId}/whep/front/${RESOURCE}` }),
  },
  'GET /api/recordings': everyone(200),
  'GET /api/recordings/{id}': {
    ...participants(200),
    attempt: async (at) => ({ path: `/api/recordings/${await at.recorded()}` }),
  },
  'GET /api/sessions/{id}/recording': {
    ...participants(200),
    attempt: async (at) => {
      await at.recorded()
      return { path: `/api/sessions/${at.sessionId}/recording` }
    },
  },
  'GET /api/recordings/{id}/parts': {
    ...participants(200),
    attempt: async (at) => ({ path: `/api/recordings/${await at.recorded()}/parts` }),
  },
  'GET /api/recordings/{id}/file': {
    ...participants(200),
    attempt: async (at) => ({ path: `/api/recordings/${await at.recorded()}/file` }),
  },
  'GET /api/recordings/{id}/segments/{stream}/{number}': {
    ...participants(200),
    attempt: async (at) => ({ path: `/api/recordings/${await at.recorded()}/segments/${STREAM}/0` }),
  },
  'GET /api/recordings/{id}/downloads': {
    ...participants(200),
    attempt: async (at) => ({ path: `/api/recordings/${await at.recorded()}/downloads` }),
  },
  'POST /api/recordings/{id}/shares': {
    ...owners(201),
    attempt: async (at) => ({ path: `/api/recordings/${await at.recorded()}/shares`, body: {} }),
  },
  'GET /api/recordings/{id}/shares': {
    ...owners(200),
    attempt: async (at) => ({ path: `/api/recordings/${await at.recorded()}/shares` }),
  },
  'DELETE /api/recordings/{id}/shares/{share}': {
    ...owners(204),
    attempt: async (at) => ({ path: await at.shared() }),
  },
  'GET /api/recordings/{id}/bookmarks': {
    ...participants(200),
    attempt: async (at) => ({ path: `/api/recordings/${await at.recorded()}/bookmarks` }),
  },
  'POST /api/recordings/{id}/bookmarks': {
    ...participants(201),
    attempt: async (at) => ({
      path: `/api/recordings/${await at.recorded()}/bookmarks`,
      body: { at: new Date().toISOString(), label: 'here' },
    }),
  },
  'DELETE /api/recordings/{id}/bookmarks/{bookmark}': {
    ...participants(204),
    attempt: async (at) => {
      const path = `/api/recordings/${await at.recorded()}/bookmarks`
      const { body } = await at.operator.post(path, { at: new Date().toISOString(), label: 'here' })
      return { path: `${path}/${body.id}` }
    },
  },
  'DELETE /api/recordings/{id}': {
    ...owners(204),
    attempt: async (at) => ({ path: `/api/recordings/${await at.recorded()}` }),
  },
  // The token in the path is the credential.
  'GET /api/shared/recordings/{token}': {
    ...open(404),
    attempt: () => ({ path: `/api/shared/recordings/${'x'.repeat(43)}` }),
  },
  'GET /api/shared/recordings/{token}/parts': {
    ...open(404),
    attempt: () => ({ path: `/api/shared/recordings/${'x'.repeat(43)}/parts` }),
  },
  'GET /api/shared/recordings/{token}/file': {
    ...open(404),
    attempt: () => ({ path: `/api/shared/recordings/${'x'.repeat(43)}/file` }),
  },
  'GET /api/shared/recordings/{token}/segments/{stream}/{number}': {
    ...open(404),
    attempt: () => ({ path: `/api/shared/recordings/${'x'.repeat(43)}/segments/${randomUUID()}/0` }),
  },
  'GET /api/sessions/{id}/episodes': {
    ...participants(200),
    attempt: (at) => ({ path: `/api/sessions/${at.sessionId}/episodes` }),
  },
  // The session is only planned; test/fast/recordings marks episodes in open ones.
  'POST /api/sessions/{id}/episodes': {
    ...participants(409),
    attempt: (at) => ({ path: `/api/sessions/${at.sessionId}/episodes`, body: { action: 'start' } }),
  },
  'GET /api/client/robots/{id}/cameras': {
    ...clients(200, 404),
    attempt: (at) => ({ path: `/api/client/robots/${at.robot.id}/cameras` }),
  },
  'PATCH /api/client/robots/{id}/cameras/{camera}': {
    ...clients(200, 404),
    attempt: async (at) => {
      await at.addCamera('front', 0)
      return { path: `/api/client/robots/${at.robot.id}/cameras/front`, body: { label: 'Front' } }
    },
  },
  'DELETE /api/client/robots/{id}/cameras/{camera}': {
    ...clients(204, 404),
    attempt: async (at) => {
      await at.addCamera('rear', 1)
      return { path: `/api/client/robots/${at.robot.id}/cameras/rear` }
    },
  },
  'POST /api/client/robots/{id}/whep/{camera}': {
    ...clients(415),
    attempt: (at) => ({ path: `/api/client/robots/${at.robot.id}/whep/front`, body: {} }),
  },
  'PATCH /api/client/robots/{id}/whep/{camera}/{resource}': {
    ...clients(415),
    attempt: (at) => ({ path: `/api/client/robots/${at.robot.id}/whep/front/${RESOURCE}`, body: {} }),
  },
  'DELETE /api/client/robots/{id}/whep/{camera}/{resource}': {
    ...clients(404),
    attempt: (at) => ({ path: `/api/client/robots/${at.robot.id}/whep/front/${RESOURCE}` }),
  },
  'GET /api/operator/robots/{id}': {
    ...operators(200),
    attempt: (at) => ({ path: `/api/operator/robots/${at.robot.id}` }),
  },

  'GET /api/client/datasets': clients(200),
  'GET /api/client/datasets/{id}/episodes': {
    ...clients(200, 404),
    attempt: async (at) => ({ path: `/api/client/datasets/${(await datasetsOf(at.client))[0].id}/episodes` }),
  },

  'POST /api/payments/customer': clientsWithSessionToken(200),
  'POST /api/payments/setup-intent': clientsWithSessionToken(201),
  'POST /api/payments/portal': clientsWithSessionToken(201),
  'GET /api/payments/connect': operatorsWithSessionToken(200),
  'POST /api/payments/connect': operatorsWithSessionToken(200),
  'GET /api/payments/payout': operatorsWithSessionToken(200),
  'POST /api/payments/webhook': { ...open(400), attempt: () => ({ body: {} }) }, // unsigned
  'POST /api/payments/payout': operatorsWithSessionToken(409), // without earnings

  'GET /api/operator/certifications': operators(200),
  'POST /api/operator/certifications': {
    ...people(operators(201)),
    attempt: (at) => ({ body: { robot_type: `type-${at.nextNumber()}` } }),
  },
  'GET /api/operator/available-robots': operators(200),
  'GET /api/operator/available-robot-counts': operators(200),
  'PATCH /api/admin/robot-models/{id}': {
    ...admins(200),
    attempt: async () => ({ path: '/api/admin/robot-models/ur5e', body: { control_schema: null } }),
  },
  'GET /api/admin/certifications': admins(200),
  'POST /api/admin/certifications/{id}/approve': {
    ...admins(200),
    attempt: async (at) => ({ path: `/api/admin/certifications/${await at.requested()}/approve` }),
  },
  'POST /api/admin/certifications/{id}/reject': {
    ...admins(200),
    attempt: async (at) => ({
      path: `/api/admin/certifications/${await at.requested()}/reject`,
      body: { reason: 'Not yet' },
    }),
  },
  'POST /api/admin/certifications/{id}/revoke': {
    ...admins(200),
    attempt: async (at) => ({
      path: `/api/admin/certifications/${await at.certified()}/revoke`,
      body: { reason: 'No longer' },
    }),
  },
  'DELETE /api/auth/roles/{role}': {
    // Clients have robots here.
    ...but(everyone(404), { client: 409, 'client key': 409, 'other client': 409 }),
    attempt: async (at) => {
      await at.world.robot(at.users['other client'])
      return { path: '/api/auth/roles/client' }
    },
  },
  'DELETE /api/admin/users/{id}/roles/{role}': {
    ...admins(204),
    attempt: async (at) => ({ path: `/api/admin/users/${(await at.world.operator()).id}/roles/operator` }),
  },
  'GET /api/admin/sessions': admins(200),
  'GET /api/admin/robots': admins(200),
  'GET /api/admin/users': admins(200),
  'GET /api/admin/users/{id}': {
    ...admins(200),
    attempt: (at) => ({ path: `/api/admin/users/${at.client.id}` }),
  },
  'POST /api/admin/users/{id}/suspend': {
    ...admins(204),
    attempt: async (at) => ({
      path: `/api/admin/users/${(await at.world.newUser()).id}/suspend`,
      body: { reason: 'Unsafe driving' },
    }),
  },
  'POST /api/admin/users/{id}/restore': {
    ...admins(409), // the user is not suspended
    attempt: (at) => ({ path: `/api/admin/users/${at.client.id}/restore` }),
  },
  'POST /api/admin/users/{id}/roles/{role}': {
    ...admins(404), // no content was removed from them
    attempt: (at) => ({ path: `/api/admin/users/${at.client.id}/roles/client` }),
  },

  'POST /api/auth/avatar': { ...sessionOnly(200), attempt: () => ({ body: pictureForm() }) },
  'GET /media/avatars/{name}.webp': {
    ...open(200),
    attempt: (at) => ({ path: at.avatarPath }),
  },
  'GET /api/client/profile': clients(200),
  'PATCH /api/client/profile': { ...clients(200), attempt: () => ({ body: { country: 'DE' } }) },
  'GET /api/operator/profile': operators(200),
  'POST /api/operator/profile': { ...people(operators(200)), attempt: () => ({ body: {} }) },
  'GET /api/operator/schedule': operators(200),
  'POST /api/operator/schedule': {
    ...people(operators(200)),
    attempt: () => ({ body: { timezone: 'UTC', slots: [] } }),
  },
  'GET /api/operator/availability': operators(200),

  'GET /api/admin/audit': admins(200),
  'GET /api/organizations/{id}/audit': {
    ...rule({}, 404, { client: 200, 'client key': 200 }),
    attempt: (at) => ({ path: `/api/organizations/${at.client.id}/audit` }),
  },
  'GET /api/admin/overview': admins(200),
  'GET /api/admin/jobs': admins(200),
  'GET /api/admin/jobs/queues': admins(200),
  // The job does not exist, so admins get a conflict.
  'POST /api/admin/jobs/{id}/retry': {
    ...admins(409),
    attempt: () => ({ path: `/api/admin/jobs/${exampleIds.job}/retry` }),
  },
  'POST /api/admin/jobs/{id}/discard': {
    ...admins(409),
    attempt: () => ({ path: `/api/admin/jobs/${exampleIds.job}/discard` }),
  },

  'GET /api/public/pricing': open(200),
  'GET /api/client/invoices': clients(200),
  'GET /api/client/invoices/{id}': {
    ...clients(200, 404),
    attempt: async (at) => ({ path: `/api/client/invoices/${await at.invoiced()}` }),
  },
  'GET /api/client/live-robots': clients(200),
  'GET /api/client/activity': clients(200),
  'GET /api/client/overview': clients(200),
  'GET /api/operator/overview': operators(200),
  'GET /api/client/stats': clients(200),
  'GET /api/operator/stats': operators(200),
  'POST /api/admin/clients/{id}/plan': {
    ...admins(200),
    attempt: (at) => ({ path: `/api/admin/clients/${at.client.id}/plan`, body: { plan: 'fleet' } }),
  },
  'GET /api/stats': open(200),
  'GET /api/search': { ...everyone(200), attempt: () => ({ path: '/api/search?q=robot' }) },
  'GET /api/robots': { ...open(200), attempt: () => ({ path: '/api/robots' }) },
  'GET /api/robots/{id}': { ...open(200), attempt: () => ({ path: '/api/robots/so-101' }) },
  'POST /api/contact': {
    ...open(201),
    attempt: () => ({
      body: { name: 'A', email: 'a@example.com', category: 'Other', subject: 'x', message: 'x' },
    }),
  },
  'POST /api/robot-request': {
    ...open(201),
    attempt: () => ({ body: { email: 'a@example.com', robot_type: 'x' } }),
  },
  'GET /api/admin/contact-messages': admins(200),
  'GET /api/admin/robot-requests': admins(200),

  'GET /api/sessions': everyone(200),
  'GET /api/session-counts': everyone(200),
  'GET /api/session-robots': everyone(200),
  'POST /api/sessions': {
    // An admin must name an operator to start for; this request names none.
    ...but(operators(201), { admin: 400, 'admin key': 400 }),
    access: {},
    attempt: (at) => ({ body: { robotId: at.robot.id, scheduledFor: at.freeHour() } }),
  },
  'GET /api/sessions/{id}': { ...participants(200), attempt: (at) => at.ofSession() },
  'PATCH /api/sessions/{id}': {
    ...participants(200, 403),
    attempt: async (at) => ({ path: `/api/sessions/${await at.scheduled()}`, body: { action: 'cancel' } }),
  },
  'GET /api/sessions/{id}/messages': { ...participants(200), attempt: (at) => at.ofSession('/messages') },
  'POST /api/sessions/{id}/messages': {
    ...participants(201),
    attempt: (at) => at.ofSession('/messages', { body: 'hello' }),
  },
  'GET /api/sessions/{id}/control': { ...participants(200), attempt: (at) => at.ofSession('/control') },
  // The session is only planned, so those who may hold control get a conflict.
  'POST /api/sessions/{id}/control': {
    ...participants(409, 403),
    attempt: (at) => at.ofSession('/control', { action: 'take_over' }),
  },
  'GET /api/sessions/{id}/events': { ...participants(200), attempt: (at) => at.ofSession('/events') },

  // The session is only planned, so the permitted callers get a conflict.
  'POST /api/sessions/{id}/extend': {
    ...but(participants(403), { client: 409, 'client key': 409 }),
    attempt: (at) => at.ofSession('/extend', { additionalMinutes: 5 }),
  },
  'POST /api/sessions/{id}/rate': {
    ...clients(409, 404),
    attempt: (at) => at.ofSession('/rate', { rating: 5 }),
  },
  'POST /api/sessions/{id}/ticket': {
    ...participants(409),
    attempt: (at) => at.ofSession('/ticket', { part: 'watch' }),
  },
  'POST /api/sessions/{id}/foxglove': {
    ...participants(409),
    attempt: (at) => at.ofSession('/foxglove', {}),
  },
  'POST /api/sessions/export': { ...everyone(200), attempt: () => ({ body: { format: 'csv' } }) },

  'POST /api/session-exports/count': {
    ...everyone(200),
    attempt: () => ({ body: { format: 'csv' } }),
  },
  'POST /api/session-exports': {
    // Every user has as many exports as possible, because a finished one would notify its user.
    ...everyone(409),
    attempt: async (at) => {
      await at.fillExports()
      return { body: { format: 'csv' } }
    },
  },
  'POST /api/client/datasets/exports': {
    ...clients(404),
    attempt: () => ({
      body: { format: 'lerobot_v3', name: 'cubes', fps: 30, episode_ids: [randomUUID()] },
    }),
  },
  'GET /api/client/datasets/exports': clients(200),
  'GET /api/client/datasets/exports/{id}': {
    ...clients(200, 404),
    attempt: async (at) => ({ path: `/api/client/datasets/exports/${await at.datasetExported()}` }),
  },
  'DELETE /api/client/datasets/exports/{id}': {
    ...clients(204, 404),
    attempt: async (at) => ({ path: `/api/client/datasets/exports/${await at.datasetExported()}` }),
  },
  'GET /api/session-exports': everyone(200),
  'GET /api/session-exports/{id}': {
    ...onlyClient(200),
    attempt: async (at) => ({ path: `/api/session-exports/${await at.exported()}` }),
  },
  'GET /api/session-exports/{id}/download': {
    ...onlyClient(200),
    attempt: async (at) => ({ path: `/api/session-exports/${await at.exported()}/download` }),
  },
  'DELETE /api/session-exports/{id}': {
    ...onlyClient(204),
    attempt: async (at) => ({ path: `/api/session-exports/${await at.exported()}` }),
  },

  'GET /api/events': everyone(200),
  'GET /api/webhooks': everyone(200),
  'POST /api/webhooks': {
    ...everyone(201),
    attempt: () => ({ body: { url: 'http://127.0.0.1:9/' } }),
  },
  'GET /api/webhooks/{id}': {
    ...onlyClient(200),
    attempt: async (at) => ({ path: `/api/webhooks/${await at.hooked()}` }),
  },
  'PATCH /api/webhooks/{id}': {
    ...onlyClient(200),
    attempt: async (at) => ({ path: `/api/webhooks/${await at.hooked()}`, body: { description: 'x' } }),
  },
  'DELETE /api/webhooks/{id}': {
    ...onlyClient(204),
    attempt: async (at) => ({ path: `/api/webhooks/${await at.hooked()}` }),
  },
  'POST /api/webhooks/{id}/rotate-secret': {
    ...onlyClient(200),
    attempt: async (at) => ({ path: `/api/webhooks/${await at.hooked()}/rotate-secret` }),
  },
  'POST /api/webhooks/{id}/test': {
    ...onlyClient(202),
    attempt: async (at) => ({ path: `/api/webhooks/${await at.hooked()}/test` }),
  },
  'POST /api/webhooks/{id}/replay': {
    ...onlyClient(202),
    attempt: async (at) => ({
      path: `/api/webhooks/${await at.hooked()}/replay`,
      body: { since: at.freeHour() },
    }),
  },
  'GET /api/webhooks/{id}/deliveries': {
    ...onlyClient(200),
    attempt: async (at) => ({ path: `/api/webhooks/${await at.hooked()}/deliveries` }),
  },
  'GET /api/webhooks/{id}/deliveries/{delivery_id}': {
    ...onlyClient(200),
    attempt: async (at) => ({ path: await at.undelivered() }),
  },
  'POST /api/webhooks/{id}/deliveries/{delivery_id}/replay': {
    ...onlyClient(202),
    attempt: async (at) => ({ path: `${await at.undelivered()}/replay` }),
  },

  'GET /api/notifications': people(everyone(200)),
  'GET /api/notifications/settings': people(everyone(200)),
  'PATCH /api/notifications/settings': {
    ...people(everyone(200)),
    attempt: () => ({ body: { matrix: { money: { mail: true } } } }),
  },
  'POST /api/notifications/read': { ...people(everyone(200)), attempt: () => ({ body: { up_to: '1' } }) },
  'POST /api/notifications/{id}/read': {
    // The first notification of the caller; only these two users have one.
    ...but(people(everyone(404)), { client: 200, 'client key': 200, operator: 200, 'operator key': 200 }),
    attempt: () => ({ path: '/api/notifications/1/read' }),
  },
  'GET /api/notifications/push/key': everyone(200),
  'GET /api/notifications/push/subscriptions': people(everyone(200)),
  'POST /api/notifications/push/subscriptions': {
    ...people(everyone(201)),
    attempt: () => ({
      body: {
        endpoint: `http://127.0.0.1:9999/${randomUUID()}`,
        keys: {
          p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
          auth: 'BTBZMqHH6r4Tts7J_aSIgg',
        },
      },
    }),
  },
  'DELETE /api/notifications/push/subscriptions/{id}': {
    ...people(everyone(404)),
    attempt: () => ({ path: `/api/notifications/push/subscriptions/${randomUUID()}` }),
  },

  'GET /api/organizations/{id}/service-accounts': {
    ...accountManagers(200),
    attempt: (at) => ({ path: `/api/organizations/${at.client.id}/service-accounts` }),
  },
  'POST /api/organizations/{id}/service-accounts': {
    ...accountManagers(201),
    attempt: (at) => ({ path: `/api/organizations/${at.client.id}/service-accounts`, body: { name: 'x' } }),
  },
  'PATCH /api/organizations/{id}/service-accounts/{account_id}': {
    ...accountManagers(200),
    attempt: async (at) => ({ path: await newAccount(at), body: { name: 'y' } }),
  },
  'DELETE /api/organizations/{id}/service-accounts/{account_id}': {
    ...accountManagers(204),
    attempt: async (at) => ({ path: await newAccount(at) }),
  },
  'GET /api/organizations/{id}/service-accounts/{account_id}/keys': {
    ...accountManagers(200),
    attempt: async (at) => ({ path: `${await newAccount(at)}/keys` }),
  },
  'POST /api/organizations/{id}/service-accounts/{account_id}/keys': {
    ...accountManagers(201),
    attempt: async (at) => ({
      path: `${await newAccount(at)}/keys`,
      body: { scopes: ['read'], expiresInDays: 1 },
    }),
  },
  'POST /api/organizations/{id}/service-accounts/{account_id}/keys/{key_id}/rotate': {
    ...accountManagers(201),
    attempt: async (at) => ({ path: `${await newAccountKey(at)}/rotate`, body: { overlapHours: 1 } }),
  },
  'DELETE /api/organizations/{id}/service-accounts/{account_id}/keys/{key_id}': {
    ...accountManagers(204),
    attempt: async (at) => ({ path: await newAccountKey(at) }),
  },
}
