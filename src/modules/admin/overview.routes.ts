import type { Db } from '../../core/database/tables.ts'
import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { Overview } from './overview.schema.ts'
import { readOverview } from './overview.service.ts'

/** Returns the route that shows admins the current state of the platform. */
export function overviewEndpoint({ db }: { db: Db }): Endpoint {
  return endpoint({
    method: 'get',
    path: '/api/admin/overview',
    summary: 'Shows robots by status, open sessions and gateways',
    access: { role: 'admin' },
    response: [200, Overview],
    run: async () => await readOverview(db),
  })
}
