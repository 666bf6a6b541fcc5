import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'

/** A recorder without renewals for this time is gone. */
const NODE_TIMEOUT_SECONDS = 6

/** A recorder to which sources connect. */
export interface RecorderNodeAddress {
  readonly id: string
  /** WebSocket address without a path. */
  readonly url: string
}

/** Stores which recorders are running. Their streams end with them: see `endLostStreams`. */
export function createRecorderNodes({ db }: { db: Db }) {
  return {
    async renew({ id, url, draining }: RecorderNodeAddress & { draining: boolean }): Promise<void> {
      await sql`
        insert into recorder_nodes (id, url, draining) values (${id}, ${url}, ${draining})
        on conflict (id) do update set seen_at = now(), url = excluded.url, draining = excluded.draining`.execute(
        db,
      )
    },

    async remove(id: string): Promise<void> {
      await db.deleteFrom('recorder_nodes').where('id', '=', id).execute()
    },

    /** Returns the recorders that accept streams. */
    live: (): Promise<RecorderNodeAddress[]> =>
      db
        .selectFrom('recorder_nodes')
        .select(['id', 'url'])
        .where('draining', '=', false)
        .where(isRecorderAlive)
        .orderBy('id')
        .execute(),

    /** Returns all running recorders, also those that are about to end. Live readers need them. */
    running: (): Promise<RecorderNodeAddress[]> =>
      db.selectFrom('recorder_nodes').select(['id', 'url']).where(isRecorderAlive).orderBy('id').execute(),

    /** Removes the rows of recorders that are gone. */
    async removeExpired(): Promise<void> {
      await sql`delete from recorder_nodes where not ${isRecorderAlive}`.execute(db)
    },
  }
}
export type RecorderNodes = ReturnType<typeof createRecorderNodes>

const isRecorderAlive = sql<boolean>`(seen_at > now() - make_interval(secs => ${NODE_TIMEOUT_SECONDS}))`
