import { type Endpoint, endpoint, idParams } from '../../../core/http/endpoint.ts'
import { RateSession } from '../record/session.schema.ts'
import { sessionDetail } from '../record/session.view.ts'
import { SessionDetail } from '../record/session-view.schema.ts'
import type { Ratings } from './rating.service.ts'

export function ratingEndpoints(deps: { ratings: Ratings; now: () => Date }): Endpoint[] {
  const { ratings, now } = deps
  return [
    endpoint({
      method: 'post',
      path: '/api/sessions/{id}/rate',
      summary: 'Rates one of your completed sessions, once',
      access: { role: 'client', scope: 'sessions' },
      params: idParams('session'),
      body: RateSession,
      response: [200, SessionDetail],
      errors: {
        403: {
          session_owner_required: 'when you are not the client of the session',
          own_session_not_rateable: 'when you operated the session yourself',
        },
        409: {
          session_not_completed: 'when the session is not COMPLETED',
          session_already_rated: 'when the session is already rated',
        },
      },
      run: async ({ caller, params, body }) =>
        sessionDetail(await ratings.rate(caller, params.id, body), caller, now()),
    }),
  ]
}
