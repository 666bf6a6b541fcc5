import { Readable } from 'node:stream'
import { type AuditRetention, auditRetentionDays, exampleIds, idOf } from '@wheelhouse/protocol'
import { stringify } from 'csv-stringify/sync'
import type { Context } from 'koa'
import { z } from 'zod'
import type { AuditChain, AuditChainRow } from '../../core/audit/audit-chain.ts'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { notFound } from '../../core/errors/errors.ts'
import { pageOf } from '../../core/http/cursor.ts'
import { credentialOfCaller, type Downloads } from '../../core/http/downloads.ts'
import { type Caller, type Endpoint, endpoint, idParams } from '../../core/http/endpoint.ts'
import { line, queryInteger, timestamp } from '../../core/http/fields.ts'
import type { Log } from '../../core/log.ts'
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

const retentions = Object.keys(auditRetentionDays) as AuditRetention[]
const hash = z
  .string()
  .meta({ examples: ['9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab'] })

const ListOrganizationAudit = z
  .strictObject({
    format: z.enum(['json', 'ndjson', 'csv']).default('json').meta({
      description:
        'json: a page, newest first. ndjson, csv: all entries, oldest first, as a download with the fields of the chain.',
    }),
    before: queryInteger(1, 9_999_999_999)
      .meta({ description: 'The X-Next-Cursor of the previous page: returns the entries after it.' })
      .optional(),
    limit: queryInteger(1, 200).default(100),
    actor_id: idOf('client').optional(),
    action: line(100)
      .meta({ examples: ['session.stopped'] })
      .optional(),
    from: instant.meta({ description: 'Returns only entries at or after this time.' }).optional(),
    to: instant.meta({ description: 'Returns only entries before this time.' }).optional(),
  })
  .refine(
    ({ format, before, actor_id, action, from, to }) =>
      format === 'json' || [before, actor_id, action, from, to].every((filter) => filter === undefined),
    'format: ndjson and csv contain the whole chain. Omit before and the filters',
  )

const OrganizationAudit = z
  .object({
    entries: z.array(
      z
        .object({
          id: z
            .number()
            .int()
            .meta({ examples: [4_711] }),
          seq: z
            .number()
            .int()
            .nullable()
            .meta({
              description:
                'The place in the chain of the organization, from 1 without gaps; null for about a second, until the entry is sealed.',
              examples: [812],
            }),
          at: timestamp.meta({ examples: ['2026-11-20T09:30:00.000Z'] }),
          actor_id: idOf('client')
            .nullable()
            .meta({ description: 'Null when the platform itself performed the action.' }),
          actor_name: z
            .string()
            .nullable()
            .meta({ examples: ['Ada'] }),
          credential: z
            .string()
            .nullable()
            .meta({
              description:
                'With what the actor was signed in: `session`, `api_key:` with the id of the key, or `sign_in:` with the subject of an entry `sign_in.completed`; null when it is unknown, or the platform acted.',
              examples: ['session'],
            }),
          action: z.string().meta({ examples: ['session.stopped'] }),
          subject_type: z.string().meta({ examples: ['session'] }),
          subject_id: z.string().meta({ examples: [exampleIds.session] }),
          data: z.record(z.string(), z.unknown()).meta({
            description: 'Further data about the action.',
            examples: [{ reason: 'emergency_stop' }],
          }),
          retention: z
            .enum(retentions)
            .meta({ description: 'How long the entry is kept.', examples: ['years_5'] }),
          hash: hash
            .nullable()
            .meta({ description: 'The hash of the entry in the chain; null until it is sealed.' }),
        })
        .meta({ id: 'OrganizationAuditEntry', description: 'An action that concerns an organization.' }),
    ),
    head: z
      .object({
        seq: z
          .number()
          .int()
          .meta({ examples: [812] }),
        hash,
      })
      .nullable()
      .meta({
        description:
          'The newest sealed entry; null without one. Note it: a later export has to contain its hash.',
      }),
  })
  .meta({ id: 'OrganizationAudit', description: 'A page of the audit log of an organization.' })

