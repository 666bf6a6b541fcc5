import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { ClientOverview } from './overview.schema.ts'
import type { ClientOverviews } from './overview.service.ts'

/** Returns the route of an owner's overview. */
export const clientOverviewEndpoint = ({ clientOverviews }: { clientOverviews: ClientOverviews }): Endpoint =>
  endpoint({
    method: 'get',
    path: '/api/client/overview',
    summary: 'Returns what needs your attention, your robots by state and the costs of today',
    access: { role: 'client' },
    response: [200, ClientOverview],
    run: ({ caller }) => clientOverviews.of(caller.userId),
  })
