import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { requesterOf } from '../console/browser-user.ts'
import type { Wheelhouse } from '../targets.ts'
import { PICTURE } from './encode-pictures.ts'

const POLL_MS = 200
const EXPORTS = '/api/client/datasets/exports'

export interface ExportRun {
  readonly episodes: number
  /** From the request until the dataset is ready. */
  readonly wallMs: number
  /** Processor time of the process. */
  readonly cpuMs: number
  /** Memory of the process, before the export and at most during it. */
  readonly idleBytes: number
  readonly peakBytes: number
  readonly datasetBytes: number
  readonly frames: number
}

interface Parts {
  readonly wheelhouse: Wheelhouse
  readonly request: ReturnType<typeof requesterOf>
  readonly apiKey: string
  readonly episodeIds: readonly string[]
}

/** Exports episodes as a dataset of LeRobot, at the rate of the camera. */
export async function measureExport({ wheelhouse, request, apiKey, episodeIds }: Parts): Promise<ExportRun> {
  const { probe } = wheelhouse
  const { rssBytes: idleBytes } = await probe('memory')
  const [before, startedMs] = [await probe('usage'), performance.now()]
  const { id } = await request(apiKey, 'POST', EXPORTS, {
    format: 'lerobot_v3',
    name: `bench-${randomUUID().slice(0, 8)}`,
    fps: PICTURE.hz,
    episode_ids: episodeIds,
  })
  let peakBytes = idleBytes
  for (;;) {
    peakBytes = Math.max(peakBytes, await probe('rss'))
    const { status, size_bytes, frames } = await request(apiKey, 'GET', `${EXPORTS}/${id}`)
    if (status === 'FAILED') throw new Error('The export failed.')
    if (status === 'READY') {
      const wallMs = performance.now() - startedMs
      const cpuMs = ((await probe('usage')).cpuUs - before.cpuUs) / 1_000
      return {
        episodes: episodeIds.length,
        wallMs,
        cpuMs,
        idleBytes,
        peakBytes,
        datasetBytes: Number(size_bytes),
        frames: Number(frames),
      }
    }
    await delay(POLL_MS)
  }
}
