import type { Db } from '../../core/database/tables.ts'

/** Limits how much an account may store. */
export function createQuota({ quotaBytes }: { quotaBytes: number }) {
  /** Returns the bytes of all recordings of an owner, and of the owner's exports. */
  async function usedBytes(db: Db, clientId: string): Promise<number> {
    const row = await db
      .selectFrom('stored_bytes')
      .select('bytes')
      .where('id', '=', clientId)
      .executeTakeFirst()
    return row?.bytes ?? 0
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
