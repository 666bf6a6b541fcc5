import { sql } from 'kysely'
import type { Transact, Tx } from '../../core/events/transactor.ts'

/** Maximum clock error of a robot at which its episode is still assigned to a session. */
const CLOCK_TOLERANCE_MS = 5_000
/** Sessions of a robot do not overlap, so only the newest few that started before a time can contain it. */
const CANDIDATE_SESSIONS = 8

/** An episode as a robot reports it. Times are Unix milliseconds. */
export interface ReportedEpisode {
  readonly robotId: string
  readonly episodeId: string
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly sizeBytes: number
  readonly success: boolean | null
  readonly uri: string | null
  readonly task: string | null
}

/** Persists episodes, many in one transaction. */
export function createEpisodeStore(deps: { transact: Transact; now: () => Date }) {
  const { transact, now } = deps
  return {
    /**
     * Stores episodes. Adds new episodes to the counts of the robot's dataset and of the session in which they
     * started. Ignores episodes that are already stored. Stores all episodes or none.
     * @returns for each episode, in order, whether it is stored; false when the robot does not exist
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

/** Creates the missing datasets of robots. A dataset belongs to the robot's owner. */
export async function createMissingDatasets(tx: Tx, robotIds: readonly string[], at: Date): Promise<void> {
  await sql`
    insert into datasets (id, robot_id, client_id, created_at, updated_at)
    select gen_random_uuid(), id, owner_id, ${at}::timestamptz, ${at}::timestamptz
    from robots where id = any(${robotIds}::uuid[]) order by id
    on conflict (robot_id, client_id) do nothing`.execute(tx.db)
}

/**
 * Locks the datasets of robots in id order, before the transaction locks episodes and sessions. Two transactions for
 * the same robots therefore cannot deadlock.
 */
export async function lockDatasets(tx: Tx, robotIds: readonly string[]): Promise<Set<string>> {
  const rows = await tx.db
    .selectFrom('datasets')
    .select('robot_id')
    .where('robot_id', 'in', [...robotIds])
    .orderBy('datasets.id')
    .forNoKeyUpdate('datasets')
    .execute()
  return new Set(rows.map((row) => row.robot_id))
}

/**
 * Inserts new episodes and counts exactly those. Prefers a session that contains the start of an episode to a session
 * that contains it only within the tolerance. Caps sums at the largest safe integer of JSON: a robot that reports
 * absurd sizes must not make its owner's lists unreadable.
 */
async function insertAndCount(tx: Tx, episodes: readonly ReportedEpisode[], at: Date): Promise<void> {
  await sql`
    with input as (
      select distinct on (robot_id, episode_id)
        robot_id, episode_id, to_timestamp(started_ms / 1000) as started_at,
        to_timestamp(ended_ms / 1000) as ended_at, size_bytes, success, uri, task
      from unnest(
        ${episodes.map((reported) => reported.robotId)}::uuid[], ${episodes.map((reported) => reported.episodeId)}::text[],
        ${episodes.map((reported) => reported.startedAtMs)}::float8[], ${episodes.map((reported) => reported.endedAtMs)}::float8[],
        ${episodes.map((reported) => reported.sizeBytes)}::bigint[], ${episodes.map((reported) => reported.success)}::boolean[],
        ${episodes.map((reported) => reported.uri)}::text[], ${episodes.map((reported) => reported.task)}::text[]
      ) with ordinality as i (robot_id, episode_id, started_ms, ended_ms, size_bytes, success, uri, task, ordinal)
      order by robot_id, episode_id, ordinal
    ), inserted as (
      insert into episodes
        (id, dataset_id, robot_id, session_id, recording_id, episode_id, started_at, ended_at, size_bytes, success, uri, task,
          created_at)
      select gen_random_uuid(), d.id, i.robot_id, s.id, r.id, i.episode_id, i.started_at, i.ended_at, i.size_bytes,
        i.success, i.uri, i.task, ${at}::timestamptz
      from input i
        join robots owned on owned.id = i.robot_id
        join datasets d on d.robot_id = i.robot_id and d.client_id = owned.owner_id
        left join lateral (${sessionAt(at)}) s on true
        left join recordings r on r.session_id = s.id
      order by i.robot_id, i.episode_id
      on conflict (robot_id, episode_id) do nothing
      returning dataset_id, session_id, size_bytes
    ), sessions_locked as (
      select id from sessions where id in (select session_id from inserted) order by id for no key update
    ), sessions_counted as (
      update sessions s set
        episodes_collected = s.episodes_collected + sums.episodes,
        data_collected_bytes = least(s.data_collected_bytes + sums.bytes, ${Number.MAX_SAFE_INTEGER}::bigint)
      from (select session_id, count(*)::int as episodes, sum(size_bytes) as bytes
            from inserted group by session_id) sums
        join sessions_locked l on l.id = sums.session_id
      where s.id = sums.session_id
    )
    update datasets d set
      episode_count = d.episode_count + sums.episodes,
      size_bytes = least(d.size_bytes + sums.bytes, ${Number.MAX_SAFE_INTEGER}::bigint),
      updated_at = greatest(d.updated_at, ${at}::timestamptz)
    from (select dataset_id, count(*)::int as episodes, sum(size_bytes) as bytes
          from inserted group by dataset_id) sums
    where d.id = sums.dataset_id`.execute(tx.db)
}

/** Selects the latest session of the robot `i.robot_id` that was open at `i.started_at`. */
const sessionAt = (at: Date) => {
  const tolerance = sql`make_interval(secs => ${CLOCK_TOLERANCE_MS / 1_000})`
  const open = sql`i.started_at between c.started_at and coalesce(c.ended_at, ${at}::timestamptz)`
  return sql`
    select c.id from (
      select id, started_at, ended_at from sessions
      where robot_id = i.robot_id and started_at <= i.started_at + ${tolerance}
      order by started_at desc limit ${CANDIDATE_SESSIONS}
    ) c
    where coalesce(c.ended_at, ${at}::timestamptz) >= i.started_at - ${tolerance}
    order by ${open} desc, c.started_at desc limit 1`
}
