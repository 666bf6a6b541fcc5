import { sql } from 'kysely'
import type { Transact, Tx } from '../../core/events/transactor.ts'

/** How far a robot's clock may be off for its episode still to belong to a session. */
const CLOCK_TOLERANCE_MS = 5_000
/** Sessions of a robot follow each other, so that only the newest few begun by then can contain a moment. */
const SESSIONS_LOOKED_AT = 8

/** An episode as a robot reports it. Times are Unix milliseconds. */
export interface ReportedEpisode {
  readonly robotId: string
  readonly episodeId: string
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly sizeBytes: number
  readonly success: boolean | null
  readonly uri: string | null
}

/** Puts episodes into the database, many in one transaction. */
export function createEpisodeStore(deps: { transact: Transact; now: () => Date }) {
  const { transact, now } = deps
  return {
    /**
     * Stores episodes and counts those that are new, each to its robot's dataset and to the session that it
     * began in. What is stored already is left as it is. All or nothing.
     * @returns for each episode, in order, whether it is stored; false: there is no such robot
     */
    save: (episodes: readonly ReportedEpisode[]): Promise<boolean[]> =>
      transact(async (tx) => {
        const at = now()
        const robotIds = [...new Set(episodes.map((episode) => episode.robotId))]
        await createMissingDatasets(tx, robotIds, at)
        const known = await lockDatasets(tx, robotIds)
        await insertAndCount(tx, episodes, at)
        return episodes.map((episode) => known.has(episode.robotId))
      }),
  }
}
export type EpisodeStore = ReturnType<typeof createEpisodeStore>

/** Makes the datasets of robots that have none yet; they belong to the robots' owners. */
async function createMissingDatasets(tx: Tx, robotIds: readonly string[], at: Date): Promise<void> {
  await sql`
    insert into datasets (id, robot_id, client_id, created_at, updated_at)
    select gen_random_uuid(), id, owner_id, ${at}::timestamptz, ${at}::timestamptz
    from robots where id = any(${robotIds}::uuid[]) order by id
    on conflict (robot_id) do nothing`.execute(tx.db)
}

/**
 * Takes the datasets in one order everywhere. Who has them has all that follows, episodes, sessions and counts:
 * two transactions about the same robots never wait for each other in a circle.
 */
async function lockDatasets(tx: Tx, robotIds: readonly string[]): Promise<Set<string>> {
  const rows = await tx.db
    .selectFrom('datasets')
    .select('robot_id')
    .where('robot_id', 'in', [...robotIds])
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  return new Set(rows.map((row) => row.robot_id))
}

/**
 * Inserts what is not there yet and counts exactly that. A session that contains the start of an episode is
 * preferred to one that does so only within the tolerance. Sums stop at the largest whole number that the wire
 * can carry: a robot that claims absurd sizes must not make its owner's lists unreadable.
 */
async function insertAndCount(tx: Tx, episodes: readonly ReportedEpisode[], at: Date): Promise<void> {
  await sql`
    with input as (
      select distinct on (robot_id, episode_id)
        robot_id, episode_id, to_timestamp(started_ms / 1000) as started_at,
        to_timestamp(ended_ms / 1000) as ended_at, size_bytes, success, uri
      from unnest(
        ${episodes.map((reported) => reported.robotId)}::uuid[], ${episodes.map((reported) => reported.episodeId)}::text[],
        ${episodes.map((reported) => reported.startedAtMs)}::float8[], ${episodes.map((reported) => reported.endedAtMs)}::float8[],
        ${episodes.map((reported) => reported.sizeBytes)}::bigint[], ${episodes.map((reported) => reported.success)}::boolean[],
        ${episodes.map((reported) => reported.uri)}::text[]
      ) with ordinality as i (robot_id, episode_id, started_ms, ended_ms, size_bytes, success, uri, ordinal)
      order by robot_id, episode_id, ordinal
    ), inserted as (
      insert into episodes
        (id, dataset_id, robot_id, session_id, episode_id, started_at, ended_at, size_bytes, success, uri, created_at)
      select gen_random_uuid(), d.id, i.robot_id, s.id, i.episode_id, i.started_at, i.ended_at, i.size_bytes,
        i.success, i.uri, ${at}::timestamptz
      from input i
        join datasets d on d.robot_id = i.robot_id
        left join lateral (${sessionAt(at)}) s on true
      order by i.robot_id, i.episode_id
      on conflict (robot_id, episode_id) do nothing
      returning dataset_id, session_id, size_bytes
    ), sessions_locked as (
      select id from sessions where id in (select session_id from inserted) order by id for no key update
    ), sessions_counted as (
      update sessions s set
        episodes_collected = s.episodes_collected + o.episodes,
        data_collected_bytes = least(s.data_collected_bytes + o.bytes, ${Number.MAX_SAFE_INTEGER}::bigint)
      from (select session_id, count(*)::int as episodes, sum(size_bytes) as bytes
            from inserted group by session_id) o
        join sessions_locked l on l.id = o.session_id
      where s.id = o.session_id
    )
    update datasets d set
      episode_count = d.episode_count + o.episodes,
      size_bytes = least(d.size_bytes + o.bytes, ${Number.MAX_SAFE_INTEGER}::bigint),
      updated_at = greatest(d.updated_at, ${at}::timestamptz)
    from (select dataset_id, count(*)::int as episodes, sum(size_bytes) as bytes
          from inserted group by dataset_id) o
    where d.id = o.dataset_id`.execute(tx.db)
}

/** The session of the robot `i.robot_id` that was open at `i.started_at`: the latest one. */
const sessionAt = (at: Date) => {
  const tolerance = sql`make_interval(secs => ${CLOCK_TOLERANCE_MS / 1_000})`
  const open = sql`i.started_at between c.started_at and coalesce(c.ended_at, ${at}::timestamptz)`
  return sql`
    select c.id from (
      select id, started_at, ended_at from sessions
      where robot_id = i.robot_id and started_at <= i.started_at + ${tolerance}
      order by started_at desc limit ${SESSIONS_LOOKED_AT}
    ) c
    where coalesce(c.ended_at, ${at}::timestamptz) >= i.started_at - ${tolerance}
    order by ${open} desc, c.started_at desc limit 1`
}
