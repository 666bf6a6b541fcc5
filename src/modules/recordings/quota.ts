import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'

/** Limits how much an account may store. */
export function createQuota({ quotaBytes }: { quotaBytes: number }) {
  /** Returns the bytes of all recordings of an owner, and of the owner's exports. */
  async function usedBytes(db: Db, clientId: string): Promise<number> {
    const { rows } = await sql<{ used: string }>`
      select coalesce((select sum(size_bytes) from recordings where client_id = ${clientId}), 0)
        + coalesce((select sum(size_bytes) from dataset_exports where user_id = ${clientId}), 0) as used`.execute(
      db,
    )
    return Number(rows[0]?.used ?? 0)
  }
  return {
    /** 0 for no limit. */
    quotaBytes,
    usedBytes,
    isExceeded: async (db: Db, clientId: string): Promise<boolean> =>
      quotaBytes > 0 && (await usedBytes(db, clientId)) >= quotaBytes,
  }
}
export type Quota = ReturnType<typeof createQuota>
