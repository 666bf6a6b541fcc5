import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { OperatorOverview } from './overview.schema.ts'
import type { OperatorOverviews } from './overview.service.ts'

/** Returns the route of an operator's overview. */
export const operatorOverviewEndpoint = (deps: { operatorOverviews: OperatorOverviews }): Endpoint =>
  endpoint({
    method: 'get',
    path: '/api/operator/overview',
    summary: 'Returns your open session and your next scheduled sessions',
    access: { role: 'operator' },
    response: [200, OperatorOverview],
    run: ({ caller }) => deps.operatorOverviews.of(caller.userId),
  })
