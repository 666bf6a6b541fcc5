import type { Platform } from '../../app/container.ts'
import { measureMedia } from '../../core/metrics/role-metrics.ts'
import { createRecorderAuthorization } from '../../modules/recordings/transport/index.ts'
import type { ShutdownSteps } from '../shutdown.ts'
import { startMediaNode } from './media-node.ts'

/** Starts the role media. */
export async function startMediaRole(
  { core, video, recordings, webhooks }: Platform,
  shutdown: ShutdownSteps,
): Promise<void> {
  const { host, media: settings } = core.config
  // The library listens on all addresses of both families without one.
  const bindAddress = host === '0.0.0.0' || host === '::' ? undefined : host
  const media = await startMediaNode({
    ...core,
    settings: { ...settings, bindAddress },
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
