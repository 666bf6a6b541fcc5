import { type Endpoint, endpoint } from '../../../core/http/endpoint.ts'
import {
  CountSessions,
  ListSessionRobots,
  ListSessions,
  SessionCounts,
  SessionRobots,
} from '../record/session.schema.ts'
import { sessionView } from '../record/session.view.ts'
import type { SessionLists } from '../record/session-list.service.ts'
import { SessionList } from '../record/session-view.schema.ts'

/** Returns the routes that list and count the caller's sessions. */
export function sessionListEndpoints({ lists, now }: { lists: SessionLists; now: () => Date }): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/sessions',
      list: true,
      summary: 'Lists your sessions, newest first',
      access: {},
      query: ListSessions,
      response: [200, SessionList],
      headers: ['X-Next-Cursor'],
      run: async ({ caller, query, http }) => {
        const { rows, next } = await lists.page(caller, query)
        if (next !== undefined) http.set('X-Next-Cursor', next)
        return { sessions: rows.map((row) => sessionView(row, caller, now())) }
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/session-counts',
      summary: 'Counts your sessions for each status, as filters of their list show them',
      access: {},
      query: CountSessions,
      response: [200, SessionCounts],
      run: async ({ caller, query }) => ({ by_status: await lists.counts(caller, query) }),
    }),
    endpoint({
      method: 'get',
      path: '/api/session-robots',
      list: true,
      summary: 'Lists the robots of your sessions by name, to choose one as a filter',
      access: {},
      query: ListSessionRobots,
      response: [200, SessionRobots],
      run: async ({ caller, query }) => ({ robots: await lists.robots(caller, query) }),
    }),
  ]
}
