import { randomUUID } from 'node:crypto'
import type { RecordingMode } from '@wheelhouse/protocol'
import type { Selectable } from 'kysely'
import type { CoreServices } from '../../core/core-services.ts'
import type { Tables } from '../../core/database/tables.ts'
import type { Tx } from '../../core/events/transactor.ts'
import { isContinued, type OpenStreamRequest } from './stream-request.ts'

/** How long after the end of a session a new stream may still deliver its records. */
const LATE_MS = 60_000

/** Creates the lookup of the recording to which a stream belongs. */
export function createRecordingOfSession({ now }: Pick<CoreServices, 'now'>) {
  /** Returns the recording of an open session, which it creates for the first stream. */
  async function recordingFor(tx: Tx, request: OpenStreamRequest) {
    const { sessionId, source } = request
    const resumes = isContinued(request)
    const session = await tx.db
      .selectFrom('sessions')
      .innerJoin('robots', 'robots.id', 'sessions.robot_id')
      .leftJoin('robot_models as model', 'model.robot_type', 'robots.robot_type')
      .select(['sessions.id', 'sessions.robot_id', 'sessions.client_id', 'sessions.operator_id'])
      .select(['sessions.status', 'sessions.ended_at', 'robots.recording'])
      .select(({ fn }) => [
        fn.coalesce('robots.control_schema', 'model.control_schema').as('control_schema'),
        fn.coalesce('robots.telemetry_schema', 'model.telemetry_schema').as('telemetry_schema'),
      ])
      .where('sessions.id', '=', sessionId)
      .executeTakeFirst()
    if (!session) return 'session_over'
    const isOpen = session.status === 'ACTIVE' || session.status === 'PAUSED'
    // A source that reached no recorder in time, or whose recorder was lost, stores the rest after the session.
    const isRecent = session.ended_at !== null && now().getTime() - session.ended_at.getTime() < LATE_MS
    if (!isOpen && !isRecent && !resumes) return 'session_over'
    const isCamera = source !== 'gateway'
    const isOff = session.recording === 'off' || (isCamera && session.recording !== 'video')
    if (isOff && !resumes) return 'recording_off'
    const mayBegin = isOpen || (isRecent && !(await wasRecorded(tx, sessionId)))
    if (mayBegin && session.recording !== 'off')
      await createRecording(tx, session, { mode: session.recording, at: session.ended_at ?? now() })
    const recording = await tx.db
      .selectFrom('recordings')
      .select(['id', 'client_id', 'mode', 'paused_reason'])
      .where('session_id', '=', sessionId)
      .where('status', '=', 'RECORDING')
      .forUpdate()
      .executeTakeFirst()
    if (!recording) return 'session_over'
    return { ...recording, wanted: isOpen && session.recording !== 'off' ? session.recording : undefined }
  }

  return recordingFor
}

/** The part of a session that its recording copies. */
type RecordedSession = Pick<
  Selectable<Tables['sessions']>,
  'id' | 'robot_id' | 'client_id' | 'operator_id'
> & {
  control_schema: Record<string, unknown> | null
  telemetry_schema: Record<string, unknown> | null
}

/** Creates the recording of a session, unless it exists. */
export async function createRecording(
  tx: Tx,
  session: RecordedSession,
  { mode, at }: { mode: Exclude<RecordingMode, 'off'>; at: Date },
): Promise<void> {
  const { id, robot_id, client_id, operator_id, control_schema, telemetry_schema } = session
  await tx.db
    .insertInto('recordings')
    .values({
      id: randomUUID(),
      session_id: id,
      robot_id,
      client_id,
      operator_id,
      mode,
      control_schema,
      telemetry_schema,
      started_at: at,
      paused_reason: 'off', // the state of the recording changes it, and notes that in the session's log
    })
    .onConflict((conflict) => conflict.column('session_id').doNothing())
    .execute()
}

/** Returns whether a session had a recording while it was open. If it has none any more, it was deleted. */
async function wasRecorded(tx: Tx, sessionId: string): Promise<boolean> {
  const row = await tx.db
    .selectFrom('session_events')
    .select('seq')
    .where('session_id', '=', sessionId)
    .where('type', 'like', 'recording.%')
    .executeTakeFirst()
  return row !== undefined
}
