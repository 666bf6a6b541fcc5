import type { Role } from '@wheelhouse/protocol'
import { type RawBuilder, sql } from 'kysely'
import { audit } from '../../core/audit/audit.ts'
import type { CoreServices } from '../../core/core-services.ts'
import { inBatches } from '../../core/database/in-batches.ts'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { conflict, notFound } from '../../core/errors/errors.ts'
import { handleEach } from '../../core/errors/handle-each.ts'
import { cursorValues, decodeCursor, encodeCursor, pageOf } from '../../core/http/cursor.ts'
import type { Caller } from '../../core/http/endpoint.ts'
import {
  can,
  credentialOf,
  grantedTo,
  inScope,
  requireCan,
  scopeOf,
} from '../../core/permissions/authorization.ts'
import { DELETE_RECORDINGS } from './finish-queue.ts'
import type { Quota } from './quota.ts'
import type { ListRecordings, RecordingParts, RecordingView } from './recording.schema.ts'
import { gapsOf, MAX_GAPS, type RecordingRow, recordingView } from './recording.view.ts'
import { isSharer } from './watch-links.ts'

/** A user who reads recordings. Admins see all. */
export type RecordingReader = Pick<Caller, 'userId' | 'roles' | 'organization' | 'credential'>

/** Listed segments of a recording that is not READY, the newest ones: an hour of a session with four cameras. */
const MAX_PARTS = 5_000

/** Expired recordings that are deleted at a time. */
const EXPIRED_PER_BATCH = 1_000
/** Comes before every id. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000'
/** The lists are sorted by it. */
const SORT = 'started_at'

const isAdmin = ({ roles }: RecordingReader) => roles.includes('admin')

/** Returns why a reader sees recordings: they are of the organization that the reader acts for, or the reader was the operator. */
function visible(reader: RecordingReader): RawBuilder<boolean>[] {
  const { userId, organization } = reader
  const mayRead = can(reader, 'recordings.read')
  const operated =
    organization.id === userId
      ? sql<boolean>`recordings.operator_id = ${userId}`
      : sql<boolean>`(recordings.operator_id = ${userId} and recordings.client_id = ${organization.id})`
  // What is driven for a team belongs to the team.
  const actedFor = sql`(select case when sessions.own_operator then recordings.client_id else recordings.operator_id end
    from sessions where sessions.id = recordings.session_id)`
  return [
    ...(mayRead ? [inScope('recordings', scopeOf(reader))] : []),
    sql<boolean>`(${operated} and ${actedFor} = ${organization.id})`,
  ]
}

/** Adds recordings of robots whose owners have granted the organization to read them. */
const readable = (reader: RecordingReader): RawBuilder<boolean>[] => [
  ...visible(reader),
  ...(can(reader, 'recordings.read')
    ? [
        grantedTo('recordings', scopeOf(reader), {
          robot: 'recordings.robot_id',
          owner: 'recordings.client_id',
        }),
      ]
    : []),
]

const anyOf = (reasons: readonly RawBuilder<boolean>[]): RawBuilder<boolean> =>
  sql<boolean>`(${sql.join([...reasons], sql` or `)})`

/** Selects recordings with the names of their robots. */
const selectRecordings = (db: Db) =>
  db
    .selectFrom('recordings')
    .innerJoin('robots', 'robots.id', 'recordings.robot_id')
    .innerJoin('sessions', 'sessions.id', 'recordings.session_id')
    .selectAll('recordings')
    .select(sql<string>`coalesce(sessions.recorded_robot_name, robots.name)`.as('robot_name'))

/**
 * Reads and deletes recordings. Owner, operator, admins and organizations with a grant read a recording; the owner and admins
 * delete it.
 */
