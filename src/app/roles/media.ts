import { measureMedia } from '../../core/metrics/role-metrics.ts'
import { createRecorderAuthorization } from '../../core/recording/recorder-authorization.ts'
import type { Platform } from '../container.ts'
import type { ShutdownSteps } from '../shutdown.ts'

/** Starts the role media. */
export async function startMediaRole(
  { core, video, recordings, webhooks }: Platform,
  shutdown: ShutdownSteps,
): Promise<void> {
  const { runMedia } = await import('../../media/role.ts')
  const media = await runMedia({
    ...core,
    store: video.cameraStore,
    recorders: { ...recordings.recorderNodes, ...createRecorderAuthorization(core.secrets) },
    openPictures: webhooks.outboundClient.open,
    addGapOfSession: recordings.streams.addGapOfSession,
    guard: core.guards.media,
    nodeId: core.processId,
  })
  measureMedia(core.metrics, media)
  shutdown.close.push(media.close)
}
