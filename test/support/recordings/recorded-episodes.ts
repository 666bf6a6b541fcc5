import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { DATASET_EXPORTS } from '../../../src/modules/datasets/exports/dataset-export.service.ts'
import { connectTo } from '../database/sql.ts'
import type { TestUser } from '../world/test-user.ts'
import { waitFor } from '../world/wait.ts'
import type { World } from '../world/world.ts'
import { type FixtureRecording, storeRecording } from './mcap-fixtures.ts'
import { insertEpisode, insertRecordedSession } from './recorded-rows.ts'

export const EXPORTS = '/api/client/datasets/exports'

export interface FixtureEpisode {
  /** From the start of the recording. */
  readonly fromMs: number
  readonly toMs: number
  readonly task?: string | null
  readonly success?: boolean | null
  /** Whether the robot reported it, without the recording of its session. */
  readonly byRobot?: boolean
  readonly isUnfinished?: boolean
}

/** A gap of a source, from the start of the recording. */
interface FixtureGap {
  readonly fromMs: number
  readonly toMs: number | null
  readonly source?: string
}

/** Inserts gaps of a recording. */
export async function insertGaps(
  world: World,
  recordingId: string,
  startMs: number,
  gaps: readonly FixtureGap[],
): Promise<void> {
  await using database = await connectTo(world.database.url)
  for (const { fromMs, toMs, source = 'gateway' } of gaps)
    await database.query(
      `insert into recording_gaps (recording_id, source, from_at, to_at, reason) values ($1, $2, $3, $4, 'overload')`,
      [recordingId, source, new Date(startMs + fromMs), toMs === null ? null : new Date(startMs + toMs)],
    )
}

/** Inserts a session with a finished recording, and episodes in it. Returns the ids of the episodes. */
export async function recordEpisodes(
  world: World,
  owner: TestUser,
  robotId: string,
  recording: FixtureRecording,
  episodes: readonly FixtureEpisode[],
) {
  const [recordingId, operator] = [randomUUID(), await world.operator()]
  const file = await storeRecording(
    world.platform.storage,
    `recordings/${recordingId}/recording.mcap`,
    recording,
  )
  const at = (ms: number) => new Date(recording.startMs + ms)
  await using database = await connectTo(world.database.url)
  await database.query('set session_replication_role = replica')
  const { sessionId, datasetId } = await insertRecordedSession(database, {
    robotId,
    clientId: owner.id,
    operatorId: operator.id,
    recordingId,
    startMs: recording.startMs,
    endMs: recording.startMs + 3_600_000,
    file,
  })
  const episodeIds: string[] = []
  for (const {
    fromMs,
    toMs,
    task = 'Pick the cube',
    success = true,
    byRobot = false,
    isUnfinished = false,
  } of episodes)
    episodeIds.push(
      await insertEpisode(database, {
        robotId,
        datasetId,
        sessionId,
        recordingId: byRobot ? null : recordingId,
        startedAt: at(fromMs),
        endedAt: at(toMs),
        task,
        success,
        isUnfinished,
      }),
    )
  return { datasetId, recordingId, sessionId, episodeIds, operator }
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
  fetch(world.baseUrl + path, {
    headers: {
      Authorization: `Bearer ${user.token}`,
      ...(user.organizationId && { 'Wheelhouse-Organization': user.organizationId }),
      ...headers,
    },
  })
