import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { Role } from '@wheelhouse/protocol'
import { referenceTo } from '../../../core/database/reference.ts'
import type { TablesOf } from '../../../core/database/tables.ts'
import { StoredExportStatus } from '../../../core/exports/exports.ts'
import type { Membership } from '../../../core/permissions/caller.ts'
import type { ExportFilter } from '../export/export.service.ts'

/** An export of sessions that a job writes into the database. */
export const SessionExport = defineEntity({
  name: 'SessionExport',
  tableName: 'session_exports',
  properties: {
    id: p.uuid().primary(),
    user: () => referenceTo('User').deleteRule('cascade'),
    /** The organization that the user acted for. */
    organization: () => referenceTo('Organization').deleteRule('cascade'),
    format: p.enum(['csv', 'json'] as const),
    /** The filter, and the roles of the user at the request, which decide on the sessions and on the columns. */
    request: p.json<{
      filter: ExportFilter
      roles: readonly Role[]
      /** What the user was in the organization; missing in exports from before organizations. */
      organization?: Membership
    }>(),
    status: p.enum(StoredExportStatus.options).default('PENDING'),
    /** How many sessions there were at the request. */
    totalRows: p.integer(),
    rows: p.integer().default(0),
    bytes: p.bigint('number').default(0),
    chunks: p.integer().default(0),
    /** The last session of the last chunk: its id, and its time of creation as text. */
    lastId: p.uuid().nullable(),
    lastCreatedAt: p.text().nullable(),
    error: p.text().nullable(),
    createdAt: p.datetime(3),
    finishedAt: p.datetime(3).nullable(),
    expiresAt: p.datetime(3),
  },
})
export type SessionExport = InferEntity<typeof SessionExport>

/** A part of an export, compressed by itself. */
export const SessionExportChunk = defineEntity({
  name: 'SessionExportChunk',
  tableName: 'session_export_chunks',
  properties: {
    export: () => p.manyToOne(SessionExport).mapToPk().primary().deleteRule('cascade'),
    number: p.integer().primary(),
    data: p.blob(),
  },
})
export type SessionExportChunk = InferEntity<typeof SessionExportChunk>

declare module '../../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof SessionExport | typeof SessionExportChunk> {}
}
