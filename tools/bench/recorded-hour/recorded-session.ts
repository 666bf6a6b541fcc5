import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileKey } from '../../../src/modules/recordings/object-keys.ts'
import type { Lab } from '../lab.ts'
import { robotsOf, users } from '../rest/fixtures.ts'
import { writeRecording } from './write-recording.ts'

const MS_PER_S = 1_000

export interface RecordedSession {
  readonly sessionId: string
  readonly sizeBytes: number
  /** Episodes that have the whole duration together, by their number. */
  episodes(count: number): Promise<string[]>
}

/** Creates an ended session with its finished recording, in the database and in the storage. */
export async function createRecordedSession(
  lab: Lab,
  clientId: string,
  seconds: number,
): Promise<RecordedSession> {
  const [sessionId, recordingId, datasetId] = [randomUUID(), randomUUID(), randomUUID()]
  const [operator] = await users(lab.db, 1, 'operator')
  const [robotId] = await robotsOf(lab.db, [clientId], 'OFFLINE')
  const startMs = Math.floor(Date.now() / MS_PER_S - seconds) * MS_PER_S - 60_000
  const at = (ms: number) => new Date(startMs + ms)
  const endedAt = at(seconds * MS_PER_S)
  const key = fileKey(recordingId, randomUUID())
  const path = join(lab.dataDir, 'wheelhouse', 'objects', key)
  await mkdir(dirname(path), { recursive: true })
  const { sizeBytes, channels } = await writeRecording(path, { startMs, seconds })
  await lab.db.query(
    `insert into sessions (id, robot_id, operator_id, client_id, status, started_at, ended_at, created_at,
       client_charge_cents, recorded_robot_name, recorded_robot_type, recorded_operator_name, recorded_client_name)
     values ($1, $2, $3, $4, 'COMPLETED', $5, $6, $5, 0, 'Arm', 'bench', 'Grace', 'Ada')`,
    [sessionId, robotId, operator?.id, clientId, at(0), endedAt],
  )
  await lab.db.query(
    `insert into recordings (id, session_id, robot_id, client_id, operator_id, mode, status, started_at, ended_at,
       finished_at, size_bytes, channels, file_key)
     values ($1, $2, $3, $4, $5, 'video', 'READY', $6, $7, $7, $8, $9, $10)`,
    [
      recordingId,
      sessionId,
      robotId,
      clientId,
      operator?.id,
      at(0),
      endedAt,
      sizeBytes,
      JSON.stringify(channels),
      key,
    ],
  )
  await lab.db.query('insert into datasets (id, robot_id, client_id) values ($1, $2, $3)', [
    datasetId,
    robotId,
    clientId,
  ])
  const addEpisode = async (fromMs: number, toMs: number): Promise<string> => {
    const id = randomUUID()
    await lab.db.query(
      `insert into episodes (id, dataset_id, robot_id, session_id, episode_id, started_at, ended_at, size_bytes, success,
         source, task, recording_id)
       values ($1::uuid, $2, $3, $4, $1::uuid::text, $5, $6, 0, true, 'platform', 'Pick the cube', $7)`,
      [id, datasetId, robotId, sessionId, at(fromMs), at(toMs), recordingId],
    )
    return id
  }
  return {
    sessionId,
    sizeBytes,
    async episodes(count) {
      const lengthMs = (seconds * MS_PER_S) / count
      const ids: string[] = []
      for (let index = 0; index < count; index++)
        ids.push(await addEpisode(index * lengthMs, (index + 1) * lengthMs))
      return ids
    },
  }
}
