import { readFileSync } from 'node:fs'
import type { ClusterNode } from '../cluster/cluster.ts'
import type { Evidence } from './evidence.ts'

const FATAL = 60
const ERROR = 50
const SHOWN_CHARACTERS = 200
/** Written by `src/main.ts` when the stores are down at the start; a supervisor starts it again. */
const REFUSAL = 'Wheelhouse did not start.'
const ours: ReadonlySet<string> = new Set(['api', 'hub', 'gateway', 'worker', 'recorder'])

/**
 * Reads the output of the Wheelhouse processes. A line that is not a log line is Node's report of an uncaught error.
 * Returns the errors in the logs by their text, with their number.
 */
export function readLogs(
  nodes: readonly ClusterNode[],
  evidence: Pick<Evidence, 'violations'>,
): Map<string, number> {
  const errors = new Map<string, number>()
  for (const { name, kind, logFile } of nodes) {
    if (!ours.has(kind)) continue
    let refused = 0
    for (const line of readFileSync(logFile, 'utf8').split('\n')) {
      if (line.trim() === '') continue
      const entry = entryOf(line)
      if (entry === undefined) {
        // The failed start, and the line with its reason.
        if (line.startsWith(REFUSAL)) refused = 2
        if (refused-- > 0) continue
        evidence.violations.add(
          `${name} wrote a line that is not a log line: ${line.slice(0, SHOWN_CHARACTERS)}`,
        )
        continue
      }
      // A store that is down excuses 503; any other failure of a request is a defect.
      const failed = entry.status !== undefined && entry.status >= 500 && entry.status !== 503
      if (entry.level >= FATAL || failed)
        evidence.violations.add(`${name}: ${line.slice(0, SHOWN_CHARACTERS)}`)
      if (entry.level < ERROR) continue
      const text = `${kind}: ${entry.msg}${entry.err ? `: ${entry.err.message}` : ''}`.slice(
        0,
        SHOWN_CHARACTERS,
      )
      errors.set(text, (errors.get(text) ?? 0) + 1)
    }
  }
  return errors
}

interface Entry {
  level: number
  msg: string
  /** The status of a request that failed. */
  status?: number
  err?: { message: string }
}

function entryOf(line: string): Entry | undefined {
  try {
    const value: unknown = JSON.parse(line)
    const isEntry = typeof value === 'object' && value !== null && 'level' in value
    return isEntry ? (value as Entry) : undefined
  } catch {
    return undefined
  }
}
