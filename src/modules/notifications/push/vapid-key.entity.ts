import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../../../core/database/tables.ts'

/** Stores the generated key pair with which the platform identifies itself to push services (RFC 8292). One row at most. */
export const VapidKey = defineEntity({
  name: 'VapidKey',
  tableName: 'vapid_keys',
  properties: {
    id: p.integer().autoincrement(false).primary(),
    publicKey: p.text(),
    /** Encrypted with a key that derives from SECRET_KEY. */
    sealedPrivateKey: p.text(),
  },
})
export type VapidKey = InferEntity<typeof VapidKey>

declare module '../../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof VapidKey> {}
}
