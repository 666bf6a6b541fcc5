import { fetchRangeWith } from './block-cache.ts'
import type { FromOverviewWorker, ToOverviewWorker } from './overview-client.ts'
import { createOverviewScan } from './overview-scan.ts'

// Reads a whole recording in a worker, so that it delays neither playback nor input. The worker loads no catalogue of texts.

const CACHE_BYTES = 8 * 1024 * 1024

const post = (message: FromOverviewWorker, transfer: Transferable[] = []) =>
  self.postMessage(message, { transfer })

const scan = createOverviewScan({
  fetchRange: fetchRangeWith((request) => fetch(request)),
  cacheBytes: CACHE_BYTES,
  onOverview: (kind, overview, scannedToMs) => {
    const arrays = [
      overview.passed,
      overview.poses,
      ...overview.series.values(),
      ...overview.dropped.values(),
    ]
    post(
      { kind, overview, scannedToMs },
      arrays.map(({ buffer }) => buffer),
    )
  },
  onError: (cause) => post({ kind: 'failed', message: String(cause) }),
})

self.addEventListener('message', ({ data }: MessageEvent<ToOverviewWorker>) => {
  if (data.kind === 'parts') scan.setParts(data)
  else scan.requestDetail(data)
})
