import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { OperatorStats } from './stats.schema.ts'
import type { OperatorStatistics } from './stats.service.ts'

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
