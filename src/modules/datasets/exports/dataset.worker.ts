import { parentPort, workerData } from 'node:worker_threads'
import { ExportProblem } from '../../../core/exports/export-problem.ts'
import type { CameraScans } from '../lerobot/dataset-plan.ts'
import { loadVideoCodecs } from '../lerobot/frame-decoder.ts'
import { planDataset } from '../lerobot/plan-dataset.ts'
import { hasFfmpeg } from '../lerobot/transcoder.ts'
import { writePart } from '../lerobot/write-part.ts'
import type { DatasetThreadData, FromDatasetThread, ToDatasetThread } from './dataset-thread.ts'
import { createChannelStore } from './store-channel.ts'

// The thread of an export. `dataset-thread.ts` starts it.

/** Frames whose times stay in memory between the planning and the writing: 9 bytes each. */
const MAX_KEPT_FRAMES = 4_000_000
const REPORT_MS = 200

const { tempDir } = workerData as DatasetThreadData
const port = parentPort
if (!port) throw new Error('this file runs in a thread')

const send = (message: FromDatasetThread): void => port.postMessage(message)
const channel = createChannelStore((message, transfer) => port.postMessage(message, [...transfer]))
const codecs = loadVideoCodecs()

/** The frames of episodes that the planning has found. */
const kept = new Map<number, CameraScans>()
let keptFrames = 0

function keep(index: number, scans: CameraScans): void {
  const frames = [...scans.values()].reduce((sum, { times }) => sum + times.length, 0)
  if (keptFrames + frames > MAX_KEPT_FRAMES) return
  keptFrames += frames
  kept.set(index, scans)
}

let reportedMs = 0
function report(done: number): void {
  const nowMs = performance.now()
  if (nowMs - reportedMs < REPORT_MS) return
  reportedMs = nowMs
  send({ kind: 'progress', done })
}

async function runTask(message: Extract<ToDatasetThread, { kind: 'task' }>) {
  const { store } = channel
  if (message.name === 'plan') {
    const tools = { ffmpeg: await hasFfmpeg(), decoder: codecs !== undefined }
    const { input } = message
    kept.clear()
    keptFrames = 0
    const progress = (episodes: number) => report(episodes / input.episodes.length)
    return await planDataset(input, { store, tools, progress, keep })
  }
  const scansOf = (index: number) => {
    const scans = kept.get(index)
    kept.delete(index)
    return scans
  }
  return await writePart(message.input, { store, codecs, tempDir, scansOf, progress: report })
}

port.on('message', (message: ToDatasetThread) => {
  if (message.kind === 'stored') return channel.receive(message)
  runTask(message).then(
    (value) => send({ kind: 'result', value }),
    (cause: unknown) => {
      const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
      if (cause instanceof ExportProblem) send({ kind: 'problem', message: cause.message })
      else send({ kind: 'error', message: text })
    },
  )
})
