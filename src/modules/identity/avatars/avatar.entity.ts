import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../../core/database/reference.ts'
import type { TablesOf } from '../../../core/database/tables.ts'

/** Maximum size of a stored avatar in bytes. */
export const MAX_AVATAR_BYTES = 256 * 1024

/**
 * A user's uploaded avatar, re-encoded as WebP. An upload replaces the previous avatar. The database stores it because api
 * processes share no disk.
 */
export const Avatar = defineEntity({
  name: 'Avatar',
  tableName: 'avatars',
  properties: {
    user: () => referenceTo('User').primary().deleteRule('cascade'),
    /** A random part of the public URL. Each upload gets a new name. */
    name: p.text(),
    image: p.blob(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type Avatar = InferEntity<typeof Avatar>

declare module '../../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof Avatar> {}
}
