import { offer, sendReady } from '../../../test/support/processes/rpc.ts'
import { BEATS_SQL, openBeatsPool, ROWS_PER_STATEMENT } from './heartbeats-sql.ts'

// The other limit: only writes heartbeats, from prepared arrays.

/** Concurrent statements: while PostgreSQL executes one, the next is prepared and sent. */
const PARALLEL_WRITERS = 2

async function write(databaseUrl: string, robotIds: readonly string[], forMs: number) {
  const pool = openBeatsPool(databaseUrl, PARALLEL_WRITERS)
  const batches = chunks(robotIds)
  const startedMs = performance.now()
  const untilMs = startedMs + forMs
  let rows = 0
  // Each lane has its own robots: two statements never wait for each other's rows.
  const channel = async (own: readonly (readonly string[])[]) => {
    for (let turn = 0; performance.now() < untilMs && own.length > 0; turn++) {
      const ids = own[turn % own.length] as readonly string[]
      const nowMs = Date.now()
      const values = [ids, ids.map(() => 1), ids.map(() => nowMs)]
      rows += (await pool.query({ name: 'beats', text: BEATS_SQL, values })).rowCount ?? 0
    }
  }
  await Promise.all(
    Array.from({ length: PARALLEL_WRITERS }, (_, index) =>
      channel(batches.filter((_, at) => at % PARALLEL_WRITERS === index)),
    ),
  )
  const tookMs = performance.now() - startedMs
  await pool.end()
  return { rows, tookMs }
}

/** Splits robots into statements of equal size, an even number of them so that every lane has the same load. */
function chunks(robotIds: readonly string[]): string[][] {
  const count =
    PARALLEL_WRITERS * Math.max(1, Math.ceil(robotIds.length / ROWS_PER_STATEMENT / PARALLEL_WRITERS))
  const size = Math.ceil(robotIds.length / count)
  return Array.from({ length: count }, (_, index) => robotIds.slice(index * size, (index + 1) * size))
}

const handlers = { write }
export type UnnestWriter = typeof handlers

offer(handlers)
sendReady(0)
