import type { z } from 'zod'
import { iso } from '../../core/database/iso.ts'
import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { scopeOf } from '../../core/permissions/authorization.ts'
import { Activity, ReadActivity } from './activity.schema.ts'
import type { ActivityOfRobots } from './activity.service.ts'
import { ClientProfileView, UpdateClientProfile } from './client-profile.schema.ts'
import type { ClientProfiles } from './client-profile.service.ts'
import { ListLiveRobots, LiveRobotList } from './live-robot.schema.ts'
import type { LiveRobots } from './live-robot.service.ts'
import { ClientOverview } from './overview.schema.ts'
import type { ClientOverviews } from './overview.service.ts'
import { ClientStats } from './stats.schema.ts'
import type { ClientStatistics } from './stats.service.ts'

/** Returns the routes of the caller's client profile. */
export function clientProfileEndpoints(deps: { clientProfiles: ClientProfiles }): Endpoint[] {
  const { clientProfiles } = deps
  return [
    endpoint({
      method: 'get',
      path: '/api/client/profile',
      summary: 'Returns your client profile',
      access: { role: 'client', action: 'organization.read' },
      response: [200, ClientProfileView],
      run: async ({ caller }) => view(await clientProfiles.get(caller.organization.id)),
    }),
    endpoint({
      method: 'patch',
      path: '/api/client/profile',
      summary: 'Changes fields of your client profile',
      access: { role: 'client', action: 'billing.write' },
      body: UpdateClientProfile,
      response: [200, ClientProfileView],
      run: async ({ caller, body }) => view(await clientProfiles.update(caller.organization.id, body)),
    }),
  ]
}

const view = (row: Awaited<ReturnType<ClientProfiles['get']>>): z.infer<typeof ClientProfileView> => ({
  company_name: row.company_name,
  contact_email: row.contact_email,
  phone: row.phone,
  country: row.country,
  vat_id: row.vat_id,
  billing_ready: row.payment_method_at !== null,
  created_at: iso(row.created_at),
})

/** Returns the route of an owner's overview. */
export const clientOverviewEndpoint = ({ clientOverviews }: { clientOverviews: ClientOverviews }): Endpoint =>
  endpoint({
    method: 'get',
    path: '/api/client/overview',
    summary: 'Returns what needs your attention, your robots by state and the costs of today',
    access: { role: 'client', action: 'robots.read' },
    response: [200, ClientOverview],
    run: ({ caller }) => clientOverviews.of(caller),
  })

/** Returns the route of what an owner's robots did lately. */
export const activityEndpoint = ({ activity }: { activity: ActivityOfRobots }): Endpoint =>
  endpoint({
    method: 'get',
    path: '/api/client/activity',
    summary: 'Lists what your robots did in their sessions of the last 24 hours',
    access: { role: 'client', action: 'robots.read' },
    query: ReadActivity,
    response: [200, Activity],
    run: ({ caller, query }) => activity.of(scopeOf(caller), query),
  })

/** Returns the route that lists an owner's live robots. */
export const liveRobotEndpoint = ({ liveRobots }: { liveRobots: LiveRobots }): Endpoint =>
  endpoint({
    method: 'get',
    path: '/api/client/live-robots',
    summary: 'Lists your robots that are connected or in a session, with state, battery and operator',
    access: { role: 'client', action: 'robots.read' },
    query: ListLiveRobots,
    response: [200, LiveRobotList],
    run: ({ caller, query }) => liveRobots.list(scopeOf(caller), query),
  })

/** Returns the routes of the client's statistics. */
export function clientStatsEndpoints({ clientStats }: { clientStats: ClientStatistics }): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/client/stats',
      summary: 'Returns usage statistics of your robots and sessions',
      access: { role: 'client', action: 'robots.read' },
      response: [200, ClientStats],
      run: ({ caller }) => clientStats.forClient(caller),
    }),
  ]
}
