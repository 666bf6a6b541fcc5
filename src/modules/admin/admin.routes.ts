import { exampleIds, idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import { line, queryInteger, timestamp } from '../../core/http/fields.ts'
import type { KeysetPage } from './keyset.ts'
import { Overview } from './overview.schema.ts'
import { readOverview } from './overview.service.ts'
import { ListAllRobots, RobotEntry } from './robot-list.schema.ts'
import { listRobots } from './robot-list.service.ts'
import { ListAllSessions, SessionEntry } from './session-list.schema.ts'
import { listSessions } from './session-list.service.ts'
import { readSubjectNames } from './subject-names.ts'
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

const instant = z.iso.datetime({ offset: true }).meta({ examples: ['2026-11-20T09:30:00Z'] })

const ListAudit = z.strictObject({
  before: queryInteger(1, 9_999_999_999)
    .meta({ description: 'Returns only entries older than this one.' })
    .optional(),
  limit: queryInteger(1, 200).default(100),
  actor_id: idOf('admin').optional(),
  subject_id: line(100)
    .meta({ examples: [exampleIds.certification] })
    .optional(),
  action: line(100)
    .meta({ examples: ['certification.approved'] })
    .optional(),
  since: instant.meta({ description: 'Returns only entries at or after this time.' }).optional(),
  until: instant.meta({ description: 'Returns only entries before this time.' }).optional(),
})

const AuditView = z
  .object({
    id: z
      .number()
      .int()
      .meta({ examples: [4_711] }),
    at: timestamp.meta({ examples: ['2026-09-16T10:20:31.000Z'] }),
    actor_id: idOf('admin')
      .nullable()
      .meta({ description: 'Null when the platform itself performed the action.' }),
    actor_name: z
      .string()
      .nullable()
      .meta({ examples: ['Katherine'] }),
    action: z.string().meta({ examples: ['certification.approved'] }),
    subject_type: z.string().meta({ examples: ['certification'] }),
    subject_id: z.string().meta({ examples: [exampleIds.certification] }),
    subject_name: z
      .string()
      .nullable()
      .meta({
        description: 'The current name of the object; null if it has none.',
        examples: ['Grace, so-101'],
      }),
    subject_deleted: z
      .boolean()
      .meta({ description: 'Whether the object has been deleted or revoked since.' }),
    data: z.record(z.string(), z.unknown()).meta({
      description: 'Further data about the action.',
      examples: [{ operator_id: exampleIds.operator, robot_type: 'so-101' }],
    }),
  })
  .meta({ id: 'AuditEntry', description: 'A privileged action, or one that moves money.' })

/** Returns the routes that read the audit log. */
export function auditEndpoints({ db }: { db: Db }): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/admin/audit',
      list: true,
      summary: 'Lists privileged actions and those that move money, newest first',
      access: { role: 'admin' },
      query: ListAudit,
      response: [200, z.object({ entries: z.array(AuditView) })],
      run: async ({ query }) => ({ entries: await list(db, query) }),
    }),
  ]
}

async function list(db: Db, filter: z.output<typeof ListAudit>) {
  const { before, actor_id: actorId, subject_id: subjectId, action, since, until } = filter
  const rows = await db
    .selectFrom('audit_log')
    .leftJoin('users', 'users.id', 'audit_log.actor_id')
    .selectAll('audit_log')
    .select('users.display_name as actor_name')
    .$if(before !== undefined, (query) => query.where('audit_log.id', '<', before as number))
    .$if(actorId !== undefined, (query) => query.where('audit_log.actor_id', '=', actorId as string))
    .$if(subjectId !== undefined, (query) => query.where('audit_log.subject_id', '=', subjectId as string))
    .$if(action !== undefined, (query) => query.where('audit_log.action', '=', action as string))
    .$if(since !== undefined, (query) => query.where('audit_log.at', '>=', new Date(since as string)))
    .$if(until !== undefined, (query) => query.where('audit_log.at', '<', new Date(until as string)))
    .orderBy('audit_log.id', 'desc')
    .limit(filter.limit)
    .execute()
  const nameOf = await readSubjectNames(db, rows)
  return rows.map((row) => {
    const { name, deleted } = nameOf(row)
    return { ...row, at: iso(row.at), subject_name: name, subject_deleted: deleted }
  })
}
