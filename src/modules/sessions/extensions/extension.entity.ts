import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../../../core/database/tables.ts'
import { Session } from '../record/session.entity.ts'

/** A client's request to extend a session. A session has at most one pending request, which expires when it ends. */
export const SessionExtension = defineEntity({
  name: 'SessionExtension',
  tableName: 'session_extensions',
  indexes: [
    {
      name: 'one_waiting_extension_per_session',
      expression: `create unique index "one_waiting_extension_per_session" on "session_extensions" ("session_id") where "status" = 'REQUESTED'`,
    },
    { name: 'session_extensions_by_session', properties: ['session', 'requestedAt'] },
  ],
  checks: [
    { name: 'session_extensions_minutes', expression: '"additional_minutes" between 1 and 480' },
    {
      name: 'session_extensions_decided',
      expression: `("status" = 'REQUESTED') = ("decided_at" is null)`,
    },
  ],
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
