import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { waitUntil } from '../src/async.ts'
import type { ClusterNode } from './node.ts'
import { sendTo } from './spawn.ts'

const END_LIMIT_MS = 10_000

/** A process, told apart from a later one with the same number by the moment it began; empty where unknown. */
const Process = z.object({ name: z.string(), pid: z.number(), began: z.string() })
type Process = z.infer<typeof Process>
const Record = z.object({ owner: Process, nodes: z.array(Process) })

/**
 * Makes a directory this process's own. What a cluster that was killed has left running there is ended first.
 * @throws Error when a cluster that lives has it.
 */
export async function claimDirectory(dataDir: string) {
  mkdirSync(dataDir, { recursive: true })
  const file = join(dataDir, 'processes.json')
  const owner = describe('cluster', process.pid)
  if (existsSync(file)) {
    const before = Record.parse(JSON.parse(readFileSync(file, 'utf8')))
    if (before.owner.pid !== owner.pid && isStillThere(before.owner)) {
      throw new Error(
        `The cluster in ${dataDir} is already running, as process ${before.owner.pid}. Stop it, or choose another ` +
          'place and other ports: npm run cluster -- --data-dir <directory> --port 0.',
      )
    }
    await endLeftOvers(before.nodes)
  }
  const write = (nodes: Process[]) => writeFileSync(file, JSON.stringify({ owner, nodes }), { mode: 0o600 })
  write([])
  return {
    /** Writes down what runs, for whoever comes after a kill. */
    note: (nodes: readonly ClusterNode[]) =>
      write(nodes.flatMap(({ name, pid }) => (pid === undefined ? [] : [describe(name, pid)]))),
    release: () => rmSync(file, { force: true }),
  }
}

/** PostgreSQL is left out: it has a record of its own, and children that must be waited for. */
async function endLeftOvers(nodes: readonly Process[]): Promise<void> {
  const left = nodes.filter((node) => node.name !== 'postgres' && isStillThere(node))
  for (const { pid } of left) sendTo(-pid, 'SIGKILL')
  const ended = await waitUntil(() => !left.some(isStillThere), END_LIMIT_MS)
  if (!ended)
    throw new Error(`Left over from a cluster that was killed: ${left.map(({ pid }) => pid).join(', ')}`)
}

const describe = (name: string, pid: number): Process => ({ name, pid, began: beganAt(pid) ?? '' })

const isStillThere = ({ pid, began }: Process) => sendTo(pid, 0) && began !== '' && beganAt(pid) === began

/** When a process began, in the system's own ticks; undefined where the system does not tell, or of a dead one. */
function beganAt(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' ? undefined : fields[18]
  } catch {
    return undefined
  }
}
