import type { CoreServices } from '../../core/core-services.ts'
import type { Downloads } from '../../core/http/downloads.ts'
import type { Endpoint } from '../../core/http/endpoint.ts'
import type { ObjectStore } from '../../core/storage/object-store.ts'
import { createDeletionWorker } from './deletion.worker.ts'
import { createFinishWorker, type FinishWorkerDeps } from './finish.worker.ts'
import {
  DELETE_RECORDINGS,
  FINISH_RECORDINGS,
  RECORDING_ORPHANS,
  RECORDING_RETENTION,
} from './finish-queue.ts'
import { createQuota } from './quota.ts'
import { createRecorderNodes } from './recorder-nodes.store.ts'
import { recordingEndpoints } from './recording.routes.ts'
import { recordingAccessEndpoints } from './recording-access.routes.ts'
import { createRecordingAccess } from './recording-access.service.ts'
import type { AppendSessionNote } from './recording-state.ts'
import { createRecordingStreams } from './recording-streams.store.ts'
import { createRecordingSweep } from './recording-sweep.ts'
import { createRecordings } from './recordings.service.ts'
import { createUnrecordedSessions } from './unrecorded-sessions.ts'
import type { LinkAuthors } from './watch-links.ts'

/** How long a link that has expired or was revoked stays in the list of links. */
const KEPT_MS = 30 * 24 * 3_600_000

/** Deletes links that ended a month ago, except those that the list of downloads names. */
async function removeEndedLinks({ db, now }: Pick<CoreServices, 'db' | 'now'>): Promise<void> {
  const before = new Date(now().getTime() - KEPT_MS)
  await db
    .deleteFrom('recording_shares as share')
    .where(({ eb, or }) => or([eb('share.expires_at', '<', before), eb('share.revoked_at', '<', before)]))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('recording_downloads as download')
            .select('download.id')
            .whereRef('download.recording_id', '=', 'share.recording_id')
            .whereRef('download.share_id', '=', 'share.id'),
        ),
      ),
    )
    .execute()
}

/** Creates the services of recordings: streams and segments for recorders, finished files, access. */
export function createRecordingServices(
  core: CoreServices,
  options: {
    readonly store: ObjectStore
    readonly settings: { readonly recordingQuotaBytes: number }
    readonly appendNote: AppendSessionNote
    readonly onFinished: FinishWorkerDeps['onFinished']
    readonly users: LinkAuthors
  },
) {
  const { store, appendNote, onFinished } = options
  const quota = createQuota({ quotaBytes: options.settings.recordingQuotaBytes })
  const recorderNodes = createRecorderNodes(core)
  const recordings = createRecordings({ ...core, quota })
  const deletion = createDeletionWorker({ ...core, store })
  core.jobs.register(FINISH_RECORDINGS, createFinishWorker({ ...core, store, onFinished }))
  core.jobs.register(DELETE_RECORDINGS, deletion.run)
  core.jobs.register(RECORDING_RETENTION, recordings.removeExpired)
  core.jobs.register(RECORDING_ORPHANS, async () => {
    await removeEndedLinks(core)
    await deletion.removeOrphans()
  })
  return {
    store,
    quota,
    recorderNodes,
    recordings,
    recordingAccess: createRecordingAccess({ ...core, recordings, users: options.users }),
    streams: createRecordingStreams({ ...core, quota, appendNote }),
    sweep: createRecordingSweep({ ...core, nodes: recorderNodes }),
    unrecorded: createUnrecordedSessions({ ...core, nodes: recorderNodes, appendNote }),
  }
}
export type RecordingServices = ReturnType<typeof createRecordingServices>

/** Returns the routes of recordings. */
export const recordingsEndpoints = (
  services: RecordingServices,
  core: CoreServices,
  downloads: Downloads,
): Endpoint[] => {
  const deps = { ...services, downloads, log: core.log }
  return [...recordingEndpoints(deps), ...recordingAccessEndpoints(deps)]
}
