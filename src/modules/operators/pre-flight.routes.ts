import { type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import { PreFlight } from './pre-flight.schema.ts'
import type { PreFlights } from './pre-flight.service.ts'

/** Returns the route with which an operator looks at a robot before a session. */
export const preFlightEndpoint = (deps: { preFlights: PreFlights }): Endpoint =>
  endpoint({
    method: 'get',
    path: '/api/operator/robots/{id}',
    summary: 'Returns a robot before a session: battery, notes of its owner, price, limits and commands',
    access: { role: 'operator' },
    params: idParams('robot'),
    response: [200, PreFlight],
    run: ({ caller, params }) => deps.preFlights.of(caller.userId, params.id),
  })
