import { setTimeout as delay } from 'node:timers/promises'
import type { Row } from '../report.ts'
import type { Somebody } from '../rest/people.ts'
import { figure } from '../stats.ts'
import type { RestTarget } from '../targets.ts'

const SAMPLE_MS = 10
const MOST_EXTRA_MB = 80
const BYTES_PER_MB = 1_000_000

/** How much a server's process grows while it streams so many sessions to a client who reads as fast as it can. */
export async function exportMemory(target: RestTarget, owner: Somebody, sessions: number): Promise<Row> {
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
  const lines = await exportedLines(target.port, owner, sessions).finally(() => {
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

/** The sessions are a minute apart; the answer has a line for each and one with the names. */
async function exportedLines(port: number, owner: Somebody, sessions: number): Promise<number> {
  const from = new Date(Date.now() - (sessions + 0.5) * 60_000).toISOString()
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
