import { singleFlight, waitUntil } from '../../../core/concurrency/concurrency.ts'
import type { Log } from '../../../core/log.ts'
import type { Guard } from '../../../core/process/guard.ts'
import {
  createSampleSender,
  type RecorderAddress,
  rendezvous,
  type UnsentGaps,
} from '../../../modules/recordings/transport/index.ts'
import { type CameraStore, STREAM_URL_CAMERA } from '../../../modules/video/index.ts'
import type { RecorderDirectory } from '../recording-control.ts'
import { type OpenPictures, PictureRecorder, type PictureTarget } from './picture-recorder.ts'

const CHECK_MS = 1_000
/** MJPEG cameras that one media role records. Each has at most 15 pictures of 1 MiB in a second. */
const MAX_CAMERAS = 32
const MB = 1024 * 1024
const LIMITS = { streamBytes: 8 * MB, totalBytes: 64 * MB }
/** Time for the recorders to store the rest at the end. */
const END_MS = 2_000

/**
 * Records MJPEG cameras: those at the `stream_url` of robots that are recorded with video. One of the running media roles records each
 * of them.
 */
export function createPictureControl(deps: {
  nodeId: string
  store: Pick<CameraStore, 'recordedStreams' | 'liveNodes'>
  recorders: RecorderDirectory
  openPictures: OpenPictures
  unsentGaps: UnsentGaps
  guard: Guard
  log: Log
}) {
  const { nodeId, store, recorders, openPictures, guard } = deps
  const nowMs = () => performance.timeOrigin + performance.now()
  const running = new Map<string, PictureRecorder>()
  let addresses: readonly RecorderAddress[] = []
  const sender = createSampleSender({
    ...deps,
    recorders: () => addresses,
    authorization: () => recorders.sign(Date.now()),
    nowMs,
    limits: LIMITS,
    onUnsent: deps.unsentGaps.report,
  })
  const run = guard.handler('media:pictures', (recorder: PictureRecorder) => recorder.run())

  function begin(target: PictureTarget): void {
    const source = `camera/${STREAM_URL_CAMERA}`
    const recorder = new PictureRecorder(target, { open: openPictures, sender, nowMs, source })
    running.set(target.sessionId, recorder)
    run(recorder)
  }

  function end(sessionId: string): void {
    running.get(sessionId)?.close()
    running.delete(sessionId)
  }

  const check = singleFlight(async () => {
    const streams = await store.recordedStreams()
    if (streams.length > 0 || !sender.isIdle) addresses = await recorders.live()
    const nodes = streams.length > 0 ? await store.liveNodes() : []
    const own = streams
      .filter(({ robotId }) => rendezvous(nodes, robotId)?.id === nodeId)
      .slice(0, MAX_CAMERAS)
    const wanted = new Map(own.map((target) => [target.sessionId, target]))
    for (const [sessionId, { target }] of running)
      if (wanted.get(sessionId)?.url !== target.url) end(sessionId)
    for (const target of own) if (!running.has(target.sessionId)) begin(target)
  })

  return {
    timer: () => guard.every('timer:media-pictures', CHECK_MS, check),

    /** Ends all recordings. Settles when what was recorded is durable, or after a time. */
    async close(): Promise<void> {
      for (const sessionId of [...running.keys()]) end(sessionId)
      await waitUntil(() => sender.isIdle, END_MS)
      sender.giveUp()
      sender.stop()
    },
  }
}
