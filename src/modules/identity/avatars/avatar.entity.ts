import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../../core/database/reference.ts'
import type { TablesOf } from '../../../core/database/tables.ts'

/** Most bytes of a stored avatar. */
export const MAX_AVATAR_BYTES = 256 * 1024

/**
 * A person's uploaded avatar, re-encoded as WebP; one each, so that the newer one replaces the older. It lies
 * in the database because api processes share no disk.
 */
export const Avatar = defineEntity({
  name: 'Avatar',
  tableName: 'avatars',
  uniques: [{ name: 'avatars_name', properties: ['name'] }],
  checks: [{ name: 'avatars_size', expression: `octet_length("image") <= ${MAX_AVATAR_BYTES}` }],
  properties: {
    user: () => referenceTo('User').primary().deleteRule('cascade'),
    /** Random, part of the public URL; another one for every upload. */
    name: p.text(),
    image: p.blob(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type Avatar = InferEntity<typeof Avatar>

declare module '../../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof Avatar> {}
}
