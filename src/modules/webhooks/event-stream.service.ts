import type { PlatformEvent } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { AppError } from '../../core/errors/errors.ts'
import { filterMatchesSql } from './event-filter-sql.ts'
import { RENEWAL_MS, subscribe } from './event-subscription.ts'

/** Where to start reading: after a number, at the oldest stored event, or after the latest event. */
export type Position = number | 'oldest' | 'latest'

export interface Page {
  readonly events: PlatformEvent[]
  /** The position for the next read. It skips events that the filter excluded. */
  readonly next: number
  /** Whether more events are available. */
  readonly more: boolean
}

interface Row {
  subscribed: boolean
  renewed_at: Date | null
  head: number
  pruned_to: number
  id: string | null
  seq: number
  type: string
  data: Record<string, unknown>
  created_at: Date
}

const cursorGoneError = (message: string) =>
  new AppError(
    410,
    'cursor_gone',
    `${message}. Read the current state, then continue with after=latest, or with after=oldest.`,
  )

/** Creates the reader of users' event streams. */
export function createEventStreams({ db, now }: { db: Db; now: () => Date }) {
  /**
   * Reads events and the state of the stream. One query reads the events and the deleted range, so that a concurrent
   * deletion cannot cause an unnoticed gap.
   */
  async function readRows(
    userId: string,
    from: Position,
    { types, limit }: { types: readonly string[] | undefined; limit: number },
  ): Promise<Row[]> {
    const after = typeof from === 'number' ? from : null
    const { rows } = await sql<Row>`
        select s.subscribed, s.renewed_at, s.head, s.pruned_to, e.id, e.seq, e.type, e.data, e.created_at
        from (
          select coalesce(bool_or(subscribed), false) as subscribed, max(renewed_at) as renewed_at,
            coalesce(max(head), 0) as head, coalesce(max(pruned_to), 0) as pruned_to
          from event_streams where user_id = ${userId}
        ) as s left join lateral (
          select id, seq, type, data, created_at from user_events
          where user_id = ${userId}
            and seq > coalesce(${after}::bigint, case when ${from === 'latest'} then s.head else s.pruned_to end)
            ${types ? sql`and ${filterMatchesSql(sql`${types}::text[]`, sql`type`)}` : sql``}
          order by seq limit ${limit + 1}
        ) as e on true
        order by e.seq`.execute(db)
    return rows
  }

  /** Returns whether the subscription must be renewed before events can be missed. */
  const mustRenew = ({ subscribed, renewed_at }: Row) =>
    !subscribed || renewed_at === null || renewed_at.getTime() < now().getTime() - RENEWAL_MS

  return {
    /**
     * Returns a page, oldest first. The first read subscribes the user: events are stored from then on.
     * @throws 410 if events after the position have been deleted, or the position is after the newest event
     */
    async read(
      userId: string,
      from: Position,
      filter: { types: readonly string[] | undefined; limit: number },
    ): Promise<Page> {
      let rows = await readRows(userId, from, filter)
      if (mustRenew(rows[0] as Row)) {
        await subscribe(db, userId, now())
        rows = await readRows(userId, from, filter)
      }
      const after = typeof from === 'number' ? from : null
      const { limit } = filter
      const { head, pruned_to } = rows[0] as Row
      if (after !== null && after < pruned_to)
        throw cursorGoneError(`Events up to ${pruned_to} are no longer stored`)
      if (after !== null && after > head)
        throw cursorGoneError(`Event ${after} does not exist yet; the newest is ${head}`)
      const events = rows.filter((row) => row.id !== null)
      const pageRows = events.slice(0, limit)
      const more = events.length > limit
      const last = pageRows.at(-1)
      return { events: pageRows.map(view), next: more && last ? last.seq : head, more }
    },
  }
}
export type EventStreams = ReturnType<typeof createEventStreams>

const view = (row: Row): PlatformEvent => ({
  id: row.id as string,
  seq: row.seq,
  type: row.type,
  created_at: iso(row.created_at),
  data: row.data,
})
