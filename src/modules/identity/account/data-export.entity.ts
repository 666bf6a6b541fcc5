import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../../../core/database/tables.ts'
import { StoredExportStatus } from '../../../core/exports/exports.ts'
import { User } from '../users/user.entity.ts'

/** An export of everything that the platform holds about a person. A job writes it into the database. */
export const DataExport = defineEntity({
  name: 'DataExport',
  tableName: 'data_exports',
  properties: {
    id: p.uuid().primary(),
    user: () => p.manyToOne(User).mapToPk().deleteRule('cascade'),
    status: p.enum(StoredExportStatus.options).default('PENDING'),
    rows: p.integer().default(0),
    bytes: p.bigint('number').default(0),
    chunks: p.integer().default(0),
    /** The position after the last chunk: the part of the file, and the last key of it. */
    part: p.integer().default(0),
    lastKey: p.text().nullable(),
    error: p.text().nullable(),
    createdAt: p.datetime(3),
    finishedAt: p.datetime(3).nullable(),
    expiresAt: p.datetime(3),
  },
})
export type DataExport = InferEntity<typeof DataExport>

/** A part of an export, compressed by itself. */
export const DataExportChunk = defineEntity({
  name: 'DataExportChunk',
  tableName: 'data_export_chunks',
  properties: {
    export: () => p.manyToOne(DataExport).mapToPk().primary().deleteRule('cascade'),
    number: p.integer().primary(),
    data: p.blob(),
  },
})
export type DataExportChunk = InferEntity<typeof DataExportChunk>

/** A sign-in whose account was deleted, as a keyed hash: a token from before the deletion makes no new account. */
export const EndedSignIn = defineEntity({
  name: 'EndedSignIn',
  tableName: 'ended_sign_ins',
  properties: {
    signInHash: p.text().primary(),
    endedAt: p.datetime(3),
  },
})
export type EndedSignIn = InferEntity<typeof EndedSignIn>

declare module '../../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof DataExport | typeof DataExportChunk | typeof EndedSignIn> {}
}
