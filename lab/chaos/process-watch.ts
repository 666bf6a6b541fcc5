import { readFileSync } from 'node:fs'
import type { ClusterNode } from '../cluster/cluster.ts'
import type { Evidence } from './evidence.ts'

const POLL_INTERVAL_MS = 500
const WARM_UP_MS = 15_000
/** A Wheelhouse process under this load needs a quarter of it. */
const MOST_RESIDENT_MB = 700
const ours: ReadonlySet<string> = new Set(['api', 'hub', 'gateway', 'worker', 'recorder'])

export interface Memory {
  readonly name: string
  /** Resident megabytes: after the warm-up, the maximum, the last. Over all its runs. */
  readonly early: number
  readonly most: number
  readonly last: number
}

/**
 * Watches the processes during the faults: only nodes in `faulted` may end. Measures their memory.
 */
export function watchProcesses(
  nodes: readonly ClusterNode[],
  { evidence, struck }: { evidence: Pick<Evidence, 'violations'>; struck: ReadonlySet<string> },
) {
  const startedMs = performance.now()
  const memory = new Map<string, { early: number; most: number; last: number }>()
  const dead = new Set<string>()

  function poll(): void {
    for (const node of nodes) {
      const { pid } = node
      if (!node.running && !struck.has(node.name) && !dead.has(node.name)) {
        dead.add(node.name) // reported once
        evidence.violations.add(`${node.name} ended without a fault; read ${node.logFile}`)
      }
      if (pid === undefined || !ours.has(node.kind)) continue
      const megabytes = residentMb(pid)
      if (megabytes === undefined) continue
      const known = memory.get(node.name) ?? { early: megabytes, most: megabytes, last: megabytes }
      known.last = megabytes
      known.most = Math.max(known.most, megabytes)
      if (performance.now() - startedMs < WARM_UP_MS) known.early = megabytes
      memory.set(node.name, known)
    }
  }
  const timer = setInterval(poll, POLL_INTERVAL_MS)

  return {
    memory: (): Memory[] => [...memory].map(([name, figures]) => ({ name, ...figures })),
    finish(): void {
      clearInterval(timer)
      poll()
      for (const [name, { most }] of memory)
        if (most > MOST_RESIDENT_MB) evidence.violations.add(`${name} grew to ${Math.round(most)} MB`)
    },
  }
}

/** Returns the resident memory of a process; undefined where the system does not report it, or after its end. */
function residentMb(pid: number): number | undefined {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
  } catch {
    return undefined
  }
}
