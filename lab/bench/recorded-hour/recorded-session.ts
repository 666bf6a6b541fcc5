import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileKey } from '../../../src/modules/recordings/object-keys.ts'
import { insertEpisode, insertRecordedSession } from '../../../test/support/recordings/recorded-rows.ts'
import type { Lab } from '../lab.ts'
import { type ApiUser, robotsOf, users } from '../rest/fixtures.ts'
import { writeRecording } from './write-recording.ts'

const MS_PER_S = 1_000
/** How long the session has been over. */
const ENDED_BEFORE_MS = 60_000

export interface RecordedSession {
  readonly sessionId: string
  readonly sizeBytes: number
  /** Creates episodes that have the whole duration together. Returns their ids. */
  episodes(count: number): Promise<string[]>
}

/** Creates an ended session with its finished recording, in the database and in the storage. */
export async function createRecordedSession(
  lab: Lab,
  clientId: string,
  seconds: number,
): Promise<RecordedSession> {
  const [operator] = (await users(lab.db, 1, 'operator')) as [ApiUser]
  const [robotId] = (await robotsOf(lab.db, [clientId], 'OFFLINE')) as [string]
  const recordingId = randomUUID()
  const startMs = Math.floor(Date.now() / MS_PER_S - seconds) * MS_PER_S - ENDED_BEFORE_MS
  const key = fileKey(recordingId, randomUUID())
  const path = join(lab.dataDir, 'wheelhouse', 'objects', key)
  await mkdir(dirname(path), { recursive: true })
  const file = { key, ...(await writeRecording(path, { startMs, seconds })) }
  const endMs = startMs + seconds * MS_PER_S
  const session = { robotId, clientId, operatorId: operator.id, recordingId, startMs, endMs, file }
  const { sessionId, datasetId } = await insertRecordedSession(lab.db, session)
  return {
    sessionId,
    sizeBytes: file.sizeBytes,
    async episodes(count) {
      const lengthMs = (endMs - startMs) / count
      const ids: string[] = []
      for (let index = 0; index < count; index++) {
        const startedAt = new Date(startMs + index * lengthMs)
        const endedAt = new Date(startedAt.getTime() + lengthMs)
        const content = { startedAt, endedAt, task: 'Pick the cube', success: true }
        ids.push(await insertEpisode(lab.db, { robotId, datasetId, sessionId, recordingId, ...content }))
      }
      return ids
    },
  }
}
