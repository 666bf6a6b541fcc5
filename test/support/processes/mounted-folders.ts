import { appendFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

const CHUNK = Buffer.alloc(64 * 1024)

/** Why a test that mounts file systems cannot run here; undefined where it can. */
export const cannotMount = process.platform === 'linux' ? undefined : 'mount namespaces exist on Linux only'

/** A command that runs another one in a mount namespace of its own, after this shell command has prepared it. */
function inMountNamespace(prepare: string): string[] {
  const isRoot = process.getuid?.() === 0
  return ['unshare', isRoot ? '-m' : '-rm', 'sh', '-c', `${prepare} && exec "$@"`, 'sh']
}

/** A file system of this size in memory at `folder`; only the process that is started so sees it. */
export const withSmallDisk = (folder: string, size: string) =>
  inMountNamespace(`mount -t tmpfs -o size=${size},mode=755 tmpfs '${folder}'`)

/** The folder is read-only, for the process that is started so. */
export const withReadOnly = (folder: string) =>
  inMountNamespace(`mount --bind '${folder}' '${folder}' && mount -o remount,bind,ro '${folder}'`)

/** Fills the disk at `folder` as the process sees it. The result empties it again. */
export async function fillDisk(pid: number, folder: string): Promise<() => Promise<void>> {
  const filler = join(`/proc/${pid}/root`, folder, 'filler')
  try {
    for (;;) await appendFile(filler, CHUNK)
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC')) throw cause
  }
  return () => rm(filler)
}
