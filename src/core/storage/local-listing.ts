import { lstat, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isAbsent } from './local-errors.ts'
import { requireNoLinks } from './local-files.ts'
import { describeFile } from './local-writer.ts'
import { isSegment } from './object-keys.ts'
import type { StoredObject } from './object-store.ts'

/**
 * Lists the files whose keys begin with a prefix, in the order of their keys. Holds the names of one folder of each level in
 * memory. Ignores everything that has no valid key, such as temporary files, and symbolic links.
 */
export function listFiles(root: string, prefix: string): AsyncGenerator<StoredObject> {
  return listFolder(root, prefix.slice(0, prefix.lastIndexOf('/') + 1), prefix)
}

async function* listFolder(root: string, folder: string, prefix: string): AsyncGenerator<StoredObject> {
  for (const name of await namesIn(root, folder)) {
    if (!name.startsWith(prefix)) continue
    if (name.endsWith('/')) {
      yield* listFolder(root, name, prefix)
      continue
    }
    try {
      yield describeFile(name, await lstat(join(root, name), { bigint: true }))
    } catch (cause) {
      if (!isAbsent(cause)) throw cause // deleted since
    }
  }
}

/** Returns the keys of the files and, with a slash, of the folders. The slash makes their order the order of all keys. */
async function namesIn(root: string, folder: string): Promise<string[]> {
  try {
    const path = resolve(root, folder)
    await requireNoLinks(path)
    const entries = await readdir(path, { withFileTypes: true })
    return entries
      .filter((entry) => isSegment(entry.name) && (entry.isFile() || entry.isDirectory()))
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
      .sort()
  } catch (cause) {
    if (isAbsent(cause)) return []
    throw cause
  }
}
