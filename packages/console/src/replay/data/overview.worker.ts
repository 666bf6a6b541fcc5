import { fetchRangeWith } from './block-cache.ts'
import { createOverviewScan, type FromOverviewWorker, type ToOverviewWorker } from './overview.ts'

// Reads a whole recording in a worker, so that it delays neither playback nor input. The worker loads no catalogue of texts.

const scan = createOverviewScan({
  fetchRange: fetchRangeWith((request) => fetch(request)),
  cacheBytes: 8 * 1024 * 1024,
  onOverview: (kind, overview) => {
    const { passed, poses, series, dropped } = overview
    const transfer = [passed, poses, ...series.values(), ...dropped.values()].map(({ buffer }) => buffer)
    const message: FromOverviewWorker = kind === 'detail' ? { detail: overview } : { overview }
    self.postMessage(message, { transfer })
  },
  onError: (cause) => console.warn('overview:', cause),
})

self.addEventListener('message', ({ data }: MessageEvent<ToOverviewWorker>) => {
  if ('parts' in data) scan.setParts(data.parts)
  else scan.requestDetail(data.detail)
})
