import { appendFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

const CHUNK = Buffer.alloc(64 * 1024)

/** The reason why a test that mounts file systems cannot run here; undefined if it can. */
export const cannotMount = process.platform === 'linux' ? undefined : 'mount namespaces exist on Linux only'

/** Returns a command that runs another one in its own mount namespace, after this shell command has prepared it. */
function inMountNamespace(prepare: string): string[] {
  const isRoot = process.getuid?.() === 0
  return ['unshare', isRoot ? '-m' : '-rm', 'sh', '-c', `${prepare} && exec "$@"`, 'sh']
}

/** Mounts a file system of this size in memory at `folder`, visible only to the started process. */
export const withSmallDisk = (folder: string, size: string) =>
  inMountNamespace(`mount -t tmpfs -o size=${size},mode=755 tmpfs '${folder}'`)

/** Makes the folder read-only for the started process. */
export const withReadOnly = (folder: string) =>
  inMountNamespace(`mount --bind '${folder}' '${folder}' && mount -o remount,bind,ro '${folder}'`)

/** Fills the disk at `folder` as the process sees it. The returned function frees the space again. */
export async function fillDisk(pid: number, folder: string): Promise<() => Promise<void>> {
  const filler = join(`/proc/${pid}/root`, folder, 'filler')
  try {
    for (;;) await appendFile(filler, CHUNK)
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC')) throw cause
  }
  return () => rm(filler)
}
