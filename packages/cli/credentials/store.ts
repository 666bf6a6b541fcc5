import { chmod, mkdir, open, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Failure } from '../failure.ts'
import { CREDENTIALS_VERSION, CredentialFile } from './credential.ts'
import { OWNER_ONLY_FILE, writeOwnerFile } from './owner-file.ts'

const OWNER_ONLY_FOLDER = 0o700
/** A lock of this age belongs to a process that died. A process holds the lock only for a few requests. */
const STALE_LOCK_MS = 60_000
const LOCK_RETRY_MS = 50

export type CredentialStore = ReturnType<typeof createCredentialStore>

/**
 * Stores credentials in one file that only its owner can read. Changes it under a lock, so that concurrent processes do
 * not overwrite each other's changes.
 */
export function createCredentialStore(folder: string) {
  const path = join(folder, 'credentials.json')
  const lockPath = join(folder, 'credentials.lock')

  async function read(): Promise<CredentialFile> {
    const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ENOENT') return undefined
      throw new Failure('refused', `${path} cannot be read (${cause.code})`, { cause })
    })
    if (text === undefined) return { version: CREDENTIALS_VERSION, profiles: {} }
    await repairPermissions(path)
    return parseFile(text, path)
  }

  return {
    path,
    read,

    /**
     * Changes the file under the lock. `change` gets the current content and may take as long as a request.
     * @returns the second value that `change` returns
     */
    async update<T>(
      change: (file: CredentialFile) => Promise<readonly [CredentialFile, T]> | readonly [CredentialFile, T],
      signal?: AbortSignal,
    ): Promise<T> {
      await mkdir(folder, { recursive: true, mode: OWNER_ONLY_FOLDER })
      await chmod(folder, OWNER_ONLY_FOLDER)
      const unlock = await acquireLock(lockPath, signal)
      try {
        const before = await read()
        const [after, result] = await change(before)
        if (after !== before) await writeOwnerFile(path, after)
        return result
      } finally {
        await unlock()
      }
    },
  }
}

function parseFile(text: string, path: string): CredentialFile {
  const remedy = `Move the file away and sign in again with: wheelhouse login`
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new Failure('refused', `${path} is damaged. ${remedy}`, { cause })
  }
  const file = CredentialFile.safeParse(value)
  if (file.success) return file.data
  const version =
    typeof value === 'object' && value !== null && 'version' in value ? value.version : undefined
  if (version !== undefined && version !== CREDENTIALS_VERSION) {
    throw new Failure(
      'refused',
      `${path} is from another version of wheelhouse. Update this version, or: ${remedy}`,
    )
  }
  throw new Failure('refused', `${path} is not a credentials file of wheelhouse. ${remedy}`)
}

/** Removes the permissions of other users. Windows has no such modes; the folder belongs to the user. */
async function repairPermissions(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const { mode } = await stat(path)
  if ((mode & 0o077) === 0) return
  await chmod(path, OWNER_ONLY_FILE).catch((cause) => {
    throw new Failure(
      'refused',
      `Other users can read ${path}, and its permissions cannot be changed. Run chmod 600 on it.`,
      {
        cause,
      },
    )
  })
}

async function acquireLock(path: string, signal?: AbortSignal): Promise<() => Promise<void>> {
  for (;;) {
    signal?.throwIfAborted()
    try {
      const handle = await open(path, 'wx', OWNER_ONLY_FILE)
      await handle.close()
      return () => rm(path, { force: true })
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      if (code !== 'EEXIST') throw new Failure('refused', `${path} cannot be written (${code})`, { cause })
    }
    const lockStat = await stat(path).catch(() => undefined)
    if (lockStat && Date.now() - lockStat.mtimeMs > STALE_LOCK_MS) await rm(path, { force: true })
    else await delay(LOCK_RETRY_MS)
  }
}
