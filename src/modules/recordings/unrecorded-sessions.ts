import type { GapReason } from '@wheelhouse/protocol'
import type { CoreServices } from '../../core/core-services.ts'
import type { RecorderNodes } from './recorder-nodes.store.ts'
import { createRecording } from './recording-of-session.ts'
import { type AppendSessionNote, createRecordingState } from './recording-state.ts'
import { beginGap } from './refused-sources.ts'

/** How long no recorder may run before sessions count as not recorded: one that starts registers within this time. */
const GRACE_MS = 5_000
/** How long the gateway of a connected robot may take to open its stream: it finds new recorders within a second, and tries a lost one again. */
const UNREACHED_MS = 15_000
const PER_RUN = 200

/**
 * Notes in each open session that should be recorded that it is not, while no recorder is running or its gateway reaches none. The note
 * is an entry of its log, and a notification. The first stream of a recorder ends this state.
 */
export function createUnrecordedSessions(
  deps: Pick<CoreServices, 'db' | 'transact' | 'now'> & {
    readonly nodes: Pick<RecorderNodes, 'running'>
    readonly appendNote: AppendSessionNote
  },
) {
  const { db, transact, now, nodes } = deps
  const state = createRecordingState(deps)
  let missingSinceMs: number | undefined
  /** Since when sessions have no stream although a recorder runs. */
  const unreachedSinceMs = new Map<string, number>()

  /** Returns open sessions that should be recorded, and whose participants do not know of a reason that they are not. */
  const unnoted = ({ withoutStream }: { withoutStream: boolean }) =>
    db
      .selectFrom('sessions')
      .innerJoin('robots', 'robots.id', 'sessions.robot_id')
      .leftJoin('robot_models as model', 'model.robot_type', 'robots.robot_type')
      .leftJoin('recordings', 'recordings.session_id', 'sessions.id')
      .select(['sessions.id', 'sessions.robot_id', 'sessions.client_id', 'sessions.operator_id'])
      .select(['sessions.started_at', 'robots.recording'])
      .select(({ fn }) => [
        fn.coalesce('robots.control_schema', 'model.control_schema').as('control_schema'),
        fn.coalesce('robots.telemetry_schema', 'model.telemetry_schema').as('telemetry_schema'),
      ])
      .where('sessions.status', 'in', ['ACTIVE', 'PAUSED'])
      .where('robots.recording', '<>', 'off')
      .where((eb) =>
        eb.or([
          eb('recordings.id', 'is', null),
          eb('recordings.status', '=', 'RECORDING').and(
            eb.or([eb('recordings.paused_reason', 'is', null), eb('recordings.paused_reason', '=', 'off')]),
          ),
        ]),
      )
      // The gateway of a robot without a connection has nothing to record.
      .$if(withoutStream, (query) =>
        query
          .innerJoin('robot_presence', 'robot_presence.robot_id', 'robots.id')
          .where('robot_presence.connected', '=', true)
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(
                selectFrom('recording_streams as stream')
                  .select('stream.id')
                  .whereRef('stream.recording_id', '=', 'recordings.id')
                  .where('stream.source', '=', 'gateway')
                  .where('stream.closed_at', 'is', null),
              ),
            ),
          ),
      )
      .orderBy('sessions.id')
      .limit(PER_RUN)
      .execute()

  type Unnoted = Awaited<ReturnType<typeof unnoted>>[number]

  const note = ({ recording, started_at, ...session }: Unnoted, reason: GapReason): Promise<void> =>
    transact(async (tx) => {
      const at = started_at ?? now()
      if (recording !== 'off') await createRecording(tx, session, { mode: recording, at })
      const row = await tx.db
        .selectFrom('recordings')
        .select(['id', 'segments'])
        .where('session_id', '=', session.id)
        .where('status', '=', 'RECORDING')
        .forUpdate()
        .executeTakeFirst()
      if (!row) return
      // The sweep has noted the gap of a recorder that was lost.
      if (row.segments === 0) await beginGap(tx, row.id, { source: 'gateway', atMs: at.getTime(), reason })
      await state.notBegun(tx, row.id, reason)
    })

  async function noteUnreached(nowMs: number): Promise<void> {
    const sessions = await unnoted({ withoutStream: true })
    const ids = new Set(sessions.map(({ id }) => id))
    for (const id of unreachedSinceMs.keys()) if (!ids.has(id)) unreachedSinceMs.delete(id)
    for (const session of sessions) {
      const sinceMs = unreachedSinceMs.get(session.id) ?? nowMs
      unreachedSinceMs.set(session.id, sinceMs)
      if (nowMs - sinceMs >= UNREACHED_MS) await note(session, 'recorder_unreachable')
    }
  }

  return {
    /** Call it about once a second. */
    async run(): Promise<void> {
      const nowMs = now().getTime()
      if ((await nodes.running()).length > 0) {
        missingSinceMs = undefined
        return await noteUnreached(nowMs)
      }
      unreachedSinceMs.clear()
      missingSinceMs ??= nowMs
      if (nowMs - missingSinceMs < GRACE_MS) return
      for (const session of await unnoted({ withoutStream: false })) await note(session, 'no_recorder')
    },
  }
}
