import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Row } from '../report.ts'
import type { ApiUser } from '../rest/fixtures.ts'
import { figure } from '../stats.ts'
import type { RestTarget } from '../targets.ts'

const SAMPLE_MS = 10
const MOST_EXTRA_MB = 80
const BYTES_PER_MB = 1_000_000

/** Measures how much a server's process grows while it streams sessions to a client that reads as fast as it can. */
export async function exportMemory(
  db: Client,
  target: RestTarget,
  owner: ApiUser,
  sessions: number,
): Promise<Row> {
  const { rows } = await db.query<{ created_at: Date }>(
    'select created_at from sessions where client_id = $1 order by created_at desc offset $2 limit 1',
    [owner.id, sessions - 1],
  )
  const from = rows[0]?.created_at.toISOString() ?? ''
  const before = await target.probe('memory')
  let peakBytes = before.rssBytes
  let over = false
  const sampling = (async () => {
    while (!over) {
      peakBytes = Math.max(peakBytes, await target.probe('rss'))
      await delay(SAMPLE_MS)
    }
  })()
  const startedMs = performance.now()
  const lines = await exportedLines(target.port, owner, from).finally(() => {
    over = true
  })
  const tookMs = performance.now() - startedMs
  await sampling
  if (lines !== sessions + 1) throw new Error(`the export has ${lines} lines instead of ${sessions + 1}`)
  const extraMb = (peakBytes - before.rssBytes) / BYTES_PER_MB
  return {
    what: `export of ${figure(sessions)} sessions as CSV in ${figure(tookMs / 1_000)} s: extra memory`,
    measured: `${figure(extraMb)} MB`,
    goal: `≤ ${MOST_EXTRA_MB} MB`,
    met: extraMb <= MOST_EXTRA_MB,
  }
}

/** Counts the lines of the answer: one for each session, and the header. */
async function exportedLines(port: number, owner: ApiUser, from: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/api/sessions/export`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${owner.apiKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ format: 'csv', from }),
  })
  if (response.status !== 200 || !response.body) throw new Error(`export: ${response.status}`)
  let lines = 0
  for await (const chunk of response.body) {
    for (const byte of chunk) if (byte === 10) lines++
  }
  return lines
}
