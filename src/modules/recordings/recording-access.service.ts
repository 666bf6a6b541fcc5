import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { audit } from '../../core/audit/audit.ts'
import type { CoreServices } from '../../core/core-services.ts'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { AppError, conflict, notFound } from '../../core/errors/errors.ts'
import type { Tx } from '../../core/events/transactor.ts'
import { credentialOf } from '../../core/permissions/authorization.ts'
import type { RecordingRow } from './recording.view.ts'
import type { DownloadView, ShareView } from './recording-access.schema.ts'
import type { RecordingReader, Recordings } from './recordings.service.ts'
import type { LinkAuthors } from './watch-links.ts'

const TOKEN_BYTES = 32
/** Links of one recording. */
const MAX_SHARES = 50
/** Bookmarks of one recording. */
const MAX_BOOKMARKS = 500
/** Reads of one kind by one reader count once in this time: readers of MCAP files and replays make many requests. */
const NOTE_AGAIN_MINUTES = 30
/** Most entries in the lists of reads and of links of a recording. */
const LIST_LIMIT = 500

export type DownloadKind = DownloadView['kind']

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex')

const invalidLink = () =>
  new AppError(404, 'share_invalid', 'This link is not valid. It may have expired. Ask for a new one.')

/** Stores who has read recordings, and manages links and bookmarks. */
export function createRecordingAccess(
  deps: Pick<CoreServices, 'db' | 'transact' | 'now' | 'baseUrl' | 'bus'> & {
    recordings: Recordings
    users: LinkAuthors
  },
) {
  const { db, transact, now, baseUrl, bus, recordings, users } = deps

  return {
    /** Adds a read to the list of downloads, once for several in a row. Does nothing for a recording that was deleted. */
    async noteDownload(
      recordingId: string,
      by: { readonly userId: string | null; readonly shareId?: string | null },
      kind: DownloadKind,
    ): Promise<void> {
      const { userId, shareId = null } = by
      const at = now()
      const since = new Date(at.getTime() - NOTE_AGAIN_MINUTES * 60_000)
      await db
        .insertInto('recording_downloads')
        .columns(['recording_id', 'user_id', 'share_id', 'kind', 'at'])
        .expression(
          readsOf(db, { recordingIds: [recordingId], userId, shareId, kind, at }).where(
            ({ not, exists, selectFrom }) =>
              not(
                exists(
                  selectFrom('recording_downloads as earlier')
                    .select('earlier.id')
                    .where('earlier.recording_id', '=', recordingId)
                    .where('earlier.kind', '=', kind)
                    .where('earlier.at', '>', since)
                    .where('earlier.user_id', 'is not distinct from', userId)
                    .where('earlier.share_id', 'is not distinct from', shareId),
                ),
              ),
          ),
        )
        .execute()
    },

    /** Adds the export of recordings to their lists of downloads, in the transaction that creates the export. */
    async noteExport(
      tx: Tx,
      use: { readonly userId: string; readonly recordingIds: readonly string[]; readonly at: Date },
    ): Promise<void> {
      if (use.recordingIds.length === 0) return
      await tx.db
        .insertInto('recording_downloads')
        .columns(['recording_id', 'user_id', 'share_id', 'kind', 'at'])
        .expression(readsOf(tx.db, { ...use, shareId: null, kind: 'export' }))
        .execute()
    },

    /** Returns who has read a recording, newest first. */
    async downloads(reader: RecordingReader, id: string): Promise<DownloadView[]> {
      await recordings.find(reader, id)
      const rows = await db
        .selectFrom('recording_downloads')
        .leftJoin('users', 'users.id', 'recording_downloads.user_id')
        .select(['recording_downloads.user_id', 'users.display_name', 'recording_downloads.share_id'])
        .select(['recording_downloads.kind', 'recording_downloads.at'])
        .where('recording_id', '=', id)
        .orderBy('recording_downloads.at', 'desc')
        .orderBy('recording_downloads.id', 'desc')
        .limit(LIST_LIMIT)
        .execute()
      return rows.map(({ display_name, at, ...row }) => ({ ...row, user_name: display_name, at: iso(at) }))
    },

    /** Creates a link with which anyone can replay a recording for a time. The token is returned only now. */
    share: async (
      reader: RecordingReader,
      id: string,
      expiresInHours: number,
    ): Promise<ShareView & { url: string }> => {
      const { client_id } = await recordings.findOwn(reader, id)
      const token = randomBytes(TOKEN_BYTES).toString('base64url')
      return await transact(async (tx) => {
        const at = now()
        await lockRecording(tx, id)
        const { count } = await tx.db
          .selectFrom('recording_shares')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .where('recording_id', '=', id)
          .where('revoked_at', 'is', null)
          .where('expires_at', '>', at)
          .executeTakeFirstOrThrow()
        if (Number(count) >= MAX_SHARES)
          throw conflict('share_limit_reached', `A recording can have ${MAX_SHARES} links. Revoke one first.`)
        const row = await tx.db
          .insertInto('recording_shares')
          .values({
            id: randomUUID(),
            recording_id: id,
            created_by: reader.userId,
            created_at: at,
            expires_at: new Date(at.getTime() + expiresInHours * 3_600_000),
            token_hash: hashOf(token),
          })
          .returning(['id', 'created_by', 'created_at', 'expires_at', 'revoked_at'])
          .executeTakeFirstOrThrow()
        await audit(tx, {
          at,
          organizationId: client_id,
          actorId: reader.userId,
          credential: credentialOf(reader),
          action: 'recording.shared',
          subject: ['recording', id],
          data: { share_id: row.id, expires_at: iso(row.expires_at) },
        })
        return { ...shareView(row), url: `${baseUrl}/replay/${token}` }
      })
    },

    /** Returns the links of a recording, newest first, without their tokens. */
    async shares(reader: RecordingReader, id: string): Promise<ShareView[]> {
      await recordings.findOwn(reader, id)
      const rows = await db
        .selectFrom('recording_shares')
        .select(['id', 'created_by', 'created_at', 'expires_at', 'revoked_at'])
        .where('recording_id', '=', id)
        .orderBy('created_at', 'desc')
        .limit(LIST_LIMIT)
        .execute()
      return rows.map(shareView)
    },

    /** Revokes a link at once. Downloads with it end. */
    async revokeShare(reader: RecordingReader, id: string, shareId: string): Promise<void> {
      const { client_id } = await recordings.findOwn(reader, id)
      await transact(async (tx) => {
        const revoked = await tx.db
          .updateTable('recording_shares')
          .set(({ fn, val }) => ({ revoked_at: fn.coalesce('revoked_at', val(now())) }))
          .where('id', '=', shareId)
          .where('recording_id', '=', id)
          .returning('id')
          .executeTakeFirst()
        if (!revoked) throw notFound('Link')
        await audit(tx, {
          at: now(),
          organizationId: client_id,
          actorId: reader.userId,
          credential: credentialOf(reader),
          action: 'recording.share_revoked',
          subject: ['recording', id],
          data: { share_id: shareId },
        })
      })
      bus.publish('recording_link.revoked', { linkId: shareId })
    },

    /**
     * Returns the recording of a link.
     * @throws 404 for a token that is unknown, expired, revoked, or of a user who is suspended or may not share the recording any more
     */
    async byToken(token: string): Promise<{ row: RecordingRow; shareId: string; expiresAt: Date }> {
      const share = await db
        .selectFrom('recording_shares as share')
        .select(['share.id', 'share.recording_id', 'share.created_by', 'share.expires_at'])
        .where('share.token_hash', '=', hashOf(token))
        .where('share.revoked_at', 'is', null)
        .where('share.expires_at', '>', now())
        .executeTakeFirst()
      if (!share) throw invalidLink()
      const roles = await users.activeRoles(share.created_by)
      const row = roles && (await recordings.ofAuthor(share.created_by, roles, share.recording_id))
      if (!row) throw invalidLink()
      return { row, shareId: share.id, expiresAt: share.expires_at }
    },

    async bookmarks(reader: RecordingReader, id: string) {
      await recordings.find(reader, id)
      const rows = await db
        .selectFrom('recording_bookmarks')
        .innerJoin('users', 'users.id', 'recording_bookmarks.user_id')
        .select(['recording_bookmarks.id', 'recording_bookmarks.user_id', 'users.display_name'])
        .select(['recording_bookmarks.at', 'recording_bookmarks.label', 'recording_bookmarks.created_at'])
        .where('recording_id', '=', id)
        .orderBy('recording_bookmarks.at')
        .orderBy('recording_bookmarks.id')
        .limit(MAX_BOOKMARKS)
        .execute()
      return rows.map(({ display_name, at, created_at, ...row }) => ({
        ...row,
        user_name: display_name,
        at: iso(at),
        created_at: iso(created_at),
      }))
    },

    async addBookmark(reader: RecordingReader, id: string, { at, label }: { at: string; label: string }) {
      await recordings.find(reader, id)
      return await transact(async (tx) => {
        await lockRecording(tx, id)
        const { count } = await tx.db
          .selectFrom('recording_bookmarks')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .where('recording_id', '=', id)
          .executeTakeFirstOrThrow()
        if (Number(count) >= MAX_BOOKMARKS)
          throw conflict(
            'bookmark_limit_reached',
            `A recording can have ${MAX_BOOKMARKS} bookmarks. Delete one first.`,
          )
        const bookmark = { id: randomUUID(), recording_id: id, user_id: reader.userId, label }
        const row = await tx.db
          .insertInto('recording_bookmarks')
          .values({ ...bookmark, at: new Date(at), created_at: now() })
          .returning(['id', 'user_id', 'at', 'label', 'created_at'])
          .executeTakeFirstOrThrow()
        const user = await tx.db
          .selectFrom('users')
          .select('display_name')
          .where('id', '=', reader.userId)
          .executeTakeFirstOrThrow()
        return { ...row, user_name: user.display_name, at: iso(row.at), created_at: iso(row.created_at) }
      })
    },

    /** Deletes a bookmark: its author, the owner of the robot and admins may. */
    async removeBookmark(reader: RecordingReader, id: string, bookmarkId: string): Promise<void> {
      const mayDeleteAll = recordings.mayChange(reader, await recordings.find(reader, id))
      const removed = await db
        .deleteFrom('recording_bookmarks')
        .where('id', '=', bookmarkId)
        .where('recording_id', '=', id)
        .$if(!mayDeleteAll, (query) => query.where('user_id', '=', reader.userId))
        .executeTakeFirst()
      if (removed.numDeletedRows === 0n) throw notFound('Bookmark')
    },
  }
}
export type RecordingAccess = ReturnType<typeof createRecordingAccess>

