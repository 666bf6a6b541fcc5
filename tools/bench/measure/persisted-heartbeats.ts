import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Child } from '../children.ts'

const POLL_INTERVAL_MS = 100
const MOST_COMPLAINTS = 3
/** pino's number for a warning. */
const WARNING = 40

/** How many of these robots have a heartbeat in the database that is older than one they got acknowledged. */
export async function unsavedBeats(db: Client, lastAckedMs: ReadonlyMap<string, number>): Promise<number> {
  const { rows } = await db.query(
    `select count(*)::int as unsaved
     from unnest($1::uuid[], $2::float8[]) as i (robot_id, acked_ms) left join robot_presence p using (robot_id)
     where i.acked_ms > 0 and coalesce(extract(epoch from p.last_heartbeat) * 1000, 0) < i.acked_ms`,
    [[...lastAckedMs.keys()], [...lastAckedMs.values()]],
  )
  return rows[0].unsaved
}

/** Waits until every robot's beat is in the database: how many are still missing, and after what time. */
export async function untilSaved(db: Client, lastAckedMs: ReadonlyMap<string, number>, limitMs: number) {
  const startedMs = performance.now()
  for (;;) {
    const unsaved = await unsavedBeats(db, lastAckedMs)
    const afterMs = performance.now() - startedMs
    if (unsaved === 0 || afterMs > limitMs) return { unsaved, afterMs }
    await delay(POLL_INTERVAL_MS)
  }
}

/** Warnings and errors a server has logged, the newest few: whoever reads a missed goal needs them. */
export function complaintsOf(child: Child): string[] {
  const warnings = child.output().split('\n').flatMap(complaint)
  return [...new Set(warnings)].slice(-MOST_COMPLAINTS)
}

function complaint(line: string): string[] {
  try {
    const { level, msg, err } = JSON.parse(line)
    return level >= WARNING ? [`The gateway said: ${[msg, err?.message].filter(Boolean).join(': ')}`] : []
  } catch {
    return [] // not a line of its log, or cut off
  }
}
