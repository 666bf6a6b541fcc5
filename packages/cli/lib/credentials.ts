import { randomUUID } from 'node:crypto'
import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { Failure } from './failure.ts'

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
      { cause },
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

/** A credential of an account: an API key, or a session token from a browser sign-in. */
export const Credential = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('api_key'), key: z.string().min(1) }),
  z.object({
    kind: z.literal('session'),
    /** The token that the platform accepts. */
    token: z.string().min(1),
    /** Which of the provider's tokens it is. Some providers issue access tokens only for themselves. */
    use: z.enum(['access_token', 'id_token']),
    /** End of the token's lifetime, by this machine's clock. */
    expires_at: z.iso.datetime(),
    refresh_token: z.string().min(1).optional(),
    issuer: z.url(),
    client_id: z.string().min(1),
    token_endpoint: z.url(),
  }),
])
export type Credential = z.infer<typeof Credential>
export type SessionCredential = Extract<Credential, { kind: 'session' }>

/** A platform and the credential of an account there. */
export const Profile = z.object({ server: z.url(), credential: Credential })
export type Profile = z.infer<typeof Profile>

const CREDENTIALS_VERSION = 1

/** The stored file. */
export const CredentialFile = z.object({
  version: z.literal(CREDENTIALS_VERSION),
  /** The default profile. */
  current: z.string().optional(),
  profiles: z.record(z.string(), Profile),
})
export type CredentialFile = z.infer<typeof CredentialFile>

export const OWNER_ONLY_FILE = 0o600

/**
 * Writes JSON into a file that only its owner can read. Replaces the file atomically, after the new content is on the
 * disk.
 * @throws Failure when the file cannot be written; the previous file then remains
 */
export async function writeOwnerFile(path: string, value: unknown): Promise<void> {
  const draft = `${path.replace(/\.json$/, '')}.${randomUUID()}.tmp`
  try {
    const handle = await open(draft, 'wx', OWNER_ONLY_FILE)
    try {
      await handle.writeFile(`${JSON.stringify(value, null, 2)}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, path)
  } catch (cause) {
    await rm(draft, { force: true })
    const { code } = cause as NodeJS.ErrnoException
    throw new Failure('refused', `${path} cannot be written (${code})`, { cause })
  }
}

export type Env = Readonly<Record<string, string | undefined>>

/**
 * Returns the folder of the program's settings: `wheelhouse` in `$XDG_CONFIG_HOME` if that is set, else in
 * `~/.config`, `~/Library/Application Support` or `%APPDATA%`.
 */
export function configDirectory(env: Env, platform: NodeJS.Platform = process.platform): string {
  if (env.XDG_CONFIG_HOME) return join(env.XDG_CONFIG_HOME, 'wheelhouse')
  if (platform === 'win32') return join(env.APPDATA ?? join(homedir(), 'AppData', 'Roaming'), 'wheelhouse')
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'wheelhouse')
  return join(homedir(), '.config', 'wheelhouse')
}