/** Returns the routes that read the audit log. */
export function auditEndpoints(deps: AuditDeps): Endpoint[] {
  const { db, auditChain } = deps
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
    endpoint({
      method: 'get',
      path: '/api/organizations/{id}/audit',
      summary:
        'Lists the audit log of an organization, newest first, or downloads its chain as NDJSON or CSV',
      access: { action: 'audit.read' },
      params: idParams('organization'),
      query: ListOrganizationAudit,
      response: [200, OrganizationAudit],
      headers: ['X-Next-Cursor'],
      media: ['application/x-ndjson', 'text/csv'],
      errors: {
        404: { not_found: 'when it is not the organization that you act for' },
        429: { too_many_concurrent_requests: 'when 32 of your downloads are running' },
        503: { overloaded: 'when too many downloads are running' },
      },
      run: async ({ caller, params: { id }, query, http }) => {
        if (id !== caller.organization.id) throw notFound('Organization')
        // The download takes the place of the page.
        if (query.format !== 'json') return (await download(deps, caller, http, query.format)) as never
        const { page, last } = pageOf(await listOf(db, id, query), query.limit)
        if (last) http.set('X-Next-Cursor', String(last.id))
        const entries = page.map((row) => ({ ...row, at: iso(row.at) }))
        return { entries, head: (await auditChain.head(id)) ?? null }
      },
    }),
  ]
}

interface AuditDeps {
  readonly db: Db
  readonly log: Log
  readonly auditChain: AuditChain
  readonly downloads: Downloads
}

const listOf = (db: Db, organizationId: string, filter: z.output<typeof ListOrganizationAudit>) => {
  const { before, actor_id: actorId, action, from, to } = filter
  return db
    .selectFrom('audit_log')
    .leftJoin('users', 'users.id', 'audit_log.actor_id')
    .select([
      'audit_log.id',
      'seq',
      'at',
      'actor_id',
      'users.display_name as actor_name',
      'credential',
      'action',
    ])
    .select(['subject_type', 'subject_id', 'data', 'retention', 'hash'])
    .where('organization_id', '=', organizationId)
    .$if(before !== undefined, (query) => query.where('audit_log.id', '<', before as number))
    .$if(actorId !== undefined, (query) => query.where('actor_id', '=', actorId as string))
    .$if(action !== undefined, (query) => query.where('action', '=', action as string))
    .$if(from !== undefined, (query) => query.where('at', '>=', new Date(from as string)))
    .$if(to !== undefined, (query) => query.where('at', '<', new Date(to as string)))
    .orderBy('audit_log.id', 'desc')
    .limit(filter.limit + 1)
    .execute()
}

const CSV_COLUMNS = [
  'organization_id',
  'seq',
  'at',
  'retention',
  'actor_id',
  'credential',
  'action',
  'subject_type',
  'subject_id',
  'data',
  'content_hash',
  'prev_hash',
  'hash',
] as const satisfies (keyof AuditChainRow)[]

/** The formats of an export: the media type, the beginning, and the text of a row. */
const formats = {
  ndjson: {
    type: 'application/x-ndjson',
    head: '',
    page: (rows: readonly AuditChainRow[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  },
  // CSV as of RFC 4180, with CRLF. Text that a spreadsheet would run as a formula gets a leading apostrophe.
  csv: {
    type: 'text/csv; charset=utf-8',
    head: `${CSV_COLUMNS.join(',')}\r\n`,
    page: (rows: readonly AuditChainRow[]) =>
      stringify([...rows], { columns: [...CSV_COLUMNS], record_delimiter: 'windows', escape_formulas: true }),
  },
}

/** Returns the whole chain as the body of a response. The download ends with the credential of its request. */
async function download(
  deps: AuditDeps,
  caller: Caller,
  http: Context,
  name: keyof typeof formats,
): Promise<Readable> {
  const { auditChain, downloads, log } = deps
  const { id } = caller.organization
  const format = formats[name]
  await auditChain.seal(id)
  async function* text() {
    yield format.head
    try {
      for await (const rows of auditChain.read(id)) yield format.page(rows)
    } catch (cause) {
      // Closes the connection, so that the client does not take a part of the chain for all of it.
      log.error({ err: cause, organizationId: id }, 'audit export failed')
      throw cause
    }
  }
  await downloads.admit(credentialOfCaller(caller))(http.res)
  http.set('Content-Type', format.type)
  http.set('Content-Disposition', `attachment; filename="audit-${id}.${name}"`)
  http.set('Cache-Control', 'no-store')
  return Readable.from(text(), { highWaterMark: 1 })
}

async function list(db: Db, filter: z.output<typeof ListAudit>) {
  const { before, actor_id: actorId, subject_id: subjectId, action, since, until } = filter
  const rows = await db
    .selectFrom('audit_log')
    .leftJoin('users', 'users.id', 'audit_log.actor_id')
    .select(['audit_log.id', 'at', 'users.id as actor_id', 'users.display_name as actor_name'])
    .select(['action', 'subject_type', 'subject_id', 'data'])
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
