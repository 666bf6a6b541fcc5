import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../database/tables.ts'

const retention = () => p.enum(['days_90', 'year_1', 'years_5'])

/**
 * One action that is audited. The database admits two changes: a row is sealed once (its number and its hashes), and it is deleted
 * after its time, which leaves an `AuditDeleted`.
 */
export const AuditEntry = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_log',
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    at: p.datetime(3).defaultRaw('now()'),
    /** The organization that the row concerns. Null: the platform only; the row is in no chain. */
    organizationId: p.uuid().nullable(),
    /** Null for actions of the platform, e.g. the monthly close. The id stays when the user is removed. */
    actorId: p.uuid().nullable(),
    /** `session`, or `api_key:` with the id of the key; null if it is unknown or there is none. */
    credential: p.text().nullable(),
    action: p.text(),
    subjectType: p.text(),
    subjectId: p.text(),
    data: p.json<Record<string, unknown>>(),
    retention: retention(),
    /** The place in the chain of the organization, from 1 without gaps; null until the row is sealed. */
    seq: p.bigint('number').nullable(),
    contentHash: p.text().nullable(),
    prevHash: p.text().nullable(),
    hash: p.text().nullable(),
  },
})
export type AuditEntry = InferEntity<typeof AuditEntry>

/** The newest sealed row of an organization. */
export const AuditHead = defineEntity({
  name: 'AuditHead',
  tableName: 'audit_heads',
  properties: {
    organizationId: p.uuid().primary(),
    seq: p.bigint('number'),
    hash: p.text(),
  },
})
export type AuditHead = InferEntity<typeof AuditHead>

/** What stays of a sealed row that was deleted after its time. The trigger that admits the deletion writes it. */
export const AuditDeleted = defineEntity({
  name: 'AuditDeleted',
  tableName: 'audit_log_deleted',
  properties: {
    organizationId: p.uuid().primary(),
    seq: p.bigint('number').primary(),
    at: p.datetime(3),
    retention: retention(),
    contentHash: p.text(),
    prevHash: p.text(),
    hash: p.text(),
  },
})
export type AuditDeleted = InferEntity<typeof AuditDeleted>

declare module '../database/tables.ts' {
  interface Tables extends TablesOf<typeof AuditEntry | typeof AuditHead | typeof AuditDeleted> {}
}
