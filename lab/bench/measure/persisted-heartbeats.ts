import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Child } from '../../../test/support/processes/children.ts'

const POLL_INTERVAL_MS = 100
const MOST_COMPLAINTS = 3
/** pino's number for a warning. */
const WARNING = 40

/** Returns how many of these robots have a stored heartbeat that is older than an acknowledged one. */
export async function unsavedBeats(db: Client, lastAckedMs: ReadonlyMap<string, number>): Promise<number> {
  const { rows } = await db.query(
    `select count(*)::int as unsaved
     from unnest($1::uuid[], $2::float8[]) as i (robot_id, acked_ms) left join robot_presence p using (robot_id)
     where i.acked_ms > 0 and coalesce(extract(epoch from p.last_heartbeat) * 1000, 0) < i.acked_ms`,
    [[...lastAckedMs.keys()], [...lastAckedMs.values()]],
  )
  return rows[0].unsaved
}

/** Waits until every robot's beat is stored; returns how many are missing, and the time it took. */
export async function untilSaved(db: Client, lastAckedMs: ReadonlyMap<string, number>, limitMs: number) {
  const startedMs = performance.now()
  for (;;) {
    const unsaved = await unsavedBeats(db, lastAckedMs)
    const afterMs = performance.now() - startedMs
    if (unsaved === 0 || afterMs > limitMs) return { unsaved, afterMs }
    await delay(POLL_INTERVAL_MS)
  }
}

/** Returns the newest warnings and errors in a server's log, which explain a missed goal. */
export function complaintsOf(child: Child): string[] {
  const warnings = child.output().split('\n').flatMap(complaint)
  return [...new Set(warnings)].slice(-MOST_COMPLAINTS)
}

function complaint(line: string): string[] {
  try {
    const { level, msg, err } = JSON.parse(line)
    return level >= WARNING ? [`The gateway logged: ${[msg, err?.message].filter(Boolean).join(': ')}`] : []
  } catch {
    return [] // not a log line, or truncated
  }
}