export function createRecordings(
  deps: Pick<CoreServices, 'db' | 'transact' | 'now' | 'log'> & { quota: Quota },
) {
  const { db, transact, now, log, quota } = deps

  const visibleTo = (reader: RecordingReader) =>
    isAdmin(reader) ? selectRecordings(db) : selectRecordings(db).where(anyOf(visible(reader)))

  const readableBy = (reader: RecordingReader) =>
    isAdmin(reader) ? selectRecordings(db) : selectRecordings(db).where(anyOf(readable(reader)))

  const mayChange = (reader: RecordingReader, row: RecordingRow) =>
    isAdmin(reader) || (row.client_id === reader.organization.id && can(reader, 'recordings.write'))

  async function viewOf(row: RecordingRow): Promise<RecordingView> {
    const gaps = await gapsOf(db, [row.id], MAX_GAPS.view, now())
    return recordingView(row, gaps.get(row.id) ?? [])
  }

  /** @throws 404 when the recording does not exist, or the reader has no part in its session. */
  async function find(reader: RecordingReader, id: string): Promise<RecordingRow> {
    const row = await visibleTo(reader).where('recordings.id', '=', id).executeTakeFirst()
    if (!row) throw notFound('Recording')
    return row
  }

  /** Returns a recording to read its content. @throws 404 when `find` does, and no grant includes the recording */
  async function findReadable(reader: RecordingReader, id: string): Promise<RecordingRow> {
    const row = await readableBy(reader).where('recordings.id', '=', id).executeTakeFirst()
    if (!row) throw notFound('Recording')
    return row
  }

  /** @throws 404 unless the reader may change the recording. */
  async function findOwn(reader: RecordingReader, id: string): Promise<RecordingRow> {
    const row = await find(reader, id)
    if (mayChange(reader, row)) return row
    // A member who only sees the recording knows that it exists.
    if (row.client_id === reader.organization.id) requireCan(reader, 'recordings.write')
    throw notFound('Recording')
  }

  return {
    find,
    findReadable,
    findOwn,
    mayChange,
    /** Returns a recording if the author of a link, who has these roles of the platform, may still share it. */
    async ofAuthor(userId: string, roles: readonly Role[], id: string): Promise<RecordingRow | undefined> {
      return await selectRecordings(db)
        .where('recordings.id', '=', id)
        .where(roles.includes('admin') ? sql<boolean>`true` : isSharer(sql`${userId}::uuid`))
        .executeTakeFirst()
    },

    get: async (reader: RecordingReader, id: string): Promise<RecordingView> =>
      await viewOf(await findReadable(reader, id)),
    viewOf,

    /** @throws 404 without a recording. */
    async ofSession(reader: RecordingReader, sessionId: string): Promise<RecordingView> {
      const row = await visibleTo(reader).where('recordings.session_id', '=', sessionId).executeTakeFirst()
      if (!row) throw notFound('Recording')
      return await viewOf(row)
    },

    /** Returns a page of the recordings of the reader's robots and sessions, newest first. */
    async list(reader: RecordingReader, { robot_id, cursor, limit }: ListRecordings) {
      const after = cursor === undefined ? undefined : decodeCursor(cursor, SORT, cursorValues.time)
      // The first of all are among the first of each reason, which an index has in this order.
      const firstOf = (reason: RawBuilder<boolean>) =>
        db
          .selectFrom('recordings')
          .select(['id', 'started_at'])
          .where(reason)
          .$if(robot_id !== undefined, (query) => query.where('robot_id', '=', robot_id!))
          .$if(after !== undefined, (query) =>
            query.where((eb) =>
              eb(eb.refTuple('started_at', 'id'), '<', eb.tuple(new Date(after!.value), after!.id)),
            ),
          )
          .orderBy('started_at', 'desc')
          .orderBy('id', 'desc')
          .limit(limit + 1)
      const firsts = sql.join(
        readable(reader).map((reason) => sql`(${firstOf(reason)})`),
        sql` union `,
      )
      const ids = sql<{ id: string }>`(select id from (${firsts}) as first
        order by started_at desc, id desc limit ${limit + 1})`
      const rows = await selectRecordings(db)
        .innerJoin(ids.as<'page'>(sql`page`), 'page.id', 'recordings.id')
        .orderBy('recordings.started_at', 'desc')
        .orderBy('recordings.id', 'desc')
        .execute()
      const { page, last } = pageOf(rows, limit)
      const gaps = await gapsOf(
        db,
        page.map(({ id }) => id),
        MAX_GAPS.list,
        now(),
      )
      return {
        recordings: page.map((row) => recordingView(row, gaps.get(row.id) ?? [])),
        next_cursor: last ? encodeCursor(SORT, last.started_at, last.id) : null,
        used_bytes: await quota.usedBytes(db, reader.organization.id),
        quota_bytes: quota.quotaBytes || null,
      }
    },

    /** Returns what of a recording can be read now. `prefix` is the path below which its parts are served. */
    async parts(row: RecordingRow, prefix: string): Promise<RecordingParts> {
      if (row.status === 'READY') {
        const [from, to] = [iso(row.started_at), iso(row.ended_at ?? row.started_at)]
        const whole = { url: `${prefix}/file`, source: 'all', from, to, size_bytes: row.size_bytes }
        return { complete: true, truncated: false, parts: [whole] }
      }
      const segments = await db
        .selectFrom('recording_segments as segment')
        .innerJoin('recording_streams as stream', 'stream.id', 'segment.stream_id')
        .select(['segment.stream_id', 'segment.number', 'segment.from_at', 'segment.to_at'])
        .select(['segment.size_bytes', 'stream.source'])
        .where('segment.recording_id', '=', row.id)
        .orderBy('segment.from_at', 'desc')
        .limit(MAX_PARTS + 1)
        .execute()
      const truncated = segments.length > MAX_PARTS
      const listed = segments.slice(0, MAX_PARTS).reverse()
      const parts = listed.map(({ stream_id, number, from_at, to_at, size_bytes, source }) => ({
        url: `${prefix}/segments/${stream_id}/${number}`,
        source,
        from: iso(from_at),
        to: iso(to_at),
        size_bytes,
      }))
      return { complete: false, truncated, parts }
    },

    /** Returns a stored segment of a recording. @throws 404 */
    async segment(recordingId: string, streamId: string, number: number) {
      const row = await db
        .selectFrom('recording_segments')
        .select(['object_key', 'size_bytes', 'sha256'])
        .where('recording_id', '=', recordingId)
        .where('stream_id', '=', streamId)
        .where('number', '=', number)
        .executeTakeFirst()
      if (!row) throw notFound('Segment')
      return row
    },

    /** Deletes a recording and, by a job, everything that the storage has of it. Records who did. */
    async remove(reader: RecordingReader, id: string): Promise<void> {
      const { client_id } = await findOwn(reader, id)
      const removed = await removeRow(id, reader, client_id)
      if (!removed)
        throw conflict(
          'recording_in_progress',
          'The session is still recorded. End the session, or turn the recording of the robot off, then delete it.',
        )
    },

    /** Deletes recordings whose time has passed. Those that cannot be deleted do not keep the others. */
    async removeExpired(): Promise<void> {
      let after = { expires_at: new Date(0), id: FIRST_ID }
      await inBatches(EXPIRED_PER_BATCH, async () => {
        const expired = await db
          .selectFrom('recordings')
          .select(['id', 'client_id', 'expires_at'])
          .where('expires_at', '<=', now())
          .where('status', 'in', ['READY', 'FAILED'])
          .where(sql<boolean>`(expires_at, id) > (${after.expires_at}::timestamptz, ${after.id}::uuid)`)
          .orderBy('expires_at')
          .orderBy('id')
          .limit(EXPIRED_PER_BATCH)
          .execute()
        const last = expired.at(-1)
        if (last?.expires_at) after = { expires_at: last.expires_at, id: last.id }
        await handleEach(expired, ({ id, client_id }) => removeRow(id, undefined, client_id), {
          log,
          failure: 'expired recording not deleted; the next run repeats it',
        })
        return expired.length
      })
    },
  }

  /** Removes the row of a finished recording. Returns false if it is not finished. */
  async function removeRow(
    id: string,
    reader: RecordingReader | undefined,
    ownerId: string,
  ): Promise<boolean> {
    return await transact(async (tx) => {
      const row = await tx.db
        .deleteFrom('recordings')
        .where('id', '=', id)
        .where('status', 'in', ['READY', 'FAILED'])
        .returning(['session_id', 'size_bytes'])
        .executeTakeFirst()
      if (!row) return false
      await tx.db.insertInto('recording_deletions').values({ recording_id: id, deleted_at: now() }).execute()
      await audit(tx, {
        at: now(),
        organizationId: ownerId,
        actorId: reader?.userId,
        credential: reader && credentialOf(reader),
        action: reader === undefined ? 'recording.expired' : 'recording.deleted',
        subject: ['recording', id],
        data: { session_id: row.session_id, owner_id: ownerId, size_bytes: row.size_bytes },
      })
      tx.enqueue({ queue: DELETE_RECORDINGS, data: { recordingId: id } })
      return true
    })
  }
}
export type Recordings = ReturnType<typeof createRecordings>
