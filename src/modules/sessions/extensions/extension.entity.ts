import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../../../core/database/tables.ts'
import { Session } from '../record/session.entity.ts'

/** A client's request to extend a session. A session has at most one pending request, which expires when it ends. */
export const SessionExtension = defineEntity({
  name: 'SessionExtension',
  tableName: 'session_extensions',
  properties: {
    id: p.uuid().primary(),
    session: () => p.manyToOne(Session).mapToPk(),
    additionalMinutes: p.integer(),
    status: p.enum(['REQUESTED', 'APPROVED', 'DECLINED', 'EXPIRED']).default('REQUESTED'),
    requestedAt: p.datetime(3).defaultRaw('now()'),
    /** When the operator decided, or when the request expired. */
    decidedAt: p.datetime(3).nullable(),
  },
})
export type SessionExtension = InferEntity<typeof SessionExtension>

declare module '../../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof SessionExtension> {}
}
