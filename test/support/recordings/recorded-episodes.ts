import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { DATASET_EXPORTS } from '../../../src/modules/datasets/exports/dataset-export-queue.ts'
import { connectTo } from '../database/sql.ts'
import type { TestUser } from '../world/test-user.ts'
import { waitFor } from '../world/wait.ts'
import type { World } from '../world/world.ts'
import { type FixtureRecording, storeRecording } from './mcap-fixtures.ts'

export const EXPORTS = '/api/client/datasets/exports'

export interface FixtureEpisode {
  /** From the start of the recording. */
  readonly fromMs: number
  readonly toMs: number
  readonly task?: string | null
  readonly success?: boolean | null
  /** Whether the robot reported it, without the recording of its session. */
  readonly byRobot?: boolean
}

/** Inserts a session with a finished recording, and episodes in it. Returns the ids of the episodes. */
export async function recordEpisodes(
  world: World,
  owner: TestUser,
  robotId: string,
  recording: FixtureRecording,
  episodes: readonly FixtureEpisode[],
) {
  const [sessionId, recordingId, operator] = [randomUUID(), randomUUID(), await world.operator()]
  const stored = await storeRecording(
    world.platform.storage,
    `recordings/${recordingId}/recording.mcap`,
    recording,
  )
  const at = (ms: number) => new Date(recording.startMs + ms)
  await using database = await connectTo(world.database.url)
  await database.query('set session_replication_role = replica')
  await database.query(
    `insert into sessions (id, robot_id, operator_id, client_id, status, started_at, ended_at, created_at,
       client_charge_cents, recorded_robot_name, recorded_robot_type, recorded_operator_name, recorded_client_name)
     values ($1, $2, $3, $4, 'COMPLETED', $5, $6, $5, 0, 'Arm', 'testbot', 'Grace', 'Ada')`,
    [sessionId, robotId, operator.id, owner.id, at(0), at(3_600_000)],
  )
  await database.query(
    `insert into recordings (id, session_id, robot_id, client_id, operator_id, mode, status, started_at, ended_at, finished_at,
       size_bytes, channels, file_key)
     values ($1, $2, $3, $4, $5, 'video', 'READY', $6, $7, $7, $8, $9, $10)`,
    [
      recordingId,
      sessionId,
      robotId,
      owner.id,
      operator.id,
      at(0),
      at(3_600_000),
      stored.sizeBytes,
      JSON.stringify(stored.channels),
      stored.key,
    ],
  )
  const { rows } = await database.query(
    `insert into datasets (id, robot_id, client_id) values (gen_random_uuid(), $1, $2)
     on conflict (robot_id) do update set updated_at = now() returning id`,
    [robotId, owner.id],
  )
  const datasetId: string = rows[0].id
  const ids: string[] = []
  for (const { fromMs, toMs, task = 'Pick the cube', success = true, byRobot = false } of episodes) {
    const id = randomUUID()
    await database.query(
      `insert into episodes (id, dataset_id, robot_id, session_id, episode_id, started_at, ended_at, size_bytes, success, source, task, recording_id)
       values ($1::uuid, $2, $3, $4, $1::uuid::text, $5, $6, 0, $7, $8, $9, $10)`,
      [
        id,
        datasetId,
        robotId,
        sessionId,
        at(fromMs),
        at(toMs),
        success,
        byRobot ? 'robot' : 'platform',
        task,
        byRobot ? null : recordingId,
      ],
    )
    ids.push(id)
  }
  return { datasetId, recordingId, sessionId, episodeIds: ids, operator }
}

/** Requests an export. */
export async function requestExport(user: TestUser, body: object) {
  const reply = await user.post(EXPORTS, { format: 'lerobot_v3', name: 'cubes', fps: 30, ...body })
  expect(reply.status, JSON.stringify(reply.body)).toBe(202)
  return reply.body
}

/** Waits for the end of an export. */
export const settledExport = (user: TestUser, id: string, status = 'READY') =>
  waitFor(async () => {
    const { body } = await user.get(`${EXPORTS}/${id}`)
    expect(body.status, JSON.stringify(body)).toBe(status)
    return body
  })

/** Exports, and waits for the end. */
export async function exportDataset(world: World, user: TestUser, body: object) {
  const made = await requestExport(user, body)
  await world.runJobs(DATASET_EXPORTS)
  return await settledExport(user, made.id)
}

/** Downloads a file of a dataset. */
export const fetchFile = (world: World, user: TestUser, path: string, headers: Record<string, string> = {}) =>
  fetch(world.baseUrl + path, { headers: { Authorization: `Bearer ${user.token}`, ...headers } })
