import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../database/reference.ts'
import type { TablesOf } from '../database/tables.ts'

/** One privileged or money-moving action. The database rejects updates and deletes. */
export const AuditEntry = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_log',
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    at: p.datetime(3).defaultRaw('now()'),
    /** Null for actions of the platform, e.g. the monthly close. */
    actor: () => referenceTo('User').nullable().deleteRule('set null'),
    action: p.text(),
    subjectType: p.text(),
    subjectId: p.text(),
    data: p.json<Record<string, unknown>>(),
  },
})
export type AuditEntry = InferEntity<typeof AuditEntry>

declare module '../database/tables.ts' {
  interface Tables extends TablesOf<typeof AuditEntry> {}
}
