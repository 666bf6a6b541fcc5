import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import type { RecordedChannel } from '../../../src/modules/recordings/recording.entity.ts'

export interface RecordedRows {
  readonly robotId: string
  readonly clientId: string
  readonly operatorId: string
  readonly recordingId: string
  /** Of the session and of its recording, in Unix milliseconds. */
  readonly startMs: number
  readonly endMs: number
  readonly file: {
    readonly key: string
    readonly sizeBytes: number
    readonly channels: readonly RecordedChannel[]
  }
}

/** Inserts a completed session, its finished recording, and the dataset of its robot. Returns the ids of session and dataset. */
export async function insertRecordedSession(db: Pick<Client, 'query'>, rows: RecordedRows) {
  const { robotId, clientId, operatorId, recordingId, file } = rows
  const [sessionId, startedAt, endedAt] = [randomUUID(), new Date(rows.startMs), new Date(rows.endMs)]
  await db.query(
    `insert into sessions (id, robot_id, operator_id, client_id, status, started_at, ended_at, created_at,
       client_charge_cents, recorded_robot_name, recorded_robot_type, recorded_operator_name, recorded_client_name)
     values ($1, $2, $3, $4, 'COMPLETED', $5, $6, $5, 0, 'Arm', 'testbot', 'Grace', 'Ada')`,
    [sessionId, robotId, operatorId, clientId, startedAt, endedAt],
  )
  await db.query(
    `insert into recordings (id, session_id, robot_id, client_id, operator_id, mode, status, started_at, ended_at,
       finished_at, size_bytes, channels, file_key)
     values ($1, $2, $3, $4, $5, 'video', 'READY', $6, $7, $7, $8, $9, $10)`,
    [
      recordingId,
      sessionId,
      robotId,
      clientId,
      operatorId,
      startedAt,
      endedAt,
      file.sizeBytes,
      JSON.stringify(file.channels),
      file.key,
    ],
  )
  // Most callers insert without triggers, which would count it.
  await db.query(
    `insert into stored_bytes (id, bytes) select client_id, sum(size_bytes) from recordings where client_id = $1 group by client_id
     on conflict (id) do update set bytes = excluded.bytes`,
    [clientId],
  )
  await db.query(
    `insert into recording_streams (id, recording_id, source, origin_id, node_id, opened_at, closed_at)
     select stream, $1, 'gateway', stream, gen_random_uuid(), $2, $3 from gen_random_uuid() stream`,
    [recordingId, startedAt, endedAt],
  )
  const { rows: datasets } = await db.query(
    `insert into datasets (id, robot_id, client_id) values (gen_random_uuid(), $1, $2)
     on conflict (robot_id, client_id) do update set updated_at = now() returning id`,
    [robotId, clientId],
  )
  return { sessionId, datasetId: String(datasets[0].id) }
}

export interface EpisodeRow {
  readonly robotId: string
  readonly datasetId: string
  readonly sessionId: string
  /** Null for an episode that the robot reported, without the recording of its session. */
  readonly recordingId: string | null
  readonly startedAt: Date
  readonly endedAt: Date
  readonly task: string | null
  readonly success: boolean | null
  /** Whether its session ended before it. */
  readonly isUnfinished?: boolean
}

/** Inserts an episode. Returns its id. */
export async function insertEpisode(db: Pick<Client, 'query'>, episode: EpisodeRow): Promise<string> {
  const id = randomUUID()
  await db.query('update datasets set episode_count = episode_count + 1 where id = $1', [episode.datasetId])
  const { datasetId, robotId, sessionId, recordingId, startedAt, endedAt, success, task } = episode
  await db.query(
    `insert into episodes (id, dataset_id, robot_id, session_id, episode_id, started_at, ended_at, size_bytes, success,
       source, task, recording_id, marked_by)
     values ($1::uuid, $2, $3, $4, $1::uuid::text, $5, $6, 0, $7, $8, $9, $10, $11)`,
    [
      id,
      datasetId,
      robotId,
      sessionId,
      startedAt,
      endedAt,
      success,
      recordingId === null ? 'robot' : 'platform',
      task,
      recordingId,
      episode.isUnfinished ? null : randomUUID(),
    ],
  )
  return id
}
