import { chmod, mkdir, open, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Failure } from '../failure.ts'
import { CREDENTIALS_VERSION, CredentialFile } from './credential.ts'
import { OWNER_ONLY_FILE, writeOwnerFile } from './owner-file.ts'

const OWNER_ONLY_FOLDER = 0o700
/** A lock this old was left by a process that died: nobody holds it longer than a few requests take. */
const STALE_LOCK_MS = 60_000
const LOCK_RETRY_MS = 50

export type CredentialStore = ReturnType<typeof createCredentialStore>

/**
 * Keeps credentials in one file that its owner alone can read, changed under a lock, so that of several processes none
 * undoes what another has written.
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
     * Changes the file, alone: other processes wait. `change` gets what stands there now, and may take as long as a
     * request does.
     * @returns what `change` returned beside the new file
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
  const remedy = `Move it away and sign in again with: wheelhouse login`
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
      `${path} was written by another version of wheelhouse. Update this one, or: ${remedy}`,
    )
  }
  throw new Failure('refused', `${path} is not what wheelhouse writes. ${remedy}`)
}

/** A file that others could read is closed to them. Windows has no such modes; its folder belongs to the user. */
async function repairPermissions(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const { mode } = await stat(path)
  if ((mode & 0o077) === 0) return
  await chmod(path, OWNER_ONLY_FILE).catch((cause) => {
    throw new Failure(
      'refused',
      `${path} can be read by others, and that cannot be mended: run chmod 600 on it`,
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
