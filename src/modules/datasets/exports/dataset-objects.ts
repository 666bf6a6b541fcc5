import type { Db } from '../../../core/database/tables.ts'
import type { ObjectStore } from '../../../core/storage/object-store.ts'

const ROOT = 'exports/'
const DELETED_AT_ONCE = 100

/** Returns the prefix of the objects of an export. */
export const exportPrefix = (exportId: string): string => `${ROOT}${exportId}/`
/** Returns the export of an object. */
const exportOf = (key: string): string => key.slice(ROOT.length).split('/')[0] ?? ''

/** Creates the removal of objects that no dataset has. */
export function createDatasetObjects({ db, storage }: { db: Db; storage: ObjectStore }) {
  /** Deletes the objects with a prefix that a check selects. */
  async function removeWhere(
    prefix: string,
    isUnused: (key: string) => Promise<boolean> | boolean,
  ): Promise<void> {
    let unused: string[] = []
    for await (const { key } of storage.list(prefix)) {
      if (!(await isUnused(key))) continue
      unused.push(key)
      if (unused.length < DELETED_AT_ONCE) continue
      await storage.delete(unused)
      unused = []
    }
    if (unused.length > 0) await storage.delete(unused)
  }

  return {
    /** Deletes all objects of exports that were deleted. */
    async removeAll(exportIds: readonly string[]): Promise<void> {
      for (const exportId of exportIds) await removeWhere(exportPrefix(exportId), () => true)
    },

    /**
     * Deletes the objects of an export that are no files of it: those of an attempt that ended before it stored them.
     * @param prefix deletes only objects with this prefix
     */
    async removeUnreferenced(exportId: string, prefix = exportPrefix(exportId)): Promise<void> {
      const files = await db
        .selectFrom('dataset_export_files')
        .select('object_key')
        .where('export_id', '=', exportId)
        .execute()
      const keys = new Set(files.map(({ object_key }) => object_key))
      await removeWhere(prefix, (key) => !keys.has(key))
    },

    /** Deletes the objects of exports that do not exist, or have failed. A crash may have ended a deletion before its objects. */
    async removeOrphans(): Promise<void> {
      const known = new Map<string, boolean>()
      await removeWhere(ROOT, async (key) => {
        const exportId = exportOf(key)
        const isKnown = known.get(exportId) ?? (await exists(exportId))
        known.set(exportId, isKnown)
        return !isKnown
      })
    },
  }

  async function exists(exportId: string): Promise<boolean> {
    if (!UUID.test(exportId)) return false
    const row = await db
      .selectFrom('dataset_exports')
      .select('id')
      .where('id', '=', exportId)
      .where('status', '<>', 'FAILED')
      .executeTakeFirst()
    return row !== undefined
  }
}
export type DatasetObjects = ReturnType<typeof createDatasetObjects>

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
