import { getHeapSpaceStatistics } from 'node:v8'
import pg from 'pg'
import { PreparingClient, prepared } from '../../../src/core/database/prepared.ts'
import { WAIT_LIMIT_MS } from '../wait-limit.ts'

// A process that repeats a query of 50 rows, and prints by how many kilobytes the old generation of its heap grew for each query, in
// several batches. Its argument is the URL of the database.

const BATCHES = 5
const QUERIES_PER_BATCH = 600
const TEXT = prepared(
  'select now() as at, n, md5(n::text) as text from generate_series(1, 50) as n where n > $1',
)

const oldSpaceKb = () =>
  getHeapSpaceStatistics()
    .filter(({ space_name }) => space_name === 'old_space')
    .reduce((sum, { space_used_size }) => sum + space_used_size / 1_024, 0)

const pool = new pg.Pool({
  connectionString: process.argv[2],
  max: 2,
  query_timeout: WAIT_LIMIT_MS,
  Client: PreparingClient,
})
const growthsKb: number[] = []
for (let batch = 0; batch < BATCHES; batch++) {
  const beforeKb = oldSpaceKb()
  for (let query = 0; query < QUERIES_PER_BATCH; query++) {
    const client = await pool.connect()
    await client.query(TEXT, [0])
    client.release()
  }
  growthsKb.push((oldSpaceKb() - beforeKb) / QUERIES_PER_BATCH)
}
await pool.end()
process.stdout.write(JSON.stringify(growthsKb))
