import { connectTo } from '../database/sql.ts'
import type { TestRobot } from '../gateway/frame-socket.ts'
import type { TestUser } from './test-user.ts'

let serial = 0

/** Returns a valid episode frame of one second, ten seconds ago. */
export function episodeFrame(fields: Record<string, unknown> = {}) {
  const startedAt = Date.now() - 10_000
  return {
    type: 'episode',
    episode_id: `episode-${++serial}`,
    started_at: startedAt,
    ended_at: startedAt + 1_000,
    size_bytes: 1_500_000,
    ...fields,
  }
}

/** Sends an episode and waits for its acknowledgement; only acknowledgements of others may arrive before it. */
export async function storeEpisode(link: TestRobot, fields: Record<string, unknown> = {}) {
  const frame = episodeFrame(fields)
  link.send(frame)
  for (;;) if ((await link.next('episode_ack')).episode_id === frame.episode_id) return frame
}

/** Sends a heartbeat and waits for its answer: the gateway has read all earlier frames by then. */
export async function hasRead(link: TestRobot): Promise<void> {
  const seq = ++serial
  link.send({ type: 'heartbeat', seq })
  for (;;) if ((await link.next('heartbeat_ack')).seq === seq) return
}

export async function datasetsOf(owner: TestUser) {
  return (await owner.get('/api/client/datasets')).body.datasets
}

export async function episodesOf(owner: TestUser, datasetId: string, query = '') {
  return (await owner.get(`/api/client/datasets/${datasetId}/episodes${query}`)).body.episodes
}

/** Blocks inserts of episodes until `release` is called. */
export async function blockEpisodes(databaseUrl: string) {
  const client = await connectTo(databaseUrl)
  await client.query('begin')
  await client.query('lock table episodes in share mode')
  return { release: () => client.end() }
}

/** Totals that must agree in all tables. */
export async function totals(databaseUrl: string) {
  await using client = await connectTo(databaseUrl)
  const read = async (sql: string) => (await client.query(sql)).rows
  return {
    datasets: await read(`
      select d.robot_id, d.episode_count as count, d.size_bytes::float8 as bytes,
        (select count(*)::int from episodes e where e.dataset_id = d.id) as rows,
        (select sum(size_bytes)::float8 from episodes e where e.dataset_id = d.id) as row_bytes
      from datasets d order by d.robot_id`),
    sessions: await read(`
      select s.id, s.episodes_collected as count, s.data_collected_bytes::float8 as bytes,
        (select count(*)::int from episodes e where e.session_id = s.id) as rows,
        (select coalesce(sum(size_bytes), 0)::float8 from episodes e where e.session_id = s.id) as row_bytes
      from sessions s order by s.id`),
  }
}
