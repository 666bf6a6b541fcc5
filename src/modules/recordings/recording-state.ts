import type { GapReason, RecordingMode } from '@wheelhouse/protocol'
import type { CoreServices } from '../../core/core-services.ts'
import type { Tx } from '../../core/events/transactor.ts'

/** Writes an entry of a session's log, if the session is open. The sessions module implements it. */
export type AppendSessionNote = (
  tx: Tx,
  sessionId: string,
  note: {
    readonly type: 'recording.started' | 'recording.paused' | 'recording.resumed' | 'recording.stopped'
    readonly at: Date
    readonly reason?: string
    readonly details: Readonly<Record<string, unknown>>
    readonly notifies?: boolean
  },
) => Promise<void>

/** The reasons that a stream ends which begins. */
const NOT_BEGUN: readonly (string | null)[] = [
  'quota_exceeded',
  'no_recorder',
  'recorder_unreachable',
] satisfies GapReason[]

interface ShownRecording {
  readonly id: string
  readonly mode: string
  readonly paused_reason: string | null
  /** The setting of the robot; undefined if the session is over, or the setting is `off`. */
  readonly wanted: Exclude<RecordingMode, 'off'> | undefined
}

/** Changes the state of a recording that participants see: recording, or paused with a reason. Each change is an entry in the session's log. */
export function createRecordingState(
  deps: Pick<CoreServices, 'now'> & { readonly appendNote: AppendSessionNote },
) {
  const { now, appendNote } = deps

  /** Stores why nothing can be recorded; null once recording continues. */
  async function setPaused(tx: Tx, recordingId: string, reason: GapReason | null): Promise<void> {
    const changed = await tx.db
      .updateTable('recordings')
      .set({ paused_reason: reason })
      .where('id', '=', recordingId)
      .where('status', '=', 'RECORDING')
      .where((eb) => eb.or([eb('paused_reason', 'is', null), eb('paused_reason', '<>', 'off')]))
      .where('paused_reason', 'is distinct from', reason)
      .returning(['session_id', 'mode'])
      .executeTakeFirst()
    if (!changed) return
    const details = { recording_id: recordingId, mode: changed.mode }
    await appendNote(tx, changed.session_id, {
      type: reason === null ? 'recording.resumed' : 'recording.paused',
      at: now(),
      details,
      ...(reason !== null && { reason, notifies: true }),
    })
  }

  return {
    setPaused,

    /** Stores that the session is recorded, in the mode of the setting. */
    async recorded(tx: Tx, sessionId: string, recording: ShownRecording): Promise<void> {
      const { id, mode, paused_reason, wanted } = recording
      if (NOT_BEGUN.includes(paused_reason)) await setPaused(tx, id, null)
      if (wanted === undefined || (paused_reason !== 'off' && mode === wanted)) return
      await tx.db
        .updateTable('recordings')
        .set({ mode: wanted, ended_at: null, ...(paused_reason === 'off' && { paused_reason: null }) })
        .where('id', '=', id)
        .execute()
      const details = { recording_id: id, mode: wanted }
      await appendNote(tx, sessionId, { type: 'recording.started', at: now(), details })
    },

    /** Stores why the recording cannot begin or continue. */
    async notBegun(tx: Tx, recordingId: string, reason: GapReason): Promise<void> {
      await tx.db
        .updateTable('recordings')
        .set({ paused_reason: null })
        .where('id', '=', recordingId)
        .where('paused_reason', '=', 'off')
        .execute()
      await setPaused(tx, recordingId, reason)
    },

    /** Stores that an open session is no longer recorded, if its owner has turned recording off. */
    async stopped(tx: Tx, recordingId: string): Promise<void> {
      const stopped = await tx.db
        .updateTable('recordings')
        .from('robots')
        .set({ paused_reason: 'off' })
        .where('recordings.id', '=', recordingId)
        .whereRef('robots.id', '=', 'recordings.robot_id')
        .where('robots.recording', '=', 'off')
        .where('recordings.paused_reason', 'is distinct from', 'off')
        .returning(['recordings.session_id', 'recordings.mode'])
        .executeTakeFirst()
      if (!stopped) return
      const details = { recording_id: recordingId, mode: stopped.mode }
      await appendNote(tx, stopped.session_id, { type: 'recording.stopped', at: now(), details })
    },
  }
}
