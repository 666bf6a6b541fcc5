import { type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import { RobotLogPage, RobotLogQuery } from './robot-log.schema.ts'
import type { RobotLogs } from './robot-log.service.ts'

/** Returns the endpoint for the log of a client's robot. */
export const robotLogEndpoint = ({ robotLogs }: { robotLogs: RobotLogs }): Endpoint =>
  endpoint({
    method: 'get',
    path: '/api/client/robots/{id}/logs',
    list: true,
    summary: 'Lists the log lines of one of your robots, newest first',
    access: { role: 'client' },
    params: idParams('robot'),
    query: RobotLogQuery,
    response: [200, RobotLogPage],
    run: async ({ caller, params, query }) => ({
      logs: await robotLogs.page(caller.userId, params.id, query),
    }),
  })
