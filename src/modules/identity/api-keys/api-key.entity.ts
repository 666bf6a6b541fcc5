import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { ApiKeyScope } from '@wheelhouse/protocol'
import { referenceTo } from '../../../core/database/reference.ts'
import type { TablesOf } from '../../../core/database/tables.ts'

/** A programmatic credential. Only its SHA-256 is stored, so a stolen database contains no usable keys. */
export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    id: p.uuid().primary(),
    user: () => referenceTo('User').deleteRule('cascade'),
    /** The organization that the key acts for. It ends with the membership of its user. */
    organization: () => referenceTo('Organization').deleteRule('cascade'),
    name: p.text(),
    hash: p.text().unique('api_keys_hash'),
    prefix: p.text(),
    last4: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    lastUsedAt: p.datetime(3).nullable(),
    /** The network that the last use came from. */
    lastUsedAddress: p.text().nullable(),
    /** What the key may be used for. Null: everything. */
    scopes: p.array<ApiKeyScope>().nullable(),
    /** The key that this one replaces, which stays valid until its own end. */
    replaces: p.uuid().fieldName('replaces_id').nullable(),
    /** When the people concerned were notified that the key is unused; null again after a use. */
    reportedUnusedAt: p.datetime(3).nullable(),
    expiresAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
  },
})
export type ApiKey = InferEntity<typeof ApiKey>

declare module '../../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof ApiKey> {}
}
