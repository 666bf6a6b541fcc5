import { createHash } from 'node:crypto'
import { constants, type FileHandle, link, lstat, open, rename, rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { ApiError } from '@wheelhouse/sdk'
import type { Context } from './context.ts'
import { isTransient } from './errors.ts'
import { Failure } from './failure.ts'

/** Attempts in a row that bring no bytes. */
const MAX_FAILURES = 5
const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 60_000

/** A file of the platform, and where it is written. */
interface RemoteFile {
  /** Its path at the platform. */
  readonly url: string
  readonly target: string
  readonly sizeBytes: number
  /** Identifies the content, so that a download continues only with the same one. */
  readonly version: string
  readonly sha256?: string
  /** Returns whether the complete file has its format. */
  readonly isIntact?: (part: PartFile) => Promise<boolean>
  /** Whether it replaces a file. */
  readonly overwrites: boolean
  readonly onProgress: (bytes: number) => void
}

/**
 * Downloads a file. The part that has arrived is in `<target>.<version>.part`, with which the next call continues. The file appears when
 * it is complete and verified. @throws ApiError, Failure
 */
export async function downloadFile(
  cli: Pick<Context, 'fetchFile' | 'signal'>,
  file: RemoteFile,
): Promise<void> {
  const { target, overwrites } = file
  const path = `${target}.${file.version.slice(0, 12)}.part`
  try {
    if (!overwrites && (await exists(target))) throw existsFailure(target)
    const part = await openPart(path, file.sizeBytes)
    try {
      await receiveAll(cli, file, part)
      if (!(await isVerified(file, part))) {
        await rm(path)
        throw new Failure(
          'refused',
          `The file that arrived for ${target} is damaged and was removed. Try again.`,
        )
      }
      await part.handle.sync()
    } catch (cause) {
      if (part.bytes === 0) await rm(path, { force: true })
      throw cause
    } finally {
      await part.handle.close()
    }
    await publishPart(path, target, overwrites)
  } catch (cause) {
    if (cli.signal.aborted)
      throw new Failure('interrupted', 'Interrupted. The same command continues the download.', { cause })
    const { syscall, code } = cause as NodeJS.ErrnoException
    if (syscall === undefined) throw cause
    throw new Failure('refused', `${target} cannot be written (${code})`, { cause })
  }
}

const isVerified = async ({ sizeBytes, sha256, isIntact }: RemoteFile, part: PartFile): Promise<boolean> =>
  part.bytes === sizeBytes &&
  (await part.handle.stat()).size === sizeBytes &&
  (sha256 === undefined || part.digest() === sha256) &&
  ((await isIntact?.(part)) ?? true)

/** Receives the rest of a file, with further attempts after failures of the connection. */
async function receiveAll(
  cli: Pick<Context, 'fetchFile' | 'signal'>,
  file: RemoteFile,
  part: PartFile,
): Promise<void> {
  const known = { etag: file.sha256 === undefined ? undefined : `"${file.sha256}"` }
  let failures = 0
  while (part.bytes < file.sizeBytes) {
    const before = part.bytes
    try {
      await receive(cli, file, part, known)
    } catch (cause) {
      if (cli.signal.aborted || !isRepeatable(cause)) throw cause
      failures = part.bytes === before ? failures + 1 : 1
      const waitMs = Math.max(FIRST_DELAY_MS * 2 ** (failures - 1), 1_000 * (retryAfterS(cause) ?? 0))
      if (failures >= MAX_FAILURES || waitMs > LONGEST_DELAY_MS) throw brokenFailure(cause)
      await delay(waitMs, undefined, { signal: cli.signal })
    }
  }
}

/** Receives once, from what has arrived on. */
async function receive(
  { fetchFile }: Pick<Context, 'fetchFile'>,
  { url, target, sizeBytes, onProgress }: RemoteFile,
  part: PartFile,
  known: { etag: string | undefined },
): Promise<void> {
  const from = part.bytes
  const range = { Range: `bytes=${from}-`, ...(known.etag !== undefined && { 'If-Range': known.etag }) }
  const { status, headers, body } = await fetchFile(url, from > 0 ? range : {})
  known.etag ??= headers.get('ETag') ?? undefined
  const isPart = status === 206
  const [name, expected] = isPart
    ? ['Content-Range', `bytes ${from}-${sizeBytes - 1}/${sizeBytes}`]
    : ['Content-Length', String(sizeBytes)]
  // A proxy may omit the length.
  if ((headers.get(name) ?? (isPart ? '' : expected)) !== expected) {
    await body?.cancel()
    throw changedFailure(target)
  }
  if (!isPart && from > 0) await part.restart()
  onProgress(part.bytes)
  for await (const chunk of body ?? []) {
    if (part.bytes + chunk.length > sizeBytes) throw changedFailure(target)
    await part.append(chunk)
    onProgress(part.bytes)
  }
  if (part.bytes < sizeBytes)
    throw new Failure('unreachable', 'The connection ended before the whole file had arrived.')
}

const changedFailure = (target: string) =>
  new Failure('refused', `The platform has another file for ${target} now. Try again.`)

/** Returns whether another attempt may succeed. `fetch` throws a TypeError when a connection breaks. */
const isRepeatable = (cause: unknown) => cause instanceof TypeError || isTransient(cause)
const retryAfterS = (cause: unknown) => (cause instanceof ApiError ? cause.retryAfterS : undefined)

function brokenFailure(cause: unknown): unknown {
  if (!(cause instanceof TypeError)) return cause
  const next = 'The same command continues the download.'
  return new Failure('unreachable', `The connection broke before the download was complete. ${next}`, {
    cause,
  })
}

/** Errors of file systems without hard links. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/** The received beginning of a file. */
export interface PartFile {
  readonly handle: FileHandle
  /** Number of received bytes. */
  readonly bytes: number
  append(chunk: Uint8Array): Promise<void>
  /** Drops all received bytes. */
  restart(): Promise<void>
  /** Returns the SHA-256 of the received bytes in hexadecimal. */
  digest(): string
}

/**
 * Opens the part of an interrupted download, or creates an empty one. Hashes what it contains.
 * @param maxBytes the size of the whole file; a longer part is dropped
 */
async function openPart(path: string, maxBytes: number): Promise<PartFile> {
  // A link could lead to a file of another user.
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o666)
  try {
    let hash = createHash('sha256')
    let bytes = 0
    const restart = async () => {
      await handle.truncate(0)
      hash = createHash('sha256')
      bytes = 0
    }
    if ((await handle.stat()).size > maxBytes) await restart()
    for await (const chunk of handle.createReadStream({ start: 0, autoClose: false })) {
      hash.update(chunk)
      bytes += chunk.length
    }
    return {
      handle,
      get bytes() {
        return bytes
      },
      async append(chunk) {
        // At its position: another download of the same file writes the same bytes there.
        for (let written = 0; written < chunk.length; ) {
          const { bytesWritten } = await handle.write(chunk, written, chunk.length - written, bytes + written)
          written += bytesWritten
        }
        hash.update(chunk)
        bytes += chunk.length
      },
      restart,
      digest: () => hash.copy().digest('hex'),
    }
  } catch (cause) {
    await handle.close()
    throw cause
  }
}

/** Gives a complete part its final name. @throws Failure if a file has that name, unless `overwrites` */
async function publishPart(part: string, target: string, overwrites: boolean): Promise<void> {
  if (overwrites) return await rename(part, target)
  try {
    // Unlike a rename, it never replaces a file that another program has created.
    await link(part, target)
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    if (code === 'EEXIST') throw existsFailure(target)
    if (!NO_LINKS.includes(code)) throw cause
    if (await exists(target)) throw existsFailure(target)
    return await rename(part, target)
  }
  await rm(part)
}

const existsFailure = (path: string) =>
  new Failure('refused', `${path} exists. Replace it with --force, or name another file with -o.`)

/** Returns whether a path exists, also as a link that leads nowhere. */
async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw cause
  }
}
