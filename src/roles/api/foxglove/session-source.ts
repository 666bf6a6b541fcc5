import type { RecordingStatus, SessionStatus } from '@wheelhouse/protocol'
import type { Db } from '../../../core/database/tables.ts'
import { conflict, notFound } from '../../../core/errors/errors.ts'
import type { Caller } from '../../../core/http/endpoint.ts'
import { requireKeyFor } from '../../../core/permissions/authorization.ts'

export type SessionReader = Pick<Caller, 'userId' | 'roles' | 'organization' | 'credential'>

/** The recording of a session, as far as Foxglove needs it. */
export interface SessionRecording {
  readonly id: string
  readonly status: RecordingStatus
  readonly fileKey: string | null
  readonly sizeBytes: number
  readonly startedAt: Date
  readonly endedAt: Date | null
}

/** A session that a client may open. */
export interface OpenedSession {
  readonly sessionStatus: SessionStatus
  /** Number of the newest entry of its log. */
  readonly logHead: number
  readonly recording: SessionRecording | null
}

/** Finds sessions and their recordings. */
export interface SessionSource {
  /** @throws 404 when the session does not exist or the caller may not see it, 403 when the caller may not watch it. */
  forFoxglove(sessionId: string, caller: SessionReader): Promise<OpenedSession>
}

/** Reads sessions and recordings from the database. */
export function createSessionSource(deps: {
  readonly db: Db
  readonly queries: {
    watched(
      caller: SessionReader,
      sessionId: string,
    ): Promise<{ readonly status: SessionStatus; readonly event_seq: number }>
  }
}): SessionSource {
  return {
    async forFoxglove(sessionId, caller) {
      requireKeyFor(caller, 'sessions.watch')
      const session = await deps.queries.watched(caller, sessionId)
      const row = await deps.db
        .selectFrom('recordings')
        .select(['id', 'status', 'file_key', 'size_bytes', 'started_at', 'ended_at'])
        .where('session_id', '=', sessionId)
        .executeTakeFirst()
      const recording = row && {
        id: row.id,
        status: row.status,
        fileKey: row.file_key,
        sizeBytes: row.size_bytes,
        startedAt: row.started_at,
        endedAt: row.ended_at,
      }
      return { sessionStatus: session.status, logHead: session.event_seq, recording: recording ?? null }
    },
  }
}

/** The data for a client: live, a recording, or only the advice to try again when the recording is ready. */
export type Served =
  | { readonly kind: 'live'; readonly logHead: number }
  | { readonly kind: 'recording'; readonly recording: SessionRecording & { readonly fileKey: string } }
  | { readonly kind: 'not_ready' }

/**
 * Chooses what a client gets. `recordingId` chooses the recording also while the session is open.
 * @throws 404 without a recording, 409 before the session has begun.
 */
export function chooseServed(session: OpenedSession, recordingId?: string): Served {
  const { sessionStatus, recording, logHead } = session
  const isOpen = sessionStatus === 'ACTIVE' || sessionStatus === 'PAUSED'
  if (recordingId === undefined && isOpen) return { kind: 'live', logHead }
  if (sessionStatus === 'PENDING')
    throw conflict('session_not_open', 'The session has not begun. Connect again after its start.')
  const isOther = recordingId !== undefined && recordingId !== recording?.id
  if (!recording || isOther || recording.status === 'FAILED') throw notFound('Recording')
  const { status, fileKey } = recording
  if (status !== 'READY' || fileKey === null) return { kind: 'not_ready' }
  return { kind: 'recording', recording: { ...recording, fileKey } }
}
