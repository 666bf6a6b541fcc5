import type { CoreServices } from '../../core/core-services.ts'
import { handleEach } from '../../core/errors/handle-each.ts'
import type { Attempt } from '../../core/jobs/queue.ts'
import type { ObjectStore } from '../../core/storage/object-store.ts'
import type { RecordingJob } from './finish-queue.ts'
import { RECORDINGS_PREFIX, recordingPrefix } from './object-keys.ts'

/** Objects that are deleted at a time. */
const BATCH = 500
/** An object without a recording is deleted at this age: a younger one may be about to be recorded. */
const ORPHAN_AGE_MS = 24 * 3_600_000
const RECORDING_ID = /^recordings\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\//

/** Creates the jobs that delete objects from the storage. */
export function createDeletionWorker(
  deps: Pick<CoreServices, 'db' | 'now' | 'log'> & { store: ObjectStore },
) {
  const { db, now, log, store } = deps

  async function deletePrefix(prefix: string, signal?: AbortSignal): Promise<void> {
    let keys: string[] = []
    for await (const { key } of store.list(prefix)) {
      signal?.throwIfAborted()
      if (keys.push(key) < BATCH) continue
      await store.delete(keys)
      keys = []
    }
    await store.delete(keys)
  }

  /** Returns the key of the file of each recording that exists; null for a recording without a file. */
  async function fileKeysOf(ids: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
    if (ids.length === 0) return new Map()
    const rows = await db.selectFrom('recordings').select(['id', 'file_key']).where('id', 'in', ids).execute()
    return new Map(rows.map(({ id, file_key }) => [id, file_key]))
  }

  return {
    /** Deletes the objects of a deleted recording. */
    async run({ data: { recordingId }, signal }: Attempt<RecordingJob>): Promise<void> {
      await deletePrefix(recordingPrefix(recordingId), signal)
      await db.deleteFrom('recording_deletions').where('recording_id', '=', recordingId).execute()
    },

    /**
     * Deletes old objects that belong to no recording, or that the finished file of their recording has replaced. A crash between a write
     * to the storage and one to the database leaves such objects.
     */
    async removeOrphans(): Promise<void> {
      const before = new Date(now().getTime() - ORPHAN_AGE_MS)
      let old = new Map<string, string[]>()
      const flush = async () => {
        const existing = await fileKeysOf([...old.keys()])
        const deleteUnused = async (id: string) => {
          const fileKey = existing.get(id)
          if (fileKey !== null) await store.delete(old.get(id)?.filter((key) => key !== fileKey) ?? [])
        }
        await handleEach(old.keys(), deleteUnused, { log, failure: 'old files of a recording not deleted' })
        old = new Map()
      }
      let count = 0
      for await (const { key, modifiedAt } of store.list(RECORDINGS_PREFIX)) {
        const id = RECORDING_ID.exec(key)?.[1]
        if (id === undefined || modifiedAt > before) continue
        old.set(id, [...(old.get(id) ?? []), key])
        if (++count % BATCH === 0) await flush()
      }
      await flush()
    },
  }
}
