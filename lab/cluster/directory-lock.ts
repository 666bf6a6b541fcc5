import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { waitUntil } from '../../src/core/concurrency/concurrency.ts'
import { beganAt, childrenOf, isThere, sendTo } from '../../test/support/processes/process-table.ts'
import type { ClusterNode } from './node.ts'

const END_LIMIT_MS = 60_000

/** A process with its start time, which distinguishes it from a later one with the same number; undefined if unknown. */
const Process = z.object({ name: z.string(), pid: z.number(), began: z.string() })
type Process = z.infer<typeof Process>
const Record = z.object({ owner: Process, nodes: z.array(Process) })

/**
 * Locks a directory for this process, after it has ended what a killed cluster left running there.
 * @throws Error when a running cluster has locked it.
 */
export async function claimDirectory(dataDir: string) {
  mkdirSync(dataDir, { recursive: true })
  const file = fileIn(dataDir)
  const owner = describe('cluster', process.pid)
  const before = recordIn(dataDir)
  if (before && before.owner.pid !== owner.pid && isSameProcess(before.owner)) {
    throw new Error(
      `The cluster in ${dataDir} is already running, as process ${before.owner.pid}. Stop it, or choose another ` +
        'directory and other ports: npm run cluster -- --data-dir <directory> --port 0.',
    )
  }
  await endLeftOvers(dataDir)
  const write = (nodes: Process[]) => {
    // Written atomically: an incomplete record would leave every process running.
    writeFileSync(`${file}.new`, JSON.stringify({ owner, nodes }), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }
  write([])
  const stopReaper = startReaper(dataDir)
  return {
    /** Records the running processes, for the next cluster after a kill. */
    note: (nodes: readonly ClusterNode[]) =>
      write(nodes.flatMap(({ name, pid }) => (pid === undefined ? [] : [describe(name, pid)]))),
    release() {
      rmSync(file, { force: true })
      stopReaper()
    },
  }
}

/** Starts a process that waits for the end of this one, however it ends, and then ends the remaining processes. */
function startReaper(dataDir: string): () => void {
  const program = fileURLToPath(new URL('reaper.ts', import.meta.url))
  const child = spawn(process.execPath, [program, dataDir], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.on('error', () => {}) // without a reaper, the next cluster in this directory cleans up
  child.unref()
  const { stdin } = child
  stdin.on('error', () => {})
  ;(stdin as Socket).unref()
  return () => stdin.end()
}

/** Kills the processes in a directory's record. */
export async function endLeftOvers(dataDir: string): Promise<void> {
  const left = (recordIn(dataDir)?.nodes ?? []).filter(isSameProcess)
  for (const { pid } of left) {
    sendTo(pid, 'SIGSTOP') // so that it starts no more children
    for (const child of childrenOf(pid)) sendTo(child, 'SIGKILL')
    sendTo(-pid, 'SIGKILL')
  }
  const ended = await waitUntil(() => !left.some(isSameProcess), END_LIMIT_MS)
  if (!ended)
    throw new Error(`Left over from a cluster that was killed: ${left.map(({ pid }) => pid).join(', ')}`)
}

const fileIn = (dataDir: string) => join(dataDir, 'processes.json')

/** Returns the record of a directory; undefined when there is none, or when it is incomplete. */
function recordIn(dataDir: string) {
  try {
    return Record.parse(JSON.parse(readFileSync(fileIn(dataDir), 'utf8')))
  } catch {
    return undefined
  }
}

const describe = (name: string, pid: number): Process => ({ name, pid, began: beganAt(pid) ?? '' })

const isSameProcess = ({ pid, began }: Process) => began !== '' && isThere(pid) && beganAt(pid) === began
