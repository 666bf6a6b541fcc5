import { randomBytes } from 'node:crypto'
import { createKeyedLimit, createSemaphore } from '../../../core/concurrency/concurrency.ts'
import type { Db } from '../../../core/database/tables.ts'
import { AppError, notFound, unavailable } from '../../../core/errors/errors.ts'
import { allowOnlyAvatarFormats, encodeAvatar } from './avatar-encoding.ts'

/** Decoding takes up to 160 MB of memory for a moment, so little of it goes on at a time. */
const MAX_CONCURRENT_ENCODINGS = 2
/** Uploads in hand, each up to 5 MB of memory, those that wait to be drawn included. */
const MAX_CONCURRENT_UPLOADS = 16
/** Of them, those of one user: stalled uploads of one must not keep the others out. */
const MAX_UPLOADS_PER_USER = 2

const NAME_BYTES = 24
const NAME = /^[\w-]{32}$/

const tooManyUploads = () =>
  new AppError(
    429,
    'too_many_concurrent_requests',
    `At most ${MAX_UPLOADS_PER_USER} of your pictures are uploaded at a time: wait for one to end`,
    {
      headers: { 'Retry-After': '1' },
    },
  )

/** People's uploaded avatars. */
export function createAvatars(deps: { db: Db; now: () => Date }) {
  const { db, now } = deps
  const overloaded = () =>
    unavailable('overloaded', 'Too many pictures are being uploaded. Try again shortly.')
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
     * Receives a picture and puts it in the place of the person's earlier one; returns its name.
     * @throws 429 while two of this user are in hand, 503 while too many of all users are, and whatever receiving and
     *   drawing refuse.
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

    /** The WebP of that name. @throws 404 never there, or replaced. */
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