/** Selects reads of those of these recordings that exist. Waits for a deletion, after which the row does not exist. */
const readsOf = (
  db: Db,
  read: {
    readonly recordingIds: readonly string[]
    readonly userId: string | null
    readonly shareId: string | null
    readonly kind: DownloadKind
    readonly at: Date
  },
) =>
  db
    .selectFrom('recordings')
    .select(({ val, cast }) => [
      'recordings.id',
      cast<string | null>(val(read.userId), 'uuid').as('user_id'),
      cast<string | null>(val(read.shareId), 'uuid').as('share_id'),
      cast<DownloadKind>(val(read.kind), 'text').as('kind'),
      cast<Date>(val(read.at), 'timestamptz').as('at'),
    ])
    .where('recordings.id', 'in', read.recordingIds)
    .forKeyShare()

/** Orders concurrent changes of what belongs to a recording. @throws 404 for a recording that was deleted. */
async function lockRecording(tx: Tx, id: string): Promise<void> {
  const row = await tx.db
    .selectFrom('recordings')
    .select('id')
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw notFound('Recording')
}

const shareView = (row: {
  id: string
  created_by: string
  created_at: Date
  expires_at: Date
  revoked_at: Date | null
}): ShareView => ({
  id: row.id,
  created_by: row.created_by,
  created_at: iso(row.created_at),
  expires_at: iso(row.expires_at),
  revoked_at: iso(row.revoked_at),
})
