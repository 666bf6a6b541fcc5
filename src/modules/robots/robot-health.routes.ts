import { type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import { RobotHealth } from './robot-health.schema.ts'
import type { RobotHealthService } from './robot-health.service.ts'

/** Returns the endpoint for the health of a client's robot. */
export const robotHealthEndpoint = ({ robotHealth }: { robotHealth: RobotHealthService }): Endpoint =>
  endpoint({
    method: 'get',
    path: '/api/client/robots/{id}/health',
    summary: 'Returns battery, connection, stops and losses of one of your robots in the last 24 hours',
    access: { role: 'client' },
    params: idParams('robot'),
    response: [200, RobotHealth],
    run: ({ caller, params }) => robotHealth.of(caller.userId, params.id),
  })
