import { exampleIds, idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { line, queryInteger, timestamp } from '../../core/http/fields.ts'
import { readSubjectNames } from './subject-names.ts'

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
