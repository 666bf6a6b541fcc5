import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { ClientStats } from './stats.schema.ts'
import type { ClientStatistics } from './stats.service.ts'

/** Returns the routes of the client's statistics. */
export function clientStatsEndpoints({ clientStats }: { clientStats: ClientStatistics }): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/client/stats',
      summary: 'Returns usage statistics of your robots and sessions',
      access: { role: 'client' },
      response: [200, ClientStats],
      run: ({ caller }) => clientStats.forClient(caller.userId),
    }),
  ]
}
