import { readFileSync } from 'node:fs'
import type { ClusterNode } from '../cluster/cluster.ts'
import type { Evidence } from './evidence.ts'

const FATAL = 60
const ERROR = 50
const SHOWN_CHARACTERS = 200
/** What `src/main.ts` writes when the stores are away at the start; a supervisor starts it again. */
const REFUSAL = 'Wheelhouse did not start.'
const ours: ReadonlySet<string> = new Set(['api', 'hub', 'gateway', 'worker'])

/**
 * Reads what the processes of Wheelhouse have written. Whatever is no log line is what Node writes of an error that
 * nobody caught. Answers with the errors in the logs by their text, and how often.
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
        // The refusal, and the one line that gives its reason.
        if (line.startsWith(REFUSAL)) refused = 2
        if (refused-- > 0) continue
        evidence.violations.add(`${name} wrote what is no log: ${line.slice(0, SHOWN_CHARACTERS)}`)
        continue
      }
      // 503 is what a store that is away excuses; any other failure of a request is one of ours.
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
  /** Of a request that failed. */
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
