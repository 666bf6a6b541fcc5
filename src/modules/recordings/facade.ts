import type { CoreServices } from '../../core/core-services.ts'
import type { Downloads } from '../../core/http/downloads.ts'
import type { Endpoint } from '../../core/http/endpoint.ts'
import type { ObjectStore } from '../../core/storage/object-store.ts'
import { createDeletionWorker } from './deletion.worker.ts'
import { removeEndedLinks } from './ended-links.ts'
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
