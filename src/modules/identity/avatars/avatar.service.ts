import { randomBytes } from 'node:crypto'
import { createKeyedLimit, createSemaphore } from '../../../core/concurrency/concurrency.ts'
import type { Db } from '../../../core/database/tables.ts'
import { AppError, notFound, unavailable } from '../../../core/errors/errors.ts'
import { allowOnlyAvatarFormats, encodeAvatar } from './avatar-encoding.ts'

/** Decoding an image uses up to 160 MB of memory. */
const MAX_CONCURRENT_ENCODINGS = 2
/** Maximum number of uploads in progress, including those that wait for encoding. Each uses up to 5 MB of memory. */
const MAX_CONCURRENT_UPLOADS = 16
/** The limit per user, so that stalled uploads of a user do not block others. */
const MAX_UPLOADS_PER_USER = 2

const NAME_BYTES = 24
const NAME = /^[\w-]{32}$/

const tooManyUploads = () =>
  new AppError(
    429,
    'too_many_concurrent_requests',
    `You can upload at most ${MAX_UPLOADS_PER_USER} images at the same time. Wait until an upload has finished.`,
    {
      headers: { 'Retry-After': '1' },
    },
  )

/** Creates the service for uploaded avatars. */
export function createAvatars(deps: { db: Db; now: () => Date }) {
  const { db, now } = deps
  const overloaded = () => unavailable('overloaded', 'Too many images are being uploaded. Try again shortly.')
  const limitUserUploads = createKeyedLimit({ concurrency: MAX_UPLOADS_PER_USER, overloaded: tooManyUploads })
  const limitUploads = createSemaphore({ concurrency: MAX_CONCURRENT_UPLOADS, queueSize: 0, overloaded })
  const limitEncoding = createSemaphore({
    concurrency: MAX_CONCURRENT_ENCODINGS,
    queueSize: MAX_CONCURRENT_UPLOADS,
    overloaded,
  })
  allowOnlyAvatarFormats()

  return {
    /**
     * Receives an image, replaces the user's avatar with it and returns its name.
     * @throws 429 if the user has too many uploads in progress, 503 if the platform has, and the errors of `receive` and
     *   `encodeAvatar`.
     */
    replace: (userId: string, receive: () => Promise<Buffer>): Promise<string> =>
      limitUserUploads(userId, () =>
        limitUploads(async () => {
          const file = await receive()
          const image = await limitEncoding(() => encodeAvatar(file))
          const avatar = { name: randomBytes(NAME_BYTES).toString('base64url'), image, created_at: now() }
          await db
            .insertInto('avatars')
            .values({ user_id: userId, ...avatar })
            .onConflict((conflict) => conflict.column('user_id').doUpdateSet(avatar))
            .execute()
          return avatar.name
        }),
      ),

    /** Returns an avatar as WebP. @throws 404 if it does not exist or was replaced. */
    async find(name: string): Promise<Buffer> {
      const row = NAME.test(name)
        ? await db.selectFrom('avatars').select('image').where('name', '=', name).executeTakeFirst()
        : undefined
      if (!row) throw notFound('Avatar')
      return Buffer.from(row.image)
    },
  }
}
export type Avatars = ReturnType<typeof createAvatars>
