import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { ListLiveRobots, LiveRobotList } from './live-robot.schema.ts'
import type { LiveRobots } from './live-robot.service.ts'

/** Returns the route that lists an owner's live robots. */
export const liveRobotEndpoint = ({ liveRobots }: { liveRobots: LiveRobots }): Endpoint =>
  endpoint({
    method: 'get',
    path: '/api/client/live-robots',
    summary: 'Lists your robots that are connected or in a session, with state, battery and operator',
    access: { role: 'client' },
    query: ListLiveRobots,
    response: [200, LiveRobotList],
    run: ({ caller, query }) => liveRobots.list(caller.userId, query),
  })
