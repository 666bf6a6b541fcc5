import { z } from 'zod'
import type { Db } from '../../core/database/tables.ts'
import { type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import type { KeysetPage } from './keyset.ts'
import { Overview } from './overview.schema.ts'
import { readOverview } from './overview.service.ts'
import { ListAllRobots, RobotEntry } from './robot-list.schema.ts'
import { listRobots } from './robot-list.service.ts'
import { ListAllSessions, SessionEntry } from './session-list.schema.ts'
import { listSessions } from './session-list.service.ts'
import { UserDetail } from './user-detail.schema.ts'
import { readUser } from './user-detail.service.ts'
import { ListUsers, UserEntry } from './user-list.schema.ts'
import { listUsers, type RoleSource } from './user-list.service.ts'

const access = { role: 'admin' } as const
const headers = ['X-Next-Cursor'] as const

/** Sets the header with the cursor of the next page. Returns the rows. */
function withCursor<Row>(
  http: { set(name: string, value: string): void },
  { rows, next }: KeysetPage<Row>,
): Row[] {
  if (next !== undefined) http.set('X-Next-Cursor', next)
  return rows
}

/** Returns the routes with which admins find sessions, robots and users. */
export function adminListEndpoints({ db, users }: { db: Db; users: RoleSource }): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/admin/sessions',
      list: true,
      summary: 'Lists the sessions of all users, newest first',
      access,
      query: ListAllSessions,
      response: [200, z.object({ sessions: z.array(SessionEntry) })],
      headers,
      run: async ({ query, http }) => ({ sessions: withCursor(http, await listSessions(db, query)) }),
    }),
    endpoint({
      method: 'get',
      path: '/api/admin/robots',
      list: true,
      summary: 'Lists the robots of all owners, newest first',
      access,
      query: ListAllRobots,
      response: [200, z.object({ robots: z.array(RobotEntry) })],
      headers,
      run: async ({ query, http }) => ({ robots: withCursor(http, await listRobots(db, query)) }),
    }),
    endpoint({
      method: 'get',
      path: '/api/admin/users',
      list: true,
      summary: 'Lists users, newest first',
      access,
      query: ListUsers,
      response: [200, z.object({ users: z.array(UserEntry) })],
      headers,
      run: async ({ query, http }) => ({ users: withCursor(http, await listUsers(db, users, query)) }),
    }),
    endpoint({
      method: 'get',
      path: '/api/admin/users/{id}',
      summary: 'Shows a user with roles, certifications, robots and open session',
      access,
      params: idParams('operator'),
      response: [200, UserDetail],
      run: async ({ params }) => await readUser(db, users, params.id),
    }),
  ]
}

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
