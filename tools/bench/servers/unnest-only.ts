import { offer, sayReady } from '../rpc.ts'
import { BEATS_SQL, openBeatsPool, ROWS_PER_STATEMENT } from './beats-sql.ts'

// The other limit: writing heartbeats and nothing else, from arrays that are already there.

/** Statements under way at a time: while PostgreSQL works on one, the next is prepared and sent. */
const LANES = 2

async function write(databaseUrl: string, robotIds: readonly string[], forMs: number) {
  const pool = openBeatsPool(databaseUrl, LANES)
  const batches = chunks(robotIds)
  const startedMs = performance.now()
  const untilMs = startedMs + forMs
  let rows = 0
  // Each lane has its own robots: two statements never wait for each other's rows.
  const lane = async (own: readonly (readonly string[])[]) => {
    for (let turn = 0; performance.now() < untilMs && own.length > 0; turn++) {
      const ids = own[turn % own.length] as readonly string[]
      const nowMs = Date.now()
      const values = [ids, ids.map(() => 1), ids.map(() => nowMs)]
      rows += (await pool.query({ name: 'beats', text: BEATS_SQL, values })).rowCount ?? 0
    }
  }
  await Promise.all(
    Array.from({ length: LANES }, (_, index) => lane(batches.filter((_, at) => at % LANES === index))),
  )
  const tookMs = performance.now() - startedMs
  await pool.end()
  return { rows, tookMs }
}

/** Robots in statements of equal size, an even number of them so that every lane has as much to do. */
function chunks(robotIds: readonly string[]): string[][] {
  const count = LANES * Math.max(1, Math.ceil(robotIds.length / ROWS_PER_STATEMENT / LANES))
  const size = Math.ceil(robotIds.length / count)
  return Array.from({ length: count }, (_, index) => robotIds.slice(index * size, (index + 1) * size))
}

const handlers = { write }
export type UnnestWriter = typeof handlers

offer(handlers)
sayReady(0)
