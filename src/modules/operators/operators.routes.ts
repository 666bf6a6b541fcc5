import { z } from 'zod'
import { iso } from '../../core/database/iso.ts'
import { type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import {
  AvailableRobot,
  AvailableRobotCounts,
  CountAvailableRobots,
  ListAvailableRobots,
} from '../robots/index.ts'
import type { Availability } from './availability.service.ts'
import type { AvailableRobots } from './available-robots.service.ts'
import { OperatorProfileView, SaveOperatorProfile } from './operator-profile.schema.ts'
import type { OperatorProfiles } from './operator-profile.service.ts'
import { OperatorOverview } from './overview.schema.ts'
import type { OperatorOverviews } from './overview.service.ts'
import { PreFlight } from './pre-flight.schema.ts'
import type { PreFlights } from './pre-flight.service.ts'
import { AvailabilityView, SaveSchedule, ScheduleView } from './schedule.schema.ts'
import type { Schedules } from './schedule.service.ts'
import { OperatorStats } from './stats.schema.ts'
import type { OperatorStatistics } from './stats.service.ts'

type Row = Awaited<ReturnType<OperatorProfiles['get']>>

/** Returns the routes of the caller's operator profile. */
export function operatorProfileEndpoints(deps: { operatorProfiles: OperatorProfiles }): Endpoint[] {
  const { operatorProfiles } = deps
  const access = { role: 'operator' } as const
  return [
    endpoint({
      method: 'get',
      path: '/api/operator/profile',
      summary: 'Returns your operator profile and your ratings',
      access,
      response: [200, OperatorProfileView],
      run: async ({ caller }) => view(await operatorProfiles.get(caller.userId)),
    }),
    endpoint({
      method: 'post',
      path: '/api/operator/profile',
      summary: 'Creates or changes your operator profile; omitted fields stay unchanged',
      access: { ...access, person: true },
      body: SaveOperatorProfile,
      response: [200, OperatorProfileView],
      run: async ({ caller, body }) => view(await operatorProfiles.save(caller.userId, body)),
    }),
  ]
}

const view = (row: Row): z.infer<typeof OperatorProfileView> => ({
  headline: row.headline,
  bio: row.bio,
  country: row.country,
  timezone: row.timezone,
  languages: row.languages ?? [],
  rating_average: row.rating_average,
  rating_count: row.rating_count ?? 0,
  payout_ready: row.payout_ready_at !== null,
  created_at: iso(row.created_at),
})

/** Returns the routes of the weekly schedule and of availability. */
export function scheduleEndpoints(deps: { schedules: Schedules; availability: Availability }): Endpoint[] {
  const { schedules, availability } = deps
  const access = { role: 'operator' } as const
  return [
    endpoint({
      method: 'get',
      path: '/api/operator/schedule',
      summary: 'Returns your weekly schedule',
      access,
      response: [200, ScheduleView],
      run: async ({ caller }) => schedules.get(caller.userId),
    }),
    endpoint({
      method: 'post',
      path: '/api/operator/schedule',
      summary: 'Replaces your weekly schedule',
      access: { ...access, person: true },
      body: SaveSchedule,
      response: [200, ScheduleView],
      errors: { 400: { invalid_request: 'when neither the body nor your profile names a time zone' } },
      run: async ({ caller, body }) => schedules.replace(caller.userId, body),
    }),
    endpoint({
      method: 'get',
      path: '/api/operator/availability',
      summary: 'Returns whether you are available now, and if not, why and until when',
      access,
      response: [200, AvailabilityView],
      run: async ({ caller }) => availability(caller.userId),
    }),
  ]
}

const access = { role: 'operator' } as const

/** Returns the routes that list and count the robots that an operator could start a session on. */
export function availableRobotEndpoints({
  availableRobots,
}: {
  availableRobots: AvailableRobots
}): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/operator/available-robots',
      list: true,
      summary:
        'Lists the robots that you could start a session on now, or those that others drive, newest first',
      access,
      query: ListAvailableRobots,
      response: [200, z.object({ robots: z.array(AvailableRobot) })],
      headers: ['X-Next-Cursor'],
      run: async ({ caller, query, http }) => {
        const { robots, next } = await availableRobots.page(caller, query)
        if (next !== undefined) http.set('X-Next-Cursor', next)
        return { robots }
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/operator/available-robot-counts',
      summary: 'Counts the robots that you could start a session on now, for each type',
      access,
      query: CountAvailableRobots,
      response: [200, AvailableRobotCounts],
      run: ({ caller, query }) => availableRobots.counts(caller, query.search),
    }),
  ]
}

/** Returns the route with which an operator looks at a robot before a session. */
export const preFlightEndpoint = (deps: { preFlights: PreFlights }): Endpoint =>
  endpoint({
    method: 'get',
    path: '/api/operator/robots/{id}',
    summary: 'Returns a robot before a session: battery, notes of its owner, price, limits and commands',
    access: { role: 'operator' },
    params: idParams('robot'),
    response: [200, PreFlight],
    run: ({ caller, params }) => deps.preFlights.of(caller, params.id),
  })

/** Returns the route of an operator's overview. */
export const operatorOverviewEndpoint = (deps: { operatorOverviews: OperatorOverviews }): Endpoint =>
  endpoint({
    method: 'get',
    path: '/api/operator/overview',
    summary: 'Returns your open session and your next scheduled sessions',
    access: { role: 'operator' },
    response: [200, OperatorOverview],
    run: ({ caller }) => deps.operatorOverviews.of(caller),
  })

/** Returns the routes of the operator's statistics. */
export function operatorStatsEndpoints({ operatorStats }: { operatorStats: OperatorStatistics }): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/operator/stats',
      summary: 'Returns your earnings and session statistics',
      access: { role: 'operator' },
      response: [200, OperatorStats],
      run: ({ caller }) => operatorStats.forOperator(caller.userId),
    }),
  ]
}
