import { type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import type { Ratings } from './rating.service.ts'
import { RateSession } from './session.schema.ts'
import { sessionDetail } from './session.view.ts'
import { SessionDetail } from './session-records.ts'

export function ratingEndpoints(parts: { ratings: Ratings; now: () => Date }): Endpoint[] {
  const { ratings, now } = parts
  return [
    endpoint({
      method: 'post',
      path: '/api/sessions/{id}/rate',
      summary: 'Rates one of your completed sessions, once',
      access: { role: 'client' },
      params: idParams('session'),
      body: RateSession,
      answer: [200, SessionDetail],
      refusals: {
        403: 'when you are not the client of the session, or drove it yourself',
        409: 'when the session is not COMPLETED, or already rated',
      },
      run: async ({ caller, params, body }) =>
        sessionDetail(await ratings.rate(caller, params.id, body), caller, now()),
    }),
  ]
}
