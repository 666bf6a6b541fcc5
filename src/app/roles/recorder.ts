import { measureRecorder } from '../../core/metrics/role-metrics.ts'
import type { Platform } from '../container.ts'
import type { ShutdownSteps } from '../shutdown.ts'

/** Starts the role recorder. */
export async function startRecorderRole(platform: Platform, shutdown: ShutdownSteps): Promise<void> {
  const { runRecorder } = await import('../../recorder/role.ts')
  const { core, recordings } = platform
  const recorder = await runRecorder({
    ...core,
    services: { streams: recordings.streams },
    nodes: recordings.recorderNodes,
    nodeId: core.processId,
    guard: core.guards.recorder,
    onHandlerFailed: (handler) => core.metrics.handlerFailed('recorder', handler),
  })
  measureRecorder(core.metrics, recorder)
  shutdown.drain.push(recorder.drain)
  shutdown.close.push(recorder.close)
}
