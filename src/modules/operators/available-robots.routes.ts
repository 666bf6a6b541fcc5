import { z } from 'zod'
import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import {
  AvailableRobot,
  AvailableRobotCounts,
  CountAvailableRobots,
  ListAvailableRobots,
} from '../robots/index.ts'
import type { AvailableRobots } from './available-robots.service.ts'

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
      summary: 'Lists the robots that you could start a session on now, newest first',
      access,
      query: ListAvailableRobots,
      response: [200, z.object({ robots: z.array(AvailableRobot) })],
      headers: ['X-Next-Cursor'],
      run: async ({ caller, query, http }) => {
        const { robots, next } = await availableRobots.page(caller.userId, query)
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
      run: ({ caller, query }) => availableRobots.counts(caller.userId, query.search),
    }),
  ]
}
