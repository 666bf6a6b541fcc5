import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../../core/database/reference.ts'
import type { TablesOf } from '../../../core/database/tables.ts'

/** A programmatic credential. Only its SHA-256 is stored, so a stolen database contains no usable keys. */
export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    id: p.uuid().primary(),
    user: () => referenceTo('User').deleteRule('cascade'),
    name: p.text(),
    hash: p.text().unique('api_keys_hash'),
    prefix: p.text(),
    last4: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    lastUsedAt: p.datetime(3).nullable(),
    expiresAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
  },
})
export type ApiKey = InferEntity<typeof ApiKey>

declare module '../../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof ApiKey> {}
}
