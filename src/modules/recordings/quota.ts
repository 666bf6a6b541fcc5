import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'

/** Limits how much an account may store. */
export function createQuota({ quotaBytes }: { quotaBytes: number }) {
  /** Returns the bytes of all recordings of an owner. */
  async function usedBytes(db: Db, clientId: string): Promise<number> {
    const row = await db
      .selectFrom('recordings')
      .select(sql<number>`coalesce(sum(size_bytes), 0)::bigint`.as('used'))
      .where('client_id', '=', clientId)
      .executeTakeFirstOrThrow()
    return Number(row.used)
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
