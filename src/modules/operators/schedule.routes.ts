import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import type { Availability } from './availability.service.ts'
import { AvailabilityView, SaveSchedule, ScheduleView } from './schedule.schema.ts'
import type { Schedules } from './schedule.service.ts'

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
      access,
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
